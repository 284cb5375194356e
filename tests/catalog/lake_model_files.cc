// Data files, delete files, their statistics, and inlined rows of the model.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "base/strings.h"
#include "tests/catalog/lake_model.h"

namespace varve {
namespace {

std::string BoolText(bool value) {
  return value ? "true" : "false";
}
void SetText(const std::string& column, const NullableText& text, LakeRow* row) {
  if (text.has_value()) {
    (*row)[column] = *text;
  }
}
void SetNumber(const std::string& column, const std::optional<int64_t>& number, LakeRow* row) {
  if (number.has_value()) {
    (*row)[column] = StrCat(*number);
  }
}

void SetStatistics(const ColumnStatistics& statistics, LakeRow* row) {
  (*row)["column_id"] = StrCat(statistics.column_id);
  SetNumber("column_size_bytes", statistics.column_size_bytes, row);
  SetNumber("value_count", statistics.value_count, row);
  SetNumber("null_count", statistics.null_count, row);
  SetText("min_value", statistics.min_value, row);
  SetText("max_value", statistics.max_value, row);
  SetText("extra_stats", statistics.extra_stats, row);
  if (statistics.contains_nan.has_value()) {
    (*row)["contains_nan"] = BoolText(*statistics.contains_nan);
  }
}

bool IsNumeric(std::string_view type) {
  return type.starts_with("int") || type.starts_with("uint") || type.starts_with("float") ||
         type.starts_with("decimal");
}

// Whether a is less than b as values of the type.
bool IsLess(std::string_view type, const std::string& a, const std::string& b) {
  return IsNumeric(type) ? std::strtod(a.c_str(), nullptr) < std::strtod(b.c_str(), nullptr)
                         : a < b;
}

bool IsNested(std::string_view type) {
  return type == "struct" || type == "list" || type == "map" || type == "variant";
}

}  // namespace

// --- Table statistics ---

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
    if (IsNested(type)) {
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
        (!least.has_value() || IsLess(values.type, *values.min, *least))) {
      least = values.min;
    }
    if (values.max.has_value() && (!most.has_value() || IsLess(values.type, *most, *values.max))) {
      most = values.max;
    }
  }
  const std::string& type = found->second.back().type;
  const NullableText min =
      row.contains("min_value") ? NullableText(row.at("min_value")) : std::nullopt;
  const NullableText max =
      row.contains("max_value") ? NullableText(row.at("max_value")) : std::nullopt;
  if (min.has_value() && (least_unknown || (least.has_value() && IsLess(type, *least, *min)))) {
    return StrCat("min_value is ", *min, ", there is ",
                  least_unknown ? "something unknown" : *least);
  }
  if (max.has_value() && (most_unknown || (most.has_value() && IsLess(type, *max, *most)))) {
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

// --- Data files ---

void LakeModel::GiveFileId(int64_t id) {
  if (!file_ids_.insert(id).second) {
    Problem(StrCat("file id ", id, " was given before"));
  }
  if (!provisional_) {
    next_file_id_ = std::max(next_file_id_, id + 1);
  }
}

std::vector<NullableText> LakeModel::PartitionValues(int64_t file) const {
  std::vector<NullableText> values;
  for (const Version* row :
       Live("ducklake_file_partition_value", {{"data_file_id", StrCat(file)}})) {
    values.resize(std::max(values.size(),
                           static_cast<size_t>(NumberOf(row->row, "partition_key_index")) + 1));
    if (row->row.contains("partition_value")) {
      values[static_cast<size_t>(NumberOf(row->row, "partition_key_index"))] =
          row->row.at("partition_value");
    }
  }
  return values;
}

// `more`: columns beside what the file says of itself.
void LakeModel::AddDataFile(const LakeOperation& o, const DataFile& file, int64_t id,
                            SnapshotId begin, std::optional<int64_t> row_id_start, LakeRow more) {
  GiveFileId(id);
  const std::string table = StrCat(o.object);
  LakeRow row = std::move(more);
  row["data_file_id"] = StrCat(id);
  row["table_id"] = table;
  SetNumber("file_order", file.file_order, &row);
  row["path"] = file.path;
  row["path_is_relative"] = BoolText(file.path_is_relative);
  row["file_format"] = file.format;
  row["record_count"] = StrCat(file.record_count);
  row["file_size_bytes"] = StrCat(file.file_size_bytes);
  row["footer_size"] = StrCat(file.footer_size);
  SetNumber("row_id_start", row_id_start, &row);
  SetText("encryption_key", file.encryption_key, &row);
  SetNumber("mapping_id", file.mapping_id, &row);
  if (!file.partition_values.empty() && o.partition_id.has_value() &&
      !row.contains("partition_id")) {
    row["partition_id"] = StrCat(*o.partition_id);
  }
  InsertAt("ducklake_data_file", std::move(row), begin);
  for (const ColumnStatistics& statistics : file.columns) {
    LakeRow part = {{"data_file_id", StrCat(id)}, {"table_id", table}};
    SetStatistics(statistics, &part);
    InsertAt("ducklake_file_column_stats", std::move(part), begin);
  }
  for (const VariantStatistics& variant : file.variants) {
    LakeRow part = {{"data_file_id", StrCat(id)},
                    {"table_id", table},
                    {"variant_path", variant.variant_path},
                    {"shredded_type", variant.shredded_type}};
    SetStatistics(variant.statistics, &part);
    InsertAt("ducklake_file_variant_stats", std::move(part), begin);
  }
  for (size_t key = 0; key < file.partition_values.size(); ++key) {
    LakeRow part = {
        {"data_file_id", StrCat(id)}, {"table_id", table}, {"partition_key_index", StrCat(key)}};
    SetText("partition_value", file.partition_values[key], &part);
    InsertAt("ducklake_file_partition_value", std::move(part), begin);
  }
}

void LakeModel::EndDataFile(int64_t table, int64_t file) {
  const Where where = {{"table_id", StrCat(table)}, {"data_file_id", StrCat(file)}};
  Find("ducklake_data_file", where);
  for (const char* relation :
       {"ducklake_data_file", "ducklake_delete_file", "ducklake_file_column_stats",
        "ducklake_file_variant_stats", "ducklake_file_partition_value"}) {
    EndAll(relation, where);
  }
}

void LakeModel::ErasePartsOfFile(int64_t file) {
  for (const char* relation : {"ducklake_file_column_stats", "ducklake_file_variant_stats",
                               "ducklake_file_partition_value"}) {
    Erase(relation, {{"data_file_id", StrCat(file)}});
  }
}

// The queue names files by where they are.
void LakeModel::Schedule(const LakeRow& file, const std::string& id_column) {
  const auto tables = Live("ducklake_table", {{"table_id", file.at("table_id")}});
  if (tables.empty()) {
    Problem("a file of no live table is scheduled for deletion");
    return;
  }
  std::string path = file.at("path");
  if (file.at("path_is_relative") == "true") {
    const LakeRow& table = tables.front()->row;
    path = table.at("path") + path;
    if (table.at("path_is_relative") == "true") {
      const LakeRow& schema =
          Live("ducklake_schema", {{"schema_id", table.at("schema_id")}}).front()->row;
      path =
          StrCat(schema.at("path_is_relative") == "true" ? "/lake/" : "", schema.at("path"), path);
    }
  }
  Insert("ducklake_files_scheduled_for_deletion",
         {{"data_file_id", file.at(id_column)}, {"path", path}});
}

void LakeModel::AddDeleteFile(const LakeOperation& o, const DeleteFile& file, int64_t id) {
  GiveFileId(id);
  const Where of_file = {{"table_id", StrCat(o.object)},
                         {"data_file_id", StrCat(file.data_file_id)}};
  const Version* const data_file = Find("ducklake_data_file", of_file);
  if (data_file != nullptr && NumberOf(data_file->row, "record_count") < file.delete_count) {
    Problem("it deletes more rows than there are");
  }
  SnapshotId begin = now_;
  if (file.begin_snapshot.has_value()) {
    begin = *file.begin_snapshot;
    for (Version& old : relations_["ducklake_delete_file"]) {
      if (!old.gone && old.end > begin && old.row.at("data_file_id") == StrCat(file.data_file_id)) {
        old.gone = true;
        Schedule(old.row, "delete_file_id");
      }
    }
  } else {
    EndAll("ducklake_delete_file", of_file);
  }
  if (file.holds_inlined_deletes) {
    Erase(StrCat("ducklake_inlined_delete_", o.object), {{"file_id", StrCat(file.data_file_id)}});
  }
  LakeRow row = {{"delete_file_id", StrCat(id)},
                 {"table_id", StrCat(o.object)},
                 {"data_file_id", StrCat(file.data_file_id)},
                 {"path", file.path},
                 {"path_is_relative", BoolText(file.path_is_relative)},
                 {"format", file.format},
                 {"delete_count", StrCat(file.delete_count)},
                 {"file_size_bytes", StrCat(file.file_size_bytes)},
                 {"footer_size", StrCat(file.footer_size)}};
  SetText("encryption_key", file.encryption_key, &row);
  if (file.partial_max.has_value()) {
    row["partial_max"] = StrCat(*file.partial_max);
  }
  InsertAt("ducklake_delete_file", std::move(row), begin);
}

void LakeModel::ApplyToFiles(const LakeOperation& o) {
  const std::string table = StrCat(o.object);
  if (o.kind != Kind::kRemoveScheduledFiles) {
    Find("ducklake_table", {{"table_id", table}});
  }
  switch (o.kind) {
    case Kind::kCreateNameMapping: {
      GiveFileId(o.made[0]);
      const std::string id = StrCat(o.made[0]);
      Insert("ducklake_column_mapping",
             {{"mapping_id", id}, {"table_id", table}, {"type", "map_by_name"}});
      for (const NameMapping& mapping : o.mappings) {
        LakeRow row = {{"mapping_id", id},
                       {"column_id", StrCat(mapping.column_id)},
                       {"source_name", mapping.source_name},
                       {"target_field_id", StrCat(mapping.target_field_id)},
                       {"is_partition", BoolText(mapping.is_partition)}};
        SetNumber("parent_column", mapping.parent_column, &row);
        Insert("ducklake_name_mapping", std::move(row));
      }
      words_.insert(StrCat("inserted_into_table:", table));
      return;
    }
    case Kind::kRegisterDataFiles: {
      for (size_t i = 0; i < o.files.size(); ++i) {
        const DataFile& file = o.files[i];
        for (const Version* other : Live("ducklake_data_file", {{"table_id", table}})) {
          if (other->row.at("path") == file.path) {
            Problem(StrCat("the path ", file.path, " is registered already"));
          }
        }
        std::optional<int64_t> start = file.row_id_start;
        if (!start.has_value()) {
          start = TakeRowIds(o.object, file.record_count);
        }
        AddDataFile(o, file, o.made[i], now_, start, {});
        CountInTable(o.object, file.record_count,
                     file.row_id_start.has_value() ? 0 : file.record_count, file.file_size_bytes);
        NoteStatistics(o.object, file, true);
      }
      words_.insert(StrCat("inserted_into_table:", table));
      return;
    }
    case Kind::kRegisterDeleteFiles:
      for (size_t i = 0; i < o.delete_files.size(); ++i) {
        AddDeleteFile(o, o.delete_files[i], o.made[i]);
        Sweep();
      }
      words_.insert(StrCat("deleted_from_table:", table));
      return;
    case Kind::kEndDataFiles:
      for (const int64_t file : o.ids) {
        EndDataFile(o.object, file);
      }
      words_.insert(StrCat("deleted_from_table:", table));
      return;
    case Kind::kMergeFiles: {
      std::vector<const Version*> sources;
      DataFile merged = o.files[0];
      merged.partition_values = PartitionValues(o.ids[0]);
      int64_t records = 0;
      for (const int64_t id : o.ids) {
        const Where where = {{"table_id", table}, {"data_file_id", StrCat(id)}};
        Version* const source = Find("ducklake_data_file", where);
        if (source == nullptr) {
          return;
        }
        if (!Live("ducklake_delete_file", where).empty()) {
          Problem(StrCat("data file ", id, " has a delete file"));
        }
        records += NumberOf(source->row, "record_count");
        sources.push_back(source);
        source->gone = true;
        ErasePartsOfFile(id);
        Schedule(source->row, "data_file_id");
      }
      if (records != o.files[0].record_count) {
        Problem("rows are lost");
      }
      std::sort(sources.begin(), sources.end(), [](const Version* a, const Version* b) {
        return std::pair(a->begin, NumberOf(a->row, "row_id_start")) <
               std::pair(b->begin, NumberOf(b->row, "row_id_start"));
      });
      const LakeRow& first = sources.front()->row;
      // Row ids need no column in the file where they follow one another.
      std::optional<int64_t> start;
      int64_t next = NumberOf(first, "row_id_start");
      bool adjacent = true;
      SnapshotId last = 0;
      bool has_partial_max = sources.size() > 1;
      for (const Version* source : sources) {
        adjacent = adjacent && source->row.contains("row_id_start") &&
                   NumberOf(source->row, "row_id_start") == next;
        next += NumberOf(source->row, "record_count");
        has_partial_max |= source->row.contains("partial_max");
        last = std::max({last, source->begin,
                         source->row.contains("partial_max")
                             ? static_cast<SnapshotId>(NumberOf(source->row, "partial_max"))
                             : 0});
      }
      if (adjacent) {
        start = NumberOf(first, "row_id_start");
      }
      if (o.files[0].row_id_start.has_value()) {
        start = o.files[0].row_id_start;
      }
      LakeRow more;
      if (has_partial_max) {
        more["partial_max"] = StrCat(last);
      }
      if (first.contains("partition_id")) {
        more["partition_id"] = first.at("partition_id");
      }
      AddDataFile(o, merged, o.made[0], sources.front()->begin, start, std::move(more));
      NoteStatistics(o.object, o.files[0], false);
      words_.insert(StrCat("merge_adjacent:", table));
      return;
    }
    case Kind::kRewriteFile: {
      const Version* const source =
          Find("ducklake_data_file", {{"table_id", table}, {"data_file_id", StrCat(o.ids[0])}});
      if (source == nullptr) {
        return;
      }
      LakeRow more;
      if (source->row.contains("partition_id")) {
        more["partition_id"] = source->row.at("partition_id");
      }
      CountInTable(o.object, o.files[0].record_count - NumberOf(source->row, "record_count"), 0,
                   o.files[0].file_size_bytes - NumberOf(source->row, "file_size_bytes"));
      DataFile rewritten = o.files[0];
      rewritten.partition_values = PartitionValues(o.ids[0]);
      EndDataFile(o.object, o.ids[0]);
      AddDataFile(o, rewritten, o.made[0], now_, rewritten.row_id_start, std::move(more));
      NoteStatistics(o.object, o.files[0], false);
      words_.insert(StrCat("rewrite_delete:", table));
      return;
    }
    case Kind::kRemoveScheduledFiles:
      for (const int64_t file : o.ids) {
        Erase("ducklake_files_scheduled_for_deletion", {{"data_file_id", StrCat(file)}});
      }
      return;
    default: Problem("no such operation"); return;
  }
}

// --- Inlined rows ---

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
    SetText(columns[i]->row.at("column_name"), values[i], &row);
    if (!IsNested(type)) {
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
        unless_dropped_[o.object] = StrCat("the first row id should be ", first, ": ", current_);
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
