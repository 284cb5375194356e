#include "tools/flags.h"

#include <gflags/gflags.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/relation_directory.h"
#include "tools/duration.h"

namespace {

constexpr gflags::uint64 kNoLimit = std::numeric_limits<gflags::uint64>::max();

}  // namespace

DEFINE_string(catalog, "", "directory of the catalog");
DEFINE_string(format, "table", "table, csv or json");
DEFINE_string(from, "", "where an import reads, or where a diff or the changes start");
DEFINE_string(to, "", "where an export writes, or where a diff or the changes end");
DEFINE_string(at, "", "snapshot to read at");
DEFINE_string(at_time, "", "time to read at");
DEFINE_string(path, "auto", "how a diff finds out, or what answers a scan");
DEFINE_bool(read_only, true, "write nothing");
DEFINE_string(sync, "always", "when a commit is on disk");
DEFINE_bool(history, false, "all versions instead of the visible rows");
DEFINE_uint64(limit, kNoLimit, "print at most this many rows");

namespace varve {

absl::StatusOr<std::string> CatalogPath() {
  if (!FLAGS_catalog.empty()) {
    return FLAGS_catalog;
  }
  const char* path =
      std::getenv("VARVE_CATALOG");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  if (path == nullptr || *path == '\0') {
    return UsageError("no catalog was named; give --catalog=PATH or set VARVE_CATALOG");
  }
  return std::string(path);
}

absl::StatusOr<std::unique_ptr<Catalog>> OpenCatalogForReading() {
  if (!FLAGS_read_only) {
    return UsageError("--noread-only: this command only reads, whatever its flags");
  }
  VARVE_ASSIGN_OR_RETURN(const std::string path, CatalogPath());
  return Catalog::Open(path, {.read_only = true, .memory = MemoryMode::kOnDemand});
}

absl::StatusOr<std::unique_ptr<Catalog>> OpenCatalogForWriting() {
  VARVE_ASSIGN_OR_RETURN(const std::string path, CatalogPath());
  CatalogOptions options;
  options.memory = MemoryMode::kOnDemand;
  if (FLAGS_sync == "interval") {
    options.sync = SyncMode::kInterval;
  } else if (FLAGS_sync == "off") {
    options.sync = SyncMode::kOff;
  } else if (FLAGS_sync != "always") {
    return UsageError(StrCat("--sync=", FLAGS_sync, ": expected always, interval or off",
                             DidYouMean(FLAGS_sync, {"always", "interval", "off"})));
  }
  return Catalog::Open(path, options);
}

absl::StatusOr<ReadView> ChosenView(const Catalog& catalog) {
  if (!FLAGS_at.empty() && !FLAGS_at_time.empty()) {
    return UsageError("--at and --at-time exclude each other; give one of them");
  }
  if (!FLAGS_at.empty()) {
    VARVE_ASSIGN_OR_RETURN(const SnapshotId snapshot, ParseSnapshotFlag("at", FLAGS_at));
    return catalog.At(snapshot);
  }
  if (!FLAGS_at_time.empty()) {
    std::string scratch;
    Datum time;
    if (!ParseDatum(TypeKind::kTimestampTz, FLAGS_at_time, BlobText::kHex, &scratch, &time).ok()) {
      return UsageError(
          StrCat("--at-time=", FLAGS_at_time,
                 ": expected a time with its offset, as in '2026-11-30 08:40:00+00'"));
    }
    return catalog.AtTime(absl::FromUnixMicros(time.int64_value()));
  }
  return catalog.Current();
}

absl::StatusOr<RelationRef> ResolveRelation(const ReadView& view, std::string_view name) {
  absl::StatusOr<RelationRef> relation = view.relations().Resolve(name);
  if (absl::IsInvalidArgument(relation.status())) {
    return AsUsageError(relation.status());
  }
  return relation;
}

absl::StatusOr<OutputFormat> ChosenFormat() {
  if (FLAGS_format == "table") {
    return OutputFormat::kTable;
  }
  if (FLAGS_format == "csv") {
    return OutputFormat::kCsv;
  }
  if (FLAGS_format == "json") {
    return OutputFormat::kJson;
  }
  return UsageError(StrCat("--format=", FLAGS_format, ": expected table, csv or json",
                           DidYouMean(FLAGS_format, {"table", "csv", "json"})));
}

std::optional<uint64_t> ChosenLimit() {
  return FLAGS_limit == kNoLimit ? std::nullopt : std::optional<uint64_t>(FLAGS_limit);
}

absl::Status CheckPlace(std::string_view flag, std::string_view value) {
  const size_t colon = value.find(':');
  const std::string_view kind = value.substr(0, colon);
  const std::vector<std::string_view> kinds = {"csv", "sqlite", "postgres"};
  if (colon != std::string_view::npos &&
      std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) {
    return absl::OkStatus();
  }
  return UsageError(StrCat("--", flag, "=", value,
                           ": expected csv:DIR, sqlite:FILE or postgres:CONNINFO[?schema=NAME]",
                           colon == std::string_view::npos ? "" : DidYouMean(kind, kinds)));
}

absl::StatusOr<SnapshotId> ParseSnapshotFlag(std::string_view flag, std::string_view value) {
  SnapshotId snapshot = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), snapshot);
  if (error != std::errc() || end != value.data() + value.size() || snapshot > kMaxSnapshotId) {
    return UsageError(
        StrCat("--", flag, "=", value, ": expected a snapshot id; 'varve log' lists them"));
  }
  return snapshot;
}

absl::StatusOr<absl::Duration> ParseDurationFlag(std::string_view flag, std::string_view value) {
  const std::optional<absl::Duration> duration = ParseDuration(value);
  if (!duration.has_value()) {
    return UsageError(StrCat("--", flag, "=", value,
                             ": expected a duration of at most a hundred years, like 30d, 12h, 90m "
                             "or 1d12h"));
  }
  return *duration;
}

absl::StatusOr<bool> IsApply(std::string_view command, std::string_view argument) {
  if (argument == "plan" || argument == "apply") {
    return argument == "apply";
  }
  return UsageError(StrCat("varve ", command, " knows plan and apply, not '", argument, "'",
                           DidYouMean(argument, {"plan", "apply"})));
}

absl::StatusOr<Csn> ParseCsnFlag(std::string_view flag, std::string_view value) {
  const std::optional<Csn> csn = ParseNumber<Csn>(value);
  if (!csn.has_value()) {
    return UsageError(StrCat("--", flag, "=", value,
                             ": expected a commit sequence number, as 'varve changes' shows them"));
  }
  return *csn;
}

}  // namespace varve
