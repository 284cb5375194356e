// The data files and delete files of one table.
#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/verify/name_clashes.h"
#include "catalog/verify/tables.h"

namespace varve {
namespace {

// partial_max is the highest snapshot whose rows a merged file holds; the file begins at the
// lowest.
void CheckPartialMax(VerifyRun* run, const RowCursor& rows, std::optional<int64_t> partial_max) {
  if (!partial_max.has_value()) {
    return;
  }
  // It may lie beyond the last snapshot: an export of an older one holds merged files whole.
  if (*partial_max < static_cast<int64_t>(rows.begin())) {
    run->Report(Rule::kPartialMaxOutOfRange, rows.relation_name(), rows.Key(),
                StrCat("partial_max is ", *partial_max, ", below the file's begin ", rows.begin()));
  }
}

void CheckFormat(VerifyRun* run, const RowCursor& rows, std::optional<std::string_view> format,
                 std::initializer_list<std::string_view> known) {
  if (format.has_value() && std::none_of(known.begin(), known.end(), [&](std::string_view name) {
        return EqualsIgnoreCase(*format, name);
      })) {
    run->Report(Rule::kUnknownFormat, rows.relation_name(), rows.Key(),
                StrCat("format '", *format, "' is none that DuckLake 1.0 reads"));
  }
}

// Row ids of a file are row_id_start and up, one a row, unless the file holds several versions of a
// row (merged files, which then say each row's id themselves).
void CheckRowIds(VerifyRun* run, const RowCursor& rows, const TableContext& table) {
  const std::optional<int64_t> start = rows.Int(3);
  if (!start.has_value() || !table.next_row_id.has_value()) {
    return;
  }
  const RelationRef relation = run->view().relations().FindById(kDataFile);
  const bool one_id_a_row =
      !rows.Int(6).has_value() && !relation->IsAbsentColumn(*relation->columns.Find("partial_max"));
  const int64_t records = rows.Int(2).value_or(0);
  const int64_t end = *start + (one_id_a_row ? records : std::min<int64_t>(records, 1));
  if (end > *table.next_row_id) {
    run->Report(Rule::kRowIdBeyondNext, rows.relation_name(), rows.Key(),
                StrCat("row ids up to ", end - 1, " are not below next_row_id of the table, ",
                       *table.next_row_id, "; they will be given out again"));
  }
}

void CheckReferences(VerifyRun* run, const RowCursor& rows, const TableContext& table) {
  if (const std::optional<int64_t> partitioning = rows.Int(4); partitioning.has_value()) {
    const auto it = table.catalog->table_of_partitioning.find(*partitioning);
    if (it == table.catalog->table_of_partitioning.end() || it->second != table.table) {
      run->Report(
          Rule::kDanglingReference, rows.relation_name(), rows.Key(),
          StrCat("partition_id ", *partitioning, " is no partitioning of table ", table.table));
    }
  }
  if (const std::optional<int64_t> mapping = rows.Int(5);
      mapping.has_value() && !table.catalog->mappings.Contains(*mapping)) {
    run->Report(Rule::kDanglingReference, rows.relation_name(), rows.Key(),
                StrCat("mapping_id ", *mapping, " is not in ducklake_column_mapping"));
  }
}

struct DeleteFile {
  int64_t data_file = 0;
  Lifetime lifetime;
  std::string key;
};

// A data file has at most one delete file at any snapshot: a new one replaces, and so ends, the
// old.
void CheckOneDeleteFile(VerifyRun* run, const std::string& relation,
                        std::vector<DeleteFile>* files) {
  std::stable_sort(files->begin(), files->end(), [](const DeleteFile& a, const DeleteFile& b) {
    return a.data_file != b.data_file ? a.data_file < b.data_file
                                      : a.lifetime.begin < b.lifetime.begin;
  });
  const DeleteFile* longest = nullptr;
  for (const DeleteFile& file : *files) {
    if (longest == nullptr || longest->data_file != file.data_file) {
      longest = &file;
      continue;
    }
    if (IntervalsOverlap(longest->lifetime.begin, longest->lifetime.end, file.lifetime.begin,
                         file.lifetime.end)) {
      run->Report(Rule::kDeleteFilesOverlap, relation, file.key,
                  StrCat("data file ", file.data_file, " has another delete file, ", longest->key,
                         ", at snapshot ", file.lifetime.begin));
    }
    if (file.lifetime.end > longest->lifetime.end) {
      longest = &file;
    }
  }
}

void CheckAgainstDataFile(VerifyRun* run, const RowCursor& rows, int64_t data_file,
                          const TableContext& table) {
  const FileVersion* file = table.File(data_file);
  const std::vector<Lifetime> lifetime =
      file == nullptr ? std::vector<Lifetime>() : std::vector<Lifetime>{file->lifetime};
  if (const auto snapshot = run->axis().FirstUncovered(rows.lifetime(), lifetime);
      snapshot.has_value()) {
    run->Report(Rule::kOutsideParent, rows.relation_name(), rows.Key(),
                StrCat("the row is visible at snapshot ", *snapshot, ", data file ", data_file,
                       " of table ", table.table, file == nullptr ? " never was" : " is not"));
  }
  const std::optional<int64_t> deleted = rows.Int(3);
  if (file != nullptr && deleted.has_value() && file->record_count.has_value() &&
      *deleted > *file->record_count) {
    run->Report(Rule::kDeleteCountAboveRecords, rows.relation_name(), rows.Key(),
                StrCat("delete_count is ", *deleted, ", data file ", data_file, " has ",
                       *file->record_count, " rows"));
  }
}

}  // namespace

absl::Status CheckDataFiles(VerifyRun* run, RowCursor* rows, TableContext* table) {
  NameClashes orders;
  while (IsOf(*rows, table->table)) {
    CheckInsideParent(run, *rows, "table", rows->Int(0), table->catalog->tables);
    CheckRowIds(run, *rows, *table);
    CheckReferences(run, *rows, *table);
    CheckPartialMax(run, *rows, rows->Int(6));
    CheckFormat(run, *rows, rows->Text(8), {"parquet"});
    const int64_t id = rows->Int(1).value_or(-1);
    if (rows->is_live() && rows->Int(7).has_value()) {
      orders.Add("", StrCat(*rows->Int(7)), id, *rows);
    }
    table->files.push_back({id, rows->lifetime(), rows->Int(2)});
    VARVE_RETURN_IF_ERROR(rows->Next());
  }
  // file_order is informational: a note.
  orders.Report(run, Rule::kFileOrderRepeated);
  if (!table->files.empty() && !table->has_stats) {
    run->Report(Rule::kTableStatsMissing, run->view().relations().FindById(kTableStats)->name,
                StrCat("table_id=", table->table),
                "the table has data files, but no statistics; row ids would be given out again");
  }
  return absl::OkStatus();
}

absl::Status CheckDeleteFiles(VerifyRun* run, RowCursor* rows, const TableContext& table) {
  std::vector<DeleteFile> files;
  const std::string relation = rows->relation_name();
  while (IsOf(*rows, table.table)) {
    CheckInsideParent(run, *rows, "table", rows->Int(0), table.catalog->tables);
    CheckPartialMax(run, *rows, rows->Int(4));
    CheckFormat(run, *rows, rows->Text(5), {"parquet", "puffin"});
    if (const std::optional<int64_t> data_file = rows->Int(2); data_file.has_value()) {
      CheckAgainstDataFile(run, *rows, *data_file, table);
      files.push_back({*data_file, rows->lifetime(), rows->Key()});
    }
    VARVE_RETURN_IF_ERROR(rows->Next());
  }
  CheckOneDeleteFile(run, relation, &files);
  return absl::OkStatus();
}

absl::Status CheckPartitionValues(VerifyRun* run, RowCursor* rows, const TableContext& table) {
  while (IsOf(*rows, table.table)) {
    if (const auto file = rows->Int(1); file.has_value() && table.File(*file) == nullptr) {
      run->Report(Rule::kOrphan, rows->relation_name(), rows->Key(),
                  StrCat("table ", table.table, " has no data file ", *file));
    }
    VARVE_RETURN_IF_ERROR(rows->Next());
  }
  return absl::OkStatus();
}

}  // namespace varve
