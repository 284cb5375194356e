// The scenario language: what it reads, what it refuses, and what it makes of a block.

#include "golden/scenario.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "base/strings.h"
#include "golden/block_writer.h"
#include "golden/model.h"
#include "golden/snapshot_text.h"

namespace varve::golden {
namespace {

constexpr std::string_view kMainUuid = "00000000-0000-4000-8000-000000000000";

Scenario Parse(std::string_view text) {
  absl::StatusOr<Scenario> scenario = ParseScenario("script.txt", text);
  EXPECT_TRUE(scenario.ok()) << scenario.status().message();
  return scenario.ok() ? *std::move(scenario) : Scenario();
}

std::string ParseError(std::string_view text) {
  return std::string(MessageOf(ParseScenario("script.txt", text).status()));
}

// The error of executing the blocks of a script on a model of an empty lake.
std::string WriteError(std::string_view text) {
  absl::StatusOr<Model> model = Model::Bootstrap("2026-01-01 00:00:00+00", "lake/", kMainUuid);
  EXPECT_TRUE(model.ok());
  for (const Block& block : Parse(text).blocks) {
    const absl::StatusOr<ChangeSet> changes = WriteBlock("script.txt", *model, block);
    const absl::Status status = changes.ok() ? model->Apply(*changes) : changes.status();
    if (!status.ok()) {
      return std::string(MessageOf(status));
    }
  }
  return "";
}

TEST(ScenarioLanguageTest, ReadsBlockHeaders) {
  const Scenario scenario = Parse(
      "snapshot\n"
      "snapshot 7 \"a \"\"message\"\"\" by ada extra '{}'  # a comment\n"
      "upkeep \"cleaning\"\n");

  ASSERT_EQ(scenario.blocks.size(), 3U);
  EXPECT_TRUE(scenario.blocks[0].makes_snapshot);
  EXPECT_EQ(scenario.blocks[0].id, std::nullopt);
  EXPECT_EQ(scenario.blocks[1].id, 7U);
  EXPECT_EQ(scenario.blocks[1].message, "a \"message\"");
  EXPECT_EQ(scenario.blocks[1].author, "ada");
  EXPECT_EQ(scenario.blocks[1].extra, "{}");
  EXPECT_FALSE(scenario.blocks[2].makes_snapshot);
}

TEST(ScenarioLanguageTest, ReadsNestedTypesOverSeveralLines) {
  const Scenario scenario = Parse(
      "snapshot\n"
      "  create table s.t (a decimal(12,2) not null default -0.5,\n"
      "    b struct(x list(int32), \"y z\" map(varchar, date)))\n");

  ASSERT_EQ(scenario.blocks.size(), 1U);
  ASSERT_EQ(scenario.blocks[0].statements.size(), 1U);
  const auto& create = std::get<CreateTable>(scenario.blocks[0].statements[0].operation);
  ASSERT_EQ(create.columns.size(), 2U);
  EXPECT_EQ(create.columns[0].type, "decimal(12,2)");
  EXPECT_TRUE(create.columns[0].not_null);
  EXPECT_EQ(create.columns[0].default_value, "-0.5");
  ASSERT_EQ(create.columns[1].fields.size(), 2U);
  EXPECT_EQ(create.columns[1].fields[0].fields.at(0).name, "element");
  EXPECT_EQ(create.columns[1].fields[1].name, "y z");
  EXPECT_EQ(create.columns[1].fields[1].fields.at(1).type, "date");
}

TEST(ScenarioLanguageTest, TellsNullFromTextsThatSayNull) {
  const Scenario scenario = Parse("snapshot\n  insert into s.t (null, 'null', NULL)\n");

  ASSERT_EQ(scenario.blocks.size(), 1U);
  const auto& insert = std::get<InsertRows>(scenario.blocks[0].statements.at(0).operation);
  EXPECT_EQ(insert.rows.at(0), (std::vector<Literal>{std::nullopt, "null", "NULL"}));
}

TEST(ScenarioLanguageTest, ErrorsNameTheLineAndWhatWasExpected) {
  EXPECT_EQ(ParseError("create schema s\n"),
            "script.txt:1: expected 'snapshot' or 'upkeep' before the first statement, found "
            "'create'");
  EXPECT_EQ(ParseError("snapshot\n\n  destroy schema s\n"),
            "script.txt:3: expected a statement (golden/README.md lists them), found 'destroy'");
  EXPECT_EQ(ParseError("snapshot\n  rename table s.t u\n"),
            "script.txt:2: expected 'to', found 'u'");
  EXPECT_EQ(ParseError("snapshot\n  drop schema s t\n"),
            "script.txt:2: expected the end of the line, found 't'");
  EXPECT_EQ(ParseError("snapshot\n  create schema 's\n"),
            "script.txt:2: expected a closing ' on the same line");
  EXPECT_EQ(ParseError("snapshot\n  create table s.t (a int32\n"),
            "script.txt:3: expected ')' before the end of the script");
}

TEST(BlockWriterTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(WriteError("snapshot\n  create table nowhere.t (a int32)\n"),
            "script.txt:2: there is no schema \"nowhere\"");
  EXPECT_EQ(WriteError("snapshot\n  create schema s\n  create schema s\n"),
            "script.txt:3: schema \"s\" exists");
  EXPECT_EQ(WriteError("snapshot 5\nsnapshot 5\n"),
            "script.txt:2: snapshot 5 is not above the last one, 5");
  EXPECT_EQ(WriteError("snapshot\n  create table main.t (a int32)\n  insert into main.t (1, 2)\n"),
            "script.txt:3: table \"main\".\"t\" has 1 columns, the row has 2");
  EXPECT_EQ(WriteError("snapshot\n  insert tag object_id=x key=k\n"),
            "script.txt:2: ducklake_tag.object_id: 'x' is not a bigint");
  EXPECT_EQ(WriteError("upkeep\n  create schema s\n"),
            "script.txt:1: upkeep makes no snapshot and cannot do created_schema:\"s\"");
}

TEST(BlockWriterTest, MakesOneChangeOfWhatABlockDoesToARow) {
  absl::StatusOr<Model> model = Model::Bootstrap("2026-01-01 00:00:00+00", "lake/", kMainUuid);
  ASSERT_TRUE(model.ok());
  const Scenario scenario = Parse(
      "snapshot\n"
      "  create schema a\n"
      "  create table a.t (id int32)\n"
      "  rename table a.t to u\n"
      "  rename table a.u to v\n");
  ASSERT_EQ(scenario.blocks.size(), 1U);

  const absl::StatusOr<ChangeSet> changes = WriteBlock("script.txt", *model, scenario.blocks[0]);

  ASSERT_TRUE(changes.ok()) << changes.status().message();
  size_t tables = 0;
  for (const RowChange& change : changes->changes()) {
    EXPECT_EQ(change.kind, RowChange::Kind::kInsert);
    tables += change.relation->id == kTable ? 1 : 0;
  }
  EXPECT_EQ(tables, 1U);
}

TEST(SnapshotTextTest, ReadsWhatItWrites) {
  const SnapshotText text = {
      {.name = "ducklake_tag", .columns = "key, value", .rows = {"'a', NULL", "'b', 'x: y'"}},
      {.name = "other", .columns = "n", .rows = {"1"}}};

  const absl::StatusOr<SnapshotText> read = ParseSnapshotText(FormatSnapshot(text));

  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, text);
}

TEST(SnapshotTextTest, TakesTheEndsAwayWhateverTheTextsBeforeThem) {
  const SnapshotText ended = {{.name = "r",
                               .columns = "name, begin_snapshot, end_snapshot, note",
                               .rows = {"'a, ''b'', c', 1, 7, 'x'", "'', 2, NULL, NULL"}},
                              {.name = "s", .columns = "a, end_snapshot", .rows = {"1, 23"}}};

  const SnapshotText open = WithoutEnds(ended);

  EXPECT_EQ(open[0].rows,
            (std::vector<std::string>{"'a, ''b'', c', 1, NULL, 'x'", "'', 2, NULL, NULL"}));
  EXPECT_EQ(open[1].rows, std::vector<std::string>{"1, NULL"});
}

TEST(SnapshotTextTest, OverlayIsTheInverseOfDifferentRelations) {
  const SnapshotText now = {{.name = "a", .columns = "x", .rows = {"1"}},
                            {.name = "b", .columns = "x", .rows = {"2"}},
                            {.name = "c", .columns = "x", .rows = {"3"}}};
  const SnapshotText then = {{.name = "a", .columns = "x", .rows = {"1"}},
                             {.name = "b", .columns = "x", .rows = {"4"}},
                             {.name = "d", .columns = "x", .rows = {"5"}}};

  const SnapshotText different = DifferentRelations(now, then);

  EXPECT_EQ(different.size(), 3U);  // b changed, c gone, d new
  EXPECT_EQ(FirstDifference(Overlay(now, different), then), "");
  EXPECT_NE(FirstDifference(now, then), "");
}

TEST(SnapshotTextTest, QuotesTextsSoThatNothingElseLooksLikeThem) {
  const auto text = [](std::string_view value) {
    return ValueText(TypeKind::kVarchar, Datum::Bytes(value));
  };
  EXPECT_EQ(ValueText(TypeKind::kVarchar, Datum::Null()), "NULL");
  EXPECT_EQ(text("NULL"), "'NULL'");
  EXPECT_EQ(text("it's"), "'it''s'");
  EXPECT_EQ(text("a\n\\\x01"), "'a\\n\\\\\\x01'");
  EXPECT_EQ(ValueText(TypeKind::kInt64, Datum::Int64(-1)), "-1");
}

}  // namespace
}  // namespace varve::golden
