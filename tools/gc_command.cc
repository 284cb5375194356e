// varve gc: gives snapshots up without deleting anything.

#include "catalog/retention/gc.h"

#include <gflags/gflags.h>

#include <array>
#include <limits>

#include "absl/time/civil_time.h"
#include "base/interval.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/inspect/row_reader.h"
#include "catalog/relation_directory.h"
#include "tools/commands.h"
#include "tools/duration.h"
#include "tools/flags.h"
#include "tools/retention_output.h"

DEFINE_string(keep_last, "", "snapshots to keep");
DEFINE_string(older_than, "", "age of the snapshots to give up");
DEFINE_string(retain_from, "", "the first snapshot to keep");
DEFINE_string(changes_retention, "", "changes to keep");

namespace varve {
namespace {

// The lake's own setting, an interval as DuckDB writes it: "30 days", "1 month".
absl::StatusOr<std::optional<std::string>> ExpireOlderThan(const ReadView& view) {
  std::optional<std::string> setting;
  VARVE_RETURN_IF_ERROR(
      ForEachRow(view, kMetadata, {"key", "value", "scope"}, {}, [&](const RowReader& row) {
        if (row.Text(0) == "expire_older_than" && row.IsNull(2)) {
          setting = row.Text(1);
        }
      }));
  return setting;
}

absl::StatusOr<absl::Duration> AgeOfSetting(const std::string& setting, absl::Time now) {
  Interval interval;
  if (ParseInterval(setting, &interval) != TextFault::kNone || interval.months < 0 ||
      interval.days < 0 || interval.micros < 0) {
    return absl::InvalidArgumentError(
        StrCat("the lake's setting expire_older_than is '", setting,
               "', no interval; give --keep-last, --older-than or --retain-from"));
  }
  const absl::TimeZone utc = absl::UTCTimeZone();
  const absl::CivilSecond civil = absl::ToCivilSecond(now, utc);
  const absl::CivilMonth month = absl::CivilMonth(civil) - interval.months;
  const absl::Time months_ago =
      absl::FromCivil(absl::CivilSecond(month.year(), month.month(), civil.day(), civil.hour(),
                                        civil.minute(), civil.second()),
                      utc);
  return (now - months_ago) + absl::Hours(24 * static_cast<int64_t>(interval.days)) +
         absl::Microseconds(interval.micros);
}

absl::StatusOr<ChangesRetention> ChosenChangesRetention() {
  ChangesRetention keep;
  if (FLAGS_changes_retention.empty() || FLAGS_changes_retention == "all") {
    return keep;
  }
  keep.commits = ParseNumber<uint64_t>(FLAGS_changes_retention);
  if (!keep.commits.has_value()) {
    keep.duration = ParseDuration(FLAGS_changes_retention);
  }
  if (keep.keeps_all()) {
    return UsageError(StrCat("--changes-retention=", FLAGS_changes_retention,
                             ": expected a number of commits, a duration like 30d, or all"));
  }
  return keep;
}

absl::StatusOr<GcRequest> ChosenRequest(const Catalog& catalog) {
  GcRequest request;
  VARVE_ASSIGN_OR_RETURN(request.changes, ChosenChangesRetention());
  if (!FLAGS_keep_last.empty()) {
    request.keep_last = ParseNumber<uint64_t>(FLAGS_keep_last);
    if (!request.keep_last.has_value()) {
      return UsageError(
          StrCat("--keep-last=", FLAGS_keep_last, ": expected a number of snapshots"));
    }
  }
  if (!FLAGS_older_than.empty()) {
    VARVE_ASSIGN_OR_RETURN(request.older_than, ParseDurationFlag("older-than", FLAGS_older_than));
  }
  if (!FLAGS_retain_from.empty()) {
    VARVE_ASSIGN_OR_RETURN(request.retain_from,
                           ParseSnapshotFlag("retain-from", FLAGS_retain_from));
  }
  if (request.keep_last.has_value() || request.older_than.has_value() ||
      request.retain_from.has_value() || !request.changes.keeps_all()) {
    return request;
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> setting,
                         ExpireOlderThan(catalog.Current()));
  if (!setting.has_value()) {
    return UsageError(
        "give --keep-last=N, --older-than=30d or --retain-from=S, or set expire_older_than in the "
        "lake");
  }
  VARVE_ASSIGN_OR_RETURN(request.older_than, AgeOfSetting(*setting, request.now));
  return request;
}

// Of a mistake in the request, whose text names what flags are called in the library.
absl::Status Explained(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? AsUsageError(status) : status;
}

std::vector<std::string> Remarks(const GcPlan& plan, bool applied) {
  std::vector<std::string> remarks;
  if (plan.floor == plan.floor_before) {
    remarks.push_back(StrCat("nothing to give up: snapshots are retained from ", plan.floor));
  } else {
    remarks.push_back(StrCat("snapshots ", applied ? "are" : "would be", " retained from ",
                             plan.floor, ", ", applied ? "were" : "now", " from ",
                             plan.floor_before));
    remarks.push_back(plan.given_up.empty()
                          ? std::string("no snapshot stops being readable")
                          : StrCat(Counted(plan.given_up.size(), "snapshot"),
                                   applied ? " can" : " could",
                                   " no longer be read: ", SnapshotRange(plan.given_up)));
  }
  for (const HeldBack& held : plan.held_back) {
    remarks.push_back(
        StrCat(held.what, " holds snapshot ", held.snapshot,
               held.expires.has_value()
                   ? StrCat(" until ", ToText(TypeKind::kTimestampTz,
                                              Datum::Int64(absl::ToUnixMicros(*held.expires))))
                   : ""));
  }
  if (plan.changes_from != plan.changes_before) {
    remarks.push_back(StrCat("the change feed ", applied ? "begins" : "would begin", " at csn ",
                             plan.changes_from, ", ", applied ? "before" : "now", " at ",
                             plan.changes_before));
  }
  return remarks;
}

absl::StatusOr<ExitCode> RunPlan(OutputFormat format) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  VARVE_ASSIGN_OR_RETURN(const GcRequest request, ChosenRequest(*catalog));
  Progress progress;
  const absl::StatusOr<GcPlan> plan =
      PlanGc(*catalog, request, ShowVersions("counting", *catalog, &progress));
  progress.Clear();
  VARVE_RETURN_IF_ERROR(Explained(plan.status()));
  Stdout out;
  for (const std::string& remark : Remarks(*plan, /*applied=*/false)) {
    VARVE_RETURN_IF_ERROR(PrintRemark(remark, format, &out));
  }
  if (!plan->becoming.rows.empty() || format != OutputFormat::kTable) {
    VARVE_RETURN_IF_ERROR(
        PrintRowCounts(plan->becoming.rows, "becoming_reclaimable", format, &out));
  }
  if (!plan->already.rows.empty()) {
    VARVE_RETURN_IF_ERROR(PrintRemark(
        StrCat(Counted(TotalRows(plan->already.rows), "row"), " can be excised already"), format,
        &out));
  }
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

absl::StatusOr<ExitCode> RunApply(OutputFormat format) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForWriting());
  VARVE_ASSIGN_OR_RETURN(const GcRequest request, ChosenRequest(*catalog));
  const absl::StatusOr<GcPlan> plan = ApplyGc(catalog.get(), request);
  VARVE_RETURN_IF_ERROR(Explained(plan.status()));
  Stdout out;
  for (const std::string& remark : Remarks(*plan, /*applied=*/true)) {
    VARVE_RETURN_IF_ERROR(PrintRemark(remark, format, &out));
  }
  if (format != OutputFormat::kTable) {
    const auto writer = MakeResultWriter(format,
                                         {{"retained_from_before", TypeKind::kInt64},
                                          {"retained_from", TypeKind::kInt64},
                                          {"given_up", TypeKind::kInt64},
                                          {"held_back", TypeKind::kInt64},
                                          {"feed_from_csn", TypeKind::kInt64}},
                                         &out);
    const std::array<Datum, 5> values = {Datum::Int64(static_cast<int64_t>(plan->floor_before)),
                                         Datum::Int64(static_cast<int64_t>(plan->floor)),
                                         Datum::Int64(static_cast<int64_t>(plan->given_up.size())),
                                         Datum::Int64(static_cast<int64_t>(plan->held_back.size())),
                                         Datum::Int64(static_cast<int64_t>(plan->changes_from))};
    VARVE_RETURN_IF_ERROR(writer->Row(values));
    VARVE_RETURN_IF_ERROR(writer->Finish());
  }
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const bool apply, IsApply("gc", arguments[0]));
  return apply ? RunApply(format) : RunPlan(format);
}

}  // namespace

Command GcCommand() {
  return {
      .name = "gc",
      .arguments = "plan|apply",
      .summary = "give up old snapshots, so that 'excise' may remove what only they show",
      .details =
          "'plan' says what would stop being readable, what holds snapshots back, and how many "
          "rows\n"
          "would become reclaimable; 'apply' does it. Nothing is deleted, readers at work keep "
          "what\n"
          "they see, and pinned snapshots stay readable. There is no way back. Without a flag the\n"
          "lake's setting expire_older_than says how old snapshots may grow.",
      .flags = {kCatalogFlag,
                kSyncFlag,
                {"keep_last", "N", "keep the newest N snapshots"},
                {"older_than", "DURATION",
                 "give up snapshots older than 30d, 12h, 1d12h; the last one stays"},
                {"retain_from", "S", "keep snapshot S and those after it"},
                {"changes_retention", "N|DURATION",
                 "also cut the change feed: keep the last N commits, or 30d; default: all"},
                kFormatFlag},
      .min_arguments = 1,
      .max_arguments = 1,
      .run = Run};
}

}  // namespace varve
