// A set of row changes that is committed as one: all of it or nothing.
//
// This is the lowest layer of writing: rows as they are to be stored, with their begins and ends
// given. Ids, statistics and conflicts between writers are the business of transactions above it.
//
// Thread-safety: none; built by one thread, then handed to Catalog::Apply.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/row.h"
#include "catalog/relation.h"

namespace varve {

struct RowChange {
  enum class Kind : uint8_t {
    kInsert,  // a new version; its begin and end are columns of the row
    kEnd,     // the live version of a handle gets an end
    kErase,   // a version is physically removed
    kPut,     // relations without begin and end of their own: insert or overwrite
  };
  Kind kind = Kind::kInsert;
  RelationRef relation;
  Row row;                  // kInsert, kPut: every column. kEnd, kErase: the handle columns only
  SnapshotId begin = 0;     // kErase: which version
  SnapshotId end = kNoEnd;  // kEnd: the end to set
};

class ChangeSet {
 public:
  // Where several rows share a handle (see handle.h, ordinals), Put overwrites the first of them,
  // End ends the live one that began first, Erase removes the first that begins there. `row` has a
  // value for every column of the relation.
  void Insert(RelationRef relation, Row row);
  void Put(RelationRef relation, Row row);
  // `key` holds the handle columns' values in key order.
  void End(RelationRef relation, std::span<const Datum> key, SnapshotId end);
  void Erase(RelationRef relation, std::span<const Datum> key, SnapshotId begin);
  // Adds a dynamic relation (its id is chosen at commit), or drops one with all its rows.
  void CreateRelation(RelationSchema relation);
  void DropRelation(std::string name);

  bool empty() const { return changes_.empty() && created_.empty() && dropped_.empty(); }
  const std::vector<RowChange>& changes() const { return changes_; }
  const std::vector<RelationSchema>& created() const { return created_; }
  const std::vector<std::string>& dropped() const { return dropped_; }

 private:
  std::vector<RowChange> changes_;
  std::vector<RelationSchema> created_;
  std::vector<std::string> dropped_;
};

}  // namespace varve
