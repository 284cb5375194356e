#include "golden/block_writer.h"

#include "base/status.h"
#include "base/strings.h"
#include "golden/data_statements.h"
#include "golden/definition_statements.h"
#include "golden/lake_edit.h"

namespace varve::golden {
namespace {

absl::Status AtLine(std::string_view file, int line, const absl::Status& status) {
  return status.ok()
             ? status
             : absl::Status(status.code(), StrCat(file, ":", line, ": ", MessageOf(status)));
}

}  // namespace

absl::StatusOr<ChangeSet> WriteBlock(std::string_view file, const Model& model,
                                     const Block& block) {
  absl::StatusOr<LakeEdit> lake = LakeEdit::Begin(model, block);
  VARVE_RETURN_IF_ERROR(AtLine(file, block.line, lake.status()));
  for (const Statement& statement : block.statements) {
    const absl::Status status = std::visit(
        [&](const auto& operation) { return Execute(operation, &*lake); }, statement.operation);
    VARVE_RETURN_IF_ERROR(AtLine(file, statement.line, status));
  }
  absl::StatusOr<ChangeSet> changes = lake->Finish(model, block);
  VARVE_RETURN_IF_ERROR(AtLine(file, block.line, changes.status()));
  return changes;
}

}  // namespace varve::golden
