// The columns of one table and their tags.
#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/verify/name_clashes.h"
#include "catalog/verify/tables.h"

namespace varve {
namespace {

std::string ColumnKey(const TableContext& table, int64_t column) {
  return StrCat("table_id=", table.table, " column_id=", column);
}

bool IsSameColumn(const ColumnVersion& a, const ColumnVersion& b) {
  return a.parent == b.parent && a.name == b.name && a.type == b.type;
}

// Ids of columns are never used again, except by the same column, restored: see ReuseCheck of
// objects.cc, also for why only a gap that some snapshot shows counts.
void CheckReuse(VerifyRun* run, const RowCursor& rows, const TableContext& table) {
  const ColumnVersion& version = table.columns.back();
  const std::span<const ColumnVersion> versions = table.ColumnVersions(version.id);
  SnapshotId end = 0;
  bool is_restored = false;
  for (const ColumnVersion& earlier : versions.first(versions.size() - 1)) {
    end = std::max(end, earlier.lifetime.end);
    is_restored = is_restored || IsSameColumn(earlier, version);
  }
  if (versions.size() > 1 && !is_restored &&
      run->axis().FirstIn({end, version.lifetime.begin}).has_value()) {
    run->Report(Rule::kIdReused, rows.relation_name(), rows.Key(),
                StrCat("a version begins at ", version.lifetime.begin, ", the one before ended at ",
                       end, "; an id is never used again"));
  }
}

// A nested field lives inside the life of the column it is a part of.
void CheckParents(VerifyRun* run, const std::string& relation, const TableContext& table) {
  for (const ColumnVersion& version : table.columns) {
    if (!version.parent.has_value()) {
      continue;
    }
    std::vector<Lifetime> parent;
    for (const ColumnVersion& of : table.ColumnVersions(*version.parent)) {
      parent.push_back(of.lifetime);
    }
    NormalizeLifetimes(&parent);
    const auto snapshot = run->axis().FirstUncovered(version.lifetime, parent);
    if (snapshot.has_value()) {
      run->Report(Rule::kOutsideParent, relation, ColumnKey(table, version.id),
                  StrCat("the field is visible at snapshot ", *snapshot, ", its parent column ",
                         *version.parent, " is not"));
    }
  }
}

void CheckTableHasColumns(VerifyRun* run, const TableContext& table) {
  std::vector<Lifetime> columns;
  for (const ColumnVersion& version : table.columns) {
    if (!version.parent.has_value()) {
      columns.push_back(version.lifetime);
    }
  }
  NormalizeLifetimes(&columns);
  for (const Lifetime& lifetime : table.catalog->tables.Of(table.table)) {
    const auto snapshot = run->axis().FirstUncovered(lifetime, columns);
    if (snapshot.has_value()) {
      run->Report(Rule::kTableWithoutColumns, run->view().relations().FindById(kTable)->name,
                  StrCat("table_id=", table.table),
                  StrCat("the table has no column at snapshot ", *snapshot));
      return;
    }
  }
}

std::string ScopeOf(std::optional<int64_t> parent) {
  return parent.has_value() ? StrCat(*parent) : "";
}

}  // namespace

absl::Status CheckColumns(VerifyRun* run, RowCursor* rows, TableContext* table) {
  NameClashes names;
  NameClashes orders;
  const std::string relation = rows->relation_name();
  while (IsOf(*rows, table->table)) {
    CheckInsideParent(run, *rows, "table", rows->Int(0), table->catalog->tables);
    if (const std::optional<int64_t> id = rows->Int(1); id.has_value()) {
      table->columns.push_back({.id = *id,
                                .parent = rows->Int(5),
                                .name = std::string(rows->Text(3).value_or("")),
                                .type = std::string(rows->Text(4).value_or("")),
                                .lifetime = rows->lifetime()});
      CheckReuse(run, *rows, *table);
      names.Add(ScopeOf(rows->Int(5)), rows->Text(3), *id, *rows);
      if (rows->Int(2).has_value()) {
        orders.Add("", StrCat(*rows->Int(2)), *id, *rows);
      }
    }
    VARVE_RETURN_IF_ERROR(rows->Next());
  }
  names.Report(run, Rule::kNameRepeated);
  orders.Report(run, Rule::kColumnOrderRepeated);
  CheckParents(run, relation, *table);
  CheckTableHasColumns(run, *table);
  return absl::OkStatus();
}

absl::Status CheckColumnTags(VerifyRun* run, RowCursor* rows, const TableContext& table) {
  while (IsOf(*rows, table.table)) {
    // Dropping a column ends its tags only in newer clients; dropping the table always did.
    CheckInsideParent(run, *rows, "table", rows->Int(0), table.catalog->tables);
    const std::optional<int64_t> column = rows->Int(1);
    if (column.has_value() && table.ColumnVersions(*column).empty()) {
      run->Report(Rule::kOrphan, rows->relation_name(), rows->Key(),
                  StrCat("table ", table.table, " never had a column ", *column));
    }
    VARVE_RETURN_IF_ERROR(rows->Next());
  }
  return absl::OkStatus();
}

}  // namespace varve
