#include "catalog/store/change_record.h"

#include "base/coding.h"
#include "catalog/store/store_format.h"

namespace varve {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr uint8_t kHasPreImage = 0x80;

bool ReadEnd(std::string_view* in, SnapshotId* end) {
  uint64_t end_plus_one = 0;
  if (!GetVarint64(in, &end_plus_one)) {
    return false;
  }
  *end = end_plus_one == 0 ? kNoEnd : end_plus_one - 1;
  return true;
}

bool ReadBytes(std::string_view* in, uint64_t length, std::string_view* bytes) {
  if (length > in->size()) {
    return false;
  }
  *bytes = in->substr(0, length);
  in->remove_prefix(length);
  return true;
}

bool ReadPreImage(std::string_view* in, ChangeRecord* record) {
  PreImage& before = record->before.emplace();
  uint64_t length_plus_one = 0;
  if (!GetVarint64(in, &before.csn) || !ReadEnd(in, &before.end) ||
      !GetVarint64(in, &length_plus_one)) {
    return false;
  }
  if (length_plus_one == 0) {
    before.payload = record->payload;
    return record->kind == ChangeKind::kUpdate;
  }
  return ReadBytes(in, length_plus_one - 1, &before.payload);
}

bool ReadRecord(std::string_view* in, ChangeRecord* record) {
  if (in->empty()) {
    return false;
  }
  const auto first = static_cast<uint8_t>(in->front());
  const uint8_t kind = first & ~kHasPreImage;
  const bool has_before = (first & kHasPreImage) != 0;
  in->remove_prefix(1);
  uint64_t length = 0;
  if (kind < static_cast<uint8_t>(ChangeKind::kInsert) ||
      kind > static_cast<uint8_t>(ChangeKind::kCommit) || !GetVarint64(in, &length) ||
      !ReadBytes(in, length, &record->handle) || !GetVarint64(in, &record->begin)) {
    return false;
  }
  record->kind = static_cast<ChangeKind>(kind);
  const bool may_have_before =
      record->kind == ChangeKind::kUpdate || record->kind == ChangeKind::kErase;
  if (has_before && !may_have_before) {
    return false;
  }
  if (record->kind == ChangeKind::kInsert || record->kind == ChangeKind::kUpdate) {
    if (!ReadEnd(in, &record->end) || !GetVarint64(in, &length) ||
        !ReadBytes(in, length, &record->payload)) {
      return false;
    }
  }
  return !has_before || ReadPreImage(in, record);
}

void AppendHead(ChangeKind kind, bool has_before, std::string_view handle, SnapshotId begin,
                std::string* out) {
  out->push_back(static_cast<char>(static_cast<uint8_t>(kind) | (has_before ? kHasPreImage : 0)));
  PutVarint64(out, handle.size());
  out->append(handle);
  PutVarint64(out, begin);
}

void AppendEnd(SnapshotId end, std::string* out) {
  PutVarint64(out, end == kNoEnd ? 0 : end + 1);
}

// `image`: null for an erasure.
void AppendPreImage(const PreImage& before, const std::string* image, std::string* out) {
  PutVarint64(out, before.csn);
  AppendEnd(before.end, out);
  if (image != nullptr && *image == before.payload) {
    PutVarint64(out, 0);
    return;
  }
  PutVarint64(out, before.payload.size() + 1);
  out->append(before.payload);
}

}  // namespace

std::string* ChangeRecorder::Open(RelationId relation) {
  std::vector<std::string>& chunks = chunks_[relation];
  if (chunks.empty() || chunks.back().size() >= kChunkBytes) {
    chunks.emplace_back();
  }
  return &chunks.back();
}

void ChangeRecorder::Record(const VersionGroup& group, const GroupVersion& version,
                            bool with_before) {
  const RelationId relation = group.relation()->id;
  const std::string handle = group.HandleOf(version);
  const PreImage before = {
      .csn = version.csn,
      .end = version.stored_end,
      .payload = version.stored_payload.has_value() ? *version.stored_payload : version.payload};
  with_before = with_before && version.stored;
  if (version.erased) {
    RecordErase(relation, handle, version.begin, with_before ? &before : nullptr);
    return;
  }
  std::string* const out = Open(relation);
  AppendHead(version.stored ? ChangeKind::kUpdate : ChangeKind::kInsert, with_before, handle,
             version.begin, out);
  AppendEnd(version.end, out);
  PutVarint64(out, version.payload.size());
  out->append(version.payload);
  if (with_before) {
    AppendPreImage(before, &version.payload, out);
  }
}

void ChangeRecorder::RecordErase(RelationId relation, std::string_view handle, SnapshotId begin,
                                 const PreImage* before) {
  std::string* const out = Open(relation);
  AppendHead(ChangeKind::kErase, before != nullptr, handle, begin, out);
  if (before != nullptr) {
    AppendPreImage(*before, nullptr, out);
  }
}

void ChangeRecorder::DropRelation(RelationId relation) {
  AppendHead(ChangeKind::kDropRelation, false, "", 0, Open(relation));
}

std::vector<std::pair<std::string, std::string>> ChangeRecorder::Finish(Csn csn,
                                                                        SnapshotId last_snapshot) {
  std::vector<std::pair<std::string, std::string>> entries;
  entries.emplace_back(ChangesKey(csn, kCommitEntry, 0), CommitEntry(last_snapshot));
  for (auto& [relation, chunks] : chunks_) {
    for (size_t i = 0; i < chunks.size(); ++i) {
      entries.emplace_back(ChangesKey(csn, relation, static_cast<uint32_t>(i)),
                           std::move(chunks[i]));
    }
  }
  return entries;
}

std::string CommitEntry(SnapshotId last_snapshot) {
  std::string value;
  AppendHead(ChangeKind::kCommit, false, "", last_snapshot, &value);
  return value;
}

absl::StatusOr<std::vector<ChangeRecord>> ParseChanges(std::string_view value) {
  std::vector<ChangeRecord> records;
  while (!value.empty()) {
    ChangeRecord record;
    if (!ReadRecord(&value, &record)) {
      return absl::DataLossError("a record of the change log is cut short or malformed");
    }
    records.push_back(record);
  }
  return records;
}

}  // namespace varve
