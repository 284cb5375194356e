// A row of a MemRowSet: how it lies in memory.
//
//   0                 8           16          24
//   | inserted_at (8) | head (8) | tail (8) | cells | nulls | key length (2) | key | bytes of cells
//   |
//                       redo list
//
// All of it is one arena allocation, written once; head and tail alone change later. Cells of 8 and
// 16 bytes come first, in schema order, then those of 1 byte. A cell of variable length is its
// place from the start of the row (4) and its length (4). `nulls` has a bit per nullable column, 1
// for NULL; the cell is zero then. The key is in the form that the tree's slots point to, so it is
// stored once. Example: the key "0123abcd", a bigint and a nullable text "hi" take 24 + 16 + 1 +
// 10 + 2 = 53 bytes.
//
// Thread-safety: a layout is immutable. A row may be read by any number of threads while one
// appends to its redo list; writers of one row take turns (the lock of its leaf).
// Ownership: the arena's. A layout borrows the schema, which must outlive it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "base/arena.h"
#include "base/datum.h"
#include "base/schema.h"
#include "mvcc/concurrent_btree.h"
#include "mvcc/mutation.h"
#include "mvcc/row_change_list.h"

namespace varve {

class RowLayout {
 public:
  static constexpr size_t kNoColumn = SIZE_MAX;
  // The most bytes that the variable-length cells of a row, or one change list, may have together.
  static constexpr size_t kMaxVariableBytes = size_t{1} << 30;

  struct Column {
    PhysicalType type = PhysicalType::kInt64;
    bool nullable = false;
    uint32_t offset = 0;        // of the cell
    uint32_t null_byte = 0;     // offset of the byte with its null bit; of a nullable column
    uint8_t null_mask = 0;      // 0 for a column that is not nullable
    uint32_t bytes_column = 0;  // its number among the kBytes columns
  };

  explicit RowLayout(const Schema& schema);

  const Schema& schema() const { return *schema_; }
  size_t num_columns() const { return columns_.size(); }
  const Column& column(size_t i) const { return columns_[i]; }
  size_t num_bytes_columns() const { return num_bytes_columns_; }
  // Cells and null bits.
  size_t cells_size() const { return cells_size_; }

  // The column with this id, or kNoColumn.
  size_t IndexOf(uint32_t id) const {
    if (id < dense_ids_.size()) {
      return dense_ids_[id];
    }
    if (large_ids_.empty()) {
      return kNoColumn;
    }
    const auto it = large_ids_.find(id);
    return it == large_ids_.end() ? kNoColumn : it->second;
  }

  bool IsNull(const char* cells, const Column& column) const {
    return (static_cast<uint8_t>(cells[column.null_byte]) & column.null_mask) != 0;
  }

  // InvalidArgument: there are more or fewer cells than columns, one has another physical type, or
  // is NULL where it may not be, or they are too large.
  absl::Status CheckCells(std::span<const Datum> cells) const;

  // DataLoss: the list is malformed. InvalidArgument: a value has not the form of its column, or is
  // NULL where it may not be. Columns that the schema does not know are no error.
  absl::Status CheckChanges(RowChangeList list) const;

 private:
  const Schema* schema_;
  std::vector<Column> columns_;
  size_t num_bytes_columns_ = 0;
  size_t cells_size_ = 0;
  // Ids are small as a rule; a table answers for those, a map for the rest.
  std::vector<size_t> dense_ids_;
  absl::flat_hash_map<uint32_t, size_t> large_ids_;
};

template <typename T>
T LoadCell(const char* cells, size_t offset) {
  T value;
  std::memcpy(&value, cells + offset, sizeof(T));
  return value;
}

// How a row stands after its insert and some of its changes.
struct RowState {
  bool deleted = false;
  Timestamp written_at = 0;  // of the newest change applied, or of the insert
};

// Applies a change to the cells of a row. Bytes of the result point into the list; the cells of a
// deleted row stay what they were. Requires: layout.CheckChanges(list), one cell per column.
void ApplyChange(const RowLayout& layout, Timestamp at, RowChangeList list, RowState* state,
                 std::span<Datum> cells);

class MrsRow {
 public:
  // Requires: layout.CheckCells(cells) and the key is no longer than RowKeyProbe::kMaxKeySize.
  static MrsRow* Create(Arena* arena, const RowLayout& layout, Timestamp inserted_at,
                        std::string_view key, std::span<const Datum> cells);
  MrsRow(const MrsRow&) = delete;
  MrsRow& operator=(const MrsRow&) = delete;

  Timestamp inserted_at() const { return inserted_at_; }
  const Mutation* redo_head() const { return redo_head_.load(std::memory_order_acquire); }
  const Mutation* redo_tail() const { return redo_tail_.load(std::memory_order_acquire); }

  // The timestamp of its newest change, or of its insert.
  Timestamp newest_timestamp() const {
    const Mutation* const tail = redo_tail();
    return tail == nullptr ? inserted_at_ : tail->timestamp();
  }
  bool is_ghost() const {
    const Mutation* const tail = redo_tail();
    return tail != nullptr && tail->list().is_delete();
  }

  // Cells and null bits, as the row was inserted.
  const char* cells() const { return begin() + kHeaderSize; }
  // The value of a kBytes column (empty for NULL).
  std::string_view bytes(const RowLayout::Column& column) const {
    const auto place = LoadCell<uint32_t>(cells(), column.offset);
    const auto length = LoadCell<uint32_t>(cells(), column.offset + sizeof(uint32_t));
    return {begin() + place, length};
  }
  // Any cell; bytes point into the row.
  Datum Cell(const RowLayout& layout, size_t column) const;

  std::string_view key(const RowLayout& layout) const {
    const char* const stored = stored_key(layout);
    return {stored + sizeof(uint16_t), LoadCell<uint16_t>(stored, 0)};
  }
  const char* stored_key(const RowLayout& layout) const { return cells() + layout.cells_size(); }

  // Appends to the redo list. Requires: no other thread does, and the timestamps stay in order.
  void Append(Mutation* mutation) {
    Mutation* const tail = redo_tail_.load(std::memory_order_relaxed);
    if (tail == nullptr) {
      redo_head_.store(mutation, std::memory_order_release);
    } else {
      tail->Append(mutation);
    }
    redo_tail_.store(mutation, std::memory_order_release);
  }

 private:
  static constexpr size_t kHeaderSize = 24;

  explicit MrsRow(Timestamp inserted_at) : inserted_at_(inserted_at) {}
  const char* begin() const { return reinterpret_cast<const char*>(this); }

  const Timestamp inserted_at_;
  std::atomic<Mutation*> redo_head_ = nullptr;
  std::atomic<Mutation*> redo_tail_ = nullptr;
};

using RowTree = ConcurrentBTree<MrsRow*>;

}  // namespace varve
