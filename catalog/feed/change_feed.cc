#include "catalog/feed/change_feed.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"

namespace varve {
namespace {

constexpr uint32_t kMaxBatchRows = 65'536;

std::vector<size_t> DecodedColumns(const RelationSchema& relation,
                                   const ChangeFeedOptions& options) {
  if (options.columns.has_value()) {
    return *options.columns;
  }
  std::vector<size_t> all(relation.columns.num_columns());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

absl::Status CheckOptions(const ReadView& view, const ChangeFeedOptions& options) {
  if (options.batch_rows < 1 || options.batch_rows > kMaxBatchRows) {
    return absl::InvalidArgumentError(
        StrCat("batch_rows is ", options.batch_rows, ", expected 1 to ", kMaxBatchRows));
  }
  if (!options.columns.has_value() || options.columns->empty()) {
    return absl::OkStatus();
  }
  if (options.relations.size() != 1) {
    return absl::InvalidArgumentError(
        "columns of the change feed are chosen of one relation; name it, or take all columns");
  }
  const RelationRef relation = view.relations().FindById(options.relations[0]);
  const size_t num_columns = relation == nullptr ? 0 : relation->columns.num_columns();
  for (const size_t column : *options.columns) {
    if (column >= num_columns) {
      return absl::InvalidArgumentError(StrCat("relation ", options.relations[0], " has ",
                                               num_columns, " columns, number ", column,
                                               " was asked for"));
    }
    if (std::count(options.columns->begin(), options.columns->end(), column) > 1) {
      return absl::InvalidArgumentError(StrCat(relation->name, ": column ",
                                               relation->columns.column(column).name,
                                               " is asked for twice; name each column once"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckWindow(const ReadView& view, Csn from, Csn to) {
  if (from > to) {
    return absl::InvalidArgumentError(
        StrCat("the window of changes (", from, ", ", to, "] ends before it begins"));
  }
  if (to > view.csn()) {
    return absl::OutOfRangeError(StrCat("csn ", to, " lies beyond the last one, ", view.csn(),
                                        "; a position that was read before belongs to another "
                                        "catalog, or to one restored since"));
  }
  VARVE_ASSIGN_OR_RETURN(const Csn begin, FeedBegin(*view.state()));
  if (from < begin) {
    return absl::OutOfRangeError(StrCat("the change feed begins at csn ", begin,
                                        "; what lies between ", from,
                                        " and that has expired or came with an import: restart "
                                        "from a scan, and go on from its csn"));
  }
  return absl::OkStatus();
}

// The last snapshot with the commit of this csn; nullopt when the catalog does not say (it was made
// before commits had entries of their own).
absl::StatusOr<std::optional<SnapshotId>> LastSnapshotAt(const ReadView& view, Csn csn) {
  if (csn == view.csn()) {
    return view.last_snapshot();
  }
  const StoreState& state = *view.state();
  std::string value;
  const rocksdb::Status status =
      state.store->db().Get(state.read_options(), state.store->family(Family::kChanges),
                            ChangesKey(csn, kCommitEntry, 0), &value);
  if (status.IsNotFound()) {
    return std::nullopt;
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(status, "reading the change feed"));
  VARVE_ASSIGN_OR_RETURN(const std::vector<ChangeRecord> records, ParseChanges(value));
  if (records.size() != 1 || records[0].kind != ChangeKind::kCommit) {
    return absl::DataLossError(StrCat("the change feed's entry of csn ", csn, " is malformed"));
  }
  return records[0].begin;
}

FeedKind KindOf(const ChangeRecord& record, const RelationSchema& relation) {
  switch (record.kind) {
    case ChangeKind::kInsert: return FeedKind::kInserted;
    case ChangeKind::kErase: return FeedKind::kErased;
    case ChangeKind::kDropRelation: return FeedKind::kRelationDropped;
    case ChangeKind::kUpdate:
    case ChangeKind::kCommit: break;
  }
  const bool has_end = relation.versioning == Versioning::kInterval && !IsCurrent(record.end);
  return has_end ? FeedKind::kEnded : FeedKind::kUpdated;
}

// The relations dropped since the feed's begin, by number.
absl::StatusOr<absl::flat_hash_map<RelationId, RelationRef>> LoadDropped(const StoreState& state) {
  absl::flat_hash_map<RelationId, RelationRef> dropped;
  const std::unique_ptr<rocksdb::Iterator> it(
      state.store->db().NewIterator(state.read_options(), state.store->family(Family::kDefault)));
  for (it->Seek(ToSlice(kDroppedKeyPrefix));
       it->Valid() && ToView(it->key()).starts_with(kDroppedKeyPrefix); it->Next()) {
    VARVE_ASSIGN_OR_RETURN(RelationSchema relation, ParseRelation(ToView(it->value())));
    const RelationId id = relation.id;
    dropped[id] = std::make_shared<RelationSchema>(std::move(relation));
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(it->status(), "reading the dropped relations"));
  return dropped;
}

}  // namespace

std::string_view FeedKindName(FeedKind kind) {
  switch (kind) {
    case FeedKind::kInserted: return "inserted";
    case FeedKind::kEnded: return "ended";
    case FeedKind::kUpdated: return "updated";
    case FeedKind::kErased: return "erased";
    case FeedKind::kRelationDropped: return "relation dropped";
  }
  return "";
}

ChangeReader::ChangeReader(ReadView view, Csn from, Csn to, ChangeFeedOptions options)
    : view_(std::move(view)),
      to_(to),
      position_(from),
      options_(std::move(options)),
      upper_(ChangesKey(to + 1, 0, 0)),
      upper_slice_(upper_) {
  std::sort(options_.relations.begin(), options_.relations.end());
  const StoreState& state = *view_.state();
  rocksdb::ReadOptions read = state.read_options();
  read.iterate_upper_bound = &upper_slice_;
  it_.reset(state.store->db().NewIterator(read, state.store->family(Family::kChanges)));
}

ChangeReader::~ChangeReader() = default;

bool ChangeReader::WantsRelation(RelationId relation) const {
  return options_.relations.empty() ||
         std::binary_search(options_.relations.begin(), options_.relations.end(), relation);
}

absl::Status ChangeReader::ReadEntry() {
  records_.clear();
  next_record_ = 0;
  while (it_->Valid()) {
    ChangesKeyParts key;
    if (!ParseChangesKey(ToView(it_->key()), &key)) {
      return absl::DataLossError(StrCat("the change feed's key 0x",
                                        BytesToHexString(ToView(it_->key())), " is malformed"));
    }
    if (key.relation != kCommitEntry && WantsRelation(key.relation)) {
      csn_ = key.csn;
      relation_ = key.relation;
      value_.assign(ToView(it_->value()));
      VARVE_ASSIGN_OR_RETURN(records_, ParseChanges(value_));
      if (records_.empty()) {
        return absl::DataLossError(StrCat("the change feed's entry of csn ", csn_, " and relation ",
                                          relation_, " is empty"));
      }
      position_ = csn_ - 1;
      return absl::OkStatus();
    }
    if (options_.relations.empty()) {
      it_->Next();
      continue;
    }
    // Past all chunks of what is not asked for, to the next relation that is.
    const auto wanted =
        std::upper_bound(options_.relations.begin(), options_.relations.end(), key.relation);
    it_->Seek(wanted == options_.relations.end()
                  ? ChangesKey(key.csn + 1, options_.relations.front(), 0)
                  : ChangesKey(key.csn, *wanted, 0));
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(it_->status(), "reading the change feed"));
  position_ = to_;
  return absl::OkStatus();
}

absl::StatusOr<const ChangeReader::Decoding*> ChangeReader::DecodingOf(RelationId relation) {
  if (const auto it = decodings_.find(relation); it != decodings_.end()) {
    return &it->second;
  }
  Decoding decoding{.relation = view_.relations().FindById(relation), .decoder = nullptr};
  if (decoding.relation == nullptr) {
    if (!dropped_loaded_) {
      VARVE_ASSIGN_OR_RETURN(dropped_, LoadDropped(*view_.state()));
      dropped_loaded_ = true;
    }
    const auto it = dropped_.find(relation);
    if (it == dropped_.end()) {
      return absl::DataLossError(StrCat("the change feed speaks of relation ", relation, " at csn ",
                                        csn_,
                                        ", which is neither in the directory nor among the "
                                        "dropped ones"));
    }
    decoding.relation = it->second;
  }
  decoding.decoder =
      std::make_unique<RowDecoder>(decoding.relation, DecodedColumns(*decoding.relation, options_));
  return &decodings_.emplace(relation, std::move(decoding)).first->second;
}

absl::Status ChangeReader::Append(const Decoding& decoding, const ChangeRecord& record,
                                  ChangeBatch* batch) {
  if (record.kind == ChangeKind::kCommit) {
    return absl::DataLossError(StrCat("the change feed's entry of csn ", csn_, " and ",
                                      decoding.relation->name, " is malformed"));
  }
  const RowDecoder& decoder = *decoding.decoder;
  values_.assign(decoder.columns().size(), Datum::Null());
  if (record.kind != ChangeKind::kDropRelation && !values_.empty()) {
    VARVE_RETURN_IF_ERROR(decoder.Decode(record.handle, record.begin, record.end, record.payload,
                                         &scratch_, values_));
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    batch->columns.mutable_column(i).Append(values_[i]);
  }
  batch->kinds.push_back(KindOf(record, *decoding.relation));
  batch->handles.emplace_back(record.handle);
  batch->begins.push_back(record.begin);
  batch->ends.push_back(record.end);
  return absl::OkStatus();
}

absl::StatusOr<bool> ChangeReader::Next(ChangeBatch* batch) {
  batch->kinds.clear();
  batch->handles.clear();
  batch->begins.clear();
  batch->ends.clear();
  if (!started_) {
    started_ = true;
    it_->Seek(ChangesKey(position_ + 1, 0, 0));
    VARVE_RETURN_IF_ERROR(ReadEntry());
  }
  if (records_.empty()) {
    batch->columns.Reset({});
    return false;
  }
  VARVE_ASSIGN_OR_RETURN(const Decoding* const decoding, DecodingOf(relation_));
  batch->csn = csn_;
  batch->relation = decoding->relation;
  batch->columns.Reset(decoding->decoder->types());
  const size_t end = std::min(records_.size(), next_record_ + options_.batch_rows);
  for (; next_record_ < end; ++next_record_) {
    VARVE_RETURN_IF_ERROR(Append(*decoding, records_[next_record_], batch));
  }
  batch->columns.SetNumRows(batch->num_rows());
  if (next_record_ == records_.size()) {
    it_->Next();
    VARVE_RETURN_IF_ERROR(ReadEntry());
  }
  return true;
}

absl::StatusOr<std::unique_ptr<ChangeReader>> Changes(const ReadView& view, Csn from, Csn to,
                                                      ChangeFeedOptions options) {
  VARVE_RETURN_IF_ERROR(CheckOptions(view, options));
  VARVE_RETURN_IF_ERROR(CheckWindow(view, from, to));
  return std::unique_ptr<ChangeReader>(new ChangeReader(view, from, to, std::move(options)));
}

absl::StatusOr<std::unique_ptr<ChangeReader>> ChangesBetween(const ReadView& view, SnapshotId from,
                                                             SnapshotId to,
                                                             ChangeFeedOptions options) {
  if (from > to) {
    return absl::InvalidArgumentError(StrCat("changes are asked for from snapshot ", from,
                                             " to the earlier snapshot ", to,
                                             "; the feed goes forward only"));
  }
  VARVE_ASSIGN_OR_RETURN(const Csn from_csn, CsnOfSnapshot(view, from));
  VARVE_ASSIGN_OR_RETURN(const Csn to_csn, CsnOfSnapshot(view, to));
  return Changes(view, from_csn, to_csn, std::move(options));
}

absl::StatusOr<Csn> FeedBegin(const StoreState& state) {
  VARVE_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                         state.store->GetDefault(kChangesFromKey, state.snapshot));
  if (!text.has_value()) {
    return kBulkLoadCsn;
  }
  const std::optional<Csn> begin = ParseNumber<Csn>(*text);
  if (!begin.has_value()) {
    return absl::DataLossError(StrCat("catalog ", state.store->path(), ": '", kChangesFromKey,
                                      "' is '", *text, "', no number"));
  }
  return *begin;
}

absl::StatusOr<std::optional<Csn>> LastCsnUpTo(const ReadView& view, SnapshotId snapshot) {
  VARVE_ASSIGN_OR_RETURN(Csn low, FeedBegin(*view.state()));
  VARVE_ASSIGN_OR_RETURN(const std::optional<SnapshotId> at_begin, LastSnapshotAt(view, low));
  if (!at_begin.has_value() || *at_begin > snapshot) {
    return std::nullopt;
  }
  if (view.last_snapshot() <= snapshot) {
    return view.csn();
  }
  // The last snapshot never falls from one csn to the next.
  Csn high = view.csn();  // here it lies above `snapshot`, at `low` it does not
  while (high - low > 1) {
    const Csn middle = low + (high - low) / 2;
    VARVE_ASSIGN_OR_RETURN(const std::optional<SnapshotId> last, LastSnapshotAt(view, middle));
    if (!last.has_value()) {
      return absl::DataLossError(StrCat("the change feed has no entry of csn ", middle));
    }
    (*last <= snapshot ? low : high) = middle;
  }
  return low;
}

absl::StatusOr<Csn> CsnOfSnapshot(const ReadView& view, SnapshotId snapshot) {
  if (snapshot > view.last_snapshot()) {
    return absl::NotFoundError(StrCat(
        "snapshot ", snapshot, " lies in the future: the last one is ", view.last_snapshot()));
  }
  VARVE_ASSIGN_OR_RETURN(const Csn begin, FeedBegin(*view.state()));
  const auto out_of_range = [&] {
    return absl::OutOfRangeError(StrCat(
        "the change feed begins at csn ", begin, ", after snapshot ", snapshot,
        " was made: what followed it has expired or came with an import; restart from a scan"));
  };
  // The first csn at which no longer all snapshots lay below this one.
  Csn csn = begin;
  if (snapshot > 0) {
    VARVE_ASSIGN_OR_RETURN(const std::optional<Csn> before, LastCsnUpTo(view, snapshot - 1));
    csn = before.has_value() ? *before + 1 : begin;
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<SnapshotId> last, LastSnapshotAt(view, csn));
  if (csn > begin) {
    return last == snapshot
               ? absl::StatusOr<Csn>(csn)
               : absl::NotFoundError(StrCat("no commit made snapshot ", snapshot, " the last one"));
  }
  // The feed begins while this is the last snapshot, or later. Only if the very commit the feed
  // begins at made it is all that followed there.
  if (last != snapshot) {
    return out_of_range();
  }
  const RelationRef snapshots = view.relations().FindById(kSnapshot);
  const Datum id = Datum::Int64(static_cast<int64_t>(snapshot));
  const ReadView newest(view.state(), view.last_snapshot());
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, newest.Get(*snapshots, {&id, 1}));
  return row.has_value() && row->csn == begin ? absl::StatusOr<Csn>(begin) : out_of_range();
}

}  // namespace varve
