// The row store's own consistency: every pair of `live` and `ended` is read and decoded once.
#include <algorithm>
#include <array>

#include "absl/container/flat_hash_map.h"
#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/payload_codec.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/verify/checks.h"

namespace varve {
namespace {

// Columns a reader cannot do without, beyond those the relation itself requires.
const absl::flat_hash_map<RelationId, std::vector<std::string_view>>& MandatoryColumns() {
  static const auto& columns = *new absl::flat_hash_map<RelationId, std::vector<std::string_view>>{
      {kSnapshot, {"snapshot_time", "schema_version", "next_catalog_id", "next_file_id"}},
      {kSchema, {"schema_name"}},
      {kTable, {"schema_id", "table_name"}},
      {kView, {"schema_id", "view_name", "sql"}},
      {kTag, {"object_id", "key"}},
      {kColumnTag, {"table_id", "column_id", "key"}},
      {kDataFile, {"table_id", "path", "record_count", "file_size_bytes"}},
      {kFileColumnStats, {"table_id", "column_id", "data_file_id"}},
      {kFileVariantStats, {"table_id", "column_id", "data_file_id", "variant_path"}},
      {kDeleteFile, {"table_id", "data_file_id", "path", "delete_count"}},
      {kColumn, {"table_id", "column_id", "column_order", "column_name", "column_type"}},
      {kTableStats, {"next_row_id"}},
      {kTableColumnStats, {"table_id", "column_id"}},
      {kPartitionInfo, {"table_id"}},
      {kPartitionColumn, {"partition_id", "partition_key_index", "column_id", "transform"}},
      {kFilePartitionValue, {"table_id", "partition_key_index", "data_file_id"}},
      {kFilesScheduledForDeletion, {"path", "schedule_start"}},
      {kInlinedDataTables, {"table_id", "table_name", "schema_version"}},
      {kColumnMapping, {"table_id", "type"}},
      {kNameMapping, {"mapping_id", "column_id", "source_name", "target_field_id"}},
      {kSchemaVersions, {"schema_version"}},
      {kMacro, {"schema_id", "macro_name"}},
      {kMacroImpl, {"macro_id", "impl_id", "sql", "type"}},
      {kMacroParameters, {"macro_id", "impl_id", "column_id", "parameter_name"}},
      {kSortInfo, {"table_id"}},
      {kSortExpression, {"sort_id", "sort_key_index", "expression"}},
  };
  return columns;
}

// Sizes and counters. record_count and file_size_bytes of table_stats are left out: DuckLake keeps
// them by adding and subtracting estimates.
constexpr std::array kCounters = {"record_count",   "file_size_bytes",   "footer_size",
                                  "row_id_start",   "delete_count",      "value_count",
                                  "null_count",     "column_size_bytes", "next_row_id",
                                  "schema_version", "next_file_id",      "next_catalog_id"};

bool IsCounter(const RelationSchema& relation, std::string_view column) {
  if (relation.dynamic || (relation.id == kTableStats && column != "next_row_id")) {
    return false;
  }
  return std::find(kCounters.begin(), kCounters.end(), column) != kCounters.end();
}

// One family's pairs of one relation.
class PairWalk {
 public:
  PairWalk(const StoreState& state, Family family, RelationId relation)
      : is_live_(family == Family::kLive),
        upper_(RelationPrefix(relation + 1)),
        upper_slice_(upper_) {
    rocksdb::ReadOptions options = state.read_options();
    options.iterate_upper_bound = &upper_slice_;
    options.fill_cache = false;
    it_.reset(state.store->db().NewIterator(options, state.store->family(family)));
    it_->Seek(ToSlice(RelationPrefix(relation)));
  }
  PairWalk(const PairWalk&) = delete;
  PairWalk& operator=(const PairWalk&) = delete;

  bool valid() const { return it_->Valid(); }
  void Next() { it_->Next(); }
  rocksdb::Status status() const { return it_->status(); }
  std::string_view key() const { return ToView(it_->key()); }
  bool is_live() const { return is_live_; }

  bool Parse(StoredVersion* version) const {
    return is_live_ ? ParseLive(key(), ToView(it_->value()), version)
                    : ParseEnded(key(), ToView(it_->value()), version);
  }

 private:
  bool is_live_;
  std::string upper_;
  rocksdb::Slice upper_slice_;
  std::unique_ptr<rocksdb::Iterator> it_;
};

std::string IntervalText(SnapshotId begin, SnapshotId end) {
  return end == kNoEnd ? StrCat("[", begin, ", live)") : StrCat("[", begin, ", ", end, ")");
}

class RelationCheck {
 public:
  RelationCheck(VerifyRun* run, RelationRef relation)
      : run_(run),
        relation_(std::move(relation)),
        decoder_(relation_, AllColumns(*relation_)),
        values_(relation_->columns.num_columns()) {
    for (size_t i = 0; i < relation_->columns.num_columns(); ++i) {
      const ColumnSchema& column = relation_->columns.column(i);
      if (!relation_->IsAbsentColumn(i) && (!column.nullable || IsMandatory(column.name))) {
        mandatory_.push_back(i);
      }
      if (IsCounter(*relation_, column.name)) {
        counters_.push_back(i);
      }
    }
  }

  absl::Status Run() {
    const StoreState& state = *run_->view().state();
    PairWalk live(state, Family::kLive, relation_->id);
    PairWalk ended(state, Family::kEnded, relation_->id);
    StoredVersion live_version;
    StoredVersion ended_version;
    bool has_live = Load(&live, &live_version);
    bool has_ended = Load(&ended, &ended_version);
    while (has_live || has_ended) {
      if (has_ended && (!has_live || ended_version.handle <= live_version.handle)) {
        CheckVersion(ended_version, /*is_live=*/false);
        ended.Next();
        has_ended = Load(&ended, &ended_version);
      } else {
        CheckVersion(live_version, /*is_live=*/true);
        live.Next();
        has_live = Load(&live, &live_version);
      }
    }
    for (const PairWalk* walk : {&live, &ended}) {
      if (const rocksdb::Status status = walk->status(); status.IsCorruption()) {
        Damaged("", MessageOf(FromRocksDb(status, "reading the relation")));
      } else {
        VARVE_RETURN_IF_ERROR(FromRocksDb(status, StrCat("reading ", relation_->name)));
      }
    }
    return absl::OkStatus();
  }

 private:
  static std::vector<size_t> AllColumns(const RelationSchema& relation) {
    std::vector<size_t> columns(relation.columns.num_columns());
    for (size_t i = 0; i < columns.size(); ++i) {
      columns[i] = i;
    }
    return columns;
  }

  bool IsMandatory(std::string_view column) const {
    const auto it = MandatoryColumns().find(relation_->id);
    return it != MandatoryColumns().end() &&
           std::find(it->second.begin(), it->second.end(), column) != it->second.end();
  }

  void Damaged(std::string_view key, std::string_view what) {
    run_->Report(Rule::kCorruption, relation_->name, key,
                 StrCat(what, "; checks that need this relation are left out"));
    run_->MarkDamaged(relation_->id);
  }

  // Reads the pair the walk stands on, past pairs that cannot be taken apart.
  bool Load(PairWalk* walk, StoredVersion* version) {
    for (; walk->valid(); walk->Next()) {
      if (walk->Parse(version)) {
        return true;
      }
      Damaged(StrCat("0x", BytesToHexString(walk->key())),
              StrCat("a pair of '", walk->is_live() ? "live" : "ended", "' is malformed"));
    }
    return false;
  }

  void CheckVersion(const StoredVersion& version, bool is_live) {
    run_->CountRow();
    // Before anything else: the row may be damaged and its interval sound.
    CheckInterval(version, is_live);
    const absl::Status decoded = decoder_.Decode(version.handle, version.begin, version.end,
                                                 version.payload, &scratch_, values_);
    if (!decoded.ok()) {
      Damaged(Key(version), MessageOf(decoded));
      return;
    }
    CheckHandle(version);
    for (const size_t column : mandatory_) {
      if (values_[column].is_null()) {
        run_->Report(Rule::kMissingValue, relation_->name, Key(version),
                     StrCat("column ", relation_->columns.column(column).name,
                            " is NULL; readers need a value"));
      }
    }
    for (const size_t column : counters_) {
      if (!values_[column].is_null() && values_[column].int64_value() < 0) {
        run_->Report(Rule::kNegativeCount, relation_->name, Key(version),
                     StrCat("column ", relation_->columns.column(column).name, " is ",
                            values_[column].int64_value()));
      }
    }
  }

  void CheckInterval(const StoredVersion& version, bool is_live) {
    const StoreState& state = *run_->view().state();
    const std::string interval = IntervalText(version.begin, version.end);
    if (version.csn > state.csn) {
      run_->Report(
          Rule::kCsnBeyondLast, relation_->name, Key(version),
          StrCat("the version has csn ", version.csn, ", the last commit has ", state.csn));
    }
    if ((relation_->versioning != Versioning::kInterval && !is_live) ||
        (!relation_->begin_column.has_value() && version.begin != 0)) {
      run_->Report(
          Rule::kUnexpectedInterval, relation_->name, Key(version),
          StrCat("the row is stored with interval ", interval, ", but rows of this relation have ",
                 relation_->begin_column.has_value() ? "no end" : "none"));
    }
    if (ReachesBeyond(version.begin, version.end, state.last_snapshot)) {
      run_->Report(Rule::kBeyondLastSnapshot, relation_->name, Key(version),
                   StrCat("interval ", interval, " reaches beyond the last snapshot, ",
                          state.last_snapshot));
    }
    if (version.end <= version.begin) {
      run_->Report(Rule::kEmptyLifetime, relation_->name, Key(version),
                   StrCat("interval ", interval, " is empty; no snapshot shows the row"));
    } else {
      CheckOverlap(version, interval);
    }
  }

  // Versions of a handle come ended ones first, by begin, then the live one; those that a load kept
  // apart by an ordinal come after all of them, in any order.
  void CheckOverlap(const StoredVersion& version, const std::string& interval) {
    const std::string_view handle = HandleWithoutOrdinal(*relation_, version.handle);
    if (handle != previous_handle_ || relation_->versioning != Versioning::kInterval) {
      previous_handle_.assign(handle);
      seen_.clear();
    }
    const bool has_ordinal = handle.size() != version.handle.size();
    const size_t first = has_ordinal || seen_.empty() ? 0 : seen_.size() - 1;
    bool overlaps = false;
    for (size_t i = first; i < seen_.size() && !overlaps; ++i) {
      overlaps = IntervalsOverlap(seen_[i].begin, seen_[i].end, version.begin, version.end);
      if (overlaps) {
        run_->Report(Rule::kOverlappingIntervals, relation_->name, Key(version),
                     StrCat("intervals ", IntervalText(seen_[i].begin, seen_[i].end), " and ",
                            interval, " overlap; some snapshot shows the row twice"));
      }
    }
    if (has_ordinal && !overlaps) {
      run_->ReportAs(relation_->repeats ? Severity::kNote : Severity::kError, Rule::kRepeatedKey,
                     relation_->name, Key(version),
                     "another row has the same key columns; this one is kept apart by its ordinal");
    }
    seen_.push_back({version.begin, version.end});
  }

  void CheckHandle(const StoredVersion& version) {
    if (relation_->handle_kind == HandleKind::kRowNumber) {
      return;
    }
    encoded_.clear();
    const absl::Status status = AppendHandleOfRow(*relation_, values_, &encoded_);
    AppendOrdinal(scratch_.ordinal, &encoded_);
    if (!status.ok() || encoded_ != version.handle) {
      run_->Report(Rule::kKeyMismatch, relation_->name, Key(version),
                   StrCat("the row is stored under key 0x", BytesToHexString(version.handle),
                          ", its columns encode to 0x", BytesToHexString(encoded_)));
    }
    CheckBeginInHandle(version);
  }

  // Where the begin is a key column (a snapshot's own id), key and value hold it both.
  void CheckBeginInHandle(const StoredVersion& version) {
    for (size_t i = 0; i < relation_->handle.size(); ++i) {
      if (relation_->begin_column == relation_->handle[i] &&
          !(scratch_.key[i] == Datum::Int64(static_cast<int64_t>(version.begin)))) {
        run_->Report(
            Rule::kKeyMismatch, relation_->name, Key(version),
            StrCat("the row is stored with begin ", version.begin, ", its key says otherwise"));
      }
    }
  }

  std::string Key(const StoredVersion& version) const {
    return HandleToText(*relation_, version.handle);
  }

  VerifyRun* run_;
  RelationRef relation_;
  RowDecoder decoder_;
  DecodedHandle scratch_;
  std::vector<Datum> values_;
  std::vector<size_t> mandatory_;
  std::vector<size_t> counters_;
  std::string encoded_;
  std::string previous_handle_;  // without its ordinal
  std::vector<Lifetime> seen_;   // of that handle, as they came
};

// Relation numbers in keys that the directory does not know. One finding a number and family.
absl::Status CheckRelationNumbers(VerifyRun* run, Family family) {
  const StoreState& state = *run->view().state();
  const std::unique_ptr<rocksdb::Iterator> it(
      state.store->db().NewIterator(state.read_options(), state.store->family(family)));
  it->SeekToFirst();
  while (it->Valid()) {
    std::string_view key = ToView(it->key());
    uint32_t number = 0;
    if (!GetBigEndian(&key, &number)) {
      run->Report(Rule::kCorruption, "", StrCat("0x", BytesToHexString(key)),
                  StrCat("a key of '", kFamilyNames[static_cast<size_t>(family)],
                         "' is too short to hold a relation number"));
      it->Next();
      continue;
    }
    const RelationId id = number & ~kIndexRelation;
    const RelationRef relation = run->view().relations().FindById(id);
    const bool is_index = id != number;
    if (relation == nullptr || (is_index && !relation->unique_column.has_value())) {
      run->Report(Rule::kUnknownRelation, "", StrCat("relation ", number),
                  StrCat("family '", kFamilyNames[static_cast<size_t>(family)],
                         "' has rows of relation number ", number,
                         ", which the relation directory does not know"));
    }
    if (number == std::numeric_limits<uint32_t>::max()) {
      break;
    }
    it->Seek(ToSlice(RelationPrefix(number + 1)));
  }
  // A damaged block is reported by the relation it belongs to.
  const rocksdb::Status status = it->status();
  return status.IsCorruption() ? absl::OkStatus() : FromRocksDb(status, "reading the row store");
}

// The last snapshot is never expired, so the snapshot rows and the store's own record agree.
absl::Status CheckLastSnapshot(VerifyRun* run) {
  const RelationRef snapshots = run->view().relations().FindById(kSnapshot);
  const SnapshotId last = run->view().last_snapshot();
  VARVE_ASSIGN_OR_RETURN(RowCursor rows, OpenBuiltin(*run, kSnapshot, {"snapshot_id"}));
  std::optional<SnapshotId> highest;
  while (rows.valid()) {
    highest = rows.begin();
    VARVE_RETURN_IF_ERROR(rows.Next());
  }
  if (highest != last) {
    run->Report(Rule::kLastSnapshotMismatch, snapshots->name, StrCat("snapshot_id=", last),
                highest.has_value()
                    ? StrCat("the last snapshot is recorded as ", last,
                             ", the highest row is snapshot ", *highest)
                    : StrCat("the last snapshot is recorded as ", last, ", there is no row"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStore(VerifyRun* run) {
  VARVE_RETURN_IF_ERROR(CheckRelationNumbers(run, Family::kLive));
  VARVE_RETURN_IF_ERROR(CheckRelationNumbers(run, Family::kEnded));
  for (const RelationRef& relation : run->view().relations().relations()) {
    VARVE_RETURN_IF_ERROR(RelationCheck(run, relation).Run());
  }
  return run->IsDamaged(kSnapshot) ? absl::OkStatus() : CheckLastSnapshot(run);
}

}  // namespace varve
