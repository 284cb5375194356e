// Random histories of row changes of every kind: versions that begin, end, are dated back,
// rewritten and erased, parents and their children, snapshots that are made and expire, dynamic
// relations that come and go.
//
// Thread-safety: none.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "catalog/change_set.h"
#include "tests/catalog/catalog_model.h"

namespace varve {

class RandomChanges {
 public:
  // Changes of a new catalog (Catalog::Init).
  explicit RandomChanges(uint64_t seed);

  // The next change set, one that the catalog takes.
  ChangeSet Next();

  const CatalogModel& model() const { return model_; }
  uint64_t Below(uint64_t bound) { return random_() % bound; }

 private:
  ChangeSet Draw();
  void AddSnapshot(ChangeSet* changes);
  void ExpireSnapshot(ChangeSet* changes);
  void ChangeDirectory(ChangeSet* changes);
  void ChangeRow(const std::string& relation, ChangeSet* changes);
  Row RandomRow(const RelationSchema& relation);

  CatalogModel model_;
  std::mt19937_64 random_;
  SnapshotId last_ = 0;  // the last snapshot with the set being drawn
};

}  // namespace varve
