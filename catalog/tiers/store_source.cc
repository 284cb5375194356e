#include "catalog/tiers/store_source.h"

#include <utility>

#include "base/status.h"
#include "catalog/tiers/memory_format.h"

namespace varve {

StoreSource::StoreSource(std::shared_ptr<const StoreState> state, RelationRef relation,
                         std::vector<size_t> columns)
    : state_(std::move(state)),
      decoder_(relation, std::move(columns)),
      cursor_(*state_, relation, VersionSet::kBoth, ""),
      values_(decoder_.columns().size()) {}

absl::StatusOr<bool> StoreSource::Next(VersionBlock* block) {
  block->columns.Reset(decoder_.types());
  block->begins.clear();
  block->ends.clear();
  block->erased.clear();
  block->keys.clear();
  key_bytes_.clear();
  key_ends_.clear();
  if (!std::exchange(started_, true)) {
    VARVE_RETURN_IF_ERROR(cursor_.Start());
  }
  while (cursor_.valid() && block->num_rows() < kRows) {
    const StoredVersion& version = cursor_.version();
    VARVE_RETURN_IF_ERROR(decoder_.Decode(version.handle, version.begin, version.end,
                                          version.payload, &scratch_, values_));
    for (size_t i = 0; i < values_.size(); ++i) {
      block->columns.mutable_column(i).Append(values_[i]);
    }
    block->begins.push_back(version.begin);
    block->ends.push_back(version.end);
    AppendVersionKey(version.handle, version.begin, &key_bytes_);
    key_ends_.push_back(key_bytes_.size());
    VARVE_RETURN_IF_ERROR(cursor_.Next());
  }
  size_t start = 0;
  for (const size_t end : key_ends_) {
    block->keys.push_back(std::string_view(key_bytes_).substr(start, end - start));
    start = end;
  }
  block->columns.SetNumRows(block->num_rows());
  return block->num_rows() > 0;
}

}  // namespace varve
