// The small real catalog, imported, against PostgreSQL's answers: six relations at every snapshot,
// in every state of storage.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/interchange/import.h"
#include "golden/packed_answers.h"
#include "golden/storage_state.h"
#include "golden/temporary_path.h"

namespace varve::golden {
namespace {

constexpr auto kAnsweredRelations = std::to_array<std::string_view>(
    {"ducklake_schema", "ducklake_table", "ducklake_view", "ducklake_column", "ducklake_data_file",
     "ducklake_delete_file"});
constexpr size_t kSnapshots = 88;

std::filesystem::path DataPath(std::string_view name) {
  return std::filesystem::path(VARVE_SOURCE_DIR) / "golden" / "data" / name;
}

PackedAnswers AnswersFor(std::string_view relation) {
  absl::StatusOr<PackedAnswers> answers =
      ReadPackedAnswers(DataPath("ducklake-small-visible") / StrCat(relation, ".txt"));
  EXPECT_TRUE(answers.ok()) << answers.status().message();
  return answers.ok() ? *std::move(answers) : PackedAnswers();
}

// As PostgreSQL's COPY writes a value. The six relations have integers, booleans, texts and UUIDs.
std::optional<std::string> PostgresText(const Type& type, const Datum& value) {
  if (value.is_null()) {
    return std::nullopt;
  }
  if (type.kind() == TypeKind::kBoolean) {
    return value.bool_value() ? "t" : "f";
  }
  return ToText(type, value);
}

// The rows a view shows, with the columns in the order asked for.
absl::StatusOr<std::vector<AnsweredRow>> VisibleRows(const ReadView& view,
                                                     std::string_view relation_name,
                                                     const std::vector<std::string>& columns) {
  const RelationRef relation = view.relations().FindByName(relation_name);
  ScanOptions options;
  options.columns.emplace();
  for (const std::string& column : columns) {
    options.columns->push_back(relation->columns.Find(column).value());
  }
  const std::vector<size_t> indexes = *options.columns;
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         view.Scan(relation, std::move(options)));
  std::vector<AnsweredRow> rows;
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      return rows;
    }
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      AnsweredRow values;
      for (size_t i = 0; i < indexes.size(); ++i) {
        values.push_back(PostgresText(relation->columns.column(indexes[i]).type,
                                      batch.columns.column(i).at(row)));
      }
      rows.push_back(std::move(values));
    }
  }
}

std::string RowText(const AnsweredRow& row) {
  std::string text;
  for (const std::optional<std::string>& value : row) {
    StrAppend(&text, text.empty() ? "" : ",", value.has_value() ? *value : "\\N");
  }
  return text;
}

// Empty, or the rows that only one side has. PostgreSQL promises no order.
std::string Difference(std::vector<AnsweredRow> expected, std::vector<AnsweredRow> found) {
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  std::vector<AnsweredRow> missing;
  std::vector<AnsweredRow> surplus;
  std::set_difference(expected.begin(), expected.end(), found.begin(), found.end(),
                      std::back_inserter(missing));
  std::set_difference(found.begin(), found.end(), expected.begin(), expected.end(),
                      std::back_inserter(surplus));
  std::string text;
  for (const AnsweredRow& row : missing) {
    StrAppend(&text, "  PostgreSQL only: ", RowText(row), "\n");
  }
  for (const AnsweredRow& row : surplus) {
    StrAppend(&text, "  here only:       ", RowText(row), "\n");
  }
  return text;
}

class SmallCatalogTest : public testing::TestWithParam<StorageState> {
 protected:
  void SetUp() override {
    const absl::StatusOr<ImportSummary> imported =
        ImportCatalog(StrCat("csv:", DataPath("ducklake-small").string()), path_.path());
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    catalog_.path = path_.path();
    ASSERT_TRUE(MakeWritable(&catalog_).ok());
    const absl::Status entered = GetParam().enter(&catalog_);
    ASSERT_TRUE(entered.ok()) << entered.message();
  }

  TemporaryPath path_;
  OpenCatalog catalog_;
};

TEST_P(SmallCatalogTest, ShowsWhatPostgresShowsAtEverySnapshot) {
  for (const std::string_view relation : kAnsweredRelations) {
    const PackedAnswers answers = AnswersFor(relation);
    ASSERT_EQ(answers.rows.size(), kSnapshots) << relation;
    for (const auto& [snapshot, expected] : answers.rows) {
      const absl::StatusOr<ReadView> view = catalog_.reading().At(snapshot);
      ASSERT_TRUE(view.ok()) << view.status().message();
      const absl::StatusOr<std::vector<AnsweredRow>> found =
          VisibleRows(*view, relation, answers.columns);
      ASSERT_TRUE(found.ok()) << found.status().message();
      const std::string difference = Difference(expected, *found);
      EXPECT_TRUE(difference.empty()) << relation << " at snapshot " << snapshot << "\n"
                                      << difference;
    }
  }
}

TEST_P(SmallCatalogTest, ShowsWhatPostgresShowsAtTheLastSnapshotAsTheCurrentOne) {
  const ReadView view = catalog_.reading().Current();
  ASSERT_TRUE(view.is_current());
  for (const std::string_view relation : kAnsweredRelations) {
    const PackedAnswers answers = AnswersFor(relation);
    ASSERT_FALSE(answers.rows.empty());
    const auto& [last, expected] = *answers.rows.rbegin();
    EXPECT_EQ(view.snapshot(), last);
    const absl::StatusOr<std::vector<AnsweredRow>> found =
        VisibleRows(view, relation, answers.columns);
    ASSERT_TRUE(found.ok()) << found.status().message();
    const std::string difference = Difference(expected, *found);
    EXPECT_TRUE(difference.empty()) << relation << "\n" << difference;
  }
}

TEST_P(SmallCatalogTest, RefusesTheSnapshotsThatExpired) {
  const PackedAnswers answers = AnswersFor("ducklake_schema");
  ASSERT_FALSE(answers.rows.empty());
  const SnapshotId last = answers.rows.rbegin()->first;
  size_t refused = 0;
  for (SnapshotId snapshot = 0; snapshot <= last; ++snapshot) {
    const bool exists = answers.rows.contains(snapshot);
    EXPECT_EQ(catalog_.reading().At(snapshot).ok(), exists) << snapshot;
    refused += exists ? 0 : 1;
  }
  EXPECT_EQ(refused, 6U);
}

INSTANTIATE_TEST_SUITE_P(Golden, SmallCatalogTest,
                         testing::ValuesIn(StorageStates().begin(), StorageStates().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(PackedAnswersTest, SplitsQuotedFieldsAndTellsNullFromText) {
  EXPECT_EQ(SplitCsvLine(R"(1,\N,"\N","a,""b""",,)"),
            (AnsweredRow{"1", std::nullopt, "\\N", "a,\"b\"", "", ""}));
}

}  // namespace
}  // namespace varve::golden
