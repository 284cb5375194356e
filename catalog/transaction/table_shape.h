// What operations on the rows and files of a table need to know of it: its columns, its
// partitioning, whether files are encrypted. Private to catalog/transaction.
//
// Shapes are kept between transactions: most of them add to tables that nobody alters.
//
// Thread-safety: a TableShape is immutable; TableShapes may be used by any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/type.h"
#include "catalog/transaction/columns.h"
#include "catalog/transaction/definitions.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {

struct TableShape {
  LiveObject table;
  TableColumns columns;

  // Of each column, in the order of columns.all().
  struct ColumnFacts {
    Type type;              // that its bounds are compared by
    bool ordered = false;   // its values have an order, so that it has bounds
    bool nested = false;    // struct, list, map
    bool repeated = false;  // in a list or map: any number of values a row
  };
  std::vector<ColumnFacts> facts;
  absl::flat_hash_map<int64_t, size_t> position_of_column;

  // The live partitioning; nullopt and 0 keys: there is none.
  std::optional<int64_t> partition_id;
  size_t partition_keys = 0;
  // The lake's files are encrypted.
  bool encrypted = false;

  // Reads it as the transaction sees it. NotFound: there is no such table.
  static absl::StatusOr<std::shared_ptr<const TableShape>> Load(const Transaction::State& state,
                                                                int64_t table_id);
};

class TableShapes {
 public:
  // The table as the transaction sees it: kept, or read if it may have changed. Errors: those of
  // Load.
  absl::StatusOr<std::shared_ptr<const TableShape>> Get(const Transaction::State& state,
                                                        int64_t table_id);

 private:
  struct Entry {
    std::shared_ptr<const TableShape> shape;
    Csn csn = 0;              // of the state it was read from
    Csn definitions_csn = 0;  // of that state
  };
  std::mutex mutex_;
  absl::flat_hash_map<int64_t, Entry> entries_;
};

}  // namespace varve
