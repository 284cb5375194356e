// Finding the objects of the lake by the names a script gives them.
//
// Thread-safety: functions without state. Errors: NotFound, naming the object.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "golden/lake_edit.h"
#include "golden/scenario.h"

namespace varve::golden {

absl::StatusOr<LakeRow> FindSchema(const LakeEdit& lake, std::string_view name);
// A table, view or macro.
absl::StatusOr<LakeRow> FindObject(const LakeEdit& lake, ObjectKind kind, const ObjectName& name);
absl::StatusOr<int64_t> FindTableId(const LakeEdit& lake, const ObjectName& name);
// A column or nested field.
absl::StatusOr<LakeRow> FindColumn(const LakeEdit& lake, const ColumnPath& column);
// A data file by its label.
absl::StatusOr<LakeRow> FindDataFile(const LakeEdit& lake, std::string_view label);

// Where an object's rows are and what its columns are called: "ducklake_table", "table_id", ….
struct ObjectTerms {
  std::string_view word;  // "table"
  std::string_view relation;
  std::string_view id_column;
  std::string_view name_column;
};
ObjectTerms TermsOf(ObjectKind kind);

// "name", with quotes inside doubled.
std::string QuoteName(std::string_view name);
std::string QuoteName(const ObjectName& name);

}  // namespace varve::golden
