// varve pin, unpin and pins: what holds snapshots back from retention.

#include <gflags/gflags.h>

#include <array>
#include <cstdio>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/retention/pins.h"
#include "tools/commands.h"
#include "tools/display_width.h"
#include "tools/duration.h"
#include "tools/flags.h"

DEFINE_string(for, "", "how long a lease holds");
DEFINE_string(note, "", "why the pin is there");

namespace varve {
namespace {

Datum TimeOf(absl::Time time) {
  return Datum::Int64(absl::ToUnixMicros(time));
}

std::string TimeText(absl::Time time) {
  return ToText(TypeKind::kTimestampTz, TimeOf(time));
}

// The snapshot --at or --at-time names.
absl::StatusOr<std::optional<SnapshotId>> ChosenSnapshot(const Catalog& catalog) {
  if (FLAGS_at.empty() && FLAGS_at_time.empty()) {
    return std::nullopt;
  }
  VARVE_ASSIGN_OR_RETURN(const ReadView view, ChosenView(catalog));
  return view.snapshot();
}

absl::StatusOr<ExitCode> RunPin(const std::vector<std::string>& arguments) {
  PinRequest request{.name = arguments[0], .note = FLAGS_note};
  if (!FLAGS_for.empty()) {
    VARVE_ASSIGN_OR_RETURN(request.lease, ParseDurationFlag("for", FLAGS_for));
  }
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForWriting());
  VARVE_ASSIGN_OR_RETURN(request.snapshot, ChosenSnapshot(*catalog));
  const absl::StatusOr<PlacedPin> placed = PlacePin(catalog.get(), request);
  if (absl::IsInvalidArgument(placed.status())) {
    return AsUsageError(placed.status());
  }
  VARVE_RETURN_IF_ERROR(placed.status());
  const Pin& pin = placed->pin;
  const std::string name = OneLine(request.name);
  if (pin.expires.has_value()) {
    std::fprintf(stderr, "%s lease '%s' on snapshot %llu until %s\n",
                 placed->renewed ? "renewed" : "placed", name.c_str(),
                 static_cast<unsigned long long>(pin.snapshot), TimeText(*pin.expires).c_str());
  } else {
    std::fprintf(stderr, "placed pin '%s' on snapshot %llu\n", name.c_str(),
                 static_cast<unsigned long long>(pin.snapshot));
  }
  return kExitOk;
}

absl::StatusOr<ExitCode> RunUnpin(const std::vector<std::string>& arguments) {
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForWriting());
  VARVE_ASSIGN_OR_RETURN(const Pin pin, RemovePin(catalog.get(), arguments[0]));
  std::fprintf(stderr, "removed %s '%s' from snapshot %llu\n",
               pin.expires.has_value() ? "lease" : "pin", OneLine(arguments[0]).c_str(),
               static_cast<unsigned long long>(pin.snapshot));
  return kExitOk;
}

absl::StatusOr<ExitCode> RunPins(const std::vector<std::string>& /*arguments*/) {
  VARVE_ASSIGN_OR_RETURN(const OutputFormat format, ChosenFormat());
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<Catalog> catalog, OpenCatalogForReading());
  const absl::Time now = absl::Now();
  Stdout out;
  const auto writer = MakeResultWriter(format,
                                       {{"name"},
                                        {"kind"},
                                        {"snapshot", TypeKind::kInt64},
                                        {"placed", TypeKind::kTimestampTz},
                                        {"expires", TypeKind::kTimestampTz},
                                        {"holder"},
                                        {"note"}},
                                       &out);
  for (const auto& [name, pin] : *catalog->LatestState()->pins) {
    const std::string_view kind = !pin.expires.has_value() ? "pin"
                                  : IsExpired(pin, now)    ? "expired"
                                                           : "lease";
    const std::array<Datum, 7> values = {Datum::Bytes(name),
                                         Datum::Bytes(kind),
                                         Datum::Int64(static_cast<int64_t>(pin.snapshot)),
                                         TimeOf(pin.placed),
                                         pin.expires.has_value() ? TimeOf(*pin.expires) : Datum(),
                                         Datum::Bytes(pin.holder),
                                         pin.note.empty() ? Datum() : Datum::Bytes(pin.note)};
    VARVE_RETURN_IF_ERROR(writer->Row(values));
  }
  VARVE_RETURN_IF_ERROR(writer->Finish());
  VARVE_RETURN_IF_ERROR(out.Flush());
  return kExitOk;
}

}  // namespace

Command PinCommand() {
  return {.name = "pin",
          .arguments = "NAME",
          .summary = "hold a snapshot back from retention, for good or for a time",
          .details =
              "Without --at and --at-time the latest snapshot is pinned. A pin holds until 'varve\n"
              "unpin'; with --for it is a lease, which ends by itself. Placing a lease again "
              "renews it:\n"
              "it holds the same snapshot, from now for that long.",
          .flags = {kCatalogFlag,
                    kSyncFlag,
                    kAtFlag,
                    kAtTimeFlag,
                    {"for", "DURATION", "a lease for this long: 2h, 30m, 1d12h"},
                    {"note", "TEXT", "why, for who lists the pins"}},
          .min_arguments = 1,
          .max_arguments = 1,
          .run = RunPin};
}

Command UnpinCommand() {
  return {.name = "unpin",
          .arguments = "NAME",
          .summary = "remove a pin or lease",
          .flags = {kCatalogFlag, kSyncFlag},
          .min_arguments = 1,
          .max_arguments = 1,
          .run = RunUnpin};
}

Command PinsCommand() {
  return {.name = "pins",
          .summary = "list the pins and leases",
          .details =
              "An expired lease holds nothing; the next 'pin', 'unpin', 'gc apply' or 'excise "
              "apply'\nremoves it.",
          .flags = {kCatalogFlag, kReadOnlyFlag, kFormatFlag},
          .run = RunPins};
}

}  // namespace varve
