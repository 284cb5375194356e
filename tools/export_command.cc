// varve export: writes a catalog out in a form it can be imported from.

#include "catalog/interchange/export.h"

#include <cstdio>

#include "base/status.h"
#include "base/strings.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/progress.h"

namespace varve {
namespace {

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& /*arguments*/) {
  if (FLAGS_to.empty()) {
    return UsageError(
        "export needs --to=TARGET: csv:DIR, sqlite:FILE or postgres:CONNINFO[?schema=NAME]");
  }
  VARVE_RETURN_IF_ERROR(CheckPlace("to", FLAGS_to));
  if (FLAGS_history && (!FLAGS_at.empty() || !FLAGS_at_time.empty())) {
    return UsageError("--history exports every snapshot; it excludes --at and --at-time");
  }
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  VARVE_ASSIGN_OR_RETURN(const ReadView view, ChosenView(*catalog));
  Progress progress;
  ExportOptions options;
  options.history = FLAGS_history;
  options.on_progress = [&](const ExportProgress& at) {
    progress.Update(StrCat("writing ", at.relation), 0, 0, at.rows);
  };
  VARVE_ASSIGN_OR_RETURN(const ExportSummary summary, ExportCatalog(view, FLAGS_to, options));
  progress.Clear();
  const std::string what = FLAGS_history ? std::string("the whole history")
                                         : StrCat("the state at snapshot ", view.snapshot());
  std::fprintf(stderr, "exported %s: %s rows of %s relations\n", what.c_str(),
               WithThousands(summary.rows).c_str(), WithThousands(summary.relations).c_str());
  return kExitOk;
}

}  // namespace

Command ExportCommand() {
  return {
      .name = "export",
      .arguments = "--to=TARGET",
      .summary = "write the catalog out, at a snapshot or with its whole history",
      .details =
          "TARGET is csv:DIR, sqlite:FILE, or postgres:CONNINFO, optionally with ?schema=NAME;\n"
          "nothing may be there yet. Importing an export with --history gives the same catalog,\n"
          "row for row. Without it the state at one snapshot is written, as if all others had\n"
          "been expired.",
      .flags = {kCatalogFlag,
                {"to", "TARGET", "where the catalog goes"},
                kAtFlag,
                kAtTimeFlag,
                {"history", "", "every version of every row"},
                kReadOnlyFlag},
      .run = Run};
}

}  // namespace varve
