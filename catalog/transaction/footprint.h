// What a transaction did, and whether it can be committed after another.
//
// Two transactions that began at the same state are both kept when nothing one of them did stands
// in the way of the other: the conflict matrix (footprint.cc) says for each pair of operations
// whether they may not meet, and on what: an object, a data file, a name, a schema. The first to
// commit wins; the other is refused.
//
// Thread-safety: a value; const methods may be called by any number of threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "catalog/transaction/action.h"
#include "catalog/transaction/provisional_ids.h"

namespace varve {

struct Conflict {
  Action mine;
  Action theirs;
  // `insert into table "sales"."orders" conflicts with the drop of it`; one line.
  std::string text;
};

class Footprint {
 public:
  // The footprint of a commit that is known by its changes_made alone; what the text leaves open is
  // taken to be anything. The caller fills in what else it can find out: Resolve schemas by name,
  // files by the rows the commit wrote. Errors: those of ParseChangesMade.
  static absl::StatusOr<Footprint> FromChangesMade(std::string_view text);

  // An operation on an object already there adds its files to that one. A drop takes the place of
  // all that was done to the object before; of an object the transaction made itself nothing
  // remains, whoever wants its name.
  //
  // An action that touches files without naming any may touch all of the table. A flush touches the
  // inlined rows without saying so.
  void Add(Action action);

  const std::vector<Action>& actions() const { return actions_; }
  bool empty() const { return actions_.empty(); }
  // Whether schema_version rises: something was created, dropped, renamed or altered.
  bool ChangesSchema() const;

  // The same with the ids that the commit gave to what the transaction made.
  Footprint Resolved(const IdResolution& ids) const;

  // The text of ducklake_snapshot_changes. Requires: no provisional ids, except of creations.
  std::string ChangesMade() const;

  // The first action of this that cannot follow one of `theirs`, with the first such one; nullopt:
  // this may be committed after `theirs`. Costs about the number of actions, not its square.
  std::optional<Conflict> ConflictWith(const Footprint& theirs) const;

 private:
  void Index(uint32_t place);
  void Forget(int64_t id);

  // Positions in actions_, ascending.
  using Places = std::vector<uint32_t>;

  std::vector<Action> actions_;
  absl::flat_hash_map<int64_t, Places> by_id_;
  absl::flat_hash_map<std::string, Places> by_name_;  // creations and renames: the name, folded
  Places schema_drops_;
};

}  // namespace varve
