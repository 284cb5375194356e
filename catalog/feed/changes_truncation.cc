#include "catalog/feed/changes_truncation.h"

#include <rocksdb/iterator.h>

#include <memory>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"

namespace varve {

absl::StatusOr<ChangesTruncation> TruncateChanges(const StoreState& state, Csn begin) {
  if (begin > state.csn) {
    return absl::InvalidArgumentError(
        StrCat("the change feed cannot begin at csn ", begin, ": the last one is ", state.csn));
  }
  ChangesTruncation truncation;
  VARVE_ASSIGN_OR_RETURN(const Csn present, FeedBegin(state));
  if (begin <= present) {
    return truncation;
  }
  truncation.first_key = ChangesKey(0, 0, 0);
  truncation.end_key = ChangesKey(begin, kCommitEntry, 0);
  truncation.defaults.emplace_back(kChangesFromKey, std::to_string(begin));
  const std::unique_ptr<rocksdb::Iterator> it(
      state.store->db().NewIterator(state.read_options(), state.store->family(Family::kDefault)));
  Csn dropped_at = 0;
  RelationId relation = 0;
  for (it->Seek(ToSlice(kDroppedKeyPrefix));
       it->Valid() && ParseDroppedRelationKey(ToView(it->key()), &dropped_at, &relation) &&
       dropped_at <= begin;
       it->Next()) {
    truncation.defaults.emplace_back(it->key().ToString(), std::nullopt);
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(it->status(), "reading the dropped relations"));
  return truncation;
}

}  // namespace varve
