// A table whose files are pruned, for tests: columns, files and statistics as lines of text, and
// what remains of the files, asked of every path.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/tiers/compaction.h"
#include "catalog/tiers/flush.h"
#include "catalog/tiers/prune.h"
#include "catalog/transaction/table_statistics.h"
#include "tests/catalog/catalog_fixture.h"

namespace varve {

using FileIds = std::vector<int64_t>;

inline constexpr int64_t kPrunedTable = 5;

// A relation with one column `v` of the type, to write predicates against.
inline RelationSchema OneColumn(std::string_view ducklake_type) {
  RelationSchema relation;
  relation.name = "t";
  relation.columns =
      Schema({ColumnSchema{.name = "v", .type = TypeOfColumn(ducklake_type), .field = 1}});
  relation.in_payload = {true};
  return relation;
}

class PruneTest : public CatalogFixture {
 protected:
  void SetUp() override {
    CatalogFixture::SetUp();
    const absl::Status status = catalog_->WaitForMemory();
    ASSERT_TRUE(status.ok()) << status;
  }

  // A new catalog.
  void SetUpAgain() {
    catalog_.reset();
    std::filesystem::remove_all(path());
    snapshot_ = 0;
    types_.clear();
    SetUp();
  }

  // A new snapshot with the changes.
  void Snapshot(std::string_view changes) {
    ++snapshot_;
    MustApply(StrCat("snapshot ", snapshot_, "\n", changes));
  }

  std::string Column(int64_t id, std::string_view type) {
    types_[id] = std::string(type);
    return StrCat("insert ducklake_column ", id, " | ", snapshot_ + 1, " | - | ", kPrunedTable,
                  " | ", id, " | c", id, " | '", type, "'\n");
  }
  std::string File(int64_t id) {
    return StrCat("insert ducklake_data_file ", id, " | ", kPrunedTable, " | ", snapshot_ + 1,
                  " | - | - | f", id, ".parquet | true | parquet | 100 | 1000 | 10 | 0\n");
  }
  // Statistics of column 1, or another one: "min | max | nulls | nan", texts in single quotes.
  static std::string Statistics(int64_t file, std::string_view min, std::string_view max,
                                std::string_view nulls = "0", std::string_view nan = "-",
                                int64_t column = 1) {
    return StrCat("put ducklake_file_column_stats ", file, " | ", kPrunedTable, " | ", column,
                  " | 10 | 100 | ", nulls, " | ", min, " | ", max, " | ", nan, "\n");
  }
  // A table of one column, and files 1, 2, … with bounds.
  struct Bounds {
    std::string_view min;
    std::string_view max;
    std::string_view nulls = "0";
    std::string_view nan = "-";
  };
  void MakeFiles(std::string_view type, const std::vector<Bounds>& files) {
    std::string changes = Column(1, type);
    for (size_t i = 0; i < files.size(); ++i) {
      const auto id = static_cast<int64_t>(i + 1);
      changes += File(id);
      changes += Statistics(id, files[i].min, files[i].max, files[i].nulls, files[i].nan);
    }
    Snapshot(changes);
  }

  absl::StatusOr<PrunedFiles> Prune(const ReadView& view, std::string_view where, ScanPath path,
                                    int64_t column = 1, std::string_view type = "") {
    const RelationSchema relation = OneColumn(type.empty() ? types_[column] : type);
    const absl::StatusOr<Predicate> predicate = Predicate::Parse(where, relation);
    VARVE_RETURN_IF_ERROR(predicate.status());
    std::vector<const Term*> terms;
    for (const Term& term : predicate->terms()) {
      terms.push_back(&term);
    }
    const std::optional<ColumnFilter> filter = ColumnFilter::Of(terms);
    return PruneFiles(view, kPrunedTable, column,
                      filter.value_or(ColumnFilter{.ranges = {ValueRange()}}), {.path = path});
  }

  void Flush() {
    const auto flushed = FlushMemory(*catalog_);
    ASSERT_TRUE(flushed.ok()) << flushed.status();
  }
  void Compact() {
    const auto compacted = CompactColumns(*catalog_, {.full = true});
    ASSERT_TRUE(compacted.ok()) << compacted.status();
  }
  void Rebuild() {
    const auto rebuilt = RebuildColumns(*catalog_, {.relations = {kFileColumnStats, kDataFile}});
    ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  }

  void Restart() {
    Reopen();
    const absl::Status status = catalog_->WaitForMemory();
    ASSERT_TRUE(status.ok()) << status;
  }

  struct Expectation {
    std::string_view where;
    FileIds files;
  };
  void CheckAll(const std::vector<Expectation>& expectations, std::string_view state) {
    for (const Expectation& expected : expectations) {
      for (const ScanPath path : {ScanPath::kRow, ScanPath::kColumnar, ScanPath::kAuto}) {
        const auto pruned = Prune(catalog_->Current(), expected.where, path);
        ASSERT_TRUE(pruned.ok()) << pruned.status();
        EXPECT_EQ(pruned->files, expected.files)
            << expected.where << ", " << state << ", path " << static_cast<int>(path);
        EXPECT_EQ(pruned->fell_back, "");
      }
    }
  }
  // In memory, in L1, and in L2, where nothing but strings may need texts.
  void CheckInEveryTier(const std::vector<Expectation>& expectations) {
    CheckAll(expectations, "in memory");
    Flush();
    CheckAll(expectations, "flushed");
    Compact();
    CheckAll(expectations, "compacted");
  }
  // … and keys alone decide in L2.
  void ExpectDecidedByKeys(const std::vector<Expectation>& expectations) {
    for (const Expectation& expected : expectations) {
      const auto pruned = Prune(catalog_->Current(), expected.where, ScanPath::kColumnar);
      ASSERT_TRUE(pruned.ok()) << pruned.status();
      const bool decides = expected.where != "v is not null" && expected.where != "v <> 7";
      EXPECT_EQ(pruned->rows_by_text, 0) << expected.where;
      EXPECT_EQ(pruned->packs_read + pruned->packs_skipped, decides ? 1 : 0) << expected.where;
    }
  }
  void CheckByKeys(const std::vector<Expectation>& expectations) {
    CheckInEveryTier(expectations);
    ExpectDecidedByKeys(expectations);
  }

  SnapshotId snapshot_ = 0;
  std::map<int64_t, std::string> types_;
};

}  // namespace varve
