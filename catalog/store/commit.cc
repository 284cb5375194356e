#include "catalog/store/commit.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/coding.h"
#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/payload_codec.h"
#include "catalog/store/change_record.h"
#include "catalog/store/store_format.h"
#include "catalog/store/version_cursor.h"
#include "catalog/store/version_group.h"

namespace varve {
namespace {

class Commit {
 public:
  explicit Commit(std::shared_ptr<const StoreState> base)
      : base_(std::move(base)),
        csn_(base_->csn + 1),
        last_snapshot_(base_->last_snapshot),
        directory_(base_->directory) {}

  absl::StatusOr<std::shared_ptr<const StoreState>> Run(const ChangeSet& changes);

 private:
  const RowStore& store() const { return *base_->store; }

  absl::Status ChangeDirectory(const ChangeSet& changes);
  absl::Status DropRelation(const std::string& name, std::vector<RelationRef>* relations);
  absl::StatusOr<RelationRef> CurrentSchema(const RowChange& change) const;
  absl::StatusOr<VersionGroup*> GroupOf(const RelationRef& relation, std::string handle);
  absl::StatusOr<std::string> HandleOf(const RowChange& change, const RelationRef& relation);
  // A counter of the `default` family. One that is missing must not begin again: numbers are never
  // reused.
  template <typename Number>
  absl::StatusOr<Number> Counter(std::string_view key) const;
  absl::StatusOr<int64_t> NextRowNumber();
  absl::Status Apply(const RowChange& change);
  absl::Status Check();
  absl::Status Write();
  void WriteVersion(const VersionGroup& group, const GroupVersion& version);
  void EraseVersion(const VersionGroup& group, const GroupVersion& version);
  absl::Status NoteIndex(const VersionGroup& group);
  absl::Status WriteIndex();
  rocksdb::ColumnFamilyHandle* family(Family f) const { return store().family(f); }

  std::shared_ptr<const StoreState> base_;
  Csn csn_;
  SnapshotId last_snapshot_;
  std::shared_ptr<const RelationDirectory> directory_;
  std::optional<int64_t> next_row_number_;
  std::vector<std::unique_ptr<VersionGroup>> groups_;
  absl::flat_hash_map<std::string, VersionGroup*> group_of_key_;
  std::map<std::string, std::string> index_puts_;  // index key -> handle
  absl::flat_hash_set<std::string> index_deletes_;
  ChangeRecorder recorder_;
  rocksdb::WriteBatch batch_;
};

absl::Status Commit::DropRelation(const std::string& name, std::vector<RelationRef>* relations) {
  const auto it = std::find_if(relations->begin(), relations->end(), [&](const RelationRef& r) {
    return r->dynamic && EqualsIgnoreCase(r->name, name);
  });
  if (it == relations->end()) {
    return absl::NotFoundError(
        StrCat("there is no dynamic relation '", name, "' to drop; built-in relations stay"));
  }
  const std::string begin = RelationPrefix((*it)->id);
  const std::string end = RelationPrefix((*it)->id + 1);
  VARVE_RETURN_IF_ERROR(
      FromRocksDb(batch_.DeleteRange(family(Family::kLive), begin, end), "dropping a relation"));
  VARVE_RETURN_IF_ERROR(
      FromRocksDb(batch_.DeleteRange(family(Family::kEnded), begin, end), "dropping a relation"));
  VARVE_RETURN_IF_ERROR(FromRocksDb(batch_.Delete(family(Family::kDefault), RelationKey((*it)->id)),
                                    "dropping a relation"));
  recorder_.DropRelation((*it)->id);
  relations->erase(it);
  return absl::OkStatus();
}

template <typename Number>
absl::StatusOr<Number> Commit::Counter(std::string_view key) const {
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                         store().GetDefault(key, base_->snapshot));
  const std::optional<Number> number = ParseNumber<Number>(text.value_or(""));
  if (!number.has_value()) {
    return absl::DataLossError(StrCat("catalog ", store().path(), ": the counter '", key,
                                      "' is missing or no number; import the catalog again"));
  }
  return *number;
}

absl::Status Commit::ChangeDirectory(const ChangeSet& changes) {
  if (changes.created().empty() && changes.dropped().empty()) {
    return absl::OkStatus();
  }
  std::vector<RelationRef> relations = base_->directory->relations();
  for (const std::string& name : changes.dropped()) {
    VARVE_RETURN_IF_ERROR(DropRelation(name, &relations));
  }
  VARVE_ASSIGN_OR_RETURN(RelationId next_id, Counter<RelationId>(kNextRelationKey));
  for (RelationSchema relation : changes.created()) {
    const bool taken = std::any_of(relations.begin(), relations.end(), [&](const RelationRef& r) {
      return EqualsIgnoreCase(r->name, relation.name);
    });
    if (taken) {
      return absl::AlreadyExistsError(StrCat("relation ", relation.name, " exists already"));
    }
    if (!relation.dynamic) {
      return absl::InvalidArgumentError(
          StrCat("relation ", relation.name, " is built in and cannot be created"));
    }
    relation.id = next_id++;
    VARVE_RETURN_IF_ERROR(FromRocksDb(
        batch_.Put(family(Family::kDefault), RelationKey(relation.id), SerializeRelation(relation)),
        "creating a relation"));
    relations.push_back(std::make_shared<RelationSchema>(std::move(relation)));
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(
      batch_.Put(family(Family::kDefault), ToSlice(kNextRelationKey), std::to_string(next_id)),
      "creating a relation"));
  directory_ = std::make_shared<const RelationDirectory>(std::move(relations));
  return absl::OkStatus();
}

absl::StatusOr<RelationRef> Commit::CurrentSchema(const RowChange& change) const {
  RelationRef relation = directory_->FindByName(change.relation->name);
  if (relation == nullptr) {
    return absl::NotFoundError(StrCat("there is no relation ", change.relation->name));
  }
  return relation;
}

absl::StatusOr<int64_t> Commit::NextRowNumber() {
  if (!next_row_number_.has_value()) {
    VARVE_ASSIGN_OR_RETURN(next_row_number_, Counter<int64_t>(kNextRowNumberKey));
  }
  return (*next_row_number_)++;
}

absl::StatusOr<std::string> Commit::HandleOf(const RowChange& change, const RelationRef& relation) {
  std::string handle;
  const bool whole_row =
      change.kind == RowChange::Kind::kInsert || change.kind == RowChange::Kind::kPut;
  if (whole_row) {
    VARVE_RETURN_IF_ERROR(CheckRowShape(*relation, change.row.values()));
  }
  if (relation->handle_kind == HandleKind::kRowNumber) {
    int64_t number = 0;
    if (whole_row) {
      VARVE_ASSIGN_OR_RETURN(number, NextRowNumber());
    } else if (change.row.size() == 1 && !change.row[0].is_null() &&
               change.row[0].physical() == PhysicalType::kInt64) {
      number = change.row[0].int64_value();
    } else {
      return absl::InvalidArgumentError(
          StrCat(relation->name, " has no key columns; name the row by its row number"));
    }
    AppendIntHandle(number, &handle);
    return handle;
  }
  VARVE_RETURN_IF_ERROR(whole_row ? AppendHandleOfRow(*relation, change.row.values(), &handle)
                                  : AppendHandle(*relation, change.row.values(), &handle));
  return handle;
}

absl::StatusOr<VersionGroup*> Commit::GroupOf(const RelationRef& relation, std::string handle) {
  const std::string key = LiveKey(relation->id, handle);
  if (const auto it = group_of_key_.find(key); it != group_of_key_.end()) {
    return it->second;
  }
  auto group = std::make_unique<VersionGroup>(relation, std::move(handle));
  const bool existed = base_->directory->FindById(relation->id) != nullptr;
  if (existed) {
    VARVE_RETURN_IF_ERROR(group->Load(*base_));
  }
  VersionGroup* const raw = group.get();
  groups_.push_back(std::move(group));
  group_of_key_.emplace(key, raw);
  return raw;
}

absl::Status Commit::Apply(const RowChange& change) {
  VARVE_ASSIGN_OR_RETURN(const RelationRef relation, CurrentSchema(change));
  VARVE_ASSIGN_OR_RETURN(std::string handle, HandleOf(change, relation));
  VARVE_ASSIGN_OR_RETURN(VersionGroup* const group, GroupOf(relation, std::move(handle)));
  switch (change.kind) {
    case RowChange::Kind::kInsert: {
      VARVE_ASSIGN_OR_RETURN(const SnapshotInterval interval,
                             IntervalOfRow(*relation, change.row.values()));
      std::string payload;
      AppendPayload(*relation, change.row.values(), &payload);
      group->Insert(interval, std::move(payload));
      return absl::OkStatus();
    }
    case RowChange::Kind::kPut: {
      if (relation->versioning == Versioning::kInterval ||
          relation->versioning == Versioning::kBeginOnly) {
        return absl::InvalidArgumentError(
            StrCat(relation->name, " is versioned: insert a new version instead of overwriting"));
      }
      std::string payload;
      AppendPayload(*relation, change.row.values(), &payload);
      group->Put(std::move(payload));
      return absl::OkStatus();
    }
    case RowChange::Kind::kEnd: return group->End(change.end);
    case RowChange::Kind::kErase: return group->Erase(change.begin);
  }
  return absl::OkStatus();
}

absl::Status Commit::Check() {
  for (const auto& group : groups_) {
    if (group->relation()->id == kSnapshot) {
      for (const GroupVersion& version : group->versions()) {
        last_snapshot_ = version.erased ? last_snapshot_ : std::max(last_snapshot_, version.begin);
      }
    }
  }
  for (const auto& group : groups_) {
    VARVE_RETURN_IF_ERROR(group->Settle(last_snapshot_));
    if (group->relation()->id == kSnapshot && group->IsEmpty() &&
        group->HadVersion(base_->last_snapshot)) {
      return absl::FailedPreconditionError(
          StrCat("snapshot ", base_->last_snapshot, " is the last one and cannot be deleted"));
    }
    VARVE_RETURN_IF_ERROR(NoteIndex(*group));
  }
  return absl::OkStatus();
}

void Commit::EraseVersion(const VersionGroup& group, const GroupVersion& version) {
  const RelationId id = group.relation()->id;
  const std::string handle = group.HandleOf(version);
  // WriteBatch reports only a batch grown too large, which Write's own status repeats.
  if (version.stored_end == kNoEnd) {
    batch_.Delete(family(Family::kLive), LiveKey(id, handle)).PermitUncheckedError();
  } else {
    batch_.Delete(family(Family::kEnded), EndedKey(id, handle, version.begin))
        .PermitUncheckedError();
  }
}

void Commit::WriteVersion(const VersionGroup& group, const GroupVersion& version) {
  const RelationId id = group.relation()->id;
  const std::string handle = group.HandleOf(version);
  std::string value;
  if (version.end == kNoEnd) {
    AppendLiveValue(version.begin, csn_, version.payload, &value);
    batch_.Put(family(Family::kLive), LiveKey(id, handle), value).PermitUncheckedError();
  } else {
    AppendEndedValue(version.end, csn_, version.payload, &value);
    batch_.Put(family(Family::kEnded), EndedKey(id, handle, version.begin), value)
        .PermitUncheckedError();
  }
}

// Remembers what becomes of the index entry of the group's row.
absl::Status Commit::NoteIndex(const VersionGroup& group) {
  const RelationSchema& relation = *group.relation();
  if (!relation.unique_column.has_value() || group.IsEmpty() == group.WasEmpty()) {
    return absl::OkStatus();
  }
  DecodedHandle decoded;
  VARVE_RETURN_IF_ERROR(DecodeHandle(relation, group.handle(), &decoded));
  std::optional<int64_t> id;
  for (size_t i = 0; i < relation.handle.size(); ++i) {
    if (relation.handle[i] == *relation.unique_column && !decoded.key[i].is_null()) {
      id = decoded.key[i].int64_value();
    }
  }
  if (!id.has_value()) {
    return absl::InvalidArgumentError(StrCat(relation.name, ": ",
                                             relation.columns.column(*relation.unique_column).name,
                                             " is NULL; it identifies the row and needs a value"));
  }
  const std::string key = IndexKey(relation.id, *id);
  if (group.IsEmpty()) {
    index_deletes_.insert(key);
    return absl::OkStatus();
  }
  if (!index_puts_.emplace(key, group.handle()).second) {
    return absl::AlreadyExistsError(StrCat(relation.name, " ",
                                           HandleToText(relation, group.handle()),
                                           ": the id is given twice in this commit"));
  }
  return absl::OkStatus();
}

absl::Status Commit::WriteIndex() {
  for (const std::string& key : index_deletes_) {
    if (!index_puts_.contains(key)) {
      batch_.Delete(family(Family::kLive), key).PermitUncheckedError();
    }
  }
  for (const auto& [key, handle] : index_puts_) {
    std::string held;
    const rocksdb::Status status =
        store().db().Get(base_->read_options(), family(Family::kLive), key, &held);
    if (status.ok() && held != handle && !index_deletes_.contains(key)) {
      std::string_view rest = key;
      uint32_t prefix = 0;
      GetBigEndian(&rest, &prefix);
      const RelationRef relation = directory_->FindById(prefix & ~kIndexRelation);
      return absl::AlreadyExistsError(StrCat(relation->name, " ", HandleToText(*relation, handle),
                                             ": the id belongs to ", HandleToText(*relation, held),
                                             " already"));
    }
    if (!status.ok() && !status.IsNotFound()) {
      return FromRocksDb(status, "reading an index entry");
    }
    batch_.Put(family(Family::kLive), key, handle).PermitUncheckedError();
  }
  return absl::OkStatus();
}

absl::Status Commit::Write() {
  for (const auto& group : groups_) {
    // Removals first: a version may give up its place to another one of its handle.
    for (const GroupVersion& version : group->versions()) {
      if (version.stored && (version.erased || version.end != version.stored_end)) {
        EraseVersion(*group, version);
      }
    }
    for (const GroupVersion& version : group->versions()) {
      if (version.erased ? version.stored : version.changed) {
        recorder_.Record(*group, version);
      }
      if (!version.erased && version.changed) {
        WriteVersion(*group, version);
      }
    }
  }
  VARVE_RETURN_IF_ERROR(WriteIndex());
  for (const auto& [key, value] : recorder_.Finish(csn_)) {
    batch_.Put(family(Family::kChanges), key, value).PermitUncheckedError();
  }
  const auto put = [&](std::string_view key, uint64_t number) {
    batch_.Put(family(Family::kDefault), ToSlice(key), std::to_string(number))
        .PermitUncheckedError();
  };
  put(kLastCsnKey, csn_);
  put(kLastSnapshotKey, last_snapshot_);
  if (next_row_number_.has_value()) {
    put(kNextRowNumberKey, static_cast<uint64_t>(*next_row_number_));
  }
  rocksdb::WriteOptions options;
  options.sync = true;
  return FromRocksDb(store().db().Write(options, &batch_), "committing");
}

absl::StatusOr<std::shared_ptr<const StoreState>> Commit::Run(const ChangeSet& changes) {
  VARVE_RETURN_IF_ERROR(ChangeDirectory(changes));
  for (const RowChange& change : changes.changes()) {
    VARVE_RETURN_IF_ERROR(Apply(change));
  }
  VARVE_RETURN_IF_ERROR(Check());
  VARVE_RETURN_IF_ERROR(Write());
  auto next = std::make_shared<StoreState>();
  next->store = base_->store;
  next->snapshot = next->store->db().GetSnapshot();
  next->csn = csn_;
  next->last_snapshot = last_snapshot_;
  next->retain_from = base_->retain_from;
  next->directory = directory_;
  return next;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const StoreState>> CommitChanges(
    const std::shared_ptr<const StoreState>& base, const ChangeSet& changes) {
  return Commit(base).Run(changes);
}

}  // namespace varve
