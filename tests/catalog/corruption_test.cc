// A flipped byte in any file of a catalog is reported, or changes nothing: no wrong row, none
// missing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "catalog/load/bulk_loader.h"
#include "catalog/store/change_record.h"
#include "catalog/store/row_store.h"
#include "tests/catalog/row_text.h"
#include "tests/catalog/temp_dir.h"
#include "tests/seed.h"

namespace varve {
namespace {

using Lines = std::vector<std::string>;
using Files = std::map<std::string, std::string>;  // path below the catalog -> content

bool IsError(const Lines& lines) {
  return lines.size() == 1 && lines[0].starts_with("error: ");
}

absl::Status ReadChanges(const RowStore& store, Lines* lines) {
  const std::unique_ptr<rocksdb::Iterator> it(
      store.db().NewIterator(rocksdb::ReadOptions(), store.family(Family::kChanges)));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const auto records = ParseChanges(ToView(it->value()));
    if (!records.ok()) {
      return records.status();
    }
    lines->push_back(StrCat("change ", BytesToHexString(ToView(it->key())), " ",
                            BytesToHexString(ToView(it->value()))));
  }
  return FromRocksDb(it->status(), "reading changes");
}

// Everything a reader can see, by scans, look-ups and the change log; or the first error.
absl::StatusOr<Lines> ReadEverything(Catalog* catalog) {
  Lines lines = {StrCat("uuid ", catalog->uuid())};
  const ReadView current = catalog->Current();
  const auto add = [&lines](std::string_view name, const Lines& rows) {
    for (const std::string& row : rows) {
      lines.push_back(StrCat(name, " ", row));
    }
    return IsError(rows) ? absl::DataLossError(rows[0]) : absl::OkStatus();
  };
  for (const RelationRef& relation : current.relations().relations()) {
    if (absl::Status status =
            add(StrCat("history ", relation->name),
                ScanTexts(current, relation->name, {.rows = ScanRows::kAllVersions}));
        !status.ok()) {
      return status;
    }
  }
  for (SnapshotId at = 0; at <= current.last_snapshot(); ++at) {
    const auto view = catalog->At(at);
    if (!view.ok()) {
      return view.status();
    }
    for (const std::string_view name :
         {"table", "column", "file_column_stats", "inlined_data_1_1"}) {
      if (absl::Status status = add(StrCat("at ", at, " ", name), ScanTexts(*view, name));
          !status.ok()) {
        return status;
      }
    }
    for (int64_t id = 0; id < 4; ++id) {
      const std::string row = GetText(*view, "table", StrCat(id));
      if (row.starts_with("error: ")) {
        return absl::DataLossError(row);
      }
      const auto file = view->GetByUnique(*BuiltinRelationById(kDataFile), id);
      if (!file.ok()) {
        return file.status();
      }
      lines.push_back(StrCat("get ", id, " ", row, file->has_value() ? " and a file" : ""));
    }
  }
  if (absl::Status status = ReadChanges(catalog->store(), &lines); !status.ok()) {
    return status;
  }
  return lines;
}

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void WriteWhole(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

Files ReadFiles(const std::string& directory) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) {
      const std::string path = entry.path().string();
      files[path.substr(directory.size() + 1)] = ReadWhole(path);
    }
  }
  return files;
}

// What RocksDB writes for people: never read back.
bool IsForPeople(const std::string& file) {
  return file.find("/LOG") != std::string::npos || file.ends_with("varve.lock");
}

class Corruption : public ::testing::Test {
 protected:
  std::string path() const { return dir_ / "catalog"; }

  // A catalog with live and ended versions, index entries, children, a dynamic relation.
  static void MakeCatalog(const std::string& path) {
    ASSERT_TRUE(Catalog::Init(path, {.data_path = "/lake/"}).ok());
    const auto catalog = Catalog::Open(path);
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    Commit(catalog->get(), R"(
      snapshot 1
      insert table 1 | 00000000-0000-4000-8000-000000000007 | 1 | - | 0 | first | first/ | true
      insert column 1 | 1 | - | 1 | 0 | a | int64
      insert data_file 1 | 1 | 1 | - | 0 | file1.parquet | true | parquet | 10 | 1000
      insert file_column_stats 1 | 1 | 1 | 80 | 10 | 0 | 1 | 10
      create ducklake_inlined_data_1_1 row_id bigint, begin_snapshot bigint, end_snapshot bigint, a double
      insert ducklake_inlined_data_1_1 1 | 1 | - | 1.5
      put table_stats 1 | 10 | 10 | 1000
    )");
    Commit(catalog->get(), R"(
      snapshot 2
      end table 1 @ 2
      insert table 1 | 00000000-0000-4000-8000-000000000007 | 2 | - | 0 | renamed | first/ | true
      end data_file 1 | 1 @ 2
      insert data_file 2 | 1 | 2 | - | 0 | file2.parquet
      insert file_column_stats 2 | 1 | 1 | 90 | 10 | 0 | 2 | 20
      put table_stats 1 | 20 | 20 | 1000
    )");
  }

  static void Commit(Catalog* catalog, std::string_view changes) {
    const absl::Status status = catalog->Apply(ChangesOf(catalog->Current().relations(), changes));
    ASSERT_TRUE(status.ok()) << status;
  }

  static void CommitMore(Catalog* catalog) {
    for (int i = 3; i < 9; ++i) {
      Commit(catalog, StrCat("snapshot ", i, "\n end table 1 @ ", i, "\n insert table 1 | - | ", i,
                             " | - | 0 | name", i, "\n insert table ", i, " | - | ", i,
                             " | - | 0 | t", i, "\n put table_stats 1 | ", i));
    }
  }

  // Copies an open catalog to path(), as it would be found after its process was killed.
  void CopyAsCrashed(Catalog* catalog) {
    ASSERT_TRUE(catalog->store().db().PauseBackgroundWork().ok());
    std::filesystem::copy(catalog->path(), path(), std::filesystem::copy_options::recursive);
    ASSERT_TRUE(catalog->store().db().ContinueBackgroundWork().ok());
  }

  // Remembers the files at path() and what they say.
  void Remember() {
    files_ = ReadFiles(path());
    const auto catalog = Catalog::Open(path(), {.read_only = true});
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    const auto lines = ReadEverything(catalog->get());
    ASSERT_TRUE(lines.ok()) << lines.status();
    expected_ = *lines;
    ASSERT_GT(expected_.size(), 30U);
  }

  // Opens and reads the files at path(): an error, or exactly what is expected.
  enum class Outcome { kRefused, kRight, kWrong };
  Outcome Read(const CatalogOptions& options = {.read_only = true}) {
    const auto catalog = Catalog::Open(path(), options);
    if (!catalog.ok()) {
      EXPECT_EQ(MessageOf(catalog.status()).find('\n'), std::string_view::npos);
      return Outcome::kRefused;
    }
    const auto lines = ReadEverything(catalog->get());
    if (!lines.ok()) {
      return Outcome::kRefused;
    }
    return *lines == expected_ ? Outcome::kRight : Outcome::kWrong;
  }

  // Flips bytes of the file one at a time: every one, or as many as `most` allows.
  void FlipBytes(const std::string& file, size_t most,
                 const CatalogOptions& options = {.read_only = true}) {
    const std::string& whole = files_.at(file);
    std::vector<size_t> places(whole.size());
    for (size_t i = 0; i < places.size(); ++i) {
      places[i] = i;
    }
    std::shuffle(places.begin(), places.end(), random_);
    places.resize(std::min(places.size(), most));
    for (const size_t at : places) {
      std::string damaged = whole;
      // Half of the time a single bit.
      const uint64_t mask = random_() % 2 == 0 ? uint64_t{1} << random_() % 8 : 1 + random_() % 255;
      damaged[at] = static_cast<char>(static_cast<uint64_t>(damaged[at]) ^ mask);
      if (!options.read_only) {
        Restore();  // the last opening changed files
      }
      WriteWhole(StrCat(path(), "/", file), damaged);
      const Outcome outcome = Read(options);
      ASSERT_NE(outcome, Outcome::kWrong)
          << file << " of " << whole.size() << " bytes, byte " << at << " xor " << mask;
      ++outcomes_[outcome == Outcome::kRefused];
    }
    if (!options.read_only) {
      Restore();
    }
    WriteWhole(StrCat(path(), "/", file), whole);
  }

  void FlipBytesOfAllFiles(size_t most) {
    for (const auto& [file, content] : files_) {
      if (!IsForPeople(file)) {
        const bool is_manifest = file.find("/MANIFEST-") != std::string::npos;
        const bool is_options = file.find("/OPTIONS-") != std::string::npos;  // not read
        FlipBytes(file, is_manifest ? content.size() : is_options ? most / 20 : most);
        ASSERT_FALSE(HasFatalFailure()) << file;
      }
    }
    EXPECT_GT(outcomes_[true], 100) << "most flips must have been noticed";
    ASSERT_EQ(Read(), Outcome::kRight) << "the files are whole again";
  }

  void Restore() {
    std::filesystem::remove_all(path());
    for (const auto& [file, content] : files_) {
      const std::filesystem::path target(StrCat(path(), "/", file));
      std::filesystem::create_directories(target.parent_path());
      WriteWhole(target.string(), content);
    }
  }

  // Flips per file; VARVE_CORRUPTION_FLIPS=1000000 tries every byte.
  static size_t FlipsPerFile(size_t normally) {
    const char* given = std::getenv("VARVE_CORRUPTION_FLIPS");  // NOLINT(concurrency-mt-unsafe)
    return given != nullptr ? std::strtoull(given, nullptr, 10) : normally;
  }

  TempDir dir_;
  Files files_;
  Lines expected_;
  std::mt19937_64 random_{TestSeed()};
  std::map<bool, int> outcomes_;  // refused -> how often
};

TEST_F(Corruption, ByteOfAClosedCatalogIsReportedOrHarmless) {
  MakeCatalog(path());
  Remember();
  FlipBytesOfAllFiles(FlipsPerFile(200));
}

TEST_F(Corruption, ByteOfANewCatalogIsReportedOrHarmless) {
  MakeCatalog(dir_ / "source");
  // A catalog that a bulk load made, never opened for writing.
  {
    const auto source = Catalog::Open(dir_ / "source", {.read_only = true});
    const auto loader = BulkLoader::Create(path(), {});
    ASSERT_TRUE(loader.ok()) << loader.status();
    for (const RelationRef& relation : (*source)->Current().relations().relations()) {
      const RelationRef target = relation->dynamic ? *(*loader)->AddRelation(*relation) : relation;
      const auto scan = (*source)->Current().Scan(relation, {.rows = ScanRows::kAllVersions});
      ScanBatch batch;
      while (*(*scan)->Next(&batch)) {
        for (size_t row = 0; row < batch.num_rows(); ++row) {
          std::vector<Datum> values;
          for (size_t i = 0; i < batch.columns.num_columns(); ++i) {
            values.push_back(batch.columns.column(i).at(row));
          }
          ASSERT_TRUE((*loader)->AddRow(*target, values, 0, 0).ok());
        }
      }
    }
    ASSERT_TRUE((*loader)->Finish().ok());
  }
  Remember();
  FlipBytesOfAllFiles(FlipsPerFile(150));
}

TEST_F(Corruption, ByteOfACrashedCatalogIsReportedOrHarmless) {
  MakeCatalog(dir_ / "source");
  {
    const auto catalog = Catalog::Open(dir_ / "source");
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    CommitMore(catalog->get());  // in the log only
    CopyAsCrashed(catalog->get());
  }
  Remember();
  ASSERT_TRUE(std::any_of(expected_.begin(), expected_.end(), [](const std::string& line) {
    return line.find("name8") != std::string::npos;
  })) << "the log holds the newest rows";
  FlipBytesOfAllFiles(FlipsPerFile(200));
  // Opening for writing replays the log in another way.
  const size_t fewer = FlipsPerFile(40);
  for (const auto& [file, content] : files_) {
    if (file.ends_with(".log") || file.find("MANIFEST") != std::string::npos) {
      FlipBytes(file, fewer, {.read_only = false});
      ASSERT_FALSE(HasFatalFailure()) << file;
    }
  }
}

// What follows a flipped byte in the log is not read either, so it must not be opened and go on as
// if it had never been: the acknowledged commits in it would be lost.
TEST_F(Corruption, ByteOfTheLogIsRefused) {
  MakeCatalog(dir_ / "source");
  {
    const auto catalog = Catalog::Open(dir_ / "source");
    CommitMore(catalog->get());
    CopyAsCrashed(catalog->get());
  }
  Remember();
  for (const auto& [file, content] : files_) {
    if (file.ends_with(".log") && !content.empty()) {
      const int before = outcomes_[true];
      FlipBytes(file, content.size());
      EXPECT_EQ(outcomes_[true] - before, static_cast<int>(content.size()));
    }
  }
}

TEST_F(Corruption, ATornLastRecordIsTheUnacknowledgedCommit) {
  MakeCatalog(dir_ / "source");
  std::vector<Lines> states;
  {
    const auto catalog = Catalog::Open(dir_ / "source");
    states.push_back(*ReadEverything(catalog->get()));
    for (int i = 3; i < 6; ++i) {
      Commit(catalog->get(), StrCat("snapshot ", i, "\n insert table ", i, " | - | ", i));
      states.push_back(*ReadEverything(catalog->get()));
    }
    CopyAsCrashed(catalog->get());
  }
  Remember();
  ASSERT_EQ(expected_, states.back());
  for (const auto& [file, content] : files_) {
    if (!file.ends_with(".log") || content.empty()) {
      continue;
    }
    size_t state = 0;
    for (size_t size = 0; size <= content.size(); ++size) {
      WriteWhole(StrCat(path(), "/", file), content.substr(0, size));
      const auto catalog = Catalog::Open(path(), {.read_only = true});
      ASSERT_TRUE(catalog.ok()) << catalog.status();
      const auto lines = ReadEverything(catalog->get());
      ASSERT_TRUE(lines.ok()) << lines.status();
      while (state < states.size() && states[state] != *lines) {
        ++state;
      }
      ASSERT_LT(state, states.size()) << "neither wholly there nor not at all, at " << size;
    }
    EXPECT_EQ(state + 1, states.size());
  }
}

}  // namespace
}  // namespace varve
