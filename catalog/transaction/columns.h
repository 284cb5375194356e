// The columns of a table as an open transaction sees them, and the rows of new
// ones. Private to catalog/transaction.
//
// A field of a struct, list or map is a column with a parent (DuckLake 1.0 specification,
// ducklake_column).
//
// Thread-safety: TableColumns is a value, immutable once loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {

struct LiveObject;

struct TableColumn {
  int64_t id = 0;
  int64_t order = 0;
  std::optional<int64_t> parent;
  std::string name;
  std::string type;  // DuckLake's name
  bool nullable = true;
  NullableText initial_default;
};

class TableColumns {
 public:
  static absl::StatusOr<TableColumns> Load(const Transaction::State& state, int64_t table_id);

  // By column id.
  const std::vector<TableColumn>& all() const { return columns_; }
  // nullptr when there is none.
  const TableColumn* Find(int64_t id) const;
  // By name, case-insensitive, among the fields of `parent` (nullopt: the top level).
  const TableColumn* FindChild(std::optional<int64_t> parent, std::string_view name) const;
  // In column order.
  std::vector<const TableColumn*> ChildrenOf(std::optional<int64_t> parent) const;
  // The column and what lies in it, a column before its fields. Requires: there is one.
  std::vector<int64_t> WithFields(int64_t id) const;

  // For messages: `"address"."street"`; `; did you mean "street"?` or empty.
  std::string PathText(int64_t id) const;
  std::string DidYouMean(std::optional<int64_t> parent, std::string_view name) const;

 private:
  std::vector<TableColumn> columns_;
};

// Ids and orders of new columns: each is one more than any before it.
struct ColumnCounter {
  int64_t next_id = 1;
  int64_t next_order = 1;
};
// The next ones of a table. Reads all versions of its columns: an id is never used again.
absl::StatusOr<ColumnCounter> NextColumn(const Transaction::State& state, int64_t table_id,
                                         const TableColumns& columns);

// Writes the rows of a column and its fields, which have been checked; returns the column's id.
absl::StatusOr<int64_t> InsertColumn(Transaction::State* state, int64_t table_id,
                                     const ColumnDefinition& column, std::optional<int64_t> parent,
                                     ColumnCounter* next);

// Notes that the columns of the table changed.
void NoteAltered(Transaction::State* state, const LiveObject& table);

}  // namespace varve
