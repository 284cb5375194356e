#include "catalog/verify/verify.h"

#include "base/status.h"
#include "base/strings.h"
#include "catalog/retention/retained.h"
#include "catalog/verify/checks.h"

namespace varve {
namespace {

struct Part {
  absl::Status (*check)(VerifyRun* run);
  std::initializer_list<RelationId> needs;
};

// Only what some retained snapshot shows has to be whole: an excision may have removed a part of
// the rest.
absl::StatusOr<SnapshotAxis> ReadAxis(const VerifyRun& run) {
  VARVE_ASSIGN_OR_RETURN(const RetainedSnapshots retained,
                         FindRetained(*run.view().state(), /*held=*/{}, absl::Now()));
  return SnapshotAxis(retained.snapshots());
}

}  // namespace

absl::StatusOr<VerifySummary> Verify(const ReadView& view, const VerifyOptions& options,
                                     const std::function<void(const Finding&)>& report) {
  VerifyRun run(view, options, report);
  VARVE_RETURN_IF_ERROR(CheckStore(&run));
  if (run.IsDamaged(kSnapshot)) {
    // Everything else asks what is visible at the snapshots that exist.
    return run.summary();
  }
  VARVE_ASSIGN_OR_RETURN(SnapshotAxis axis, ReadAxis(run));
  run.set_axis(std::move(axis));

  const Part parts[] = {
      {CheckIndexes, {kDataFile, kDeleteFile}},
      {CheckColumnar, {}},
      {CheckSnapshots, {kSnapshotChanges}},
      {CheckSchemaVersions, {kSchemaVersions}},
      {CheckMetadata, {kMetadata}},
      {CheckCatalogIds, {kSchema, kTable, kView, kMacro, kPartitionInfo, kSortInfo}},
      {CheckFileIds, {kDataFile, kDeleteFile, kColumnMapping, kFilesScheduledForDeletion}},
      {CheckObjects, {kSchema, kTable, kView, kMacro, kMacroImpl}},
      {CheckDependents,
       {kSchema, kTable, kView, kMacro, kMacroImpl, kMacroParameters, kTag, kPartitionInfo,
        kPartitionColumn, kSortInfo, kSortExpression, kColumnMapping, kNameMapping}},
      {CheckInlined, {kTable, kTableStats, kInlinedDataTables, kDataFile}},
      {CheckTables,
       {kTable, kColumn, kColumnTag, kDataFile, kDeleteFile, kFileColumnStats, kFileVariantStats,
        kFilePartitionValue, kTableStats, kTableColumnStats, kPartitionInfo, kColumnMapping}},
  };
  for (const Part& part : parts) {
    if (run.AnyDamaged(part.needs)) {
      continue;
    }
    const absl::Status status = part.check(&run);
    if (absl::IsDataLoss(status)) {
      run.Report(Rule::kCorruption, "", "", std::string(MessageOf(status)));
    } else if (!status.ok()) {
      return status;
    }
  }
  if (options.on_progress != nullptr) {
    options.on_progress(run.summary().rows_checked);
  }
  return run.summary();
}

}  // namespace varve
