// varve restore: what is restored, under which names it is found, what it says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "catalog/transaction/transaction.h"
#include "tests/catalog/temp_dir.h"
#include "tests/tools/program.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RestoreCommandTest : public ::testing::Test {
 protected:
  // Snapshot 1: schema s; 2: table s.orders; 3: it is called purchases; 4: it is dropped, and there
  // is a table main.other.
  void SetUp() override {
    ASSERT_TRUE(Catalog::Init(path(), {.data_path = "/lake/"}).ok());
    absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(path());
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    const std::vector<ColumnDefinition> columns = {{.name = "id", .type = "int64"}};
    const auto commit = [&](const std::function<absl::Status(Transaction&)>& work) {
      const absl::Status status = RunInTransaction(catalog->get(), work).status();
      ASSERT_TRUE(status.ok()) << status;
    };
    commit([](Transaction& tx) { return tx.CreateSchema("s").status(); });
    commit([&](Transaction& tx) { return tx.CreateTable(1, "orders", columns).status(); });
    commit([](Transaction& tx) { return tx.RenameTable(2, "purchases"); });
    commit([&](Transaction& tx) {
      const absl::Status dropped = tx.DropTable(2);
      return dropped.ok() ? tx.CreateTable(0, "other", columns).status() : dropped;
    });
  }

  std::string path() const { return dir_ / "catalog"; }
  Outcome Restore(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "restore");
    return RunVarve(path(), std::move(arguments));
  }
  void ExpectRefused(const Outcome& outcome, int exit_code, const std::string& message) {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_EQ(outcome.err, StrCat("varve: ", message, "\n"));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  std::vector<std::string> Tables() {
    return Lines(RunVarve(path(), {"scan", "table", "--columns=table_name", "--format=csv"}).out);
  }

  TempDir dir_;
};

TEST_F(RestoreCommandTest, ADroppedTableIsFoundByTheNameItHad) {
  const Outcome outcome = Restore({"s.orders", "--to=2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "restored table \"s\".\"orders\" to snapshot 2, as snapshot 5\n");
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(Tables(), ElementsAre("table_name", "orders", "other"));
  EXPECT_THAT(RunVarve(path(), {"log", "--limit=1", "--format=csv"}).out,
              HasSubstr("\"restored table \"\"s\"\".\"\"orders\"\" to snapshot 2\""));
  // By its later name, it gets that one.
  EXPECT_EQ(Restore({"purchases", "--to", "3"}).exit_code, 0);
  EXPECT_THAT(Tables(), ElementsAre("table_name", "purchases", "other"));
  EXPECT_EQ(Restore({"purchases", "--to=6"}).err,
            "table \"s\".\"purchases\" is as it was at snapshot 6; nothing to restore\n");
  EXPECT_EQ(RunVarve(path(), {"verify"}).exit_code, 0);
}

TEST_F(RestoreCommandTest, ASchemaIsRestoredWithWhatWasInIt) {
  EXPECT_EQ(Restore({"--schema=S", "--to=3"}).err,
            "restored schema \"s\" to snapshot 3, as snapshot 5\n");
  EXPECT_THAT(Tables(), ElementsAre("table_name", "purchases", "other"));
}

TEST_F(RestoreCommandTest, EverythingIsRestored) {
  EXPECT_EQ(Restore({"--all", "--to=3"}).err, "restored everything to snapshot 3, as snapshot 5\n");
  EXPECT_THAT(Tables(), ElementsAre("table_name", "purchases"));
  EXPECT_EQ(Restore({"--all", "--to=4"}).exit_code, 0);
  EXPECT_THAT(Tables(), ElementsAre("table_name", "other"));
}

TEST_F(RestoreCommandTest, WhatCannotBeRestoredIsSaid) {
  EXPECT_EQ(Restore({"s.orders", "--to=9"}).exit_code, 4);
  ExpectRefused(Restore({"s.ordres", "--to=2"}), 4,
                "there is no table 's.ordres' at this snapshot; did you mean 's.orders'?");
  ExpectRefused(Restore({"s", "--to=2"}), 2, "'s' is a schema; to restore it, write --schema=s");
  ExpectRefused(Restore({"--to=2"}), 2, "restore needs one of a table, --schema=NAME and --all");
  ExpectRefused(Restore({"s.orders", "--all", "--to=2"}), 2,
                "restore needs one of a table, --schema=NAME and --all");
  ExpectRefused(Restore({"s.orders"}), 2, "restore needs --to=S: the snapshot to go back to");
  ExpectRefused(Restore({"s.orders", "--to=then"}), 2,
                "--to=then: expected a snapshot id; 'varve log' lists them");
  // The name has been given away.
  ASSERT_EQ(Restore({"s.orders", "--to=2"}).exit_code, 0);
  {
    absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(path());
    ASSERT_TRUE(catalog.ok());
    ASSERT_TRUE(RunInTransaction(catalog->get(), [](Transaction& tx) {
                  const absl::Status dropped = tx.DropTable(2);
                  return dropped.ok() ? tx.CreateView(1, "orders", {.sql = "SELECT 1"}).status()
                                      : dropped;
                }).ok());
    // Whoever else has the catalog open for writing comes first.
    EXPECT_EQ(Restore({"s.orders", "--to=2"}).exit_code, 6);
  }
  ExpectRefused(Restore({"s.orders", "--to=2"}), 9,
                "table \"s\".\"orders\" cannot be restored: view \"s\".\"orders\" exists already; "
                "rename or drop that first");
}

TEST_F(RestoreCommandTest, ATableOfADroppedSchemaIsRefusedAsThingsStand) {
  {
    absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(path());
    ASSERT_TRUE(catalog.ok());
    ASSERT_TRUE(
        RunInTransaction(catalog->get(), [](Transaction& tx) { return tx.DropSchema(1); }).ok());
  }
  ExpectRefused(Restore({"s.orders", "--to=2"}), 11,
                "table \"s\".\"orders\" cannot be restored: schema \"s\" (id 1) has been dropped; "
                "restore the schema");
}

}  // namespace
}  // namespace varve
