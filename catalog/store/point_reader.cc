#include <rocksdb/iterator.h>

#include <vector>

#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/payload_codec.h"
#include "catalog/read_view.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/store/version_cursor.h"

namespace varve {

// What the reader keeps between calls.
struct PointReader::State {
  explicit State(const ReadView& v) : view(v) {}

  ReadView view;
  rocksdb::ReadOptions options;
  // The relation of the last call, its decoder for all columns, and the parent of child relations.
  RelationId relation_id = 0;
  RelationRef relation;
  RelationRef parent;
  std::unique_ptr<RowDecoder> decoder;
  std::unique_ptr<rocksdb::Iterator> ended;

  std::string key;
  rocksdb::PinnableSlice live_value;
  std::string held_key;  // copies that a row found outside `live` borrows from
  std::string held_value;
  DecodedHandle scratch;
  std::vector<Datum> values;

  absl::Status Use(const RelationSchema& wanted);
  // Finds the version visible at the view's snapshot.
  absl::StatusOr<bool> Find(std::span<const Datum> key_values, StoredVersion* version);
  absl::StatusOr<bool> FindEnded(std::string_view handle, StoredVersion* version);
  absl::StatusOr<bool> FindRepeated(std::string_view handle, StoredVersion* version);
  absl::StatusOr<bool> ParentIsVisible(std::span<const Datum> key_values) const;
  void Hold(const StoredVersion& from, StoredVersion* version);
};

PointReader::PointReader(const ReadView& view) : state_(std::make_unique<State>(view)) {
  state_->options = view.state()->read_options();
}
PointReader::~PointReader() = default;
PointReader::PointReader(PointReader&&) noexcept = default;

absl::Status PointReader::State::Use(const RelationSchema& wanted) {
  if (relation != nullptr && relation_id == wanted.id) {
    return absl::OkStatus();
  }
  relation = view.relations().FindById(wanted.id);
  if (relation == nullptr) {
    return absl::NotFoundError(StrCat("there is no relation ", wanted.name));
  }
  relation_id = wanted.id;
  parent = relation->versioning == Versioning::kViaParent
               ? view.relations().FindById(relation->parent)
               : nullptr;
  std::vector<size_t> columns(relation->columns.num_columns());
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i] = i;
  }
  decoder = std::make_unique<RowDecoder>(relation, std::move(columns));
  values.assign(relation->columns.num_columns(), Datum::Null());
  return absl::OkStatus();
}

void PointReader::State::Hold(const StoredVersion& from, StoredVersion* version) {
  held_key.assign(from.handle);
  held_value.assign(from.payload);
  *version = from;
  version->handle = held_key;
  version->payload = held_value;
}

absl::StatusOr<bool> PointReader::State::Find(std::span<const Datum> key_values,
                                              StoredVersion* version) {
  key.clear();
  AppendRelationPrefix(relation->id, &key);
  VARVE_RETURN_IF_ERROR(AppendHandle(*relation, key_values, &key));
  live_value.Reset();
  const RowStore& store = *view.state()->store;
  const rocksdb::Status status =
      store.db().Get(options, store.family(Family::kLive), ToSlice(key), &live_value);
  const std::string_view handle = std::string_view(key).substr(kRelationPrefixSize);
  if (status.ok()) {
    if (!ParseLive(key, ToView(live_value), version)) {
      return MalformedPair(*relation, key);
    }
    const bool timeless = relation->versioning == Versioning::kUnversioned ||
                          relation->versioning == Versioning::kViaParent;
    if (timeless || IsVisible(version->begin, version->end, view.snapshot())) {
      return true;
    }
  } else if (!status.IsNotFound()) {
    return FromRocksDb(status, StrCat("reading ", relation->name));
  }
  if (relation->versioning == Versioning::kInterval && !view.is_current()) {
    VARVE_ASSIGN_OR_RETURN(const bool found, FindEnded(handle, version));
    if (found) {
      return true;
    }
  }
  return relation->may_repeat() ? FindRepeated(handle, version) : false;
}

absl::StatusOr<bool> PointReader::State::FindEnded(std::string_view handle,
                                                   StoredVersion* version) {
  const RowStore& store = *view.state()->store;
  if (ended == nullptr) {
    ended.reset(store.db().NewIterator(options, store.family(Family::kEnded)));
  }
  // The newest ended version that begins at or before the snapshot: intervals do not overlap, so no
  // other can be visible.
  ended->SeekForPrev(EndedKey(relation->id, handle, view.snapshot()));
  if (!ended->Valid()) {
    VARVE_RETURN_IF_ERROR(FromRocksDb(ended->status(), StrCat("reading ", relation->name)));
    return false;
  }
  const std::string_view found_key = ToView(ended->key());
  if (found_key.size() != kRelationPrefixSize + handle.size() + kBeginSuffixSize ||
      found_key.substr(0, kRelationPrefixSize + handle.size()) != key) {
    return false;
  }
  StoredVersion found;
  if (!ParseEnded(found_key, ToView(ended->value()), &found)) {
    return MalformedPair(*relation, found_key);
  }
  if (!IsVisible(found.begin, found.end, view.snapshot())) {
    return false;
  }
  Hold(found, version);
  return true;
}

// Equal keys, kept apart by ordinals: the first visible one. Such rows are odd, and this is only
// reached when the ordinary row is not there.
absl::StatusOr<bool> PointReader::State::FindRepeated(std::string_view handle,
                                                      StoredVersion* version) {
  std::string prefix(handle);
  prefix.push_back(static_cast<char>(kOrdinalMark >> 24));
  VersionCursor cursor(*view.state(), relation, VersionSet::kBoth, prefix);
  VARVE_RETURN_IF_ERROR(cursor.Start());
  while (cursor.valid()) {
    if (IsVisible(cursor.version().begin, cursor.version().end, view.snapshot())) {
      Hold(cursor.version(), version);
      return true;
    }
    VARVE_RETURN_IF_ERROR(cursor.Next());
  }
  return false;
}

absl::StatusOr<bool> PointReader::State::ParentIsVisible(std::span<const Datum> key_values) const {
  std::vector<Datum> parent_key;
  for (const size_t column : relation->parent_handle) {
    for (size_t i = 0; i < relation->handle.size(); ++i) {
      if (relation->handle[i] == column) {
        parent_key.push_back(key_values[i]);
      }
    }
  }
  if (parent->handle_kind == HandleKind::kInt && parent_key[0].is_null()) {
    return false;
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, view.Get(*parent, parent_key));
  return row.has_value();
}

absl::StatusOr<bool> PointReader::Get(const RelationSchema& relation, std::span<const Datum> key,
                                      VersionedRow* row) {
  VARVE_RETURN_IF_ERROR(state_->Use(relation));
  StoredVersion version;
  VARVE_ASSIGN_OR_RETURN(bool found, state_->Find(key, &version));
  if (found && state_->parent != nullptr) {
    VARVE_ASSIGN_OR_RETURN(found, state_->ParentIsVisible(key));
  }
  if (!found) {
    return false;
  }
  VARVE_RETURN_IF_ERROR(state_->decoder->Decode(version.handle, version.begin, version.end,
                                                version.payload, &state_->scratch, state_->values));
  if (row->values.size() != state_->values.size()) {
    row->values = Row(state_->values.size());
  }
  for (size_t i = 0; i < state_->values.size(); ++i) {
    row->values.SetBorrowed(i, state_->values[i]);
  }
  row->begin = version.begin;
  row->end = version.end;
  row->csn = version.csn;
  return true;
}

}  // namespace varve
