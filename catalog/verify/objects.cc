// Schemas, tables, views and macros: where they lie, how they are named.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/verify/checks.h"
#include "catalog/verify/name_clashes.h"
#include "catalog/verify/object_lifetimes.h"

namespace varve {
namespace {

// An id lives once: its versions follow each other without a gap. A gap in which a snapshot exists
// means that the id was given to another object, or that the object was dropped and restored: then
// what no operation changes of it (`mark`) is what it was. (Expiry may delete versions in the
// middle, but only those no snapshot shows.)
class ReuseCheck {
 public:
  void Visit(VerifyRun* run, const RowCursor& row, int64_t id,
             std::optional<std::string_view> mark) {
    if (id != id_) {
      marks_.clear();
    }
    std::string text(mark.value_or(""));
    const bool is_known = std::find(marks_.begin(), marks_.end(), text) != marks_.end();
    if (id == id_ && row.begin() > end_ && !is_known) {
      if (const auto snapshot = run->axis().FirstIn({end_, row.begin()}); snapshot.has_value()) {
        run->Report(Rule::kIdReused, row.relation_name(), row.Key(),
                    StrCat("a version begins at ", row.begin(), ", the one before ended at ", end_,
                           "; an id is never used again"));
      }
    }
    end_ = id == id_ ? std::max(end_, row.end()) : row.end();
    id_ = id;
    if (!is_known) {
      marks_.push_back(std::move(text));
    }
  }

 private:
  std::optional<int64_t> id_;
  SnapshotId end_ = 0;
  std::vector<std::string> marks_;  // of the versions of this id so far
};

void CheckDirectoryPath(VerifyRun* run, const RowCursor& row,
                        std::optional<std::string_view> path) {
  if (path.has_value() && !path->ends_with('/') && !path->ends_with('\\')) {
    run->Report(Rule::kPathNotADirectory, row.relation_name(), row.Key(),
                StrCat("path '", *path, "' does not end in '/'"));
  }
}

// macro_id to "scalar" or "table": the two kinds of macros have names of their own.
absl::StatusOr<absl::flat_hash_map<int64_t, std::string>> ReadMacroTypes(const VerifyRun& run) {
  absl::flat_hash_map<int64_t, std::string> types;
  VARVE_ASSIGN_OR_RETURN(RowCursor rows, OpenBuiltin(run, kMacroImpl, {"macro_id", "type"}));
  while (rows.valid()) {
    if (rows.Int(0).has_value()) {
      types.emplace(*rows.Int(0), std::string(rows.Text(1).value_or("")));
    }
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  return types;
}

absl::Status CheckSchemas(VerifyRun* run, ObjectLifetimes* schemas) {
  VARVE_ASSIGN_OR_RETURN(RowCursor rows,
                         OpenBuiltin(*run, kSchema, {"schema_id", "schema_name", "path"}));
  NameClashes names;
  while (rows.valid()) {
    const int64_t id = *rows.Int(0);
    schemas->Add(id, rows.lifetime());
    CheckDirectoryPath(run, rows, rows.Text(2));
    names.Add("", rows.Text(1), id, rows);
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  schemas->Normalize();
  names.Report(run, Rule::kNameRepeated);
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckObjects(VerifyRun* run) {
  ObjectLifetimes schemas;
  VARVE_RETURN_IF_ERROR(CheckSchemas(run, &schemas));

  // Tables and views share the names of a schema.
  NameClashes names;
  VARVE_ASSIGN_OR_RETURN(
      RowCursor tables, OpenBuiltin(*run, kTable, {"table_id", "schema_id", "table_name", "path"}));
  ReuseCheck table_ids;
  while (tables.valid()) {
    table_ids.Visit(run, tables, *tables.Int(0), tables.Text(3));
    CheckInsideParent(run, tables, "schema", tables.Int(1), schemas);
    CheckDirectoryPath(run, tables, tables.Text(3));
    names.Add(StrCat(tables.Int(1).value_or(-1)), tables.Text(2), *tables.Int(0), tables);
    VARVE_RETURN_IF_ERROR(tables.Next());
  }
  VARVE_ASSIGN_OR_RETURN(RowCursor views,
                         OpenBuiltin(*run, kView, {"view_id", "schema_id", "view_name", "sql"}));
  ReuseCheck view_ids;
  while (views.valid()) {
    view_ids.Visit(run, views, *views.Int(0), views.Text(3));
    CheckInsideParent(run, views, "schema", views.Int(1), schemas);
    names.Add(StrCat(views.Int(1).value_or(-1)), views.Text(2), *views.Int(0), views);
    VARVE_RETURN_IF_ERROR(views.Next());
  }
  names.Report(run, Rule::kNameRepeated);

  VARVE_ASSIGN_OR_RETURN(const auto macro_types, ReadMacroTypes(*run));
  VARVE_ASSIGN_OR_RETURN(RowCursor macros,
                         OpenBuiltin(*run, kMacro, {"macro_id", "schema_id", "macro_name"}));
  NameClashes macro_names;
  ReuseCheck macro_ids;
  while (macros.valid()) {
    const int64_t id = *macros.Int(0);
    macro_ids.Visit(run, macros, id, macros.Text(2));
    CheckInsideParent(run, macros, "schema", macros.Int(1), schemas);
    const auto type = macro_types.find(id);
    macro_names.Add(
        StrCat(macros.Int(1).value_or(-1), " ", type == macro_types.end() ? "" : type->second),
        macros.Text(2), id, macros);
    VARVE_RETURN_IF_ERROR(macros.Next());
  }
  macro_names.Report(run, Rule::kNameRepeated);
  return absl::OkStatus();
}

}  // namespace varve
