// Statistics of tables and row ids of the model.
#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "tests/catalog/lake_model.h"
#include "tests/catalog/lake_values.h"

namespace varve {

int64_t LakeModel::TakeRowIds(int64_t table, int64_t count) {
  if (provisional_) {
    const int64_t first = kFirstProvisionalRowId + provisional_row_ids_[table];
    provisional_row_ids_[table] += count;
    return first;
  }
  const auto stats = Live("ducklake_table_stats", {{"table_id", StrCat(table)}});
  return stats.empty() ? 0 : NumberOf(stats.front()->row, "next_row_id");
}

void LakeModel::CountInTable(int64_t table, int64_t rows, int64_t row_ids, int64_t bytes) {
  const std::string id = StrCat(table);
  if (Live("ducklake_table_stats", {{"table_id", id}}).empty()) {
    Insert(
        "ducklake_table_stats",
        {{"table_id", id}, {"record_count", "0"}, {"next_row_id", "0"}, {"file_size_bytes", "0"}});
  }
  LakeRow& row = Live("ducklake_table_stats", {{"table_id", id}}).front()->row;
  row["record_count"] = StrCat(NumberOf(row, "record_count") + rows);
  row["next_row_id"] = StrCat(NumberOf(row, "next_row_id") + row_ids);
  row["file_size_bytes"] = StrCat(NumberOf(row, "file_size_bytes") + bytes);
}

void LakeModel::NoteStatistics(int64_t table, const DataFile& file, bool required) {
  if (file.record_count == 0) {
    return;
  }
  for (const Version* column : Live("ducklake_column", {{"table_id", StrCat(table)}})) {
    const std::string& type = column->row.at("column_type");
    if (IsCompound(type)) {
      continue;
    }
    const int64_t id = NumberOf(column->row, "column_id");
    const auto given = std::find_if(
        file.columns.begin(), file.columns.end(),
        [&](const ColumnStatistics& statistics) { return statistics.column_id == id; });
    Values values = {.type = type, .required = required};
    if (given != file.columns.end()) {
      values.min = given->min_value;
      values.max = given->max_value;
      if (given->null_count.has_value()) {
        values.nulls = *given->null_count > 0;
      }
      // Fields of lists and maps have any number of values a row.
      bool repeated = false;
      for (const Version* above = column; above->row.contains("parent_column");) {
        above = Live("ducklake_column",
                     {{"table_id", StrCat(table)}, {"column_id", above->row.at("parent_column")}})
                    .front();
        repeated |= above->row.at("column_type") != "struct";
      }
      const bool all_null = (!repeated && given->null_count == file.record_count) ||
                            given->value_count == std::optional<int64_t>(0);
      values.any = values.min.has_value() || values.max.has_value() || !all_null;
    } else {
      continue;  // what a file does not speak of leaves the bounds as they are
    }
    values_[{table, id}].push_back(std::move(values));
  }
  NoteStatisticsOfDroppedColumns(table, file);
}

// A column may be dropped after the file was written and before it is committed. Its bounds may
// grow then, and need not.
void LakeModel::NoteStatisticsOfDroppedColumns(int64_t table, const DataFile& file) {
  for (const ColumnStatistics& statistics : file.columns) {
    const Where key = {{"table_id", StrCat(table)}, {"column_id", StrCat(statistics.column_id)}};
    if (!Live("ducklake_column", key).empty()) {
      continue;
    }
    for (const Version& column : relations_["ducklake_column"]) {
      const bool is_it = std::ranges::all_of(
          key, [&](const auto& field) { return column.row.at(field.first) == field.second; });
      if (is_it && !column.gone && !IsCompound(column.row.at("column_type"))) {
        values_[{table, statistics.column_id}].push_back(
            {.type = column.row.at("column_type"),
             .required = false,
             .nulls = statistics.null_count.has_value() ? std::optional(*statistics.null_count > 0)
                                                        : std::nullopt});
        break;
      }
    }
  }
}

std::string LakeModel::CheckColumnStats(const LakeRow& row) const {
  const auto found = values_.find({NumberOf(row, "table_id"), NumberOf(row, "column_id")});
  if (found == values_.end()) {
    return "the column never got a value";
  }
  bool has_null = false;
  bool may_have_null = false;
  bool nulls_unknown = false;
  NullableText least;
  NullableText most;
  bool least_unknown = false;
  bool most_unknown = false;
  for (const Values& values : found->second) {
    may_have_null |= values.nulls == true;
    if (!values.required) {
      continue;
    }
    has_null |= values.nulls == true;
    nulls_unknown |= !values.nulls.has_value();
    if (!values.any) {
      continue;
    }
    least_unknown |= !values.min.has_value();
    most_unknown |= !values.max.has_value();
    if (values.min.has_value() &&
        (!least.has_value() || IsSmaller(values.type, *values.min, *least))) {
      least = values.min;
    }
    if (values.max.has_value() &&
        (!most.has_value() || IsSmaller(values.type, *most, *values.max))) {
      most = values.max;
    }
  }
  const std::string& type = found->second.back().type;
  const NullableText min =
      row.contains("min_value") ? NullableText(row.at("min_value")) : std::nullopt;
  const NullableText max =
      row.contains("max_value") ? NullableText(row.at("max_value")) : std::nullopt;
  if (min.has_value() && (least_unknown || (least.has_value() && IsSmaller(type, *least, *min)))) {
    return StrCat("min_value is ", *min, ", there is ",
                  least_unknown ? "something unknown" : *least);
  }
  if (max.has_value() && (most_unknown || (most.has_value() && IsSmaller(type, *max, *most)))) {
    return StrCat("max_value is ", *max, ", there is ", most_unknown ? "something unknown" : *most);
  }
  if (!min.has_value() && !least_unknown && least.has_value()) {
    return StrCat("min_value is not known, though that of all values is: ", *least);
  }
  if (!max.has_value() && !most_unknown && most.has_value()) {
    return StrCat("max_value is not known, though that of all values is: ", *most);
  }
  if (TextOf(row, "contains_null") == "false" && (has_null || nulls_unknown)) {
    return StrCat("contains_null is false, there ", has_null ? "are" : "may be", " NULLs");
  }
  if (TextOf(row, "contains_null") == "true" && !may_have_null) {
    return "contains_null is true, there never was a NULL";
  }
  return "";
}

std::string LakeModel::CheckRowIds() const {
  struct Range {
    int64_t first = 0;
    int64_t end = 0;
    std::string line;
  };
  std::map<std::string, std::vector<Range>> by_table;
  for (const Version* file : Live("ducklake_data_file", {})) {
    // A merged or flushed file may hold several versions of a row, and says the ids itself.
    if (file->row.contains("row_id_start") && !file->row.contains("partial_max")) {
      const int64_t first = NumberOf(file->row, "row_id_start");
      by_table[file->row.at("table_id")].push_back(
          {first, first + NumberOf(file->row, "record_count"), LineOf(file->row)});
    }
  }
  for (const std::string& relation : Relations()) {
    if (relation.starts_with("inlined rows ")) {
      for (const Version* row : Live(relation, {})) {
        const int64_t id = NumberOf(row->row, "row_id");
        by_table[relation.substr(std::string_view("inlined rows ").size())].push_back(
            {id, id + 1, LineOf(row->row)});
      }
    }
  }
  for (auto& [table, ranges] : by_table) {
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
      return std::pair(a.first, a.end) < std::pair(b.first, b.end);
    });
    const auto stats = Live("ducklake_table_stats", {{"table_id", table}});
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (i > 0 && ranges[i].first < ranges[i - 1].end) {
        return StrCat("table ", table, ": row ids overlap: ", ranges[i - 1].line, " and ",
                      ranges[i].line);
      }
      if (stats.empty() || ranges[i].end > NumberOf(stats.front()->row, "next_row_id")) {
        return StrCat("table ", table, ": row ids are beyond the next one: ", ranges[i].line);
      }
    }
  }
  return "";
}

}  // namespace varve
