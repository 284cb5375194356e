// The versions the row store has of a relation.
//
// Thread-safety: one thread. Ownership: keeps the state.
#pragma once

#include <memory>
#include <vector>

#include "catalog/payload_codec.h"
#include "catalog/store/version_cursor.h"
#include "catalog/tiers/version_source.h"

namespace varve {

class StoreSource : public VersionSource {
 public:
  // All versions; `columns` of the relation.
  StoreSource(std::shared_ptr<const StoreState> state, RelationRef relation,
              std::vector<size_t> columns);

  absl::StatusOr<bool> Next(VersionBlock* block) override;

 private:
  static constexpr size_t kRows = 4096;
  const std::shared_ptr<const StoreState> state_;
  const RowDecoder decoder_;
  VersionCursor cursor_;
  bool started_ = false;
  std::string key_bytes_;
  std::vector<size_t> key_ends_;
  std::vector<Datum> values_;
  DecodedHandle scratch_;
};

}  // namespace varve
