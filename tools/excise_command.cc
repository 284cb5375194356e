// varve excise: physically removes what no retained snapshot shows.

#include "catalog/retention/excise.h"

#include <gflags/gflags.h>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/compaction.h"
#include "catalog/tiers/flush.h"
#include "tools/commands.h"
#include "tools/excise_options.h"
#include "tools/flags.h"
#include "tools/interruption.h"
#include "tools/retention_output.h"
#include "tools/tier_output.h"

DEFINE_uint64(step_rows, 10'000, "rows one step removes");
DEFINE_bool(compact, false, "rewrite the store's files at the end");
DEFINE_bool(now, false, "rewrite the columnar files at the end");

namespace varve {
namespace {

absl::StatusOr<ExitCode> RunPlan(OutputFormat format) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  Progress progress;
  VARVE_ASSIGN_OR_RETURN(const ExcisePlan plan,
                         PlanExcise(*catalog, ShowVersions("counting", *catalog, &progress)));
  progress.Clear();
  Stdout out;
  if (!plan.reclaimable.rows.empty() || format != OutputFormat::kTable) {
    VARVE_RETURN_IF_ERROR(PrintRowCounts(plan.reclaimable.rows, "rows", format, &out));
  }
  VARVE_RETURN_IF_ERROR(PrintRemark(
      StrCat(plan.reclaimable.rows.empty()
                 ? std::string("nothing to remove")
                 : StrCat(Counted(TotalRows(plan.reclaimable.rows), "row"), " to remove, ",
                          Counted(plan.reclaimable.files, "file"), " to give up"),
             "; ", Counted(plan.retained_snapshots, "snapshot"), " retained, from ",
             plan.retain_from, " on"),
      format, &out));
  if (plan.interrupted.has_value()) {
    VARVE_RETURN_IF_ERROR(PrintRemark(
        StrCat("an excision was interrupted after ",
               Counted(TotalRows(plan.interrupted->rows), "row"), "; 'excise apply' goes on"),
        format, &out));
  }
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

// Rewrites the columnar files that have rows which were removed.
absl::Status RewriteColumnarFiles(Catalog* catalog, Progress* progress) {
  if (catalog->LatestState()->columnar->manifest().files().empty()) {
    return absl::OkStatus();
  }
  VARVE_RETURN_IF_ERROR(FlushMemory(*catalog).status());
  return CompactColumns(*catalog, {.full = true, .on_progress = ShowRows("compacting", progress)})
      .status();
}

absl::StatusOr<ExitCode> RunApply(OutputFormat format) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForWriting());
  const Interruption interruption;
  Progress progress;
  VARVE_ASSIGN_OR_RETURN(const ExciseOptions options,
                         ChosenExciseOptions(*catalog, interruption, &progress));
  const absl::StatusOr<ExciseResult> result = Excise(catalog.get(), options);
  const absl::Status rewritten =
      result.ok() && FLAGS_now ? RewriteColumnarFiles(catalog.get(), &progress) : absl::OkStatus();
  progress.Clear();
  VARVE_RETURN_IF_ERROR(result.status());
  VARVE_RETURN_IF_ERROR(rewritten);
  Stdout out;
  VARVE_RETURN_IF_ERROR(PrintExciseResult(*result, format, &out));
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const bool apply, IsApply("excise", arguments[0]));
  return apply ? RunApply(format) : RunPlan(format);
}

}  // namespace

absl::StatusOr<ExciseOptions> ChosenExciseOptions(const Catalog& catalog,
                                                  const Interruption& interruption,
                                                  Progress* progress) {
  if (FLAGS_step_rows < 1 || FLAGS_step_rows > kMaxRowsPerStep) {
    return UsageError(StrCat("--step-rows=", FLAGS_step_rows, ": expected 1 to ", kMaxRowsPerStep));
  }
  ExciseOptions options;
  options.rows_per_step = static_cast<uint32_t>(FLAGS_step_rows);
  options.compact = FLAGS_compact;
  options.stop = [&interruption] { return interruption.requested(); };
  options.on_progress = [total = EstimateVersions(catalog), progress](uint64_t rows,
                                                                      uint64_t versions) {
    progress->Update("excising", versions, total, rows);
  };
  return options;
}

absl::Status PrintExciseResult(const ExciseResult& result, OutputFormat format, Stdout* out) {
  if (!result.rows.empty() || format != OutputFormat::kTable) {
    VARVE_RETURN_IF_ERROR(PrintRowCounts(result.rows, "rows", format, out));
  }
  if (result.rows.empty()) {
    return PrintRemark("nothing to remove", format, out);
  }
  std::string remark = StrCat("removed ", Counted(TotalRows(result.rows), "row"), " in ",
                              Counted(result.steps, "step"), "; scheduled ",
                              Counted(result.scheduled_files, "file"), " for deletion");
  if (result.resumed) {
    StrAppend(&remark, "; what an interrupted excision had done is in it");
  }
  if (result.shared_files > 0) {
    StrAppend(&remark, "; ", Counted(result.shared_files, "file"), " kept for other rows");
  }
  if (result.lost_files > 0) {
    StrAppend(&remark, "; ", Counted(result.lost_files, "file"),
              " of tables that are not there: look for orphans");
  }
  return PrintRemark(remark, format, out);
}

Command ExciseCommand() {
  return {
      .name = "excise",
      .arguments = "plan|apply",
      .summary = "physically remove what no retained snapshot shows",
      .details =
          "'plan' counts the rows, 'apply' removes them: in steps, between which other commits "
          "go\n"
          "in, and audited. It may be interrupted at any moment; another one goes on with the "
          "rest.\n"
          "Data and delete files whose rows go are put into files_scheduled_for_deletion, unless "
          "a\n"
          "row that stays names the same file.",
      .flags = {kCatalogFlag,
                kSyncFlag,
                kStepRowsFlag,
                kCompactFlag,
                {"now", "",
                 "rewrite the columnar files at the end, so that none has a row that "
                 "was removed; else the next compactions do"},
                kFormatFlag},
      .min_arguments = 1,
      .max_arguments = 1,
      .run = Run};
}

}  // namespace varve
