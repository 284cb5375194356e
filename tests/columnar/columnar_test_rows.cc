#include "tests/columnar/columnar_test_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <sstream>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

void AppendText(const std::string& text, ColumnVector* column) {
  if (text == "NULL") {
    column->AppendNull();
  } else if (column->type() == PhysicalType::kInt64) {
    column->AppendInt64(std::strtoll(text.c_str(), nullptr, 10));
  } else {
    column->AppendBytes(text);
  }
}

std::string TextOfValue(const Datum& value) {
  if (value.is_null()) {
    return "NULL";
  }
  return value.physical() == PhysicalType::kInt64 ? StrCat(value.int64_value())
                                                  : std::string(value.bytes());
}

// Reads `[begin,end)`.
void AppendInterval(const std::string& text, ColumnarRows* rows) {
  const size_t comma = text.find(',');
  const std::string end = text.substr(comma + 1, text.size() - comma - 2);
  rows->begins.push_back(std::strtoull(text.c_str() + 1, nullptr, 10));
  rows->ends.push_back(end.empty() ? kNoEnd : std::strtoull(end.c_str(), nullptr, 10));
}

// A handle that sorts behind `before`.
Datum NextHandle(const Datum& before, std::string* bytes, RandomValues* random) {
  if (before.physical() == PhysicalType::kInt64) {
    return Datum::Int64(before.int64_value() + 1 + static_cast<int64_t>(random->Below(50)));
  }
  bytes->assign(before.bytes());
  // Long ones would leave nothing but long ones: cut now and then, where the cut one sorts behind.
  if (!bytes->empty() && random->OneIn(2)) {
    const size_t at = random->Below(bytes->size());
    if (static_cast<uint8_t>((*bytes)[at]) < 0xff) {
      bytes->resize(at + 1);
      ++(*bytes)[at];
      return Datum::Bytes(*bytes);
    }
  }
  bytes->push_back(static_cast<char>(random->Below(256)));
  return Datum::Bytes(*bytes);
}

}  // namespace

ColumnarTableSchema TestSchema(HandleType handle, uint32_t relation) {
  return {.relation = relation,
          .handle = handle,
          .columns = {{.id = 1, .name = "size", .type = TypeKind::kInt64},
                      {.id = 2, .name = "path", .type = TypeKind::kVarchar}}};
}

ColumnarRows RowsOf(const ColumnarTableSchema& schema, std::string_view text) {
  ColumnarRows rows(schema);
  std::istringstream in{std::string(text)};
  std::string word;
  while (in >> word) {
    AppendText(word, &rows.handles);
    in >> word;
    AppendInterval(word, &rows);
    rows.erased.push_back(0);
    for (size_t i = 0; i < schema.columns.size(); ++i) {
      if (rows.erased.back() == 0) {
        in >> word;
        rows.erased.back() = word == "!" ? 1 : 0;
      }
      AppendText(rows.erased.back() != 0 ? "NULL" : word, &rows.columns.mutable_column(i));
    }
    in >> word;  // the separator, or nothing
  }
  rows.columns.SetNumRows(rows.num_rows());
  return rows;
}

std::string TextOf(const ColumnarRows& rows) {
  std::string out;
  for (size_t row = 0; row < rows.num_rows(); ++row) {
    StrAppend(&out, row == 0 ? "" : " | ", TextOfValue(rows.handles.at(row)), " [",
              rows.begins[row], ",");
    if (rows.ends[row] != kNoEnd) {
      StrAppend(&out, rows.ends[row]);
    }
    out.append(")");
    if (rows.is_erased(row)) {
      out.append(" !");
      continue;
    }
    for (size_t i = 0; i < rows.columns.num_columns(); ++i) {
      StrAppend(&out, " ", TextOfValue(rows.columns.column(i).at(row)));
    }
  }
  return out;
}

ColumnarRows RandomRows(const ColumnarTableSchema& schema, const RandomRowsOptions& options,
                        RandomValues* random) {
  const auto one_in = [random](uint64_t n) { return n != 0 && random->OneIn(n); };
  ColumnarRows rows(schema);
  std::string bytes;
  Datum handle = schema.handle == HandleType::kInt ? Datum::Int64(-1'000) : Datum::Bytes("");
  SnapshotId begin = random->Below(100);
  for (size_t row = 0; row < options.rows; ++row) {
    if (row > 0 && one_in(options.one_in_repeats)) {
      begin += 1 + random->Below(10);
    } else {
      handle = NextHandle(handle, &bytes, random);
      begin = random->Below(1'000);
    }
    rows.handles.Append(handle);
    handle = rows.handles.at(row);
    rows.begins.push_back(begin);
    rows.ends.push_back(one_in(options.one_in_ended) ? begin + 1 + random->Below(100) : kNoEnd);
    rows.erased.push_back(one_in(options.one_in_erased) ? 1 : 0);
    for (size_t i = 0; i < schema.columns.size(); ++i) {
      ColumnVector& column = rows.columns.mutable_column(i);
      if (rows.erased.back() != 0 || random->OneIn(5)) {
        column.AppendNull();
      } else {
        column.Append(random->Next(column.type()));
      }
    }
  }
  if (options.one_in_erased == 0) {
    rows.erased.clear();
  }
  rows.columns.SetNumRows(rows.num_rows());
  return rows;
}

ColumnarTableSchema RandomSchema(uint32_t relation, RandomValues* random) {
  constexpr std::array kTypes = {Type(TypeKind::kBoolean), Type(TypeKind::kInt32),
                                 Type::Decimal(20, 3),     Type(TypeKind::kFloat64),
                                 Type(TypeKind::kBlob),    Type(TypeKind::kTimestamp),
                                 Type(TypeKind::kUuid),    Type(TypeKind::kVarchar)};
  ColumnarTableSchema schema{.relation = relation,
                             .handle = random->OneIn(2) ? HandleType::kInt : HandleType::kCommon};
  const size_t columns = random->Below(7);
  for (size_t i = 0; i < columns; ++i) {
    schema.columns.push_back({.id = static_cast<uint32_t>(10 * i + 1),
                              .name = StrCat("column_", i),
                              .type = kTypes[random->Below(kTypes.size())]});
  }
  return schema;
}

ColumnarFileProperties WriteFile(MemoryFileSystem* file_system, const ColumnarTableSchema& schema,
                                 const ColumnarRows& rows,
                                 const ColumnarFileWriterOptions& options) {
  const auto write = [&]() -> absl::StatusOr<ColumnarFileProperties> {
    VARVE_ASSIGN_OR_RETURN(auto writer,
                           ColumnarFileWriter::Create(file_system, kTestFile, options));
    VARVE_RETURN_IF_ERROR(writer->BeginTable(schema));
    VARVE_RETURN_IF_ERROR(writer->Append(rows));
    return writer->Finish();
  };
  const absl::StatusOr<ColumnarFileProperties> written = write();
  EXPECT_TRUE(written.ok()) << written.status();
  return written.ok() ? *written : ColumnarFileProperties();
}

std::shared_ptr<const ColumnarFile> OpenFile(MemoryFileSystem* file_system,
                                             const std::string& path) {
  absl::StatusOr<std::shared_ptr<const ColumnarFile>> file = ColumnarFile::Open(file_system, path);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *file : nullptr;
}

absl::StatusOr<ColumnarRows> ReadTable(ColumnarTableReader* reader,
                                       const ColumnarTableSchema& schema) {
  ColumnarRows rows(schema);
  ColumnVector versions(PhysicalType::kInt64);
  ColumnVector ends(PhysicalType::kInt64);
  std::vector<ColumnSlot> slots = {ColumnSlot::Handle(), ColumnSlot::Version(), ColumnSlot::End()};
  std::vector<ColumnVector*> out = {&rows.handles, &versions, &ends};
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    slots.push_back(ColumnSlot::Data(schema.columns[i].id));
    out.push_back(&rows.columns.mutable_column(i));
  }
  for (size_t pack = 0; pack < reader->num_packs(); ++pack) {
    VARVE_RETURN_IF_ERROR(reader->ReadPack(pack, slots, out));
  }
  for (size_t row = 0; row < versions.size(); ++row) {
    rows.begins.push_back(static_cast<SnapshotId>(versions.int64s()[row]));
    rows.erased.push_back(versions.is_null(row) ? 1 : 0);
    rows.ends.push_back(ends.is_null(row) ? kNoEnd : static_cast<SnapshotId>(ends.int64s()[row]));
  }
  rows.columns.SetNumRows(rows.num_rows());
  return rows;
}

absl::StatusOr<ColumnarRows> ReadTable(const std::shared_ptr<const ColumnarFile>& file,
                                       const ColumnarTableSchema& schema) {
  ReadCounters counters;
  const ColumnarTable* table = file->FindTable(schema.relation);
  if (table == nullptr) {
    return absl::NotFoundError(StrCat("relation ", schema.relation));
  }
  ColumnarTableReader reader(file, table, &counters);
  return ReadTable(&reader, schema);
}

void ExpectSameValues(const ColumnVector& values, const ColumnVector& expected) {
  ASSERT_EQ(values.type(), expected.type());
  ASSERT_EQ(values.size(), expected.size());
  for (size_t row = 0; row < values.size(); ++row) {
    ASSERT_EQ(values.at(row), expected.at(row)) << "row " << row;
    if (values.type() == PhysicalType::kFloat64) {
      ASSERT_EQ(std::bit_cast<uint64_t>(values.float64s()[row]),
                std::bit_cast<uint64_t>(expected.float64s()[row]))
          << "row " << row;
    }
  }
}

void ExpectSameRows(const ColumnarRows& rows, const ColumnarRows& expected) {
  ASSERT_EQ(rows.num_rows(), expected.num_rows());
  ASSERT_EQ(rows.begins, expected.begins);
  ASSERT_EQ(rows.ends, expected.ends);
  for (size_t row = 0; row < rows.num_rows(); ++row) {
    ASSERT_EQ(rows.is_erased(row), expected.is_erased(row)) << "row " << row;
  }
  ASSERT_NO_FATAL_FAILURE(ExpectSameValues(rows.handles, expected.handles));
  ASSERT_EQ(rows.columns.num_columns(), expected.columns.num_columns());
  for (size_t i = 0; i < rows.columns.num_columns(); ++i) {
    SCOPED_TRACE(StrCat("column ", i));
    ASSERT_NO_FATAL_FAILURE(ExpectSameValues(rows.columns.column(i), expected.columns.column(i)));
  }
}

}  // namespace varve
