#include "catalog/transaction/provisional_ids.h"

namespace varve {

int64_t IdResolution::Resolve(int64_t id, int64_t table_id) const {
  if (!IsProvisional(id)) {
    return id;
  }
  if (IsProvisionalRowId(id)) {
    const auto next = next_row_id.find(table_id);
    return (next == next_row_id.end() ? 0 : next->second) + (id - kFirstProvisionalRowId);
  }
  return id >= kFirstProvisionalFileId ? next_file_id + (id - kFirstProvisionalFileId)
                                       : next_catalog_id + (id - kFirstProvisionalCatalogId);
}

}  // namespace varve
