// varve flush: what MemRowSets hold goes to a columnar file.

#include "catalog/tiers/flush.h"

#include <gflags/gflags.h>

#include "base/status.h"
#include "base/strings.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/progress.h"
#include "tools/tier_output.h"

DEFINE_uint64(keep_changes, varve::FlushOptions().changes_retention, "commits to keep");

namespace varve {
namespace {

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& /*arguments*/) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForWriting());
  Progress progress;
  FlushOptions options;
  options.changes_retention = FLAGS_keep_changes;
  options.on_progress = ShowRows("flushing", &progress);
  const absl::Time begin = absl::Now();
  VARVE_ASSIGN_OR_RETURN(const FlushSummary summary, FlushMemory(*catalog, options));
  progress.Clear();
  Stdout out;
  VARVE_RETURN_IF_ERROR(PrintSummary({{"flushed_csn", summary.flushed_csn},
                                      {"rows", summary.rows},
                                      {"bytes", summary.bytes, Rendering::kByteSize}},
                                     absl::Now() - begin, format, &out));
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command FlushCommand() {
  return {
      .name = "flush",
      .summary = "write what was committed since the last flush to a columnar file",
      .details =
          "Rebuilds the MemRowSets from the change log and writes them to one file of level 1;\n"
          "'compact' merges such files into level 2. It may be killed at any moment: nothing is\n"
          "lost, and the next flush starts anew. The flushed part of the change log is cut, but\n"
          "for the newest commits of it.",
      .flags = {kCatalogFlag,
                kSyncFlag,
                {"keep_changes", "N",
                 "so many of the flushed commits stay in the change feed; default: 10000"},
                kFormatFlag},
      .run = Run};
}

}  // namespace varve
