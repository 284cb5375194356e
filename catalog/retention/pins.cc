#include "catalog/retention/pins.h"

#include <rocksdb/iterator.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/relation_directory.h"
#include "catalog/retention.pb.h"
#include "catalog/retention/audit.h"
#include "catalog/retention/retained.h"
#include "catalog/store/commit_queue.h"

namespace varve {
namespace {

constexpr std::string_view kPinKeyPrefix = "pin/";

std::string PinKey(std::string_view name) {
  return StrCat(kPinKeyPrefix, name);
}

std::string Serialize(const Pin& pin) {
  proto::StoredPin stored;
  stored.set_snapshot(pin.snapshot);
  stored.set_csn(pin.csn);
  stored.set_placed(absl::ToUnixMicros(pin.placed));
  if (pin.expires.has_value()) {
    stored.set_expires(absl::ToUnixMicros(*pin.expires));
  }
  stored.set_holder(pin.holder);
  stored.set_note(pin.note);
  return stored.SerializeAsString();
}

std::optional<Pin> Parse(std::string_view value) {
  proto::StoredPin stored;
  if (!stored.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return std::nullopt;
  }
  Pin pin{.snapshot = stored.snapshot(),
          .csn = stored.csn(),
          .placed = absl::FromUnixMicros(stored.placed()),
          .holder = stored.holder(),
          .note = stored.note()};
  if (stored.has_expires()) {
    pin.expires = absl::FromUnixMicros(stored.expires());
  }
  return pin;
}

bool HasControlCharacters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  });
}

absl::Status CheckRequest(const PinRequest& request) {
  if (request.name.empty()) {
    return absl::InvalidArgumentError("a pin needs a name; it is empty");
  }
  if (request.name.size() > kMaxPinName) {
    return absl::InvalidArgumentError(StrCat("the pin's name has ", request.name.size(),
                                             " bytes; at most ", kMaxPinName, " are allowed"));
  }
  if (!IsValidUtf8(request.name) || HasControlCharacters(request.name)) {
    return absl::InvalidArgumentError(
        "the pin's name is no valid UTF-8 text, or has control characters");
  }
  if (request.note.size() > kMaxPinNote) {
    return absl::InvalidArgumentError(StrCat("the pin's note has ", request.note.size(),
                                             " bytes; at most ", kMaxPinNote, " are allowed"));
  }
  if (!IsValidUtf8(request.note) || request.note.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError("the pin's note is no valid UTF-8 text, or has a NUL");
  }
  if (request.lease.has_value() &&
      (*request.lease <= absl::ZeroDuration() || *request.lease > kMaxLease)) {
    return absl::InvalidArgumentError(
        StrCat("a lease for ", absl::FormatDuration(*request.lease),
               " is none; it lasts longer than no time and at most ten years"));
  }
  return absl::OkStatus();
}

void SetPin(Commit* commit, const std::string& name, const std::optional<Pin>& pin) {
  auto pins = std::make_shared<PinSet>(commit->pins());
  if (pin.has_value()) {
    (*pins)[name] = *pin;
    commit->PutDefault(PinKey(name), Serialize(*pin));
  } else {
    pins->erase(name);
    commit->PutDefault(PinKey(name), std::nullopt);
  }
  commit->SetPins(std::move(pins));
}

std::string Describe(std::string_view name, const Pin& pin) {
  return StrCat(pin.expires.has_value() ? "lease '" : "pin '", name, "' on snapshot ",
                pin.snapshot);
}

// Renewing keeps the csn: the holder still reads what it read before.
absl::StatusOr<PlacedPin> Renew(Commit* commit, const PinRequest& request, Pin pin,
                                absl::Time now) {
  const bool same_snapshot = !request.snapshot.has_value() || *request.snapshot == pin.snapshot;
  if (!pin.expires.has_value() || !request.lease.has_value() || !same_snapshot) {
    return absl::AlreadyExistsError(StrCat(
        "there is a ", Describe(request.name, pin), " already; remove it first",
        pin.expires.has_value() ? StrCat(", or renew it by a lease on the same snapshot") : ""));
  }
  pin.expires = now + *request.lease;
  pin.note = request.note.empty() ? pin.note : request.note;
  SetPin(commit, request.name, pin);
  return PlacedPin{.pin = std::move(pin), .renewed = true};
}

absl::StatusOr<PlacedPin> Place(Commit* commit, const PinRequest& request, absl::Time now) {
  DropExpiredLeases(commit, now);
  if (const auto it = commit->pins().find(request.name); it != commit->pins().end()) {
    return Renew(commit, request, it->second, now);
  }
  // Only what the state itself retains: what readers hold may be let go at any moment.
  const SnapshotId snapshot = request.snapshot.value_or(commit->last_snapshot());
  VARVE_RETURN_IF_ERROR(CheckReadable(commit->base(), snapshot, now));
  Pin pin{.snapshot = snapshot,
          .csn = commit->base().csn,
          .placed = now,
          .holder = ThisActor(),
          .note = request.note};
  if (request.lease.has_value()) {
    pin.expires = now + *request.lease;
  }
  SetPin(commit, request.name, pin);
  VARVE_RETURN_IF_ERROR(AppendAudit(
      commit, {.time = now,
               .actor = pin.holder,
               .action = pin.expires.has_value() ? "lease" : "pin",
               .object = request.name,
               .first_snapshot = snapshot,
               .last_snapshot = snapshot,
               .detail = pin.expires.has_value()
                             ? StrCat("until ",
                                      ToText(TypeKind::kTimestampTz,
                                             Datum::Int64(absl::ToUnixMicros(*pin.expires))),
                                      request.note.empty() ? "" : ": ", request.note)
                             : request.note}));
  return PlacedPin{.pin = std::move(pin)};
}

absl::Status NoSuchPin(const PinSet& pins, std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& [other, pin] : pins) {
    names.push_back(other);
  }
  return absl::NotFoundError(
      StrCat("there is no pin or lease '", name, "'", DidYouMean(name, names)));
}

}  // namespace

absl::StatusOr<PlacedPin> PlacePin(Catalog* catalog, const PinRequest& request, absl::Time now) {
  VARVE_RETURN_IF_ERROR(CheckRequest(request));
  PlacedPin placed;
  VARVE_RETURN_IF_ERROR(catalog->Commit({.prepare = [&](Commit& commit) -> absl::Status {
                                           VARVE_ASSIGN_OR_RETURN(placed,
                                                                  Place(&commit, request, now));
                                           return absl::OkStatus();
                                         },
                                         .reads_widely = true}));
  return placed;
}

absl::StatusOr<Pin> RemovePin(Catalog* catalog, std::string_view name, absl::Time now) {
  Pin removed;
  VARVE_RETURN_IF_ERROR(catalog->Commit({.prepare = [&](Commit& commit) -> absl::Status {
    const auto it = commit.pins().find(name);
    if (it == commit.pins().end()) {
      return NoSuchPin(commit.pins(), name);
    }
    removed = it->second;
    SetPin(&commit, std::string(name), std::nullopt);
    DropExpiredLeases(&commit, now);
    return AppendAudit(&commit, {.time = now,
                                 .actor = ThisActor(),
                                 .action = "unpin",
                                 .object = std::string(name),
                                 .first_snapshot = removed.snapshot,
                                 .last_snapshot = removed.snapshot,
                                 .detail = StrCat("placed by ", removed.holder)});
  }}));
  return removed;
}

size_t DropExpiredLeases(Commit* commit, absl::Time now) {
  std::vector<std::string> expired;
  for (const auto& [name, pin] : commit->pins()) {
    if (IsExpired(pin, now)) {
      expired.push_back(name);
    }
  }
  for (const std::string& name : expired) {
    SetPin(commit, name, std::nullopt);
  }
  return expired.size();
}

bool HasExpiredLeases(const PinSet& pins, absl::Time now) {
  return std::any_of(pins.begin(), pins.end(),
                     [&](const auto& named) { return IsExpired(named.second, now); });
}

absl::StatusOr<PinSet> LoadPins(const RowStore& store, const rocksdb::Snapshot* snapshot) {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  PinSet pins;
  const std::unique_ptr<rocksdb::Iterator> it(
      store.db().NewIterator(options, store.family(Family::kDefault)));
  for (it->Seek(ToSlice(kPinKeyPrefix));
       it->Valid() && ToView(it->key()).starts_with(kPinKeyPrefix); it->Next()) {
    const std::string_view name = ToView(it->key()).substr(kPinKeyPrefix.size());
    std::optional<Pin> pin = Parse(ToView(it->value()));
    if (!pin.has_value()) {
      return absl::DataLossError(
          StrCat("catalog ", store.path(), ": the pin '", name, "' cannot be read"));
    }
    pins.emplace(name, *std::move(pin));
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(it->status(), "reading the pins"));
  return pins;
}

}  // namespace varve
