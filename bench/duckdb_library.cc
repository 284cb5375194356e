#include "bench/duckdb_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <type_traits>

#include "base/status.h"
#include "base/strings.h"

namespace varve::bench {
namespace {

// As DuckDB 1.4 lays out an answer; its fields are DuckDB's own.
struct Answer {
  uint64_t counts[3];
  void* columns;
  char* error;
  void* data;
};

// A string in a vector: its length, then the bytes or a prefix and a pointer to them.
struct StringCell {
  uint32_t length;
  char rest[12];
};

std::string LibraryPath() {
  if (const char* const given = std::getenv("VARVE_BENCH_DUCKDB"); given != nullptr) {
    return given;
  }
  const char* const home = std::getenv("HOME");
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const std::string directory =
      cache != nullptr ? cache : StrCat(home != nullptr ? home : "", "/.cache");
  return StrCat(directory, "/varve-bench/duckdb-1.4.4-r.1/libduckdb.so");
}

}  // namespace

struct DuckDb::Functions {
  void* library = nullptr;
  int (*open)(const char* path, void** database) = nullptr;
  void (*close)(void** database) = nullptr;
  int (*connect)(void* database, void** connection) = nullptr;
  void (*disconnect)(void** connection) = nullptr;
  int (*query)(void* connection, const char* sql, Answer* answer) = nullptr;
  int (*prepare)(void* connection, const char* sql, void** statement) = nullptr;
  const char* (*prepare_error)(void* statement) = nullptr;
  void (*destroy_prepare)(void** statement) = nullptr;
  int (*execute_streaming)(void* statement, Answer* answer) = nullptr;
  const char* (*result_error)(Answer* answer) = nullptr;
  void (*destroy_result)(Answer* answer) = nullptr;
  void* (*fetch_chunk)(Answer answer) = nullptr;
  uint64_t (*chunk_size)(void* chunk) = nullptr;
  void* (*chunk_vector)(void* chunk, uint64_t column) = nullptr;
  void* (*vector_data)(void* vector) = nullptr;
  void (*destroy_chunk)(void** chunk) = nullptr;

  absl::Status Load() {
    const std::string path = LibraryPath();
    library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      return absl::NotFoundError(
          StrCat("no DuckDB at ", path, "; bench/fetch_duckdb.sh fetches it"));
    }
    absl::Status status;
    const auto find = [&](const char* name, auto* function) {
      void* const symbol = ::dlsym(library, name);
      if (symbol == nullptr) {
        status = absl::NotFoundError(StrCat(path, " has no function ", name));
      }
      *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(symbol);
    };
    find("duckdb_open", &open);
    find("duckdb_close", &close);
    find("duckdb_connect", &connect);
    find("duckdb_disconnect", &disconnect);
    find("duckdb_query", &query);
    find("duckdb_prepare", &prepare);
    find("duckdb_prepare_error", &prepare_error);
    find("duckdb_destroy_prepare", &destroy_prepare);
    find("duckdb_execute_prepared_streaming", &execute_streaming);
    find("duckdb_result_error", &result_error);
    find("duckdb_destroy_result", &destroy_result);
    find("duckdb_fetch_chunk", &fetch_chunk);
    find("duckdb_data_chunk_get_size", &chunk_size);
    find("duckdb_data_chunk_get_vector", &chunk_vector);
    find("duckdb_vector_get_data", &vector_data);
    find("duckdb_destroy_data_chunk", &destroy_chunk);
    return status;
  }
};

DuckDb::DuckDb() : functions_(std::make_unique<Functions>()) {}

DuckDb::~DuckDb() {
  if (connection_ != nullptr) {
    functions_->disconnect(&connection_);
  }
  if (database_ != nullptr) {
    functions_->close(&database_);
  }
}

absl::StatusOr<std::unique_ptr<DuckDb>> DuckDb::Create(const std::string& path) {
  std::unique_ptr<DuckDb> made(new DuckDb);
  VARVE_RETURN_IF_ERROR(made->functions_->Load());
  if (made->functions_->open(path.c_str(), &made->database_) != 0 ||
      made->functions_->connect(made->database_, &made->connection_) != 0) {
    return absl::InternalError(StrCat("DuckDB cannot make a database at ", path));
  }
  VARVE_RETURN_IF_ERROR(made->Run("SET threads = 1"));
  return made;
}

absl::Status DuckDb::Run(const std::string& sql) {
  Answer answer{};
  absl::Status status;
  if (functions_->query(connection_, sql.c_str(), &answer) != 0) {
    status = absl::InternalError(StrCat("DuckDB: ", functions_->result_error(&answer)));
  }
  functions_->destroy_result(&answer);
  return status;
}

absl::Status DuckDb::Query(const std::string& sql, const std::function<void(const Chunk&)>& visit) {
  void* statement = nullptr;
  if (functions_->prepare(connection_, sql.c_str(), &statement) != 0) {
    const absl::Status status =
        absl::InternalError(StrCat("DuckDB: ", functions_->prepare_error(statement)));
    functions_->destroy_prepare(&statement);
    return status;
  }
  Answer answer{};
  absl::Status status;
  if (functions_->execute_streaming(statement, &answer) != 0) {
    status = absl::InternalError(StrCat("DuckDB: ", functions_->result_error(&answer)));
  } else {
    Chunk chunk;
    chunk.database_ = this;
    while ((chunk.chunk_ = functions_->fetch_chunk(answer)) != nullptr) {
      chunk.rows_ = functions_->chunk_size(chunk.chunk_);
      visit(chunk);
      functions_->destroy_chunk(&chunk.chunk_);
    }
  }
  functions_->destroy_result(&answer);
  functions_->destroy_prepare(&statement);
  return status;
}

const int64_t* DuckDb::Chunk::int64s(uint64_t column) const {
  const Functions& functions = *database_->functions_;
  return static_cast<const int64_t*>(functions.vector_data(functions.chunk_vector(chunk_, column)));
}

uint32_t DuckDb::Chunk::length_of_string(uint64_t column, uint64_t row) const {
  const Functions& functions = *database_->functions_;
  return static_cast<const StringCell*>(
             functions.vector_data(functions.chunk_vector(chunk_, column)))[row]
      .length;
}

}  // namespace varve::bench
