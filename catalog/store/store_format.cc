#include "catalog/store/store_format.h"

#include "absl/strings/str_format.h"
#include "base/coding.h"
#include "base/key_codec.h"
#include "base/strings.h"

namespace varve {

void AppendRelationPrefix(RelationId relation, std::string* out) {
  PutBigEndian(out, relation);
}

std::string RelationPrefix(RelationId relation) {
  std::string prefix;
  AppendRelationPrefix(relation, &prefix);
  return prefix;
}

std::string LiveKey(RelationId relation, std::string_view handle) {
  std::string key;
  key.reserve(kRelationPrefixSize + handle.size());
  AppendRelationPrefix(relation, &key);
  key.append(handle);
  return key;
}

std::string EndedKey(RelationId relation, std::string_view handle, SnapshotId begin) {
  std::string key;
  key.reserve(kRelationPrefixSize + handle.size() + kBeginSuffixSize);
  AppendRelationPrefix(relation, &key);
  key.append(handle);
  PutBigEndian(&key, begin);
  return key;
}

std::string IndexKey(RelationId relation, int64_t id) {
  std::string key;
  AppendRelationPrefix(relation | kIndexRelation, &key);
  AppendIntHandle(id, &key);
  return key;
}

std::string RelationKey(RelationId relation) {
  return absl::StrFormat("%s%010d", std::string(kRelationKeyPrefix), relation);
}

std::string DroppedRelationKey(Csn csn, RelationId relation) {
  return absl::StrFormat("%s%020d/%010d", std::string(kDroppedKeyPrefix), csn, relation);
}

std::string ChangesKey(Csn csn, RelationId relation, uint32_t chunk) {
  std::string key;
  PutBigEndian(&key, csn);
  PutBigEndian(&key, relation);
  PutBigEndian(&key, chunk);
  return key;
}

bool ParseChangesKey(std::string_view key, ChangesKeyParts* parts) {
  return GetBigEndian(&key, &parts->csn) && GetBigEndian(&key, &parts->relation) &&
         GetBigEndian(&key, &parts->chunk) && key.empty();
}

bool ParseDroppedRelationKey(std::string_view key, Csn* csn, RelationId* relation) {
  if (!key.starts_with(kDroppedKeyPrefix)) {
    return false;
  }
  key.remove_prefix(kDroppedKeyPrefix.size());
  const size_t slash = key.find('/');
  if (slash == std::string_view::npos) {
    return false;
  }
  const std::optional<Csn> dropped_at = ParseNumber<Csn>(key.substr(0, slash));
  const std::optional<RelationId> id = ParseNumber<RelationId>(key.substr(slash + 1));
  if (!dropped_at.has_value() || !id.has_value()) {
    return false;
  }
  *csn = *dropped_at;
  *relation = *id;
  return true;
}

bool ParseLive(std::string_view key, std::string_view value, StoredVersion* version) {
  if (key.size() < kRelationPrefixSize) {
    return false;
  }
  version->handle = key.substr(kRelationPrefixSize);
  version->end = kNoEnd;
  if (!GetVarint64(&value, &version->begin) || !GetVarint64(&value, &version->csn)) {
    return false;
  }
  version->payload = value;
  return version->begin <= kMaxSnapshotId;
}

bool ParseEnded(std::string_view key, std::string_view value, StoredVersion* version) {
  if (key.size() < kRelationPrefixSize + kBeginSuffixSize) {
    return false;
  }
  version->handle =
      key.substr(kRelationPrefixSize, key.size() - kRelationPrefixSize - kBeginSuffixSize);
  version->begin = LoadBigEndian<uint64_t>(key.data() + key.size() - kBeginSuffixSize);
  if (!GetVarint64(&value, &version->end) || !GetVarint64(&value, &version->csn)) {
    return false;
  }
  version->payload = value;
  return version->begin <= kMaxSnapshotId && version->end <= kMaxSnapshotId;
}

void AppendLiveValue(SnapshotId begin, Csn csn, std::string_view payload, std::string* out) {
  PutVarint64(out, begin);
  PutVarint64(out, csn);
  out->append(payload);
}

void AppendEndedValue(SnapshotId end, Csn csn, std::string_view payload, std::string* out) {
  PutVarint64(out, end);
  PutVarint64(out, csn);
  out->append(payload);
}

absl::Status MalformedPair(const RelationSchema& relation, std::string_view key) {
  return absl::DataLossError(StrCat(relation.name, ": the stored pair with key 0x",
                                    BytesToHexString(key), " is malformed"));
}

}  // namespace varve
