// What the statements that bring data (inlined rows, data files, delete files, merges), set options
// or expire snapshots do to the rows of the lake, and statements on single rows.
//
// The rows are those that DuckLake's own client writes (DuckLake 1.0 specification, data inlining
// and queries), checked against catalogs it wrote.
//
// Thread-safety: functions without state. Errors: the statement names what is not there.
#pragma once

#include "absl/status/status.h"
#include "golden/lake_edit.h"
#include "golden/scenario.h"

namespace varve::golden {

absl::Status Execute(const InsertRows& statement, LakeEdit* lake);
absl::Status Execute(const UpdateRow& statement, LakeEdit* lake);
absl::Status Execute(const DeleteRows& statement, LakeEdit* lake);
absl::Status Execute(const AddFile& statement, LakeEdit* lake);
absl::Status Execute(const AddDeleteFile& statement, LakeEdit* lake);
absl::Status Execute(const DeleteInFile& statement, LakeEdit* lake);
absl::Status Execute(const RemoveFile& statement, LakeEdit* lake);
absl::Status Execute(const MergeFiles& statement, LakeEdit* lake);
absl::Status Execute(const SetOption& statement, LakeEdit* lake);
absl::Status Execute(const ExpireSnapshots& statement, LakeEdit* lake);
absl::Status Execute(const RowStatement& statement, LakeEdit* lake);
absl::Status Execute(const CreateRelation& statement, LakeEdit* lake);
absl::Status Execute(const DropRelation& statement, LakeEdit* lake);

}  // namespace varve::golden
