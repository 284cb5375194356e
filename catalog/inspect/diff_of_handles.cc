#include <rocksdb/iterator.h>

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/inspect/diff_paths.h"
#include "catalog/payload_codec.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"

namespace varve {
namespace {

std::vector<size_t> AllColumns(const RelationSchema& relation) {
  std::vector<size_t> columns(relation.columns.num_columns());
  std::iota(columns.begin(), columns.end(), size_t{0});
  return columns;
}

// Looks up versions by their whole handle, ordinal included.
class HandleReader {
 public:
  HandleReader(const StoreState& state, RelationRef relation)
      : state_(state),
        relation_(std::move(relation)),
        decoder_(relation_, AllColumns(*relation_)),
        values_(relation_->columns.num_columns()) {
    if (relation_->versioning == Versioning::kInterval) {
      ended_.reset(state_.store->db().NewIterator(state_.read_options(),
                                                  state_.store->family(Family::kEnded)));
    }
  }

  // Reads the live version of a handle, which Find looks at first.
  absl::Status Use(std::string_view handle) {
    handle_.assign(handle);
    key_ = LiveKey(relation_->id, handle_);
    live_value_.Reset();
    live_.reset();
    const rocksdb::Status status = state_.store->db().Get(
        state_.read_options(), state_.store->family(Family::kLive), ToSlice(key_), &live_value_);
    if (status.IsNotFound()) {
      return absl::OkStatus();
    }
    VARVE_RETURN_IF_ERROR(FromRocksDb(status, StrCat("reading ", relation_->name)));
    live_.emplace();
    return ParseLive(key_, ToView(live_value_), &*live_) ? absl::OkStatus()
                                                         : MalformedPair(*relation_, key_);
  }

  // The row of that handle at a snapshot; nullopt when there is none.
  absl::StatusOr<std::optional<Row>> Find(SnapshotId at) {
    if (live_.has_value() && IsVisible(live_->begin, live_->end, at)) {
      return Decode(*live_);
    }
    if (ended_ == nullptr) {
      return std::nullopt;
    }
    // Intervals of one handle do not overlap: none but the newest that begins by then can be it.
    ended_->SeekForPrev(EndedKey(relation_->id, handle_, at));
    if (!ended_->Valid()) {
      VARVE_RETURN_IF_ERROR(FromRocksDb(ended_->status(), StrCat("reading ", relation_->name)));
      return std::nullopt;
    }
    const std::string_view found = ToView(ended_->key());
    if (found.size() != key_.size() + kBeginSuffixSize || !found.starts_with(key_)) {
      return std::nullopt;
    }
    StoredVersion version;
    if (!ParseEnded(found, ToView(ended_->value()), &version)) {
      return MalformedPair(*relation_, found);
    }
    if (!IsVisible(version.begin, version.end, at)) {
      return std::nullopt;
    }
    return Decode(version);
  }

 private:
  absl::StatusOr<std::optional<Row>> Decode(const StoredVersion& version) {
    VARVE_RETURN_IF_ERROR(decoder_.Decode(version.handle, version.begin, version.end,
                                          version.payload, &scratch_, values_));
    return Row(std::span<const Datum>(values_));
  }

  const StoreState& state_;
  RelationRef relation_;
  RowDecoder decoder_;
  std::unique_ptr<rocksdb::Iterator> ended_;  // null: the relation has no ended versions
  std::string handle_;
  std::string key_;
  rocksdb::PinnableSlice live_value_;
  std::optional<StoredVersion> live_;
  DecodedHandle scratch_;
  std::vector<Datum> values_;
};

}  // namespace

absl::Status DiffOfHandles(const ReadView& from, const ReadView& to, const RelationRef& relation,
                           std::span<const std::string> handles, const RowDiffVisitor& visit) {
  HandleReader reader(*from.state(), relation);
  for (const std::string& handle : handles) {
    VARVE_RETURN_IF_ERROR(reader.Use(handle));
    RowDiff diff;
    VARVE_ASSIGN_OR_RETURN(diff.before, reader.Find(from.snapshot()));
    VARVE_ASSIGN_OR_RETURN(diff.after, reader.Find(to.snapshot()));
    if (!diff.before.has_value() && !diff.after.has_value()) {
      continue;
    }
    diff.kind = !diff.before.has_value()  ? DiffKind::kAdded
                : !diff.after.has_value() ? DiffKind::kRemoved
                                          : DiffKind::kChanged;
    if (diff.kind == DiffKind::kChanged) {
      diff.changed_columns = ChangedColumns(
          *relation, [&](size_t i) { return (*diff.before)[i]; },
          [&](size_t i) { return (*diff.after)[i]; });
      if (diff.changed_columns.empty()) {
        continue;
      }
    }
    VARVE_RETURN_IF_ERROR(visit(diff));
  }
  return absl::OkStatus();
}

}  // namespace varve
