# make build | test | demo | install | bench | lint | format | test-asan | test-tsan | fuzz
#
# Each target does all it needs on a fresh Debian 12: packages, configuration, build, run.

JOBS ?= $(shell nproc)
# One status line on a terminal; only warnings and errors in a log.
NINJA_FLAGS := $(if $(MAKE_TERMOUT),,--quiet)
# ThreadSanitizer of GCC 12 needs its memory map undisturbed by address randomisation.
NO_ASLR := $(shell setarch -R true 2>/dev/null && echo setarch -R)

PREFIX ?= /usr/local

# How long a fuzzer runs, in seconds.
FUZZ_SECONDS ?= 60

.PHONY: build install test test-asan test-tsan fuzz demo bench lint format packages
.DEFAULT_GOAL := build

packages:
	@scripts/install_packages.sh

# $(call configure,<preset>): quiet unless it fails.
define configure
	@mkdir -p build
	@echo "== configure ($(1))"
	@cmake --preset $(1) >build/configure-$(1).log 2>&1 </dev/null || { cat build/configure-$(1).log; exit 1; }
endef

# $(call build,<preset>[,<target>])
define build
	$(call configure,$(1))
	@echo "== build ($(1))"
	@cmake --build --preset $(1) $(if $(2),--target $(2)) -j $(JOBS) -- $(NINJA_FLAGS)
endef

build: packages
	$(call build,release)

install: packages
	$(call build,release,varve)
	install -D build/release/bin/varve $(DESTDIR)$(PREFIX)/bin/varve

test: packages
	$(call build,release)
	@echo "== test (release)"
	@ctest --preset release -j $(JOBS)

test-asan: packages
	$(call build,asan)
	@echo "== test (asan)"
	@ctest --preset asan -j $(JOBS)

test-tsan: packages
	$(call build,tsan)
	@echo "== test (tsan)"
	@$(NO_ASLR) ctest --preset tsan -j $(JOBS)

fuzz: packages
	$(call build,fuzz,columnar_file_fuzzer)
	@mkdir -p build/fuzz/corpus
	@build/fuzz/bin/columnar_file_fuzzer -max_total_time=$(FUZZ_SECONDS) build/fuzz/corpus

demo: packages
	$(call build,release,varve)
	@VARVE="$(CURDIR)/build/release/bin/varve" scripts/demo.sh

bench: packages
	$(call build,release,varve_bench)
	@build/release/bin/varve_bench

lint: packages
	$(call build,release,varve_generated)
	@JOBS=$(JOBS) scripts/lint.sh

format: packages
	@git ls-files -z -- '*.h' '*.cc' '*.proto' | xargs -0 -r clang-format -i
