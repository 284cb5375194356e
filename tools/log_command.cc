// varve log: the snapshots, newest first.

#include <gflags/gflags_declare.h>

#include <array>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/inspect/row_reader.h"
#include "tools/commands.h"
#include "tools/flags.h"

namespace varve {
namespace {

struct SnapshotRow {
  int64_t id = 0;
  Datum time;
};

absl::StatusOr<ExitCode> Run(const std::vector<std::string>& /*arguments*/) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  const ReadView view = catalog->Current();
  VARVE_ASSIGN_OR_RETURN(RowReader snapshots,
                         RowReader::Open(view, view.relations().FindById(kSnapshot),
                                         {"snapshot_id", "snapshot_time"}));
  std::vector<SnapshotRow> rows;
  for (;;) {
    VARVE_ASSIGN_OR_RETURN(const bool more, snapshots.Next());
    if (!more) {
      break;
    }
    rows.push_back({.id = snapshots.Int(0),
                    .time = snapshots.IsNull(1) ? Datum() : Datum::Int64(snapshots.Int(1))});
  }

  const RelationRef changes = view.relations().FindById(kSnapshotChanges);
  const size_t author = changes->columns.Find("author").value();
  const size_t message = changes->columns.Find("commit_message").value();
  const size_t made = changes->columns.Find("changes_made").value();
  PointReader reader(view);
  VersionedRow row;
  Stdout out;
  const auto writer = MakeResultWriter(format,
                                       {{"id", TypeKind::kInt64},
                                        {"time", TypeKind::kTimestampTz},
                                        {"author"},
                                        {"message"},
                                        {"changes"}},
                                       &out);
  uint64_t left = ChosenLimit().value_or(rows.size());
  for (auto it = rows.rbegin(); it != rows.rend() && left > 0; ++it, --left) {
    const Datum id = Datum::Int64(it->id);
    VARVE_ASSIGN_OR_RETURN(const bool found, reader.Get(*changes, {&id, 1}, &row));
    const std::array<Datum, 5> values = {id, it->time, found ? row.values[author] : Datum(),
                                         found ? row.values[message] : Datum(),
                                         found ? row.values[made] : Datum()};
    VARVE_RETURN_IF_ERROR(writer->Row(values));
  }
  VARVE_RETURN_IF_ERROR(writer->Finish());
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command LogCommand() {
  return {.name = "log",
          .summary = "list the snapshots, newest first",
          .details = "Shows of each snapshot its id, time, author, message and changes.",
          .flags = {kCatalogFlag, kFormatFlag, {"limit", "N", "the newest N only"}, kReadOnlyFlag},
          .run = Run};
}

}  // namespace varve
