#include "catalog/store/version_group.h"

#include <algorithm>

#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/store/version_cursor.h"

namespace varve {

void GroupVersion::SetPayload(std::string other) {
  std::swap(payload, other);
  if (stored && !stored_payload.has_value()) {
    stored_payload = std::move(other);
  }
}

std::string DescribeInterval(SnapshotId begin, SnapshotId end) {
  return end == kNoEnd ? StrCat("[", begin, ", …)") : StrCat("[", begin, ", ", end, ")");
}

absl::Status CheckRowShape(const RelationSchema& relation, std::span<const Datum> row) {
  if (row.size() != relation.columns.num_columns()) {
    return absl::InvalidArgumentError(StrCat(relation.name, " has ", relation.columns.num_columns(),
                                             " columns, the row has ", row.size()));
  }
  for (size_t i = 0; i < row.size(); ++i) {
    const ColumnSchema& column = relation.columns.column(i);
    if (row[i].is_null()) {
      if (!column.nullable) {
        return absl::InvalidArgumentError(
            StrCat(relation.name, ": column ", column.name, " is NULL; it must have a value"));
      }
    } else if (row[i].physical() != column.type.physical()) {
      return absl::InvalidArgumentError(StrCat(relation.name, ": the value of column ", column.name,
                                               " is no ", column.SqlType()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SnapshotInterval> IntervalOfRow(const RelationSchema& relation,
                                               std::span<const Datum> row) {
  SnapshotInterval interval;
  if (!relation.begin_column.has_value()) {
    return interval;
  }
  const Datum& begin = row[*relation.begin_column];
  const std::string& begin_name = relation.columns.column(*relation.begin_column).name;
  if (begin.is_null()) {
    return absl::InvalidArgumentError(
        StrCat("column ", begin_name, " is NULL; every version begins at a snapshot"));
  }
  if (begin.int64_value() < 0) {
    return absl::InvalidArgumentError(StrCat("column ", begin_name, " is ", begin.int64_value(),
                                             "; snapshot ids are not negative"));
  }
  interval.begin = static_cast<SnapshotId>(begin.int64_value());
  if (!relation.end_column.has_value() || row[*relation.end_column].is_null()) {
    return interval;
  }
  const int64_t end = row[*relation.end_column].int64_value();
  if (end <= begin.int64_value()) {
    return absl::InvalidArgumentError(StrCat(
        "column ", relation.columns.column(*relation.end_column).name, " is ", end,
        ", not after the begin ", interval.begin, "; a version lives for at least one snapshot"));
  }
  interval.end = static_cast<SnapshotId>(end);
  return interval;
}

std::string VersionGroup::HandleOf(const GroupVersion& version) const {
  std::string handle = handle_;
  AppendOrdinal(version.ordinal, &handle);
  return handle;
}

absl::Status VersionGroup::Error(absl::StatusCode code, std::string_view message) const {
  return absl::Status(
      code, StrCat(relation_->name, " ", HandleToText(*relation_, handle_), ": ", message));
}

absl::Status VersionGroup::Take(const StoredVersion& stored) {
  DecodedHandle decoded;
  VARVE_RETURN_IF_ERROR(DecodeHandle(*relation_, stored.handle, &decoded));
  versions_.push_back({.ordinal = decoded.ordinal,
                       .begin = stored.begin,
                       .end = stored.end,
                       .csn = stored.csn,
                       .payload = std::string(stored.payload),
                       .stored = true,
                       .stored_end = stored.end});
  return absl::OkStatus();
}

absl::Status VersionGroup::LoadLive(const StoreState& state) {
  // A point look-up where the first row is all that is asked for: at most one version lies under
  // the handle, or it is the one that is overwritten.
  const bool first_only = relation_->versioning == Versioning::kUnversioned && !relation_->repeats;
  if (!relation_->may_repeat() || first_only) {
    rocksdb::PinnableSlice value;
    const std::string key = LiveKey(relation_->id, handle_);
    const rocksdb::Status status = state.store->db().Get(
        state.read_options(), state.store->family(Family::kLive), ToSlice(key), &value);
    if (status.ok()) {
      StoredVersion version;
      return ParseLive(key, ToView(value), &version) ? Take(version)
                                                     : MalformedPair(*relation_, key);
    }
    if (!status.IsNotFound()) {
      return FromRocksDb(status, StrCat("reading ", relation_->name));
    }
    if (!relation_->may_repeat()) {
      return absl::OkStatus();
    }
    // An import may have left equal keys, and the first of them may be gone.
  }
  VersionCursor cursor(state, relation_, VersionSet::kLive, handle_);
  VARVE_RETURN_IF_ERROR(cursor.Start());
  while (cursor.valid()) {
    VARVE_RETURN_IF_ERROR(Take(cursor.version()));
    VARVE_RETURN_IF_ERROR(cursor.Next());
  }
  return absl::OkStatus();
}

// Intervals of one handle with one ordinal do not overlap, so their ends rise with their begins:
// from the newest backwards until one does not end after `from`.
absl::Status VersionGroup::LoadEnded(const StoreState& state, SnapshotId from) {
  const std::string lower = LiveKey(relation_->id, handle_);
  const std::string upper = PrefixSuccessor(lower);
  const rocksdb::Slice lower_slice(lower);
  const rocksdb::Slice upper_slice(upper);
  rocksdb::ReadOptions options = state.read_options();
  options.iterate_lower_bound = &lower_slice;
  options.iterate_upper_bound = &upper_slice;
  const std::unique_ptr<rocksdb::Iterator> it(
      state.store->db().NewIterator(options, state.store->family(Family::kEnded)));
  it->SeekToLast();
  while (it->Valid()) {
    StoredVersion version;
    if (!ParseEnded(ToView(it->key()), ToView(it->value()), &version)) {
      return MalformedPair(*relation_, ToView(it->key()));
    }
    if (version.end <= from) {
      // On to the handle's next lower ordinal.
      it->SeekForPrev(EndedKey(relation_->id, version.handle, 0));
      if (it->Valid() && it->key() == rocksdb::Slice(EndedKey(relation_->id, version.handle, 0))) {
        it->Prev();
      }
      continue;
    }
    if (version.end <= ended_loaded_from_) {
      VARVE_RETURN_IF_ERROR(Take(version));
    }
    it->Prev();
  }
  return FromRocksDb(it->status(), StrCat("reading ", relation_->name));
}

absl::Status VersionGroup::Load(const StoreState& state, SnapshotId from) {
  if (!live_loaded_) {
    live_loaded_ = true;
    VARVE_RETURN_IF_ERROR(LoadLive(state));
  }
  if (relation_->versioning != Versioning::kInterval) {
    return absl::OkStatus();
  }
  if (relation_->declared_key || relation_->unique_column.has_value()) {
    from = 0;
  }
  if (from < ended_loaded_from_) {
    VARVE_RETURN_IF_ERROR(LoadEnded(state, from));
    ended_loaded_from_ = from;
  }
  // What the store has comes in key order, then what is new in the order it came.
  std::stable_sort(versions_.begin(), versions_.end(),
                   [](const GroupVersion& a, const GroupVersion& b) {
                     if (a.stored != b.stored || !a.stored) {
                       return a.stored && !b.stored;
                     }
                     return std::pair(a.ordinal, a.begin) < std::pair(b.ordinal, b.begin);
                   });
  return absl::OkStatus();
}

GroupVersion* VersionGroup::Find(uint32_t ordinal, SnapshotId begin) {
  for (GroupVersion& version : versions_) {
    if (version.stored && version.ordinal == ordinal && version.begin == begin) {
      return &version;
    }
  }
  return nullptr;
}

void VersionGroup::TakeAsStored(Csn csn) {
  std::erase_if(versions_, [](const GroupVersion& version) { return version.erased; });
  for (GroupVersion& version : versions_) {
    version.csn = version.changed ? csn : version.csn;
    version.stored = true;
    version.stored_end = version.end;
    version.stored_payload.reset();
    version.changed = false;
  }
}

void VersionGroup::Insert(SnapshotInterval interval, std::string payload) {
  versions_.push_back({.begin = interval.begin,
                       .end = interval.end,
                       .payload = std::move(payload),
                       .changed = true});
}

void VersionGroup::Put(std::string payload) {
  for (GroupVersion& version : versions_) {
    if (!version.erased) {
      // An overwrite that changes nothing writes nothing.
      if (version.payload != payload) {
        version.changed = true;
        version.SetPayload(std::move(payload));
      }
      return;
    }
  }
  Insert(SnapshotInterval{}, std::move(payload));
}

absl::Status VersionGroup::End(SnapshotId end) {
  GroupVersion* oldest = nullptr;
  for (GroupVersion& version : versions_) {
    if (!version.erased && version.end == kNoEnd &&
        (oldest == nullptr || version.begin < oldest->begin)) {
      oldest = &version;
    }
  }
  if (oldest == nullptr) {
    return Error(absl::StatusCode::kNotFound, "there is no live version to end");
  }
  if (relation_->versioning != Versioning::kInterval) {
    return Error(absl::StatusCode::kInvalidArgument, "rows of this relation have no end");
  }
  if (end <= oldest->begin) {
    return Error(absl::StatusCode::kInvalidArgument,
                 StrCat("the end ", end, " is not after the begin ", oldest->begin,
                        "; erase a version that was never visible"));
  }
  oldest->end = end;
  oldest->changed = true;
  return absl::OkStatus();
}

absl::Status VersionGroup::Erase(SnapshotId begin) {
  for (GroupVersion& version : versions_) {
    if (!version.erased && version.begin == begin) {
      version.erased = true;
      return absl::OkStatus();
    }
  }
  return Error(absl::StatusCode::kNotFound,
               StrCat("there is no version that begins at ", begin, " to erase"));
}

bool VersionGroup::Clashes(size_t index, uint32_t ordinal) const {
  const GroupVersion& mine = versions_[index];
  for (size_t i = 0; i < versions_.size(); ++i) {
    const GroupVersion& other = versions_[i];
    const bool placed = other.stored || i < index;
    if (i != index && placed && !other.erased && other.ordinal == ordinal &&
        IntervalsOverlap(mine.begin, mine.end, other.begin, other.end)) {
      return true;
    }
  }
  return false;
}

absl::Status VersionGroup::PlaceVersion(size_t index) {
  GroupVersion& version = versions_[index];
  version.ordinal = 0;
  if (!Clashes(index, 0)) {
    return absl::OkStatus();
  }
  if (!relation_->repeats) {
    return Error(absl::StatusCode::kAlreadyExists,
                 StrCat("version ", DescribeInterval(version.begin, version.end),
                        " overlaps one that is there; end or erase that one first"));
  }
  while (Clashes(index, version.ordinal)) {
    if (++version.ordinal > kMaxOrdinal) {
      return Error(absl::StatusCode::kResourceExhausted, "too many rows with equal keys");
    }
  }
  return absl::OkStatus();
}

absl::Status VersionGroup::Settle(SnapshotId last_snapshot) {
  const auto remaining = std::count_if(versions_.begin(), versions_.end(),
                                       [](const GroupVersion& version) { return !version.erased; });
  if (relation_->declared_key && remaining > 1) {
    return Error(absl::StatusCode::kAlreadyExists, "duplicate key: the primary key exists already");
  }
  for (size_t i = 0; i < versions_.size(); ++i) {
    GroupVersion& version = versions_[i];
    if (version.erased) {
      continue;
    }
    if (!version.stored) {
      VARVE_RETURN_IF_ERROR(PlaceVersion(i));
    }
    if (version.changed && ReachesBeyond(version.begin, version.end, last_snapshot)) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   StrCat("version ", DescribeInterval(version.begin, version.end),
                          " reaches beyond the last snapshot ", last_snapshot,
                          "; add the snapshot in the same commit"));
    }
  }
  return absl::OkStatus();
}

bool VersionGroup::IsEmpty() const {
  return std::all_of(versions_.begin(), versions_.end(),
                     [](const GroupVersion& version) { return version.erased; });
}

bool VersionGroup::WasEmpty() const {
  return std::none_of(versions_.begin(), versions_.end(),
                      [](const GroupVersion& version) { return version.stored; });
}

bool VersionGroup::HadVersion(SnapshotId begin) const {
  return std::any_of(versions_.begin(), versions_.end(), [&](const GroupVersion& version) {
    return version.stored && version.begin == begin;
  });
}

}  // namespace varve
