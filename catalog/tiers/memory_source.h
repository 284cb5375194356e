// The versions a MemRowSet has at a csn.
//
// Thread-safety: one thread. Ownership: shares the MemRowSet.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/read_view.h"
#include "catalog/tiers/memory_set.h"
#include "catalog/tiers/version_source.h"

namespace varve {

struct MemorySourceOptions {
  std::vector<size_t> columns;  // of the relation
  std::string lower;            // of version keys, inclusive
  std::string upper;            // exclusive; empty: none
  Csn csn = 0;                  // what was changed later is not seen
  bool with_erased = false;     // also versions that were erased, for merges with older images
  size_t batch_rows = 1024;
};

class MemorySource : public VersionSource {
 public:
  MemorySource(std::shared_ptr<const RelationMemory> memory, MemorySourceOptions options);

  absl::StatusOr<bool> Next(VersionBlock* block) override;

 private:
  // What a column is filled from: the place of its cell in the projection, or the key.
  struct Origin {
    std::optional<size_t> projected;
    std::optional<size_t> key_position;  // of the handle's columns; nullopt: the begin
  };
  // Drops the hidden rows of rows_.
  void KeepSelected();
  absl::Status FillFromKeys(VersionBlock* block);

  std::shared_ptr<const RelationMemory> memory_;
  std::vector<PhysicalType> types_;
  std::vector<Origin> origins_;  // per column asked for
  bool decodes_handles_ = false;
  std::optional<size_t> projected_end_;
  std::optional<size_t> projected_deleted_;
  std::unique_ptr<MemRowSetIterator> it_;
  RowBlock rows_;
  std::vector<uint32_t> selection_;
  DecodedHandle decoded_;
};

}  // namespace varve
