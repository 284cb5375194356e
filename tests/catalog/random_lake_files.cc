// Operations on data files, delete files and inlined rows.
#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "tests/catalog/lake_values.h"
#include "tests/catalog/random_lake.h"

namespace varve {
// Statistics of some of the columns that have values of their own, the fields included.
void RandomLake::AddStatistics(const Rows& columns, bool whole, DataFile* file) {
  for (const LakeRow& column : columns) {
    const std::string type = TextOf(column, "column_type");
    if (IsCompound(type) || OneIn(8)) {
      continue;
    }
    ColumnStatistics& statistics = file->columns.emplace_back();
    statistics.column_id = NumberOf(column, "column_id");
    const bool nullable = TextOf(column, "nulls_allowed") == "true";
    const auto records = static_cast<uint64_t>(file->record_count);
    const uint64_t nulls = nullable && OneIn(2) ? (OneIn(4) ? records : Below(records + 1)) : 0;
    if (whole || !OneIn(8)) {
      statistics.null_count = static_cast<int64_t>(nulls);
      statistics.value_count = static_cast<int64_t>(OneIn(2) ? records : records - nulls);
    }
    if (!OneIn(4)) {
      statistics.column_size_bytes = static_cast<int64_t>(Below(1000));
    }
    if (type == "float64" && (whole || !OneIn(3))) {
      statistics.contains_nan = OneIn(5);
    }
    if (nulls < records && (whole || !OneIn(8))) {
      statistics.min_value = ValueOf(type);
      statistics.max_value = ValueOf(type);
      if (IsSmaller(type, *statistics.max_value, *statistics.min_value)) {
        std::swap(statistics.min_value, statistics.max_value);
      }
    }
  }
}

DataFile RandomLake::RandomFile(int64_t table, int64_t records, bool whole_statistics) {
  DataFile file = {.path = NewPath("data"),
                   .record_count = records,
                   .file_size_bytes = static_cast<int64_t>(Below(10'000)),
                   .footer_size = static_cast<int64_t>(Below(100))};
  if (OneIn(10)) {
    file.path = StrCat("/abs/", file.path);
    file.path_is_relative = false;
  }
  if (OneIn(5)) {
    file.encryption_key = "secret";
  }
  const Rows columns = ReadOf(kColumn, table);
  AddStatistics(columns, whole_statistics, &file);
  for (const LakeRow& column : columns) {
    if (TextOf(column, "column_type") == "variant") {
      file.variants.push_back({.variant_path = "a",
                               .shredded_type = "int64",
                               .statistics = {.column_id = NumberOf(column, "column_id"),
                                              .value_count = 1,
                                              .min_value = "1",
                                              .max_value = "5"}});
    }
  }
  return file;
}

RandomLake::Operation RandomLake::DrawOnFiles() {
  const std::optional<int64_t> table = PickTable();
  if (!table.has_value()) {
    return std::nullopt;
  }
  const Rows files = ReadOf(kDataFile, *table);
  LakeOperation o;
  o.object = *table;
  switch (files.empty() ? 0 : Below(10)) {
    case 0:
    case 1:
    case 2: {
      o.kind = Kind::kRegisterDataFiles;
      const Rows keys = ReadOf(kPartitionColumn, *table);
      const std::optional<LakeRow> mapping = Pick(ReadOf(kColumnMapping, *table));
      for (uint64_t i = 0; i <= Below(3); ++i) {
        DataFile file =
            RandomFile(*table, static_cast<int64_t>(OneIn(15) ? 0 : 1 + Below(20)), false);
        for (size_t key = 0; key < keys.size(); ++key) {
          file.partition_values.push_back(OneIn(6) ? NullableText() : StrCat("p", Below(2)));
        }
        if (mapping.has_value() && OneIn(3)) {
          file.mapping_id = NumberOf(*mapping, "mapping_id");
        }
        o.files.push_back(std::move(file));
      }
      return o;
    }
    case 3: {
      o.kind = Kind::kEndDataFiles;
      o.ids = {NumberOf(*Pick(files), "data_file_id")};
      if (OneIn(3)) {
        const int64_t other = NumberOf(*Pick(files), "data_file_id");
        if (other != o.ids[0]) {
          o.ids.push_back(other);
        }
      }
      return o;
    }
    case 4: {
      o.kind = Kind::kCreateNameMapping;
      int64_t number = 0;
      for (const LakeRow& column : TopLevel(ReadOf(kColumn, *table))) {
        o.mappings.push_back({.column_id = number++,
                              .source_name = StrCat("source ", TextOf(column, "column_name")),
                              .target_field_id = NumberOf(column, "column_id"),
                              .is_partition = OneIn(4)});
      }
      return o;
    }
    case 5:
    case 6: return DrawDeleteFiles(*table, files);
    case 7: {
      const Rows queue = Read(kFilesScheduledForDeletion);
      if (queue.empty() || !OneIn(3)) {
        return std::nullopt;
      }
      const int64_t id = NumberOf(*Pick(queue), "data_file_id");
      // What this transaction scheduled stays until it is committed.
      if (IsProvisional(id)) {
        return std::nullopt;
      }
      return LakeOperation{.kind = Kind::kRemoveScheduledFiles, .ids = {id}};
    }
    default: return DrawCompaction(*table, files);
  }
}

RandomLake::Operation RandomLake::DrawDeleteFiles(int64_t table, const Rows& files) {
  const LakeRow file = *Pick(files);
  const int64_t records = NumberOf(file, "record_count");
  const int64_t id = NumberOf(file, "data_file_id");
  if (records == 0) {
    return std::nullopt;
  }
  if (OneIn(3)) {
    return DrawConsolidation(table, file);
  }
  LakeOperation o;
  o.object = table;
  if (OneIn(2) && !IsProvisional(id)) {
    o.kind = Kind::kDeleteFromFile;
    o.column = id;
    std::set<int64_t> deleted;
    const RelationRef relation =
        transaction_->base().relations().FindByName(StrCat("ducklake_inlined_delete_", table));
    if (relation != nullptr) {
      for (const LakeRow& row : ReadRows(*transaction_, relation)) {
        if (NumberOf(row, "file_id") == id) {
          deleted.insert(NumberOf(row, "row_id"));
        }
      }
    } else if (inlined_touched_.contains(-table - 1)) {
      return std::nullopt;  // its relation cannot be read yet
    }
    inlined_touched_.insert(-table - 1);
    for (uint64_t i = 0; i <= Below(3); ++i) {
      const auto row = static_cast<int64_t>(Below(static_cast<uint64_t>(records)));
      if (deleted.insert(row).second) {
        o.ids.push_back(row);
      }
    }
    return o.ids.empty() ? std::nullopt : Operation(o);
  }
  o.kind = Kind::kRegisterDeleteFiles;
  o.delete_files = {
      {.data_file_id = id,
       .path = NewPath("delete"),
       .format = OneIn(6) ? "puffin" : "parquet",
       .delete_count = 1 + static_cast<int64_t>(Below(static_cast<uint64_t>(records))),
       .file_size_bytes = 10,
       .footer_size = 1}};
  const LakeRow other = *Pick(files);
  if (NumberOf(other, "data_file_id") != id && NumberOf(other, "record_count") > 0) {
    o.delete_files.push_back({.data_file_id = NumberOf(other, "data_file_id"),
                              .path = NewPath("delete"),
                              .delete_count = 1});
  }
  return o;
}

// All deletes of a data file, of whatever snapshot, in one delete file.
RandomLake::Operation RandomLake::DrawConsolidation(int64_t table, const LakeRow& file) {
  const int64_t id = NumberOf(file, "data_file_id");
  const int64_t pending = static_cast<int64_t>(transaction_->base().last_snapshot()) + 1;
  std::set<int64_t> begins;
  bool inlined = false;
  for (const LakeRow& row : History(kDeleteFile, table)) {
    if (NumberOf(row, "data_file_id") == id) {
      begins.insert(NumberOf(row, "begin_snapshot"));
    }
  }
  for (const LakeRow& row : ReadOf(kDeleteFile, table)) {
    if (NumberOf(row, "data_file_id") == id) {
      begins.insert(NumberOf(row, "begin_snapshot"));
    }
  }
  const RelationRef relation =
      transaction_->base().relations().FindByName(StrCat("ducklake_inlined_delete_", table));
  if (relation != nullptr) {
    for (const LakeRow& row : ReadRows(*transaction_, relation)) {
      if (NumberOf(row, "file_id") == id) {
        begins.insert(NumberOf(row, "begin_snapshot"));
        inlined = true;
      }
    }
  } else if (inlined_touched_.contains(-table - 1)) {
    return std::nullopt;
  }
  if (begins.empty() || *begins.rbegin() >= pending ||
      *begins.begin() < NumberOf(file, "begin_snapshot")) {
    return std::nullopt;
  }
  LakeOperation o{.kind = Kind::kRegisterDeleteFiles, .object = table};
  DeleteFile& deletes = o.delete_files.emplace_back();
  deletes.data_file_id = id;
  deletes.path = NewPath("delete");
  deletes.delete_count = 1;
  deletes.begin_snapshot = static_cast<SnapshotId>(*begins.begin());
  if (begins.size() > 1) {
    deletes.partial_max = static_cast<SnapshotId>(*begins.rbegin());
  }
  deletes.holds_inlined_deletes = inlined;
  return o;
}

// Whether no column of the table has changed since a snapshot.
bool RandomLake::ColumnsAreOlderThan(int64_t table, int64_t snapshot) const {
  for (const Rows& rows : {History(kColumn, table), ReadOf(kColumn, table)}) {
    for (const LakeRow& row : rows) {
      if (NumberOf(row, "begin_snapshot") > snapshot || NumberOf(row, "end_snapshot") > snapshot) {
        return false;
      }
    }
  }
  return ReadOf(kColumn, table).size() > 0;
}

RandomLake::Operation RandomLake::DrawCompaction(int64_t table, const Rows& files) {
  std::set<int64_t> with_deletes;
  for (const Rows& rows : {History(kDeleteFile, table), ReadOf(kDeleteFile, table)}) {
    for (const LakeRow& row : rows) {
      with_deletes.insert(NumberOf(row, "data_file_id"));
    }
  }
  const RelationRef relation =
      transaction_->base().relations().FindByName(StrCat("ducklake_inlined_delete_", table));
  if (relation != nullptr) {
    for (const LakeRow& row : ReadRows(*transaction_, relation)) {
      with_deletes.insert(NumberOf(row, "file_id"));
    }
  }
  if (inlined_touched_.contains(-table - 1)) {
    return std::nullopt;
  }
  LakeOperation o;
  o.object = table;
  const LakeRow first = *Pick(files);
  const int64_t first_id = NumberOf(first, "data_file_id");
  const int64_t records = NumberOf(first, "record_count");
  if (IsProvisional(first_id)) {
    return std::nullopt;
  }
  if (with_deletes.contains(first_id) || OneIn(3)) {
    if (records == 0) {
      return std::nullopt;
    }
    o.kind = Kind::kRewriteFile;
    o.ids = {first_id};
    o.files = {RandomFile(table, records, true)};
    // How many rows remain is known only roughly from here; all is always possible.
    return o;
  }
  // Files of one partition, of the same columns.
  const auto values_of = [&](int64_t id) {
    std::vector<std::string> values;
    for (const LakeRow& row : ReadOf(kFilePartitionValue, table)) {
      if (NumberOf(row, "data_file_id") == id) {
        values.push_back(StrCat(NumberOf(row, "partition_key_index"), " ",
                                row.contains("partition_value") ? row.at("partition_value") : "-"));
      }
    }
    return values;
  };
  const std::vector<std::string> values = values_of(first_id);
  int64_t begin = NumberOf(first, "begin_snapshot");
  int64_t total = 0;
  for (const LakeRow& file : files) {
    const int64_t id = NumberOf(file, "data_file_id");
    if (IsProvisional(id) || with_deletes.contains(id) ||
        NumberOf(file, "partition_id") != NumberOf(first, "partition_id") ||
        values_of(id) != values || (id != first_id && OneIn(3))) {
      continue;
    }
    o.ids.push_back(id);
    begin = std::min(begin, NumberOf(file, "begin_snapshot"));
    total += NumberOf(file, "record_count");
  }
  if (!ColumnsAreOlderThan(table, begin)) {
    return std::nullopt;
  }
  o.kind = Kind::kMergeFiles;
  o.files = {{.path = NewPath("merged"),
              .record_count = total,
              .file_size_bytes = static_cast<int64_t>(Below(10'000)),
              .footer_size = 3}};
  return o;
}

// --- Inlined rows ---

std::vector<int64_t> RandomLake::InlinedRows(int64_t table) const {
  std::set<int64_t> ids;
  for (const LakeRow& listed : ReadOf(kInlinedDataTables, table)) {
    // One that the transaction made is not found by name; own_rows_ knows what is in it.
    const RelationRef relation =
        transaction_->base().relations().FindByName(TextOf(listed, "table_name"));
    if (relation != nullptr) {
      for (const LakeRow& row : ReadRows(*transaction_, relation)) {
        ids.insert(NumberOf(row, "row_id"));
      }
    }
  }
  if (const auto own = own_rows_.find(table); own != own_rows_.end()) {
    ids.insert(own->second.begin(), own->second.end());
  }
  return {ids.begin(), ids.end()};
}

std::vector<NullableText> RandomLake::RandomRow(const Rows& columns) {
  std::vector<NullableText> row;
  for (const LakeRow& column : TopLevel(columns)) {
    const bool nullable = TextOf(column, "nulls_allowed") == "true";
    row.push_back(nullable && OneIn(4) ? NullableText()
                                       : NullableText(ValueOf(TextOf(column, "column_type"))));
  }
  return row;
}

RandomLake::Operation RandomLake::DrawInlined() {
  const std::optional<int64_t> table = PickTable();
  if (!table.has_value()) {
    return std::nullopt;
  }
  const Rows columns = ReadOf(kColumn, *table);
  if (HasVariant(columns)) {
    return std::nullopt;
  }
  const std::vector<int64_t> rows = InlinedRows(*table);
  LakeOperation o;
  o.object = *table;
  switch (rows.empty() ? 0 : Below(6)) {
    case 0:
    case 1:
      o.kind = Kind::kInsertInlined;
      for (uint64_t i = 0; i <= Below(3); ++i) {
        o.rows.push_back(RandomRow(columns));
      }
      return o;
    case 2:
      o.kind = Kind::kDeleteInlined;
      o.ids = {rows[Below(rows.size())]};
      if (const int64_t other = rows[Below(rows.size())]; other != o.ids[0]) {
        o.ids.push_back(other);
      }
      return o;
    case 3:
    case 4:
      o.kind = Kind::kUpdateInlined;
      o.ids = {rows[Below(rows.size())]};
      o.rows = {RandomRow(columns)};
      return o;
    default: return DrawFlush(*table);
  }
}

RandomLake::Operation RandomLake::DrawFlush(int64_t table) {
  if (inlined_touched_.contains(table) || IsProvisional(table)) {
    return std::nullopt;
  }
  LakeOperation o{.kind = Kind::kFlushInlined, .object = table};
  int64_t ended = 0;
  for (const RelationRef& relation : transaction_->base().relations().relations()) {
    if (!relation->name.starts_with(StrCat("ducklake_inlined_data_", table, "_"))) {
      continue;
    }
    for (const LakeRow& row : ReadRows(transaction_->base(), relation, ScanRows::kAllVersions)) {
      o.versions.push_back({.row_id = NumberOf(row, "row_id"),
                            .begin = static_cast<SnapshotId>(NumberOf(row, "begin_snapshot"))});
      ended += row.contains("end_snapshot") ? 1 : 0;
    }
  }
  if (o.versions.empty()) {
    return std::nullopt;
  }
  o.files = {RandomFile(table, static_cast<int64_t>(o.versions.size()), true)};
  if (const size_t keys = ReadOf(kPartitionColumn, table).size(); keys > 0 && OneIn(2)) {
    o.files[0].partition_values.assign(keys, "p");
  }
  if (ended > 0) {
    o.delete_files = {{.path = NewPath("delete"), .delete_count = ended}};
  }
  return o;
}

}  // namespace varve
