// varve stats: rows, versions and bytes of a catalog.

#include <cmath>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/inspect/catalog_stats.h"
#include "catalog/relation_directory.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/progress.h"

namespace varve {
namespace {

Datum Number(uint64_t n) {
  return Datum::Int64(static_cast<int64_t>(n));
}

absl::Status PrintSummary(const CatalogStats& stats, Stdout* out) {
  return out->Write(StrCat("catalog ", stats.uuid, "\nat snapshot ", stats.snapshot, "; ",
                           WithThousands(stats.snapshots), " snapshots, the last is ",
                           stats.last_snapshot, "; commit ", stats.csn, "\n\n"));
}

// Two digits after the point: a ratio is read, not computed with.
Datum Ratio(double ratio, OutputFormat format) {
  return format == OutputFormat::kTable ? Datum::Int64(std::llround(ratio * 100))
                                        : Datum::Float64(ratio);
}

absl::Status PrintRelations(const CatalogStats& stats, OutputFormat format, Stdout* out) {
  const Type ratio = format == OutputFormat::kTable ? Type::Decimal(18, 2) : TypeKind::kFloat64;
  const auto writer = MakeResultWriter(format,
                                       {{"relation"},
                                        {"rows", TypeKind::kInt64},
                                        {"versions", TypeKind::kInt64},
                                        {"live", TypeKind::kInt64},
                                        {"ended", TypeKind::kInt64},
                                        {"live_bytes", TypeKind::kInt64, Rendering::kByteSize},
                                        {"ended_bytes", TypeKind::kInt64, Rendering::kByteSize},
                                        {"history_amplification", ratio},
                                        {"scan_amplification", ratio}},
                                       out);
  for (const RelationStats& r : stats.relations) {
    VARVE_RETURN_IF_ERROR(writer->Row(std::vector<Datum>{
        Datum::Bytes(r.relation->name), Number(r.rows), Number(r.live + r.ended), Number(r.live),
        Number(r.ended), Number(r.live_bytes), Number(r.ended_bytes),
        Ratio(r.history_amplification, format), Ratio(r.scan_amplification, format)}));
  }
  return writer->Finish();
}

absl::Status PrintFamilies(const CatalogStats& stats, OutputFormat format, Stdout* out) {
  const auto writer = MakeResultWriter(format,
                                       {{"family"},
                                        {"keys", TypeKind::kInt64},
                                        {"files", TypeKind::kInt64},
                                        {"file_bytes", TypeKind::kInt64, Rendering::kByteSize},
                                        {"memory_bytes", TypeKind::kInt64, Rendering::kByteSize}},
                                       out);
  for (const FamilyStats& f : stats.families) {
    VARVE_RETURN_IF_ERROR(
        writer->Row(std::vector<Datum>{Datum::Bytes(f.name), Number(f.keys), Number(f.files),
                                       Number(f.file_bytes), Number(f.memory_bytes)}));
  }
  return writer->Finish();
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  const std::string_view part = arguments.empty() ? "" : std::string_view(arguments[0]);
  if (!part.empty() && part != "relations" && part != "families") {
    return UsageError(StrCat("stats are of relations or families, not of '", part, "'",
                             DidYouMean(part, {"relations", "families"})));
  }
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  VARVE_ASSIGN_OR_RETURN(const ReadView view, ChosenView(*catalog));
  VARVE_ASSIGN_OR_RETURN(const CatalogStats stats, CollectStats(view));
  Stdout out;
  if (part.empty() && format == OutputFormat::kTable) {
    VARVE_RETURN_IF_ERROR(PrintSummary(stats, &out));
    VARVE_RETURN_IF_ERROR(PrintRelations(stats, format, &out));
    VARVE_RETURN_IF_ERROR(out.Write("\n"));
    VARVE_RETURN_IF_ERROR(PrintFamilies(stats, format, &out));
  } else if (part == "families") {
    VARVE_RETURN_IF_ERROR(PrintFamilies(stats, format, &out));
  } else {
    VARVE_RETURN_IF_ERROR(PrintRelations(stats, format, &out));
  }
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command StatsCommand() {
  return {
      .name = "stats",
      .arguments = "[relations|families]",
      .summary = "count rows, versions and bytes per relation and column family",
      .details =
          "history_amplification is the number of versions there are for each visible row;\n"
          "scan_amplification is the number Varve reads for it. Without an argument a table shows\n"
          "both parts, csv and json show the relations.",
      .flags = {kCatalogFlag, kAtFlag, kAtTimeFlag, kFormatFlag, kReadOnlyFlag},
      .max_arguments = 1,
      .run = Run};
}

}  // namespace varve
