// pin, unpin, pins, gc, excise, expire and audit on a copy of the small real catalog.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "tests/tools/program.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;

class RetentionCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = StrCat(::testing::TempDir(), "varve-retention-", getpid());
    std::filesystem::remove_all(path_);
    std::filesystem::copy(SmallCatalog(), path_, std::filesystem::copy_options::recursive);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  Outcome Run(const std::vector<std::string>& words) { return RunVarve(path_, words); }
  Outcome MustRun(const std::vector<std::string>& words) {
    Outcome outcome = Run(words);
    EXPECT_EQ(outcome.exit_code, 0) << StrJoin(words, " ") << "\n" << outcome.err;
    return outcome;
  }
  std::vector<std::string> Csv(std::vector<std::string> words) {
    words.emplace_back("--format=csv");
    return Lines(MustRun(words).out);
  }
  std::vector<nlohmann::json> Json(std::vector<std::string> words) {
    words.emplace_back("--format=json");
    std::vector<nlohmann::json> objects;
    for (const std::string& line : Lines(MustRun(words).out)) {
      objects.push_back(nlohmann::json::parse(line));
    }
    return objects;
  }
  void ExpectError(const std::vector<std::string>& words, int exit_code,
                   const std::string& message) {
    const Outcome outcome = Run(words);
    EXPECT_EQ(outcome.exit_code, exit_code) << StrJoin(words, " ");
    EXPECT_THAT(outcome.err, HasSubstr(message)) << StrJoin(words, " ");
    EXPECT_THAT(Lines(outcome.err), SizeIs(1)) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
  }

  std::string path_;
};

// --- pin, unpin, pins ----------------------------------------------------------------------------

TEST_F(RetentionCommands, PinsArePlacedListedAndRemoved) {
  EXPECT_EQ(MustRun({"pin", "q3", "--at=40", "--note=the quarter's close"}).err,
            "placed pin 'q3' on snapshot 40\n");
  EXPECT_THAT(MustRun({"pin", "job", "--for=2h"}).err,
              MatchesRegex("placed lease 'job' on snapshot 93 until 20[^\n]+\\+00\n"));
  EXPECT_THAT(MustRun({"pin", "job", "--for", "1d12h"}).err, StartsWith("renewed lease 'job'"));
  const std::vector<nlohmann::json> pins = Json({"pins"});
  ASSERT_THAT(pins, SizeIs(2));
  EXPECT_EQ(pins[0]["name"], "job");
  EXPECT_EQ(pins[0]["kind"], "lease");
  EXPECT_EQ(pins[0]["snapshot"], 93);
  EXPECT_TRUE(pins[0]["expires"].is_string());
  EXPECT_TRUE(pins[0]["note"].is_null());
  EXPECT_EQ(pins[1]["name"], "q3");
  EXPECT_EQ(pins[1]["kind"], "pin");
  EXPECT_EQ(pins[1]["snapshot"], 40);
  EXPECT_TRUE(pins[1]["expires"].is_null());
  EXPECT_EQ(pins[1]["note"], "the quarter's close");
  EXPECT_THAT(pins[1]["holder"].get<std::string>(), MatchesRegex(".+@.+, process [0-9]+"));
  EXPECT_EQ(Csv({"pins"})[0], "name,kind,snapshot,placed,expires,holder,note");
  EXPECT_EQ(MustRun({"unpin", "q3"}).err, "removed pin 'q3' from snapshot 40\n");
  EXPECT_THAT(Csv({"pins"}), SizeIs(2));
}

TEST_F(RetentionCommands, APinAtATimeIsOnTheSnapshotOfThatTime) {
  EXPECT_EQ(MustRun({"pin", "then", "--at-time=2026-11-30 08:37:06.4+00"}).exit_code, 0);
  EXPECT_EQ(Json({"pins"})[0]["snapshot"], Json({"scan", "snapshot", "--columns=snapshot_id",
                                                 "--at-time=2026-11-30 08:37:06.4+00"})
                                               .back()["snapshot_id"]);
}

TEST_F(RetentionCommands, WrongPinsAreRefused) {
  ExpectError({"pin"}, 2, "usage: varve pin NAME");
  ExpectError({"pin", "x", "--for=2x"}, 2, "--for=2x: expected a duration");
  ExpectError({"pin", "x", "--for=0s"}, 2, "a lease for 0 is none");
  ExpectError({"pin", "x", "--at=94"}, 4, "snapshot 94 lies in the future");
  ExpectError({"pin", "x", "--at=1", "--at-time=2026-11-30"}, 2, "exclude each other");
  ExpectError({"pin", "", "--at=1"}, 2, "a pin needs a name");
  ExpectError({"unpin", "x"}, 4, "there is no pin or lease 'x'");
  MustRun({"pin", "quarter", "--at=1"});
  ExpectError({"pin", "quarter", "--at=2"}, 9, "there is a pin 'quarter' on snapshot 1 already");
  ExpectError({"unpin", "quater"}, 4, "did you mean 'quarter'?");
}

TEST_F(RetentionCommands, WhoHoldsTheLockIsSaid) {
  const auto catalog = Catalog::Open(path_);
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"pin", "x"},
                                             {"unpin", "x"},
                                             {"gc", "apply", "--keep-last=3"},
                                             {"excise", "apply"},
                                             {"expire", "3"}}) {
    ExpectError(words, 6, StrCat("is open in process ", getpid(), " on host "));
  }
  MustRun({"pins"});
  MustRun({"gc", "plan", "--keep-last=3"});
  MustRun({"excise", "plan"});
  MustRun({"expire", "3", "--dry-run"});
  MustRun({"audit"});
}

// --- gc ------------------------------------------------------------------------------------------

TEST_F(RetentionCommands, GcPlansAndApplies) {
  MustRun({"pin", "q3", "--at=40"});
  const Outcome plan = MustRun({"gc", "plan", "--keep-last=10"});
  EXPECT_THAT(plan.out, StartsWith("snapshots would be retained from 84, now from 0\n"
                                   "77 snapshots could no longer be read: 77 of 0 to 83\n"
                                   "pin 'q3' holds snapshot 40\n"));
  EXPECT_THAT(plan.out, HasSubstr("becoming_reclaimable"));
  EXPECT_THAT(plan.out, HasSubstr("ducklake_snapshot "));
  EXPECT_THAT(MustRun({"log", "--limit=1"}).out, HasSubstr("93"));
  MustRun({"ls", "tables", "--at=51"});
  const Outcome apply = MustRun({"gc", "apply", "--keep-last=10"});
  EXPECT_THAT(apply.out, StartsWith("snapshots are retained from 84, were from 0\n"
                                    "77 snapshots can no longer be read: 77 of 0 to 83\n"));
  ExpectError({"ls", "tables", "--at=51"}, 4,
              "snapshot 51 is no longer retained (retained from 84); the nearest that is: 40 and "
              "84");
  MustRun({"ls", "tables", "--at=40"});
  EXPECT_THAT(MustRun({"gc", "apply", "--keep-last=10"}).out,
              StartsWith("nothing to give up: snapshots are retained from 84\n"));
  EXPECT_THAT(Csv({"gc", "apply", "--retain-from=90"}),
              ElementsAre("retained_from_before,retained_from,given_up,held_back,feed_from_csn",
                          "84,90,6,1,1"));
}

TEST_F(RetentionCommands, GcCountsWhatBecomesReclaimable) {
  const std::vector<nlohmann::json> plan = Json({"gc", "plan", "--keep-last=1"});
  std::set<std::string> relations;
  for (const nlohmann::json& count : plan) {
    relations.insert(count["relation"]);
    EXPECT_GT(count["becoming_reclaimable"].get<int64_t>(), 0);
    if (count["relation"] == "ducklake_snapshot") {
      EXPECT_EQ(count["becoming_reclaimable"], 87);
    }
  }
  EXPECT_TRUE(relations.contains("ducklake_data_file"));
  EXPECT_TRUE(relations.contains("ducklake_table"));
  // What could be excised before comes on top.
  std::map<std::string, int64_t> expected;
  for (const nlohmann::json& count : Json({"excise", "plan"})) {
    expected[count["relation"]] += count["rows"].get<int64_t>();
  }
  EXPECT_FALSE(expected.empty()) << "the lake has expired snapshots before";
  for (const nlohmann::json& count : plan) {
    expected[count["relation"]] += count["becoming_reclaimable"].get<int64_t>();
  }
  MustRun({"gc", "apply", "--keep-last=1"});
  std::map<std::string, int64_t> reclaimable;
  for (const nlohmann::json& count : Json({"excise", "plan"})) {
    reclaimable[count["relation"]] = count["rows"];
  }
  EXPECT_EQ(reclaimable, expected);
}

TEST_F(RetentionCommands, GcRefusesWhatCannotBe) {
  ExpectError({"gc"}, 2, "usage: varve gc plan|apply");
  ExpectError({"gc", "pla", "--keep-last=3"}, 2, "varve gc knows plan and apply, not 'pla'");
  ExpectError({"gc", "plan"}, 2, "give --keep-last=N, --older-than=30d or --retain-from=S");
  ExpectError({"gc", "apply"}, 2, "give --keep-last=N, --older-than=30d or --retain-from=S");
  ExpectError({"gc", "plan", "--keep-last=0"}, 2, "the last snapshot always stays");
  ExpectError({"gc", "plan", "--keep-last=x"}, 2, "expected a number of snapshots");
  ExpectError({"gc", "plan", "--older-than=30"}, 2, "--older-than=30: expected a duration");
  ExpectError({"gc", "plan", "--older-than=-3d"}, 2, "expected a duration");
  ExpectError({"gc", "plan", "--older-than=1d", "--keep-last=3"}, 2, "exclude each other");
  ExpectError({"gc", "plan", "--retain-from=94"}, 4, "snapshot 94 lies in the future");
  ExpectError({"gc", "plan", "--retain-from=x"}, 2, "expected a snapshot id");
  ExpectError({"gc", "plan", "--changes-retention=soon"}, 2, "expected a number of commits");
  MustRun({"gc", "apply", "--retain-from=60"});
  ExpectError({"gc", "apply", "--retain-from=59"}, 2,
              "below the present floor 60, which never goes down");
}

TEST_F(RetentionCommands, GcTakesTheLakesOwnSetting) {
  {
    const auto catalog = Catalog::Open(path_);
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    ChangeSet changes;
    const RelationRef metadata = BuiltinRelationById(kMetadata);
    Row row(metadata->columns.num_columns());
    row.SetBytes(0, "expire_older_than");
    row.SetBytes(1, "1 month 3 days");
    changes.Put(metadata, std::move(row));
    ASSERT_TRUE((*catalog)->Apply(changes).ok());
  }
  // The catalog's snapshots are all of one minute; none or all but one are older.
  const nlohmann::json result = Json({"gc", "apply"})[0];
  EXPECT_TRUE(result["retained_from"] == 0 || result["retained_from"] == 93) << result;
}

TEST_F(RetentionCommands, GcCutsTheChangeFeed) {
  MustRun({"pin", "a"});
  MustRun({"unpin", "a"});
  const Outcome outcome = MustRun({"gc", "apply", "--changes-retention=1"});
  EXPECT_THAT(outcome.out, HasSubstr("nothing to give up: snapshots are retained from 0"));
  EXPECT_THAT(outcome.out, HasSubstr("the change feed begins at csn 2, before at 1"));
  EXPECT_THAT(MustRun({"gc", "apply", "--changes-retention=all", "--keep-last=5"}).out,
              ::testing::Not(HasSubstr("change feed")));
}

// --- excise and expire ---------------------------------------------------------------------------

TEST_F(RetentionCommands, ExciseRemovesAndVerifyIsContent) {
  const std::vector<std::string> notes_before = Lines(MustRun({"verify"}).out);
  MustRun({"gc", "apply", "--retain-from=80"});
  const std::vector<std::string> tables = Csv({"ls", "tables", "--at=80"});
  const std::vector<std::string> files = Csv({"ls", "files", "--at=85"});
  const std::vector<std::string> columns = Csv({"ls", "columns", "--at=93"});
  const Outcome plan = MustRun({"excise", "plan"});
  EXPECT_THAT(plan.out, HasSubstr(" rows to remove, "));
  EXPECT_THAT(plan.out, HasSubstr("retained, from 80 on"));
  const Outcome apply = MustRun({"excise", "apply", "--step-rows=50"});
  EXPECT_THAT(apply.out, MatchesRegex("(.|\n)*removed [0-9,]+ rows in [0-9]+ steps; scheduled "
                                      "[0-9]+ files for deletion\n"));
  EXPECT_EQ(Csv({"ls", "tables", "--at=80"}), tables);
  EXPECT_EQ(Csv({"ls", "files", "--at=85"}), files);
  EXPECT_EQ(Csv({"ls", "columns", "--at=93"}), columns);
  MustRun({"verify"});
  EXPECT_EQ(MustRun({"excise", "apply"}).out, "nothing to remove\n");
  EXPECT_THAT(MustRun({"excise", "plan"}).out, StartsWith("nothing to remove; "));
  EXPECT_THAT(Csv({"excise", "plan"}), ElementsAre("relation,rows"));
  const nlohmann::json audit = Json({"audit", "--limit=1"})[0];
  EXPECT_EQ(audit["action"], "excise");
  EXPECT_GT(audit["rows"].get<int64_t>(), 50);
  EXPECT_GT(audit["rows_by_relation"]["ducklake_snapshot"].get<int64_t>(), 10);
  EXPECT_EQ(audit["first_snapshot"], 0);
}

TEST_F(RetentionCommands, ExciseChecksItsFlags) {
  ExpectError({"excise"}, 2, "usage: varve excise plan|apply");
  ExpectError({"excise", "aply"}, 2, "did you mean 'apply'?");
  ExpectError({"excise", "apply", "--step-rows=0"}, 2, "--step-rows=0: expected 1 to 1000000");
  ExpectError({"excise", "apply", "--step-rows=x"}, 2, "expected a number");
  MustRun({"gc", "apply", "--keep-last=1"});
  MustRun({"excise", "apply", "--compact"});
}

TEST_F(RetentionCommands, AKilledExcisionIsGoneOnWith) {
  MustRun({"gc", "apply", "--keep-last=5"});
  const Outcome killed = RunVarve(path_, {"excise", "apply", "--step-rows=20"},
                                  {.environment = {{"VARVE_FAILPOINT", "excise/between_steps:3"}}});
  EXPECT_EQ(killed.exit_code, 128 + SIGKILL);
  MustRun({"verify"});
  EXPECT_THAT(MustRun({"excise", "plan"}).out,
              HasSubstr("an excision was interrupted after 60 rows; 'excise apply' goes on"));
  EXPECT_THAT(MustRun({"excise", "apply"}).out,
              HasSubstr("; what an interrupted excision had done is in it"));
  const std::vector<nlohmann::json> audit = Json({"audit"});
  ASSERT_THAT(audit, SizeIs(2));
  EXPECT_EQ(audit[0]["action"], "excise");
  EXPECT_THAT(audit[0]["detail"].get<std::string>(), HasSubstr("; resumed by "));
  EXPECT_EQ(audit[0]["rows_by_relation"]["ducklake_snapshot"], 83);
}

TEST_F(RetentionCommands, ExpireNamesWhatItWouldRemoveAndRemovesIt) {
  const Outcome dry = MustRun({"expire", "40", "42", "41", "--dry-run"});
  EXPECT_THAT(dry.out, HasSubstr("3 snapshots would expire: 40 to 42; "));
  MustRun({"ls", "tables", "--at=41"});
  const std::vector<std::string> planned = Csv({"expire", "40", "41", "42", "--dry-run"});
  EXPECT_EQ(Csv({"expire", "40", "41", "42"}), planned);
  ExpectError({"ls", "tables", "--at=41"}, 4,
              "snapshot 41 does not exist (expired, or never made)");
  const std::vector<nlohmann::json> audit = Json({"audit"});
  ASSERT_THAT(audit, ::testing::SizeIs(::testing::Ge(1)));
  EXPECT_EQ(audit.back()["action"], "expire");
  EXPECT_EQ(audit.back()["detail"], "snapshots 40, 41, 42");
  MustRun({"verify"});
}

TEST_F(RetentionCommands, ExpireRefusesWhatMustStay) {
  MustRun({"pin", "q3", "--at=40"});
  ExpectError({"expire"}, 2, "usage: varve expire SNAPSHOT");
  ExpectError({"expire", "x"}, 2, "'x' is no snapshot id");
  ExpectError({"expire", "93"}, 11, "snapshot 93 is the last one and cannot expire");
  ExpectError({"expire", "40", "--dry-run"}, 11, "snapshot 40 is held by pin 'q3'");
  ExpectError({"expire", "41", "40"}, 11, "snapshot 40 is held by pin 'q3'");
  ExpectError({"expire", "99"}, 4, "snapshot 99 does not exist: the last one is 93");
  MustRun({"ls", "tables", "--at=41"});
}

TEST_F(RetentionCommands, AuditListsTheNewestFirst) {
  EXPECT_THAT(Csv({"audit"}), SizeIs(1));
  MustRun({"pin", "q3", "--at=40", "--note=why"});
  MustRun({"gc", "apply", "--keep-last=50"});
  MustRun({"unpin", "q3"});
  const std::vector<nlohmann::json> audit = Json({"audit"});
  ASSERT_THAT(audit, SizeIs(3));
  EXPECT_EQ(audit[0]["action"], "unpin");
  EXPECT_EQ(audit[1]["action"], "gc");
  EXPECT_EQ(audit[2]["action"], "pin");
  EXPECT_EQ(audit[2]["object"], "q3");
  EXPECT_EQ(audit[2]["detail"], "why");
  EXPECT_EQ(audit[2]["first_snapshot"], 40);
  EXPECT_GT(audit[0]["csn"], audit[1]["csn"]);
  EXPECT_THAT(Json({"audit", "--limit=1"}), SizeIs(1));
  EXPECT_EQ(Csv({"audit"})[0],
            "csn,time,actor,action,object,first_snapshot,last_snapshot,rows,detail,"
            "rows_by_relation");
  EXPECT_THAT(MustRun({"audit"}).out, ::testing::Not(HasSubstr("rows_by_relation")));
}

}  // namespace
}  // namespace varve
