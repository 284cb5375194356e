// Statistics of one table: bounds and counts of its columns, over files and over the whole table.
#include <algorithm>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/verify/tables.h"
#include "catalog/verify/value_bounds.h"

namespace varve {
namespace {

using BoundText = std::optional<std::string_view>;

// The bounds ducklake_table_column_stats has for each column.
struct TableBounds {
  std::optional<std::string> min;
  std::optional<std::string> max;
};
using BoundsOfColumns = absl::flat_hash_map<int64_t, TableBounds>;

std::optional<std::string> Own(BoundText text) {
  return text.has_value() ? std::optional<std::string>(*text) : std::nullopt;
}

// Bounds were written while the column had one of its types, and which one is not said: the texts
// are read by each type all of them are values of. An order is proven only if every reading has it.
std::vector<Row> ReadByColumnTypes(std::span<const ColumnVersion> versions,
                                   std::span<const BoundText> texts) {
  std::vector<Row> readings;
  for (size_t i = 0; i < versions.size(); ++i) {
    if (i > 0 && versions[i].type == versions[i - 1].type) {
      continue;
    }
    if (const std::optional<Type> type = BoundType(versions[i].type); type.has_value()) {
      if (std::optional<Row> values = ParseBounds(*type, texts); values.has_value()) {
        readings.push_back(*std::move(values));
      }
    }
  }
  return readings;
}

template <typename Proof>
bool IsProven(const std::vector<Row>& readings, const Proof& proof) {
  return !readings.empty() && std::all_of(readings.begin(), readings.end(), proof);
}

bool HasOrderedType(std::span<const ColumnVersion> versions) {
  return std::any_of(versions.begin(), versions.end(), [](const ColumnVersion& version) {
    return BoundType(version.type).has_value();
  });
}

bool IsLive(std::span<const ColumnVersion> versions) {
  return std::any_of(versions.begin(), versions.end(),
                     [](const ColumnVersion& version) { return IsCurrent(version.lifetime.end); });
}

void CheckBounds(VerifyRun* run, const RowCursor& rows, std::span<const ColumnVersion> versions,
                 BoundText min, BoundText max) {
  // Where a column was of a type without order, its bounds may be those of that type.
  if (!HasOrderedType(versions)) {
    return;
  }
  const BoundText texts[] = {min, max};
  const std::vector<Row> readings = ReadByColumnTypes(versions, texts);
  if (readings.empty()) {
    run->Report(Rule::kBoundNotOfType, rows.relation_name(), rows.Key(),
                StrCat("bounds '", min.value_or("NULL"), "' and '", max.value_or("NULL"),
                       "' are no values of the column's type, ", versions.back().type));
  } else if (IsProven(readings, [](const Row& v) { return IsSurelyAbove(v[0], v[1]); })) {
    run->Report(Rule::kBoundsReversed, rows.relation_name(), rows.Key(),
                StrCat("min_value '", *min, "' is above max_value '", *max, "'"));
  }
}

// Bounds of the table only widen while its files are there, so they hold those of every live file.
// Not so for a dropped column: the client forgets its bounds and starts anew when old inlined rows
// are flushed.
void CheckInsideTableBounds(VerifyRun* run, const RowCursor& rows,
                            std::span<const ColumnVersion> versions, const TableBounds& table) {
  const BoundText texts[] = {rows.Text(3), rows.Text(4), table.min, table.max};
  const std::vector<Row> readings = ReadByColumnTypes(versions, texts);
  if (IsProven(readings, [](const Row& v) {
        return IsSurelyAbove(v[2], v[0]) || IsSurelyAbove(v[1], v[3]);
      })) {
    run->Report(Rule::kTableBoundsTooNarrow, rows.relation_name(), rows.Key(),
                StrCat("bounds '", texts[0].value_or("NULL"), "' to '", texts[1].value_or("NULL"),
                       "' of a live file lie outside those of the "
                       "table, '",
                       texts[2].value_or("NULL"), "' to '", texts[3].value_or("NULL"), "'"));
  }
}

// Only columns of their own have one value a row; fields of lists and maps may have more.
void CheckCounts(VerifyRun* run, const RowCursor& rows, std::span<const ColumnVersion> versions,
                 const FileVersion& file) {
  const bool nested = std::any_of(versions.begin(), versions.end(),
                                  [](const ColumnVersion& v) { return v.parent.has_value(); });
  if (nested || !file.record_count.has_value()) {
    return;
  }
  for (const auto& [name, count] :
       {std::pair("value_count", rows.Int(5)), std::pair("null_count", rows.Int(6))}) {
    if (count.has_value() && *count > *file.record_count) {
      run->Report(Rule::kStatsCountAboveRecords, rows.relation_name(), rows.Key(),
                  StrCat(name, " is ", *count, ", the file has ", *file.record_count, " rows"));
    }
  }
}

absl::StatusOr<BoundsOfColumns> CheckTableColumnStats(VerifyRun* run, RowCursor* rows,
                                                      const TableContext& table) {
  BoundsOfColumns bounds;
  while (IsOf(*rows, table.table)) {
    if (const std::optional<int64_t> column = rows->Int(1); column.has_value()) {
      const std::span<const ColumnVersion> versions = table.ColumnVersions(*column);
      if (versions.empty()) {
        run->Report(Rule::kOrphan, rows->relation_name(), rows->Key(),
                    StrCat("table ", table.table, " never had a column ", *column));
      } else {
        CheckBounds(run, *rows, versions, rows->Text(2), rows->Text(3));
        bounds[*column] = {Own(rows->Text(2)), Own(rows->Text(3))};
      }
    }
    VARVE_RETURN_IF_ERROR(rows->Next());
  }
  return bounds;
}

// Reports a row of file statistics whose file or column is not there; returns the file, or null.
const FileVersion* FileOfStats(VerifyRun* run, const RowCursor& rows, const TableContext& table) {
  const std::optional<int64_t> column = rows.Int(1);
  const std::optional<int64_t> file_id = rows.Int(2);
  if (!column.has_value() || !file_id.has_value()) {
    return nullptr;  // a missing value, reported as such
  }
  const FileVersion* file = table.File(*file_id);
  if (file == nullptr) {
    run->Report(Rule::kOrphan, rows.relation_name(), rows.Key(),
                StrCat("table ", table.table, " has no data file ", *file_id));
    return nullptr;
  }
  if (table.ColumnVersions(*column).empty()) {
    run->Report(Rule::kOrphan, rows.relation_name(), rows.Key(),
                StrCat("table ", table.table, " never had a column ", *column));
    return nullptr;
  }
  return file;
}

}  // namespace

absl::Status CheckColumnStats(VerifyRun* run, RowCursor* of_table, RowCursor* of_files,
                              const TableContext& table) {
  VARVE_ASSIGN_OR_RETURN(const BoundsOfColumns bounds, CheckTableColumnStats(run, of_table, table));
  while (IsOf(*of_files, table.table)) {
    const FileVersion* file = FileOfStats(run, *of_files, table);
    if (file != nullptr) {
      const int64_t column = *of_files->Int(1);
      const std::span<const ColumnVersion> versions = table.ColumnVersions(column);
      CheckBounds(run, *of_files, versions, of_files->Text(3), of_files->Text(4));
      CheckCounts(run, *of_files, versions, *file);
      const auto of_column = bounds.find(column);
      if (IsCurrent(file->lifetime.end) && IsLive(versions) && of_column != bounds.end()) {
        CheckInsideTableBounds(run, *of_files, versions, of_column->second);
      }
    }
    VARVE_RETURN_IF_ERROR(of_files->Next());
  }
  return absl::OkStatus();
}

absl::Status CheckVariantStats(VerifyRun* run, RowCursor* rows, const TableContext& table) {
  while (IsOf(*rows, table.table)) {
    FileOfStats(run, *rows, table);
    VARVE_RETURN_IF_ERROR(rows->Next());
  }
  return absl::OkStatus();
}

}  // namespace varve
