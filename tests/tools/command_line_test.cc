// How the program is called: commands, flags, help, and what it says to a wrong call.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "tests/tools/program.h"

namespace varve {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Expects an error: one line that begins with "varve: ", nothing on standard output.
void ExpectError(const Outcome& outcome, int exit_code, const std::string& message) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_EQ(outcome.err, StrCat("varve: ", message, "\n"));
  EXPECT_THAT(outcome.out, IsEmpty());
}

TEST(CommandLine, WithoutACommandIsAUsageError) {
  ExpectError(RunVarve("", {}), 2, "no command was given; 'varve help' lists them");
}

TEST(CommandLine, AnUnknownCommandIsAnsweredWithTheNearest) {
  ExpectError(RunVarve("", {"sacn", "table"}), 2, "unknown command 'sacn'; did you mean 'scan'?");
  ExpectError(RunVarve("", {"frobnicate"}), 2,
              "unknown command 'frobnicate'; 'varve help' lists the commands");
  ExpectError(RunVarve("", {"help", "difff"}), 2, "unknown command 'difff'; did you mean 'diff'?");
}

TEST(CommandLine, AnUnknownFlagIsAnsweredWithTheNearest) {
  ExpectError(RunVarve("", {"log", "--limt=3"}), 2, "unknown flag --limt; did you mean --limit?");
  ExpectError(RunVarve("", {"scan", "table", "--at-tiem", "x"}), 2,
              "unknown flag --at-tiem; did you mean --at-time?");
}

TEST(CommandLine, FlagsOfTheFlagLibraryAreUnknown) {
  for (const char* flag : {"--flagfile=x", "--fromenv=x", "--helpfull", "--undefok=x"}) {
    EXPECT_EQ(RunVarve("", {"log", flag}).exit_code, 2) << flag;
  }
  ExpectError(RunVarve("", {"log", "--flagfile=x"}), 2,
              "unknown flag --flagfile; 'varve help log' lists the flags");
}

TEST(CommandLine, AFlagOfAnotherCommandIsRefused) {
  ExpectError(RunVarve("", {"log", "--where=id = 1"}), 2,
              "varve log has no flag --where; 'varve help log' lists its flags");
  ExpectError(RunVarve("", {"--at=3", "log"}), 2,
              "varve log has no flag --at; 'varve help log' lists its flags");
}

TEST(CommandLine, MalformedFlagValuesAreRefused) {
  const std::string& catalog = SmallCatalog();
  ExpectError(RunVarve(catalog, {"log", "--limit=few"}), 2, "--limit=few: expected a number");
  ExpectError(RunVarve(catalog, {"log", "--limit=-1"}), 2, "--limit=-1: expected a number");
  ExpectError(RunVarve("", {"log", "--limit"}), 2, "--limit needs a value: --limit=N");
  ExpectError(RunVarve(catalog, {"scan", "table", "--count=maybe"}), 2,
              "--count=maybe: expected true or false");
  ExpectError(RunVarve(catalog, {"log", "--format=xml"}), 2,
              "--format=xml: expected table, csv or json");
  ExpectError(RunVarve(catalog, {"log", "--format=jsno"}), 2,
              "--format=jsno: expected table, csv or json; did you mean 'json'?");
  ExpectError(RunVarve(catalog, {"scan", "table", "--at=now"}), 2,
              "--at=now: expected a snapshot id; 'varve log' lists them");
  ExpectError(RunVarve(catalog, {"scan", "table", "--at=-1"}), 2,
              "--at=-1: expected a snapshot id; 'varve log' lists them");
  ExpectError(RunVarve(catalog, {"scan", "table", "--at="}), 2,
              "--at has an empty value; give one or leave the flag out");
  ExpectError(RunVarve(catalog, {"scan", "table", "--at-time="}), 2,
              "--at-time has an empty value; give one or leave the flag out");
  ExpectError(RunVarve(catalog, {"scan", "table", "--at-time=noon"}), 2,
              "--at-time=noon: expected a time with its offset, as in '2026-11-30 08:40:00+00'");
}

TEST(CommandLine, FlagsThatExcludeEachOtherAreRefused) {
  const std::string& catalog = SmallCatalog();
  ExpectError(RunVarve(catalog, {"scan", "table", "--at=3", "--at-time=2026-11-30"}), 2,
              "--at and --at-time exclude each other; give one of them");
  ExpectError(RunVarve(catalog, {"scan", "table", "--at=3", "--history"}), 2,
              "--history shows every snapshot; it excludes --at and --at-time");
  ExpectError(RunVarve(catalog, {"scan", "table", "--count", "--columns=table_id"}), 2,
              "--count prints no columns; it excludes --columns");
  ExpectError(RunVarve(catalog, {"export", "--to=csv:x", "--at=3", "--history"}), 2,
              "--history exports every snapshot; it excludes --at and --at-time");
}

TEST(CommandLine, MissingAndExtraArgumentsAreRefused) {
  ExpectError(RunVarve("", {"scan"}), 2, "an argument is missing; usage: varve scan RELATION");
  ExpectError(RunVarve("", {"scan", "table", "4"}), 2,
              "unexpected argument '4'; usage: varve scan RELATION");
  ExpectError(RunVarve("", {"log", "table"}), 2, "unexpected argument 'table'; usage: varve log");
  ExpectError(
      RunVarve("", {"import"}), 2,
      "import needs --from=SOURCE: csv:DIR, sqlite:FILE or postgres:CONNINFO[?schema=NAME]");
  ExpectError(RunVarve("", {"export"}), 2,
              "export needs --to=TARGET: csv:DIR, sqlite:FILE or postgres:CONNINFO[?schema=NAME]");
  ExpectError(RunVarve("", {"diff"}), 2, "diff needs --from=S: the snapshot to compare with");
}

TEST(CommandLine, FlagsStandBeforeAndAfterTheCommandInEverySpelling) {
  const std::string& catalog = SmallCatalog();
  const std::string expected =
      RunVarve(catalog, {"scan", "table", "--at=20", "--format=csv", "--columns=table_id"}).out;
  EXPECT_EQ(Lines(expected).size(), 6U);
  const std::vector<std::vector<std::string>> spellings = {
      {"--at=20", "--format=csv", "scan", "table", "--columns=table_id"},
      {"--at", "20", "--format", "csv", "--columns", "table_id", "scan", "table"},
      {"-at=20", "-format", "csv", "scan", "--columns=table_id", "table"},
      {"scan", "--at=20", "--format=csv", "--columns=table_id", "--nocount", "--", "table"},
      {"scan", "table", "--at=20", "--format=csv", "--columns=table_id", "--count=false"},
  };
  for (const std::vector<std::string>& words : spellings) {
    const Outcome outcome = RunVarve(catalog, words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, expected) << StrJoin(words, " ");
  }
}

TEST(CommandLine, DashesAndUnderscoresInFlagNamesAreTheSame) {
  const std::string& catalog = SmallCatalog();
  const std::string time = "2026-11-30 08:37:06.509899+00";
  const Outcome dashes =
      RunVarve(catalog, {"scan", "schema", "--count", "--format=csv", "--at-time", time});
  EXPECT_EQ(dashes.out, "count\n3\n") << dashes.err;
  EXPECT_EQ(RunVarve(catalog, {"scan", "schema", "--count", "--format=csv", "--at_time", time}).out,
            dashes.out);
}

TEST(CommandLine, TheCatalogComesFromTheFlagOrTheEnvironment) {
  const std::string& catalog = SmallCatalog();
  ExpectError(RunVarve("", {"log"}), 2,
              "no catalog was named; give --catalog=PATH or set VARVE_CATALOG");
  const RunOptions with_variable{.environment = {{"VARVE_CATALOG", catalog}}};
  EXPECT_EQ(RunVarve("", {"log", "--limit=1"}, with_variable).exit_code, 0);
  const RunOptions other{.environment = {{"VARVE_CATALOG", "/nonexistent"}}};
  EXPECT_EQ(RunVarve("", {"log", "--limit=1"}, other).exit_code, 4);
  EXPECT_EQ(RunVarve(catalog, {"log", "--limit=1"}, other).exit_code, 0);
}

TEST(CommandLine, HelpListsCommandsAndExitCodes) {
  const Outcome help = RunVarve("", {"help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.err, IsEmpty());
  EXPECT_THAT(help.out, ContainsRegex("\n  scan +print the rows of a relation\n"));
  EXPECT_THAT(help.out, HasSubstr("\n   3  get: no row has this key\n"));
  EXPECT_EQ(RunVarve("", {"--help"}).out, help.out);
  EXPECT_EQ(RunVarve("", {"-h"}).out, help.out);
}

TEST(CommandLine, HelpOfACommandShowsItsFlags) {
  const Outcome help = RunVarve("", {"help", "log"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, StartsWith("varve log: list the snapshots, newest first\n\n"
                                   "usage: varve log [FLAGS]\n"));
  EXPECT_THAT(help.out, HasSubstr("--limit=N"));
  EXPECT_EQ(RunVarve("", {"log", "--help"}).out, help.out);
  EXPECT_EQ(RunVarve("", {"--help", "log"}).out, help.out);
}

TEST(CommandLine, VersionNamesTheProgramAndItsLibraries) {
  const Outcome version = RunVarve("", {"--version"});
  EXPECT_EQ(version.exit_code, 0);
  const std::vector<std::string> lines = Lines(version.out);
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_THAT(lines[0], ::testing::MatchesRegex("varve [0-9.]+"));
  EXPECT_EQ(lines[1], "DuckLake catalog 1.0 (reads 0.3 to 1.0)");
  EXPECT_THAT(lines[2], ::testing::MatchesRegex("RocksDB [0-9.]+"));
}

TEST(CommandLine, ErrorsAreOneLineWhateverTheInput) {
  const Outcome outcome = RunVarve("", {"sc\nan\x1b[31m"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err,
            "varve: unknown command 'sc\\nan\\x1b[31m'; 'varve help' lists the commands\n");
}

TEST(StandardOutput, AClosedPipeEndsTheProgramQuietly) {
  const Outcome outcome =
      RunVarve(SmallCatalog(), {"scan", "column", "--history"}, {.stdout_path = "closed pipe"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(StandardOutput, AFullDiskIsAnError) {
  const Outcome outcome = RunVarve(SmallCatalog(), {"log"}, {.stdout_path = "/dev/full"});
  EXPECT_EQ(outcome.exit_code, 8);
  EXPECT_EQ(outcome.err, "varve: cannot write to standard output: No space left on device\n");
}

}  // namespace
}  // namespace varve
