// Data files and delete files of the model.
#include <algorithm>

#include "base/strings.h"
#include "tests/catalog/lake_model.h"
#include "tests/catalog/lake_values.h"

namespace varve {
namespace {

void SetStatistics(const ColumnStatistics& statistics, LakeRow* row) {
  (*row)["column_id"] = StrCat(statistics.column_id);
  PutNumber("column_size_bytes", statistics.column_size_bytes, row);
  PutNumber("value_count", statistics.value_count, row);
  PutNumber("null_count", statistics.null_count, row);
  PutText("min_value", statistics.min_value, row);
  PutText("max_value", statistics.max_value, row);
  PutText("extra_stats", statistics.extra_stats, row);
  if (statistics.contains_nan.has_value()) {
    (*row)["contains_nan"] = TextOfBool(*statistics.contains_nan);
  }
}

}  // namespace

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
  PutNumber("file_order", file.file_order, &row);
  row["path"] = file.path;
  row["path_is_relative"] = TextOfBool(file.path_is_relative);
  row["file_format"] = file.format;
  row["record_count"] = StrCat(file.record_count);
  row["file_size_bytes"] = StrCat(file.file_size_bytes);
  row["footer_size"] = StrCat(file.footer_size);
  PutNumber("row_id_start", row_id_start, &row);
  PutText("encryption_key", file.encryption_key, &row);
  PutNumber("mapping_id", file.mapping_id, &row);
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
    PutText("partition_value", file.partition_values[key], &part);
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
                 {"path_is_relative", TextOfBool(file.path_is_relative)},
                 {"format", file.format},
                 {"delete_count", StrCat(file.delete_count)},
                 {"file_size_bytes", StrCat(file.file_size_bytes)},
                 {"footer_size", StrCat(file.footer_size)}};
  PutText("encryption_key", file.encryption_key, &row);
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
                       {"is_partition", TextOfBool(mapping.is_partition)}};
        PutNumber("parent_column", mapping.parent_column, &row);
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

}  // namespace varve
