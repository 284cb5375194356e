// varve audit: who gave up or removed what, newest first.

#include "catalog/retention/audit.h"

#include <array>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/catalog.h"
#include "tools/commands.h"
#include "tools/flags.h"

namespace varve {
namespace {

// {"ducklake_data_file":3,"ducklake_snapshot":1}
std::string JsonOf(const RowCounts& counts) {
  std::string json = "{";
  for (const auto& [relation, rows] : counts) {
    json.append(json.size() == 1 ? "" : ",");
    AppendJsonString(relation, &json);
    StrAppend(&json, ":", rows);
  }
  json.push_back('}');
  return json;
}

Datum TextOrNull(std::string_view text) {
  return text.empty() ? Datum() : Datum::Bytes(text);
}

Datum SnapshotOrNull(std::optional<SnapshotId> snapshot) {
  return snapshot.has_value() ? Datum::Int64(static_cast<int64_t>(*snapshot)) : Datum();
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& /*arguments*/) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  std::vector<AuditEntry> entries;
  VARVE_RETURN_IF_ERROR(ReadAudit(*catalog->LatestState(), [&](const AuditEntry& entry) {
    entries.push_back(entry);
    return absl::OkStatus();
  }));
  std::vector<ResultColumn> columns = {{"csn", TypeKind::kInt64},
                                       {"time", TypeKind::kTimestampTz},
                                       {"actor"},
                                       {"action"},
                                       {"object"},
                                       {"first_snapshot", TypeKind::kInt64},
                                       {"last_snapshot", TypeKind::kInt64},
                                       {"rows", TypeKind::kInt64},
                                       {"detail"}};
  const bool with_relations = format != OutputFormat::kTable;
  if (with_relations) {
    columns.push_back({"rows_by_relation", TypeKind::kJson, Rendering::kEmbeddedJson});
  }
  Stdout out;
  const auto writer = MakeResultWriter(format, std::move(columns), &out);
  uint64_t left = ChosenLimit().value_or(entries.size());
  for (auto it = entries.rbegin(); it != entries.rend() && left > 0; ++it, --left) {
    const std::string relations = JsonOf(it->rows);
    const std::array<Datum, 10> values = {Datum::Int64(static_cast<int64_t>(it->csn)),
                                          Datum::Int64(absl::ToUnixMicros(it->time)),
                                          Datum::Bytes(it->actor),
                                          Datum::Bytes(it->action),
                                          TextOrNull(it->object),
                                          SnapshotOrNull(it->first_snapshot),
                                          SnapshotOrNull(it->last_snapshot),
                                          Datum::Int64(static_cast<int64_t>(TotalRows(it->rows))),
                                          TextOrNull(it->detail),
                                          Datum::Bytes(relations)};
    VARVE_RETURN_IF_ERROR(
        writer->Row(std::span<const Datum>(values).first(with_relations ? 10 : 9)));
  }
  VARVE_RETURN_IF_ERROR(writer->Finish());
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command AuditCommand() {
  return {.name = "audit",
          .summary = "list who pinned, gave up, removed or restored what, newest first",
          .details = "csv and json also have the rows removed of each relation.",
          .flags = {kCatalogFlag, kReadOnlyFlag, kFormatFlag, {"limit", "N", "the newest N only"}},
          .run = Run};
}

}  // namespace varve
