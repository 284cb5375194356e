#include "catalog/store/store_follower.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/change_record.h"
#include "catalog/store/store_format.h"

namespace varve {
namespace {

// Whether a state holds every commit after csn `from`: each has an entry of its own among the
// changes. A follower that lost a part of the log would have a gap.
absl::StatusOr<bool> HasEveryCommitAfter(Csn from, const StoreState& state) {
  const RowStore& store = *state.store;
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> begin,
                         store.GetDefault(kChangesFromKey, nullptr));
  from = std::max(from, ParseNumber<Csn>(begin.value_or("")).value_or(kBulkLoadCsn));
  const std::unique_ptr<rocksdb::Iterator> it(
      store.db().NewIterator(state.read_options(), store.family(Family::kChanges)));
  for (Csn csn = from + 1; csn <= state.csn; ++csn) {
    const std::string key = ChangesKey(csn, kCommitEntry, 0);
    it->Seek(key);
    if (!it->Valid() || ToView(it->key()) != key) {
      VARVE_RETURN_IF_ERROR(FromRocksDb(it->status(), "reading the changes"));
      return false;
    }
  }
  return true;
}

}  // namespace

StoreFollower::StoreFollower(std::shared_ptr<const StoreState> state) : state_(std::move(state)) {}

std::shared_ptr<const StoreState> StoreFollower::Follow() {
  std::shared_ptr<RowStore> store = std::move(waiting_);
  uint64_t* counter = &stats_.caught_up;
  // What goes wrong with a follower, opening anew tells or gets right.
  if (store == nullptr || store->in_use() || !store->CatchUp().ok()) {
    absl::StatusOr<std::shared_ptr<RowStore>> opened = state_->store->OpenFollower();
    if (!opened.ok()) {
      return nullptr;
    }
    store = *std::move(opened);
    counter = &stats_.followers_opened;
  }
  absl::StatusOr<std::shared_ptr<const StoreState>> next = TakeState(std::move(store));
  // A log that grew without a commit is being written to, or it is damaged, which a follower takes
  // for the same.
  if (!next.ok() || (*next)->csn <= state_->csn) {
    return nullptr;
  }
  const absl::StatusOr<bool> is_whole = HasEveryCommitAfter(state_->csn, **next);
  if (!is_whole.ok() || !*is_whole) {
    return nullptr;
  }
  ++*counter;
  return *std::move(next);
}

absl::Status StoreFollower::CheckSameCatalog(const StoreState& next) const {
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> before,
                         state_->store->GetDefault(kUuidKey, nullptr));
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> now,
                         next.store->GetDefault(kUuidKey, nullptr));
  if (before != now || next.csn < state_->csn) {
    return absl::FailedPreconditionError(
        StrCat("another catalog, or an earlier state of it, stands at ", next.store->path(),
               " since it was opened; open it anew"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const StoreState>> StoreFollower::Refresh() {
  const RowStore& serving = *state_->store;
  const DatabaseMark mark = TakeMark(StrCat(serving.path(), "/", kRowsDirectory));
  if (mark == serving.mark()) {
    ++stats_.unchanged;
    return state_;
  }
  std::shared_ptr<const StoreState> next = Follow();
  if (next == nullptr) {
    VARVE_ASSIGN_OR_RETURN(std::shared_ptr<RowStore> store,
                           RowStore::Open(serving.path(), serving.options()));
    VARVE_ASSIGN_OR_RETURN(next, TakeState(std::move(store)));
    ++stats_.reopened;
  }
  VARVE_RETURN_IF_ERROR(CheckSameCatalog(*next));
  waiting_ = serving.is_follower() ? state_->store : nullptr;
  state_ = std::move(next);
  return state_;
}

}  // namespace varve
