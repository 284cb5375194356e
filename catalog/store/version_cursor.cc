#include "catalog/store/version_cursor.h"

#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"

namespace varve {

VersionCursor::VersionCursor(const StoreState& state, RelationRef relation, VersionSet versions,
                             std::string_view handle_prefix)
    : relation_(std::move(relation)),
      lower_(LiveKey(relation_->id, handle_prefix)),
      upper_(PrefixSuccessor(lower_)),
      lower_slice_(lower_),
      upper_slice_(upper_) {
  rocksdb::ReadOptions options = state.read_options();
  options.iterate_lower_bound = &lower_slice_;
  options.iterate_upper_bound = &upper_slice_;
  rocksdb::DB& db = state.store->db();
  if (versions != VersionSet::kEnded) {
    live_.it.reset(db.NewIterator(options, state.store->family(Family::kLive)));
  }
  if (versions != VersionSet::kLive) {
    ended_.it.reset(db.NewIterator(options, state.store->family(Family::kEnded)));
  }
}

absl::Status VersionCursor::Load(Source* source, bool is_live) {
  source->valid = source->it->Valid();
  if (!source->valid) {
    return FromRocksDb(source->it->status(), StrCat("reading ", relation_->name));
  }
  ++versions_read_;
  const std::string_view key = ToView(source->it->key());
  const std::string_view value = ToView(source->it->value());
  const bool parsed =
      is_live ? ParseLive(key, value, &source->version) : ParseEnded(key, value, &source->version);
  return parsed ? absl::OkStatus() : MalformedPair(*relation_, key);
}

void VersionCursor::Choose() {
  if (!live_.valid || !ended_.valid) {
    source_ = live_.valid ? &live_ : (ended_.valid ? &ended_ : nullptr);
    return;
  }
  source_ = ended_.version.handle <= live_.version.handle ? &ended_ : &live_;
}

absl::Status VersionCursor::Start() {
  if (live_.it != nullptr) {
    live_.it->SeekToFirst();
    VARVE_RETURN_IF_ERROR(Load(&live_, /*is_live=*/true));
  }
  if (ended_.it != nullptr) {
    ended_.it->SeekToFirst();
    VARVE_RETURN_IF_ERROR(Load(&ended_, /*is_live=*/false));
  }
  Choose();
  return absl::OkStatus();
}

absl::Status VersionCursor::Next() {
  source_->it->Next();
  VARVE_RETURN_IF_ERROR(Load(source_, source_ == &live_));
  Choose();
  return absl::OkStatus();
}

absl::Status VersionCursor::SeekWithinHandle(SnapshotId at) {
  const std::string handle(source_->version.handle);
  const SnapshotId here = source_->version.begin;
  if (at > here) {
    ended_.it->SeekForPrev(EndedKey(relation_->id, handle, at));
    VARVE_RETURN_IF_ERROR(Load(&ended_, /*is_live=*/false));
    if (ended_.valid && ended_.version.handle == handle && ended_.version.begin > here) {
      Choose();
      return absl::OkStatus();
    }
  }
  // Begins stay below 2^63: a byte of 80 after the handle lies behind all of them, and before the
  // handle's ordinals.
  std::string behind = LiveKey(relation_->id, handle);
  behind.push_back(static_cast<char>(0x80));
  ended_.it->Seek(behind);
  VARVE_RETURN_IF_ERROR(Load(&ended_, /*is_live=*/false));
  Choose();
  return absl::OkStatus();
}

}  // namespace varve
