// varve checkpoint: copies of a whole catalog, made while it is written to.

#include "catalog/backup/checkpoint.h"

#include <gflags/gflags.h>

#include <cstdio>
#include <memory>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/relation_directory.h"
#include "tools/commands.h"
#include "tools/findings.h"
#include "tools/flags.h"
#include "tools/progress.h"

DEFINE_bool(copy, false, "copy files instead of linking them");
DECLARE_string(catalog);

namespace varve {
namespace {

CheckpointOptions OptionsShowing(std::string_view label, Progress* progress) {
  CheckpointOptions options;
  options.copy = FLAGS_copy;
  options.on_progress = [=](uint64_t bytes, uint64_t total) {
    progress->Update(label, bytes, total, 0);
  };
  return options;
}

void PrintConclusion(std::string_view what, const CheckpointSummary& summary) {
  const std::string line =
      StrCat(what, ": commit ", summary.info.csn, ", snapshot ", summary.info.last_snapshot, "; ",
             HumanSize(static_cast<int64_t>(summary.linked_bytes)), " linked, ",
             HumanSize(static_cast<int64_t>(summary.copied_bytes)), " copied\n");
  std::fputs(line.c_str(), stderr);
}

absl::StatusOr<ExitCode> Create(const std::string& directory) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  Progress progress;
  VARVE_ASSIGN_OR_RETURN(
      const CheckpointSummary summary,
      CreateCheckpoint(*catalog, directory, OptionsShowing("copying", &progress)));
  progress.Clear();
  PrintConclusion(StrCat("made a checkpoint of ", catalog->path(), " at ", directory), summary);
  return kExitOk;
}

absl::StatusOr<ExitCode> VerifyIt(const std::string& directory) {
  VARVE_RETURN_IF_ERROR(ChosenFormat().status());
  Progress progress;
  const CheckpointOptions options = OptionsShowing("reading", &progress);
  return PrintFindings([&](const VerifyOptions& verify_options, const auto& report) {
    absl::StatusOr<VerifySummary> summary =
        VerifyCheckpoint(directory, options, verify_options, report);
    progress.Clear();
    return summary;
  });
}

absl::StatusOr<ExitCode> Restore(const std::string& directory) {
  if (FLAGS_to.empty()) {
    return UsageError("checkpoint restore needs --to=PATH: where the catalog goes");
  }
  Progress progress;
  VARVE_ASSIGN_OR_RETURN(
      const CheckpointSummary summary,
      RestoreCheckpoint(directory, FLAGS_to, OptionsShowing("restoring", &progress)));
  progress.Clear();
  PrintConclusion(StrCat("restored ", directory, " to ", FLAGS_to), summary);
  for (const std::string& problem : summary.left_out) {
    std::fputs(StrCat("left out: ", problem, "\n").c_str(), stderr);
  }
  if (!summary.left_out.empty()) {
    std::fputs("the row store has their rows: 'varve repair' makes them anew\n", stderr);
  }
  return kExitOk;
}

// A flag that the chosen action would pass over in silence.
absl::Status CheckFlags(std::string_view action) {
  if (action != "create" && !FLAGS_catalog.empty()) {
    return UsageError(
        StrCat("checkpoint ", action, " takes no --catalog: DIR says which checkpoint"));
  }
  if (action != "restore" && !FLAGS_to.empty()) {
    return UsageError(StrCat("checkpoint ", action, " takes no --to; restore does"));
  }
  if (action == "verify" && FLAGS_copy) {
    return UsageError("checkpoint verify takes no --copy; create and restore do");
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  const std::string& action = arguments[0];
  if (action != "create" && action != "verify" && action != "restore") {
    return UsageError(StrCat("unknown action '", action,
                             "'; usage: varve checkpoint create|verify|restore DIR",
                             DidYouMean(action, {"create", "verify", "restore"})));
  }
  VARVE_RETURN_IF_ERROR(CheckFlags(action));
  const std::string& directory = arguments[1];
  return action == "create"   ? Create(directory)
         : action == "verify" ? VerifyIt(directory)
                              : Restore(directory);
}

}  // namespace

Command CheckpointCommand() {
  return {
      .name = "checkpoint",
      .arguments = "create|verify|restore DIR",
      .summary = "make, check and restore copies of the whole catalog",
      .details =
          "create makes a checkpoint at DIR, as one commit left the catalog, while others read it\n"
          "and write to it. Files that never change are hard links where the file system allows.\n"
          "verify proves every byte of a checkpoint and checks the catalog in it.\n"
          "restore makes a catalog of a checkpoint at --to; the checkpoint stays as it is.\n"
          "Damaged columnar files are left out; 'repair' makes them anew.\n"
          "Nothing may be at DIR, or at --to, yet.",
      .flags = {{"catalog", "PATH", "create: the catalog; without it, the variable VARVE_CATALOG"},
                {"to", "PATH", "restore: where the catalog goes"},
                {"copy", "", "create, restore: copy files instead of linking them"},
                {"format", "table|csv|json", "verify: how findings are printed"}},
      .min_arguments = 2,
      .max_arguments = 2,
      .run = Run};
}

}  // namespace varve
