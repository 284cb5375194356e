// flush, compact, repair, inspect, metrics, and what scan, stats and verify say of columnar files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "tests/catalog/temp_dir.h"
#include "tests/tools/program.h"

namespace varve {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

constexpr int64_t kTables = 20'000;  // three packs

Datum Number(int64_t number) {
  return Datum::Int64(number);
}

// A copy, for each test, of a catalog made of commits alone:
//
//   snapshot 1  tables 1 … kTables
//   snapshot 2  table 1 ends
class TierCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    base_ = new TempDir;
    const std::string path = *base_ / "catalog";
    ASSERT_TRUE(Catalog::Init(path, {.data_path = "/lake/"}).ok());
    auto catalog = Catalog::Open(path);
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    const RelationRef tables = BuiltinRelationById(kTable);
    ChangeSet first;
    AddSnapshot(1, &first);
    for (int64_t table = 1; table <= kTables; ++table) {
      Row row(8);
      row.Set(0, Number(table));
      row.Set(2, Number(1));
      row.Set(4, Number(0));
      row.SetBytes(5, StrCat("table_", table));
      first.Insert(tables, std::move(row));
    }
    ChangeSet second;
    AddSnapshot(2, &second);
    second.End(tables, std::vector{Number(1)}, 2);
    for (const ChangeSet* changes : {&first, &second}) {
      const absl::Status status = (*catalog)->Apply(*changes);
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  static void TearDownTestSuite() { delete base_; }

  TierCommands() {
    std::filesystem::copy(*base_ / "catalog", path(), std::filesystem::copy_options::recursive);
  }

  static void AddSnapshot(int64_t id, ChangeSet* changes) {
    Row row(5);
    row.Set(0, Number(id));
    row.Set(1, Number(1'800'000'000'000'000 + id));
    changes->Insert(BuiltinRelationById(kSnapshot), std::move(row));
  }

  std::string path() const { return dir_ / "catalog"; }

  std::string Printed(const std::vector<std::string>& words) {
    const Outcome outcome = RunVarve(path(), words);
    EXPECT_EQ(outcome.exit_code, 0) << StrJoin(words, " ") << "\n" << outcome.err;
    return outcome.out;
  }
  // Of a command that prints one object.
  nlohmann::json Json(std::vector<std::string> words) {
    words.emplace_back("--format=json");
    return nlohmann::json::parse(Printed(words));
  }
  std::vector<std::string> ColumnarFiles() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(path() + "/columnar")) {
      files.push_back(entry.path());
    }
    return files;
  }
  // What stats say of the tiers of a relation; null: nothing.
  nlohmann::json TiersOf(const std::string& relation) {
    for (const std::string& line : Lines(Printed({"stats", "tiers", "--format=json"}))) {
      nlohmann::json stats = nlohmann::json::parse(line);
      if (stats["relation"] == relation) {
        return stats;
      }
    }
    return nullptr;
  }

  static std::string Inspected(const std::string& file) {
    return RunVarve("", {"inspect", file}).out;
  }
  // What verify finds in columnar files. The catalog is none that a client would have made, so
  // there is more.
  std::vector<nlohmann::json> ColumnarFindings() {
    std::vector<nlohmann::json> findings;
    for (const std::string& line : Lines(RunVarve(path(), {"verify", "--format=json"}).out)) {
      nlohmann::json finding = nlohmann::json::parse(line);
      const std::string rule = finding["rule"];
      if (rule.starts_with("columnar-") || rule.starts_with("pack-")) {
        findings.push_back(std::move(finding));
      }
    }
    return findings;
  }

  static void Flip(const std::string& file, std::streamoff offset) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(offset);
    const char byte = static_cast<char>(bytes.get() ^ 0x55);
    bytes.seekp(offset);
    bytes.put(byte);
  }

  static TempDir* base_;
  TempDir dir_;
};
TempDir* TierCommands::base_ = nullptr;

TEST_F(TierCommands, FlushWritesWhatWasCommittedToOneFile) {
  // When there is something to flush,
  const nlohmann::json flushed = Json({"flush"});
  // Then it is in one file of level 1,
  EXPECT_EQ(flushed["flushed_csn"], 3);
  EXPECT_EQ(flushed["rows"], kTables + 2);  // and two snapshots
  ASSERT_THAT(ColumnarFiles(), SizeIs(1));
  EXPECT_EQ(flushed["bytes"], std::filesystem::file_size(ColumnarFiles()[0]));
  EXPECT_THAT(Inspected(ColumnarFiles()[0]),
              StartsWith("level 1, live and ended rows; csn 3; the last begin is 2; "));
  // And when there is not, there is no file more.
  const nlohmann::json again = Json({"flush"});
  EXPECT_EQ(again["rows"], 0);
  EXPECT_EQ(again["bytes"], 0);
  EXPECT_THAT(ColumnarFiles(), SizeIs(1));
}

TEST_F(TierCommands, FlushKeepsTheNewestCommitsInTheChangeFeed) {
  Printed({"flush", "--keep-changes=1"});
  EXPECT_EQ(RunVarve(path(), {"changes", "--from=1"}).exit_code, 4);
  EXPECT_THAT(Lines(Printed({"changes", "--from=2", "--format=csv"})), SizeIs(3));
}

TEST_F(TierCommands, CompactMovesFlushedRowsToLevel2) {
  Printed({"flush"});
  // A relation that is not named stays as it is.
  const nlohmann::json compacted = Json({"compact", "table"});
  EXPECT_EQ(compacted["relations"], 1);
  EXPECT_EQ(compacted["rows_read"], kTables);
  EXPECT_EQ(compacted["rows_written"], kTables);
  EXPECT_GT(compacted["bytes_written"], 0);
  const nlohmann::json tables = TiersOf("ducklake_table");
  EXPECT_EQ(tables["l1_files"], 0);
  EXPECT_EQ(tables["l2_files"], 2);
  EXPECT_EQ(tables["live_rows"], kTables - 1);
  EXPECT_EQ(tables["ended_rows"], 1);
  EXPECT_EQ(tables["complete"], true);
  // At the current snapshot every pack of live rows is clean, and the ended row is passed over.
  EXPECT_EQ(tables["packs"], 4);
  EXPECT_EQ(tables["clean_packs"], 3);
  EXPECT_EQ(tables["skipped_packs"], 1);
  EXPECT_EQ(tables["clean_share"], 1.0);
  EXPECT_EQ(tables["scan_amplification"], 1.0);
  EXPECT_GT(tables["history_amplification"], 1.0);
  EXPECT_EQ(TiersOf("ducklake_snapshot")["l1_files"], 1);
}

TEST_F(TierCommands, CompactLeavesSmallChangesUnlessFull) {
  Printed({"flush"});
  EXPECT_EQ(Json({"compact", "snapshot"})["relations"], 0);
  EXPECT_EQ(Json({"compact", "snapshot", "--full"})["relations"], 1);
}

TEST_F(TierCommands, EveryPathOfAScanGivesTheSameRows) {
  Printed({"flush"});
  Printed({"repair"});
  Printed({"compact", "--full"});
  const std::vector<std::vector<std::string>> scans = {
      {"scan", "table", "--format=csv"},
      {"scan", "table", "--at=1", "--format=csv"},
      {"scan", "table", "--at=0", "--count"},
      {"scan", "table", "--columns=table_name", "--where=table_id > 19990", "--format=json"},
      {"scan", "table", "--columns=begin_snapshot,table_id", "--limit=3", "--format=csv"},
      {"scan", "schema", "--format=csv"}};
  for (std::vector<std::string> words : scans) {
    words.emplace_back("--path=row");
    const std::string by_row = Printed(words);
    EXPECT_THAT(by_row, Not(IsEmpty()));
    for (const char* path : {"--path=columnar", "--path=auto"}) {
      words.back() = path;
      EXPECT_EQ(Printed(words), by_row) << StrJoin(words, " ");
      words.emplace_back("--clean-read=off");
      EXPECT_EQ(Printed(words), by_row) << StrJoin(words, " ");
      words.pop_back();
    }
  }
  EXPECT_EQ(RunVarve(path(), {"scan", "table", "--path=columnar", "--history"}).exit_code, 11);
}

TEST_F(TierCommands, AScanInAnyOrderGivesTheSameRows) {
  Printed({"flush"});
  Printed({"compact", "--full"});
  for (const char* at : {"--at=1", "--at=2"}) {
    for (const char* path : {"--path=row", "--path=columnar", "--path=auto"}) {
      std::vector<std::string> in_order = Lines(Printed({"scan", "table", at, "--format=csv"}));
      std::vector<std::string> in_any =
          Lines(Printed({"scan", "table", at, "--format=csv", "--order=any", path}));
      ASSERT_GT(in_order.size(), 1U);
      EXPECT_EQ(in_any[0], in_order[0]);  // the header
      EXPECT_THAT(in_any, UnorderedElementsAreArray(in_order)) << at << " " << path;
      EXPECT_EQ(Printed({"scan", "table", at, "--count", "--format=csv", "--order=any", path}),
                Printed({"scan", "table", at, "--count", "--format=csv"}));
    }
  }
}

TEST_F(TierCommands, ExplainSaysWhatAScanDid) {
  Printed({"flush"});
  Printed({"compact"});
  const std::vector<std::string> scan = {"scan", "table", "--columns=table_name", "--path=columnar",
                                         "--explain"};
  // Given that packs may be read clean,
  const nlohmann::json clean = Json(scan);
  std::set<std::string> keys;
  for (const auto& [key, value] : clean.items()) {
    keys.insert(key);
  }
  EXPECT_THAT(keys, UnorderedElementsAre("snapshot", "path", "rows", "packs_clean", "packs_normal",
                                         "packs_skipped", "rejected", "bytes_read",
                                         "mvcc_bytes_read", "mvcc_bytes_avoided", "elapsed_us"));
  EXPECT_EQ(clean["snapshot"], 2);
  EXPECT_EQ(clean["path"], "columnar");
  EXPECT_EQ(clean["rows"], kTables - 1);
  EXPECT_EQ(clean["packs_clean"], 3);
  EXPECT_EQ(clean["packs_normal"], 0);
  EXPECT_EQ(clean["packs_skipped"], 1);
  EXPECT_EQ(clean["rejected"], nlohmann::json::object());
  EXPECT_EQ(clean["mvcc_bytes_read"], 0);
  EXPECT_GT(clean["mvcc_bytes_avoided"], 0);
  EXPECT_GT(clean["bytes_read"], 0);
  // When it is switched off, they are not.
  std::vector<std::string> off = scan;
  off.emplace_back("--clean-read=off");
  const nlohmann::json normal = Json(off);
  EXPECT_EQ(normal["rows"], kTables - 1);
  EXPECT_EQ(normal["packs_clean"], 0);
  EXPECT_EQ(normal["rejected"], nlohmann::json({{"switched_off", 3}}));
  EXPECT_GT(normal["mvcc_bytes_read"], 0);
  EXPECT_EQ(normal["mvcc_bytes_avoided"], 0);
  // In tables there is a line for each number.
  EXPECT_THAT(Lines(Printed(scan)),
              AllOf(Contains("path                columnar"), Contains("packs_clean         3")));
  // The row store reads no packs.
  const nlohmann::json row = Json({"scan", "table", "--path=row", "--explain"});
  EXPECT_EQ(row["path"], "row");
  EXPECT_EQ(row["rows"], kTables - 1);
  EXPECT_EQ(row["bytes_read"], 0);
}

TEST_F(TierCommands, AScanPrintsNoIntervalAndReadsNone) {
  Printed({"flush"});
  Printed({"compact"});
  const nlohmann::json with_begin =
      Json({"scan", "table", "--columns=begin_snapshot", "--path=columnar", "--explain"});
  EXPECT_EQ(with_begin["rejected"], nlohmann::json({{"projection", 3}}));
}

TEST_F(TierCommands, RepairMakesColumnarFilesOfAnImport) {
  std::filesystem::remove_all(path());
  std::filesystem::copy(SmallCatalog(), path(), std::filesystem::copy_options::recursive);
  const Outcome refused = RunVarve(path(), {"scan", "column", "--path=columnar"});
  EXPECT_EQ(refused.exit_code, 11);
  EXPECT_THAT(refused.err, HasSubstr("it has rows that no columnar file has; rebuild it"));
  EXPECT_EQ(TiersOf("ducklake_column")["complete"], false);

  const nlohmann::json repaired = Json({"repair"});
  EXPECT_GT(repaired["relations"], 20);

  for (const char* relation : {"column", "data_file", "file_column_stats", "snapshot"}) {
    for (const char* at : {"--at=20", "--at=93"}) {
      EXPECT_EQ(Printed({"scan", relation, at, "--format=csv", "--path=columnar"}),
                Printed({"scan", relation, at, "--format=csv", "--path=row"}))
          << relation << " " << at;
    }
  }
  EXPECT_EQ(TiersOf("ducklake_column")["complete"], true);
  EXPECT_EQ(RunVarve(path(), {"verify"}).exit_code, 0);
}

TEST_F(TierCommands, VerifyFindsAFlippedByteAndRepairMakesItGood) {
  // Given columnar files of which one has a flipped byte in a pack of names,
  Printed({"flush"});
  Printed({"repair"});
  Printed({"compact", "--full"});
  EXPECT_THAT(ColumnarFindings(), IsEmpty());
  const std::string rows = Printed({"scan", "table", "--format=csv", "--path=row"});
  std::string largest;
  for (const std::string& file : ColumnarFiles()) {
    if (largest.empty() || std::filesystem::file_size(file) > std::filesystem::file_size(largest)) {
      largest = file;
    }
  }
  Flip(largest, static_cast<std::streamoff>(std::filesystem::file_size(largest) / 2));
  // When it is verified, the file is named;
  const std::vector<nlohmann::json> findings = ColumnarFindings();
  ASSERT_THAT(findings, SizeIs(1));
  const nlohmann::json& finding = findings[0];
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_EQ(finding["rule"], "columnar-damaged");
  EXPECT_EQ(finding["relation"], "ducklake_table");
  EXPECT_EQ(finding["key"], std::filesystem::path(largest).filename().string());
  EXPECT_THAT(RunVarve("", {"inspect", largest, "--format=csv"}).out, HasSubstr(",1\n"));
  // scans give the rows all the same, and say so beside them;
  const Outcome scan = RunVarve(path(), {"scan", "table", "--format=csv", "--path=columnar"});
  EXPECT_EQ(scan.out, rows);
  EXPECT_THAT(scan.err, StartsWith("varve: scan of ducklake_table goes on in the row store: "));
  // a compaction leaves the relation out, says so, and does the others;
  Printed({"flush"});
  const Outcome compacted = RunVarve(path(), {"compact", "--full", "--format=json"});
  EXPECT_EQ(compacted.exit_code, 7);
  EXPECT_EQ(nlohmann::json::parse(compacted.out)["skipped"], 1);
  EXPECT_THAT(compacted.err, AllOf(StartsWith("varve: ducklake_table was left out: "),
                                   HasSubstr(".vcol"), HasSubstr("varve repair")));
  EXPECT_EQ(Printed({"scan", "table", "--format=csv", "--path=auto"}), rows);
  // and once it is rebuilt all is well.
  const Outcome repaired = RunVarve(path(), {"repair", "--format=json"});
  EXPECT_EQ(repaired.exit_code, 0) << repaired.err;
  EXPECT_EQ(nlohmann::json::parse(repaired.out)["relations"], 1);
  EXPECT_EQ(nlohmann::json::parse(repaired.out)["damaged_files"], 1);
  EXPECT_THAT(Lines(repaired.err),
              ElementsAre(AllOf(StartsWith(StrCat("columnar/", finding["key"].get<std::string>(),
                                                  " was damaged: ducklake_table, column ")),
                                HasSubstr(": its checksum does not match"),
                                EndsWith("; made anew: ducklake_table"))));
  EXPECT_THAT(ColumnarFindings(), IsEmpty());
  EXPECT_EQ(Printed({"scan", "table", "--format=csv", "--path=columnar"}), rows);
}

TEST_F(TierCommands, RepairReadsAllFilesAndShowsHowFarItIs) {
  Printed({"flush"});
  Printed({"repair"});
  Printed({"compact", "--full"});
  // When nothing is damaged nothing is made, and nothing is said but on a terminal.
  const Outcome quiet = RunVarve(path(), {"repair", "--format=json"});
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(nlohmann::json::parse(quiet.out)["relations"], 0);
  EXPECT_EQ(nlohmann::json::parse(quiet.out)["damaged_files"], 0);
  EXPECT_THAT(RunVarve(path(), {"repair"}, {.stderr_is_terminal = true}).err,
              HasSubstr("reading columnar files  ["));
}

TEST_F(TierCommands, ACheckpointTakesColumnarFilesAlong) {
  Printed({"flush"});
  Printed({"repair"});
  Printed({"compact", "--full"});
  const std::string rows = Printed({"scan", "table", "--format=csv", "--path=row"});
  const std::string checkpoint = dir_ / "checkpoint";
  const std::string restored = dir_ / "restored";
  ASSERT_EQ(RunVarve(path(), {"checkpoint", "create", checkpoint}).exit_code, 0);
  // It is answered by columns in place, and when it is restored.
  EXPECT_EQ(RunVarve(checkpoint, {"scan", "table", "--format=csv", "--path=columnar"}).out, rows);
  const std::vector<std::string> restore = {"checkpoint", "restore", checkpoint,
                                            StrCat("--to=", restored)};
  ASSERT_EQ(RunVarve("", restore).exit_code, 0);
  EXPECT_EQ(RunVarve(restored, {"scan", "table", "--format=csv", "--path=columnar"}).out, rows);
  // A damaged one among them is left out of a restore, and made anew.
  std::filesystem::remove_all(restored);
  std::string last;
  for (const auto& entry : std::filesystem::directory_iterator(StrCat(checkpoint, "/columnar"))) {
    last = std::max(last, entry.path().filename().string());
  }
  Flip(StrCat(checkpoint, "/columnar/", last), 40);
  const Outcome left_out = RunVarve("", restore);
  EXPECT_EQ(left_out.exit_code, 0) << left_out.err;
  EXPECT_THAT(left_out.err, AllOf(HasSubstr(StrCat("columnar/", last, " is damaged")),
                                  HasSubstr("varve repair")));
  EXPECT_EQ(RunVarve(restored, {"scan", "table", "--format=csv"}).out, rows);
  EXPECT_EQ(RunVarve(restored, {"repair"}).exit_code, 0);
  EXPECT_EQ(RunVarve(restored, {"scan", "table", "--format=csv", "--path=columnar"}).out, rows);
}

TEST_F(TierCommands, AFileThatCannotBeOpenedIsSaidAndRebuilt) {
  Printed({"flush"});
  Printed({"compact"});
  const std::string rows = Printed({"scan", "table", "--format=csv", "--path=row"});
  for (const std::string& file : ColumnarFiles()) {
    std::filesystem::resize_file(file, 20);
  }
  EXPECT_EQ(Printed({"scan", "table", "--format=csv"}), rows);
  const Outcome stats = RunVarve(path(), {"stats", "tiers"});
  EXPECT_EQ(stats.exit_code, 0) << stats.err;
  EXPECT_THAT(stats.out, HasSubstr("ducklake_table is answered by the row store: "));
  EXPECT_THAT(ColumnarFindings(), Not(IsEmpty()));
  EXPECT_GE(Json({"repair"})["relations"], 1);
  EXPECT_THAT(ColumnarFindings(), IsEmpty());
  EXPECT_EQ(Printed({"scan", "table", "--format=csv", "--path=columnar"}), rows);
}

TEST_F(TierCommands, InspectShowsColumnsAndPacks) {
  Printed({"flush"});
  Printed({"compact", "table"});
  std::string live;
  for (const std::string& file : ColumnarFiles()) {
    if (Inspected(file).starts_with("level 2, live rows")) {
      live = file;
    }
  }
  ASSERT_THAT(live, Not(IsEmpty()));

  const Outcome columns = RunVarve("", {"inspect", live, "--format=csv"});
  EXPECT_EQ(columns.exit_code, 0) << columns.err;
  EXPECT_THAT(columns.err, HasSubstr("ducklake_table: 19,999 rows in 3 packs, by byte handles"));
  const std::vector<std::string> lines = Lines(columns.out);
  EXPECT_EQ(lines[0],
            "relation,column,type,packs,nulls,encodings,zstd_packs,bytes,uncompressed_bytes,"
            "damaged_packs");
  EXPECT_THAT(lines, Contains(StartsWith("ducklake_table,(handle),blob,3,0,")));
  EXPECT_THAT(lines, Contains(StartsWith("ducklake_table,(version),bigint,3,0,constant 3,")));
  EXPECT_THAT(lines, Contains(StartsWith("ducklake_table,(end),bigint,3,19999,")));
  EXPECT_THAT(lines, Contains(StartsWith("ducklake_table,table_name,varchar,3,0,")));

  const std::vector<std::string> packs =
      Lines(RunVarve("", {"inspect", live, "--packs", "--format=csv"}).out);
  ASSERT_THAT(packs, SizeIs(4));
  EXPECT_EQ(packs[1], "ducklake_table,0,8192,table_id=2,table_id=8193,-,1,1,\\N,\\N");
  EXPECT_EQ(packs[3], "ducklake_table,2,3615,table_id=16386,table_id=20000,-,1,1,\\N,\\N");

  EXPECT_EQ(RunVarve("", {"inspect", live + ".none"}).exit_code, 4);
  EXPECT_EQ(RunVarve("", {"inspect", path() + "/VARVE"}).exit_code, 7);
}

TEST_F(TierCommands, MetricsAreInTheFormOfPrometheus) {
  Printed({"flush"});
  Printed({"compact"});
  const std::vector<std::string> lines = Lines(Printed({"metrics"}));
  for (const std::string& line : lines) {
    EXPECT_TRUE(line.starts_with("# HELP varve_") || line.starts_with("# TYPE varve_") ||
                line.starts_with("varve_"))
        << line;
  }
  EXPECT_THAT(lines, Each(Not(HasSubstr("ducklake"))));
  for (const char* line :
       {"varve_columnar_files{level=\"1\"} 1", "varve_columnar_files{level=\"2\"} 2",
        "varve_columnar_rows{level=\"2\"} 20000", "varve_columnar_l2_packs_clean 3",
        "varve_flushed_csn 3", "varve_last_snapshot 2", "varve_memrowset_rows 0",
        "varve_clean_read_packs_eligible_total 0",
        "varve_clean_read_packs_rejected_total{reason=\"needs_merge\"} 0",
        "varve_tier_work_seconds_count{work=\"flush\"} 0"}) {
    EXPECT_THAT(lines, Contains(line));
  }
}

TEST_F(TierCommands, CommandsThatWriteShowProgressOnATerminal) {
  const Outcome flush = RunVarve(path(), {"flush"}, {.stderr_is_terminal = true});
  EXPECT_EQ(flush.exit_code, 0);
  EXPECT_THAT(flush.err, HasSubstr("flushing  [#"));
  const Outcome repair = RunVarve(path(), {"repair", "table"}, {.stderr_is_terminal = true});
  EXPECT_EQ(repair.exit_code, 0);
  EXPECT_THAT(repair.err, HasSubstr("rebuilding  [#"));
}

TEST_F(TierCommands, MistakesAreUsageErrors) {
  const auto error = [&](const std::vector<std::string>& words) {
    const Outcome outcome = RunVarve(path(), words);
    EXPECT_EQ(outcome.exit_code, 2) << StrJoin(words, " ");
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  EXPECT_EQ(error({"scan", "table", "--order=keys"}), "varve: --order=keys: expected key or any\n");
  EXPECT_EQ(error({"scan", "table", "--path=columner"}),
            "varve: --path=columner: expected auto, row, memory or columnar; did you mean "
            "'columnar'?\n");
  EXPECT_EQ(error({"scan", "table", "--clean-read=maybe"}),
            "varve: --clean-read=maybe: expected on or off\n");
  EXPECT_THAT(error({"stats", "tires"}), HasSubstr("did you mean 'tiers'?"));
  EXPECT_EQ(RunVarve(path(), {"compact", "tabel"}).exit_code, 4);
}

}  // namespace
}  // namespace varve
