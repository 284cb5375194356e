#include "tools/tier_stats_output.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/status.h"
#include "base/strings.h"
#include "tools/retention_output.h"

namespace varve {
namespace {

Datum Number(uint64_t n) {
  return Datum::Int64(static_cast<int64_t>(n));
}

// "3 files, 1,234 rows, 1.2 MiB"
std::string LevelText(const LevelStats& level) {
  return StrCat(Counted(level.files, "file"), ", ", Counted(level.rows, "row"), ", ",
                HumanSize(static_cast<int64_t>(level.bytes)));
}

RelationTierStats SumOf(const std::vector<RelationTierStats>& relations) {
  RelationTierStats sum{.complete = true};
  for (const RelationTierStats& r : relations) {
    sum.l1_files += r.l1_files;
    sum.l1_rows += r.l1_rows;
    sum.l2_files += r.l2_files;
    sum.live_rows += r.live_rows;
    sum.ended_rows += r.ended_rows;
    sum.bytes += r.bytes;
    sum.packs += r.packs;
    sum.clean_packs += r.clean_packs;
    sum.skipped_packs += r.skipped_packs;
    sum.scanned_rows += r.scanned_rows;
    sum.complete = sum.complete && r.complete;
  }
  return sum;
}

}  // namespace

absl::Status PrintTiers(const TierStats& tiers, const CatalogStats& stats, OutputFormat format,
                        Stdout* out) {
  const bool table = format == OutputFormat::kTable;
  absl::flat_hash_map<RelationId, uint64_t> visible;
  for (const RelationStats& relation : stats.relations) {
    visible[relation.relation->id] = relation.rows;
  }
  if (table) {
    VARVE_RETURN_IF_ERROR(out->Write(StrCat("columnar files: level 1 ", LevelText(tiers.levels[0]),
                                            "; level 2 ", LevelText(tiers.levels[1]),
                                            "; flushed up to commit ", tiers.flushed_csn, "\n")));
  }
  const Type ratio_type = table ? Type::Decimal(18, 2) : Type(TypeKind::kFloat64);
  // Read, not computed with, in tables. Of nothing there is no ratio.
  const auto ratio = [&](uint64_t part, uint64_t whole) {
    if (whole == 0) {
      return Datum::Null();
    }
    const double value = static_cast<double>(part) / static_cast<double>(whole);
    return table ? Datum::Int64(std::llround(value * 100)) : Datum::Float64(value);
  };
  const auto writer = MakeResultWriter(format,
                                       {{"relation"},
                                        {"complete", TypeKind::kBoolean},
                                        {"l1_files", TypeKind::kInt64},
                                        {"l1_rows", TypeKind::kInt64},
                                        {"l2_files", TypeKind::kInt64},
                                        {"live_rows", TypeKind::kInt64},
                                        {"ended_rows", TypeKind::kInt64},
                                        {"bytes", TypeKind::kInt64, Rendering::kByteSize},
                                        {"packs", TypeKind::kInt64},
                                        {"clean_packs", TypeKind::kInt64},
                                        {"skipped_packs", TypeKind::kInt64},
                                        {"clean_share", ratio_type},
                                        {"history_amplification", ratio_type},
                                        {"scan_amplification", ratio_type}},
                                       out);
  const auto print = [&](const Datum& name, const RelationTierStats& r, uint64_t rows) {
    const uint64_t all = r.l1_rows + r.live_rows + r.ended_rows;
    return writer->Row(
        std::vector<Datum>{name, Datum::Bool(r.complete), Number(r.l1_files), Number(r.l1_rows),
                           Number(r.l2_files), Number(r.live_rows), Number(r.ended_rows),
                           Number(r.bytes), Number(r.packs), Number(r.clean_packs),
                           Number(r.skipped_packs), ratio(r.clean_packs, r.packs - r.skipped_packs),
                           all == 0 ? Datum::Null() : ratio(all, rows),
                           all == 0 ? Datum::Null() : ratio(r.scanned_rows, rows)});
  };
  uint64_t all_visible = 0;
  for (const RelationTierStats& relation : tiers.relations) {
    const uint64_t rows = visible[relation.relation->id];
    // Rows of relations without files say nothing of files.
    all_visible += relation.l1_files + relation.l2_files > 0 ? rows : 0;
    VARVE_RETURN_IF_ERROR(print(Datum::Bytes(relation.relation->name), relation, rows));
  }
  VARVE_RETURN_IF_ERROR(
      print(table ? Datum::Bytes("(sum)") : Datum::Null(), SumOf(tiers.relations), all_visible));
  VARVE_RETURN_IF_ERROR(writer->Finish());
  for (const RelationTierStats& relation : tiers.relations) {
    if (!relation.damage.empty()) {
      VARVE_RETURN_IF_ERROR(PrintRemark(
          StrCat(relation.relation->name, " is answered by the row store: ", relation.damage),
          format, out));
    }
  }
  return absl::OkStatus();
}

}  // namespace varve
