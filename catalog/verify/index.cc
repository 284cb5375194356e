// Index entries of columns that are unique without being the handle: rows and entries agree both
// ways.
#include "base/coding.h"
#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/verify/checks.h"

namespace varve {
namespace {

class IndexCheck {
 public:
  IndexCheck(VerifyRun* run, RelationRef relation)
      : run_(run),
        relation_(std::move(relation)),
        state_(*run->view().state()),
        column_(*relation_->unique_column) {
    options_ = state_.read_options();
    options_.fill_cache = false;
    ended_.reset(state_.store->db().NewIterator(options_, state_.store->family(Family::kEnded)));
  }

  absl::Status RowsToEntries(Family family) {
    const std::string upper = RelationPrefix(relation_->id + 1);
    const rocksdb::Slice upper_slice(upper);
    rocksdb::ReadOptions options = options_;
    options.iterate_upper_bound = &upper_slice;
    const std::unique_ptr<rocksdb::Iterator> it(
        state_.store->db().NewIterator(options, state_.store->family(family)));
    for (it->Seek(ToSlice(RelationPrefix(relation_->id))); it->Valid(); it->Next()) {
      std::string_view handle = ToView(it->key()).substr(kRelationPrefixSize);
      if (family == Family::kEnded) {
        handle.remove_suffix(kBeginSuffixSize);
      }
      VARVE_RETURN_IF_ERROR(CheckRow(handle));
    }
    return FromRocksDb(it->status(), StrCat("reading ", relation_->name));
  }

  absl::Status EntriesToRows() {
    const std::string upper = RelationPrefix((relation_->id | kIndexRelation) + 1);
    const rocksdb::Slice upper_slice(upper);
    rocksdb::ReadOptions options = options_;
    options.iterate_upper_bound = &upper_slice;
    const std::unique_ptr<rocksdb::Iterator> it(
        state_.store->db().NewIterator(options, state_.store->family(Family::kLive)));
    for (it->Seek(ToSlice(RelationPrefix(relation_->id | kIndexRelation))); it->Valid();
         it->Next()) {
      VARVE_RETURN_IF_ERROR(CheckEntry(ToView(it->key()), ToView(it->value())));
    }
    return FromRocksDb(it->status(), StrCat("reading the index of ", relation_->name));
  }

 private:
  // The unique column's value in a handle; nullopt when it is not there.
  std::optional<int64_t> IdOfHandle(std::string_view handle) {
    if (!DecodeHandle(*relation_, handle, &decoded_).ok()) {
      return std::nullopt;
    }
    for (size_t i = 0; i < relation_->handle.size(); ++i) {
      if (relation_->handle[i] == column_ && !decoded_.key[i].is_null()) {
        return decoded_.key[i].int64_value();
      }
    }
    return std::nullopt;
  }

  std::string EntryName(int64_t id) const {
    return StrCat(relation_->columns.column(column_).name, "=", id);
  }

  absl::Status CheckRow(std::string_view handle) {
    const std::optional<int64_t> id = IdOfHandle(handle);
    if (!id.has_value()) {
      return absl::OkStatus();  // a NULL id has no entry; the missing value is a finding of its own
    }
    std::string entry;
    const rocksdb::Status status = state_.store->db().Get(
        options_, state_.store->family(Family::kLive), IndexKey(relation_->id, *id), &entry);
    if (status.IsNotFound()) {
      run_->Report(Rule::kIndexMissing, relation_->name, HandleToText(*relation_, handle),
                   StrCat("no index entry leads to the row by ", EntryName(*id)));
      return absl::OkStatus();
    }
    VARVE_RETURN_IF_ERROR(FromRocksDb(status, StrCat("reading ", relation_->name)));
    if (entry != handle) {
      run_->Report(Rule::kIndexMismatch, relation_->name, HandleToText(*relation_, handle),
                   StrCat("the index entry of ", EntryName(*id), " leads to ",
                          HandleToText(*relation_, entry), " instead"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckEntry(std::string_view key, std::string_view handle) {
    std::string_view rest = key.substr(kRelationPrefixSize);
    int64_t id = 0;
    if (!ReadIntHandle(&rest, &id) || !rest.empty()) {
      run_->Report(Rule::kCorruption, relation_->name, StrCat("0x", BytesToHexString(key)),
                   "a key of the index is malformed");
      return absl::OkStatus();
    }
    VARVE_ASSIGN_OR_RETURN(const bool exists, RowExists(handle));
    if (!exists) {
      run_->Report(Rule::kIndexDangling, relation_->name, EntryName(id),
                   StrCat("the index entry leads to ", HandleToText(*relation_, handle),
                          ", where there is no row"));
    } else if (IdOfHandle(handle) != id) {
      run_->Report(Rule::kIndexMismatch, relation_->name, EntryName(id),
                   StrCat("the index entry leads to ", HandleToText(*relation_, handle),
                          ", a row with another id"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<bool> RowExists(std::string_view handle) {
    const std::string key = LiveKey(relation_->id, handle);
    std::string value;
    const rocksdb::Status status =
        state_.store->db().Get(options_, state_.store->family(Family::kLive), ToSlice(key), &value);
    if (status.ok()) {
      return true;
    }
    if (!status.IsNotFound()) {
      return FromRocksDb(status, StrCat("reading ", relation_->name));
    }
    ended_->Seek(ToSlice(key));
    if (ended_->Valid()) {
      const std::string_view found = ToView(ended_->key());
      return found.size() == key.size() + kBeginSuffixSize && found.substr(0, key.size()) == key;
    }
    VARVE_RETURN_IF_ERROR(FromRocksDb(ended_->status(), StrCat("reading ", relation_->name)));
    return false;
  }

  VerifyRun* run_;
  RelationRef relation_;
  const StoreState& state_;
  size_t column_;
  rocksdb::ReadOptions options_;
  std::unique_ptr<rocksdb::Iterator> ended_;
  DecodedHandle decoded_;
};

}  // namespace

absl::Status CheckIndexes(VerifyRun* run) {
  for (const RelationRef& relation : run->view().relations().relations()) {
    if (!relation->unique_column.has_value()) {
      continue;
    }
    IndexCheck check(run, relation);
    VARVE_RETURN_IF_ERROR(check.RowsToEntries(Family::kLive));
    VARVE_RETURN_IF_ERROR(check.RowsToEntries(Family::kEnded));
    VARVE_RETURN_IF_ERROR(check.EntriesToRows());
  }
  return absl::OkStatus();
}

}  // namespace varve
