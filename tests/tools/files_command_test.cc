// varve files: which data files of a table can have rows that a predicate lets through.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/catalog.h"
#include "catalog/tiers/compaction.h"
#include "catalog/tiers/flush.h"
#include "catalog/transaction/transaction.h"
#include "tests/catalog/temp_dir.h"
#include "tests/tools/program.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FilesCommand : public ::testing::Test {
 protected:
  // A table `readings` (id int64, note varchar) in main: at snapshot 2 files with ids 1…10 and
  // 11…20, at snapshot 3 one with 21…30. The notes are "a", "b", "c".
  void SetUp() override {
    ASSERT_TRUE(Catalog::Init(path(), {.data_path = "/lake/"}).ok());
    auto catalog = Catalog::Open(path());
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    catalog_ = *std::move(catalog);
    Commit([&](Transaction& transaction) -> absl::Status {
      const std::vector<ColumnDefinition> columns = {{.name = "id", .type = "int64"},
                                                     {.name = "note", .type = "varchar"}};
      VARVE_RETURN_IF_ERROR(transaction.CreateTable(0, "readings", columns).status());
      return transaction.CreateTable(0, "others", columns).status();
    });
    const absl::StatusOr<int64_t> table = catalog_->Begin()->FindTable(0, "readings");
    ASSERT_TRUE(table.ok()) << table.status();
    for (const int files : {2, 1}) {
      Commit([&](Transaction& transaction) {
        std::vector<DataFile> added;
        for (int i = 0; i < files; ++i) {
          added.push_back(NextFile());
        }
        return transaction.RegisterDataFiles(*table, added).status();
      });
    }
  }

  std::string path() const { return dir_ / "catalog"; }

  void Commit(const std::function<absl::Status(Transaction&)>& work) {
    const auto result = RunInTransaction(catalog_.get(), work);
    ASSERT_TRUE(result.ok()) << result.status();
  }

  DataFile NextFile() {
    const int number = next_++;
    return {.path = StrCat("f", number, ".parquet"),
            .record_count = 10,
            .file_size_bytes = 1'000 + number,
            .columns = {{.column_id = 1,
                         .value_count = 10,
                         .null_count = 0,
                         .min_value = StrCat(number * 10 + 1),
                         .max_value = StrCat(number * 10 + 10)},
                        {.column_id = 2,
                         .value_count = 10,
                         .null_count = number == 1 ? 4 : 0,
                         .min_value = std::string(1, static_cast<char>('a' + number)),
                         .max_value = std::string(1, static_cast<char>('a' + number))}}};
  }

  // The paths of the files printed.
  std::vector<std::string> Paths(std::vector<std::string> words) {
    words.insert(words.begin(), {"files", "readings"});
    words.emplace_back("--format=json");
    const Outcome outcome = RunVarve(path(), words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<std::string> paths;
    for (const std::string& line : Lines(outcome.out)) {
      paths.push_back(nlohmann::json::parse(line)["path"]);
    }
    return paths;
  }

  TempDir dir_;
  std::unique_ptr<Catalog> catalog_;
  int next_ = 0;
};

constexpr char kFirst[] = "/lake/main/readings/f0.parquet";
constexpr char kSecond[] = "/lake/main/readings/f1.parquet";
constexpr char kThird[] = "/lake/main/readings/f2.parquet";

TEST_F(FilesCommand, PrintsTheFilesThatCanMatch) {
  const Outcome csv =
      RunVarve(path(), {"files", "readings", "--where=id between 11 and 15", "--format=csv"});
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_EQ(csv.out, StrCat("data_file_id,path,record_count,file_size_bytes,begin_snapshot\n1,",
                            kSecond, ",10,1001,2\n"));
  const Outcome table = RunVarve(path(), {"files", "main.readings", "--where", "id > 29"});
  EXPECT_THAT(table.out, HasSubstr("f2.parquet"));
  EXPECT_THAT(table.out, HasSubstr("(1 row)"));
}

TEST_F(FilesCommand, GivesTheSameFromMemoryRowStoreAndColumns) {
  for (int tier = 0; tier < 3; ++tier) {
    EXPECT_THAT(Paths({}), ElementsAre(kFirst, kSecond, kThird));
    EXPECT_THAT(Paths({"--where=id <= 11"}), ElementsAre(kFirst, kSecond));
    EXPECT_THAT(Paths({"--where=id in (5, 25)"}), ElementsAre(kFirst, kThird));
    EXPECT_THAT(Paths({"--where=note is null"}), ElementsAre(kSecond));
    EXPECT_THAT(Paths({"--where=note >= 'b' and id < 21"}), ElementsAre(kSecond));
    EXPECT_THAT(Paths({"--where=note = 'a' and id > 10"}), IsEmpty());
    EXPECT_THAT(Paths({"--where=note <> 'a' and id is not null"}),
                ElementsAre(kFirst, kSecond, kThird));
    EXPECT_THAT(Paths({"--where=id > 10", "--at=2"}), ElementsAre(kSecond));
    if (tier == 0) {
      ASSERT_TRUE(catalog_->WaitForMemory().ok());
      ASSERT_TRUE(FlushMemory(*catalog_).ok());
    } else {
      ASSERT_TRUE(CompactColumns(*catalog_, {.full = true}).ok());
    }
  }
}

TEST_F(FilesCommand, ErrorsSayWhatIsWrong) {
  const auto error = [&](std::vector<std::string> words, int code) {
    const Outcome outcome = RunVarve(path(), std::move(words));
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  EXPECT_THAT(error({"files", "reading"}, 4), HasSubstr("did you mean"));
  EXPECT_THAT(error({"files", "readings", "--where=idd = 1"}, 2), HasSubstr("idd"));
  EXPECT_THAT(error({"files", "readings", "--where=id = 'x'"}, 2), HasSubstr("'x'"));
  EXPECT_THAT(error({"files", "main"}, 2), HasSubstr("main is a schema"));
  EXPECT_THAT(error({"files"}, 2), HasSubstr("TABLE"));
}

}  // namespace
}  // namespace varve
