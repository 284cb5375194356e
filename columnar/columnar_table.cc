#include "columnar/columnar_table.h"

#include <algorithm>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/columnar_rows.h"
#include "columnar/format.h"
#include "columnar/pack_codec.h"

namespace varve {
namespace {

ColumnarTable::Column MakeColumn(ColumnMeta meta) {
  const PhysicalType type = meta.info.type.physical();
  std::optional<MinMaxIndex> min_max = MinMaxIndex::Parse(meta.min_max, type, meta.packs.size());
  return {
      .info = std::move(meta.info), .packs = std::move(meta.packs), .min_max = std::move(min_max)};
}

// Whether handles ascend strictly and none is NULL.
bool Ascends(const ColumnVector& handles) {
  for (size_t i = 0; i < handles.size(); ++i) {
    if (handles.is_null(i) || (i > 0 && CompareDatums(handles.at(i - 1), handles.at(i)) >= 0)) {
      return false;
    }
  }
  return true;
}

// The property pack_last_handle_v1: version(1) = 1 | num_packs(4) | an encoded pack of num_packs
// handles.
std::optional<ColumnVector> ParseLastHandles(std::string_view value, const ColumnVector& first) {
  uint8_t version = 0;
  uint32_t num_packs = 0;
  ColumnVector last(first.type());
  if (!GetLittleEndian(&value, &version) || version != kPropertyVersion ||
      !GetLittleEndian(&value, &num_packs) || num_packs != first.size() ||
      !PackDecoder().Decode(value, first.type(), num_packs, &last).ok() || !Ascends(last)) {
    return std::nullopt;
  }
  // first[p] <= last[p] < first[p + 1], or they cannot be of these packs.
  for (size_t pack = 0; pack < num_packs; ++pack) {
    if (CompareDatums(first.at(pack), last.at(pack)) > 0 ||
        (pack + 1 < num_packs && CompareDatums(last.at(pack), first.at(pack + 1)) >= 0)) {
      return std::nullopt;
    }
  }
  return last;
}

}  // namespace

absl::StatusOr<ColumnarTable> ColumnarTable::Make(const ColumnarTableProperties& properties,
                                                  TableMeta meta) {
  ColumnarTable table;
  table.properties_ = properties;
  const ColumnarTableSchema& schema = properties.schema;
  const PhysicalType handle_type = PhysicalOfHandle(schema.handle);
  if (meta.row_offsets.back() != properties.row_count) {
    return absl::DataLossError(StrCat("it has ", meta.row_offsets.back(),
                                      " rows, and the footer says ", properties.row_count));
  }
  bool fits =
      meta.columns.size() == schema.columns.size() && meta.handle.info.id == kHandleColumnId &&
      meta.handle.info.type.physical() == handle_type && meta.version.info.id == kVersionColumnId &&
      meta.version.info.type.physical() == PhysicalType::kInt64 &&
      meta.end.info.id == kEndColumnId && meta.end.info.type.physical() == PhysicalType::kInt64;
  for (size_t i = 0; fits && i < meta.columns.size(); ++i) {
    fits = meta.columns[i].info == schema.columns[i];
  }
  if (!fits) {
    return absl::DataLossError("its columns are not those of the schema in the footer");
  }
  table.first_handles_ = ColumnVector(handle_type);
  if (const absl::Status status = PackDecoder().Decode(meta.handle_index, handle_type,
                                                       meta.num_packs(), &table.first_handles_);
      !status.ok()) {
    return absl::DataLossError(StrCat("the handle index is malformed: ", status.message()));
  }
  if (!Ascends(table.first_handles_)) {
    return absl::DataLossError("the handle index does not ascend");
  }
  table.ReadProperties(meta);
  table.row_offsets_ = std::move(meta.row_offsets);
  table.handle_ = MakeColumn(std::move(meta.handle));
  table.version_ = MakeColumn(std::move(meta.version));
  table.end_ = MakeColumn(std::move(meta.end));
  for (ColumnMeta& column : meta.columns) {
    table.columns_.push_back(MakeColumn(std::move(column)));
  }
  return table;
}

void ColumnarTable::ReadProperties(const TableMeta& meta) {
  const size_t num_packs = meta.num_packs();
  if (const std::string* value = meta.FindProperty(kPropPackMvccStats); value != nullptr) {
    mvcc_stats_ = PackMvccStats::Parse(*value, num_packs);
  }
  if (const std::string* value = meta.FindProperty(kPropPackSnapshotBounds); value != nullptr) {
    snapshot_bounds_ = ParsePackSnapshotBounds(*value, num_packs);
  }
  if (const std::string* value = meta.FindProperty(kPropMaxVersion); value != nullptr) {
    std::string_view in = *value;
    if (SnapshotId max = 0; GetLittleEndian(&in, &max) && in.empty()) {
      max_version_ = max;
    }
  }
  if (const std::string* value = meta.FindProperty(kPropPackLastHandle); value != nullptr) {
    last_handles_ = ParseLastHandles(*value, first_handles_);
  }
  if (const std::string* value = meta.FindProperty(kPropHandleBloom); value != nullptr) {
    bloom_ = BloomFilter(*value);
  }
}

ColumnarTable::HandleBound ColumnarTable::last_handle_bound(size_t pack) const {
  if (last_handles_.has_value()) {
    return {.handle = last_handles_->at(pack)};
  }
  if (pack + 1 < num_packs()) {
    return {.handle = first_handle(pack + 1), .inclusive = false};
  }
  return {.handle = properties_.largest_handle.datum(schema().handle)};
}

size_t ColumnarTable::SeekPack(const Datum& handle) const {
  // The packs whose last handle lies before `handle` come first.
  size_t low = 0;
  size_t high = num_packs();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const HandleBound last = last_handle_bound(middle);
    const std::strong_ordering order = CompareDatums(last.handle, handle);
    if (order < 0 || (order == 0 && !last.inclusive)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool ColumnarTable::MayContain(const Datum& handle) const {
  const size_t pack = SeekPack(handle);
  return pack < num_packs() && CompareDatums(first_handle(pack), handle) <= 0 &&
         bloom_.MayContain(HashOfHandle(handle));
}

const ColumnarTable::Column* ColumnarTable::FindColumn(uint32_t id) const {
  const auto it =
      std::ranges::find_if(columns_, [id](const Column& column) { return column.info.id == id; });
  return it == columns_.end() ? nullptr : &*it;
}

}  // namespace varve
