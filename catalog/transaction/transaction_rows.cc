#include "catalog/transaction/transaction_rows.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/payload_codec.h"
#include "catalog/transaction/provisional_ids.h"
#include "catalog/transaction/transaction_scan.h"

namespace varve {
namespace {

bool HoldsProvisional(const Datum& value) {
  return !value.is_null() && value.physical() == PhysicalType::kInt64 &&
         IsProvisional(value.int64_value());
}

std::vector<Datum> KeyOfRow(const RelationSchema& relation, std::span<const Datum> row) {
  std::vector<Datum> key;
  key.reserve(relation.handle.size());
  for (const size_t column : relation.handle) {
    key.push_back(row[column]);
  }
  return key;
}

// Columns of dynamic relations outside the handle are the user's: a large number there is no id.
bool PayloadHoldsProvisional(const RelationSchema& relation, std::span<const Datum> row) {
  if (relation.dynamic) {
    return false;
  }
  for (size_t i = 0; i < row.size(); ++i) {
    if (relation.in_payload[i] && HoldsProvisional(row[i])) {
      return true;
    }
  }
  return false;
}

// A row without the columns that this catalog has beyond DuckLake's: they are NULL.
Row WithExtraColumns(const RelationSchema& relation, Row row) {
  if (row.size() >= relation.columns.num_columns()) {
    return row;
  }
  Row wide(relation.columns.num_columns());
  for (size_t i = 0; i < row.size(); ++i) {
    wide.Set(i, row[i]);
  }
  return wide;
}

}  // namespace

TransactionRows::TransactionRows(ReadView base) : base_(std::move(base)) {}

// --- Relations ---

RelationRef TransactionRows::relation(RelationId id) const {
  for (const RelationRef& created : dynamic_.created) {
    if (created->id == id) {
      return created;
    }
  }
  for (const RelationRef& dropped : dynamic_.dropped) {
    if (dropped->id == id) {
      return nullptr;
    }
  }
  return base_.relations().FindById(id);
}

RelationRef TransactionRows::FindRelation(std::string_view name) const {
  for (const RelationRef& created : dynamic_.created) {
    if (EqualsIgnoreCase(created->name, name)) {
      return created;
    }
  }
  RelationRef found = base_.relations().FindByName(name);
  return found == nullptr ? nullptr : relation(found->id);
}

absl::StatusOr<RelationRef> TransactionRows::CreateRelation(RelationSchema relation) {
  if (FindRelation(relation.name) != nullptr) {
    return absl::AlreadyExistsError(StrCat("relation ", relation.name, " exists already"));
  }
  relation.id = kFirstProvisionalRelation;
  for (const RelationRef& created : dynamic_.created) {
    relation.id = std::max(relation.id, created->id + 1);
  }
  dynamic_.created.push_back(std::make_shared<RelationSchema>(std::move(relation)));
  return dynamic_.created.back();
}

absl::Status TransactionRows::DropRelation(const RelationRef& relation) {
  VARVE_RETURN_IF_ERROR(CheckRelation(relation));
  if (std::erase_if(dynamic_.created,
                    [&](const RelationRef& created) { return created->id == relation->id; }) == 0) {
    dynamic_.dropped.push_back(relation);
  }
  Changes& changes = changes_[relation->id];
  for (auto& [handle, change] : changes) {
    if (mark_ != 0 && change.mark != mark_) {
      undo_.push_back({.relation = relation->id,
                       .handle = handle,
                       .before = std::make_unique<Change>(std::move(change))});
    }
  }
  changes.clear();
  return absl::OkStatus();
}

absl::Status TransactionRows::CheckRelation(const RelationRef& relation) const {
  return relation != nullptr && this->relation(relation->id) != nullptr
             ? absl::OkStatus()
             : absl::NotFoundError(StrCat("there is no relation ",
                                          relation == nullptr ? "of this name" : relation->name));
}

// --- Reading ---

const TransactionRows::Change* TransactionRows::Find(RelationId relation,
                                                     std::string_view handle) const {
  const auto changes = changes_.find(relation);
  if (changes == changes_.end()) {
    return nullptr;
  }
  const auto it = changes->second.find(handle);
  return it == changes->second.end() ? nullptr : &it->second;
}

bool TransactionRows::HasChanges(RelationId relation) const {
  const auto changes = changes_.find(relation);
  return changes != changes_.end() && !changes->second.empty();
}

bool TransactionRows::empty() const {
  return dynamic_.created.empty() && dynamic_.dropped.empty() &&
         std::all_of(changes_.begin(), changes_.end(),
                     [](const auto& entry) { return entry.second.empty(); });
}

absl::StatusOr<VersionedRow> TransactionRows::ToRow(const RelationRef& relation,
                                                    const VersionGroup& group,
                                                    const GroupVersion& version) const {
  std::vector<size_t> columns(relation->columns.num_columns());
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i] = i;
  }
  const RowDecoder decoder(relation, std::move(columns));
  std::vector<Datum> values(relation->columns.num_columns());
  DecodedHandle scratch;
  VARVE_RETURN_IF_ERROR(decoder.Decode(group.handle(), version.begin, version.end, version.payload,
                                       &scratch, values));
  return VersionedRow{
      .values = Row(values), .begin = version.begin, .end = version.end, .csn = version.csn};
}

absl::StatusOr<bool> TransactionRows::ParentIsVisible(const RelationRef& relation,
                                                      std::span<const Datum> key) const {
  const RelationRef parent = this->relation(relation->parent);
  std::vector<Datum> parent_key;
  for (const size_t column : relation->parent_handle) {
    const auto position = std::find(relation->handle.begin(), relation->handle.end(), column);
    parent_key.push_back(key[static_cast<size_t>(position - relation->handle.begin())]);
  }
  std::string handle;
  VARVE_RETURN_IF_ERROR(AppendHandle(*parent, parent_key, &handle));
  if (const Change* const change = Find(parent->id, handle); change != nullptr) {
    return std::any_of(change->group.versions().begin(), change->group.versions().end(), IsSeen);
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, base_.Get(*parent, parent_key));
  return row.has_value();
}

absl::StatusOr<std::optional<VersionedRow>> TransactionRows::Get(const RelationRef& relation,
                                                                 std::span<const Datum> key) const {
  VARVE_RETURN_IF_ERROR(CheckRelation(relation));
  std::string handle;
  VARVE_RETURN_IF_ERROR(AppendHandle(*relation, key, &handle));
  const Change* const change = Find(relation->id, handle);
  const bool parent_changed =
      relation->versioning == Versioning::kViaParent && HasChanges(relation->parent);
  if (change != nullptr || parent_changed) {
    if (relation->versioning == Versioning::kViaParent) {
      VARVE_ASSIGN_OR_RETURN(const bool visible, ParentIsVisible(relation, key));
      if (!visible) {
        return std::nullopt;
      }
    }
    if (change != nullptr) {
      const auto& versions = change->group.versions();
      const auto seen = std::find_if(versions.begin(), versions.end(), IsSeen);
      if (seen == versions.end()) {
        return std::nullopt;
      }
      VARVE_ASSIGN_OR_RETURN(VersionedRow row, ToRow(relation, change->group, *seen));
      return row;
    }
  }
  if (base_.relations().FindById(relation->id) == nullptr) {
    return std::nullopt;
  }
  return base_.Get(*relation, key);
}

absl::Status TransactionRows::ForEach(
    const RelationRef& relation, std::span<const Datum> prefix,
    const std::function<absl::Status(const VersionedRow&)>& visit) const {
  VARVE_ASSIGN_OR_RETURN(
      const std::unique_ptr<RowScan> scan,
      Scan(relation, {.key_prefix = std::vector<Datum>(prefix.begin(), prefix.end())}));
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return absl::OkStatus();
    }
    for (size_t i = 0; i < batch.num_rows(); ++i) {
      VersionedRow row{.values = Row(relation->columns.num_columns()),
                       .begin = batch.begins[i],
                       .end = batch.ends[i]};
      for (size_t column = 0; column < row.values.size(); ++column) {
        row.values.Set(column, batch.columns.column(column).at(i));
      }
      VARVE_RETURN_IF_ERROR(visit(row));
    }
  }
}

absl::StatusOr<std::vector<VersionedRow>> TransactionRows::Rows(
    const RelationRef& relation, std::span<const Datum> prefix) const {
  std::vector<VersionedRow> rows;
  VARVE_RETURN_IF_ERROR(ForEach(relation, prefix, [&](const VersionedRow& row) {
    rows.push_back(row);
    return absl::OkStatus();
  }));
  return rows;
}

absl::StatusOr<std::vector<VersionedRow>> TransactionRows::Versions(
    const RelationRef& relation, std::span<const Datum> key) const {
  VARVE_RETURN_IF_ERROR(CheckRelation(relation));
  std::string handle;
  VARVE_RETURN_IF_ERROR(AppendHandle(*relation, key, &handle));
  const Change* const change = Find(relation->id, handle);
  if (change == nullptr) {
    if (base_.relations().FindById(relation->id) == nullptr) {
      return std::vector<VersionedRow>();
    }
    return base_.Versions(*relation, key);
  }
  // A group holds what its changes needed to see; here all of it is asked for.
  VersionGroup whole = change->group;
  if (!change->fresh) {
    VARVE_RETURN_IF_ERROR(whole.Load(*base_.state(), 0));
  }
  std::vector<VersionedRow> rows;
  for (const GroupVersion& version : whole.versions()) {
    if (!version.erased) {
      VARVE_ASSIGN_OR_RETURN(VersionedRow row, ToRow(relation, whole, version));
      rows.push_back(std::move(row));
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const VersionedRow& a, const VersionedRow& b) { return a.begin < b.begin; });
  return rows;
}

absl::StatusOr<std::unique_ptr<RowScan>> TransactionRows::Scan(const RelationRef& relation,
                                                               const ScanOptions& options) const {
  VARVE_RETURN_IF_ERROR(CheckRelation(relation));
  return TransactionScan::Open(*this, relation, options);
}

// --- Changing ---

absl::StatusOr<TransactionRows::Change*> TransactionRows::Touch(const RelationRef& relation,
                                                                std::span<const Datum> key,
                                                                SnapshotId from) {
  std::string handle;
  VARVE_RETURN_IF_ERROR(AppendHandle(*relation, key, &handle));
  Changes& changes = changes_[relation->id];
  const auto [it, added] = changes.try_emplace(handle, Change{VersionGroup(relation, handle)});
  Change& change = it->second;
  if (added) {
    change.fresh = relation->id >= kFirstProvisionalRelation ||
                   std::any_of(key.begin(), key.end(), HoldsProvisional);
  }
  if (mark_ != 0 && change.mark != mark_) {
    undo_.push_back({.relation = relation->id,
                     .handle = std::move(handle),
                     .before = added ? nullptr : std::make_unique<Change>(change)});
    change.mark = mark_;
  }
  if (!change.fresh) {
    VARVE_RETURN_IF_ERROR(change.group.Load(*base_.state(), from));
  }
  return &change;
}

absl::Status TransactionRows::Insert(const RelationRef& relation, Row row) {
  VARVE_RETURN_IF_ERROR(CheckRelation(relation));
  row = WithExtraColumns(*relation, std::move(row));
  if (relation->begin_column.has_value() && row.size() > *relation->begin_column &&
      row[*relation->begin_column].is_null()) {
    row.Set(*relation->begin_column, Datum::Int64(static_cast<int64_t>(pending_snapshot())));
  }
  VARVE_RETURN_IF_ERROR(CheckRowShape(*relation, row.values()));
  VARVE_ASSIGN_OR_RETURN(const SnapshotInterval interval, IntervalOfRow(*relation, row.values()));
  VARVE_ASSIGN_OR_RETURN(Change* const change,
                         Touch(relation, KeyOfRow(*relation, row.values()), interval.begin));
  for (const GroupVersion& version : change->group.versions()) {
    if (!version.erased && !relation->repeats &&
        IntervalsOverlap(version.begin, version.end, interval.begin, interval.end)) {
      return absl::AlreadyExistsError(StrCat(relation->name, " ",
                                             HandleToText(*relation, change->group.handle()),
                                             " exists already; end it first"));
    }
  }
  std::string payload;
  AppendPayload(*relation, row.values(), &payload);
  change->in_payload = change->in_payload || PayloadHoldsProvisional(*relation, row.values());
  change->group.Insert(interval, std::move(payload));
  return absl::OkStatus();
}

absl::Status TransactionRows::End(const RelationRef& relation, std::span<const Datum> key) {
  VARVE_RETURN_IF_ERROR(CheckRelation(relation));
  VARVE_ASSIGN_OR_RETURN(Change* const change, Touch(relation, key, kNoEnd));
  const auto& versions = change->group.versions();
  const auto born_here =
      std::find_if(versions.begin(), versions.end(), [&](const GroupVersion& version) {
        return IsSeen(version) && !version.stored && version.begin >= pending_snapshot();
      });
  return born_here != versions.end() ? change->group.Erase(born_here->begin)
                                     : change->group.End(pending_snapshot());
}

absl::Status TransactionRows::Replace(const RelationRef& relation, std::span<const Datum> key,
                                      const std::function<void(Row*)>& change) {
  VARVE_ASSIGN_OR_RETURN(std::optional<VersionedRow> row, Get(relation, key));
  if (!row.has_value()) {
    return absl::NotFoundError(StrCat("there is no such row of ", relation->name));
  }
  Row successor = std::move(row->values);
  change(&successor);
  successor.Set(*relation->begin_column, Datum::Int64(static_cast<int64_t>(pending_snapshot())));
  VARVE_RETURN_IF_ERROR(End(relation, KeyOfRow(*relation, successor.values())));
  return Insert(relation, std::move(successor));
}

absl::Status TransactionRows::Erase(const RelationRef& relation, std::span<const Datum> key,
                                    SnapshotId begin) {
  VARVE_RETURN_IF_ERROR(CheckRelation(relation));
  VARVE_ASSIGN_OR_RETURN(Change* const change, Touch(relation, key, begin));
  return change->group.Erase(begin);
}

absl::Status TransactionRows::Put(const RelationRef& relation, Row row) {
  VARVE_RETURN_IF_ERROR(CheckRelation(relation));
  if (relation->begin_column.has_value()) {
    return absl::InvalidArgumentError(
        StrCat(relation->name, " is versioned: insert a new version instead of overwriting"));
  }
  row = WithExtraColumns(*relation, std::move(row));
  VARVE_RETURN_IF_ERROR(CheckRowShape(*relation, row.values()));
  VARVE_ASSIGN_OR_RETURN(Change* const change,
                         Touch(relation, KeyOfRow(*relation, row.values()), 0));
  std::string payload;
  AppendPayload(*relation, row.values(), &payload);
  change->in_payload = change->in_payload || PayloadHoldsProvisional(*relation, row.values());
  change->group.Put(std::move(payload));
  return absl::OkStatus();
}

// --- Taking back ---

void TransactionRows::Mark() {
  mark_ = ++last_mark_;
  undo_.clear();
  dynamic_before_ = dynamic_;
}

void TransactionRows::Rollback() {
  for (Undo& undo : undo_) {  // each handle once
    Changes& changes = changes_[undo.relation];
    changes.erase(undo.handle);
    if (undo.before != nullptr) {
      changes.emplace(undo.handle, std::move(*undo.before));
    }
  }
  dynamic_ = std::move(dynamic_before_);
  Forget();
}

void TransactionRows::Forget() {
  mark_ = 0;
  undo_.clear();
  dynamic_before_ = {};
}

}  // namespace varve
