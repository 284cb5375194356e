#include "tests/catalog/interchange_fixtures.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/strings.h"
#include "base/text.h"

namespace varve {
namespace {

namespace fs = std::filesystem;

// What a catalog of version 0.3 has not got.
const std::set<std::string>& NewerThan03() {
  static const std::set<std::string> names = {
      "ducklake_file_variant_stats",
      "ducklake_macro",
      "ducklake_macro_impl",
      "ducklake_macro_parameters",
      "ducklake_sort_info",
      "ducklake_sort_expression",
      "ducklake_column.default_value_type",
      "ducklake_column.default_value_dialect",
      "ducklake_data_file.partial_max",
      "ducklake_delete_file.partial_max",
      "ducklake_schema_versions.table_id",
  };
  return names;
}

std::string RowText(const RelationSchema& relation, const ScanBatch& batch, size_t row) {
  std::string text;
  for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
    const Datum value = batch.columns.column(i).at(row);
    StrAppend(&text, i == 0 ? "" : "|",
              value.is_null() ? "NULL"
                              : StrCat("'", ToText(relation.columns.column(i).type, value), "'"));
  }
  return text;
}

std::vector<std::string> Rows(const ReadView& view, const RelationRef& relation, ScanRows which) {
  std::vector<std::string> rows;
  ScanOptions options;
  options.rows = which;
  absl::StatusOr<std::unique_ptr<RowScan>> scan = view.Scan(relation, options);
  if (!scan.ok()) {
    ADD_FAILURE() << relation->name << ": " << scan.status();
    return rows;
  }
  ScanBatch batch;
  for (;;) {
    const absl::StatusOr<bool> more = (*scan)->Next(&batch);
    if (!more.ok()) {
      ADD_FAILURE() << relation->name << ": " << more.status();
      return rows;
    }
    if (!*more) {
      return rows;
    }
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      rows.push_back(RowText(*relation, batch, row));
    }
  }
}

std::string Heading(const RelationSchema& relation) {
  std::string text = relation.absent ? "absent" : "columns";
  for (size_t i = 0; i < relation.columns.num_columns(); ++i) {
    const ColumnSchema& column = relation.columns.column(i);
    StrAppend(&text, " ", column.name, ":", TypeName(column.type), "/", column.declared_type,
              column.nullable ? "" : "!", relation.IsHandleColumn(i) ? "*" : "",
              relation.IsAbsentColumn(i) ? "-" : "");
  }
  return text;
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() : path_(testing::TempDir() + "varve_test_XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    ADD_FAILURE() << "cannot create " << path_;
  }
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryDirectory::Entries() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void WriteFile(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  ASSERT_TRUE(out.flush()) << "cannot write " << path;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(in.good()) << "cannot read " << path;
  return text.str();
}

std::vector<std::string> SortedLines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

void EditFile(const std::string& path, std::string_view from, std::string_view to) {
  std::string text = ReadFile(path);
  const size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << "'" << from << "' is not in " << path;
  ASSERT_EQ(text.find(from, at + 1), std::string::npos) << "'" << from << "' is twice in " << path;
  text.replace(at, from.size(), to);
  WriteFile(path, text);
}

std::string SmallCatalogDirectory() {
  return std::string(VARVE_SOURCE_DIR) + "/golden/data/ducklake-small";
}

void CopySmallCatalog(const std::string& directory) {
  fs::create_directories(directory);
  for (const fs::directory_entry& entry : fs::directory_iterator(SmallCatalogDirectory())) {
    WriteFile(directory + "/" + entry.path().filename().string(), ReadFile(entry.path().string()));
  }
}

void WriteTinyCatalog(const std::string& directory, std::string_view version) {
  fs::create_directories(directory);
  const bool is_old = version.starts_with("0.3");
  std::map<std::string, std::string> rows;
  rows["ducklake_metadata"] = StrCat("version,", version,
                                     ",\\N,\\N\n"
                                     "data_path,/lake/,\\N,\\N\n"
                                     "encrypted,false,\\N,\\N\n");
  rows["ducklake_snapshot"] =
      "0,2026-01-01 00:00:00+00,0,1,0\n"
      "1,2026-01-01 00:00:01+00,1,2,0\n"
      "2,2026-01-01 00:00:02.5+00,1,2,1\n";
  rows["ducklake_snapshot_changes"] =
      "0,\"created_schema:\"\"main\"\"\",\\N,\\N,\\N\n"
      "1,\"created_table:\"\"main\"\".\"\"t\"\"\",ann,,\\N\n"
      "2,inserted_into_table:1,\\N,\\N,\\N\n";
  rows["ducklake_schema"] = "0,00000000-0000-0000-0000-000000000001,0,\\N,main,main/,t\n";
  rows["ducklake_table"] = "1,00000000-0000-0000-0000-000000000002,1,\\N,0,t,t/,t\n";
  rows["ducklake_column"] = is_old ? "1,1,\\N,1,1,a,int64,\\N,\\N,t,\\N\n"
                                   : "1,1,\\N,1,1,a,int64,\\N,NULL,t,\\N,literal,duckdb\n";
  rows["ducklake_data_file"] = StrCat("0,1,2,\\N,\\N,a.parquet,t,parquet,10,500,100,0,\\N,\\N,\\N",
                                      is_old ? "" : ",\\N", "\n");
  rows["ducklake_file_column_stats"] = "0,1,1,40,10,0,1,10,\\N,\\N\n";
  rows["ducklake_table_stats"] = "1,10,10,500\n";
  for (const RelationRef& relation : BuiltinRelations()) {
    if (is_old && NewerThan03().contains(relation->name)) {
      continue;
    }
    std::vector<std::string> names;
    for (const ColumnSchema& column : relation->columns.columns()) {
      if (!is_old || !NewerThan03().contains(StrCat(relation->name, ".", column.name))) {
        names.push_back(column.name);
      }
    }
    WriteFile(StrCat(directory, "/", relation->name, ".csv"),
              StrCat(StrJoin(names, ","), "\n", rows[relation->name]));
  }
}

std::string ImportError(const std::string& from, const ImportOptions& options) {
  const TemporaryDirectory place;
  const absl::StatusOr<ImportSummary> summary = ImportCatalog(from, place / "catalog", options);
  if (summary.ok()) {
    return "";
  }
  EXPECT_EQ(place.Entries(), std::vector<std::string>()) << "a failed import left something";
  EXPECT_EQ(MessageOf(summary.status()).find('\n'), std::string_view::npos)
      << "more than one line: " << MessageOf(summary.status());
  return std::string(MessageOf(summary.status()));
}

std::unique_ptr<Catalog> ImportAndOpen(const std::string& from, const std::string& path) {
  if (const absl::StatusOr<ImportSummary> summary = ImportCatalog(from, path); !summary.ok()) {
    ADD_FAILURE() << from << ": " << summary.status();
    return nullptr;
  }
  absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(path);
  if (!catalog.ok()) {
    ADD_FAILURE() << path << ": " << catalog.status();
    return nullptr;
  }
  return *std::move(catalog);
}

CatalogText AllRows(const ReadView& view) {
  CatalogText text;
  for (const RelationRef& relation : view.relations().relations()) {
    std::vector<std::string>& lines = text[relation->name];
    lines = Rows(view, relation, ScanRows::kAllVersions);
    lines.insert(lines.begin(), Heading(*relation));
  }
  return text;
}

std::vector<std::string> VisibleRows(const ReadView& view, std::string_view relation) {
  const RelationRef found = view.relations().FindByName(relation);
  if (found == nullptr) {
    ADD_FAILURE() << "no relation " << relation;
    return {};
  }
  return Rows(view, found, ScanRows::kVisible);
}

std::string FirstDifference(const CatalogText& expected, const CatalogText& actual) {
  for (const auto& [relation, lines] : expected) {
    const auto found = actual.find(relation);
    if (found == actual.end()) {
      return StrCat(relation, " is missing");
    }
    for (size_t i = 0; i < std::max(lines.size(), found->second.size()); ++i) {
      const std::string left = i < lines.size() ? lines[i] : "(no row)";
      const std::string right = i < found->second.size() ? found->second[i] : "(no row)";
      if (left != right) {
        return StrCat(relation, ", row ", i, ": expected ", left, ", found ", right);
      }
    }
  }
  for (const auto& [relation, lines] : actual) {
    if (!expected.contains(relation)) {
      return StrCat(relation, " is too much");
    }
  }
  return "";
}

}  // namespace varve
