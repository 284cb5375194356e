// A process that is killed at every failpoint of gc, expire and excise: afterwards every retained
// snapshot shows what it showed, nothing is half done, and the next run finishes the work.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/failpoint.h"
#include "base/strings.h"
#include "catalog/retention/excise.h"
#include "catalog/retention/expire.h"
#include "catalog/retention/gc.h"
#include "catalog/retention/pins.h"
#include "catalog/verify/verify.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/child_process.h"

namespace varve {
namespace {

using ::testing::IsEmpty;

constexpr SnapshotId kLast = 12;
constexpr SnapshotId kFloor = 8;
constexpr SnapshotId kPinned = 4;
constexpr SnapshotId kExpired = 10;

// Raises the floor, expires a snapshot, excises in small steps. The argument is "failpoint:n path".
const ChildBody kCollector("collector", [](const std::string& argument,
                                           const ChildBody::Say& /*say*/) {
  const size_t space = argument.find(' ');
  if (!ArmFailpointFromText(argument.substr(0, space)).ok()) {
    return 1;
  }
  const auto catalog = Catalog::Open(argument.substr(space + 1));
  if (!catalog.ok() || !ApplyGc(catalog->get(), {.retain_from = kFloor}).ok() ||
      !Expire(catalog->get(), std::vector<SnapshotId>{kExpired}, {.rows_per_step = 3}).ok()) {
    return 2;
  }
  return 0;
});

class RetentionCrash : public CatalogFixture {
 protected:
  // Twelve snapshots, each with a file that lives for two of them, and a table that is dropped.
  void SetUp() override {
    CatalogFixture::SetUp();
    MustApply(
        "create ducklake_inlined_data_30_1 row_id bigint, begin_snapshot bigint, "
        "end_snapshot bigint, a bigint");
    for (SnapshotId n = 1; n <= kLast; ++n) {
      std::string text = StrCat("insert snapshot ", n, " | '2026-01-01 00:00:", 10 + n, "+00' | ",
                                n, " | 100 | 1000\n insert snapshot_changes ", n,
                                " | altered_table:1\n insert data_file ", 100 + n, " | 1 | ", n,
                                " | - | - | f", n, " | true | parquet | 1 | 1\n",
                                "insert file_column_stats ", 100 + n, " | 1 | 1 | 1 | 1 | 0\n");
      if (n > 2) {
        StrAppend(&text, "end data_file 1 | ", 100 + n - 2, " @ ", n, "\n");
      }
      if (n == 1) {
        StrAppend(&text,
                  "insert table 1 | - | 1 | - | 0 | t | t/ | true\n"
                  "insert table 30 | - | 1 | - | 0 | d | d/ | true\n"
                  "insert column 1 | 1 | - | 1 | 1 | a | int64\n"
                  "insert column 1 | 1 | - | 30 | 1 | a | int64\n"
                  "insert table_stats 1 | 1 | 100 | 1\n insert table_stats 30 | 1 | 100 | 1\n"
                  "insert inlined_data_tables 30 | ducklake_inlined_data_30_1 | 1\n"
                  "insert ducklake_inlined_data_30_1 0 | 1 | - | 7\n");
      }
      if (n == 3) {
        StrAppend(&text, "end table 30 @ 3\n end column 30 | 1 @ 3\n");
      }
      MustApply(text);
    }
    ASSERT_TRUE(PlacePin(catalog_.get(), {.name = "p", .snapshot = kPinned}).ok());
    for (const SnapshotId at : {kPinned, kFloor, kFloor + 1, kLast - 1, kLast}) {
      shown_[at] = Shown(at);
    }
    catalog_.reset();
    std::filesystem::rename(path(), dir_ / "template");
  }

  std::vector<std::string> Shown(SnapshotId at) {
    std::vector<std::string> rows;
    const ReadView view = At(at);
    for (const char* relation : {"table", "column", "data_file", "file_column_stats"}) {
      for (const std::string& row : ScanTexts(view, relation)) {
        rows.push_back(StrCat(relation, " ", row));
      }
    }
    return rows;
  }

  void ExpectWhole() {
    for (const auto& [at, rows] : shown_) {
      EXPECT_EQ(Shown(at), rows) << "at snapshot " << at;
    }
    std::vector<std::string> errors;
    const auto summary = Verify(catalog_->Current(), {}, [&](const Finding& finding) {
      if (finding.severity == Severity::kError) {
        errors.push_back(StrCat(finding.relation, " ", finding.key, ": ", finding.message));
      }
    });
    EXPECT_TRUE(summary.ok()) << summary.status();
    EXPECT_THAT(errors, IsEmpty());
  }

  // Copies the template, runs the collector with the failpoint, and opens what it left. false: it
  // was not killed.
  bool RunAndKill(const std::string& failpoint) {
    catalog_.reset();
    std::filesystem::remove_all(path());
    std::filesystem::copy(dir_ / "template", path(), std::filesystem::copy_options::recursive);
    ChildProcess child(kCollector, StrCat(failpoint, " ", path()));
    const int code = child.Wait();
    EXPECT_TRUE(code == 0 || code == -SIGKILL) << code;
    Reopen();
    return code == -SIGKILL;
  }

  void Finish() {
    ASSERT_TRUE(ApplyGc(catalog_.get(), {.retain_from = kFloor}).ok());
    const absl::StatusOr<ExciseResult> expired =
        Expire(catalog_.get(), std::vector<SnapshotId>{kExpired});
    ASSERT_TRUE(expired.ok() || absl::IsNotFound(expired.status())) << expired.status();
    ASSERT_TRUE(Excise(catalog_.get()).ok());
  }

  // Rows by what the audit log says was removed, whoever did it.
  RowCounts Audited() {
    RowCounts rows;
    const absl::Status status = ReadAudit(*catalog_->LatestState(), [&](const AuditEntry& entry) {
      for (const auto& [relation, count] : entry.rows) {
        rows[relation] += count;
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return rows;
  }

  std::map<SnapshotId, std::vector<std::string>> shown_;
};

TEST_F(RetentionCrash, NothingIsLostOrHalfDoneAndTheNextRunFinishes) {
  ASSERT_FALSE(RunAndKill("checkpoint/before_files"));  // one that is not passed
  ExpectWhole();
  std::vector<std::string> history;
  for (const std::string& line : Everything()) {
    if (!line.starts_with("last snapshot") &&
        line.find("files_scheduled_for_deletion") == std::string::npos) {
      history.push_back(line);  // without csn and times
    }
  }
  const std::vector<std::string> scheduled =
      Rows("files_scheduled_for_deletion", {.columns = {{0, 1, 2}}});
  const RowCounts audited = Audited();
  EXPECT_GT(TotalRows(audited), 20U);

  int kills = 0;
  for (const Failpoint& failpoint : kFailpoints) {
    if (!failpoint.name.starts_with("gc/") && !failpoint.name.starts_with("excise/") &&
        !failpoint.name.starts_with("expire/")) {
      continue;
    }
    int pass = 1;
    for (; RunAndKill(StrCat(failpoint.name, ":", pass)); ++pass) {
      ++kills;
      SCOPED_TRACE(StrCat(failpoint.name, ":", pass));
      ExpectWhole();
      Finish();
      ExpectWhole();
      std::vector<std::string> lines;
      for (const std::string& line : Everything()) {
        if (!line.starts_with("last snapshot") &&
            line.find("files_scheduled_for_deletion") == std::string::npos) {
          lines.push_back(line);
        }
      }
      EXPECT_EQ(lines, history);
      EXPECT_EQ(Rows("files_scheduled_for_deletion", {.columns = {{0, 1, 2}}}), scheduled);
      EXPECT_EQ(Audited(), audited) << "every row is counted once";
      if (HasFailure()) {
        return;
      }
    }
    EXPECT_GT(pass, 1) << failpoint.name << " is never passed";
  }
  EXPECT_GT(kills, 12);
}

}  // namespace
}  // namespace varve
