#include "tools/retention_output.h"

#include <array>
#include <cstdio>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/catalog.h"
#include "catalog/store/row_store.h"

namespace varve {

std::string Counted(uint64_t n, std::string_view what) {
  return StrCat(WithThousands(n), " ", what, n == 1 ? "" : "s");
}

std::string SnapshotRange(const std::vector<SnapshotId>& snapshots) {
  if (snapshots.size() == 1) {
    return StrCat(snapshots.front());
  }
  const bool complete = snapshots.back() - snapshots.front() + 1 == snapshots.size();
  return StrCat(complete ? "" : StrCat(WithThousands(snapshots.size()), " of "), snapshots.front(),
                " to ", snapshots.back());
}

absl::Status PrintRowCounts(const RowCounts& counts, std::string_view column, OutputFormat format,
                            Stdout* out) {
  const auto writer =
      MakeResultWriter(format, {{"relation"}, {std::string(column), TypeKind::kInt64}}, out);
  for (const auto& [relation, rows] : counts) {
    const std::array<Datum, 2> values = {Datum::Bytes(relation),
                                         Datum::Int64(static_cast<int64_t>(rows))};
    VARVE_RETURN_IF_ERROR(writer->Row(values));
  }
  return writer->Finish();
}

absl::Status PrintRemark(std::string_view remark, OutputFormat format, Stdout* out) {
  if (format == OutputFormat::kTable) {
    return out->Write(StrCat(remark, "\n"));
  }
  std::fprintf(stderr, "%.*s\n", static_cast<int>(remark.size()), remark.data());
  return absl::OkStatus();
}

uint64_t EstimateVersions(const Catalog& catalog) {
  const RowStore& store = *catalog.LatestState()->store;
  uint64_t ended = 0;
  store.db().GetIntProperty(store.family(Family::kEnded), "rocksdb.estimate-num-keys", &ended);
  return ended;
}

std::function<void(uint64_t versions)> ShowVersions(std::string_view label, const Catalog& catalog,
                                                    Progress* progress) {
  return [label = std::string(label), total = EstimateVersions(catalog),
          progress](uint64_t versions) { progress->Update(label, versions, total, 0); };
}

}  // namespace varve
