// varve compact and varve repair: columnar files of level 2 from those of level 1, or from the row
// store.

#include <gflags/gflags.h>

#include <cstdio>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/compaction.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/progress.h"
#include "tools/tier_output.h"

DEFINE_bool(full, false, "compact all there is");

namespace varve {
namespace {

void PrintLine(const std::string& line) {
  std::fputs(StrCat(line, "\n").c_str(), stderr);
}

// What was damaged, a line each, and what was done. kExitDamaged: something was left as it is.
ExitCode PrintDamage(const CompactionSummary& summary) {
  for (const CompactionSummary::Damage& damage : summary.damaged) {
    PrintLine(StrCat(kColumnarDirectory, "/", damage.file, " was damaged: ", damage.what, "; ",
                     damage.rebuilt.empty()
                         ? "nothing was made anew for it"
                         : StrCat("made anew: ", StrJoin(damage.rebuilt, ", "))));
  }
  for (const CompactionSummary::Skipped& skipped : summary.skipped) {
    PrintLine(StrCat("varve: ", skipped.relation, " was left out: ", skipped.why,
                     "; the row store answers for it until 'varve repair' makes its files anew"));
  }
  return summary.skipped.empty() ? kExitOk : kExitDamaged;
}

// Compacts or rebuilds the relations named, or those that need it.
absl::StatusOr<ExitCode> RunWork(
    absl::StatusOr<CompactionSummary> (*work)(Catalog& catalog, const CompactionOptions& options),
    std::string_view label, const std::vector<std::string>& names) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForWriting());
  CompactionOptions options;
  for (const std::string& name : names) {
    VARVE_ASSIGN_OR_RETURN(const RelationRef relation, ResolveRelation(catalog->Current(), name));
    options.relations.push_back(relation->id);
  }
  Progress progress;
  options.full = FLAGS_full;
  options.on_progress = ShowRows(label, &progress);
  options.check = names.empty() ? DamageCheck::kAll : DamageCheck::kNone;
  options.on_check = [&](uint64_t done, uint64_t total) {
    progress.Update("reading columnar files", done, total, 0);
  };
  const absl::Time begin = absl::Now();
  VARVE_ASSIGN_OR_RETURN(const CompactionSummary summary, work(*catalog, options));
  progress.Clear();
  Stdout out;
  VARVE_RETURN_IF_ERROR(
      PrintSummary({{"relations", summary.relations},
                    {"segments", summary.segments},
                    {"rows_read", summary.rows_read},
                    {"rows_written", summary.rows_written},
                    {"markers_dropped", summary.markers_dropped},
                    {"reclaimed", summary.reclaimed},
                    {"l1_files_merged", summary.l1_files_merged},
                    {"skipped", summary.skipped.size()},
                    {"damaged_files", summary.damaged.size()},
                    {"bytes_written", summary.bytes_written, Rendering::kByteSize}},
                   absl::Now() - begin, format, &out));
  VARVE_RETURN_IF_ERROR(out.Flush());
  return PrintDamage(summary);
}

absl::StatusOr<ExitCode> RunCompact(const std::vector<std::string>& arguments) {
  return RunWork(CompactColumns, "compacting", arguments);
}

absl::StatusOr<ExitCode> RunRepair(const std::vector<std::string>& arguments) {
  return RunWork(RebuildColumns, "rebuilding", arguments);
}

}  // namespace

Command CompactCommand() {
  return {
      .name = "compact",
      .arguments = "[RELATION…]",
      .summary = "merge flushed columnar files into level 2",
      .details =
          "Rewrites the ranges of level 2 of which about a quarter has changed, and leaves out\n"
          "versions that no retained snapshot shows. It may be killed at any moment: nothing\n"
          "is lost, and the next compaction starts anew. What was not flushed stays in memory:\n"
          "run 'flush' before. A relation with a damaged file is left out and named, the others\n"
          "are compacted, and the exit code is 7: 'repair' makes its files anew.",
      .flags = {kCatalogFlag,
                kSyncFlag,
                {"full", "",
                 "every range with flushed rows, and every one with ended rows, however few"},
                kFormatFlag},
      .max_arguments = 100,
      .run = RunCompact};
}

Command RepairCommand() {
  return {
      .name = "repair",
      .arguments = "[RELATION…]",
      .summary = "make columnar files from the row store: after an import, or for damaged ones",
      .details =
          "Without RELATION it makes the files of relations whose rows are not all in columnar\n"
          "files and later changes (those that an import filled), and of relations with a damaged\n"
          "file, for which it reads every byte of all files. Each damaged file is named. RELATION "
          "is\n"
          "made anew whether or not it needs it.",
      .flags = {kCatalogFlag, kSyncFlag, kFormatFlag},
      .max_arguments = 100,
      .run = RunRepair};
}

}  // namespace varve
