// varve metrics: numbers for monitoring, in the text form of Prometheus.

#include "base/status.h"
#include "catalog/inspect/metrics_text.h"
#include "tools/commands.h"
#include "tools/flags.h"

namespace varve {
namespace {

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& /*arguments*/) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  VARVE_RETURN_IF_ERROR(catalog->WaitForMemory());
  Stdout out;
  VARVE_RETURN_IF_ERROR(out.Write(MetricsText(catalog->Current())));
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command MetricsCommand() {
  return {.name = "metrics",
          .summary = "print metrics of the tiers, in the text form of Prometheus",
          .details =
              "Gauges say what the catalog holds now; counters and histograms say what this\n"
              "process has done, which for this program is next to nothing: they are those that a\n"
              "process which keeps the catalog open counts up.",
          .flags = {kCatalogFlag, kReadOnlyFlag},
          .run = Run};
}

}  // namespace varve
