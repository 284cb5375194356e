// scan --path and what stats say of MemRowSets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
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
using ::testing::Not;
using ::testing::SizeIs;

constexpr int64_t kTables = 10'000;  // enough for a MemRowSet of more than 1 MiB

// A catalog made of commits alone:
//
//   snapshot 1  tables 1 … kTables
//   snapshot 2  tables 1 and 2 end; the schema main, from snapshot 0, ends
//               table 3 is erased
//
// So ducklake_schema had a row before the first change.
class MemoryCommands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    path_ = StrCat(::testing::TempDir(), "varve-memory-", getpid());
    std::filesystem::remove_all(path_);
    ASSERT_TRUE(Catalog::Init(path_, {.data_path = "/lake/"}).ok());
    auto catalog = Catalog::Open(path_);
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    const auto apply = [&](const ChangeSet& changes) {
      const absl::Status status = (*catalog)->Apply(changes);
      ASSERT_TRUE(status.ok()) << status;
    };
    const RelationRef tables = BuiltinRelationById(kTable);
    ChangeSet first;
    AddSnapshot(1, &first);
    for (int64_t table = 1; table <= kTables; ++table) {
      AddTable(table, StrCat("table_", table), &first);
    }
    apply(first);
    ChangeSet second;
    AddSnapshot(2, &second);
    second.End(tables, std::vector{Number(1)}, 2);
    second.End(tables, std::vector{Number(2)}, 2);
    second.End(BuiltinRelationById(kSchema), std::vector{Number(0)}, 2);
    apply(second);
    ChangeSet third;
    third.Erase(tables, std::vector{Number(3)}, 1);
    apply(third);
  }

  static void TearDownTestSuite() { std::filesystem::remove_all(path_); }

  static std::string Printed(const std::vector<std::string>& words) {
    const Outcome outcome = RunVarve(path_, words);
    EXPECT_EQ(outcome.exit_code, 0) << StrJoin(words, " ") << "\n" << outcome.err;
    return outcome.out;
  }
  static void ExpectError(const std::string& catalog, const std::vector<std::string>& words,
                          int exit_code, const std::string& message) {
    const Outcome outcome = RunVarve(catalog, words);
    EXPECT_EQ(outcome.exit_code, exit_code) << StrJoin(words, " ");
    EXPECT_EQ(outcome.err, StrCat("varve: ", message, "\n"));
    EXPECT_THAT(outcome.out, IsEmpty());
  }

  static std::string path_;
};
std::string MemoryCommands::path_;

TEST_F(MemoryCommands, EveryPathOfAScanGivesTheSameRows) {
  const std::vector<std::vector<std::string>> scans = {
      {"scan", "table", "--format=csv"},
      {"scan", "table", "--history", "--format=csv", "--where=table_id < 10"},
      {"scan", "table", "--at=1", "--count"},
      {"scan", "table", "--columns=table_name", "--limit=3", "--format=json"},
      {"scan", "data_file", "--format=csv"}};
  for (std::vector<std::string> words : scans) {
    words.emplace_back("--path=row");
    const std::string by_row = Printed(words);
    EXPECT_THAT(by_row, Not(IsEmpty()));
    for (const char* path : {"--path=memory", "--path=auto"}) {
      words.back() = path;
      EXPECT_EQ(Printed(words), by_row) << StrJoin(words, " ");
    }
  }
  EXPECT_THAT(Lines(Printed({"scan", "table", "--format=csv", "--path=memory"})),
              SizeIs(kTables - 3 + 1));
}

TEST_F(MemoryCommands, AScanSaysWhyMemoryCannotAnswer) {
  ExpectError(path_, {"scan", "schema", "--path=memory"}, 11,
              "ducklake_schema cannot be scanned by --path=memory: it has rows older than what is "
              "in memory");
  ExpectError(SmallCatalog(), {"scan", "table", "--path=memory"}, 11,
              "ducklake_table cannot be scanned by --path=memory: it has rows older than what is "
              "in memory");
  ExpectError(path_, {"scan", "table", "--path=memroy"}, 2,
              "--path=memroy: expected auto, row, memory or columnar; did you mean 'memory'?");
}

TEST_F(MemoryCommands, StatsCountWhatEachMemRowSetHolds) {
  // When the MemRowSets are asked for,
  const std::vector<std::string> lines = Lines(Printed({"stats", "memory", "--format=json"}));
  // Then there is one for each relation that was changed, by relation id, and the sum.
  std::vector<std::string> relations;
  nlohmann::json sum;
  for (const char* number : {"live_rows", "deleted_rows", "pre_images", "mutations", "bytes"}) {
    sum[number] = 0;
  }
  ASSERT_THAT(lines, SizeIs(4));
  for (size_t i = 0; i < 3; ++i) {
    const nlohmann::json memory = nlohmann::json::parse(lines[i]);
    relations.push_back(memory["relation"]);
    EXPECT_TRUE(memory["budget_bytes"].is_null());
    for (auto& [name, value] : sum.items()) {
      value = value.get<int64_t>() + memory[name].get<int64_t>();
    }
    if (memory["relation"] == "ducklake_table") {
      EXPECT_EQ(memory["live_rows"], kTables - 1);
      EXPECT_EQ(memory["deleted_rows"], 1);
      EXPECT_EQ(memory["pre_images"], 0);
      EXPECT_EQ(memory["mutations"], 3);  // two ends and an erasure
    } else if (memory["relation"] == "ducklake_schema") {
      EXPECT_EQ(memory["live_rows"], 1);
      EXPECT_EQ(memory["pre_images"], 1);
      EXPECT_EQ(memory["mutations"], 1);
    }
  }
  EXPECT_THAT(relations, ElementsAre("ducklake_snapshot", "ducklake_schema", "ducklake_table"));
  sum["relation"] = nullptr;
  sum["budget_bytes"] = 256 << 20;
  EXPECT_EQ(nlohmann::json::parse(lines[3]), sum);
}

TEST_F(MemoryCommands, StatsSayHowMuchOfTheBudgetIsTaken) {
  const Outcome within = RunVarve(path_, {"stats"});
  EXPECT_EQ(within.exit_code, 0);
  EXPECT_THAT(within.err, IsEmpty());
  EXPECT_THAT(within.out, HasSubstr("\nMemRowSets take "));
  EXPECT_THAT(within.out, HasSubstr(" of 256.0 MiB\nrelation           live_rows"));
  EXPECT_THAT(within.out, HasSubstr("\n(sum) "));

  const Outcome over = RunVarve(path_, {"stats", "memory", "--memrowset-budget-mb=1"});
  EXPECT_EQ(over.exit_code, 0);
  EXPECT_THAT(Lines(over.err), SizeIs(1));
  EXPECT_THAT(over.err, EndsWith(" over their budget of 1.0 MiB\n"));
  EXPECT_THAT(over.out, HasSubstr(" of 1.0 MiB\n"));

  ExpectError(path_, {"stats", "--memrowset-budget-mb=0"}, 2,
              "--memrowset-budget-mb=0: expected 1 to 1073741824");
  ExpectError(path_, {"stats", "--memrowset-budget-mb=lots"}, 2,
              "--memrowset-budget-mb=lots: expected a number");
}

TEST_F(MemoryCommands, AnImportedCatalogHasNothingInMemory) {
  const Outcome outcome = RunVarve(SmallCatalog(), {"stats", "memory", "--format=csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(Lines(outcome.out),
              ElementsAre("relation,live_rows,deleted_rows,pre_images,mutations,bytes,budget_bytes",
                          "\\N,0,0,0,0,0,268435456"));
}

}  // namespace
}  // namespace varve
