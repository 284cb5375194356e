#include "catalog/transaction/changes_made.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "catalog/transaction/footprint.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::HasSubstr;

Action OnId(Operation operation, int64_t id) {
  return {.operation = operation, .id = id};
}
Action Named(Operation operation, std::string schema, std::string name) {
  return {.operation = operation, .schema_name = std::move(schema), .name = std::move(name)};
}

std::string ErrorOf(std::string_view text) {
  const auto actions = ParseChangesMade(text);
  return actions.ok() ? "" : std::string(MessageOf(actions.status()));
}

TEST(ChangesMade, WordsStandInDuckLakesOrderWhateverTheOrderOfTheActions) {
  const std::vector<Action> actions = {
      OnId(Operation::kCompactTable, 1),
      OnId(Operation::kRewriteDelete, 1),
      OnId(Operation::kMergeAdjacent, 1),
      OnId(Operation::kFlushInlined, 1),
      OnId(Operation::kInlinedDelete, 1),
      OnId(Operation::kInlinedInsert, 1),
      OnId(Operation::kAlterView, 1),
      OnId(Operation::kAlterTable, 1),
      OnId(Operation::kDelete, 1),
      OnId(Operation::kInsert, 1),
      OnId(Operation::kDropTableMacro, 1),
      OnId(Operation::kDropScalarMacro, 1),
      Named(Operation::kCreateTableMacro, "s", "m"),
      Named(Operation::kCreateScalarMacro, "s", "m"),
      Named(Operation::kCreateView, "s", "v"),
      Named(Operation::kCreateTable, "s", "t"),
      Named(Operation::kCreateSchema, "", "s"),
      OnId(Operation::kDropView, 1),
      OnId(Operation::kDropTable, 1),
      OnId(Operation::kDropSchema, 1),
  };
  EXPECT_EQ(WriteChangesMade(actions),
            "dropped_schema:1,dropped_table:1,dropped_view:1,created_schema:\"s\","
            "created_table:\"s\".\"t\",created_view:\"s\".\"v\",created_scalar_macro:\"s\".\"m\","
            "created_table_macro:\"s\".\"m\",dropped_scalar_macro:1,dropped_table_macro:1,"
            "inserted_into_table:1,deleted_from_table:1,altered_table:1,altered_view:1,"
            "inlined_insert:1,inlined_delete:1,inline_flush:1,merge_adjacent:1,rewrite_delete:1,"
            "compacted_table:1");
}

TEST(ChangesMade, IdsAscendAndNamesKeepTheirOrder) {
  const std::vector<Action> actions = {
      OnId(Operation::kInsert, 10), Named(Operation::kCreateTable, "s", "z"),
      OnId(Operation::kInsert, 9),  Named(Operation::kCreateTable, "s", "a"),
      OnId(Operation::kInsert, 10),
  };
  EXPECT_EQ(WriteChangesMade(actions), R"(created_table:"s"."z",created_table:"s"."a",)"
                                       "inserted_into_table:9,inserted_into_table:10");
}

TEST(ChangesMade, ARenameIsListedAsACreationInItsTurnAndOnce) {
  Action rename = Named(Operation::kRenameTable, "s", "b");
  rename.id = 4;
  Action rename_view = Named(Operation::kRenameView, "s", "w");
  rename_view.id = 5;
  const std::vector<Action> actions = {rename_view, Named(Operation::kCreateTable, "s", "a"),
                                       rename, Named(Operation::kCreateTable, "s", "b"),
                                       Named(Operation::kCreateTable, "s", "c")};
  EXPECT_EQ(WriteChangesMade(actions), R"(created_table:"s"."a",created_table:"s"."b",)"
                                       R"(created_table:"s"."c",created_view:"s"."w")");
}

TEST(ChangesMade, NamesMayHoldAnything) {
  for (const std::string_view name :
       {"plain", "", "with \"quotes\"", "\"", "\"\"", ",", "a,b", "a.b", "a:b", "\n", "x\ty", " ",
        "\",created_table:\"", "ünï 日本語", "\xff\xfe", "'", "\\"}) {
    const std::vector<Action> actions = {
        Named(Operation::kCreateSchema, "", std::string(name)),
        Named(Operation::kCreateTable, std::string(name), "t"),
        Named(Operation::kCreateView, "s", std::string(name)),
    };
    const auto parsed = ParseChangesMade(WriteChangesMade(actions));
    ASSERT_TRUE(parsed.ok()) << name << ": " << parsed.status();
    EXPECT_EQ(*parsed, actions) << name;
  }
  EXPECT_EQ(WriteChangesMade(
                std::vector{Named(Operation::kCreateTable, "Mixed Case", "Odd \"Table\" 'name'")}),
            R"(created_table:"Mixed Case"."Odd ""Table"" 'name'")");
}

// Texts that DuckLake wrote.
TEST(ChangesMade, TextsOfRealCatalogsComeOutAsTheyWentIn) {
  for (const std::string_view text :
       {R"(created_schema:"main")", R"(created_table:"Mixed Case"."Odd ""Table"" 'name'")",
        "inlined_insert:4,inlined_delete:4", "deleted_from_table:5,inlined_delete:5",
        R"(dropped_view:10,created_view:"main"."v2")",
        R"(created_scalar_macro:"main"."addp",dropped_scalar_macro:12)",
        R"(dropped_table:16,created_table:"main"."tmp1")", "dropped_schema:28,dropped_table:29",
        R"(created_table:"sales"."x",altered_table:24,inlined_insert:24)",
        "inserted_into_table:7,inlined_insert:7,inlined_delete:7", "inline_flush:6",
        "merge_adjacent:5", "rewrite_delete:5", ""}) {
    const auto footprint = Footprint::FromChangesMade(text);
    ASSERT_TRUE(footprint.ok()) << text << ": " << footprint.status();
    EXPECT_EQ(footprint->ChangesMade(), text);
  }
}

TEST(ChangesMade, ReadsWhatDuckLakeReads) {
  const auto parsed =
      ParseChangesMade(R"(FLUSHED_INLINED:7,Inline_Flush:8,CREATED_SCHEMA:"S",compacted_table:9,)");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, (std::vector<Action>{
                         {.operation = Operation::kFlushInlined, .id = 7, .files = {kInlinedRows}},
                         {.operation = Operation::kFlushInlined, .id = 8, .files = {kInlinedRows}},
                         {.operation = Operation::kCreateSchema, .name = "S"},
                         {.operation = Operation::kCompactTable, .id = 9, .all_files = true}}));
}

TEST(ChangesMade, ErrorsNameThePositionAndWhatIsWrong) {
  EXPECT_EQ(ErrorOf("inserted_into_table:4,renamed_table:5"),
            "changes_made, at byte 23: 'renamed_table' is no kind of change DuckLake 1.0 knows");
  EXPECT_EQ(ErrorOf("inserted_into_table"),
            "changes_made, at byte 20: expected a colon and a value");
  EXPECT_EQ(ErrorOf("inserted_into_table:"),
            "changes_made, at byte 21: expected an id from 0 to 4611686018427387903");
  EXPECT_EQ(ErrorOf("inserted_into_table:-4"),
            "changes_made, at byte 21: expected an id from 0 to 4611686018427387903");
  EXPECT_EQ(ErrorOf("inserted_into_table:99999999999999999999"),
            "changes_made, at byte 21: expected an id from 0 to 4611686018427387903");
  EXPECT_EQ(ErrorOf("altered_table:4611686018427387904"),
            "changes_made, at byte 15: expected an id from 0 to 4611686018427387903");
  EXPECT_EQ(ErrorOf("inserted_into_table:4x"),
            "changes_made, at byte 22: expected a comma before the next change");
  EXPECT_EQ(ErrorOf("inserted_into_table:4;altered_table:4"),
            "changes_made, at byte 22: expected a comma before the next change");
  EXPECT_EQ(ErrorOf(",altered_table:4"),
            "changes_made, at byte 1: '...' is no kind of change DuckLake 1.0 knows");
  EXPECT_EQ(ErrorOf(R"(created_table:"s")"),
            "changes_made, at byte 18: expected a dot between the names of the schema and the "
            "object");
  EXPECT_EQ(ErrorOf("created_table:s.t"),
            "changes_made, at byte 15: expected a name in double quotes");
  EXPECT_EQ(ErrorOf(R"(created_table:"s"."t""x,altered_table:4)"),
            "changes_made, at byte 20: expected a name, but it has no closing quote");
  EXPECT_EQ(ErrorOf("\n\xff:4"),
            "changes_made, at byte 1: '...' is no kind of change DuckLake 1.0 knows");
  EXPECT_THAT(ErrorOf(std::string(100'000, 'a')), HasSubstr("aaa...' is no kind"));
  EXPECT_LT(ErrorOf(std::string(100'000, 'a')).size(), 200U);
  EXPECT_TRUE(absl::IsInvalidArgument(ParseChangesMade("x:1").status()));
}

class RandomChanges : public ::testing::Test {
 protected:
  uint64_t Below(uint64_t n) { return random_() % n; }

  std::string RandomName() {
    std::string name;
    for (uint64_t n = Below(6); n > 0; --n) {
      static constexpr std::string_view kBytes = "\"\",.:ab \n0\xff";
      name.push_back(kBytes[Below(kBytes.size())]);
    }
    return name;
  }

  Footprint RandomFootprint() {
    Footprint footprint;
    for (uint64_t n = Below(12); n > 0; --n) {
      const auto operation = static_cast<Operation>(Below(kNumOperations));
      const auto id = static_cast<int64_t>(Below(30));
      if (IsCreation(operation) || IsRename(operation)) {
        footprint.Add({.operation = operation,
                       .id = IsRename(operation) ? id : 0,
                       .schema_name = RandomName(),
                       .name = RandomName()});
      } else {
        footprint.Add({.operation = operation, .id = id});
      }
    }
    return footprint;
  }

  std::mt19937_64 random_{TestSeed()};
};

// What the text says of an action, as the parser puts it.
std::vector<std::string> Listed(const Footprint& footprint) {
  std::vector<std::string> listed;
  for (const Action& action : footprint.actions()) {
    const bool named = IsCreation(action.operation) || IsRename(action.operation);
    const std::string schema =
        action.operation == Operation::kCreateSchema ? "" : action.schema_name;
    listed.push_back(
        StrCat(TokenOf(action.operation), " ",
               named ? StrCat(schema.size(), " ", schema, action.name) : StrCat(action.id)));
  }
  std::sort(listed.begin(), listed.end());
  listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
  return listed;
}

TEST_F(RandomChanges, EveryFootprintComesBackFromItsText) {
  for (int round = 0; round < 20'000; ++round) {
    const Footprint footprint = RandomFootprint();
    const std::string text = footprint.ChangesMade();
    const auto parsed = Footprint::FromChangesMade(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status() << "\n" << text;
    ASSERT_EQ(Listed(*parsed), Listed(footprint)) << text;
    ASSERT_EQ(parsed->ChangesSchema(), footprint.ChangesSchema()) << text;
    ASSERT_EQ(parsed->ChangesMade(), text);
  }
}

TEST_F(RandomChanges, AnyBytesAreReadOrRefusedWithAPosition) {
  int refused = 0;
  int read = 0;
  for (int round = 0; round < 50'000; ++round) {
    std::string text = RandomFootprint().ChangesMade();
    // Some bytes changed, put in, or cut out.
    for (uint64_t n = Below(4); n > 0; --n) {
      const size_t at = Below(text.size() + 1);
      switch (Below(3)) {
        case 0: text.insert(at, 1, static_cast<char>(Below(256))); break;
        case 1: text.erase(at, Below(5)); break;
        default: text.insert(at, text.substr(Below(text.size() + 1), Below(10)));
      }
    }
    const auto parsed = ParseChangesMade(text);
    if (!parsed.ok()) {
      ++refused;
      const std::string message(MessageOf(parsed.status()));
      constexpr std::string_view kStart = "changes_made, at byte ";
      ASSERT_TRUE(message.starts_with(kStart)) << message;
      const auto position =
          ParseNumber<size_t>(message.substr(kStart.size(), message.find(':') - kStart.size()));
      ASSERT_TRUE(position.has_value()) << message;
      ASSERT_GE(*position, 1U);
      ASSERT_LE(*position, text.size() + 1) << message;
      ASSERT_EQ(message.find('\n'), std::string::npos) << message;
    } else {
      ++read;
      // What was read can be written, and reads as the same.
      const std::string written = WriteChangesMade(*parsed);
      const auto again = ParseChangesMade(written);
      ASSERT_TRUE(again.ok()) << again.status() << "\n" << written;
      ASSERT_EQ(WriteChangesMade(*again), written);
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 1000);
}

TEST_F(RandomChanges, NoiseIsRefused) {
  for (int round = 0; round < 50'000; ++round) {
    std::string noise;
    for (uint64_t n = 1 + Below(40); n > 0; --n) {
      noise.push_back(static_cast<char>(Below(256)));
    }
    EXPECT_TRUE(absl::IsInvalidArgument(ParseChangesMade(noise).status())) << noise;
  }
}

}  // namespace
}  // namespace varve
