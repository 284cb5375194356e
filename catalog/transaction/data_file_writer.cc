#include "catalog/transaction/data_file_writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

Datum IntOrNull(std::optional<int64_t> value) {
  return value.has_value() ? Datum::Int64(*value) : Datum();
}
Datum SnapshotOrNull(std::optional<SnapshotId> value) {
  return value.has_value() ? Datum::Int64(static_cast<int64_t>(*value)) : Datum();
}
Datum BoolOrNull(std::optional<bool> value) {
  return value.has_value() ? Datum::Bool(*value) : Datum();
}

// The statistics of a shredded path or a column as columns of their rows, from `first` on.
void SetStatistics(const ColumnStatistics& statistics, size_t first, Row* row) {
  row->SetBorrowed(first, IntOrNull(statistics.column_size_bytes));
  row->SetBorrowed(first + 1, IntOrNull(statistics.value_count));
  row->SetBorrowed(first + 2, IntOrNull(statistics.null_count));
  row->SetBorrowed(first + 3, TextOrNull(statistics.min_value));
  row->SetBorrowed(first + 4, TextOrNull(statistics.max_value));
  row->SetBorrowed(first + 5, BoolOrNull(statistics.contains_nan));
  row->SetBorrowed(first + 6, TextOrNull(statistics.extra_stats));
}

}  // namespace

DataFileWriter::DataFileWriter(Transaction::State* state, std::shared_ptr<const TableShape> shape,
                               RowsAre rows_are)
    : state_(state), shape_(std::move(shape)), rows_are_(rows_are) {
  slots_.reserve(shape_->facts.size());
  for (size_t i = 0; i < shape_->facts.size(); ++i) {
    slots_.emplace_back(shape_->columns.all()[i], shape_->facts[i]);
  }
}

absl::StatusOr<DataFileWriter> DataFileWriter::Open(Transaction::State* state, int64_t table_id,
                                                    RowsAre rows_are) {
  VARVE_ASSIGN_OR_RETURN(std::shared_ptr<const TableShape> shape,
                         state->catalog->shapes().Get(*state, table_id));
  return DataFileWriter(state, std::move(shape), rows_are);
}

// --- Writing ---

void DataFileWriter::Add(const DataFile& file, const DataFilePlace& place) {
  files_.push_back({.file = &file, .place = place});
}

absl::Status DataFileWriter::Write() {
  VARVE_RETURN_IF_ERROR(WriteFiles());
  VARVE_RETURN_IF_ERROR(WriteColumnStatistics());
  VARVE_RETURN_IF_ERROR(WriteVariantStatistics());
  VARVE_RETURN_IF_ERROR(WritePartitionValues());
  return AddTableStatistics();
}

absl::Status DataFileWriter::WriteFiles() {
  const RelationRef& relation = state_->relation(kDataFile);
  for (const auto& [file, place] : files_) {
    const std::array<Datum, 16> values = {
        Datum::Int64(place.file_id),         Datum::Int64(table().id),
        SnapshotOrNull(place.begin),         Datum(),
        IntOrNull(file->file_order),         Datum::Bytes(file->path),
        Datum::Bool(file->path_is_relative), Datum::Bytes(file->format),
        Datum::Int64(file->record_count),    Datum::Int64(file->file_size_bytes),
        Datum::Int64(file->footer_size),     IntOrNull(place.row_id_start),
        IntOrNull(place.partition_id),       TextOrNull(file->encryption_key),
        IntOrNull(file->mapping_id),         SnapshotOrNull(place.partial_max)};
    Row row(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      row.SetBorrowed(i, values[i]);
    }
    VARVE_RETURN_IF_ERROR(state_->rows.Insert(relation, std::move(row)));
  }
  return absl::OkStatus();
}

// Column by column: statistics are kept in the order of (column, file), so this way their rows come
// in order.
absl::Status DataFileWriter::WriteColumnStatistics() {
  struct Place {
    int64_t file_id = 0;
    const ColumnStatistics* statistics = nullptr;
  };
  std::vector<std::vector<Place>> of_slot(slots_.size());
  for (const auto& [file, place] : files_) {
    for (size_t i = 0; i < file->columns.size(); ++i) {
      const Slot* const slot = FindSlot(file->columns[i].column_id, i);
      of_slot[static_cast<size_t>(slot - slots_.data())].push_back(
          {.file_id = place.file_id, .statistics = &file->columns[i]});
    }
  }
  const RelationRef& relation = state_->relation(kFileColumnStats);
  for (const std::vector<Place>& places : of_slot) {
    for (const Place& place : places) {
      Row row(10);
      row.SetBorrowed(0, Datum::Int64(place.file_id));
      row.SetBorrowed(1, Datum::Int64(table().id));
      row.SetBorrowed(2, Datum::Int64(place.statistics->column_id));
      SetStatistics(*place.statistics, 3, &row);
      VARVE_RETURN_IF_ERROR(state_->rows.Insert(relation, std::move(row)));
    }
  }
  return absl::OkStatus();
}

absl::Status DataFileWriter::WriteVariantStatistics() {
  const RelationRef& relation = state_->relation(kFileVariantStats);
  for (const auto& [file, place] : files_) {
    for (const VariantStatistics& variant : file->variants) {
      Row row(12);
      row.SetBorrowed(0, Datum::Int64(place.file_id));
      row.SetBorrowed(1, Datum::Int64(table().id));
      row.SetBorrowed(2, Datum::Int64(variant.statistics.column_id));
      row.SetBorrowed(3, Datum::Bytes(variant.variant_path));
      row.SetBorrowed(4, Datum::Bytes(variant.shredded_type));
      SetStatistics(variant.statistics, 5, &row);
      VARVE_RETURN_IF_ERROR(state_->rows.Insert(relation, std::move(row)));
    }
  }
  return absl::OkStatus();
}

absl::Status DataFileWriter::WritePartitionValues() {
  const RelationRef& relation = state_->relation(kFilePartitionValue);
  for (const auto& [file, place] : files_) {
    for (size_t key = 0; key < place.partition_values.size(); ++key) {
      Row row(4);
      row.SetBorrowed(0, Datum::Int64(place.file_id));
      row.SetBorrowed(1, Datum::Int64(table().id));
      row.SetBorrowed(2, Datum::Int64(static_cast<int64_t>(key)));
      row.SetBorrowed(3, TextOrNull(place.partition_values[key]));
      VARVE_RETURN_IF_ERROR(state_->rows.Insert(relation, std::move(row)));
    }
  }
  return absl::OkStatus();
}

absl::Status DataFileWriter::AddTableStatistics() {
  for (const Slot& slot : slots_) {
    if (!slot.bounds.empty()) {
      VARVE_RETURN_IF_ERROR(AddBounds(slot.column->id, slot.bounds.type(), slot.bounds.Take(),
                                      &state_->statistics[table().id]));
    }
  }
  return absl::OkStatus();
}

}  // namespace varve
