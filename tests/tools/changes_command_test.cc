// changes, diff by the change feed, and --read-only.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "tests/tools/change_rows.h"
#include "tests/tools/program.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A catalog with two native snapshots:
//
//   csn 2  snapshot 1: tables 4 (a) and 5 (b)
//   csn 3  the row count of table 4
//   csn 4  snapshot 2: table 4 ends; the row count is overwritten
//   csn 5  table 5 is erased; a relation without a key comes, with one row
//   csn 6  that relation goes
class ChangesCommandTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    path_ = StrCat(::testing::TempDir(), "varve-changes-", getpid());
    std::filesystem::remove_all(path_);
    ASSERT_TRUE(Catalog::Init(path_, {.data_path = "/lake/"}).ok());
    auto catalog = Catalog::Open(path_);
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    const auto apply = [&](const ChangeSet& changes) {
      const absl::Status status = (*catalog)->Apply(changes);
      ASSERT_TRUE(status.ok()) << status;
    };
    const RelationRef tables = BuiltinRelationById(kTable);
    const RelationRef stats = BuiltinRelationById(kTableStats);

    ChangeSet first;
    AddSnapshot(1, &first);
    AddTable(4, "a", &first);
    AddTable(5, "b", &first);
    apply(first);
    ChangeSet second;
    second.Put(stats, Row(std::vector<Datum>{Number(4), Number(7), Datum(), Datum()}));
    apply(second);
    ChangeSet third;
    AddSnapshot(2, &third);
    third.End(tables, std::vector{Number(4)}, 2);
    third.Put(stats, Row(std::vector<Datum>{Number(4), Number(8), Datum(), Datum()}));
    apply(third);
    ChangeSet fourth;
    fourth.Erase(tables, std::vector{Number(5)}, 1);
    const RelationSchema heap =
        MakeDynamicRelation("heap", {{.name = "a", .type = TypeKind::kInt64}}, {}).value();
    fourth.CreateRelation(heap);
    fourth.Insert(std::make_shared<RelationSchema>(heap), Row(std::vector<Datum>{Number(30)}));
    apply(fourth);
    ChangeSet fifth;
    fifth.DropRelation("heap");
    apply(fifth);
  }

  static void TearDownTestSuite() { std::filesystem::remove_all(path_); }

  static std::string Printed(const std::vector<std::string>& words) {
    const Outcome outcome = RunVarve(path_, words);
    EXPECT_EQ(outcome.exit_code, 0) << StrJoin(words, " ") << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, IsEmpty());
    return outcome.out;
  }
  static void ExpectError(const std::vector<std::string>& words, int exit_code,
                          const std::string& message) {
    const Outcome outcome = RunVarve(path_, words);
    EXPECT_EQ(outcome.exit_code, exit_code) << StrJoin(words, " ");
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(Lines(outcome.err), SizeIs(1));
    EXPECT_THAT(outcome.out, IsEmpty());
  }

  static std::string path_;
};
std::string ChangesCommandTest::path_;

TEST_F(ChangesCommandTest, ShowsPeopleWhatEachCommitDid) {
  EXPECT_EQ(Printed({"changes", "--from=2"}),
            "csn 3\n"
            "  inserted  ducklake_table_stats table_id=4  record_count=7\n"
            "csn 4\n"
            "  inserted  ducklake_snapshot snapshot_id=2 begun at 2  "
            "snapshot_time=2027-01-15 08:00:00.000002+00\n"
            "  ended     ducklake_table table_id=4 [1, 2)\n"
            "  updated   ducklake_table_stats table_id=4  record_count=8\n"
            "csn 5\n"
            "  erased    ducklake_table table_id=5 begun at 1\n"
            "  inserted  heap row 0  a=30\n"
            "csn 6\n"
            "  dropped   heap\n"
            "(7 changes after csn 2, up to 6)\n");
  EXPECT_EQ(Printed({"changes", "table"}),
            "csn 2\n"
            "  inserted  ducklake_table table_id=4 [1, …)  schema_id=0 table_name='a'\n"
            "  inserted  ducklake_table table_id=5 [1, …)  schema_id=0 table_name='b'\n"
            "csn 4\n"
            "  ended     ducklake_table table_id=4 [1, 2)\n"
            "csn 5\n"
            "  erased    ducklake_table table_id=5 begun at 1\n"
            "(4 changes after csn 1, up to 6)\n");
}

TEST_F(ChangesCommandTest, GivesProgramsOneObjectAChange) {
  std::vector<std::string> lines =
      Lines(Printed({"changes", "--from=3", "--to=6", "--format=json"}));
  ASSERT_THAT(lines, SizeIs(6));
  const auto dump = [&](size_t i) { return nlohmann::json::parse(lines[i]).dump(); };
  EXPECT_EQ(dump(1), R"({"begin":1,"change":"ended","csn":4,"end":2,"key":{"table_id":4},)"
                     R"("relation":"ducklake_table","row":{"schema_id":0,"table_name":"a"}})");
  EXPECT_EQ(dump(2), R"({"begin":null,"change":"updated","csn":4,"end":null,"key":{"table_id":4},)"
                     R"("relation":"ducklake_table_stats","row":{"record_count":8}})");
  EXPECT_EQ(dump(3), R"({"begin":1,"change":"erased","csn":5,"end":null,"key":{"table_id":5},)"
                     R"("relation":"ducklake_table","row":null})");
  EXPECT_EQ(dump(4),
            R"({"begin":null,"change":"inserted","csn":5,"end":null,"key":{"row_number":0},)"
            R"("relation":"heap","row":{"a":30}})");
  EXPECT_EQ(dump(5), R"({"begin":null,"change":"relation dropped","csn":6,"end":null,"key":null,)"
                     R"("relation":"heap","row":null})");
  EXPECT_THAT(Lines(Printed({"changes", "--from=5", "--format=csv"})),
              ElementsAre("csn,relation,change,begin,end,key,row",
                          "6,heap,relation dropped,\\N,\\N,\\N,\\N"));
}

TEST_F(ChangesCommandTest, ASnapshotStandsForItsCommit) {
  EXPECT_EQ(Printed({"changes", "--from-snapshot=1", "--to-snapshot=2"}),
            Printed({"changes", "--from=2", "--to=4"}));
  EXPECT_EQ(Printed({"changes", "--from-snapshot=0", "--to=2"}), Printed({"changes", "--to=2"}));
}

TEST_F(ChangesCommandTest, ALimitStopsBetweenCommits) {
  const std::string page = Printed({"changes", "--limit=1"});
  EXPECT_THAT(page, StartsWith("csn 2\n"));
  EXPECT_THAT(page, EndsWith("\n(3 changes after csn 1, up to 2)\n"));
  EXPECT_THAT(Printed({"changes", "--limit=4"}), EndsWith("(4 changes after csn 1, up to 3)\n"));
  EXPECT_EQ(Printed({"changes", "--limit=0"}), "(0 changes after csn 1, up to 1)\n");
}

TEST_F(ChangesCommandTest, SaysWhatIsNotThere) {
  ExpectError({"changes", "--from=0"}, 4, "varve: the change feed begins at csn 1; ");
  ExpectError({"changes", "--to=7"}, 4, "csn 7 lies beyond the last one, 6");
  ExpectError({"changes", "--from-snapshot=3"}, 4, "snapshot 3 lies in the future");
  ExpectError({"changes", "--from=4", "--to=3"}, 2, "the feed goes forward only");
  ExpectError({"changes", "--from-snapshot=2", "--to-snapshot=1"}, 2, "the feed goes forward only");
  ExpectError({"changes", "--from=two"}, 2, "--from=two: expected a commit sequence number");
  ExpectError({"changes", "--from=1", "--from-snapshot=1"}, 2,
              "--from and --from-snapshot exclude each other");
  ExpectError({"changes", "tabel"}, 4, "did you mean 'table'?");
  const Outcome imported = RunVarve(SmallCatalog(), {"changes", "--from-snapshot=90"});
  EXPECT_EQ(imported.exit_code, 4);
  EXPECT_THAT(imported.err, HasSubstr("came with an import"));
}

TEST_F(ChangesCommandTest, ADiffByTheFeedIsTheSame) {
  for (const std::string to : {"--to=1", "--to=2"}) {
    const std::string scanned = Printed({"diff", "--from=0", to, "--path=scan"});
    EXPECT_EQ(Printed({"diff", "--from=0", to, "--path=feed"}), scanned);
    EXPECT_EQ(Printed({"diff", "--from=0", to}), scanned);
    EXPECT_EQ(Printed({"diff", "--from=0", to, "--path=auto", "--format=csv"}),
              Printed({"diff", "--from=0", to, "--path=scan", "--format=csv"}));
  }
  ExpectError({"diff", "--from=0", "--path=fed"}, 2,
              "--path=fed: expected auto, feed or scan; did you mean 'feed'?");
  const Outcome imported =
      RunVarve(SmallCatalog(), {"diff", "--from=28", "--to=29", "--path=feed"});
  EXPECT_EQ(imported.exit_code, 4);
  EXPECT_THAT(imported.err, HasSubstr("the change feed begins after snapshot 28"));
}

TEST_F(ChangesCommandTest, ReadOnlyIsWhatReadingCommandsAreAnyway) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"log"},
                                             {"ls", "tables"},
                                             {"scan", "table"},
                                             {"stats"},
                                             {"diff", "--from=1"},
                                             {"changes"},
                                             {"get", "snapshot", "1"}}) {
    std::vector<std::string> with_flag = words;
    with_flag.emplace_back("--read-only");
    EXPECT_EQ(Printed(with_flag), Printed(words)) << words[0];
  }
  EXPECT_EQ(RunVarve(SmallCatalog(), {"verify", "--read-only"}).exit_code, 0);
  ExpectError({"init", "--read-only"}, 2, "varve init has no flag --read-only");
  ExpectError({"log", "--noread-only"}, 2, "this command only reads");
}

}  // namespace
}  // namespace varve
