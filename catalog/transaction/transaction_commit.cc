// What a transaction becomes when it commits. It runs under the commit lock, in these phases:
//
//   1. conflicts   its footprint against those of the commits since its base
//   2. ids         the counters of the latest snapshot resolve what is provisional
//   3. relations   dynamic ones are dropped and made
//   4. drops       what hangs on dropped tables by now ends with them
//   5. rows        identities it wrote must be as its base had them; then they are changed
//   6. names       that it gave must still be free
//   7. statistics  deltas are applied to what the statistics are by now
//   8. snapshot    its row, its changes, the schema versions

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/payload_codec.h"
#include "catalog/transaction/inlined_relations.h"
#include "catalog/transaction/recent_commits.h"
#include "catalog/transaction/transaction_state.h"

namespace varve {
namespace {

std::vector<size_t> AllColumns(const RelationSchema& relation) {
  std::vector<size_t> columns(relation.columns.num_columns());
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i] = i;
  }
  return columns;
}

absl::StatusOr<Row> DecodeRow(const RelationRef& relation, std::string_view handle,
                              const GroupVersion& version) {
  const RowDecoder decoder(relation, AllColumns(*relation));
  std::vector<Datum> values(relation->columns.num_columns());
  DecodedHandle scratch;
  VARVE_RETURN_IF_ERROR(
      decoder.Decode(handle, version.begin, version.end, version.payload, &scratch, values));
  return Row(values);
}

Datum TextOrNull(const NullableText& text) {
  return text.has_value() ? Datum::Bytes(*text) : Datum::Null();
}

class TransactionCommit {
 public:
  TransactionCommit(Transaction::State* state, const CommitMessage& message, Commit* commit)
      : state_(*state), message_(message), commit_(*commit) {}

  absl::StatusOr<CommitResult> Run();

 private:
  absl::Status CheckConflicts() const;
  absl::Status ReadLastSnapshot();
  absl::Status ResolveIds();
  absl::Status ChangeRelations();
  absl::Status EndWithDropped();
  absl::Status EndLive(RelationId id, std::vector<Datum> prefix, Predicate predicate);
  absl::Status ApplyRows();
  absl::Status ApplyFresh(const RelationRef& relation, TransactionRows::Change* change);
  absl::Status ApplyChange(const RelationRef& relation, TransactionRows::Change* change);
  absl::Status CheckNames() const;
  absl::Status ApplyStatistics();
  absl::Status WriteSnapshot();

  // The row with this key as it stands now, or nullopt.
  absl::StatusOr<std::optional<Row>> Current(const RelationRef& relation,
                                             std::span<const Datum> key);
  absl::Status Put(const RelationRef& relation, const Row& known);
  absl::Status Insert(RelationId id, const Row& known);
  // Of the catalog with this commit.
  int64_t SchemaVersion() const {
    const Datum& last = (*last_row_)[2];
    return (last.is_null() ? 0 : last.int64_value()) + (footprint_.ChangesSchema() ? 1 : 0);
  }
  SnapshotId Real(SnapshotId snapshot) const {
    return snapshot == state_.rows.pending_snapshot() ? snapshot_ : snapshot;
  }
  absl::Status ResolveRow(const RelationRef& relation, Row* row) const;
  absl::StatusOr<std::string> ResolvedPayload(const RelationRef& relation,
                                              const TransactionRows::Change& change,
                                              GroupVersion* version) const;
  bool IsDropped(int64_t table_id) const { return state_.dropped_tables.contains(table_id); }
  absl::StatusOr<bool> EndsWithDropped(const RelationRef& relation,
                                       const TransactionRows::Change& change) const;
  absl::Status ConflictOn(const RelationRef& relation, std::string_view handle, Csn csn) const;

  Transaction::State& state_;
  const CommitMessage& message_;
  Commit& commit_;

  bool makes_snapshot_ = false;
  SnapshotId snapshot_ = 0;  // the new one, or the last if none is made
  std::optional<Row> last_row_;
  Footprint footprint_;  // resolved
  IdResolution ids_;
  std::map<RelationId, RelationRef> relations_;  // provisional -> real
};

absl::Status TransactionCommit::CheckConflicts() const {
  const auto check = [&](const CommitFootprint& theirs) -> absl::Status {
    const std::optional<Conflict> conflict = state_.footprint.get().ConflictWith(*theirs.footprint);
    return !conflict.has_value()
               ? absl::OkStatus()
               : absl::AbortedError(StrCat("transaction conflict: ", conflict->text,
                                           ", committed as snapshot ", theirs.snapshot,
                                           "; begin the transaction again"));
  };
  for (const CommitFootprint& theirs :
       state_.catalog->recent_commits().Since(state_.rows.base().csn())) {
    VARVE_RETURN_IF_ERROR(check(theirs));
  }
  for (const CommitFootprint& theirs : commit_.earlier()) {
    VARVE_RETURN_IF_ERROR(check(theirs));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Row>> TransactionCommit::Current(const RelationRef& relation,
                                                              std::span<const Datum> key) {
  std::string handle;
  VARVE_RETURN_IF_ERROR(AppendHandle(*relation, key, &handle));
  VARVE_ASSIGN_OR_RETURN(const VersionGroup* const group,
                         commit_.Group(relation, std::move(handle), kNoEnd));
  for (const GroupVersion& version : group->versions()) {
    if (!version.erased && IsCurrent(version.end)) {
      VARVE_ASSIGN_OR_RETURN(Row row, DecodeRow(relation, group->handle(), version));
      return row;
    }
  }
  return std::nullopt;
}

absl::Status TransactionCommit::Put(const RelationRef& relation, const Row& known) {
  Row row(relation->columns.num_columns());  // columns beyond DuckLake's stay NULL
  for (size_t i = 0; i < known.size(); ++i) {
    row.Set(i, known[i]);
  }
  std::string handle;
  VARVE_RETURN_IF_ERROR(AppendHandleOfRow(*relation, row.values(), &handle));
  VARVE_ASSIGN_OR_RETURN(VersionGroup* const group, commit_.Group(relation, std::move(handle), 0));
  std::string payload;
  AppendPayload(*relation, row.values(), &payload);
  group->Put(std::move(payload));
  return absl::OkStatus();
}

absl::Status TransactionCommit::Insert(RelationId id, const Row& known) {
  const RelationRef relation = commit_.directory().FindById(id);
  Row row(relation->columns.num_columns());  // columns beyond DuckLake's stay NULL
  for (size_t i = 0; i < known.size(); ++i) {
    row.Set(i, known[i]);
  }
  VARVE_RETURN_IF_ERROR(CheckRowShape(*relation, row.values()));
  VARVE_ASSIGN_OR_RETURN(const SnapshotInterval interval, IntervalOfRow(*relation, row.values()));
  std::string handle;
  VARVE_RETURN_IF_ERROR(AppendHandleOfRow(*relation, row.values(), &handle));
  VARVE_ASSIGN_OR_RETURN(VersionGroup* const group,
                         commit_.Group(relation, std::move(handle), interval.begin));
  std::string payload;
  AppendPayload(*relation, row.values(), &payload);
  group->Insert(interval, std::move(payload));
  return absl::OkStatus();
}

// --- Ids ---

absl::Status TransactionCommit::ReadLastSnapshot() {
  const RelationRef snapshots = commit_.directory().FindById(kSnapshot);
  const std::array<Datum, 1> key = {Datum::Int64(static_cast<int64_t>(commit_.last_snapshot()))};
  VARVE_ASSIGN_OR_RETURN(last_row_, Current(snapshots, key));
  if (!last_row_.has_value()) {
    return absl::DataLossError(StrCat("snapshot ", commit_.last_snapshot(),
                                      ", the last one, has no row of ducklake_snapshot; run "
                                      "`varve verify`"));
  }
  return absl::OkStatus();
}

absl::Status TransactionCommit::ResolveIds() {
  VARVE_RETURN_IF_ERROR(ReadLastSnapshot());
  if (commit_.last_snapshot() >= kMaxSnapshotId) {
    return absl::ResourceExhaustedError("there is no snapshot id left");
  }
  makes_snapshot_ = !state_.footprint.get().empty();
  snapshot_ = commit_.last_snapshot() + (makes_snapshot_ ? 1 : 0);
  const auto counter = [&](size_t column) {
    return (*last_row_)[column].is_null() ? 0 : (*last_row_)[column].int64_value();
  };
  ids_.next_catalog_id = counter(3);
  ids_.next_file_id = counter(4);
  const RelationRef stats = commit_.directory().FindById(kTableStats);
  for (const auto& [table_id, delta] : state_.statistics) {
    int64_t next = 0;
    if (!IsProvisional(table_id)) {  // files without rows have a first row id, too
      const std::array<Datum, 1> key = {Datum::Int64(table_id)};
      VARVE_ASSIGN_OR_RETURN(const std::optional<Row> row, Current(stats, key));
      const size_t column = *stats->columns.Find("next_row_id");
      next = row.has_value() && !(*row)[column].is_null() ? (*row)[column].int64_value() : 0;
    }
    ids_.next_row_id[table_id] = next;
  }
  footprint_ = state_.footprint.get().Resolved(ids_);
  return absl::OkStatus();
}

// The ids in a row, and its begin and end.
absl::Status TransactionCommit::ResolveRow(const RelationRef& relation, Row* row) const {
  const std::optional<size_t> table_column = relation->columns.Find("table_id");
  int64_t table_id = 0;
  if (table_column.has_value() && !(*row)[*table_column].is_null()) {
    table_id = (*row)[*table_column].int64_value();
  }
  for (size_t i = 0; i < row->size(); ++i) {
    const Datum& value = (*row)[i];
    const bool is_id = !relation->dynamic || relation->IsHandleColumn(i);
    if (is_id && !value.is_null() && value.physical() == PhysicalType::kInt64 &&
        IsProvisional(value.int64_value())) {
      row->Set(i, Datum::Int64(ids_.Resolve(value.int64_value(), table_id)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TransactionCommit::ResolvedPayload(
    const RelationRef& relation, const TransactionRows::Change& change,
    GroupVersion* version) const {
  if (!change.in_payload) {
    return std::move(version->payload);
  }
  VARVE_ASSIGN_OR_RETURN(Row row, DecodeRow(relation, change.group.handle(), *version));
  VARVE_RETURN_IF_ERROR(ResolveRow(relation, &row));
  std::string payload;
  AppendPayload(*relation, row.values(), &payload);
  return payload;
}

// --- Relations ---

absl::Status TransactionCommit::ChangeRelations() {
  for (const RelationRef& dropped : state_.rows.dynamic().dropped) {
    VARVE_RETURN_IF_ERROR(commit_.DropRelation(dropped->name));
  }
  for (const RelationRef& created : state_.rows.dynamic().created) {
    const auto inlined = state_.inlined_relations.find(created->id);
    const bool awaits_name = inlined != state_.inlined_relations.end() && inlined->second.is_new;
    RelationSchema relation = *created;
    int64_t table_id = 0;
    int64_t schema_version = 0;
    if (awaits_name) {
      if (IsDropped(inlined->second.table_id)) {
        continue;
      }
      table_id = ids_.Resolve(inlined->second.table_id);
      schema_version = inlined->second.schema_version.value_or(SchemaVersion());
      relation.name = StrCat("ducklake_inlined_data_", table_id, "_", schema_version);
    }
    RelationRef& real = relations_[created->id];
    real = commit_.directory().FindByName(relation.name);
    if (real != nullptr) {
      // Another transaction was the first to need it: an alteration of the table would have been a
      // conflict, so it has the same columns.
      continue;
    }
    VARVE_ASSIGN_OR_RETURN(real, commit_.CreateRelation(std::move(relation)));
    if (awaits_name) {
      VARVE_RETURN_IF_ERROR(Put(commit_.directory().FindById(kInlinedDataTables),
                                Row(std::array{Datum::Int64(table_id), Datum::Bytes(real->name),
                                               Datum::Int64(schema_version)})));
    }
  }
  return absl::OkStatus();
}

// --- Drops ---

absl::Status TransactionCommit::EndLive(RelationId id, std::vector<Datum> prefix,
                                        Predicate predicate) {
  const RelationRef relation = commit_.directory().FindById(id);
  const std::shared_ptr<const StoreState> latest = state_.catalog->LatestState();
  const ReadView view(latest, latest->last_snapshot);
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         view.Scan(relation, {.columns = std::vector<size_t>(),
                                              .predicate = std::move(predicate),
                                              .key_prefix = std::move(prefix),
                                              .with_handles = true}));
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return absl::OkStatus();
    }
    for (const std::string& handle : batch.handles) {
      VARVE_ASSIGN_OR_RETURN(
          VersionGroup* const group,
          commit_.Group(relation, std::string(HandleWithoutOrdinal(*relation, handle)), kNoEnd));
      VARVE_RETURN_IF_ERROR(group->End(snapshot_));
    }
  }
}

absl::Status TransactionCommit::EndWithDropped() {
  for (const int64_t table_id : state_.dropped_tables) {
    if (IsProvisional(table_id)) {
      continue;
    }
    const Datum id = Datum::Int64(table_id);
    for (const RelationId relation : {kColumn, kColumnTag, kDataFile, kDeleteFile, kTag}) {
      VARVE_RETURN_IF_ERROR(EndLive(relation, {id}, Predicate()));
    }
    for (const RelationId relation : {kPartitionInfo, kSortInfo}) {
      Term term{.column = *BuiltinRelationById(relation)->columns.Find("table_id"),
                .op = Comparison::kEqual,
                .constants = Row(std::array{id})};
      std::vector<Term> terms;
      terms.push_back(std::move(term));
      VARVE_RETURN_IF_ERROR(EndLive(relation, {}, Predicate(std::move(terms))));
    }
  }
  for (const int64_t view_id : state_.dropped_views) {
    if (!IsProvisional(view_id)) {
      VARVE_RETURN_IF_ERROR(EndLive(kTag, {Datum::Int64(view_id)}, Predicate()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TransactionCommit::EndsWithDropped(
    const RelationRef& relation, const TransactionRows::Change& change) const {
  if (state_.dropped_tables.empty() && state_.dropped_views.empty()) {
    return false;
  }
  std::optional<size_t> column;
  switch (relation->id) {
    case kColumn:
    case kColumnTag:
    case kDataFile:
    case kDeleteFile:
    case kPartitionInfo:
    case kSortInfo: column = relation->columns.Find("table_id"); break;
    case kTag: column = relation->columns.Find("object_id"); break;
    default: return false;
  }
  for (const GroupVersion& version : change.group.versions()) {
    VARVE_ASSIGN_OR_RETURN(const Row row, DecodeRow(relation, change.group.handle(), version));
    if (!row[*column].is_null() && (IsDropped(row[*column].int64_value()) ||
                                    state_.dropped_views.contains(row[*column].int64_value()))) {
      return true;
    }
  }
  return false;
}

// --- Rows ---

absl::Status TransactionCommit::ConflictOn(const RelationRef& relation, std::string_view handle,
                                           Csn csn) const {
  SnapshotId winner = commit_.last_snapshot();
  for (const CommitFootprint& theirs :
       state_.catalog->recent_commits().Since(state_.rows.base().csn())) {
    winner = theirs.csn == csn ? theirs.snapshot : winner;
  }
  for (const CommitFootprint& theirs : commit_.earlier()) {
    winner = theirs.csn == csn ? theirs.snapshot : winner;
  }
  return absl::AbortedError(StrCat("transaction conflict: ", relation->name, " ",
                                   HandleToText(*relation, handle),
                                   " was changed by another transaction, committed as snapshot ",
                                   winner, "; begin the transaction again"));
}

absl::Status TransactionCommit::ApplyFresh(const RelationRef& relation,
                                           TransactionRows::Change* change) {
  const auto& versions = change->group.versions();
  if (std::all_of(versions.begin(), versions.end(),
                  [](const GroupVersion& version) { return version.erased; })) {
    return absl::OkStatus();  // what came and went in the transaction was never there
  }
  DecodedHandle decoded;
  VARVE_RETURN_IF_ERROR(DecodeHandle(*relation, change->group.handle(), &decoded));
  int64_t table_id = 0;
  for (size_t i = 0; i < decoded.key.size(); ++i) {
    if (relation->columns.column(relation->handle[i]).name == "table_id") {
      table_id = decoded.key[i].int64_value();
    }
  }
  if (const auto inlined = state_.inlined_relations.find(relation->id);
      inlined != state_.inlined_relations.end()) {
    table_id = inlined->second.table_id;
  }
  for (Datum& value : decoded.key) {
    if (!value.is_null() && value.physical() == PhysicalType::kInt64) {
      value = Datum::Int64(ids_.Resolve(value.int64_value(), table_id));
    }
  }
  RelationRef target = relation;
  if (const auto real = relations_.find(relation->id); real != relations_.end()) {
    target = real->second;
  }
  std::string handle;
  VARVE_RETURN_IF_ERROR(AppendHandle(*target, decoded.key, &handle));
  VersionGroup* const group = commit_.NewGroup(target, std::move(handle));
  for (GroupVersion& version : *change->group.mutable_versions()) {
    if (version.erased) {
      continue;
    }
    VARVE_ASSIGN_OR_RETURN(std::string payload, ResolvedPayload(relation, *change, &version));
    group->Insert({.begin = Real(version.begin), .end = Real(version.end)}, std::move(payload));
  }
  return absl::OkStatus();
}

absl::Status TransactionCommit::ApplyChange(const RelationRef& relation,
                                            TransactionRows::Change* change) {
  SnapshotId from = kNoEnd;
  bool changed = false;
  for (const GroupVersion& version : change->group.versions()) {
    if (version.stored ? version.erased || version.changed : !version.erased) {
      changed = true;
      from = std::min(from, version.begin);
    }
  }
  // Options are in no footprint: they conflict in their rows, also those that were left as they
  // are. Else the last one to commit would find its option as someone else set it.
  const bool is_option = relation->id == kMetadata;
  if (!changed && !is_option) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const bool ends_with_table, EndsWithDropped(relation, *change));
  if (ends_with_table) {
    return absl::OkStatus();  // EndWithDropped has seen to it
  }
  VARVE_ASSIGN_OR_RETURN(VersionGroup* const group,
                         commit_.Group(relation, change->group.handle(), from));
  for (const GroupVersion& version : group->versions()) {
    if (version.csn > state_.rows.base().csn()) {
      return ConflictOn(relation, group->handle(), version.csn);
    }
  }
  for (GroupVersion& version : *change->group.mutable_versions()) {
    if (!version.stored) {
      if (!version.erased) {
        VARVE_ASSIGN_OR_RETURN(std::string payload, ResolvedPayload(relation, *change, &version));
        group->Insert({.begin = Real(version.begin), .end = Real(version.end)}, std::move(payload));
      }
      continue;
    }
    const bool is_written = version.erased || version.changed;
    if (!is_written && !is_option) {
      continue;
    }
    GroupVersion* const now = group->Find(version.ordinal, version.begin);
    if (now == nullptr || now->end != version.stored_end) {
      return ConflictOn(relation, group->handle(), 0);
    }
    if (!is_written) {
      continue;
    }
    now->erased = version.erased;
    now->changed = true;
    now->end = Real(version.end);
    if (!version.erased) {
      VARVE_ASSIGN_OR_RETURN(std::string payload, ResolvedPayload(relation, *change, &version));
      now->SetPayload(std::move(payload));
    }
  }
  return absl::OkStatus();
}

absl::Status TransactionCommit::ApplyRows() {
  for (auto& [id, changes] : *state_.rows.mutable_changes()) {
    const RelationRef relation = state_.rows.relation(id);
    if (relation == nullptr) {
      continue;  // dropped
    }
    for (auto& [handle, change] : changes) {
      VARVE_RETURN_IF_ERROR(change.fresh ? ApplyFresh(relation, &change)
                                         : ApplyChange(relation, &change));
    }
  }
  return absl::OkStatus();
}

// --- Names ---

absl::Status TransactionCommit::CheckNames() const {
  const std::shared_ptr<const StoreState> latest = state_.catalog->LatestState();
  if (latest->names_csn <= state_.rows.base().csn()) {
    return absl::OkStatus();  // the operations have checked them
  }
  VARVE_ASSIGN_OR_RETURN(const std::shared_ptr<const NameIndex> names,
                         state_.catalog->Names(latest));
  for (const Action& action : footprint_.actions()) {
    const bool is_schema = action.operation == Operation::kCreateSchema;
    if (!IsCreation(action.operation) && !IsRename(action.operation)) {
      continue;
    }
    const bool is_macro = action.operation == Operation::kCreateScalarMacro ||
                          action.operation == Operation::kCreateTableMacro;
    const NameSpace space = is_schema  ? NameSpace::kSchema
                            : is_macro ? NameSpace::kMacro
                                       : NameSpace::kTableOrView;
    const auto holder = names->Find(space, is_schema ? 0 : action.schema_id, action.name);
    if (!holder.has_value()) {
      continue;
    }
    const std::array<Datum, 1> key = {Datum::Int64(holder->id)};
    // Whoever holds it may have lost it in this very transaction.
    std::string handle;
    VARVE_RETURN_IF_ERROR(AppendHandle(*BuiltinRelationById(holder->relation), key, &handle));
    const auto changes = state_.rows.changes().find(holder->relation);
    const bool touched = changes != state_.rows.changes().end() && changes->second.contains(handle);
    if (!touched) {
      return absl::AbortedError(
          StrCat("transaction conflict: ", ObjectText(action),
                 " exists by now, made by another transaction since snapshot ",
                 state_.rows.base().last_snapshot(), "; begin the transaction again"));
    }
  }
  return absl::OkStatus();
}

// --- Statistics ---

absl::Status TransactionCommit::ApplyStatistics() {
  const RelationRef tables = commit_.directory().FindById(kTableStats);
  const RelationRef columns = commit_.directory().FindById(kTableColumnStats);
  for (const auto& [provisional_id, delta] : state_.statistics) {
    if (IsDropped(provisional_id)) {
      continue;
    }
    const int64_t table_id = ids_.Resolve(provisional_id);
    const std::array<Datum, 1> table_key = {Datum::Int64(table_id)};
    VARVE_ASSIGN_OR_RETURN(const std::optional<Row> table, Current(tables, table_key));
    VARVE_RETURN_IF_ERROR(Put(tables, ApplyToTableStats(table_id, table, delta)));
    for (const auto& [column_id, column] : delta.columns) {
      const std::array<Datum, 2> key = {Datum::Int64(table_id), Datum::Int64(column_id)};
      VARVE_ASSIGN_OR_RETURN(const std::optional<Row> old, Current(columns, key));
      VARVE_ASSIGN_OR_RETURN(const Row widened,
                             ApplyToColumnStats(table_id, column_id, old, column));
      VARVE_RETURN_IF_ERROR(Put(columns, widened));
    }
  }
  return absl::OkStatus();
}

// --- The snapshot ---

absl::Status TransactionCommit::WriteSnapshot() {
  const Row& last = *last_row_;
  const int64_t last_time = last[1].is_null() ? 0 : last[1].int64_value();
  const int64_t time =
      std::max(absl::ToUnixMicros(state_.options.time.value_or(absl::Now())), last_time + 1);
  const int64_t schema_version = SchemaVersion();
  const Datum id = Datum::Int64(static_cast<int64_t>(snapshot_));
  VARVE_RETURN_IF_ERROR(
      Insert(kSnapshot, Row(std::array{id, Datum::Int64(time), Datum::Int64(schema_version),
                                       Datum::Int64(ids_.next_catalog_id + state_.new_catalog_ids),
                                       Datum::Int64(ids_.next_file_id + state_.new_file_ids)})));
  const std::string changes_made = footprint_.ChangesMade();
  VARVE_RETURN_IF_ERROR(
      Insert(kSnapshotChanges,
             Row(std::array{id, Datum::Bytes(changes_made), TextOrNull(message_.author),
                            TextOrNull(message_.message), TextOrNull(message_.extra_info)})));
  for (const int64_t table_id : state_.altered_tables) {
    if (!IsDropped(table_id)) {
      VARVE_RETURN_IF_ERROR(Insert(
          kSchemaVersions,
          Row(std::array{id, Datum::Int64(schema_version), Datum::Int64(ids_.Resolve(table_id))})));
    }
  }
  commit_.SetFootprint(std::make_shared<const Footprint>(std::move(footprint_)));
  return absl::OkStatus();
}

absl::StatusOr<CommitResult> TransactionCommit::Run() {
  VARVE_RETURN_IF_ERROR(SettleInlinedRelations(&state_));
  VARVE_RETURN_IF_ERROR(CheckConflicts());
  VARVE_RETURN_IF_ERROR(ResolveIds());
  VARVE_RETURN_IF_ERROR(ChangeRelations());
  VARVE_RETURN_IF_ERROR(EndWithDropped());
  VARVE_RETURN_IF_ERROR(ApplyRows());
  VARVE_RETURN_IF_ERROR(CheckNames());
  VARVE_RETURN_IF_ERROR(ApplyStatistics());
  if (makes_snapshot_) {
    VARVE_RETURN_IF_ERROR(WriteSnapshot());
  }
  return CommitResult{.snapshot = snapshot_, .csn = commit_.csn(), .ids = std::move(ids_)};
}

}  // namespace

absl::StatusOr<CommitResult> PrepareTransaction(Transaction::State* state,
                                                const CommitMessage& message, Commit* commit) {
  return TransactionCommit(state, message, commit).Run();
}

}  // namespace varve
