#!/usr/bin/env bash
# Checks the format of all tracked sources and runs static analysis on them; any finding is an error.
# `make lint` calls this after configuring build/release and generating the protobuf code.
set -euo pipefail
cd "$(dirname "$0")/.."

jobs="${JOBS:-$(nproc)}"

echo "== clang-format"
git ls-files -z -- '*.h' '*.cc' '*.proto' | xargs -0 -r clang-format --dry-run -Werror

echo "== clang-tidy"
# The compilation database is GCC's, so clang meets warning flags it does not know. The count of warnings
# that were suppressed in system headers is left out of the output.
git ls-files -z -- '*.cc' |
  xargs -0 -r -n 1 -P "$jobs" \
    clang-tidy --quiet -p build/release --extra-arg=-Wno-unknown-warning-option \
    2> >(grep -vE '^[0-9]+ warnings? generated\.$' >&2)
echo "== no findings"
