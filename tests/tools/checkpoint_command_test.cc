// varve checkpoint: what it prints, what it refuses, and that it works beside a running writer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "tests/catalog/temp_dir.h"
#include "tests/tools/program.h"

namespace varve {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;

class CheckpointCommand : public ::testing::Test {
 protected:
  std::string directory() const { return dir_ / "checkpoint"; }

  static Outcome Create(const std::string& directory, const RunOptions& options = {}) {
    return RunVarve(SmallCatalog(), {"checkpoint", "create", directory}, options);
  }
  static Outcome Verify(const std::string& directory) {
    return RunVarve("", {"checkpoint", "verify", directory});
  }

  static void ExpectError(const Outcome& outcome, int exit_code, const std::string& part) {
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(Lines(outcome.err), SizeIs(1));
    EXPECT_THAT(outcome.err, StartsWith("varve: "));
    EXPECT_THAT(outcome.err, HasSubstr(part));
  }

  // Puts a new file in the place of an old one: other names of the old one keep its bytes.
  static void Damage(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    fs::remove(path);
    std::ofstream(path, std::ios::binary) << bytes;
  }

  const TempDir dir_;
};

TEST_F(CheckpointCommand, CreatesVerifiesAndRestores) {
  const Outcome created = Create(directory());
  EXPECT_EQ(created.exit_code, 0) << created.err;
  EXPECT_THAT(created.out, IsEmpty());
  EXPECT_THAT(created.err,
              MatchesRegex(StrCat("made a checkpoint of ", SmallCatalog(), " at ", directory(),
                                  ": commit 1, snapshot 93; [0-9.]+ KiB linked, [0-9.]+ K?i?B "
                                  "copied\n")));
  const Outcome verified = Verify(directory());
  EXPECT_EQ(verified.exit_code, 0) << verified.err;
  EXPECT_EQ(verified.out, RunVarve(SmallCatalog(), {"verify"}).out);
  EXPECT_THAT(verified.err, IsEmpty());

  const std::string restored = dir_ / "restored";
  const Outcome outcome =
      RunVarve("", {"checkpoint", "restore", directory(), StrCat("--to=", restored)});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, StartsWith(StrCat("restored ", directory(), " to ", restored,
                                             ": commit 1, snapshot 93; ")));
  for (const char* what : {"log", "stats"}) {
    EXPECT_EQ(RunVarve(restored, {what, "--format=csv"}).out,
              RunVarve(SmallCatalog(), {what, "--format=csv"}).out);
    EXPECT_EQ(RunVarve(directory(), {what, "--format=csv"}).out,
              RunVarve(SmallCatalog(), {what, "--format=csv"}).out)
        << "read in place";
  }
  EXPECT_EQ(Verify(directory()).exit_code, 0) << "reading it in place changed nothing";
}

TEST_F(CheckpointCommand, CopiesOnDemand) {
  const Outcome created = RunVarve(SmallCatalog(), {"checkpoint", "create", directory(), "--copy"});
  EXPECT_EQ(created.exit_code, 0) << created.err;
  EXPECT_THAT(created.err, HasSubstr("; 0 B linked, "));
  EXPECT_EQ(Verify(directory()).exit_code, 0);
}

TEST_F(CheckpointCommand, ShowsProgressOnATerminal) {
  const Outcome created = Create(directory(), {.stderr_is_terminal = true});
  EXPECT_EQ(created.exit_code, 0) << created.err;
  EXPECT_THAT(created.err, StartsWith("\r\x1b[Kcopying  ["));
  EXPECT_THAT(created.err, HasSubstr(" %\r\x1b[Kmade a checkpoint"));
}

TEST_F(CheckpointCommand, IsMadeBesideARunningWriter) {
  const std::string path = dir_ / "catalog";
  ASSERT_EQ(RunVarve(path, {"import", StrCat("--from=csv:", SmallCatalogSource())}).exit_code, 0);
  // This process holds the lock.
  const auto writer = Catalog::Open(path);
  ASSERT_TRUE(writer.ok()) << writer.status();
  ASSERT_EQ(RunVarve(path, {"checkpoint", "create", directory()}).exit_code, 0);
  EXPECT_EQ(Verify(directory()).exit_code, 0);
  EXPECT_EQ(RunVarve(directory(), {"log", "--format=csv"}).out,
            RunVarve(path, {"log", "--format=csv"}).out);
}

TEST_F(CheckpointCommand, DamageIsNamedAndNotRestored) {
  ASSERT_EQ(Create(directory()).exit_code, 0);
  Damage(directory() + "/VARVE");
  fs::remove(directory() + "/rows/CURRENT");
  std::ofstream(directory() + "/rows/notes.txt") << "mine";
  ExpectError(Verify(directory()), 7, "VARVE is damaged: its checksum is ");
  ExpectError(Verify(directory()), 7,
              "; rows/CURRENT is missing; rows/notes.txt does not belong to it; take another "
              "checkpoint\n");
  ExpectError(RunVarve("", {"checkpoint", "restore", directory(), "--to", dir_ / "restored"}), 7,
              "VARVE is damaged");
  EXPECT_FALSE(fs::exists(dir_ / "restored"));
}

TEST_F(CheckpointCommand, RefusesPlacesThatAreTakenOrNotThere) {
  ExpectError(Create(SmallCatalog() + "/rows/inside"), 5, "inside the catalog");
  ExpectError(Create(dir_.path() + "/a/b"), 4, "cannot make");
  fs::create_directories(directory() + "/mine");
  ExpectError(Create(directory()), 9, "exists");
  ExpectError(Verify(directory()), 4, "is no checkpoint");
  ExpectError(Verify(dir_ / "nothing"), 4, "does not exist");
  ExpectError(RunVarve(dir_ / "nothing", {"checkpoint", "create", dir_ / "new"}), 4,
              "does not exist");
  ExpectError(RunVarve("", {"checkpoint", "restore", SmallCatalog(), "--to", dir_ / "new"}), 4,
              "is no checkpoint");
  EXPECT_FALSE(fs::exists(dir_ / "new"));
  EXPECT_FALSE(fs::exists(dir_ / "new.making"));
}

TEST_F(CheckpointCommand, MistakesInItsUseAreUsageErrors) {
  ExpectError(RunVarve("", {"checkpoint"}), 2, "usage: varve checkpoint create|verify|restore DIR");
  ExpectError(RunVarve("", {"checkpoint", "create"}), 2, "an argument is missing");
  ExpectError(RunVarve("", {"checkpoint", "creat", "x"}), 2, "did you mean 'create'?");
  ExpectError(RunVarve("", {"checkpoint", "create", "x"}), 2, "no catalog was named");
  ExpectError(RunVarve("", {"checkpoint", "restore", "x"}), 2, "needs --to=PATH");
  ExpectError(RunVarve("c", {"checkpoint", "verify", "x"}), 2, "takes no --catalog");
  ExpectError(RunVarve("c", {"checkpoint", "restore", "x", "--to=y"}), 2, "takes no --catalog");
  ExpectError(RunVarve("c", {"checkpoint", "create", "x", "--to=y"}), 2, "takes no --to");
  ExpectError(RunVarve("", {"checkpoint", "verify", "x", "--copy"}), 2, "takes no --copy");
  ExpectError(RunVarve("", {"checkpoint", "verify", "x", "--format=xml"}), 2, "xml");
}

TEST_F(CheckpointCommand, KilledByTheEnvironmentsFailpointLeavesNothingAtItsPlace) {
  const auto killed_at = [&](const std::string& failpoint) {
    return Create(directory(), {.environment = {{"VARVE_FAILPOINT", failpoint}}}).exit_code;
  };
  EXPECT_EQ(killed_at("checkpoint/before_rename"), 128 + SIGKILL);
  EXPECT_FALSE(fs::exists(directory()));
  EXPECT_TRUE(fs::exists(directory() + ".making"));
  EXPECT_EQ(killed_at("checkpoint/before_rename:2"), 0) << "passed once";
  EXPECT_EQ(Verify(directory()).exit_code, 0);
  EXPECT_FALSE(fs::exists(directory() + ".making"));
  EXPECT_EQ(killed_at("checkpoint/sometime"), 1) << "a name that is misspelt is no run that lived";
}

TEST(ImportCommand, KilledAtEveryFailpointLeavesNothingAtItsPlace) {
  const TempDir dir;
  for (const std::string failpoint :
       {"import/before_rows", "import/before_finish", "import/before_rename"}) {
    const std::string catalog = dir / "catalog";
    const std::vector<std::string> words = {"import", StrCat("--from=csv:", SmallCatalogSource())};
    const Outcome killed =
        RunVarve(catalog, words, {.environment = {{"VARVE_FAILPOINT", failpoint}}});
    EXPECT_EQ(killed.exit_code, 128 + SIGKILL) << failpoint;
    EXPECT_FALSE(fs::exists(catalog));
    EXPECT_TRUE(fs::exists(catalog + ".loading"));
    EXPECT_EQ(RunVarve(catalog, words).exit_code, 0) << failpoint;
    EXPECT_FALSE(fs::exists(catalog + ".loading"));
    EXPECT_EQ(RunVarve(catalog, {"verify"}).exit_code, 0);
    fs::remove_all(catalog);
  }
}

}  // namespace
}  // namespace varve
