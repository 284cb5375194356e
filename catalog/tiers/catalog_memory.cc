#include "catalog/tiers/catalog_memory.h"

#include <rocksdb/iterator.h>

#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/store/store_format.h"
#include "catalog/tiers/columnar_set.h"

namespace varve {
namespace {

absl::Status While(std::string_view doing, const absl::Status& status) {
  return absl::Status(status.code(), StrCat(doing, ": ", MessageOf(status)));
}

}  // namespace

absl::Status ApplyChangeLog(const StoreState& state, const std::atomic<bool>& stop,
                            MemoryWriter* writer) {
  VARVE_ASSIGN_OR_RETURN(const Csn begin, FeedBegin(state));
  if (begin > writer->applied()) {
    return absl::OutOfRangeError(StrCat("the change log begins at csn ", begin,
                                        ", memory was rebuilt up to csn ", writer->applied()));
  }
  const std::unique_ptr<rocksdb::Iterator> it(
      state.store->db().NewIterator(state.read_options(), state.store->family(Family::kChanges)));
  for (it->Seek(ChangesKey(writer->applied() + 1, 0, 0)); it->Valid(); it->Next()) {
    if (stop.load(std::memory_order_relaxed)) {
      return absl::CancelledError("the catalog is being closed");
    }
    ChangesKeyParts key;
    if (!ParseChangesKey(ToView(it->key()), &key)) {
      return absl::DataLossError("a key of the change log is malformed");
    }
    VARVE_RETURN_IF_ERROR(
        writer->ApplyEntry(key.csn, key.relation, ToView(it->value()), *state.directory));
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(it->status(), "reading the change log"));
  writer->SetApplied(state.csn);
  return absl::OkStatus();
}

CatalogMemory::~CatalogMemory() {
  Stop();
}

void CatalogMemory::Stop() {
  stop_ = true;
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    thread = std::exchange(thread_, std::thread());
  }
  if (thread.joinable()) {
    thread.join();
  }
}

void CatalogMemory::SetPhase(Phase phase, absl::Status status) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
  status_ = std::move(status);
  changed_.notify_all();
}

void CatalogMemory::Start() {
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::kIdle && !stop_) {
    phase_ = Phase::kRebuilding;
    thread_ = std::thread([this] { Rebuild(); });
  }
}

absl::Status CatalogMemory::Wait() {
  Start();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return phase_ == Phase::kReady || phase_ == Phase::kFailed; });
  return status_;
}

void CatalogMemory::Rebuild() {
  const absl::Status status = TryRebuild();
  if (!status.ok()) {
    SetPhase(Phase::kFailed, While("rebuilding MemRowSets", status));
  }
}

absl::Status CatalogMemory::TryRebuild() {
  StateRef state = hooks_.latest();
  writer_.emplace(state->columnar->flushed_csn());
  // Beside committers for as long as they are faster than a piece of it.
  for (Csn before = 0; before != state->csn; state = hooks_.latest()) {
    before = state->csn;
    VARVE_RETURN_IF_ERROR(ApplyChangeLog(*state, stop_, &*writer_));
  }
  return hooks_.exclusively([&] {
    const StateRef last = hooks_.latest();
    VARVE_RETURN_IF_ERROR(ApplyChangeLog(*last, stop_, &*writer_));
    hooks_.publish(WithMemory(*last, writer_->set()));
    SetPhase(Phase::kReady, absl::OkStatus());
    return absl::OkStatus();
  });
}

void CatalogMemory::Apply(const std::vector<CommittedChanges>& changes, StoreState* next) {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kReady) {
      return;
    }
  }
  const absl::Status status = writer_->Apply(changes, *next->directory);
  if (!status.ok()) {
    SetPhase(Phase::kFailed, While("applying a commit to MemRowSets", status));
    return;
  }
  writer_->DropFlushed(next->columnar->flushed_csn());
  next->memory = writer_->set();
}

absl::StatusOr<std::shared_ptr<const MemorySet>> CatalogMemory::Freeze() {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kReady) {
      return phase_ == Phase::kFailed
                 ? status_
                 : absl::FailedPreconditionError("the MemRowSets are not there yet");
    }
  }
  writer_->Freeze();
  return writer_->set();
}

absl::StatusOr<CatalogMemory::StateRef> CatalogMemory::CatchUp(StateRef next) {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kReady) {
      return next;
    }
  }
  absl::Status status = ApplyChangeLog(*next, stop_, &*writer_);
  if (absl::IsOutOfRange(status)) {  // the writer has forgotten what came in between
    writer_.emplace(next->columnar->flushed_csn());
    status = ApplyChangeLog(*next, stop_, &*writer_);
  }
  if (!status.ok()) {  // part of a commit may have been applied
    writer_.reset();
    SetPhase(Phase::kFailed, While("reading on in the change log", status));
    return next;
  }
  writer_->DropFlushed(next->columnar->flushed_csn());
  return WithMemory(*next, writer_->set());
}

}  // namespace varve
