#include "catalog/read_view.h"

#include <algorithm>
#include <unordered_set>

#include "base/coding.h"
#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/payload_codec.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/store/store_scan.h"
#include "catalog/store/version_cursor.h"
#include "catalog/tiers/scan_path.h"
#include "catalog/tiers/tiered_scan.h"

namespace varve {
namespace {

constexpr uint32_t kMaxBatchRows = 65'536;

absl::Status CheckOptions(const RelationSchema& relation, const ScanOptions& options) {
  const size_t num_columns = relation.columns.num_columns();
  if (options.batch_rows < 1 || options.batch_rows > kMaxBatchRows) {
    return absl::InvalidArgumentError(
        StrCat("batch_rows is ", options.batch_rows, ", expected 1 to ", kMaxBatchRows));
  }
  std::unordered_set<size_t> seen;
  for (const size_t column : options.columns.value_or(std::vector<size_t>())) {
    if (column >= num_columns) {
      return absl::InvalidArgumentError(StrCat(relation.name, " has ", num_columns,
                                               " columns, number ", column, " was asked for"));
    }
    if (!seen.insert(column).second) {
      return absl::InvalidArgumentError(StrCat(relation.name, ": column ",
                                               relation.columns.column(column).name,
                                               " is asked for twice; name each column once"));
    }
  }
  return absl::OkStatus();
}

std::vector<size_t> AllColumns(const RelationSchema& relation) {
  std::vector<size_t> columns(relation.columns.num_columns());
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i] = i;
  }
  return columns;
}

// Decodes every column of a stored version into a row that owns its bytes.
absl::StatusOr<VersionedRow> ToRow(const RelationRef& relation, const StoredVersion& version) {
  const RowDecoder decoder(relation, AllColumns(*relation));
  std::vector<Datum> values(relation->columns.num_columns());
  DecodedHandle scratch;
  VARVE_RETURN_IF_ERROR(decoder.Decode(version.handle, version.begin, version.end, version.payload,
                                       &scratch, values));
  return VersionedRow{
      .values = Row(values), .begin = version.begin, .end = version.end, .csn = version.csn};
}

}  // namespace

ReadView::ReadView(std::shared_ptr<const StoreState> state, SnapshotId snapshot,
                   std::shared_ptr<const void> hold)
    : state_(std::move(state)), snapshot_(snapshot), hold_(std::move(hold)) {}

bool ReadView::is_current() const {
  return snapshot_ == state_->last_snapshot;
}
Csn ReadView::csn() const {
  return state_->csn;
}
SnapshotId ReadView::last_snapshot() const {
  return state_->last_snapshot;
}
const RelationDirectory& ReadView::relations() const {
  return *state_->directory;
}

absl::StatusOr<std::optional<VersionedRow>> ReadView::Get(const RelationSchema& relation,
                                                          std::span<const Datum> key) const {
  PointReader reader(*this);
  VersionedRow row;
  VARVE_ASSIGN_OR_RETURN(const bool found, reader.Get(relation, key, &row));
  if (!found) {
    return std::nullopt;
  }
  // The reader's row borrows from the reader; a copy owns its bytes.
  return VersionedRow{
      .values = Row(row.values.values()), .begin = row.begin, .end = row.end, .csn = row.csn};
}

absl::StatusOr<std::optional<VersionedRow>> ReadView::GetByUnique(const RelationSchema& relation,
                                                                  int64_t id) const {
  if (!relation.unique_column.has_value()) {
    return absl::InvalidArgumentError(
        StrCat(relation.name, " has no unique column beside its key"));
  }
  std::string handle;
  const rocksdb::Status status =
      state_->store->db().Get(state_->read_options(), state_->store->family(Family::kLive),
                              ToSlice(IndexKey(relation.id, id)), &handle);
  if (status.IsNotFound()) {
    return std::nullopt;
  }
  VARVE_RETURN_IF_ERROR(FromRocksDb(status, StrCat("reading ", relation.name)));
  DecodedHandle decoded;
  VARVE_RETURN_IF_ERROR(DecodeHandle(relation, handle, &decoded));
  return Get(relation, decoded.key);
}

absl::StatusOr<std::vector<VersionedRow>> ReadView::Versions(const RelationSchema& relation,
                                                             std::span<const Datum> key) const {
  std::string handle;
  VARVE_RETURN_IF_ERROR(AppendHandle(relation, key, &handle));
  const RelationRef ref = state_->directory->FindById(relation.id);
  if (ref == nullptr) {
    return absl::NotFoundError(StrCat("there is no relation ", relation.name));
  }
  VersionCursor cursor(*state_, ref, VersionSet::kBoth, handle);
  VARVE_RETURN_IF_ERROR(cursor.Start());
  std::vector<VersionedRow> rows;
  while (cursor.valid()) {
    VARVE_ASSIGN_OR_RETURN(VersionedRow row, ToRow(ref, cursor.version()));
    rows.push_back(std::move(row));
    VARVE_RETURN_IF_ERROR(cursor.Next());
  }
  // The cursor goes ordinal by ordinal; rows of equal keys may overlap.
  std::stable_sort(rows.begin(), rows.end(),
                   [](const VersionedRow& a, const VersionedRow& b) { return a.begin < b.begin; });
  return rows;
}

absl::StatusOr<std::unique_ptr<RowScan>> ReadView::Scan(RelationRef relation,
                                                        ScanOptions options) const {
  VARVE_RETURN_IF_ERROR(CheckOptions(*relation, options));
  if (options.key_prefix.empty()) {
    options.key_prefix = options.predicate.HandlePrefix(*relation);
  }
  std::string prefix;
  VARVE_RETURN_IF_ERROR(AppendHandlePrefix(*relation, options.key_prefix, &prefix));
  VARVE_ASSIGN_OR_RETURN(const bool by_tiers, IsAnsweredByTiers(*this, *relation, options, prefix));
  if (by_tiers) {
    return std::make_unique<TieredScan>(*this, std::move(relation), std::move(options), prefix);
  }
  return std::make_unique<StoreScan>(*this, std::move(relation), std::move(options), prefix);
}

}  // namespace varve
