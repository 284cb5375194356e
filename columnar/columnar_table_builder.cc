#include "columnar/columnar_table_builder.h"

#include <limits>
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

// The places of the columns that every table has.
constexpr size_t kHandle = 0;
constexpr size_t kVersion = 1;
constexpr size_t kEnd = 2;
constexpr size_t kFirstData = 3;

void AddProperty(std::string_view key, std::string value, std::vector<Property>* properties) {
  properties->push_back({.key = std::string(key), .value = std::move(value)});
}

}  // namespace

ColumnarTableBuilder::ColumnarTableBuilder(ColumnarTableSchema schema,
                                           ColumnarTableBuilderOptions options, ColumnarSink* sink)
    : schema_(std::move(schema)),
      options_(std::move(options)),
      sink_(sink),
      encoder_(options_.codec),
      pack_(schema_),
      first_handles_(PhysicalOfHandle(schema_.handle)),
      last_handles_(PhysicalOfHandle(schema_.handle)) {
  const Type handle_type =
      schema_.handle == HandleType::kInt ? Type(TypeKind::kInt64) : Type(TypeKind::kBlob);
  columns_.push_back({.info = {.id = kHandleColumnId, .name = "handle", .type = handle_type},
                      .min_max = MinMaxIndexBuilder(handle_type.physical())});
  columns_.push_back(
      {.info = {.id = kVersionColumnId, .name = "version", .type = TypeKind::kInt64}});
  columns_.push_back({.info = {.id = kEndColumnId, .name = "end", .type = TypeKind::kInt64}});
  for (const ColumnarColumn& column : schema_.columns) {
    columns_.push_back({.info = column, .min_max = MinMaxIndexBuilder(column.type.physical())});
  }
}

absl::Status ColumnarTableBuilder::CheckShape(const ColumnarRows& rows) const {
  const size_t count = rows.num_rows();
  bool fits = rows.handles.type() == pack_.handles.type() && rows.handles.size() == count &&
              rows.ends.size() == count && (rows.erased.empty() || rows.erased.size() == count) &&
              rows.columns.num_columns() == schema_.columns.size();
  for (size_t i = 0; fits && i < schema_.columns.size(); ++i) {
    const ColumnVector& column = rows.columns.column(i);
    fits = column.type() == schema_.columns[i].type.physical() && column.size() == count;
  }
  return fits ? absl::OkStatus()
              : absl::InvalidArgumentError(StrCat("rows for relation ", schema_.relation,
                                                  " do not have the columns of its schema, or not "
                                                  "equally long ones"));
}

absl::Status ColumnarTableBuilder::Append(const ColumnarRows& rows, size_t from, size_t to) {
  VARVE_RETURN_IF_ERROR(CheckShape(rows));
  // Rows [start, row) wait to be added to the pack under way.
  size_t start = from;
  for (size_t row = from; row < to; ++row) {
    // Compared with the row before, which an earlier Append may have brought.
    std::strong_ordering order = std::strong_ordering::greater;
    SnapshotId begin_before = 0;
    if (row > from) {
      order = CompareDatums(rows.handles.at(row), rows.handles.at(row - 1));
      begin_before = rows.begins[row - 1];
    } else if (has_last_row_) {
      order = CompareDatums(rows.handles.at(row), last_handle_.datum(schema_.handle));
      begin_before = last_begin_;
    }
    if (order < 0 || (order == 0 && rows.begins[row] <= begin_before)) {
      return absl::InvalidArgumentError(
          StrCat("rows for relation ", schema_.relation, " do not ascend by handle and begin: row ",
                 num_rows() + (row - start), " lies before the one it follows, or is the same"));
    }
    // Versions of one handle are never split: a full pack ends where the handle changes.
    if (order > 0 && pack_.num_rows() + (row - start) >= options_.rows_per_pack) {
      AddToPack(rows, start, row);
      VARVE_RETURN_IF_ERROR(FinishPack());
      start = row;
    }
  }
  AddToPack(rows, start, to);
  if (from < to) {
    has_last_row_ = true;
    last_handle_ = OwnedHandle::Of(rows.handles.at(to - 1));
    last_begin_ = rows.begins[to - 1];
  }
  if (pack_.num_rows() > kMaxRowsPerPack) {
    return absl::ResourceExhaustedError(StrCat("one handle of relation ", schema_.relation,
                                               " has more than ", kMaxRowsPerPack, " versions"));
  }
  return absl::OkStatus();
}

void ColumnarTableBuilder::AddToPack(const ColumnarRows& rows, size_t from, size_t to) {
  if (from == to) {
    return;
  }
  stats_.Add(rows, from, to);
  if (options_.handle_bloom) {
    for (size_t row = from; row < to; ++row) {
      bloom_.Add(HashOfHandle(rows.handles.at(row)));
    }
  }
  pack_.Append(rows, from, to);
}

absl::Status ColumnarTableBuilder::FinishPack() {
  const size_t rows = pack_.num_rows();
  versions_.Clear();
  ends_.Clear();
  for (size_t row = 0; row < rows; ++row) {
    versions_.AppendInt64(static_cast<int64_t>(pack_.begins[row]));
    if (pack_.is_erased(row)) {
      versions_.SetNull(row);
    }
    if (IsCurrent(pack_.ends[row])) {
      ends_.AppendNull();
    } else {
      ends_.AppendInt64(static_cast<int64_t>(pack_.ends[row]));
    }
  }
  // Delete markers have no values, but a handle.
  VARVE_RETURN_IF_ERROR(EncodePack(pack_.handles, /*left_out=*/{}, &columns_[kHandle]));
  VARVE_RETURN_IF_ERROR(EncodePack(versions_, {}, &columns_[kVersion]));
  VARVE_RETURN_IF_ERROR(EncodePack(ends_, {}, &columns_[kEnd]));
  for (size_t i = 0; i < schema_.columns.size(); ++i) {
    VARVE_RETURN_IF_ERROR(
        EncodePack(pack_.columns.column(i), pack_.erased, &columns_[kFirstData + i]));
  }
  stats_.FinishPack();
  first_handles_.AppendRange(pack_.handles, 0, 1);
  last_handles_.AppendRange(pack_.handles, rows - 1, 1);
  row_offsets_.push_back(row_offsets_.back() + rows);
  pack_.Clear();
  return group_size_ >= options_.group_bytes ? WriteGroup() : absl::OkStatus();
}

absl::Status ColumnarTableBuilder::EncodePack(const ColumnVector& values,
                                              std::span<const uint8_t> left_out, Column* column) {
  const size_t start = column->encoded.size();
  encoder_.Encode(values, 0, values.size(), &column->encoded);
  const uint64_t checksum = SectionChecksum(std::string_view(column->encoded).substr(start));
  PutLittleEndian(&column->encoded, checksum);
  const size_t length = column->encoded.size() - start;
  if (length > std::numeric_limits<uint32_t>::max()) {
    return absl::ResourceExhaustedError(StrCat("a pack of column ", column->info.name,
                                               " of relation ", schema_.relation, " takes ", length,
                                               " bytes: at most 4 GiB are possible"));
  }
  column->lengths.push_back(static_cast<uint32_t>(length));
  group_size_ += length;
  if (column->min_max.has_value()) {
    column->min_max->AddPack(values, left_out);
  }
  return absl::OkStatus();
}

absl::Status ColumnarTableBuilder::WriteGroup() {
  for (Column& column : columns_) {
    uint64_t offset = sink_->offset();
    for (const uint32_t length : column.lengths) {
      column.packs.push_back({.offset = offset, .length = length});
      offset += length;
    }
    VARVE_RETURN_IF_ERROR(sink_->Append(column.encoded));
    column.encoded.clear();
    column.lengths.clear();
  }
  group_size_ = 0;
  return absl::OkStatus();
}

TableMeta ColumnarTableBuilder::MakeMeta() {
  TableMeta meta;
  for (Column& column : columns_) {
    ColumnMeta made{.info = std::move(column.info),
                    .packs = std::move(column.packs),
                    .min_max = column.min_max.has_value() ? column.min_max->Encode() : ""};
    const auto place = static_cast<size_t>(&column - columns_.data());
    (place == kHandle    ? meta.handle
     : place == kVersion ? meta.version
     : place == kEnd     ? meta.end
                         : meta.columns.emplace_back()) = std::move(made);
  }
  meta.row_offsets = row_offsets_;
  encoder_.Encode(first_handles_, 0, first_handles_.size(), &meta.handle_index);

  std::vector<Property>& properties = meta.properties;
  AddProperty(kPropPackMvccStats, stats_.stats().Encode(), &properties);
  if (stats_.max_version().has_value()) {
    std::string value;
    PutLittleEndian(&value, *stats_.max_version());
    AddProperty(kPropMaxVersion, std::move(value), &properties);
  }
  AddProperty(kPropPackSnapshotBounds, EncodePackSnapshotBounds(stats_.bounds()), &properties);
  std::string last_handles;
  PutLittleEndian<uint8_t>(&last_handles, kPropertyVersion);
  PutLittleEndian<uint32_t>(&last_handles, static_cast<uint32_t>(last_handles_.size()));
  encoder_.Encode(last_handles_, 0, last_handles_.size(), &last_handles);
  AddProperty(kPropPackLastHandle, std::move(last_handles), &properties);
  if (options_.handle_bloom) {
    std::string filter;
    bloom_.Finish(&filter);
    AddProperty(kPropHandleBloom, std::move(filter), &properties);
  }
  if (options_.edit_properties) {
    options_.edit_properties(&properties);
  }
  return meta;
}

absl::StatusOr<ColumnarTableProperties> ColumnarTableBuilder::Finish() {
  if (pack_.num_rows() > 0) {
    VARVE_RETURN_IF_ERROR(FinishPack());
  }
  VARVE_RETURN_IF_ERROR(WriteGroup());
  std::string section;
  AppendTableMeta(MakeMeta(), &section);
  PutLittleEndian(&section, SectionChecksum(section));
  ColumnarTableProperties properties{.schema = schema_,
                                     .row_count = row_offsets_.back(),
                                     .meta_offset = sink_->offset(),
                                     .meta_length = static_cast<uint32_t>(section.size())};
  if (properties.row_count > 0) {
    properties.smallest_handle = OwnedHandle::Of(first_handles_.at(0));
    properties.largest_handle = OwnedHandle::Of(last_handles_.at(last_handles_.size() - 1));
  }
  VARVE_RETURN_IF_ERROR(sink_->Append(section));
  return properties;
}

}  // namespace varve
