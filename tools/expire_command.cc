// varve expire: gives up snapshots by name, with what only they show.

#include "catalog/retention/expire.h"

#include <gflags/gflags.h>

#include <limits>

#include "base/status.h"
#include "base/strings.h"
#include "tools/commands.h"
#include "tools/excise_options.h"
#include "tools/flags.h"
#include "tools/retention_output.h"

DEFINE_bool(dry_run, false, "say what would be done");

namespace varve {
namespace {

absl::StatusOr<std::vector<SnapshotId>> NamedSnapshots(const std::vector<std::string>& arguments) {
  std::vector<SnapshotId> snapshots;
  for (const std::string& argument : arguments) {
    const std::optional<SnapshotId> snapshot = ParseNumber<SnapshotId>(argument);
    if (!snapshot.has_value() || *snapshot > kMaxSnapshotId) {
      return UsageError(
          StrCat("'", argument, "' is no snapshot id; 'varve log' lists the snapshots"));
    }
    snapshots.push_back(*snapshot);
  }
  return snapshots;
}

absl::StatusOr<ExitCode> RunPlan(const std::vector<SnapshotId>& snapshots, OutputFormat format) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  Progress progress;
  const absl::StatusOr<ExpirePlan> plan =
      PlanExpire(*catalog, snapshots, ShowVersions("counting", *catalog, &progress));
  progress.Clear();
  VARVE_RETURN_IF_ERROR(AsRefusal(plan.status()));
  Stdout out;
  VARVE_RETURN_IF_ERROR(PrintRowCounts(plan->reclaimable.rows, "rows", format, &out));
  VARVE_RETURN_IF_ERROR(
      PrintRemark(StrCat(Counted(plan->snapshots.size(), "snapshot"),
                         " would expire: ", SnapshotRange(plan->snapshots), "; ",
                         Counted(TotalRows(plan->reclaimable.rows), "row"), " would be removed, ",
                         Counted(plan->reclaimable.files, "file"), " given up"),
                  format, &out));
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const std::vector<SnapshotId> snapshots, NamedSnapshots(arguments));
  if (FLAGS_dry_run) {
    return RunPlan(snapshots, format);
  }
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForWriting());
  const Interruption interruption;
  Progress progress;
  VARVE_ASSIGN_OR_RETURN(const ExciseOptions options,
                         ChosenExciseOptions(*catalog, interruption, &progress));
  const absl::StatusOr<ExciseResult> result = Expire(catalog.get(), snapshots, options);
  progress.Clear();
  VARVE_RETURN_IF_ERROR(AsRefusal(result.status()));
  Stdout out;
  VARVE_RETURN_IF_ERROR(PrintExciseResult(*result, format, &out));
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command ExpireCommand() {
  return {
      .name = "expire",
      .arguments = "SNAPSHOT…",
      .summary = "give up snapshots by id, and remove what only they show",
      .details =
          "Removes the snapshots in one commit and then, like 'excise apply', everything that no\n"
          "retained snapshot shows. The last snapshot and pinned ones are refused; then nothing "
          "is\n"
          "done.",
      .flags = {kCatalogFlag,
                kSyncFlag,
                {"dry_run", "", "say what would be done, and do nothing"},
                kStepRowsFlag,
                kCompactFlag,
                kFormatFlag},
      .min_arguments = 1,
      .max_arguments = std::numeric_limits<size_t>::max(),
      .run = Run};
}

}  // namespace varve
