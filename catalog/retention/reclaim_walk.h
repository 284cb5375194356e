// What the parts of ForEachReclaimable share. Private to reclaimable*.cc.
//
// Thread-safety: one thread. Ownership: borrows the request and the visitor.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/status.h"
#include "catalog/handle.h"
#include "catalog/retention/reclaimable.h"
#include "catalog/store/store_format.h"
#include "catalog/store/version_cursor.h"

namespace varve {

class ReclaimWalk {
 public:
  using Visitor = std::function<absl::Status(const ReclaimableRow&)>;
  ReclaimWalk(const ReclaimRequest& request, const Visitor& visit)
      : request_(request), visit_(visit) {}
  ReclaimWalk(const ReclaimWalk&) = delete;
  ReclaimWalk& operator=(const ReclaimWalk&) = delete;

  const StoreState& state() const { return *request_.state; }
  RelationRef relation(RelationId id) const { return state().directory->FindById(id); }

  // --- What is reclaimable by which sets ---

  ReclaimMask all() const { return static_cast<ReclaimMask>((1U << request_.sets.size()) - 1); }
  ReclaimMask Of(SnapshotId begin, SnapshotId end) const {
    return MaskOf([&](const RetainedSnapshots& set) { return set.IsReclaimable(begin, end); });
  }
  ReclaimMask OfSnapshot(SnapshotId snapshot) const {
    return MaskOf([&](const RetainedSnapshots& set) { return !set.Contains(snapshot); });
  }

  // Reads the tables; call before what follows.
  absl::Status LoadTables();
  // By which sets no version of the table remains. None for a table that is not there.
  ReclaimMask TableGone(int64_t table_id) const {
    const auto it = gone_.find(table_id);
    return it == gone_.end() ? 0 : it->second;
  }
  // … of the table whose id, an encoded key column, a handle begins with.
  ReclaimMask TableGone(std::string_view handle) const;
  // The tables that are gone by some set, ascending.
  const std::vector<int64_t>& gone_tables() const { return gone_tables_; }

  // --- Versions ---

  // Calls `visit(version)` for the stored versions whose handle starts with `prefix`.
  template <typename Visit>
  absl::Status ForEachVersion(const RelationRef& relation, VersionSet versions,
                              std::string_view prefix, const Visit& visit) {
    VersionCursor cursor(state(), relation, versions, prefix);
    VARVE_RETURN_IF_ERROR(cursor.Start());
    while (cursor.valid()) {
      Note();
      if (stopped_) {
        return absl::CancelledError("stopped");
      }
      VARVE_RETURN_IF_ERROR(visit(cursor.version()));
      VARVE_RETURN_IF_ERROR(cursor.Next());
    }
    return absl::OkStatus();
  }

  // Counts a version looked at.
  void Note();

  // Hands a row out, unless no set makes it reclaimable.
  absl::Status Emit(const RelationRef& relation, const StoredVersion& version, ReclaimMask by,
                    bool with_next = false);
  // Requires: some set does.
  absl::Status EmitRelation(const RelationRef& relation, uint64_t rows, ReclaimMask by,
                            bool with_next);

 private:
  template <typename Test>
  ReclaimMask MaskOf(const Test& test) const {
    ReclaimMask mask = 0;
    for (size_t i = 0; i < request_.sets.size(); ++i) {
      mask = static_cast<ReclaimMask>(mask | (test(request_.sets[i]) ? 1U << i : 0U));
    }
    return mask;
  }

  const ReclaimRequest& request_;
  const Visitor& visit_;
  absl::flat_hash_map<int64_t, ReclaimMask> gone_;  // of tables that are gone by some set
  std::vector<int64_t> gone_tables_;
  uint64_t versions_ = 0;
  bool stopped_ = false;
};

inline ReclaimMask Without(ReclaimMask mask, ReclaimMask minus) {
  return static_cast<ReclaimMask>(mask & ~static_cast<unsigned>(minus));
}
inline ReclaimMask Both(ReclaimMask a, ReclaimMask b) {
  return static_cast<ReclaimMask>(a & b);
}
inline ReclaimMask Either(ReclaimMask a, ReclaimMask b) {
  return static_cast<ReclaimMask>(a | b);
}

// The encoded first key column of a handle.
std::string_view FirstKeyColumn(std::string_view handle);
// The encoding of an integer key column.
std::string KeyOfInt(int64_t value);

// The part of the walk over files and what belongs to them (reclaimable_files.cc), over columns and
// their tags (reclaimable_columns.cc), and over what hangs on tables (reclaimable_tables.cc).
absl::Status WalkFiles(ReclaimWalk* walk, bool only_files);
absl::Status WalkColumns(ReclaimWalk* walk);
absl::Status WalkInlinedRows(ReclaimWalk* walk);
absl::Status WalkColumnStatsOfTables(ReclaimWalk* walk);  // before the columns they speak of
absl::Status WalkOwnedByTables(ReclaimWalk* walk);

}  // namespace varve
