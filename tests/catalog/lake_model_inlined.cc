// Inlined rows and inlined deletes of the model.
#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "tests/catalog/lake_model.h"
#include "tests/catalog/lake_values.h"

namespace varve {

// By the names the columns have now.
LakeRow LakeModel::InlinedValues(int64_t table, const std::vector<NullableText>& values) {
  std::vector<const Version*> columns;
  for (const Version* column : Live("ducklake_column", {{"table_id", StrCat(table)}})) {
    if (!column->row.contains("parent_column")) {
      columns.push_back(column);
    }
  }
  std::sort(columns.begin(), columns.end(), [](const Version* a, const Version* b) {
    return NumberOf(a->row, "column_order") < NumberOf(b->row, "column_order");
  });
  LakeRow row;
  if (columns.size() != values.size()) {
    Problem(StrCat(values.size(), " values for ", columns.size(), " columns"));
    return row;
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string& type = columns[i]->row.at("column_type");
    PutText(columns[i]->row.at("column_name"), values[i], &row);
    if (!IsCompound(type)) {
      values_[{table, NumberOf(columns[i]->row, "column_id")}].push_back(
          {.type = type,
           .any = values[i].has_value(),
           .nulls = !values[i].has_value(),
           .min = values[i],
           .max = values[i]});
    }
  }
  return row;
}

void LakeModel::ApplyToInlined(const LakeOperation& o) {
  const std::string table = StrCat(o.object);
  const std::string inlined = StrCat("inlined rows ", table);
  Find("ducklake_table", {{"table_id", table}});
  const auto insert = [&](int64_t row_id, const std::vector<NullableText>& values) {
    LakeRow row = InlinedValues(o.object, values);
    row["row_id"] = StrCat(row_id);
    InsertAt(inlined, std::move(row), now_);
    relations_[inlined].back().follows_columns = altered_.contains(o.object);
  };
  switch (o.kind) {
    case Kind::kInsertInlined: {
      const int64_t first = TakeRowIds(o.object, static_cast<int64_t>(o.rows.size()));
      if (first != o.made[0]) {
        // No ids are given to rows of a table that is dropped.
        Problem(StrCat("the first row id should be ", first));
      }
      for (size_t i = 0; i < o.rows.size(); ++i) {
        insert(o.made[0] + static_cast<int64_t>(i), o.rows[i]);
      }
      const auto count = static_cast<int64_t>(o.rows.size());
      CountInTable(o.object, count, count, 0);
      words_.insert(StrCat("inlined_insert:", table));
      return;
    }
    case Kind::kDeleteInlined:
      for (const int64_t id : o.ids) {
        if (Version* row = Find(inlined, {{"row_id", StrCat(id)}}); row != nullptr) {
          End(row);
        }
      }
      words_.insert(StrCat("inlined_delete:", table));
      return;
    case Kind::kUpdateInlined:
      if (Version* row = Find(inlined, {{"row_id", StrCat(o.ids[0])}}); row != nullptr) {
        End(row);
        insert(o.ids[0], o.rows[0]);
      }
      words_.insert(StrCat("inlined_delete:", table));
      words_.insert(StrCat("inlined_insert:", table));
      return;
    case Kind::kDeleteFromFile:
      Find("ducklake_data_file", {{"table_id", table}, {"data_file_id", StrCat(o.column)}});
      for (const int64_t id : o.ids) {
        InsertAt(StrCat("ducklake_inlined_delete_", table),
                 {{"file_id", StrCat(o.column)},
                  {"row_id", StrCat(id)},
                  {"begin_snapshot", StrCat(now_)}},
                 now_);
      }
      words_.insert(StrCat("inlined_delete:", table));
      return;
    case Kind::kFlushInlined: {
      SnapshotId first = kNoEnd;
      SnapshotId last = 0;
      int64_t first_row_id = std::numeric_limits<int64_t>::max();
      SnapshotId first_end = kNoEnd;
      SnapshotId last_end = 0;
      for (const InlinedVersion& moved : o.versions) {
        size_t found = 0;
        for (Version& row : relations_[inlined]) {
          if (!row.gone && row.begin == moved.begin &&
              row.row.at("row_id") == StrCat(moved.row_id)) {
            row.gone = true;
            ++found;
            first = std::min(first, row.begin);
            last = std::max(last, row.begin);
            first_row_id = std::min(first_row_id, moved.row_id);
            if (row.end != kNoEnd) {
              first_end = std::min(first_end, row.end);
              last_end = std::max(last_end, row.end);
            }
          }
        }
        if (found != 1) {
          Problem(StrCat("row ", moved.row_id, " of snapshot ", moved.begin, " is flushed but was ",
                         found, " times there"));
        }
      }
      Sweep();
      AddDataFile(o, o.files[0], o.made[0], first, o.files[0].row_id_start.value_or(first_row_id),
                  {{"partial_max", StrCat(last)}});
      CountInTable(o.object, 0, 0, o.files[0].file_size_bytes);
      NoteStatistics(o.object, o.files[0], false);
      if (!o.delete_files.empty()) {
        DeleteFile deletes = o.delete_files[0];
        deletes.data_file_id = o.made[0];
        deletes.begin_snapshot = first_end;
        deletes.partial_max =
            last_end > first_end ? std::optional<SnapshotId>(last_end) : std::nullopt;
        AddDeleteFile(o, deletes, o.made[1]);
      }
      words_.insert(StrCat("inline_flush:", table));
      return;
    }
    default: Problem("no such operation"); return;
  }
}

}  // namespace varve
