// init, import and export, and catalogs the program cannot read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/strings.h"
#include "catalog/load/bulk_loader.h"
#include "tests/catalog/temp_dir.h"
#include "tests/tools/program.h"

namespace varve {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void WriteAll(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// The files of an export: the rows of each, sorted, under their header.
std::map<std::string, std::vector<std::string>> ReadCsvDirectory(const std::string& directory) {
  std::map<std::string, std::vector<std::string>> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".csv") {
      std::vector<std::string> lines = Lines(ReadAll(entry.path()));
      std::sort(lines.begin() + 1, lines.end());
      files[entry.path().filename()] = std::move(lines);
    }
  }
  return files;
}

// Names of what is in a directory.
std::vector<std::string> Entries(const std::string& directory) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

TEST(Init, MakesACatalogWithTheBootstrapRows) {
  const TempDir dir;
  const std::string catalog = dir / "new";
  const Outcome init = RunVarve(catalog, {"init", "--data-path=/lake", "--encrypted"});
  EXPECT_EQ(init.exit_code, 0) << init.err;
  EXPECT_EQ(init.err, StrCat("made an empty catalog at ", catalog, "\n"));
  EXPECT_THAT(init.out, IsEmpty());
  EXPECT_EQ(RunVarve(catalog, {"ls", "schemas", "--format=csv"}).out,
            "schema,path,tables,views\nmain,/lake/main/,0,0\n");
  EXPECT_THAT(RunVarve(catalog, {"log", "--format=csv"}).out,
              MatchesRegex("id,time,author,message,changes\n0,[0-9 .:+-]+,\\\\N,\\\\N,"
                           "\"created_schema:\"\"main\"\"\"\n"));
  const Outcome settings =
      RunVarve(catalog, {"scan", "metadata", "--columns=key,value",
                         "--where=key in ('data_path', 'encrypted')", "--format=csv"});
  EXPECT_EQ(settings.out, "key,value\ndata_path,/lake/\nencrypted,true\n");
  EXPECT_EQ(RunVarve(catalog, {"verify"}).exit_code, 0);
}

TEST(Init, RefusesAPathThatIsTaken) {
  const TempDir dir;
  const std::string catalog = dir / "new";
  ASSERT_EQ(RunVarve(catalog, {"init"}).exit_code, 0);
  const Outcome again = RunVarve(catalog, {"init"});
  EXPECT_EQ(again.exit_code, 9);
  EXPECT_THAT(again.err, StartsWith(StrCat("varve: ", catalog, " holds a catalog already")));
  EXPECT_THAT(Lines(again.err), SizeIs(1));
}

TEST(Progress, IsShownOnATerminalOnly) {
  const TempDir dir;
  const std::vector<std::string> words = {"import", StrCat("--from=csv:", SmallCatalogSource())};
  const Outcome on_terminal = RunVarve(dir / "a", words, {.stderr_is_terminal = true});
  EXPECT_EQ(on_terminal.exit_code, 0) << on_terminal.err;
  EXPECT_THAT(on_terminal.err, StartsWith("\r\x1b[Kreading"));
  EXPECT_THAT(on_terminal.err, HasSubstr(" %"));
  // The line is wiped before the conclusion.
  EXPECT_THAT(on_terminal.err, HasSubstr("\r\x1b[Kimported 650 rows"));
  const Outcome in_a_file = RunVarve(dir / "b", words);
  EXPECT_EQ(in_a_file.exit_code, 0);
  EXPECT_THAT(in_a_file.err, StartsWith("imported 650 rows"));
}

TEST(ImportExport, OfTheWholeHistoryIsTheIdentity) {
  const TempDir dir;
  for (const std::string kind : {"csv", "sqlite"}) {
    const std::string target = StrCat(kind, ":", dir / StrCat("export-", kind));
    const Outcome exported =
        RunVarve(SmallCatalog(), {"export", StrCat("--to=", target), "--history"});
    EXPECT_EQ(exported.exit_code, 0) << exported.err;
    EXPECT_EQ(exported.err, "exported the whole history: 650 rows of 46 relations\n");
    EXPECT_THAT(exported.out, IsEmpty());

    const std::string copy = dir / StrCat("copy-", kind);
    const Outcome imported = RunVarve(copy, {"import", StrCat("--from=", target)});
    EXPECT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_EQ(imported.err,
              "imported 650 rows of 46 relations, up to snapshot 93, from a catalog of version "
              "1.0\n");

    const std::string again = dir / StrCat("again-", kind);
    ASSERT_EQ(RunVarve(copy, {"export", StrCat("--to=csv:", again), "--history"}).exit_code, 0);
    EXPECT_EQ(ReadCsvDirectory(again), ReadCsvDirectory(SmallCatalogSource())) << kind;
  }
}

TEST(Export, OfASnapshotHoldsThatStateAlone) {
  const TempDir dir;
  const std::string target = dir / "at20";
  const Outcome exported =
      RunVarve(SmallCatalog(), {"export", "--at=20", StrCat("--to=csv:", target)});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.err, StartsWith("exported the state at snapshot 20: "));
  const std::string copy = dir / "copy";
  ASSERT_EQ(RunVarve(copy, {"import", StrCat("--from=csv:", target)}).exit_code, 0);
  EXPECT_EQ(RunVarve(copy, {"ls", "tables", "--format=csv"}).out,
            RunVarve(SmallCatalog(), {"ls", "tables", "--at=20", "--format=csv"}).out);
  EXPECT_THAT(Lines(RunVarve(copy, {"log", "--format=csv"}).out), SizeIs(2));
}

TEST(Export, RefusesATargetThatIsTaken) {
  const TempDir dir;
  WriteAll(dir / "file", "mine");
  const Outcome outcome = RunVarve(SmallCatalog(), {"export", StrCat("--to=csv:", dir.path())});
  EXPECT_EQ(outcome.exit_code, 9);
  EXPECT_THAT(Lines(outcome.err), SizeIs(1));
  EXPECT_THAT(Entries(dir.path()), ElementsAre("file"));
}

TEST(Places, ThatAreMisspeltAreUsageErrors) {
  const Outcome from = RunVarve("unused", {"import", "--from=sqlit:x"});
  EXPECT_EQ(from.exit_code, 2);
  EXPECT_EQ(from.err,
            "varve: --from=sqlit:x: expected csv:DIR, sqlite:FILE or "
            "postgres:CONNINFO[?schema=NAME]; did you mean 'sqlite'?\n");
  const Outcome to = RunVarve("unused", {"export", "--to=somewhere"});
  EXPECT_EQ(to.exit_code, 2);
  EXPECT_EQ(to.err,
            "varve: --to=somewhere: expected csv:DIR, sqlite:FILE or "
            "postgres:CONNINFO[?schema=NAME]\n");
}

// A copy of the small catalog's CSV files, to be spoilt.
class SpoiltImport : public ::testing::Test {
 protected:
  void SetUp() override { fs::copy(SmallCatalogSource(), source(), fs::copy_options::recursive); }

  std::string source() const { return dir_ / "source"; }
  std::string File(const std::string& name) const { return StrCat(source(), "/", name, ".csv"); }

  // Expects that the import is refused in one line with this code, and that nothing is left.
  std::string Refused(int exit_code, std::vector<std::string> flags = {}) {
    fs::create_directory(dir_ / "target");
    flags.insert(flags.begin(), {"import", StrCat("--from=csv:", source())});
    const Outcome outcome = RunVarve(dir_ / "target/catalog", flags);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_THAT(Lines(outcome.err), SizeIs(1));
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(Entries(dir_ / "target"), IsEmpty());
    return outcome.err;
  }

  const TempDir dir_;
};

TEST_F(SpoiltImport, RowWithTooFewFieldsNamesFileAndLine) {
  WriteAll(File("ducklake_schema"), ReadAll(File("ducklake_schema")) + "31,x\n");
  const std::string error = Refused(5);
  EXPECT_THAT(error, HasSubstr("ducklake_schema.csv"));
  EXPECT_THAT(error, HasSubstr("8"));
}

TEST_F(SpoiltImport, WrongTypeNamesTheColumn) {
  WriteAll(File("ducklake_table_stats"), ReadAll(File("ducklake_table_stats")) + "99,many,0,0\n");
  EXPECT_THAT(Refused(5), HasSubstr("record_count"));
}

TEST_F(SpoiltImport, DuplicateKeyIsRefused) {
  const std::vector<std::string> lines = Lines(ReadAll(File("ducklake_schema")));
  WriteAll(File("ducklake_schema"), ReadAll(File("ducklake_schema")) + lines[1] + "\n");
  EXPECT_THAT(Refused(5), HasSubstr("ducklake_schema"));
  EXPECT_THAT(Refused(5, {"--keep-anomalies"}), HasSubstr("ducklake_schema"));
}

TEST_F(SpoiltImport, AnomaliesAreKeptOnDemandAndVerifyListsThem) {
  const std::vector<std::string> lines = Lines(ReadAll(File("ducklake_tag")));
  WriteAll(File("ducklake_tag"), ReadAll(File("ducklake_tag")) + lines[1] + "\n");
  EXPECT_THAT(Refused(5), HasSubstr("ducklake_tag"));
  const std::string catalog = dir_ / "kept";
  const Outcome kept =
      RunVarve(catalog, {"import", StrCat("--from=csv:", source()), "--keep-anomalies"});
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_THAT(kept.err, HasSubstr("; 'varve verify' lists them\n"));
  const Outcome verify = RunVarve(catalog, {"verify", "--format=csv"});
  EXPECT_EQ(verify.exit_code, 1) << verify.out;
  EXPECT_THAT(verify.out, HasSubstr("ducklake_tag"));
}

TEST_F(SpoiltImport, MissingMandatoryTableIsNamed) {
  fs::remove(File("ducklake_column"));
  EXPECT_THAT(Refused(5), HasSubstr("ducklake_column"));
}

TEST_F(SpoiltImport, UnknownVersionIsRefusedByName) {
  std::string text = ReadAll(File("ducklake_metadata"));
  text.replace(text.find("1.0"), 3, "9.7");
  WriteAll(File("ducklake_metadata"), text);
  EXPECT_THAT(Refused(10), HasSubstr("9.7"));
}

TEST_F(SpoiltImport, WhileAnotherProcessLoadsThereIsBusy) {
  const std::string catalog = dir_ / "busy";
  const absl::StatusOr<std::unique_ptr<BulkLoader>> loader = BulkLoader::Create(catalog, {});
  ASSERT_TRUE(loader.ok()) << loader.status();
  const Outcome outcome = RunVarve(catalog, {"import", StrCat("--from=csv:", source())});
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_THAT(Lines(outcome.err), SizeIs(1));
}

TEST(Source, ThatIsNotThere) {
  const TempDir dir;
  for (const std::string from : {"csv:", "sqlite:"}) {
    const Outcome outcome =
        RunVarve(dir / "new", {"import", StrCat("--from=", from, dir / "nothing")});
    EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
    EXPECT_THAT(Lines(outcome.err), SizeIs(1));
    EXPECT_THAT(Entries(dir.path()), IsEmpty());
  }
}

TEST(Source, ThatIsNoDuckLake) {
  const TempDir dir;
  WriteAll(dir / "file.db", "no database at all, and long enough to be read as one");
  const Outcome outcome =
      RunVarve(dir / "new", {"import", StrCat("--from=sqlite:", dir / "file.db")});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_THAT(Lines(outcome.err), SizeIs(1));
  EXPECT_THAT(Entries(dir.path()), ElementsAre("file.db"));
}

TEST(Catalogs, ThatAreNotThereOrNoCatalog) {
  const TempDir dir;
  const Outcome missing = RunVarve(dir / "nothing", {"log"});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_THAT(missing.err, HasSubstr(StrCat(dir / "nothing", " does not exist")));
  const Outcome other = RunVarve(dir.path(), {"log"});
  EXPECT_EQ(other.exit_code, 4);
  EXPECT_THAT(other.err, HasSubstr(" is not a Varve catalog"));
  WriteAll(dir / "file", "text");
  EXPECT_EQ(RunVarve(dir / "file", {"log"}).exit_code, 4);
  EXPECT_THAT(Entries(dir.path()), ElementsAre("file"));
}

// A catalog of its own that a test may damage.
class DamagedCatalog : public ::testing::Test {
 protected:
  void SetUp() override { fs::copy(SmallCatalog(), path(), fs::copy_options::recursive); }
  std::string path() const { return dir_ / "catalog"; }
  const TempDir dir_;
};

TEST_F(DamagedCatalog, OfANewerFormatIsRefused) {
  std::string text = ReadAll(path() + "/VARVE");
  ASSERT_THAT(text, HasSubstr("format 1"));
  text.replace(text.find("format 1"), 8, "format 9");
  WriteAll(path() + "/VARVE", text);
  const Outcome outcome = RunVarve(path(), {"log"});
  EXPECT_EQ(outcome.exit_code, 10) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("9"));
  EXPECT_THAT(Lines(outcome.err), SizeIs(1));
}

TEST_F(DamagedCatalog, ReportsAFlippedByteAndNeverARow) {
  // The largest sorted file holds the live rows.
  std::string largest;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path())) {
    if (entry.path().extension() == ".sst" &&
        (largest.empty() || entry.file_size() > fs::file_size(largest))) {
      largest = entry.path();
    }
  }
  ASSERT_FALSE(largest.empty());
  std::string bytes = ReadAll(largest);
  bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 1);
  WriteAll(largest, bytes);

  bool reported = false;
  for (const char* relation : {"column", "data_file", "file_column_stats", "snapshot_changes"}) {
    const Outcome outcome = RunVarve(path(), {"scan", relation, "--history"});
    const Outcome whole = RunVarve(SmallCatalog(), {"scan", relation, "--history"});
    if (outcome.exit_code == 0) {
      EXPECT_EQ(outcome.out, whole.out);
    } else {
      reported = true;
      EXPECT_EQ(outcome.exit_code, 7) << outcome.err;
      EXPECT_THAT(Lines(outcome.err), SizeIs(1));
    }
  }
  EXPECT_TRUE(reported);
  const Outcome verify = RunVarve(path(), {"verify", "--format=csv"});
  EXPECT_EQ(verify.exit_code, 1) << verify.err;
  EXPECT_THAT(verify.out, HasSubstr(",corruption,"));
}

}  // namespace
}  // namespace varve
