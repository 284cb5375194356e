#include "tools/output.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/interchange/csv/csv_writer.h"
#include "tools/display_width.h"

namespace varve {
namespace {

// Rows that decide the widths of a table's columns; later ones stream, so that memory is bounded.
constexpr size_t kRowsForWidths = 1000;

bool IsNumber(const Type& type) {
  return type.kind() >= TypeKind::kInt8 && type.kind() <= TypeKind::kDecimal;
}

class TableWriter : public ResultWriter {
 public:
  TableWriter(std::vector<ResultColumn> columns, Stdout* out)
      : columns_(std::move(columns)), out_(out) {}

  absl::Status Row(std::span<const Datum> values) override {
    ++count_;
    std::vector<std::string> cells;
    for (size_t i = 0; i < columns_.size(); ++i) {
      cells.push_back(Cell(columns_[i], values[i]));
    }
    if (widths_.empty()) {
      rows_.push_back(std::move(cells));
      return rows_.size() < kRowsForWidths ? absl::OkStatus() : Start();
    }
    return WriteLine(cells);
  }

  absl::Status Finish() override {
    if (widths_.empty()) {
      VARVE_RETURN_IF_ERROR(Start());
    }
    return out_->Write(StrCat("(", count_, count_ == 1 ? " row)\n" : " rows)\n"));
  }

 private:
  static std::string Cell(const ResultColumn& column, const Datum& value) {
    if (value.is_null()) {
      return "NULL";
    }
    if (column.rendering == Rendering::kByteSize) {
      return HumanSize(value.int64_value());
    }
    std::string text = ToText(column.type, value);
    if (value.physical() != PhysicalType::kBytes) {
      return text;
    }
    return text.empty() || text == "NULL" ? StrCat("\"", text, "\"") : OneLine(text);
  }

  absl::Status Start() {
    std::vector<std::string> header;
    for (const ResultColumn& column : columns_) {
      header.push_back(OneLine(column.name));
      widths_.push_back(DisplayWidth(header.back()));
    }
    for (const std::vector<std::string>& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        widths_[i] = std::max(widths_[i], DisplayWidth(row[i]));
      }
    }
    VARVE_RETURN_IF_ERROR(WriteLine(header));
    std::vector<std::string> rule;
    for (const size_t width : widths_) {
      rule.emplace_back(width, '-');
    }
    VARVE_RETURN_IF_ERROR(WriteLine(rule));
    for (const std::vector<std::string>& row : rows_) {
      VARVE_RETURN_IF_ERROR(WriteLine(row));
    }
    rows_.clear();
    return absl::OkStatus();
  }

  absl::Status WriteLine(const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const size_t width = DisplayWidth(cells[i]);
      const std::string padding(widths_[i] > width ? widths_[i] - width : 0, ' ');
      if (i > 0) {
        line.append("  ");
      }
      if (IsNumber(columns_[i].type)) {
        line.append(padding).append(cells[i]);
      } else {
        line.append(cells[i]).append(padding);
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    line.push_back('\n');
    return out_->Write(line);
  }

  std::vector<ResultColumn> columns_;
  Stdout* out_;
  std::vector<std::vector<std::string>> rows_;  // until the widths are known
  std::vector<size_t> widths_;
  uint64_t count_ = 0;
};

class CsvWriter : public ResultWriter {
 public:
  CsvWriter(std::vector<ResultColumn> columns, Stdout* out)
      : columns_(std::move(columns)), out_(out) {}

  absl::Status Row(std::span<const Datum> values) override {
    VARVE_RETURN_IF_ERROR(Start());
    line_.clear();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) {
        line_.push_back(',');
      }
      if (values[i].is_null()) {
        line_.append(kCsvNull);
      } else {
        text_.clear();
        AppendText(columns_[i].type, values[i], &text_);
        AppendCsvField(text_, &line_);
      }
    }
    return WriteLine();
  }

  absl::Status Finish() override { return Start(); }

 private:
  absl::Status Start() {
    if (started_) {
      return absl::OkStatus();
    }
    started_ = true;
    line_.clear();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) {
        line_.push_back(',');
      }
      AppendCsvField(columns_[i].name, &line_);
    }
    return WriteLine();
  }

  absl::Status WriteLine() {
    line_.push_back('\n');
    return out_->Write(line_);
  }

  std::vector<ResultColumn> columns_;
  Stdout* out_;
  bool started_ = false;
  std::string line_;
  std::string text_;
};

class JsonWriter : public ResultWriter {
 public:
  JsonWriter(std::vector<ResultColumn> columns, Stdout* out)
      : columns_(std::move(columns)), out_(out) {
    for (const ResultColumn& column : columns_) {
      std::string name;
      AppendJsonString(column.name, &name);
      names_.push_back(std::move(name));
    }
  }

  absl::Status Row(std::span<const Datum> values) override {
    line_ = "{";
    for (size_t i = 0; i < columns_.size(); ++i) {
      StrAppend(&line_, i == 0 ? "" : ",", names_[i], ":");
      if (columns_[i].rendering == Rendering::kEmbeddedJson && !values[i].is_null()) {
        line_.append(values[i].bytes());
      } else {
        AppendJsonValue(columns_[i].type, values[i], &line_);
      }
    }
    line_.append("}\n");
    return out_->Write(line_);
  }

  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  std::vector<ResultColumn> columns_;
  Stdout* out_;
  std::vector<std::string> names_;
  std::string line_;
};

}  // namespace

std::unique_ptr<ResultWriter> MakeResultWriter(OutputFormat format,
                                               std::vector<ResultColumn> columns, Stdout* out) {
  switch (format) {
    case OutputFormat::kCsv: return std::make_unique<CsvWriter>(std::move(columns), out);
    case OutputFormat::kJson: return std::make_unique<JsonWriter>(std::move(columns), out);
    default: return std::make_unique<TableWriter>(std::move(columns), out);
  }
}

std::string HumanSize(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double size = static_cast<double>(bytes);
  size_t unit = 0;
  // 1023.95 would be printed as 1024.0.
  while (std::abs(size) >= (unit == 0 ? 1024.0 : 1023.95) && unit + 1 < std::size(kUnits)) {
    size /= 1024;
    ++unit;
  }
  return unit == 0 ? StrCat(bytes, " B")
                   : absl::StrFormat("%.1f %s", size, std::string(kUnits[unit]));
}

void AppendJsonString(std::string_view text, std::string* out) {
  out->append(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void AppendJsonValue(const Type& type, const Datum& value, std::string* out) {
  if (value.is_null()) {
    out->append("null");
    return;
  }
  const std::string text = ToText(type, value);
  bool bare = false;
  switch (type.kind()) {
    case TypeKind::kBoolean:
    case TypeKind::kInt8:
    case TypeKind::kInt16:
    case TypeKind::kInt32:
    case TypeKind::kInt64:
    case TypeKind::kUInt8:
    case TypeKind::kUInt16:
    case TypeKind::kUInt32: bare = true; break;
    case TypeKind::kInt128:
    case TypeKind::kUInt64:
    case TypeKind::kUInt128: {
      const std::optional<int128_t> number = ParseInt128(text);
      bare = number.has_value() && *number >= std::numeric_limits<int64_t>::min() &&
             *number <= std::numeric_limits<int64_t>::max();
      break;
    }
    case TypeKind::kFloat32:
    case TypeKind::kFloat64: bare = std::isfinite(value.float64_value()); break;
    default: break;
  }
  if (bare) {
    out->append(text);
  } else {
    AppendJsonString(text, out);
  }
}

}  // namespace varve
