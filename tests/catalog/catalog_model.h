// A catalog as simple as it can be: every version of every relation in a list, searched from end to
// end. It says what the real one must answer, and knows nothing of handles, families or encodings.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/row.h"
#include "catalog/change_set.h"
#include "catalog/relation.h"
#include "mvcc/visibility.h"

namespace varve {

class CatalogModel {
 public:
  struct Version {
    Row row;  // every column, begin and end included
    SnapshotId begin = 0;
    SnapshotId end = kNoEnd;
    uint32_t ordinal = 0;    // keeps equal keys apart
    int64_t row_number = 0;  // the key, where no column is
    bool is_new = false;     // in the set being applied: not there before …
    bool changed = false;    // … or changed by it
    bool erased = false;
  };
  struct Relation {
    RelationRef schema;
    std::vector<Version> versions;  // by key, ordinal, begin
    std::vector<Row> keys;          // every key that ever was
  };

  CatalogModel();

  // Applies the changes; false, and nothing changed, when the catalog must refuse them.
  bool Apply(const ChangeSet& changes);

  SnapshotId last_snapshot() const { return last_snapshot_; }
  std::vector<SnapshotId> Snapshots() const;
  const std::map<std::string, Relation>& relations() const { return relations_; }

  // What scans and look-ups give, in the language of row_text.h.
  std::vector<std::string> Visible(const Relation& relation, SnapshotId at) const;
  std::vector<std::string> AllVersions(const Relation& relation) const;
  std::string Get(const Relation& relation, std::span<const Datum> key, SnapshotId at) const;
  std::vector<std::string> Versions(const Relation& relation, std::span<const Datum> key) const;

  static std::vector<Datum> KeyOfVersion(const RelationSchema& schema, const Version& version);

 private:
  bool ApplyOne(const RowChange& change);
  bool InsertRow(Relation* relation, const Row& row, bool overwrite);
  bool Settle(Relation* relation) const;
  bool PlaceNewVersions(Relation* relation) const;
  bool IsVisibleAt(const Relation& relation, const Version& version, SnapshotId at) const;
  // From the first begin to the last end of the parent's versions; nothing without a parent.
  SnapshotInterval ParentInterval(const Relation& relation, const Version& version) const;
  std::vector<const Version*> Parents(const Relation& relation, const Version& version) const;

  std::map<std::string, Relation> relations_;
  SnapshotId last_snapshot_ = 0;
  int64_t next_row_number_ = 0;
};

}  // namespace varve
