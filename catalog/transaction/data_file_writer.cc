#include "catalog/transaction/data_file_writer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/column_rules.h"

namespace varve {
namespace {

// Counts are added up; below this they never overflow.
constexpr int64_t kMaxCount = int64_t{1} << 59;

Datum IntOrNull(std::optional<int64_t> value) {
  return value.has_value() ? Datum::Int64(*value) : Datum();
}
Datum SnapshotOrNull(std::optional<SnapshotId> value) {
  return value.has_value() ? Datum::Int64(static_cast<int64_t>(*value)) : Datum();
}
Datum BoolOrNull(std::optional<bool> value) {
  return value.has_value() ? Datum::Bool(*value) : Datum();
}

absl::Status CheckCount(const std::string& path, std::string_view name, int64_t count) {
  if (count < 0) {
    return absl::InvalidArgumentError(StrCat(FileText("data file", path), ": ", name, " is ", count,
                                             "; counts are not negative"));
  }
  if (count > kMaxCount) {
    return absl::InvalidArgumentError(StrCat(FileText("data file", path), ": ", name, " is ", count,
                                             "; at most ", kMaxCount, " is possible"));
  }
  return absl::OkStatus();
}

absl::Status CheckCounts(const std::string& path, const ColumnStatistics& statistics) {
  for (const auto& [name, count] : {std::pair("column_size_bytes", statistics.column_size_bytes),
                                    std::pair("value_count", statistics.value_count),
                                    std::pair("null_count", statistics.null_count)}) {
    VARVE_RETURN_IF_ERROR(CheckCount(path, name, count.value_or(0)));
  }
  return absl::OkStatus();
}

bool IsNan(const Datum& value) {
  return value.physical() == PhysicalType::kFloat64 && std::isnan(value.float64_value());
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

std::string FileText(std::string_view kind, std::string_view path) {
  return StrCat(kind, " ", ShownName(path));
}

absl::Status CheckFileFacts(const FileFacts& facts) {
  if (facts.path.empty()) {
    return absl::InvalidArgumentError(StrCat("the path of a ", facts.kind, " is empty"));
  }
  const std::string file = FileText(facts.kind, facts.path);
  VARVE_RETURN_IF_ERROR(CheckText(StrCat("the path of ", file), facts.path));
  const bool is_delete_file = facts.kind == "delete file";
  if (facts.format != "parquet" && !(is_delete_file && facts.format == "puffin")) {
    return absl::InvalidArgumentError(
        StrCat(file, ": there is no format ", ShownName(facts.format), "; expected ",
               is_delete_file ? "\"parquet\" or \"puffin\"" : "\"parquet\""));
  }
  for (const auto& [name, count] : {std::pair("file_size_bytes", facts.file_size_bytes),
                                    std::pair("footer_size", facts.footer_size)}) {
    if (count < 0 || count > kMaxCount) {
      return absl::InvalidArgumentError(
          StrCat(file, ": ", name, " is ", count, "; expected 0 to ", kMaxCount));
    }
  }
  return facts.encryption_key.has_value()
             ? CheckText(StrCat("the encryption key of ", file), *facts.encryption_key)
             : absl::OkStatus();
}

absl::StatusOr<DataFileWriter> DataFileWriter::Open(Transaction::State* state, int64_t table_id,
                                                    RowsAre rows_are) {
  DataFileWriter writer(state, rows_are);
  VARVE_ASSIGN_OR_RETURN(writer.table_, FindLive(*state, kTable, table_id));
  VARVE_ASSIGN_OR_RETURN(writer.columns_, TableColumns::Load(*state, table_id));
  for (const TableColumn& column : writer.columns_.all()) {
    Slot slot;
    slot.column = &column;
    slot.ordered = HasBounds(column.type);
    slot.nested = IsNestedType(column.type);
    size_t steps = 0;  // a damaged catalog may hold a circle of parents
    for (const TableColumn* above = &column;
         above->parent.has_value() && steps++ <= writer.columns_.all().size();) {
      above = writer.columns_.Find(*above->parent);
      if (above == nullptr) {
        break;
      }
      slot.repeated |= IsNestedType(above->type) && !IsStruct(above->type);
    }
    slot.bounds = std::make_unique<BoundsCollector>(TypeOfColumn(column.type));
    writer.slot_of_column_[column.id] = writer.slots_.size();
    writer.slots_.push_back(std::move(slot));
  }
  VARVE_RETURN_IF_ERROR(writer.ReadPartitioning());
  VARVE_RETURN_IF_ERROR(writer.ReadEncrypted());
  return writer;
}

absl::Status DataFileWriter::ReadPartitioning() {
  // Partitionings are not found by table, but they are few.
  const RelationRef& infos = state_->relation(kPartitionInfo);
  ScanOptions options;
  options.columns = {*infos->columns.Find("partition_id")};
  std::vector<Term> terms;
  terms.push_back({.column = *infos->columns.Find("table_id"),
                   .op = Comparison::kEqual,
                   .constants = Row(std::array{Datum::Int64(table_.id)})});
  options.predicate = Predicate(std::move(terms));
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan, state_->rows.Scan(infos, options));
  ScanBatch batch;
  VARVE_ASSIGN_OR_RETURN(const bool found, scan->Next(&batch));
  if (!found || batch.columns.column(0).is_null(0)) {
    return absl::OkStatus();
  }
  partition_id_ = batch.columns.column(0).int64s()[0];
  const Datum of_partitioning[] = {Datum::Int64(*partition_id_)};
  VARVE_RETURN_IF_ERROR(state_->rows.ForEach(state_->relation(kPartitionColumn), of_partitioning,
                                             [&](const VersionedRow&) -> absl::Status {
                                               ++partition_keys_;
                                               return absl::OkStatus();
                                             }));
  if (partition_keys_ == 0) {
    partition_id_.reset();  // a partitioning without keys is none
  }
  return absl::OkStatus();
}

absl::Status DataFileWriter::ReadEncrypted() {
  const RelationRef& metadata = state_->relation(kMetadata);
  const Datum key[] = {Datum::Bytes("encrypted"), Datum(), Datum()};
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, state_->rows.Get(metadata, key));
  encrypted_ = row.has_value() && TextOf(*metadata, row->values, "value") == "true";
  return absl::OkStatus();
}

// --- Checking ---

absl::Status DataFileWriter::Check(const DataFile& file) {
  ++files_checked_;
  VARVE_RETURN_IF_ERROR(CheckFileFacts({.kind = "data file",
                                        .path = file.path,
                                        .format = file.format,
                                        .file_size_bytes = file.file_size_bytes,
                                        .footer_size = file.footer_size,
                                        .encryption_key = file.encryption_key}));
  VARVE_RETURN_IF_ERROR(CheckCount(file.path, "record_count", file.record_count));
  if (encrypted_ && !file.encryption_key.has_value()) {
    return absl::InvalidArgumentError(
        StrCat(FileText("data file", file.path),
               " has no encryption key; the files of this lake are encrypted"));
  }
  VARVE_RETURN_IF_ERROR(CheckMapping(file));
  VARVE_RETURN_IF_ERROR(CheckColumns(file));
  if (!file.variants.empty()) {
    VARVE_RETURN_IF_ERROR(CheckVariants(file));
  }
  for (const NullableText& value : file.partition_values) {
    if (value.has_value()) {
      VARVE_RETURN_IF_ERROR(
          CheckText(StrCat("a partition value of ", FileText("data file", file.path)), *value));
    }
  }
  return absl::OkStatus();
}

absl::Status DataFileWriter::CheckPartitionValues(const DataFile& file) const {
  if (file.partition_values.size() == partition_keys_) {
    return absl::OkStatus();
  }
  const std::string text = StrCat(FileText("data file", file.path), " has ",
                                  file.partition_values.size(), " partition values; ");
  return absl::InvalidArgumentError(
      partition_keys_ == 0 ? StrCat(text, ObjectText(table_), " is not partitioned")
                           : StrCat(text, "the partitioning of ", ObjectText(table_), " has ",
                                    partition_keys_, partition_keys_ == 1 ? " key" : " keys"));
}

absl::Status DataFileWriter::CheckMapping(const DataFile& file) {
  if (!file.mapping_id.has_value()) {
    return absl::OkStatus();
  }
  const auto [known, is_new] = mappings_.try_emplace(*file.mapping_id, false);
  if (is_new) {
    const RelationRef& mappings = state_->relation(kColumnMapping);
    const Datum key[] = {Datum::Int64(*file.mapping_id)};
    VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, state_->rows.Get(mappings, key));
    known->second = row.has_value() && IdOf(*mappings, row->values, "table_id") == table_.id;
  }
  return known->second ? absl::OkStatus()
                       : absl::NotFoundError(StrCat(FileText("data file", file.path), ": ",
                                                    ObjectText(table_), " has no mapping ",
                                                    *file.mapping_id));
}

// Files usually name the columns in one order, so the column is where the last file had it.
DataFileWriter::Slot* DataFileWriter::FindSlot(int64_t column_id, size_t likely) {
  if (likely < slots_.size() && slots_[likely].column->id == column_id) {
    return &slots_[likely];
  }
  const auto found = slot_of_column_.find(column_id);
  return found == slot_of_column_.end() ? nullptr : &slots_[found->second];
}

absl::Status DataFileWriter::CheckColumns(const DataFile& file) {
  for (size_t i = 0; i < file.columns.size(); ++i) {
    const ColumnStatistics& statistics = file.columns[i];
    Slot* const slot = FindSlot(statistics.column_id, i);
    if (slot == nullptr) {
      return absl::InvalidArgumentError(StrCat(FileText("data file", file.path),
                                               ": statistics of column ", statistics.column_id,
                                               ", which ", ObjectText(table_), " has not got"));
    }
    if (std::exchange(slot->last_file, files_checked_) == files_checked_) {
      return absl::InvalidArgumentError(
          StrCat(FileText("data file", file.path), ": statistics of column ",
                 columns_.PathText(slot->column->id), " are given twice"));
    }
    if (const absl::Status status = CheckStatistics(file, statistics, slot); !status.ok()) {
      return absl::Status(
          status.code(),
          ToAbsl(StrCat(FileText("data file", file.path), ", column ",
                        columns_.PathText(slot->column->id), ": ", MessageOf(status))));
    }
  }
  return absl::OkStatus();
}

// DuckLake's client counts as values those that are not NULL, the specification all of them.
absl::Status DataFileWriter::CheckStatistics(const DataFile& file,
                                             const ColumnStatistics& statistics, Slot* slot) {
  VARVE_RETURN_IF_ERROR(CheckCounts(file.path, statistics));
  const std::optional<int64_t>& values = statistics.value_count;
  const std::optional<int64_t>& nulls = statistics.null_count;
  if (!slot->repeated) {
    for (const auto& [name, count] :
         {std::pair("value_count", values), std::pair("null_count", nulls)}) {
      if (count.value_or(0) > file.record_count) {
        return absl::InvalidArgumentError(
            StrCat(name, " is ", *count, ", the file has ", file.record_count, " rows"));
      }
    }
  }
  const bool one_a_row = !slot->column->parent.has_value() && !slot->nested;
  if (one_a_row && values.has_value() && nulls.has_value() && *values != file.record_count &&
      *values + *nulls != file.record_count) {
    return absl::InvalidArgumentError(StrCat("value_count is ", *values, " and null_count ", *nulls,
                                             ", the file has ", file.record_count, " rows"));
  }
  if (one_a_row && !slot->column->nullable && nulls.value_or(0) > 0) {
    return absl::InvalidArgumentError(
        StrCat("null_count is ", *nulls, ", but the column allows no NULL"));
  }
  for (const NullableText* const text :
       {&statistics.min_value, &statistics.max_value, &statistics.extra_stats}) {
    if (text->has_value()) {
      VARVE_RETURN_IF_ERROR(CheckText("a text of the statistics", **text));
    }
  }
  const bool has_bound = statistics.min_value.has_value() || statistics.max_value.has_value();
  if (has_bound && slot->nested) {
    return absl::InvalidArgumentError(StrCat("a ", slot->column->type,
                                             " has no min_value and max_value; give those of its "
                                             "fields"));
  }
  const Type& type = slot->bounds->type();
  if (statistics.contains_nan == true && type.physical() != PhysicalType::kFloat64) {
    return absl::InvalidArgumentError(
        StrCat("contains_nan is set, a ", slot->column->type, " is never NaN"));
  }
  std::optional<BoundsCollector::Bound> min;
  std::optional<BoundsCollector::Bound> max;
  if (slot->ordered && statistics.min_value.has_value()) {
    min.emplace(BoundsCollector::Bound{.text = *statistics.min_value, .value = Datum()});
    VARVE_RETURN_IF_ERROR(ParseBound(type, min->text, &min_scratch_, &min->value));
  }
  if (slot->ordered && statistics.max_value.has_value()) {
    max.emplace(BoundsCollector::Bound{.text = *statistics.max_value, .value = Datum()});
    VARVE_RETURN_IF_ERROR(ParseBound(type, max->text, &max_scratch_, &max->value));
  }
  if (min.has_value() && max.has_value() && !IsNan(min->value) && !IsNan(max->value) &&
      CompareDatums(min->value, max->value) == std::strong_ordering::greater) {
    return absl::InvalidArgumentError(
        StrCat("min_value ", ShownName(min->text), " is above max_value ", ShownName(max->text)));
  }
  Collect(file, statistics, min, max, slot);
  return absl::OkStatus();
}

void DataFileWriter::Collect(const DataFile& file, const ColumnStatistics& statistics,
                             const std::optional<BoundsCollector::Bound>& min,
                             const std::optional<BoundsCollector::Bound>& max, Slot* slot) const {
  if (file.record_count == 0 || slot->nested) {
    return;
  }
  BoundsCollector::Added added = {.min_value = min, .max_value = max};
  const bool all_null = (!slot->repeated && statistics.null_count == file.record_count) ||
                        statistics.value_count == 0;
  added.has_values =
      statistics.min_value.has_value() || statistics.max_value.has_value() || !all_null;
  if (statistics.null_count.has_value()) {
    added.contains_null = *statistics.null_count > 0;
  }
  const bool is_float = slot->bounds->type().physical() == PhysicalType::kFloat64;
  if (is_float) {
    added.contains_nan = statistics.contains_nan;
  }
  if (statistics.extra_stats.has_value()) {
    added.extra_stats = *statistics.extra_stats;
  }
  if (rows_are_ == RowsAre::kMoved) {
    const bool known = added.contains_null.has_value() &&
                       (!is_float || added.contains_nan.has_value()) &&
                       (!added.has_values || (min.has_value() && max.has_value()));
    if (!known) {
      return;
    }
  }
  slot->bounds->Add(added);
}

absl::Status DataFileWriter::CheckVariants(const DataFile& file) {
  std::vector<std::pair<int64_t, std::string_view>> paths;
  for (const VariantStatistics& variant : file.variants) {
    const int64_t column_id = variant.statistics.column_id;
    const std::string what = StrCat(FileText("data file", file.path), ": variant statistics of ",
                                    ShownName(variant.variant_path), " of column ", column_id);
    const TableColumn* const column = columns_.Find(column_id);
    if (column == nullptr || !EqualsIgnoreCase(column->type, "variant")) {
      return absl::InvalidArgumentError(
          StrCat(what, ", which is no variant column of ", ObjectText(table_)));
    }
    for (const std::string& text : {variant.variant_path, variant.shredded_type}) {
      if (text.empty()) {
        return absl::InvalidArgumentError(StrCat(what, ": the path or its type is empty"));
      }
      VARVE_RETURN_IF_ERROR(CheckText(what, text));
    }
    for (const NullableText& text : {variant.statistics.min_value, variant.statistics.max_value,
                                     variant.statistics.extra_stats}) {
      VARVE_RETURN_IF_ERROR(CheckText(what, text.value_or("")));
    }
    VARVE_RETURN_IF_ERROR(CheckCounts(file.path, variant.statistics));
    paths.emplace_back(column_id, variant.variant_path);
  }
  std::sort(paths.begin(), paths.end());
  const auto twice = std::adjacent_find(paths.begin(), paths.end());
  return twice == paths.end() ? absl::OkStatus()
                              : absl::InvalidArgumentError(StrCat(
                                    FileText("data file", file.path), ": variant statistics of ",
                                    ShownName(twice->second), " are given twice"));
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
        Datum::Int64(place.file_id),         Datum::Int64(table_.id),
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
      row.SetBorrowed(1, Datum::Int64(table_.id));
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
      row.SetBorrowed(1, Datum::Int64(table_.id));
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
      row.SetBorrowed(1, Datum::Int64(table_.id));
      row.SetBorrowed(2, Datum::Int64(static_cast<int64_t>(key)));
      row.SetBorrowed(3, TextOrNull(place.partition_values[key]));
      VARVE_RETURN_IF_ERROR(state_->rows.Insert(relation, std::move(row)));
    }
  }
  return absl::OkStatus();
}

absl::Status DataFileWriter::AddTableStatistics() {
  for (const Slot& slot : slots_) {
    if (!slot.bounds->empty()) {
      VARVE_RETURN_IF_ERROR(AddBounds(slot.column->id, slot.bounds->type(), slot.bounds->Take(),
                                      &state_->statistics[table_.id]));
    }
  }
  return absl::OkStatus();
}

}  // namespace varve
