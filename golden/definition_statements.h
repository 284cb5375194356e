// What the statements that define the lake (schemas, tables, columns, views, macros, tags,
// partitionings, sort orders) do to its rows.
//
// The rows are those that DuckLake's own client writes (DuckLake 1.0 specification, tables and
// queries), checked against catalogs it wrote.
//
// Thread-safety: functions without state. Errors: the statement names what is not there.
#pragma once

#include "absl/status/status.h"
#include "golden/lake_edit.h"
#include "golden/scenario.h"

namespace varve::golden {

absl::Status Execute(const CreateSchema& statement, LakeEdit* lake);
absl::Status Execute(const DropSchema& statement, LakeEdit* lake);
absl::Status Execute(const CreateTable& statement, LakeEdit* lake);
absl::Status Execute(const CreateView& statement, LakeEdit* lake);
absl::Status Execute(const CreateMacro& statement, LakeEdit* lake);
absl::Status Execute(const DropObject& statement, LakeEdit* lake);
absl::Status Execute(const RenameObject& statement, LakeEdit* lake);
absl::Status Execute(const MoveTable& statement, LakeEdit* lake);
absl::Status Execute(const AddColumn& statement, LakeEdit* lake);
absl::Status Execute(const DropColumn& statement, LakeEdit* lake);
absl::Status Execute(const RenameColumn& statement, LakeEdit* lake);
absl::Status Execute(const AlterColumn& statement, LakeEdit* lake);
absl::Status Execute(const SetTag& statement, LakeEdit* lake);
absl::Status Execute(const PartitionBy& statement, LakeEdit* lake);
absl::Status Execute(const SortBy& statement, LakeEdit* lake);

}  // namespace varve::golden
