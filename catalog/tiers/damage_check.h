// Which columnar files of a state are damaged, and which relations need them made anew.
//
// Thread-safety: free functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "catalog/read_view.h"
#include "catalog/relation.h"
#include "catalog/tiers/columnar_set.h"

namespace varve {

// Which files are read for it. Those that could not be opened are known anyway.
enum class DamageCheck : uint8_t {
  kNone,
  kSeen,  // those in which a reader of this process has met damage
  kAll,
};

struct DamagedFile {
  std::string name;  // "00000007.vcol"
  // That have rows in what is damaged; all of the file's, if it cannot be opened.
  std::vector<RelationId> relations;
  std::string what;  // one line
};

// Reads the packs of the files, every one along the file and none decoded (columnar/pack_check.h),
// of the tables that the manifest has. `on_bytes`, if it is not empty, is called with the bytes
// read so far and how many there are about; an error of it ends the check. That damage was seen in
// the files that were read is forgotten: what is found is returned.
absl::StatusOr<std::vector<DamagedFile>> FindDamage(
    const StoreState& state, DamageCheck check,
    const std::function<absl::Status(uint64_t done, uint64_t total)>& on_bytes);

// Whether a reader has met damage that was not checked for since.
bool IsDamageSeen(const ColumnarSet& set);

}  // namespace varve
