// The DuckDB library, if it was fetched (fetch_duckdb.sh): loaded at run time, so that nothing is
// built against it. The few functions of its C interface that are needed.
//
// Thread-safety: one thread. Ownership: owns a database in a file, with one connection.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace varve::bench {

class DuckDb {
 public:
  // A new database at `path`, which works with one thread. NotFound: the library is not there; the
  // message says how to get it.
  static absl::StatusOr<std::unique_ptr<DuckDb>> Create(const std::string& path);
  ~DuckDb();
  DuckDb(const DuckDb&) = delete;
  DuckDb& operator=(const DuckDb&) = delete;

  absl::Status Run(const std::string& sql);

  // Columns of a chunk of the answer, borrowed until the next one.
  class Chunk {
   public:
    uint64_t rows() const { return rows_; }
    const int64_t* int64s(uint64_t column) const;
    uint32_t length_of_string(uint64_t column, uint64_t row) const;

   private:
    friend class DuckDb;
    const DuckDb* database_ = nullptr;
    void* chunk_ = nullptr;
    uint64_t rows_ = 0;
  };
  // Runs a query whose answer comes chunk by chunk while it is worked out.
  absl::Status Query(const std::string& sql, const std::function<void(const Chunk&)>& visit);

 private:
  struct Functions;
  DuckDb();

  std::unique_ptr<Functions> functions_;
  void* database_ = nullptr;
  void* connection_ = nullptr;
};

}  // namespace varve::bench
