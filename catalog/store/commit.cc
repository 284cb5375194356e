#include "catalog/store/commit.h"

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <iterator>
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
#include "catalog/retention/retained.h"
#include "catalog/store/change_record.h"
#include "catalog/store/store_format.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/transaction/footprint.h"

namespace varve {
namespace {

bool HoldsNames(RelationId relation) {
  return relation == kSchema || relation == kTable || relation == kView || relation == kMacro;
}

// The value of the relation's unique column in a handle; nullopt where it is NULL.
absl::StatusOr<std::optional<int64_t>> UniqueIdOf(const RelationSchema& relation,
                                                  std::string_view handle) {
  DecodedHandle decoded;
  VARVE_RETURN_IF_ERROR(DecodeHandle(relation, handle, &decoded));
  for (size_t i = 0; i < relation.handle.size(); ++i) {
    if (relation.handle[i] == *relation.unique_column && !decoded.key[i].is_null()) {
      return decoded.key[i].int64_value();
    }
  }
  return std::nullopt;
}

absl::Status BatchStatus(const rocksdb::Status& status) {
  return FromRocksDb(status, "collecting a commit");
}

}  // namespace

Commit::Commit(CommitGroup* group)
    : group_(group),
      csn_(group->csn_ + 1),
      last_snapshot_(group->last_snapshot_),
      retain_from_(group->retain_from_),
      pins_(group->pins_),
      columnar_(group->columnar_),
      directory_(group->directory_) {}

const StoreState& Commit::base() const {
  return *group_->base_;
}
const std::shared_ptr<const StoreState>& Commit::base_state() const {
  return group_->base_;
}
bool Commit::is_first() const {
  return group_->commits_ == 0;
}
const std::vector<CommitFootprint>& Commit::earlier() const {
  return group_->footprints_;
}
rocksdb::WriteBatch& Commit::batch() {
  return group_->batch_;
}
rocksdb::ColumnFamilyHandle* Commit::family(Family family) const {
  return base().store->family(family);
}

absl::Status Commit::DropRelation(std::string_view name) {
  if (!is_first()) {
    return absl::InternalError("a relation is dropped behind other commits of a group");
  }
  std::vector<RelationRef> relations = directory_->relations();
  const auto it = std::find_if(relations.begin(), relations.end(), [&](const RelationRef& r) {
    return r->dynamic && EqualsIgnoreCase(r->name, name);
  });
  if (it == relations.end()) {
    return absl::NotFoundError(
        StrCat("there is no dynamic relation '", name, "' to drop; built-in relations stay"));
  }
  const RelationId id = (*it)->id;
  const std::string begin = RelationPrefix(id);
  const std::string end = RelationPrefix(id + 1);
  VARVE_RETURN_IF_ERROR(BatchStatus(batch().DeleteRange(family(Family::kLive), begin, end)));
  VARVE_RETURN_IF_ERROR(BatchStatus(batch().DeleteRange(family(Family::kEnded), begin, end)));
  PutDefault(RelationKey(id), std::nullopt);
  // The change feed may still have to read its rows.
  PutDefault(DroppedRelationKey(csn_, id), SerializeRelation(**it));
  recorder_.DropRelation(id);
  relations.erase(it);
  directory_ = std::make_shared<const RelationDirectory>(std::move(relations));
  return absl::OkStatus();
}

absl::StatusOr<RelationRef> Commit::CreateRelation(RelationSchema relation) {
  if (directory_->FindByName(relation.name) != nullptr) {
    return absl::AlreadyExistsError(StrCat("relation ", relation.name, " exists already"));
  }
  if (!relation.dynamic) {
    return absl::InvalidArgumentError(
        StrCat("relation ", relation.name, " is built in and cannot be created"));
  }
  VARVE_ASSIGN_OR_RETURN(relation.id, Counter<RelationId>(kNextRelationKey));
  PutDefault(std::string(kNextRelationKey), std::to_string(relation.id + 1));
  PutDefault(RelationKey(relation.id), SerializeRelation(relation));
  std::vector<RelationRef> relations = directory_->relations();
  relations.push_back(std::make_shared<RelationSchema>(std::move(relation)));
  RelationRef created = relations.back();
  directory_ = std::make_shared<const RelationDirectory>(std::move(relations));
  return created;
}

void Commit::PutDefault(std::string key, std::optional<std::string> value) {
  defaults_[std::move(key)] = std::move(value);
}

absl::StatusOr<std::optional<std::string>> Commit::GetDefault(std::string_view key) const {
  if (const auto it = defaults_.find(key); it != defaults_.end()) {
    return it->second;
  }
  if (const auto it = group_->defaults_.find(key); it != group_->defaults_.end()) {
    return it->second;
  }
  return base().store->GetDefault(key, base().snapshot);
}

void Commit::SetRetainFrom(SnapshotId snapshot) {
  retain_from_ = std::max(retain_from_, snapshot);
  PutDefault(std::string(kRetainFromKey), std::to_string(retain_from_));
}

void Commit::SetColumnar(std::shared_ptr<const ColumnarSet> columnar) {
  PutDefault(std::string(kColumnarManifestKey), columnar->manifest().SerializeAsString());
  columnar_ = std::move(columnar);
}

void Commit::DeleteChanges(std::string_view from_key, std::string_view to_key) {
  // A batch reports only that it has grown too large, which its writing repeats.
  batch()
      .DeleteRange(family(Family::kChanges), ToSlice(from_key), ToSlice(to_key))
      .PermitUncheckedError();
}

template <typename Number>
absl::StatusOr<Number> Commit::Counter(std::string_view key) const {
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> text, GetDefault(key));
  const std::optional<Number> number = ParseNumber<Number>(text.value_or(""));
  if (!number.has_value()) {
    return absl::DataLossError(StrCat("catalog ", base().store->path(), ": the counter '", key,
                                      "' is missing or no number; import the catalog again"));
  }
  return *number;
}

absl::StatusOr<int64_t> Commit::NextRowNumber() {
  VARVE_ASSIGN_OR_RETURN(const int64_t number, Counter<int64_t>(kNextRowNumberKey));
  PutDefault(std::string(kNextRowNumberKey), std::to_string(number + 1));
  return number;
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

VersionGroup* Commit::NewGroup(const RelationRef& relation, std::string handle) {
  std::string key = LiveKey(relation->id, handle);
  groups_.push_back(std::make_unique<VersionGroup>(relation, std::move(handle)));
  group_of_key_.emplace(std::move(key), groups_.back().get());
  return groups_.back().get();
}

absl::StatusOr<VersionGroup*> Commit::Group(const RelationRef& relation, std::string handle,
                                            SnapshotId from) {
  const std::string key = LiveKey(relation->id, handle);
  VersionGroup* group = nullptr;
  if (const auto it = group_of_key_.find(key); it != group_of_key_.end()) {
    group = it->second;
  } else if (const auto settled = group_->settled_.find(key); settled != group_->settled_.end()) {
    groups_.push_back(std::make_unique<VersionGroup>(*settled->second));
    group = groups_.back().get();
    group_of_key_.emplace(key, group);
  } else {
    group = NewGroup(relation, std::move(handle));
  }
  if (base().directory->FindById(relation->id) != nullptr) {
    VARVE_RETURN_IF_ERROR(group->Load(base(), from));
  }
  return group;
}

absl::Status Commit::ApplyOne(const RowChange& change) {
  const RelationRef relation = directory_->FindByName(change.relation->name);
  if (relation == nullptr) {
    return absl::NotFoundError(StrCat("there is no relation ", change.relation->name));
  }
  VARVE_ASSIGN_OR_RETURN(std::string handle, HandleOf(change, relation));
  switch (change.kind) {
    case RowChange::Kind::kInsert: {
      VARVE_ASSIGN_OR_RETURN(const SnapshotInterval interval,
                             IntervalOfRow(*relation, change.row.values()));
      VARVE_ASSIGN_OR_RETURN(VersionGroup* const group,
                             Group(relation, std::move(handle), interval.begin));
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
      VARVE_ASSIGN_OR_RETURN(VersionGroup* const group, Group(relation, std::move(handle), 0));
      std::string payload;
      AppendPayload(*relation, change.row.values(), &payload);
      group->Put(std::move(payload));
      return absl::OkStatus();
    }
    case RowChange::Kind::kEnd: {
      VARVE_ASSIGN_OR_RETURN(VersionGroup* const group, Group(relation, std::move(handle), kNoEnd));
      return group->End(change.end);
    }
    case RowChange::Kind::kErase: {
      VARVE_ASSIGN_OR_RETURN(VersionGroup* const group,
                             Group(relation, std::move(handle), change.begin));
      return group->Erase(change.begin);
    }
  }
  return absl::OkStatus();
}

absl::Status Commit::Apply(const ChangeSet& changes) {
  for (const std::string& name : changes.dropped()) {
    VARVE_RETURN_IF_ERROR(DropRelation(name));
  }
  for (const RelationSchema& relation : changes.created()) {
    VARVE_RETURN_IF_ERROR(CreateRelation(relation).status());
  }
  for (const RowChange& change : changes.changes()) {
    VARVE_RETURN_IF_ERROR(ApplyOne(change));
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
    if (group->relation()->id == kSnapshot && group->IsEmpty() && !group->WasEmpty()) {
      VARVE_RETURN_IF_ERROR(CheckSnapshotMayGo(group->versions().front().begin));
    }
    VARVE_RETURN_IF_ERROR(NoteIndex(*group));
  }
  return absl::OkStatus();
}

absl::Status Commit::CheckSnapshotMayGo(SnapshotId snapshot) const {
  if (snapshot == group_->last_snapshot_) {
    return absl::FailedPreconditionError(
        StrCat("snapshot ", snapshot, " is the last one and cannot be deleted"));
  }
  const std::string_view holder = HolderOf(*pins_, snapshot, absl::Now());
  if (!holder.empty()) {
    return absl::FailedPreconditionError(StrCat("snapshot ", snapshot, " is held by pin '", holder,
                                                "' and cannot be deleted; remove the pin first"));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Commit::EraseStored(const RelationRef& relation, std::string_view handle,
                                         SnapshotId begin, SnapshotId end) {
  if (!is_first()) {
    return absl::InternalError("versions are erased behind other commits of a group");
  }
  closes_group_ = true;
  const bool is_live = end == kNoEnd;
  rocksdb::ColumnFamilyHandle* const from = family(is_live ? Family::kLive : Family::kEnded);
  const std::string key =
      is_live ? LiveKey(relation->id, handle) : EndedKey(relation->id, handle, begin);
  rocksdb::PinnableSlice value;
  const rocksdb::Status status =
      base().store->db().Get(base().read_options(), from, ToSlice(key), &value);
  if (status.IsNotFound()) {
    return false;
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(status, StrCat("reading ", relation->name)));
  StoredVersion version;
  if (!(is_live ? ParseLive(key, ToView(value), &version)
                : ParseEnded(key, ToView(value), &version))) {
    return MalformedPair(*relation, key);
  }
  if (version.begin != begin || version.end != end) {
    return false;
  }
  if (relation->id == kSnapshot) {
    VARVE_RETURN_IF_ERROR(CheckSnapshotMayGo(begin));
  }
  batch().Delete(from, key).PermitUncheckedError();
  const PreImage before = {.csn = version.csn, .end = end, .payload = version.payload};
  recorder_.RecordErase(relation->id, handle, begin,
                        NeedsPreImage(relation->id, handle, begin) ? &before : nullptr);
  if (relation->unique_column.has_value()) {
    VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> id, UniqueIdOf(*relation, handle));
    if (id.has_value()) {
      index_deletes_.insert(IndexKey(relation->id, *id));
    }
  }
  return true;
}

bool Commit::NeedsPreImage(RelationId relation, std::string_view handle, SnapshotId begin) const {
  return base().memory == nullptr || !base().memory->Holds(relation, handle, begin);
}

void Commit::EraseVersion(const VersionGroup& group, const GroupVersion& version) {
  const RelationId id = group.relation()->id;
  const std::string handle = group.HandleOf(version);
  // WriteBatch reports only a batch grown too large, which Write's own status repeats.
  if (version.stored_end == kNoEnd) {
    batch().Delete(family(Family::kLive), LiveKey(id, handle)).PermitUncheckedError();
  } else {
    batch()
        .Delete(family(Family::kEnded), EndedKey(id, handle, version.begin))
        .PermitUncheckedError();
  }
}

void Commit::WriteVersion(const VersionGroup& group, const GroupVersion& version) {
  const RelationId id = group.relation()->id;
  const std::string handle = group.HandleOf(version);
  std::string value;
  if (version.end == kNoEnd) {
    AppendLiveValue(version.begin, csn_, version.payload, &value);
    batch().Put(family(Family::kLive), LiveKey(id, handle), value).PermitUncheckedError();
  } else {
    AppendEndedValue(version.end, csn_, version.payload, &value);
    batch()
        .Put(family(Family::kEnded), EndedKey(id, handle, version.begin), value)
        .PermitUncheckedError();
  }
}

// Remembers what becomes of the index entry of the group's row.
absl::Status Commit::NoteIndex(const VersionGroup& group) {
  const RelationSchema& relation = *group.relation();
  if (!relation.unique_column.has_value() || group.IsEmpty() == group.WasEmpty()) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<int64_t> id, UniqueIdOf(relation, group.handle()));
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
  const auto held_by_store = [&](const std::string& key) -> absl::StatusOr<std::string> {
    if (const auto it = group_->index_.find(key); it != group_->index_.end()) {
      return it->second.value_or("");
    }
    std::string held;
    const rocksdb::Status status =
        base().store->db().Get(base().read_options(), family(Family::kLive), key, &held);
    if (!status.ok() && !status.IsNotFound()) {
      return FromRocksDb(status, "reading an index entry");
    }
    return held;
  };
  for (const auto& [key, handle] : index_puts_) {
    VARVE_ASSIGN_OR_RETURN(const std::string held, held_by_store(key));
    if (!held.empty() && held != handle && !index_deletes_.contains(key)) {
      std::string_view rest = key;
      uint32_t prefix = 0;
      GetBigEndian(&rest, &prefix);
      const RelationRef relation = directory_->FindById(prefix & ~kIndexRelation);
      return absl::AlreadyExistsError(StrCat(relation->name, " ", HandleToText(*relation, handle),
                                             ": the id belongs to ", HandleToText(*relation, held),
                                             " already"));
    }
  }
  // Only now: nothing of a refused commit may remain in the group.
  for (const std::string& key : index_deletes_) {
    if (!index_puts_.contains(key)) {
      batch().Delete(family(Family::kLive), key).PermitUncheckedError();
      group_->index_[key] = std::nullopt;
    }
  }
  for (const auto& [key, handle] : index_puts_) {
    batch().Put(family(Family::kLive), key, handle).PermitUncheckedError();
    group_->index_[key] = handle;
  }
  return absl::OkStatus();
}

absl::Status Commit::WriteGroups() {
  for (const auto& group : groups_) {
    // Removals first: a version may give up its place to another one of its handle.
    for (const GroupVersion& version : group->versions()) {
      if (version.stored && (version.erased || version.end != version.stored_end)) {
        EraseVersion(*group, version);
      }
    }
    for (const GroupVersion& version : group->versions()) {
      if (version.erased ? version.stored : version.changed) {
        recorder_.Record(*group, version,
                         version.stored && NeedsPreImage(group->relation()->id,
                                                         group->HandleOf(version), version.begin));
      }
      if (!version.erased && version.changed) {
        WriteVersion(*group, version);
      }
    }
  }
  for (auto& [key, value] : recorder_.Finish(csn_, last_snapshot_)) {
    batch().Put(family(Family::kChanges), key, value).PermitUncheckedError();
    ChangesKeyParts parts;
    ParseChangesKey(key, &parts);
    changes_.push_back({.csn = csn_, .relation = parts.relation, .records = std::move(value)});
  }
  return absl::OkStatus();
}

absl::Status Commit::DeriveFootprint() {
  if (footprint_ != nullptr) {
    return absl::OkStatus();
  }
  for (const auto& group : groups_) {
    if (group->relation()->id != kSnapshotChanges) {
      continue;
    }
    const RowDecoder decoder(group->relation(), {*group->relation()->columns.Find("changes_made")});
    DecodedHandle scratch;
    for (const GroupVersion& version : group->versions()) {
      if (version.stored || version.erased) {
        continue;
      }
      Datum changes_made;
      VARVE_RETURN_IF_ERROR(decoder.Decode(group->handle(), version.begin, version.end,
                                           version.payload, &scratch, {&changes_made, 1}));
      if (changes_made.is_null()) {
        continue;
      }
      // A row set may say what it likes there; what cannot be read is no reason to refuse it.
      absl::StatusOr<Footprint> footprint = Footprint::FromChangesMade(changes_made.bytes());
      if (footprint.ok()) {
        footprint_ = std::make_shared<const Footprint>(*std::move(footprint));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Commit::Finish() {
  VARVE_RETURN_IF_ERROR(Check());
  VARVE_RETURN_IF_ERROR(DeriveFootprint());
  VARVE_RETURN_IF_ERROR(WriteIndex());
  VARVE_RETURN_IF_ERROR(WriteGroups());
  PutDefault(std::string(kLastCsnKey), std::to_string(csn_));
  PutDefault(std::string(kLastSnapshotKey), std::to_string(last_snapshot_));
  for (const auto& [key, value] : defaults_) {
    rocksdb::ColumnFamilyHandle* const family = this->family(Family::kDefault);
    (value.has_value() ? batch().Put(family, key, *value) : batch().Delete(family, key))
        .PermitUncheckedError();
  }
  return absl::OkStatus();
}

CommitGroup::CommitGroup(std::shared_ptr<const StoreState> base)
    : base_(std::move(base)),
      names_csn_(base_->names_csn),
      definitions_csn_(base_->definitions_csn),
      csn_(base_->csn),
      last_snapshot_(base_->last_snapshot),
      retain_from_(base_->retain_from),
      pins_(base_->pins),
      columnar_(base_->columnar),
      directory_(base_->directory) {}

absl::Status CommitGroup::Add(const PrepareCommit& prepare) {
  batch_.SetSavePoint();
  Commit commit(this);
  absl::Status status = prepare(commit);
  if (status.ok()) {
    status = commit.Finish();
  }
  if (!status.ok()) {
    VARVE_RETURN_IF_ERROR(BatchStatus(batch_.RollbackToSavePoint()));
    return status;
  }
  VARVE_RETURN_IF_ERROR(BatchStatus(batch_.PopSavePoint()));
  ++commits_;
  closed_ = closed_ || commit.closes_group_;
  csn_ = commit.csn_;
  last_snapshot_ = commit.last_snapshot_;
  retain_from_ = commit.retain_from_;
  pins_ = std::move(commit.pins_);
  columnar_ = std::move(commit.columnar_);
  directory_ = std::move(commit.directory_);
  for (auto& [key, value] : commit.defaults_) {
    defaults_[key] = std::move(value);
  }
  for (std::unique_ptr<VersionGroup>& group : commit.groups_) {
    if (HoldsNames(group->relation()->id)) {
      names_csn_ = csn_;
    }
    if (HoldsDefinitions(group->relation()->id)) {
      definitions_csn_ = csn_;
    }
    group->TakeAsStored(csn_);
    std::string key = LiveKey(group->relation()->id, group->handle());
    settled_[std::move(key)] = std::move(group);
  }
  std::move(commit.changes_.begin(), commit.changes_.end(), std::back_inserter(changes_));
  if (commit.footprint_ != nullptr) {
    footprints_.push_back(
        {.csn = csn_, .snapshot = last_snapshot_, .footprint = std::move(commit.footprint_)});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<StoreState>> CommitGroup::Write(bool sync) {
  VARVE_RETURN_IF_ERROR(base_->store->Write(&batch_, sync));
  auto next = std::make_shared<StoreState>();
  next->store = base_->store;
  next->snapshot = next->store->db().GetSnapshot();
  next->csn = csn_;
  next->last_snapshot = last_snapshot_;
  next->retain_from = retain_from_;
  next->pins = pins_;
  next->columnar = columnar_;
  next->directory = directory_;
  next->names_csn = names_csn_;
  next->definitions_csn = definitions_csn_;
  return next;
}

}  // namespace varve
