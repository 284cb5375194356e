// Exporting the state at a snapshot, and what an export does not do to what is there already.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/strings.h"
#include "catalog/interchange/export_filter.h"
#include "catalog/interchange/postgres/postgres_connection.h"
#include "catalog/verify/verify.h"
#include "tests/catalog/interchange_fixtures.h"
#include "tests/catalog/postgres_server.h"

namespace varve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The small catalog, and the state of it at snapshots made into catalogs of their own.
class ExportState : public testing::Test {
 protected:
  void SetUp() override {
    catalog_ = ImportAndOpen("csv:" + SmallCatalogDirectory(), place_ / "catalog");
    ASSERT_NE(catalog_, nullptr);
  }

  // The exported and again imported state; nullptr, with a failure recorded, when that fails.
  std::unique_ptr<Catalog> StateAt(SnapshotId snapshot) {
    const absl::StatusOr<ReadView> view = catalog_->At(snapshot);
    if (!view.ok()) {
      ADD_FAILURE() << view.status();
      return nullptr;
    }
    const std::string directory = place_ / StrCat("at", snapshot);
    const absl::StatusOr<ExportSummary> exported = ExportCatalog(*view, "csv:" + directory);
    if (!exported.ok()) {
      ADD_FAILURE() << exported.status();
      return nullptr;
    }
    return ImportAndOpen("csv:" + directory, place_ / StrCat("state", snapshot));
  }

  TemporaryDirectory place_;
  std::unique_ptr<Catalog> catalog_;
};

// What is exported at any snapshot breaks no rule: no dangling partitioning, no id that would be
// given out again, no bounds that do not cover a file.
TEST_F(ExportState, BreaksNoRuleAtAnySnapshot) {
  for (const SnapshotId snapshot : {0, 1, 12, 27, 34, 37, 48, 60, 71, 93}) {
    const std::unique_ptr<Catalog> state = StateAt(snapshot);
    ASSERT_NE(state, nullptr);
    const absl::StatusOr<VerifySummary> summary =
        Verify(state->Current(), {}, [&](const Finding& finding) {
          EXPECT_EQ(finding.severity, Severity::kNote)
              << "at " << snapshot << ": " << finding.relation << " " << finding.key << " "
              << finding.message;
        });
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_GT(summary->rows_checked, 0);
  }
}

// Everything with begin and end, and its children, is what was visible, with ends left out.
TEST_F(ExportState, HoldsWhatWasVisibleWithoutLaterEnds) {
  for (const SnapshotId snapshot : {0, 1, 27, 48, 71, 93}) {
    const std::unique_ptr<Catalog> state = StateAt(snapshot);
    ASSERT_NE(state, nullptr);
    const absl::StatusOr<ReadView> original = catalog_->At(snapshot);
    ASSERT_TRUE(original.ok()) << original.status();
    const ReadView exported = state->Current();
    EXPECT_EQ(exported.snapshot(), snapshot);
    for (const RelationRef& relation : exported.relations().relations()) {
      const bool is_versioned = relation->versioning == Versioning::kInterval;
      if (!is_versioned && relation->versioning != Versioning::kViaParent) {
        continue;
      }
      std::vector<std::string> expected = VisibleRows(*original, relation->name);
      if (is_versioned) {
        // Ends that came after the snapshot are not known in its state.
        const size_t end = *relation->end_column;
        for (std::string& row : expected) {
          size_t begin_of_end = 0;
          for (size_t i = 0; i < end; ++i) {
            begin_of_end = row.find('|', begin_of_end) + 1;
          }
          const size_t after = std::min(row.find('|', begin_of_end), row.size());
          row.replace(begin_of_end, after - begin_of_end, "NULL");
        }
      }
      EXPECT_EQ(VisibleRows(exported, relation->name), expected)
          << relation->name << " at " << snapshot;
    }
  }
}

TEST_F(ExportState, HoldsTheOneSnapshot) {
  const std::unique_ptr<Catalog> state = StateAt(48);
  ASSERT_NE(state, nullptr);
  EXPECT_THAT(VisibleRows(state->Current(), "ducklake_snapshot"), ElementsAre(HasSubstr("'48'|")));
  EXPECT_THAT(VisibleRows(state->Current(), "ducklake_snapshot_changes"),
              ElementsAre(HasSubstr("'48'|")));
  EXPECT_FALSE(state->At(47).ok());
}

TEST_F(ExportState, HoldsStatisticsAndInlinedTablesOfVisibleTablesOnly) {
  const std::unique_ptr<Catalog> early = StateAt(5);
  ASSERT_NE(early, nullptr);
  const ReadView view = early->Current();
  std::vector<std::string> tables;
  for (const std::string& row : VisibleRows(view, "ducklake_table")) {
    tables.push_back(row.substr(0, row.find('|')));
  }
  ASSERT_FALSE(tables.empty());
  for (const std::string& row : VisibleRows(view, "ducklake_table_stats")) {
    EXPECT_THAT(tables, testing::Contains(row.substr(0, row.find('|'))));
  }
  for (const std::string& row : VisibleRows(view, "ducklake_inlined_data_tables")) {
    EXPECT_THAT(tables, testing::Contains(row.substr(0, row.find('|'))));
  }
  EXPECT_EQ(view.relations().FindByName("ducklake_inlined_data_29_50"), nullptr);

  const std::unique_ptr<Catalog> bootstrap = StateAt(0);
  ASSERT_NE(bootstrap, nullptr);
  EXPECT_THAT(VisibleRows(bootstrap->Current(), "ducklake_table_stats"), IsEmpty());
  EXPECT_THAT(VisibleRows(bootstrap->Current(), "ducklake_inlined_data_tables"), IsEmpty());
  EXPECT_THAT(VisibleRows(bootstrap->Current(), "ducklake_name_mapping"), IsEmpty());
}

TEST_F(ExportState, RefusesADirectoryThatIsNotEmptyAndAFileThatIsThere) {
  WriteFile(place_ / "precious", "text");
  std::filesystem::create_directory(place_ / "full");
  WriteFile(place_ / "full/file", "text");
  for (const std::string& target :
       {"csv:" + (place_ / "precious"), "csv:" + (place_ / "full"),
        "sqlite:" + (place_ / "precious"), "sqlite:" + (place_ / "full")}) {
    const absl::Status status = ExportCatalog(catalog_->Current(), target).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << target << ": " << status;
  }
  EXPECT_EQ(ReadFile(place_ / "precious"), "text");
  EXPECT_EQ(ReadFile(place_ / "full/file"), "text");
}

TEST_F(ExportState, TakesAnEmptyDirectoryAndATrailingSlash) {
  std::filesystem::create_directory(place_ / "empty");
  EXPECT_TRUE(ExportCatalog(catalog_->Current(), "csv:" + (place_ / "empty/")).ok());
  EXPECT_TRUE(std::filesystem::exists(place_ / "empty/ducklake_table.csv"));
  EXPECT_THAT(place_.Entries(), ElementsAre("catalog", "empty"));
}

TEST_F(ExportState, NamesAPlaceThatCannotBeWritten) {
  EXPECT_THAT(ExportCatalog(catalog_->Current(), "csv:/nowhere/at/all").status().ToString(),
              HasSubstr("/nowhere/at/all"));
  EXPECT_THAT(ExportCatalog(catalog_->Current(), "sqlite:/nowhere/x.db").status().ToString(),
              HasSubstr("/nowhere/x.db"));
  EXPECT_THAT(ExportCatalog(catalog_->Current(), "parquet:x").status().ToString(),
              HasSubstr("expected csv:DIR"));
}

TEST_F(ExportState, RefusesASchemaThatHoldsACatalogAndLeavesItAsItWas) {
  const absl::StatusOr<PostgresServer*> server = PostgresServer::Shared();
  ASSERT_TRUE(server.ok()) << server.status();
  const absl::StatusOr<std::string> conninfo = (*server)->CreateDatabase();
  ASSERT_TRUE(conninfo.ok()) << conninfo.status();
  const absl::StatusOr<std::unique_ptr<PostgresConnection>> connection =
      PostgresConnection::Connect(*conninfo);
  ASSERT_TRUE(connection.ok()) << connection.status();
  ASSERT_TRUE((*connection)->Query("CREATE TABLE ducklake_view (a int)").ok());
  const absl::Status status = ExportCatalog(catalog_->Current(), "postgres:" + *conninfo).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << status;
  EXPECT_THAT(std::string(MessageOf(status)), HasSubstr("schema public has a table ducklake_view"));
  const absl::StatusOr<PostgresResult> tables =
      (*connection)
          ->Query("SELECT string_agg(relname, ' ') FROM pg_class WHERE relname LIKE 'ducklake%'");
  EXPECT_EQ(tables->text(0, 0), "ducklake_view");
}

TEST(InlinedTableName, GivesTableAndSchemaVersion) {
  EXPECT_EQ(ParseInlinedTableName("ducklake_inlined_data_4_15")->table_id, 4);
  EXPECT_EQ(ParseInlinedTableName("ducklake_inlined_data_4_15")->schema_version, 15);
  EXPECT_EQ(ParseInlinedTableName("ducklake_inlined_delete_7")->table_id, 7);
  EXPECT_FALSE(ParseInlinedTableName("ducklake_inlined_delete_7")->schema_version.has_value());
  EXPECT_FALSE(ParseInlinedTableName("ducklake_inlined_data_tables").has_value());
  EXPECT_FALSE(ParseInlinedTableName("ducklake_inlined_data_x_1").has_value());
  EXPECT_FALSE(ParseInlinedTableName("ducklake_table").has_value());
}

}  // namespace
}  // namespace varve
