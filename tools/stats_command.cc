// varve stats: rows, versions and bytes of a catalog.

#include <gflags/gflags.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/inspect/catalog_stats.h"
#include "catalog/inspect/tier_stats.h"
#include "catalog/relation_directory.h"
#include "tools/commands.h"
#include "tools/flags.h"
#include "tools/progress.h"
#include "tools/tier_stats_output.h"

DEFINE_uint64(memrowset_budget_mb, 256, "MiB that MemRowSets may take");

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

// --memrowset_budget_mb in bytes.
absl::StatusOr<uint64_t> ChosenBudget() {
  constexpr uint64_t kMaxMebibytes = uint64_t{1} << 30;
  if (FLAGS_memrowset_budget_mb < 1 || FLAGS_memrowset_budget_mb > kMaxMebibytes) {
    return UsageError(StrCat("--memrowset-budget-mb=", FLAGS_memrowset_budget_mb,
                             ": expected 1 to ", kMaxMebibytes));
  }
  return FLAGS_memrowset_budget_mb << 20;
}

std::string Size(uint64_t bytes) {
  return HumanSize(static_cast<int64_t>(bytes));
}

// The last row is the sum. csv and json say the budget beside it, tables in a line above.
absl::Status PrintMemory(const std::vector<MemoryStats>& memory, uint64_t budget,
                         OutputFormat format, Stdout* out) {
  const bool table = format == OutputFormat::kTable;
  const MemoryStats sum = SumOf(memory);
  std::vector<ResultColumn> columns = {{"relation"},
                                       {"live_rows", TypeKind::kInt64},
                                       {"deleted_rows", TypeKind::kInt64},
                                       {"pre_images", TypeKind::kInt64},
                                       {"mutations", TypeKind::kInt64},
                                       {"bytes", TypeKind::kInt64, Rendering::kByteSize}};
  if (table) {
    VARVE_RETURN_IF_ERROR(
        out->Write(StrCat("MemRowSets take ", Size(sum.bytes), " of ", Size(budget), "\n")));
  } else {
    columns.push_back({"budget_bytes", TypeKind::kInt64});
  }
  const auto writer = MakeResultWriter(format, std::move(columns), out);
  const auto print = [&](const Datum& relation, const MemoryStats& m, const Datum& of) {
    std::vector<Datum> row = {relation,
                              Number(m.live_rows),
                              Number(m.deleted_rows),
                              Number(m.pre_images),
                              Number(m.mutations),
                              Number(m.bytes)};
    if (!table) {
      row.push_back(of);
    }
    return writer->Row(row);
  };
  for (const MemoryStats& m : memory) {
    VARVE_RETURN_IF_ERROR(print(Datum::Bytes(m.relation->name), m, Datum::Null()));
  }
  VARVE_RETURN_IF_ERROR(print(table ? Datum::Bytes("(sum)") : Datum::Null(), sum, Number(budget)));
  return writer->Finish();
}

// Over the budget is no error, and no part of the result.
void WarnOfBudget(uint64_t used, uint64_t budget) {
  if (used > budget) {
    std::fputs(
        StrCat("MemRowSets are ", Size(used - budget), " over their budget of ", Size(budget), "\n")
            .c_str(),
        stderr);
  }
}

// `memory`: why there are no MemRowSets, if there are none.
absl::Status PrintAll(const ReadView& view, const absl::Status& memory, uint64_t budget,
                      Stdout* out) {
  VARVE_ASSIGN_OR_RETURN(const CatalogStats stats, CollectStats(view));
  VARVE_RETURN_IF_ERROR(PrintSummary(stats, out));
  VARVE_RETURN_IF_ERROR(PrintRelations(stats, OutputFormat::kTable, out));
  VARVE_RETURN_IF_ERROR(out->Write("\n"));
  VARVE_RETURN_IF_ERROR(PrintFamilies(stats, OutputFormat::kTable, out));
  VARVE_RETURN_IF_ERROR(out->Write("\n"));
  const TierStats tiers = CollectTierStats(view);
  if (tiers.levels[0].files + tiers.levels[1].files > 0) {
    VARVE_RETURN_IF_ERROR(PrintTiers(tiers, stats, OutputFormat::kTable, out));
    VARVE_RETURN_IF_ERROR(out->Write("\n"));
  }
  return memory.ok() ? PrintMemory(CollectMemoryStats(view), budget, OutputFormat::kTable, out)
                     : out->Write(StrCat("no MemRowSets: ", MessageOf(memory), "\n"));
}

absl::Status PrintPart(std::string_view part, const ReadView& view, uint64_t budget,
                       OutputFormat format, Stdout* out) {
  if (part == "memory") {
    return PrintMemory(CollectMemoryStats(view), budget, format, out);
  }
  VARVE_ASSIGN_OR_RETURN(const CatalogStats stats, CollectStats(view));
  if (part == "tiers") {
    return PrintTiers(CollectTierStats(view), stats, format, out);
  }
  return part == "families" ? PrintFamilies(stats, format, out)
                            : PrintRelations(stats, format, out);
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const uint64_t budget, ChosenBudget());
  const std::string_view part = arguments.empty() ? "" : std::string_view(arguments[0]);
  const std::vector<std::string_view> parts = {"relations", "families", "memory", "tiers"};
  if (!part.empty() && std::find(parts.begin(), parts.end(), part) == parts.end()) {
    return UsageError(StrCat("stats are of relations, families, memory or tiers, not of '", part,
                             "'", DidYouMean(part, parts)));
  }
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  const bool all = part.empty() && format == OutputFormat::kTable;
  absl::Status memory;
  if (all || part == "memory") {
    memory = catalog->WaitForMemory();
  }
  if (!all) {
    VARVE_RETURN_IF_ERROR(memory);
  }
  VARVE_ASSIGN_OR_RETURN(const ReadView view, ChosenView(*catalog));
  Stdout out;
  VARVE_RETURN_IF_ERROR(all ? PrintAll(view, memory, budget, &out)
                            : PrintPart(part, view, budget, format, &out));
  VARVE_RETURN_IF_ERROR(out.Flush());
  WarnOfBudget(SumOf(CollectMemoryStats(view)).bytes, budget);
  return kExitOk;
}

}  // namespace

Command StatsCommand() {
  return {
      .name = "stats",
      .arguments = "[relations|families|memory|tiers]",
      .summary = "count rows, versions and bytes: relations, families, MemRowSets, columnar files",
      .details =
          "history_amplification is the number of versions there are for each visible row;\n"
          "scan_amplification is the number Varve reads for it. Without an argument a table shows\n"
          "all parts, csv and json show the relations. MemRowSets are rebuilt from the change log\n"
          "for it, as a process that keeps the catalog open has them. Of columnar files "
          "clean_share\n"
          "is the part of level 2's packs that are read without handle, version and end. The last\n"
          "row of MemRowSets and of columnar files is their sum.",
      .flags = {kCatalogFlag,
                kAtFlag,
                kAtTimeFlag,
                {"memrowset_budget_mb", "N", "MiB that MemRowSets may take; default: 256"},
                kFormatFlag,
                kReadOnlyFlag},
      .max_arguments = 1,
      .run = Run};
}

}  // namespace varve
