# Third-party libraries, all as imported targets (whose headers are system headers: they raise no warnings).

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(absl REQUIRED CONFIG)
find_package(fmt REQUIRED CONFIG)
find_package(spdlog REQUIRED CONFIG)
find_package(gflags REQUIRED CONFIG COMPONENTS shared)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(RocksDB REQUIRED CONFIG)  # RocksDB::rocksdb is the static library, RocksDB::rocksdb-shared the shared one
find_package(Protobuf REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(PostgreSQL REQUIRED)
find_package(GTest REQUIRED CONFIG)
if(VARVE_BUILD_BENCH)
  find_package(benchmark REQUIRED CONFIG)
endif()
# The prefix keeps these out of the cache variables of RocksDB's own Findzstd module.
pkg_check_modules(pc_zstd REQUIRED IMPORTED_TARGET GLOBAL libzstd)
pkg_check_modules(pc_xxhash REQUIRED IMPORTED_TARGET GLOBAL libxxhash)
# Its CMake package also wants what its HTTP parts need, which are not used.
pkg_check_modules(pc_prometheus REQUIRED IMPORTED_TARGET GLOBAL prometheus-cpp-core)
