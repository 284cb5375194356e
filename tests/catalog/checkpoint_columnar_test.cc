// Checkpoints of a catalog with columnar files: each holds those that its own manifest names,
// whatever flushes and compactions do beside it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/failpoint.h"
#include "base/strings.h"
#include "catalog/backup/checkpoint.h"
#include "tests/catalog/child_process.h"
#include "tests/catalog/flip_byte.h"
#include "tests/catalog/random_changes.h"
#include "tests/catalog/tiers_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Lines = std::vector<std::string>;

std::set<std::string> NamesIn(const std::string& directory) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

std::set<std::string> FilesOf(const Catalog& catalog) {
  std::set<std::string> names;
  for (const auto& file : catalog.LatestState()->columnar->manifest().files()) {
    names.insert(ColumnarFileName(file.number()));
  }
  return names;
}

uint64_t LinksTo(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_nlink : 0;
}

// What verify says of the columnar tier of a checkpoint. The rows are random: other rules are
// broken.
Lines ColumnarFindings(const std::string& directory) {
  Lines findings;
  const auto summary = VerifyCheckpoint(directory, {}, {}, [&](const Finding& finding) {
    if (finding.rule.starts_with("columnar-") || finding.rule.starts_with("pack-")) {
      findings.push_back(StrCat(finding.rule, " ", finding.relation, ": ", finding.message));
    }
  });
  EXPECT_TRUE(summary.ok()) << summary.status();
  return findings;
}

// Opens the catalog or checkpoint and expects that all its relations are answered by columns, with
// the rows of the row store, and that it has the files it should have.
void ExpectWhole(const std::string& path) {
  const auto catalog = Catalog::Open(path, {.read_only = true});
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  const absl::Status memory = (*catalog)->WaitForMemory();
  ASSERT_TRUE(memory.ok()) << memory;
  EXPECT_EQ(NamesIn(StrCat(path, "/", kColumnarDirectory)), FilesOf(**catalog));
  const ReadView view = (*catalog)->Current();
  for (const RelationRef& relation : view.relations().relations()) {
    ScanStats stats;
    EXPECT_EQ(AnswerOf(view, relation, {}, ScanPath::kColumnar, &stats),
              AnswerOf(view, relation, {}, ScanPath::kRow))
        << relation->name;
    EXPECT_EQ(stats.fell_back, "");
  }
}

class CheckpointColumnar : public TiersFixture {
 protected:
  void SetUp() override {
    TiersFixture::SetUp();
    ReopenWithMemory();
    Rebuild();
  }
  std::string directory() const { return dir_ / "checkpoint"; }

  void ApplyRandom(int sets) {
    for (int i = 0; i < sets; ++i) {
      const absl::Status status = catalog_->Apply(changes_.Next());
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  // Rows in L2, in L1 above it, and in memory above that.
  void FillAllTiers() {
    ApplyRandom(30);
    Flush();
    CompactAll(3, 1'000);
    ApplyRandom(10);
    Flush();
    ApplyRandom(5);
  }
  CheckpointSummary MustCreate(const Catalog& catalog, const std::string& directory,
                               const CheckpointOptions& options = {}) {
    auto summary = CreateCheckpoint(catalog, directory, options);
    EXPECT_TRUE(summary.ok()) << summary.status();
    return summary.ok() ? *std::move(summary) : CheckpointSummary();
  }

  RandomChanges changes_{TestSeed()};
};

TEST_F(CheckpointColumnar, HoldsTheFilesOfItsManifestAndNoOthers) {
  SCOPED_TRACE(StrCat("seed ", TestSeed()));
  FillAllTiers();
  std::ofstream(StrCat(ColumnarPath(), "/00999999.vcol")) << "left by a crash";
  const std::set<std::string> files = FilesOf(*catalog_);
  ASSERT_THAT(files, Not(IsEmpty()));
  // Given a checkpoint by the writer, by a reader, of a checkpoint, and copies of them,
  const auto reader = Catalog::Open(path(), {.read_only = true});
  ASSERT_TRUE(reader.ok()) << reader.status();
  MustCreate(*catalog_, directory());
  const auto checkpoint = Catalog::Open(directory(), {.read_only = true});
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  const std::vector<const Catalog*> sources = {catalog_.get(), reader->get(), checkpoint->get()};
  Lines made = {directory()};
  for (const Catalog* source : sources) {
    for (const bool copy : {false, true}) {
      const std::string name = dir_ / StrCat("checkpoint", made.size());
      const CheckpointSummary summary = MustCreate(*source, name, {.copy = copy});
      EXPECT_EQ(summary.linked_bytes + summary.copied_bytes, summary.info.total_bytes());
      EXPECT_EQ(summary.linked_bytes == 0, copy);
      EXPECT_EQ(LinksTo(StrCat(name, "/columnar/", *files.begin())) > 1, !copy);
      made.push_back(name);
    }
  }
  // each has the files, and nothing else; it shows the rows by columns, and nothing is wrong.
  for (const std::string& name : made) {
    SCOPED_TRACE(name);
    std::string title;
    std::getline(std::ifstream(StrCat(name, "/CHECKPOINT")), title);
    EXPECT_EQ(title, "varve checkpoint, format 2");
    EXPECT_EQ(NamesIn(StrCat(name, "/columnar")), files);
    EXPECT_THAT(ColumnarFindings(name), IsEmpty());
    ExpectWhole(name);
  }
  // It stays so, whatever becomes of the catalog.
  for (int i = 0; i < 3; ++i) {
    ApplyRandom(5);
    Flush();
    CompactAll();
  }
  catalog_.reset();
  fs::remove_all(path());
  for (const std::string& name : made) {
    EXPECT_THAT(ColumnarFindings(name), IsEmpty());
    ExpectWhole(name);
  }
}

TEST_F(CheckpointColumnar, OfACatalogWithoutColumnarFilesHasNoDirectoryForThem) {
  NewCatalog();
  std::filesystem::remove_all(ColumnarPath());
  MustCreate(*catalog_, directory());
  EXPECT_FALSE(fs::exists(StrCat(directory(), "/columnar")));
  fs::create_directory(ColumnarPath());  // as a flush that failed leaves it
  catalog_.reset();
  Reopen({.read_only = true});
  MustCreate(*catalog_, dir_ / "second");
  EXPECT_FALSE(fs::exists(dir_ / "second/columnar"));
}

TEST_F(CheckpointColumnar, OfACatalogThatHasLostAFileIsMadeWithoutIt) {
  FillAllTiers();
  const std::string lost = ColumnarFileName(
      catalog_->LatestState()->columnar->Find(kSnapshot)->l1.front().file->number());
  const Lines rows = SeenBy(catalog_->Current());
  fs::remove(StrCat(ColumnarPath(), "/", lost));
  for (const bool read_only : {false, true}) {
    catalog_.reset();
    Reopen({.read_only = read_only});
    const std::string name = dir_ / StrCat("checkpoint", read_only);
    MustCreate(*catalog_, name);
    EXPECT_FALSE(NamesIn(StrCat(name, "/columnar")).contains(lost));
    const Lines findings = ColumnarFindings(name);
    ASSERT_THAT(findings, Not(IsEmpty()));
    for (const std::string& finding : findings) {
      EXPECT_THAT(finding, HasSubstr("columnar-file-missing"));
    }
    const auto opened = Catalog::Open(name, {.read_only = true});
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(SeenBy((*opened)->Current()), rows);
  }
}

TEST_F(CheckpointColumnar, RestoresToACatalogThatIsAnsweredByColumnsAtOnce) {
  FillAllTiers();
  MustCreate(*catalog_, directory());
  const std::set<std::string> files = FilesOf(*catalog_);
  const std::set<std::string> in_checkpoint = NamesIn(StrCat(directory(), "/columnar"));
  for (const bool copy : {false, true}) {
    const std::string restored = dir_ / StrCat("restored", copy);
    const auto summary = RestoreCheckpoint(directory(), restored, {.copy = copy});
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_THAT(summary->left_out, IsEmpty());
    EXPECT_EQ(NamesIn(StrCat(restored, "/columnar")), files);
    ExpectWhole(restored);
    // What is flushed and compacted there changes nothing in the checkpoint.
    auto catalog = Catalog::Open(restored);
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    ASSERT_TRUE(FlushMemory(**catalog).ok());
    ASSERT_TRUE(CompactColumns(**catalog, {.full = true}).ok());
    catalog->reset();
    ExpectWhole(restored);
    EXPECT_EQ(NamesIn(StrCat(directory(), "/columnar")), in_checkpoint);
    EXPECT_THAT(ColumnarFindings(directory()), IsEmpty());
  }
}

TEST_F(CheckpointColumnar, ADamagedFileIsFoundAndLeftOutOfARestore) {
  FillAllTiers();
  MustCreate(*catalog_, directory(), {.copy = true});
  const Lines rows = SeenBy(catalog_->Current());
  const std::set<std::string> files = FilesOf(*catalog_);
  ASSERT_GE(files.size(), 2U);
  const std::string flipped = *files.begin();
  const std::string missing = *files.rbegin();
  FlipByte(StrCat(directory(), "/columnar/", flipped), 30);
  fs::remove(StrCat(directory(), "/columnar/", missing));
  const absl::Status checked = CheckCheckpointFiles(directory()).status();
  EXPECT_TRUE(absl::IsDataLoss(checked)) << checked;
  EXPECT_THAT(checked.ToString(), HasSubstr(StrCat("columnar/", flipped, " is damaged")));
  EXPECT_THAT(checked.ToString(), HasSubstr(StrCat("columnar/", missing, " is missing")));
  std::ofstream(StrCat(directory(), "/columnar/00999999.vcol")) << "mine";
  EXPECT_THAT(CheckCheckpointFiles(directory()).status().ToString(),
              HasSubstr("columnar/00999999.vcol does not belong to it"));

  const std::string restored = dir_ / "restored";
  const auto summary = RestoreCheckpoint(directory(), restored);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_THAT(summary->left_out, SizeIs(2));
  EXPECT_FALSE(fs::exists(StrCat(restored, "/columnar/", flipped)));
  auto catalog = Catalog::Open(restored);
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_EQ(SeenBy((*catalog)->Current()), rows);
  const auto rebuilt = RebuildColumns(**catalog);
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  EXPECT_THAT(rebuilt->damaged, SizeIs(2));
  catalog->reset();
  ExpectWhole(restored);
}

// --- Beside flushes and compactions --------------------------------------------------------------

// Commits, flushes and compacts until it is told to stop; the seed is for the changes.
absl::Status WorkOnColumns(Catalog* catalog, uint64_t seed, const std::function<bool()>& go_on) {
  RandomChanges changes(seed);
  absl::Status status;
  for (int round = 0; status.ok() && go_on(); ++round) {
    for (int i = 0; status.ok() && i < 3; ++i) {
      status = catalog->Apply(changes.Next());
    }
    if (status.ok()) {
      status = FlushMemory(*catalog, {.table = SmallPacks(2)}).status();
    }
    if (status.ok() && round % 2 == 1) {
      status =
          CompactColumns(*catalog, {.full = true, .segment_bytes = 1'000, .table = SmallPacks(3)})
              .status();
    }
  }
  return status;
}

TEST_F(CheckpointColumnar, BesideFlushesAndCompactionsOfThisProcessHoldsTheFilesOfItsCommit) {
  SCOPED_TRACE(StrCat("seed ", TestSeed()));
  std::atomic<bool> done = false;
  std::atomic<int> rounds = 0;
  std::thread worker([&] {
    const absl::Status status = WorkOnColumns(catalog_.get(), TestSeed(), [&] {
      ++rounds;
      return !done;
    });
    EXPECT_TRUE(status.ok()) << status;
  });
  Lines checkpoints;
  constexpr int kLeast = 12;  // of either
  while ((rounds < kLeast || checkpoints.size() < kLeast) && !HasFailure()) {
    checkpoints.push_back(dir_ / StrCat("checkpoint", checkpoints.size()));
    MustCreate(*catalog_, checkpoints.back(), {.copy = checkpoints.size() % 3 == 0});
  }
  done = true;
  worker.join();
  for (const std::string& checkpoint : checkpoints) {
    SCOPED_TRACE(checkpoint);
    EXPECT_THAT(ColumnarFindings(checkpoint), IsEmpty());
    ExpectWhole(checkpoint);
    ASSERT_FALSE(HasFailure());
  }
}

// "seed path"
const ChildBody kColumnWorker("checkpoint: flush and compact", [](const std::string& argument,
                                                                  const ChildBody::Say& say) {
  const size_t space = argument.find(' ');
  const auto catalog = Catalog::Open(argument.substr(space + 1));
  int rounds = 0;
  const absl::Status status =
      !catalog.ok() ? catalog.status()
                    : WorkOnColumns(catalog->get(), std::stoull(argument.substr(0, space)), [&] {
                        say('.');
                        return ++rounds <= 40;
                      });
  if (!status.ok()) {
    std::fprintf(stderr, "the child failed: %s\n", status.ToString().c_str());
  }
  return status.ok() ? 0 : 1;
});

TEST_F(CheckpointColumnar, BesideFlushesAndCompactionsOfAnotherProcessHoldsTheFilesOfItsCommit) {
  SCOPED_TRACE(StrCat("seed ", TestSeed()));
  catalog_.reset();
  ChildProcess worker(kColumnWorker, StrCat(TestSeed(), " ", path()));
  std::atomic<bool> finished = false;
  std::thread listener([&] {
    while (worker.Hear() != '\0') {
    }
    finished = true;
  });
  Lines checkpoints;
  do {
    const auto catalog =
        Catalog::Open(path(), {.read_only = true, .memory = MemoryMode::kOnDemand});
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    checkpoints.push_back(dir_ / StrCat("checkpoint", checkpoints.size()));
    MustCreate(**catalog, checkpoints.back(), {.copy = checkpoints.size() % 3 == 0});
  } while (!finished && !HasFailure());
  listener.join();
  EXPECT_EQ(worker.Wait(), 0);
  for (const std::string& checkpoint : checkpoints) {
    SCOPED_TRACE(checkpoint);
    EXPECT_THAT(ColumnarFindings(checkpoint), IsEmpty());
    ExpectWhole(checkpoint);
    ASSERT_FALSE(HasFailure());
  }
}

// --- Killed, and without room --------------------------------------------------------------------

// "failpoint:n read_only path directory"
const ChildBody kKilledMaker("killed maker of columnar checkpoints", [](const std::string& argument,
                                                                        const ChildBody::Say& say) {
  const Lines words = [&] {
    Lines split;
    for (size_t at = 0; at != std::string::npos;) {
      const size_t space = argument.find(' ', at);
      split.push_back(argument.substr(at, space - at));
      at = space == std::string::npos ? space : space + 1;
    }
    return split;
  }();
  const auto catalog = Catalog::Open(words[2], {.read_only = words[1] == "true"});
  if (!catalog.ok() || !ArmFailpointFromText(words[0]).ok()) {
    return 2;
  }
  const absl::Status status = CreateCheckpoint(**catalog, words[3]).status();
  say(status.ok() ? 'y' : 'n');
  return status.ok() ? 0 : 1;
});

TEST_F(CheckpointColumnar, KilledAtAnyPointIsNotThereAndHarmsNothing) {
  ApplyRandom(30);
  Flush();
  CompactAll();
  ApplyRandom(10);
  Flush();
  ApplyRandom(5);
  const size_t files = FilesOf(*catalog_).size();
  for (const char* read_only : {"true", "false"}) {
    catalog_.reset();
    std::map<std::string_view, size_t> kills;
    for (const Failpoint& failpoint : kFailpoints) {
      if (!failpoint.name.starts_with("checkpoint/")) {
        continue;
      }
      for (int pass = 1;; ++pass) {
        SCOPED_TRACE(StrCat("seed ", TestSeed(), ", ", failpoint.name, ":", pass));
        ChildProcess maker(kKilledMaker, StrCat(failpoint.name, ":", pass, " ", read_only, " ",
                                                path(), " ", directory()));
        const int end = maker.Wait();
        if (end != -SIGKILL) {
          ASSERT_EQ(end, 0) << "neither killed nor done";
          break;
        }
        ++kills[failpoint.name];
        ASSERT_FALSE(fs::exists(directory()));
      }
      EXPECT_THAT(ColumnarFindings(directory()), IsEmpty());
      ExpectWhole(directory());
      fs::remove_all(directory());
    }
    EXPECT_GE(kills["checkpoint/between_files"], 2 * files) << "when claimed, and when stored";
    ExpectWhole(path());
    ReopenWithMemory();
    EXPECT_EQ(FilesOnDisk(), FilesInManifest());
  }
}

// "bytes path directory": no file may become longer than so many bytes, as on a full disk.
const ChildBody kCrampedMaker("checkpoint maker without room", [](const std::string& argument,
                                                                  const ChildBody::Say& say) {
  const size_t first = argument.find(' ');
  const size_t second = argument.find(' ', first + 1);
  const auto catalog = Catalog::Open(argument.substr(first + 1, second - first - 1),
                                     {.read_only = true, .memory = MemoryMode::kOnDemand});
  const rlim_t bytes = std::stoull(argument.substr(0, first));
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  if (!catalog.ok() || std::signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
      setrlimit(RLIMIT_FSIZE, &limit) != 0) {
    return 2;
  }
  const bool made = CreateCheckpoint(**catalog, argument.substr(second + 1), {.copy = true}).ok();
  say(made ? 'y' : 'n');
  return made ? 0 : 1;
});

TEST_F(CheckpointColumnar, WithoutRoomLeavesNothingBehind) {
  ApplyRandom(40);
  Flush();
  ASSERT_TRUE(catalog_->store().Flush().ok());
  catalog_.reset();
  std::set<uint64_t> sizes;
  for (const auto& entry : fs::recursive_directory_iterator(path())) {
    if (entry.is_regular_file() && entry.path().filename().string().find("LOG") != 0) {
      sizes.insert(entry.file_size());
    }
  }
  const auto names_here = [&] { return NamesIn(dir_.path()); };
  const std::set<std::string> before = names_here();
  int failed = 0;
  for (const uint64_t size : sizes) {
    if (size == 0) {
      continue;
    }
    ChildProcess maker(kCrampedMaker, StrCat(size - 1, " ", path(), " ", directory()));
    const int end = maker.Wait();
    ASSERT_TRUE(end == 0 || end == 1) << end;
    failed += end;
    if (end == 0) {
      ExpectWhole(directory());
      fs::remove_all(directory());
    }
    EXPECT_EQ(names_here(), before) << size;
  }
  EXPECT_GT(failed, 3);
  ExpectWhole(path());
}

}  // namespace
}  // namespace varve
