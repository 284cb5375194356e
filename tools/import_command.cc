// varve import: brings a whole DuckLake catalog in.

#include "catalog/interchange/import.h"

#include <gflags/gflags.h>

#include <cstdio>

#include "base/status.h"
#include "base/strings.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/progress.h"

DEFINE_bool(keep_anomalies, false, "take rows that clash with others");

namespace varve {
namespace {

void Show(const ImportProgress& at, Progress* progress) {
  if (at.phase == ImportProgress::Phase::kReading) {
    progress->Update(at.relation.empty() ? "reading" : StrCat("reading ", at.relation), at.bytes,
                     at.total_bytes, at.rows);
  } else {
    progress->Update("sorting and writing", at.rows, at.total_rows, at.rows);
  }
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& /*arguments*/) {
  if (FLAGS_from.empty()) {
    return UsageError(
        "import needs --from=SOURCE: csv:DIR, sqlite:FILE or postgres:CONNINFO[?schema=NAME]");
  }
  VARVE_RETURN_IF_ERROR(CheckPlace("from", FLAGS_from));
  VARVE_ASSIGN_OR_RETURN(const std::string path, CatalogPath());
  Progress progress;
  ImportOptions options;
  options.keep_anomalies = FLAGS_keep_anomalies;
  options.on_progress = [&](const ImportProgress& at) { Show(at, &progress); };
  VARVE_ASSIGN_OR_RETURN(const ImportSummary summary, ImportCatalog(FLAGS_from, path, options));
  progress.Clear();
  std::fprintf(stderr,
               "imported %s rows of %s relations, up to snapshot %llu, from a catalog of version "
               "%s\n",
               WithThousands(summary.load.rows).c_str(), WithThousands(summary.relations).c_str(),
               static_cast<unsigned long long>(summary.load.last_snapshot),
               summary.version.c_str());
  if (summary.load.anomalies > 0) {
    std::fprintf(stderr, "kept %s row(s) that clash with others; 'varve verify' lists them\n",
                 WithThousands(summary.load.anomalies).c_str());
  }
  return kExitOk;
}

}  // namespace

Command ImportCommand() {
  return {
      .name = "import",
      .arguments = "--from=SOURCE",
      .summary = "bring a whole DuckLake catalog in",
      .details =
          "SOURCE is csv:DIR (one ducklake_….csv a table, as PostgreSQL's COPY or DuckDB's EXPORT\n"
          "DATABASE write them), sqlite:FILE, or postgres:CONNINFO, optionally with ?schema=NAME.\n"
          "The catalog appears at its path when all of it is in; if anything is wrong, nothing "
          "does.",
      .flags = {kCatalogFlag,
                {"from", "SOURCE", "where the catalog comes from"},
                {"keep_anomalies", "",
                 "take duplicate keys and overlapping intervals where no key is declared"}},
      .run = Run};
}

}  // namespace varve
