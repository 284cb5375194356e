// Checkpoints: made beside a writer in this process and in another one, damaged, restored, and
// killed while they are made.

#include "catalog/backup/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/failpoint.h"
#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/child_process.h"
#include "tests/catalog/fault_file_system.h"
#include "tests/catalog/lake_script.h"

namespace varve {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Lines = std::vector<std::string>;

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Puts a new file in the place of an old one: other names of the old one keep its bytes.
void Replace(const std::string& path, const std::string& bytes) {
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

// Names and contents of all files below a directory.
std::map<std::string, std::string> FilesBelow(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    files[entry.path().string()] = entry.is_regular_file() ? ReadWhole(entry.path()) : "";
  }
  return files;
}

absl::Status Verified(const std::string& directory) {
  Lines findings;
  const absl::Status status = VerifyCheckpoint(directory, {}, {}, [&](const Finding& finding) {
                                findings.push_back(FindingText(finding));
                              }).status();
  EXPECT_THAT(findings, IsEmpty());
  return status;
}

Lines EverythingAt(const std::string& path) {
  const auto catalog = Catalog::Open(path, {.read_only = true});
  EXPECT_TRUE(catalog.ok()) << catalog.status();
  return catalog.ok() ? EverythingIn((*catalog)->Current()) : Lines();
}

bool SharesFilesWith(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat other {};
  return stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 && one.st_ino == other.st_ino;
}

class Checkpoint : public CatalogFixture {
 protected:
  std::string directory() const { return dir_ / "checkpoint"; }

  // Commits steps of the script up to this one.
  void CommitUpTo(size_t step) {
    while (committed_ < step) {
      const absl::Status status = script_.Commit(catalog_.get(), ++committed_);
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  CheckpointSummary MustCreate(const std::string& directory,
                               const CheckpointOptions& options = {}) {
    auto summary = CreateCheckpoint(*catalog_, directory, options);
    EXPECT_TRUE(summary.ok()) << summary.status();
    return summary.ok() ? *std::move(summary) : CheckpointSummary();
  }

  // Expects that creating fails so, and that nothing is left.
  void ExpectRefused(const std::string& directory, absl::StatusCode code, std::string_view part) {
    const auto before = FilesBelow(dir_.path());
    ExpectError(CreateCheckpoint(*catalog_, directory).status(), code, part);
    const auto after = FilesBelow(dir_.path());
    for (const auto& [name, content] : after) {
      // The catalog's own store may flush and compact meanwhile, and a file system of the test then
      // keeps what it removes.
      EXPECT_TRUE(before.contains(name) || name.starts_with(StrCat(path(), "/rows/")) ||
                  name.starts_with(dir_ / "attic"))
          << name << " was left";
    }
  }
  static void ExpectError(const absl::Status& status, absl::StatusCode code,
                          std::string_view part) {
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(MessageOf(status)), HasSubstr(std::string(part)));
    EXPECT_EQ(MessageOf(status).find('\n'), std::string_view::npos) << status;
  }

  LakeScript script_{60};
  size_t committed_ = 0;
};

// --- What a checkpoint is ------------------------------------------------------------------------

TEST_F(Checkpoint, HoldsTheCatalogAsItWas) {
  CommitUpTo(20);
  const Lines expected = EverythingIn(catalog_->Current());
  const CheckpointSummary summary = MustCreate(directory());
  EXPECT_EQ(summary.info.uuid, catalog_->uuid());
  EXPECT_EQ(summary.info.csn, catalog_->Current().csn());
  EXPECT_EQ(summary.info.last_snapshot, 20U);
  EXPECT_EQ(summary.linked_bytes + summary.copied_bytes, summary.info.total_bytes());
  EXPECT_EQ(EverythingAt(directory()), expected);
  EXPECT_TRUE(Verified(directory()).ok()) << Verified(directory());

  // It stays so, whatever becomes of the catalog.
  CommitUpTo(40);
  ASSERT_TRUE(catalog_->store().Flush().ok());
  for (const Family family : {Family::kLive, Family::kEnded, Family::kDefault}) {
    ASSERT_TRUE(catalog_->store()
                    .db()
                    .CompactRange({}, catalog_->store().family(family), nullptr, nullptr)
                    .ok());
  }
  Reopen();
  EXPECT_EQ(EverythingAt(directory()), expected);
  EXPECT_TRUE(Verified(directory()).ok()) << Verified(directory());
}

TEST_F(Checkpoint, SaysWhatItHolds) {
  CommitUpTo(3);
  const CheckpointSummary summary = MustCreate(directory());
  const auto info = ReadCheckpointInfo(directory());
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->uuid, catalog_->uuid());
  EXPECT_EQ(info->csn, summary.info.csn);
  EXPECT_EQ(info->last_snapshot, 3U);
  EXPECT_LT(absl::Now() - info->created, absl::Hours(1));
  Lines names;
  for (const CheckpointFile& file : info->files) {
    names.push_back(file.name);
    EXPECT_EQ(file.size, fs::file_size(StrCat(directory(), "/", file.name)));
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"VARVE", "rows/CURRENT"}));
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(directory())) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, names.size() + 1) << "all but CHECKPOINT itself";
}

TEST_F(Checkpoint, SharesTableFilesUnlessAskedToCopy) {
  CommitUpTo(10);
  ASSERT_TRUE(catalog_->store().Flush().ok());
  const CheckpointSummary shared = MustCreate(directory());
  const CheckpointSummary copied = MustCreate(dir_ / "copied", {.copy = true});
  EXPECT_GT(shared.linked_bytes, 0U);
  EXPECT_EQ(copied.linked_bytes, 0U);
  for (const CheckpointFile& file : shared.info.files) {
    EXPECT_EQ(SharesFilesWith(StrCat(path(), "/", file.name), StrCat(directory(), "/", file.name)),
              file.name.ends_with(".sst"))
        << file.name;
  }
  for (const CheckpointFile& file : copied.info.files) {
    EXPECT_FALSE(
        SharesFilesWith(StrCat(path(), "/", file.name), StrCat(dir_ / "copied", "/", file.name)))
        << file.name;
  }
  EXPECT_EQ(EverythingAt(dir_ / "copied"), EverythingAt(directory()));
  EXPECT_TRUE(Verified(dir_ / "copied").ok());
}

TEST_F(Checkpoint, IsReadInPlaceAndNeverWrittenTo) {
  CommitUpTo(5);
  MustCreate(directory());
  const auto files = FilesBelow(directory());
  EXPECT_EQ(EverythingAt(directory()), EverythingIn(catalog_->Current()));
  ExpectError(Catalog::Open(directory()).status(), absl::StatusCode::kFailedPrecondition,
              "checkpoint restore");
  EXPECT_EQ(FilesBelow(directory()), files);
}

TEST_F(Checkpoint, OfACheckpointAndOfACatalogThatIsOpenReadOnly) {
  CommitUpTo(9);
  const Lines expected = EverythingIn(catalog_->Current());
  catalog_.reset();
  Reopen({.read_only = true});
  const auto before = FilesBelow(path());
  MustCreate(directory());
  EXPECT_EQ(FilesBelow(path()), before) << "the catalog is only read";
  const auto checkpoint = Catalog::Open(directory(), {.read_only = true});
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  const auto second = CreateCheckpoint(**checkpoint, dir_ / "second");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(Verified(dir_ / "second").ok());
  EXPECT_EQ(EverythingAt(dir_ / "second"), expected);
}

TEST_F(Checkpoint, ReportsItsProgress) {
  CommitUpTo(9);
  uint64_t last = 0;
  uint64_t expected_total = 0;
  const CheckpointOptions options{.on_progress = [&](uint64_t bytes, uint64_t total) {
    EXPECT_GT(bytes, last);
    EXPECT_LE(bytes, total);
    last = bytes;
    expected_total = total;
  }};
  MustCreate(directory(), options);
  EXPECT_EQ(last, expected_total);
  for (const auto& step :
       {+[](const std::string&d, const std::string&, const CheckpointOptions&o) {
          return CheckCheckpointFiles(d, o).status();
        },
        +[](const std::string&d, const std::string&p, const CheckpointOptions&o) {
          return RestoreCheckpoint(d, p, o).status();
        }}) {
    last = 0;
    EXPECT_TRUE(step(directory(), dir_ / "restored", options).ok());
    EXPECT_EQ(last, expected_total);
  }
}

// --- Beside a writer -----------------------------------------------------------------------------

TEST_F(Checkpoint, BesideAThreadThatCommitsHoldsOneCommit) {
  std::mutex mutex;
  std::map<Csn, Lines> states;  // by csn
  std::atomic<Csn> acknowledged = 1;
  std::thread writer([&] {
    for (size_t step = 1; step <= script_.num_steps(); ++step) {
      ASSERT_TRUE(script_.Commit(catalog_.get(), step).ok());
      const ReadView view = catalog_->Current();
      {
        const std::lock_guard<std::mutex> lock(mutex);
        states[view.csn()] = EverythingIn(view);
      }
      acknowledged = view.csn();
      if (step % 5 == 0) {
        ASSERT_TRUE(catalog_->store().Flush().ok());
      }
    }
  });
  std::map<std::string, Csn> at_least;  // by checkpoint
  do {
    const std::string checkpoint = dir_ / StrCat("checkpoint", at_least.size());
    const Csn before = acknowledged;
    EXPECT_GE(MustCreate(checkpoint).info.csn, before);
    at_least[checkpoint] = before;
  } while (acknowledged < script_.num_steps() + 1 && !HasFailure());
  writer.join();
  for (const auto& [checkpoint, csn] : at_least) {
    const auto opened = Catalog::Open(checkpoint, {.read_only = true});
    ASSERT_TRUE(opened.ok()) << opened.status();
    const ReadView view = (*opened)->Current();
    ASSERT_GE(view.csn(), csn) << "an acknowledged commit is missing";
    if (view.csn() > 1) {
      ASSERT_EQ(EverythingIn(view), states.at(view.csn()));
    }
    ASSERT_TRUE(Verified(checkpoint).ok()) << Verified(checkpoint);
  }
}

constexpr size_t kChildSteps = 60;

// Commits the script and calls `done` after each step; memtables are flushed often. Messages are
// so long that files are compacted, too.
bool CommitBusily(Catalog* catalog, const std::function<void()>& done) {
  const LakeScript script(kChildSteps);
  for (size_t step = 1; step <= kChildSteps; ++step) {
    const std::string message(10'000, static_cast<char>('a' + step % 26));
    if (!script.Commit(catalog, step, message).ok() ||
        (step % 4 == 0 && !catalog->store().Flush().ok())) {
      return false;
    }
    done();
  }
  return true;
}

const ChildBody kWriter("checkpoint writer", [](const std::string& path,
                                                const ChildBody::Say& say) {
  const auto catalog = Catalog::Open(path);
  return catalog.ok() && CommitBusily(catalog->get(), [&] { say('.'); }) ? 0 : 1;
});

TEST_F(Checkpoint, BesideAnotherProcessThatCommitsHoldsOneCommit) {
  std::vector<Lines> states = {{}, EverythingIn(catalog_->Current())};  // by csn
  ASSERT_TRUE(
      CommitBusily(catalog_.get(), [&] { states.push_back(EverythingIn(catalog_->Current())); }));
  catalog_.reset();
  fs::remove_all(path());
  CopyNewCatalog(path());

  ChildProcess writer(kWriter, path());
  std::atomic<size_t> acknowledged = 0;
  std::atomic<bool> finished = false;
  std::thread listener([&] {
    while (writer.Hear() != '\0') {
      ++acknowledged;
    }
    finished = true;
  });
  std::vector<std::string> checkpoints;
  do {
    const size_t before = acknowledged;
    const auto catalog = Catalog::Open(path(), {.read_only = true});
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    const std::string checkpoint = dir_ / StrCat("checkpoint", checkpoints.size());
    // Every other one of copies, which takes longer than links.
    const auto summary =
        CreateCheckpoint(**catalog, checkpoint, {.copy = checkpoints.size() % 2 == 1});
    EXPECT_TRUE(summary.ok()) << summary.status();
    EXPECT_TRUE(!summary.ok() || summary->info.last_snapshot >= before);
    checkpoints.push_back(checkpoint);
  } while (!finished && !HasFailure());
  listener.join();
  EXPECT_EQ(writer.Wait(), 0);
  EXPECT_EQ(acknowledged, kChildSteps);
  for (const std::string& checkpoint : checkpoints) {
    ASSERT_TRUE(Verified(checkpoint).ok()) << Verified(checkpoint);
    const auto opened = Catalog::Open(checkpoint, {.read_only = true});
    ASSERT_TRUE(opened.ok()) << opened.status();
    const ReadView view = (*opened)->Current();
    ASSERT_EQ(EverythingIn(view), states.at(view.csn()));
  }
}

// --- Restoring -----------------------------------------------------------------------------------

TEST_F(Checkpoint, RestoresToACatalogThatGoesOnByItself) {
  CommitUpTo(20);
  const Lines expected = EverythingIn(catalog_->Current());
  MustCreate(directory());
  CommitUpTo(30);
  const auto files = FilesBelow(directory());

  const std::string restored = dir_ / "restored";
  const auto summary = RestoreCheckpoint(directory(), restored);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->info.csn, 21U);
  EXPECT_GT(summary->linked_bytes, 0U);
  auto catalog = Catalog::Open(restored);
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  EXPECT_EQ((*catalog)->uuid(), catalog_->uuid());
  EXPECT_EQ(EverythingIn((*catalog)->Current()), expected);

  // Whatever is written to it stays in it.
  for (size_t step = 21; step <= 60; ++step) {
    ASSERT_TRUE(script_.Commit(catalog->get(), step).ok());
    if (step % 10 == 0) {
      ASSERT_TRUE((*catalog)->store().Flush().ok());
    }
  }
  for (const Family family : {Family::kLive, Family::kEnded, Family::kDefault}) {
    ASSERT_TRUE((*catalog)
                    ->store()
                    .db()
                    .CompactRange({}, (*catalog)->store().family(family), nullptr, nullptr)
                    .ok());
  }
  EXPECT_THAT(FindingsIn((*catalog)->Current()), IsEmpty());
  catalog->reset();
  EXPECT_EQ(FilesBelow(directory()), files);
  EXPECT_TRUE(Verified(directory()).ok());
  EXPECT_EQ(catalog_->Current().last_snapshot(), 30U);
  EXPECT_THAT(FindingsIn(catalog_->Current()), IsEmpty());
}

TEST_F(Checkpoint, RestoresWithoutTheCatalogAndByCopy) {
  CommitUpTo(12);
  const Lines expected = EverythingIn(catalog_->Current());
  MustCreate(directory());
  catalog_.reset();
  fs::remove_all(path());
  const auto summary = RestoreCheckpoint(directory(), path(), {.copy = true});
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->linked_bytes, 0U);
  fs::remove_all(directory());
  Reopen();
  EXPECT_EQ(EverythingIn(catalog_->Current()), expected);
  committed_ = 12;
  CommitUpTo(13);
}

// --- Damage --------------------------------------------------------------------------------------

class DamagedCheckpoint : public Checkpoint {
 protected:
  void SetUp() override {
    Checkpoint::SetUp();
    CommitUpTo(15);
    info_ = MustCreate(directory()).info;
    ASSERT_GE(info_.files.size(), 5U);
  }

  // Expects that verifying and restoring both name the damage, and that nothing is restored.
  void ExpectFound(const std::string& part) {
    ExpectError(Verified(directory()), absl::StatusCode::kDataLoss, part);
    ExpectNotRestored(absl::StatusCode::kDataLoss, part);
  }
  void ExpectNotRestored(absl::StatusCode code, const std::string& part) {
    ExpectError(RestoreCheckpoint(directory(), dir_ / "restored").status(), code, part);
    EXPECT_FALSE(fs::exists(dir_ / "restored"));
    EXPECT_FALSE(fs::exists(dir_ / "restored.restoring"));
  }

  CheckpointInfo info_;
};

TEST_F(DamagedCheckpoint, EveryFileIsFoundToBeDamagedCutOffGrownOrMissing) {
  for (const CheckpointFile& file : info_.files) {
    const std::string path = StrCat(directory(), "/", file.name);
    const std::string whole = ReadWhole(path);
    if (!whole.empty()) {
      std::string flipped = whole;
      flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
      Replace(path, flipped);
      ExpectFound(StrCat(file.name, " is damaged"));
      Replace(path, whole.substr(1));
      ExpectFound(StrCat(file.name, " is cut off"));
    }
    Replace(path, StrCat(whole, "x"));
    ExpectFound(StrCat(file.name, " has grown"));
    fs::remove(path);
    ExpectFound(StrCat(file.name, " is missing"));
    Replace(path, whole);
  }
  EXPECT_TRUE(Verified(directory()).ok()) << "the files are whole again";
}

TEST_F(DamagedCheckpoint, EveryByteOfTheStatementCounts) {
  const std::string path = StrCat(directory(), "/CHECKPOINT");
  const std::string whole = ReadWhole(path);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    ASSERT_EQ(ParseCheckpointInfo(flipped).status().code(), absl::StatusCode::kDataLoss) << at;
    ASSERT_EQ(ParseCheckpointInfo(whole.substr(0, at)).status().code(), absl::StatusCode::kDataLoss)
        << at;
  }
  EXPECT_TRUE(ParseCheckpointInfo(whole).ok());
  Replace(path, whole.substr(0, whole.size() / 2));
  ExpectFound("CHECKPOINT: its last line is no checksum");
  Replace(path, whole.substr(0, whole.find("uuid")) + "uuid x" +
                    whole.substr(whole.find('\n', whole.find("uuid"))));
  ExpectFound("CHECKPOINT: its lines do not fit its checksum");
  fs::remove(path);
  ExpectError(Verified(directory()), absl::StatusCode::kNotFound, "no checkpoint");
  ExpectNotRestored(absl::StatusCode::kNotFound, "no checkpoint");
}

TEST_F(DamagedCheckpoint, AStatementOfAnotherCommitIsFound) {
  CheckpointInfo other = info_;
  other.csn += 1;
  Replace(StrCat(directory(), "/CHECKPOINT"), SerializeCheckpointInfo(other));
  ExpectFound("CHECKPOINT says commit 17");
}

TEST_F(DamagedCheckpoint, ANewerFormatIsNotTakenForDamage) {
  const std::string path = StrCat(directory(), "/CHECKPOINT");
  std::string text = ReadWhole(path);
  text.replace(text.find("format 1"), 8, "format 3");
  Replace(path, text);
  ExpectError(Verified(directory()), absl::StatusCode::kFailedPrecondition, "newer varve");
  ExpectNotRestored(absl::StatusCode::kFailedPrecondition, "newer varve");
}

TEST_F(DamagedCheckpoint, AFileThatDoesNotBelongToItIsFound) {
  std::ofstream(StrCat(directory(), "/rows/000999.log")) << "x";
  fs::create_directory(StrCat(directory(), "/more"));
  ExpectError(Verified(directory()), absl::StatusCode::kDataLoss,
              "more does not belong to it; rows/000999.log does not belong to it");
  // A restore takes the files of the statement, nothing else.
  ASSERT_TRUE(RestoreCheckpoint(directory(), dir_ / "restored").ok());
  EXPECT_FALSE(fs::exists(dir_ / "restored/rows/000999.log"));
  EXPECT_EQ(EverythingAt(dir_ / "restored"), EverythingIn(catalog_->Current()));
}

TEST_F(DamagedCheckpoint, AStatementCannotMakeARestoreWriteElsewhere) {
  for (const char* name : {"../stolen", "rows/../../stolen", "rows/..", "rows/", "/tmp/stolen",
                           "rows/a/b", "varve.lock", "columnar", "columnar/", "columnar/notes.txt",
                           "columnar/../00000001.vcol", "columnar/a/00000001.vcol"}) {
    CheckpointInfo info = info_;
    info.files.push_back({.name = name});
    ExpectError(ParseCheckpointInfo(SerializeCheckpointInfo(info)).status(),
                absl::StatusCode::kDataLoss, "list of files");
  }
}

TEST_F(DamagedCheckpoint, RulesThatItsCatalogBreaksAreReported) {
  MustApply("snapshot 90\n insert table 99 | - | 90 | - | 77 | lost | lost/ | true");
  MustCreate(dir_ / "odd");
  Lines findings;
  const auto summary = VerifyCheckpoint(dir_ / "odd", {}, {}, [&](const Finding& finding) {
    findings.push_back(FindingText(finding));
  });
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_GT(summary->errors, 0U);
  EXPECT_THAT(findings, ::testing::Contains(HasSubstr("table-without-columns")));
}

// --- Bad input -----------------------------------------------------------------------------------

TEST_F(Checkpoint, NeedsAPlaceOfItsOwn) {
  CommitUpTo(2);
  fs::create_directory(dir_ / "taken");
  std::ofstream(dir_ / "taken/file") << "mine";
  std::ofstream(dir_ / "file") << "mine";
  fs::create_symlink("nowhere", dir_ / "dangling");
  fs::create_symlink(path(), dir_ / "link");
  using absl::StatusCode;
  ExpectRefused(dir_ / "taken", StatusCode::kAlreadyExists, "exists");
  ExpectRefused(dir_ / "file", StatusCode::kAlreadyExists, "exists");
  ExpectRefused(dir_ / "dangling", StatusCode::kAlreadyExists, "exists");
  ExpectRefused("", StatusCode::kInvalidArgument, "empty");
  ExpectRefused(path(), StatusCode::kAlreadyExists, "holds a catalog already");
  ExpectRefused(StrCat(path(), "/inside"), StatusCode::kInvalidArgument, "inside the catalog");
  ExpectRefused(StrCat(path(), "/rows/inside"), StatusCode::kInvalidArgument, "inside the catalog");
  ExpectRefused(StrCat(dir_ / "link", "/inside"), StatusCode::kInvalidArgument,
                "inside the catalog");
  ExpectRefused(StrCat(path(), "/inside/"), StatusCode::kInvalidArgument, "inside the catalog");
  ExpectRefused(StrCat(dir_ / "taken", "/../catalog/inside"), StatusCode::kInvalidArgument,
                "inside the catalog");
  ExpectRefused(dir_ / "nowhere/checkpoint", StatusCode::kNotFound, "nowhere/checkpoint.making");
  // A name that begins as the catalog's is not inside it; slashes at the end do not matter.
  MustCreate(StrCat(path(), "-copy//"));
  EXPECT_TRUE(Verified(StrCat(path(), "-copy/")).ok()) << Verified(StrCat(path(), "-copy/"));
}

TEST_F(Checkpoint, OfACatalogNamedWithASlashAtItsEndIsNotMadeInsideIt) {
  catalog_.reset();
  const auto catalog = Catalog::Open(StrCat(path(), "/"));
  ASSERT_TRUE(catalog.ok()) << catalog.status();
  ExpectError(CreateCheckpoint(**catalog, StrCat(path(), "/inside")).status(),
              absl::StatusCode::kInvalidArgument, "inside the catalog");
}

TEST_F(Checkpoint, AfterAFailedWriteIsRefused) {
  catalog_.reset();
  const auto file_system = std::make_shared<FaultFileSystem>(dir_ / "attic");
  Reopen({.file_system = file_system});
  CommitUpTo(3);
  // Every call fails until one of them is the commit's: the store may write on its own, too.
  file_system->Arm({.at = 1, .lasting = true});
  EXPECT_FALSE(script_.Commit(catalog_.get(), 4).ok());
  EXPECT_GT(file_system->log_failures(), 0U) << file_system->failed_calls();
  file_system->Arm({});
  ExpectRefused(directory(), absl::StatusCode::kInternal, "an earlier write");
}

TEST_F(Checkpoint, ClearsWhatAKilledOneLeftAndNothingElse) {
  fs::create_directory(dir_ / "checkpoint.making");
  std::ofstream(dir_ / "checkpoint.making/mine") << "mine";
  ExpectRefused(directory(), absl::StatusCode::kAlreadyExists, "is in the way");
  EXPECT_EQ(ReadWhole(dir_ / "checkpoint.making/mine"), "mine");
  std::ofstream(dir_ / "checkpoint.making/varve.lock") << "";
  MustCreate(directory());
  EXPECT_FALSE(fs::exists(dir_ / "checkpoint.making"));
  EXPECT_FALSE(fs::exists(StrCat(directory(), "/mine")));
  EXPECT_TRUE(Verified(directory()).ok());
}

TEST_F(Checkpoint, WaitsForNoOtherThatIsBeingMadeThere) {
  const auto work = CatalogLock::Acquire(dir_.path());
  ASSERT_TRUE(work.ok());
  fs::create_directory(dir_ / "checkpoint.making");
  const auto lock = CatalogLock::Acquire(dir_ / "checkpoint.making");
  ASSERT_TRUE(lock.ok()) << lock.status();
  ExpectRefused(directory(), absl::StatusCode::kUnavailable, "process");
}

TEST_F(Checkpoint, RestoresOnlyWhatIsThereAndOnlyToAPlaceOfItsOwn) {
  CommitUpTo(2);
  MustCreate(directory());
  using absl::StatusCode;
  const auto restore = [&](const std::string& from, const std::string& to) {
    return RestoreCheckpoint(from, to).status();
  };
  ExpectError(restore(directory(), path()), StatusCode::kAlreadyExists, "holds a catalog already");
  ExpectError(restore(directory(), directory()), StatusCode::kAlreadyExists, "holds a catalog");
  ExpectError(restore(directory(), StrCat(directory(), "/inside")), StatusCode::kInvalidArgument,
              "inside the checkpoint");
  ExpectError(restore(directory(), dir_ / "nowhere/catalog"), StatusCode::kNotFound, "nowhere");
  ExpectError(restore(dir_ / "nothing", dir_ / "new"), StatusCode::kNotFound, "does not exist");
  ExpectError(restore(path(), dir_ / "new"), StatusCode::kNotFound, "is no checkpoint");
  EXPECT_FALSE(fs::exists(dir_ / "new"));
  EXPECT_TRUE(Verified(directory()).ok()) << Verified(directory());
}

TEST_F(Checkpoint, OfACatalogWithAMissingFileIsRefused) {
  CommitUpTo(6);
  ASSERT_TRUE(catalog_->store().Flush().ok());
  for (const auto& entry : fs::directory_iterator(StrCat(path(), "/rows"))) {
    if (entry.path().extension() == ".sst") {
      fs::remove(entry.path());
    }
  }
  ExpectRefused(directory(), absl::StatusCode::kDataLoss, "missing");
}

// --- Killed --------------------------------------------------------------------------------------

// "failpoint:n path directory"
const ChildBody kKilledMaker("killed checkpoint maker", [](const std::string& argument,
                                                           const ChildBody::Say& say) {
  const size_t first = argument.find(' ');
  const size_t second = argument.find(' ', first + 1);
  const auto catalog = Catalog::Open(argument.substr(first + 1, second - first - 1));
  if (!catalog.ok() || !ArmFailpointFromText(argument.substr(0, first)).ok()) {
    return 2;
  }
  const bool made = CreateCheckpoint(**catalog, argument.substr(second + 1)).ok();
  say(made ? 'y' : 'n');
  return made ? 0 : 1;
});

TEST_F(Checkpoint, KilledWhileItIsMadeIsNotThereAndHarmsNothing) {
  CommitUpTo(10);
  const Lines expected = EverythingIn(catalog_->Current());
  catalog_.reset();
  std::map<std::string_view, int> kills;
  for (const Failpoint& failpoint : kFailpoints) {
    if (!failpoint.name.starts_with("checkpoint/")) {
      continue;
    }
    for (int pass = 1;; ++pass) {
      ChildProcess maker(kKilledMaker,
                         StrCat(failpoint.name, ":", pass, " ", path(), " ", directory()));
      const int end = maker.Wait();
      if (end != -SIGKILL) {
        ASSERT_EQ(end, 0) << "neither killed nor done";
        break;
      }
      ++kills[failpoint.name];
      ASSERT_FALSE(fs::exists(directory()));
      Reopen();
      ASSERT_EQ(EverythingIn(catalog_->Current()), expected);
      catalog_.reset();
    }
    ASSERT_GT(kills[failpoint.name], 0) << failpoint.name << " is never passed";
    ASSERT_TRUE(Verified(directory()).ok()) << Verified(directory());
    ASSERT_EQ(EverythingAt(directory()), expected);
    fs::remove_all(directory());
  }
  EXPECT_EQ(kills.size(), 3U);
  EXPECT_GT(kills["checkpoint/between_files"], 5);
}

}  // namespace
}  // namespace varve
