// When the objects of one kind were there: the lifetimes of every id's versions.
//
// Thread-safety: immutable once read. Memory: 16 bytes a version, and one entry an id; meant for
// schemas, tables, views, macros and the like, not for files.
#pragma once

#include <initializer_list>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "catalog/verify/run.h"

namespace varve {

class ObjectLifetimes {
 public:
  void Add(int64_t id, Lifetime lifetime) { lifetimes_[id].push_back(lifetime); }
  // Call once, when everything is added.
  void Normalize();

  bool Contains(int64_t id) const { return lifetimes_.contains(id); }
  // Joined where one version follows another; empty when there is no such object.
  const std::vector<Lifetime>& Of(int64_t id) const;

 private:
  absl::flat_hash_map<int64_t, std::vector<Lifetime>> lifetimes_;
};

// Reads the lifetimes of an interval relation's rows by an id column, added to `lifetimes`.
absl::Status ReadLifetimes(const VerifyRun& run, RelationId relation, std::string_view id_column,
                           ObjectLifetimes* lifetimes);

// Reports kOutsideParent when an existing snapshot shows the row but not the object it belongs to.
void CheckInsideParent(VerifyRun* run, const RowCursor& row, std::string_view parent_kind,
                       std::optional<int64_t> parent_id, const ObjectLifetimes& parents);

}  // namespace varve
