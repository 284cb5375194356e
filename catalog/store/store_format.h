// The keys and values of the row store.
//
//   family    key                                      value
//   live      relation u32 | handle                    begin varint | csn varint | payload
//             (relation | 80000000) u32 | id u64       handle            (index of a unique column)
//   ended     relation u32 | handle | begin u64        end varint | csn varint | payload
//   changes   csn u64 | relation u32 | chunk u32       change records (change_record.h)
//   default   short text                               text or protobuf
//
// Fixed-width integers in keys are big-endian, so that keys sort by number.
//
// Thread-safety: free functions on bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "catalog/read_view.h"
#include "catalog/relation.h"

namespace varve {

inline constexpr size_t kRelationPrefixSize = 4;
inline constexpr size_t kBeginSuffixSize = 8;

// The version of everything on disk; a catalog of a newer one is refused.
inline constexpr uint32_t kFormatVersion = 1;

// Keys of the `default` family.
inline constexpr std::string_view kFormatKey = "format";
inline constexpr std::string_view kUuidKey = "uuid";
inline constexpr std::string_view kLastCsnKey = "last_csn";
inline constexpr std::string_view kLastSnapshotKey = "last_snapshot";
inline constexpr std::string_view kRetainFromKey = "retain_from";
inline constexpr std::string_view kNextRelationKey = "next_relation";
inline constexpr std::string_view kNextRowNumberKey = "next_row_number";
inline constexpr std::string_view kRelationKeyPrefix = "relation/";  // + id, 10 digits
// Where the change feed begins: changes of later csns are all there. Absent: kBulkLoadCsn.
inline constexpr std::string_view kChangesFromKey = "changes_from";
// The numbers of the relations that the bulk load brought rows of, joined by commas. Absent in
// catalogs made before there was such a list: it may have been any.
inline constexpr std::string_view kLoadedRelationsKey = "loaded_relations";
// Which columnar files there are (catalog/columnar.proto). Absent: none were made yet.
inline constexpr std::string_view kColumnarManifestKey = "columnar_manifest";
// Descriptions of dropped relations that changes still speak of: + csn of the drop, 20 digits, "/",
// id, 10 digits. The value is that of the directory.
inline constexpr std::string_view kDroppedKeyPrefix = "dropped/";

// The csn of everything a bulk load brings: the first one of every catalog.
inline constexpr Csn kBulkLoadCsn = 1;

void AppendRelationPrefix(RelationId relation, std::string* out);
std::string RelationPrefix(RelationId relation);
std::string LiveKey(RelationId relation, std::string_view handle);
std::string EndedKey(RelationId relation, std::string_view handle, SnapshotId begin);
std::string IndexKey(RelationId relation, int64_t id);
std::string RelationKey(RelationId relation);  // of the directory
std::string DroppedRelationKey(Csn csn, RelationId relation);
std::string ChangesKey(Csn csn, RelationId relation, uint32_t chunk);

// A stored version, borrowed from a key and a value.
struct StoredVersion {
  std::string_view handle;
  SnapshotId begin = 0;
  SnapshotId end = kNoEnd;
  Csn csn = 0;
  std::string_view payload;
};

// Split a key. false: malformed.
struct ChangesKeyParts {
  Csn csn = 0;
  RelationId relation = 0;
  uint32_t chunk = 0;
};
bool ParseChangesKey(std::string_view key, ChangesKeyParts* parts);
bool ParseDroppedRelationKey(std::string_view key, Csn* csn, RelationId* relation);

// Split a key/value pair of the two families. false: malformed.
bool ParseLive(std::string_view key, std::string_view value, StoredVersion* version);
bool ParseEnded(std::string_view key, std::string_view value, StoredVersion* version);

void AppendLiveValue(SnapshotId begin, Csn csn, std::string_view payload, std::string* out);
void AppendEndedValue(SnapshotId end, Csn csn, std::string_view payload, std::string* out);

// The error for a pair that does not parse.
absl::Status MalformedPair(const RelationSchema& relation, std::string_view key);

}  // namespace varve
