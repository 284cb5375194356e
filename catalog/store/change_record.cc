#include "catalog/store/change_record.h"

#include "base/coding.h"
#include "catalog/store/store_format.h"

namespace varve {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

bool ReadRecord(std::string_view* in, ChangeRecord* record) {
  if (in->empty()) {
    return false;
  }
  const auto kind = static_cast<uint8_t>(in->front());
  in->remove_prefix(1);
  uint64_t length = 0;
  if (kind < static_cast<uint8_t>(ChangeKind::kInsert) ||
      kind > static_cast<uint8_t>(ChangeKind::kCommit) || !GetVarint64(in, &length) ||
      length > in->size()) {
    return false;
  }
  record->kind = static_cast<ChangeKind>(kind);
  record->handle = in->substr(0, length);
  in->remove_prefix(length);
  if (!GetVarint64(in, &record->begin)) {
    return false;
  }
  if (record->kind != ChangeKind::kInsert && record->kind != ChangeKind::kUpdate) {
    return true;
  }
  uint64_t end_plus_one = 0;
  if (!GetVarint64(in, &end_plus_one) || !GetVarint64(in, &length) || length > in->size()) {
    return false;
  }
  record->end = end_plus_one == 0 ? kNoEnd : end_plus_one - 1;
  record->payload = in->substr(0, length);
  in->remove_prefix(length);
  return true;
}

void AppendHead(ChangeKind kind, std::string_view handle, SnapshotId begin, std::string* out) {
  out->push_back(static_cast<char>(kind));
  PutVarint64(out, handle.size());
  out->append(handle);
  PutVarint64(out, begin);
}

}  // namespace

std::string* ChangeRecorder::Open(RelationId relation) {
  std::vector<std::string>& chunks = chunks_[relation];
  if (chunks.empty() || chunks.back().size() >= kChunkBytes) {
    chunks.emplace_back();
  }
  return &chunks.back();
}

void ChangeRecorder::Record(const VersionGroup& group, const GroupVersion& version) {
  std::string* const out = Open(group.relation()->id);
  const std::string handle = group.HandleOf(version);
  if (version.erased) {
    AppendHead(ChangeKind::kErase, handle, version.begin, out);
    return;
  }
  AppendHead(version.stored ? ChangeKind::kUpdate : ChangeKind::kInsert, handle, version.begin,
             out);
  PutVarint64(out, version.end == kNoEnd ? 0 : version.end + 1);
  PutVarint64(out, version.payload.size());
  out->append(version.payload);
}

void ChangeRecorder::RecordErase(RelationId relation, std::string_view handle, SnapshotId begin) {
  AppendHead(ChangeKind::kErase, handle, begin, Open(relation));
}

void ChangeRecorder::DropRelation(RelationId relation) {
  AppendHead(ChangeKind::kDropRelation, "", 0, Open(relation));
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
  AppendHead(ChangeKind::kCommit, "", last_snapshot, &value);
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
