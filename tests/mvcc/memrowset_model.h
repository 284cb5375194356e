// What a MemRowSet should hold, kept as simply as can be: per key the base row and every state it
// had afterwards. Its answers are derived from "was the row alive at the window's start and end"
// alone, not by replaying changes. Beside it, what the tests of row sets write rows with.
//
// Answers are lines of text, one per row: "<key in hexadecimal> <inserted at>-<written at>:
// <cells>".
//
// Thread-safety: none.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/int128.h"
#include "base/row.h"
#include "base/schema.h"
#include "base/strings.h"
#include "mvcc/memrowset.h"

namespace varve {

// "a:bigint b:varchar? c#7:boolean": name, id (by default one more than the last), type, and a
// question mark when it can be NULL.
inline std::shared_ptr<const Schema> SchemaOf(std::string_view text) {
  std::vector<ColumnSchema> columns;
  uint32_t id = 0;
  for (const absl::string_view part : absl::StrSplit(ToAbsl(text), ' ', absl::SkipEmpty())) {
    std::string_view column = FromAbsl(part);
    const bool nullable = column.ends_with('?');
    column.remove_suffix(nullable ? 1 : 0);
    std::string_view name = column.substr(0, column.find(':'));
    const std::string_view type = column.substr(column.find(':') + 1);
    ++id;
    if (const size_t mark = name.find('#'); mark != std::string_view::npos) {
      id = ParseNumber<uint32_t>(name.substr(mark + 1)).value();
      name = name.substr(0, mark);
    }
    columns.push_back({.name = std::string(name),
                       .type = TypeFromDeclaration(type),
                       .field = id,
                       .nullable = nullable});
  }
  return std::make_shared<const Schema>(std::move(columns));
}

inline Datum Int(int64_t value) {
  return Datum::Int64(value);
}
inline Datum Text(std::string_view value) {
  return Datum::Bytes(value);
}

inline std::string TextOf(const Datum& value) {
  if (value.is_null()) {
    return "NULL";
  }
  switch (value.physical()) {
    case PhysicalType::kBool: return value.bool_value() ? "true" : "false";
    case PhysicalType::kInt64: return StrCat(value.int64_value());
    case PhysicalType::kInt128: {
      std::string text;
      AppendInt128(value.int128_value(), &text);
      return text;
    }
    // Bit by bit: a NaN keeps its payload.
    case PhysicalType::kFloat64:
      return StrCat("bits ", std::bit_cast<uint64_t>(value.float64_value()));
    case PhysicalType::kBytes: return StrCat("'", value.bytes(), "'");
  }
  return "?";
}

inline std::string LineOf(std::string_view key, Timestamp inserted_at, Timestamp written_at,
                          const std::vector<std::string>& cells) {
  return StrCat(BytesToHexString(key), " ", inserted_at, "-", written_at, ": ",
                StrJoin(cells, " "));
}

// New values of columns, by column index.
using ModelUpdate = std::vector<std::pair<size_t, Datum>>;

class MemRowSetModel {
 public:
  void Insert(Timestamp at, const std::string& key, std::span<const Datum> cells) {
    const auto [it, is_new] = rows_.try_emplace(key);
    it->second.push_back({.at = at, .live = true, .cells = Row(cells)});
  }
  void Update(Timestamp at, const std::string& key, const ModelUpdate& update) {
    State state = rows_.at(key).back();
    state.at = at;
    for (const auto& [column, value] : update) {
      state.cells.Set(column, value);
    }
    rows_.at(key).push_back(std::move(state));
  }
  void Delete(Timestamp at, const std::string& key) {
    State state = rows_.at(key).back();
    state.at = at;
    state.live = false;
    rows_.at(key).push_back(std::move(state));
  }

  RowPresence Presence(const std::string& key) const {
    const auto it = rows_.find(key);
    if (it == rows_.end()) {
      return RowPresence::kAbsent;
    }
    return it->second.back().live ? RowPresence::kLive : RowPresence::kGhost;
  }
  size_t num_rows() const { return rows_.size(); }
  size_t live_row_count() const {
    size_t live = 0;
    for (const auto& [key, states] : rows_) {
      live += states.back().live ? 1 : 0;
    }
    return live;
  }

  std::vector<std::string> Scan(const MemRowSetScan& scan) const {
    std::vector<std::string> lines;
    for (const auto& [key, states] : rows_) {
      if (key < scan.lower || (!scan.upper.empty() && key >= scan.upper)) {
        continue;
      }
      const State* const start =
          scan.snap_to_exclude.has_value() ? StateAt(states, *scan.snap_to_exclude) : nullptr;
      const State* const end = StateAt(states, scan.snap_to_include);
      if (end == nullptr || end == start) {
        continue;  // it is not there yet, or nothing happened in the window
      }
      const bool live_at_start = start != nullptr && start->live;
      const bool observable = live_at_start || !scan.snap_to_exclude.has_value();
      if (end->live || (scan.include_deleted_rows && observable)) {
        std::vector<std::string> cells;
        for (const size_t column : scan.projection) {
          cells.push_back(column == kIsDeletedColumn ? TextOf(Datum::Bool(!end->live))
                                                     : TextOf(end->cells[column]));
        }
        lines.push_back(LineOf(key, states.front().at, end->at, cells));
      }
    }
    return lines;
  }

 private:
  struct State {
    Timestamp at = 0;
    bool live = true;
    Row cells;
  };

  // The last one at or before `at`; null: there is none.
  static const State* StateAt(const std::vector<State>& states, Timestamp at) {
    const State* found = nullptr;
    for (const State& state : states) {
      found = state.at <= at ? &state : found;
    }
    return found;
  }

  std::map<std::string, std::vector<State>> rows_;
};

// The selected rows of a scan; checks the shape of every block on the way.
inline std::vector<std::string> ScanLines(const MemRowSet& rows, MemRowSetScan scan) {
  scan.want_keys = true;
  scan.want_timestamps = true;
  const size_t batch_rows = scan.batch_rows;
  std::vector<std::string> lines;
  const std::unique_ptr<MemRowSetIterator> iterator = rows.NewIterator(scan);
  RowBlock block;
  while (iterator->Next(&block)) {
    EXPECT_GT(block.num_rows, 0U);
    EXPECT_LE(block.num_rows, batch_rows);
    EXPECT_EQ(block.columns.num_rows(), block.num_rows);
    EXPECT_EQ(block.selected.size(), block.num_rows);
    const size_t selected_before = lines.size();
    for (size_t i = 0; i < block.num_rows; ++i) {
      if (block.selected[i] != 0) {
        std::vector<std::string> cells;
        for (size_t column = 0; column < block.columns.num_columns(); ++column) {
          cells.push_back(TextOf(block.columns.column(column).at(i)));
        }
        lines.push_back(LineOf(block.keys[i], block.inserted_at[i], block.written_at[i], cells));
      }
    }
    EXPECT_EQ(block.num_selected, lines.size() - selected_before);
  }
  EXPECT_EQ(block.num_rows, 0U) << "a block at the end is empty";
  EXPECT_FALSE(iterator->Next(&block)) << "and stays so";
  return lines;
}

// A row set and its model, changed together.
class CheckedRowSet {
 public:
  explicit CheckedRowSet(std::shared_ptr<const Schema> schema)
      : schema_(std::move(schema)), rows_(MemRowSet::Create(schema_)) {}

  MemRowSet& rows() { return *rows_; }
  const MemRowSetModel& model() const { return model_; }
  const Schema& schema() const { return *schema_; }

  void Insert(Timestamp at, const std::string& key, std::span<const Datum> cells) {
    EXPECT_TRUE(rows_->Insert(at, RowKeyProbe(key), cells).ok());
    model_.Insert(at, key, cells);
  }
  void InsertPreImage(Timestamp at, const std::string& key, std::span<const Datum> cells) {
    EXPECT_TRUE(rows_->InsertPreImage(at, RowKeyProbe(key), cells).ok());
    model_.Insert(at, key, cells);
  }
  void Update(Timestamp at, const std::string& key, const ModelUpdate& update) {
    std::string buffer;
    RowChangeListEncoder encoder(&buffer);
    encoder.SetToUpdate();
    for (const auto& [column, value] : update) {
      encoder.AddColumn(schema_->column(column).field, value);
    }
    EXPECT_TRUE(rows_->Mutate(at, RowKeyProbe(key), encoder.list()).ok());
    model_.Update(at, key, update);
  }
  void Delete(Timestamp at, const std::string& key) {
    EXPECT_TRUE(rows_->Mutate(at, RowKeyProbe(key), RowChangeList::Delete()).ok());
    model_.Delete(at, key);
  }

 private:
  std::shared_ptr<const Schema> schema_;
  std::shared_ptr<MemRowSet> rows_;
  MemRowSetModel model_;
};

}  // namespace varve
