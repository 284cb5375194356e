// What data files and their statistics can be: the checks of data_file_writer.h.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/data_file_writer.h"
#include "catalog/transaction/files.h"

namespace varve {
namespace {

// Counts are added up; below this they never overflow.
constexpr int64_t kMaxCount = int64_t{1} << 59;

absl::Status CheckCount(std::string_view name, int64_t count) {
  if (count < 0) {
    return absl::InvalidArgumentError(StrCat(name, " is ", count, "; counts are not negative"));
  }
  return count <= kMaxCount ? absl::OkStatus()
                            : absl::InvalidArgumentError(StrCat(name, " is ", count, "; at most ",
                                                                kMaxCount, " is possible"));
}

absl::Status CheckCounts(const ColumnStatistics& statistics) {
  VARVE_RETURN_IF_ERROR(CheckCount("column_size_bytes", statistics.column_size_bytes.value_or(0)));
  VARVE_RETURN_IF_ERROR(CheckCount("value_count", statistics.value_count.value_or(0)));
  return CheckCount("null_count", statistics.null_count.value_or(0));
}

std::string_view TextOrEmpty(const NullableText& text) {
  return text.has_value() ? std::string_view(*text) : std::string_view();
}

bool IsNan(const Datum& value) {
  return value.physical() == PhysicalType::kFloat64 && std::isnan(value.float64_value());
}

}  // namespace

std::string FileText(std::string_view kind, std::string_view path) {
  return StrCat(kind, " ", ShownName(path));
}

absl::Status CheckFileFacts(const FileFacts& facts) {
  if (facts.path.empty()) {
    return absl::InvalidArgumentError(StrCat("the path of a ", facts.kind, " is empty"));
  }
  const auto check = [&]() -> absl::Status {
    VARVE_RETURN_IF_ERROR(CheckText("its path", facts.path));
    const bool is_delete_file = facts.kind == "delete file";
    if (facts.format != "parquet" && !(is_delete_file && facts.format == "puffin")) {
      return absl::InvalidArgumentError(
          StrCat("there is no format ", ShownName(facts.format), "; expected ",
                 is_delete_file ? "\"parquet\" or \"puffin\"" : "\"parquet\""));
    }
    VARVE_RETURN_IF_ERROR(CheckCount("file_size_bytes", facts.file_size_bytes));
    VARVE_RETURN_IF_ERROR(CheckCount("footer_size", facts.footer_size));
    return facts.encryption_key.has_value() ? CheckText("its encryption key", *facts.encryption_key)
                                            : absl::OkStatus();
  };
  const absl::Status status = check();
  return status.ok() ? status : Within(FileText(facts.kind, facts.path), status);
}

absl::Status DataFileWriter::Check(const DataFile& file) {
  ++files_checked_;
  VARVE_RETURN_IF_ERROR(CheckFileFacts({.kind = "data file",
                                        .path = file.path,
                                        .format = file.format,
                                        .file_size_bytes = file.file_size_bytes,
                                        .footer_size = file.footer_size,
                                        .encryption_key = file.encryption_key}));
  const absl::Status status = CheckContent(file);
  return status.ok() ? status : Within(FileText("data file", file.path), status);
}

absl::Status DataFileWriter::CheckContent(const DataFile& file) {
  VARVE_RETURN_IF_ERROR(CheckCount("record_count", file.record_count));
  if (shape_->encrypted && !file.encryption_key.has_value()) {
    return absl::InvalidArgumentError(
        "it has no encryption key; the files of this lake are encrypted");
  }
  VARVE_RETURN_IF_ERROR(CheckMapping(file));
  VARVE_RETURN_IF_ERROR(CheckColumns(file));
  if (!file.variants.empty()) {
    VARVE_RETURN_IF_ERROR(CheckVariants(file));
  }
  for (const NullableText& value : file.partition_values) {
    VARVE_RETURN_IF_ERROR(CheckText("a partition value", TextOrEmpty(value)));
  }
  return absl::OkStatus();
}

absl::Status DataFileWriter::CheckPartitionValues(const DataFile& file) const {
  if (file.partition_values.size() == shape_->partition_keys) {
    return absl::OkStatus();
  }
  const std::string text = StrCat(FileText("data file", file.path), " has ",
                                  file.partition_values.size(), " partition values; ");
  return absl::InvalidArgumentError(shape_->partition_keys == 0
                                        ? StrCat(text, ObjectText(table()), " is not partitioned")
                                        : StrCat(text, "the partitioning of ", ObjectText(table()),
                                                 " has ", shape_->partition_keys,
                                                 shape_->partition_keys == 1 ? " key" : " keys"));
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
    known->second = row.has_value() && IdOf(*mappings, row->values, "table_id") == table().id;
  }
  return known->second ? absl::OkStatus()
                       : absl::NotFoundError(
                             StrCat(ObjectText(table()), " has no mapping ", *file.mapping_id));
}

// Files usually name the columns in one order, so the column is where the last file had it.
DataFileWriter::Slot* DataFileWriter::FindSlot(int64_t column_id, size_t likely) {
  if (likely < slots_.size() && slots_[likely].column->id == column_id) {
    return &slots_[likely];
  }
  const auto found = shape_->position_of_column.find(column_id);
  return found == shape_->position_of_column.end() ? nullptr : &slots_[found->second];
}

absl::Status DataFileWriter::CheckColumns(const DataFile& file) {
  for (size_t i = 0; i < file.columns.size(); ++i) {
    const ColumnStatistics& statistics = file.columns[i];
    Slot* const slot = FindSlot(statistics.column_id, i);
    if (slot == nullptr) {
      return absl::InvalidArgumentError(StrCat("statistics of column ", statistics.column_id,
                                               ", which ", ObjectText(table()), " has not got"));
    }
    if (std::exchange(slot->last_file, files_checked_) == files_checked_) {
      return absl::InvalidArgumentError(StrCat(
          "statistics of column ", columns().PathText(slot->column->id), " are given twice"));
    }
    if (const absl::Status status = CheckStatistics(file, statistics, slot); !status.ok()) {
      return Within(StrCat("column ", columns().PathText(slot->column->id)), status);
    }
  }
  return absl::OkStatus();
}

// DuckLake's client counts as values those that are not NULL, the specification all of them.
absl::Status DataFileWriter::CheckStatistics(const DataFile& file,
                                             const ColumnStatistics& statistics, Slot* slot) {
  VARVE_RETURN_IF_ERROR(CheckCounts(statistics));
  const std::optional<int64_t>& values = statistics.value_count;
  const std::optional<int64_t>& nulls = statistics.null_count;
  if (!slot->facts->repeated) {
    for (const auto& [name, count] :
         {std::pair("value_count", values), std::pair("null_count", nulls)}) {
      if (count.value_or(0) > file.record_count) {
        return absl::InvalidArgumentError(
            StrCat(name, " is ", *count, ", the file has ", file.record_count, " rows"));
      }
    }
  }
  const bool one_a_row = !slot->column->parent.has_value() && !slot->facts->nested;
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
  if (has_bound && slot->facts->nested) {
    return absl::InvalidArgumentError(StrCat("a ", slot->column->type,
                                             " has no min_value and max_value; give those of its "
                                             "fields"));
  }
  const Type& type = slot->bounds.type();
  if (statistics.contains_nan == true && type.physical() != PhysicalType::kFloat64) {
    return absl::InvalidArgumentError(
        StrCat("contains_nan is set, a ", slot->column->type, " is never NaN"));
  }
  std::optional<BoundsCollector::Bound> min;
  std::optional<BoundsCollector::Bound> max;
  if (slot->facts->ordered && statistics.min_value.has_value()) {
    min.emplace(BoundsCollector::Bound{.text = *statistics.min_value, .value = Datum()});
    VARVE_RETURN_IF_ERROR(ParseBound(type, min->text, &min_scratch_, &min->value));
  }
  if (slot->facts->ordered && statistics.max_value.has_value()) {
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
  if (file.record_count == 0 || slot->facts->nested) {
    return;
  }
  BoundsCollector::Added added = {.min_value = min, .max_value = max};
  const bool all_null = (!slot->facts->repeated && statistics.null_count == file.record_count) ||
                        statistics.value_count == 0;
  added.has_values =
      statistics.min_value.has_value() || statistics.max_value.has_value() || !all_null;
  if (statistics.null_count.has_value()) {
    added.contains_null = *statistics.null_count > 0;
  }
  const bool is_float = slot->bounds.type().physical() == PhysicalType::kFloat64;
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
  slot->bounds.Add(added);
}

absl::Status DataFileWriter::CheckVariants(const DataFile& file) {
  std::vector<std::pair<int64_t, std::string_view>> paths;
  for (const VariantStatistics& variant : file.variants) {
    const ColumnStatistics& statistics = variant.statistics;
    const auto check = [&]() -> absl::Status {
      const TableColumn* const column = columns().Find(statistics.column_id);
      if (column == nullptr || !EqualsIgnoreCase(column->type, "variant")) {
        return absl::InvalidArgumentError(StrCat("column ", statistics.column_id,
                                                 " is no variant column of ", ObjectText(table())));
      }
      if (variant.variant_path.empty() || variant.shredded_type.empty()) {
        return absl::InvalidArgumentError("the path or its type is empty");
      }
      for (const std::string_view text :
           {std::string_view(variant.variant_path), std::string_view(variant.shredded_type),
            TextOrEmpty(statistics.min_value), TextOrEmpty(statistics.max_value),
            TextOrEmpty(statistics.extra_stats)}) {
        VARVE_RETURN_IF_ERROR(CheckText("a text", text));
      }
      return CheckCounts(statistics);
    };
    if (const absl::Status status = check(); !status.ok()) {
      return Within(StrCat("variant statistics of ", ShownName(variant.variant_path)), status);
    }
    paths.emplace_back(statistics.column_id, variant.variant_path);
  }
  std::sort(paths.begin(), paths.end());
  const auto twice = std::adjacent_find(paths.begin(), paths.end());
  return twice == paths.end()
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   StrCat("variant statistics of ", ShownName(twice->second), " are given twice"));
}

}  // namespace varve
