#include "catalog/load/load_merger.h"

#include <algorithm>
#include <tuple>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/store/store_format.h"
#include "catalog/store/version_group.h"

namespace varve {
namespace {

constexpr size_t kSuffixSize = 2 * sizeof(uint64_t);

bool ReadHead(std::string_view* value, LoadHead* head) {
  uint64_t end_plus_one = 0;
  uint64_t origin = 0;
  if (!GetVarint64(value, &end_plus_one) || !GetVarint64(value, &origin) ||
      !GetVarint64(value, &head->line)) {
    return false;
  }
  head->end = end_plus_one == 0 ? kNoEnd : end_plus_one - 1;
  head->origin = static_cast<uint32_t>(origin);
  return true;
}

}  // namespace

void AppendLoadSuffix(SnapshotId begin, uint64_t arrival, std::string* key) {
  PutBigEndian(key, begin);
  PutBigEndian(key, arrival);
}

void AppendLoadHead(const LoadHead& head, std::string* value) {
  PutVarint64(value, head.end == kNoEnd ? 0 : head.end + 1);
  PutVarint64(value, head.origin);
  PutVarint64(value, head.line);
}

std::string LoadMerger::Where(const LoadHead& head) const {
  std::string where = (*options_.origins)[head.origin];
  if (head.line != 0) {
    StrAppend(&where, " line ", head.line);
  }
  return where;
}

absl::Status LoadMerger::Error(const LoadHead& head, std::string_view message) const {
  const std::string_view handle = std::string_view(group_).substr(kRelationPrefixSize);
  return absl::InvalidArgumentError(StrCat(Where(head), ": ", relation_->name, " ",
                                           HandleToText(*relation_, handle), ": ", message));
}

absl::Status LoadMerger::Add(std::string_view key, std::string_view value) {
  LoadHead head;
  if (key.size() < kRelationPrefixSize + kSuffixSize || !ReadHead(&value, &head)) {
    return absl::DataLossError("a sorted row is malformed");
  }
  const std::string_view group = key.substr(0, key.size() - kSuffixSize);
  if (group != group_) {
    VARVE_RETURN_IF_ERROR(EndGroup());
    group_.assign(group);
    const auto id = LoadBigEndian<uint32_t>(group_.data());
    if (relation_ == nullptr || relation_->id != (id & ~kIndexRelation)) {
      relation_ = options_.relation_of(id & ~kIndexRelation);
    }
  }
  if ((LoadBigEndian<uint32_t>(group_.data()) & kIndexRelation) != 0) {
    return AddIndexEntry(head, value);
  }
  return AddVersion(LoadBigEndian<uint64_t>(key.data() + group.size()), head, value);
}

absl::Status LoadMerger::AddIndexEntry(const LoadHead& head, std::string_view handle) {
  if (!lanes_.empty()) {
    return absl::InvalidArgumentError(
        StrCat(Where(head), ": ", relation_->name, " ", HandleToText(*relation_, handle),
               ": duplicate key: ", relation_->columns.column(*relation_->unique_column).name,
               " is that of ", Where(lanes_[0].head), " already"));
  }
  lanes_.push_back({.head = head});
  return live_->Put(group_, handle);
}

absl::StatusOr<uint32_t> LoadMerger::PlaceVersion(SnapshotId begin, const LoadHead& head) {
  if (lanes_.empty()) {
    lanes_.push_back({.end = head.end, .head = head});
    return 0;
  }
  if (relation_->declared_key) {
    return Error(head,
                 StrCat("duplicate key: the row of ", Where(lanes_[0].head), " has it already"));
  }
  // Versions come in begin order, so one fits into the first lane that has ended by its begin.
  uint32_t ordinal = 0;
  while (ordinal < lanes_.size() && lanes_[ordinal].end > begin) {
    ++ordinal;
  }
  if (ordinal > 0 && !relation_->repeats) {
    if (!options_.keep_anomalies) {
      return Error(head, StrCat("version ", DescribeInterval(begin, head.end),
                                relation_->versioning == Versioning::kInterval
                                    ? " overlaps the one of "
                                    : " has the same key as the one of ",
                                Where(lanes_[0].head), "; --keep-anomalies takes such rows"));
    }
    ++summary_.anomalies;
  }
  if (ordinal > kMaxOrdinal) {
    return Error(head, "too many rows with equal keys");
  }
  if (ordinal == lanes_.size()) {
    lanes_.emplace_back();
  }
  lanes_[ordinal] = {.end = head.end, .head = head};
  return ordinal;
}

absl::Status LoadMerger::AddVersion(SnapshotId begin, const LoadHead& head,
                                    std::string_view payload) {
  if (ReachesBeyond(begin, head.end, options_.last_snapshot)) {
    return Error(head, StrCat("version ", DescribeInterval(begin, head.end),
                              " reaches beyond the last snapshot ", options_.last_snapshot));
  }
  VARVE_ASSIGN_OR_RETURN(const uint32_t ordinal, PlaceVersion(begin, head));
  if (ordinal == 0 && head.end != kNoEnd) {
    return WriteVersion(0, begin, head.end, payload);
  }
  Held held{.ordinal = ordinal, .begin = begin, .end = head.end, .payload = std::string(payload)};
  if (ordinal == 0) {
    live_version_ = std::move(held);
  } else {
    held_.push_back(std::move(held));
  }
  return absl::OkStatus();
}

absl::Status LoadMerger::WriteVersion(uint32_t ordinal, SnapshotId begin, SnapshotId end,
                                      std::string_view payload) {
  key_.assign(group_);
  AppendOrdinal(ordinal, &key_);
  value_.clear();
  if (end == kNoEnd) {
    AppendLiveValue(begin, options_.csn, payload, &value_);
    ++summary_.live;
    return live_->Put(key_, value_);
  }
  PutBigEndian(&key_, begin);
  AppendEndedValue(end, options_.csn, payload, &value_);
  ++summary_.ended;
  return ended_->Put(key_, value_);
}

absl::Status LoadMerger::EndGroup() {
  if (live_version_.has_value()) {
    VARVE_RETURN_IF_ERROR(WriteVersion(0, live_version_->begin, kNoEnd, live_version_->payload));
    live_version_.reset();
  }
  std::sort(held_.begin(), held_.end(), [](const Held& a, const Held& b) {
    return std::tie(a.ordinal, a.begin) < std::tie(b.ordinal, b.begin);
  });
  for (const Held& held : held_) {
    VARVE_RETURN_IF_ERROR(WriteVersion(held.ordinal, held.begin, held.end, held.payload));
  }
  held_.clear();
  lanes_.clear();
  return absl::OkStatus();
}

absl::Status LoadMerger::Finish() {
  return EndGroup();
}

}  // namespace varve
