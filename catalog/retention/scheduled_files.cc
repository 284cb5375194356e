#include "catalog/retention/scheduled_files.h"

#include <optional>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/retention/file_paths.h"
#include "catalog/store/version_cursor.h"

namespace varve {

absl::Status MayRemoveScheduled(const StoreState& state, const ViewRegistry& views, Csn scheduled,
                                absl::Time now) {
  for (const auto& [name, pin] : *state.pins) {
    if (!IsExpired(pin, now) && pin.csn < scheduled) {
      return absl::FailedPreconditionError(StrCat(
          pin.expires.has_value() ? "lease '" : "pin '", name, "' on snapshot ", pin.snapshot,
          " is older than the commit that scheduled the file, and its holder "
          "may still read it"));
    }
  }
  const std::optional<Csn> oldest = views.OldestCsn();
  if (oldest.has_value() && *oldest < scheduled) {
    return absl::FailedPreconditionError(
        "a reader of this process is older than the commit that scheduled the file, and may still "
        "read it");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ScheduledFile>> ScheduledFilesToRemove(
    const std::shared_ptr<const StoreState>& state, const ViewRegistry& views,
    absl::Time older_than, absl::Time now) {
  VARVE_ASSIGN_OR_RETURN(const TableDirectories directories, TableDirectories::Load(state));
  const RelationRef relation = state->directory->FindById(kFilesScheduledForDeletion);
  const RowDecoder decoder(
      relation,
      {*relation->columns.Find("data_file_id"), *relation->columns.Find("path"),
       *relation->columns.Find("path_is_relative"), *relation->columns.Find("schedule_start")});
  std::vector<ScheduledFile> files;
  DecodedHandle scratch;
  Datum values[4];
  VersionCursor cursor(*state, relation, VersionSet::kLive, "");
  VARVE_RETURN_IF_ERROR(cursor.Start());
  for (; cursor.valid();) {
    const StoredVersion& row = cursor.version();
    VARVE_RETURN_IF_ERROR(
        decoder.Decode(row.handle, row.begin, row.end, row.payload, &scratch, values));
    const bool complete = !values[1].is_null() && !values[3].is_null();
    if (complete && absl::FromUnixMicros(values[3].int64_value()) < older_than &&
        MayRemoveScheduled(*state, views, row.csn, now).ok()) {
      files.push_back({.id = values[0].int64_value(),
                       .path = directories.FromScheduled(
                           values[1].bytes(), values[2].is_null() || values[2].bool_value()),
                       .scheduled = absl::FromUnixMicros(values[3].int64_value()),
                       .csn = row.csn});
    }
    VARVE_RETURN_IF_ERROR(cursor.Next());
  }
  return files;
}

}  // namespace varve
