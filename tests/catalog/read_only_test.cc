// Reading beside a writer: refreshing, writing nothing, and what is done about files that are
// damaged or change.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "catalog/feed/change_feed.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_follower.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/child_process.h"

namespace varve {
namespace {

using ::testing::HasSubstr;

// Commit n replaces table 1 by a version named n, adds view n, and makes the count of table 1 n.
std::string Change(SnapshotId n) {
  return StrCat("snapshot ", n, n > 1 ? StrCat("\n end table 1 @ ", n) : "",
                "\n insert table 1 | - | ", n, " | - | 0 | ", n, "\n insert view ", n, " | - | ", n,
                "\n put table_stats 1 | ", n);
}

// A view shows the state of exactly one commit: every family says the same.
void ExpectWhole(const ReadView& view) {
  const SnapshotId at = view.last_snapshot();
  ASSERT_EQ(view.csn(), at + 1);
  ASSERT_EQ(ScanTexts(view, "snapshot", {.columns = {{0}}}).size(), at + 1);
  ASSERT_EQ(ScanTexts(view, "view", {.columns = {{0}}}).size(), at);
  const std::vector<std::string> last =
      at == 0 ? std::vector<std::string>() : std::vector{StrCat(at)};
  ASSERT_EQ(ScanTexts(view, "table", {.columns = {{5}}}), last);
  ASSERT_EQ(ScanTexts(view, "table_stats", {.columns = {{1}}}), last);
  ASSERT_EQ(ScanTexts(view, "table", {.columns = {{5}}, .rows = ScanRows::kAllVersions}).size(),
            at);
  // The change feed, too, is whole: every commit made one view.
  const auto reader = Changes(view, 1, view.csn(), {.relations = {kView}, .columns = {{}}});
  ASSERT_TRUE(reader.ok()) << reader.status();
  ChangeBatch batch;
  for (Csn csn = 2; csn <= view.csn(); ++csn) {
    const auto more = (*reader)->Next(&batch);
    ASSERT_TRUE(more.ok()) << more.status();
    ASSERT_EQ(batch.csn, csn);
  }
}

class ReadOnly : public CatalogFixture {
 protected:
  void SetUp() override {
    CatalogFixture::SetUp();
    // The writer's files change when a test says so, and not beside it.
    RowStore& store = catalog_->store();
    for (size_t i = 0; i < kNumFamilies; ++i) {
      rocksdb::ColumnFamilyHandle* const family = store.family(static_cast<Family>(i));
      ASSERT_TRUE(store.db().CompactRange({}, family, nullptr, nullptr).ok());
      ASSERT_TRUE(store.db().SetOptions(family, {{"disable_auto_compactions", "true"}}).ok());
    }
    absl::StatusOr<std::unique_ptr<Catalog>> reader = Catalog::Open(path(), {.read_only = true});
    ASSERT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }

  void MustCommit(SnapshotId n) { MustApply(Change(n)); }
  void MustRefresh() {
    const absl::Status status = reader_->Refresh();
    ASSERT_TRUE(status.ok()) << status;
  }

  std::unique_ptr<Catalog> reader_;  // catalog_ is the writer
};

TEST_F(ReadOnly, StandsStillUntilItIsRefreshed) {
  MustCommit(1);
  EXPECT_EQ(reader_->Current().snapshot(), 0U);
  MustRefresh();
  EXPECT_EQ(reader_->Current().snapshot(), 1U);
  ExpectWhole(reader_->Current());
  MustCommit(2);
  EXPECT_EQ(reader_->Current().snapshot(), 1U);
  EXPECT_TRUE(absl::IsNotFound(reader_->At(2).status()));
  MustRefresh();
  EXPECT_TRUE(reader_->At(2).ok());
  EXPECT_EQ(reader_->AtTime(SnapshotTime(2))->snapshot(), 2U);
}

TEST_F(ReadOnly, AWriterIsItsOwnLatestState) {
  MustCommit(1);
  EXPECT_TRUE(catalog_->Refresh().ok());
  EXPECT_EQ(catalog_->Current().snapshot(), 1U);
}

TEST_F(ReadOnly, ViewsKeepWhatTheySawThroughRefreshes) {
  std::vector<ReadView> views;
  for (SnapshotId n = 1; n <= 12; ++n) {
    MustCommit(n);
    if (n % 5 == 0) {
      ASSERT_TRUE(catalog_->store().Flush().ok());
    }
    MustRefresh();
    views.push_back(reader_->Current());
    for (SnapshotId i = 0; i < n; ++i) {
      ASSERT_EQ(views[i].snapshot(), i + 1);
      ExpectWhole(views[i]);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
  reader_.reset();
  ExpectWhole(views.back());
}

TEST_F(ReadOnly, ViewsMayOutliveTheWriterAndItsFiles) {
  MustCommit(1);
  MustRefresh();
  const ReadView view = reader_->Current();
  MustCommit(2);
  MustRefresh();
  MustCommit(3);
  ASSERT_TRUE(catalog_->store().Flush().ok());
  for (const Family family : {Family::kDefault, Family::kLive, Family::kEnded, Family::kChanges}) {
    RowStore& store = catalog_->store();
    ASSERT_TRUE(store.db().CompactRange({}, store.family(family), nullptr, nullptr).ok());
  }
  ExpectWhole(view);
  ExpectWhole(reader_->Current());
  catalog_.reset();
  ExpectWhole(view);
  std::filesystem::remove_all(path());
  ExpectWhole(view);
  EXPECT_FALSE(reader_->Refresh().ok());
  ExpectWhole(reader_->Current());
}

TEST_F(ReadOnly, SeesWhatANewWriterCommits) {
  MustCommit(1);
  Reopen();
  MustCommit(2);
  MustRefresh();
  ExpectWhole(reader_->Current());
  EXPECT_EQ(reader_->Current().snapshot(), 2U);
}

TEST_F(ReadOnly, RefusesToFollowAnotherCatalog) {
  MustCommit(1);
  MustRefresh();
  catalog_.reset();
  std::filesystem::remove_all(path());
  ASSERT_TRUE(Catalog::Init(path(), InitOptionsForTest()).ok());
  const absl::Status status = reader_->Refresh();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("another catalog"));
  ExpectWhole(reader_->Current());
}

TEST_F(ReadOnly, CannotCommit) {
  const absl::Status status =
      reader_->Apply(ChangesOf(reader_->Current().relations(), "put table_stats 1 | 1"));
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
}

// --- Which way is taken --------------------------------------------------------------------------

class Following : public ReadOnly {
 protected:
  void SetUp() override {
    ReadOnly::SetUp();
    follower_ = std::make_unique<StoreFollower>(reader_->LatestState());
  }

  // Refreshes, expects that commit n is what is seen, and lets the state before go.
  void MustFollow(SnapshotId n) {
    auto state = follower_->Refresh();
    ASSERT_TRUE(state.ok()) << state.status();
    state_ = *std::move(state);
    ASSERT_EQ(state_->last_snapshot, n);
    ExpectWhole(ReadView(state_, n));
  }
  std::string Ways() const {
    const FollowStats& stats = follower_->stats();
    return StrCat(stats.unchanged, " unchanged, ", stats.caught_up, " caught up, ",
                  stats.followers_opened, " opened, ", stats.reopened, " reopened");
  }

  std::unique_ptr<StoreFollower> follower_;
  std::shared_ptr<const StoreState> state_;
};

TEST_F(Following, TwoFollowersTakeTurnsWhileTheManifestStays) {
  MustFollow(0);
  EXPECT_EQ(Ways(), "1 unchanged, 0 caught up, 0 opened, 0 reopened");
  for (SnapshotId n = 1; n <= 10; ++n) {
    MustCommit(n);
    MustFollow(n);
  }
  MustFollow(10);
  EXPECT_EQ(Ways(), "2 unchanged, 8 caught up, 2 opened, 0 reopened");
}

TEST_F(Following, AFollowerThatIsReadDoesNotCatchUp) {
  MustCommit(1);
  MustFollow(1);
  const ReadView held(state_, 1);
  MustCommit(2);
  MustFollow(2);
  MustCommit(3);
  MustFollow(3);
  EXPECT_EQ(Ways(), "0 unchanged, 0 caught up, 3 opened, 0 reopened");
  ExpectWhole(held);
  MustCommit(4);
  MustFollow(4);
  EXPECT_EQ(Ways(), "0 unchanged, 1 caught up, 3 opened, 0 reopened");
}

// A secondary instance that catches up over a flush shows rows of before it.
TEST_F(Following, AChangedManifestMeansOpeningAnew) {
  for (SnapshotId n = 1; n <= 3; ++n) {
    MustCommit(n);
    MustFollow(n);
  }
  MustCommit(4);
  ASSERT_TRUE(catalog_->store().Flush().ok());
  MustFollow(4);
  EXPECT_EQ(Ways(), "0 unchanged, 1 caught up, 2 opened, 1 reopened");
  MustCommit(5);
  MustFollow(5);
  MustCommit(6);
  MustFollow(6);
  MustCommit(7);
  MustFollow(7);
  EXPECT_EQ(Ways(), "0 unchanged, 2 caught up, 4 opened, 1 reopened");
}

// --- Damage --------------------------------------------------------------------------------------

std::vector<std::string> FilesOf(const std::string& directory, std::string_view extension) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == extension) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void FlipByte(const std::string& file, std::streamoff from_end) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(-from_end, std::ios::end);
  const int byte = stream.get();
  stream.seekp(-from_end, std::ios::end);
  stream.put(static_cast<char>(byte ^ 0x40));
}

// A secondary instance shows an earlier state, without a word, when a file is missing or damaged.
TEST_F(Following, MissingAndDamagedTablesAreErrorsNotEarlierStates) {
  for (SnapshotId n = 1; n <= 4; ++n) {
    MustCommit(n);
    ASSERT_TRUE(catalog_->store().Flush().ok());
  }
  MustFollow(4);
  ASSERT_EQ(follower_->stats().reopened, 1U);
  MustCommit(5);  // only the log grows
  const std::vector<std::string> tables = FilesOf(StrCat(path(), "/rows"), ".sst");
  ASSERT_GE(tables.size(), 4U);
  for (const std::string& table : tables) {
    SCOPED_TRACE(table);
    const std::string aside = dir_ / "aside";
    std::filesystem::rename(table, aside);
    const auto missing = StoreFollower(state_).Refresh();
    EXPECT_TRUE(absl::IsDataLoss(missing.status())) << missing.status();
    std::filesystem::copy(aside, table);
    FlipByte(table, 3);  // in its last word, which says what it is
    const auto damaged = StoreFollower(state_).Refresh();
    EXPECT_TRUE(absl::IsDataLoss(damaged.status())) << damaged.status();
    std::filesystem::rename(aside, table);
    ExpectWhole(ReadView(state_, 4));
  }
  MustFollow(5);
  EXPECT_EQ(follower_->stats().followers_opened, 1U);
}

// A damaged record may look like one that is still being written: following does not wait for it.
TEST_F(Following, DamageAtTheEndOfTheLogIsNoticed) {
  MustCommit(1);
  MustFollow(1);
  MustCommit(2);
  MustFollow(2);
  MustCommit(3);
  MustCommit(4);
  const std::string log = FilesOf(StrCat(path(), "/rows"), ".log").back();
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(log));
  int noticed = 0;
  for (std::streamoff from_end = 1; from_end < std::min<std::streamoff>(size, 700);
       from_end += 13) {
    FlipByte(log, from_end);
    StoreFollower follower(reader_->LatestState());
    const auto state = follower.Refresh();
    if (state.ok()) {
      // The byte was not where it counts, or the damage looks like the end of a crashed write.
      ExpectWhole(ReadView(*state, (*state)->last_snapshot));
    } else {
      EXPECT_TRUE(absl::IsDataLoss(state.status())) << state.status();
      ++noticed;
    }
    FlipByte(log, from_end);
  }
  EXPECT_GT(noticed, 0);
  MustFollow(4);
}

// --- Nothing is written --------------------------------------------------------------------------

// Every file with what a write would change: size, times, inode, mode.
std::map<std::string, std::string> Inventory(const std::string& directory) {
  std::map<std::string, std::string> inventory;
  const auto note = [&](const std::filesystem::path& path) {
    struct stat info = {};
    EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
    inventory[path.string()] =
        StrCat(info.st_ino, " ", info.st_mode, " ", info.st_size, " ", info.st_mtim.tv_sec, ".",
               info.st_mtim.tv_nsec, " ", info.st_ctim.tv_sec, ".", info.st_ctim.tv_nsec, " ",
               info.st_nlink);
  };
  note(directory);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    note(entry.path());
  }
  return inventory;
}

TEST_F(ReadOnly, WritesNothingAtAll) {
  for (SnapshotId n = 1; n <= 3; ++n) {
    MustCommit(n);
    if (n == 2) {
      ASSERT_TRUE(catalog_->store().Flush().ok());
    }
  }
  reader_.reset();
  // With a writer beside it that has things in its log, and without one.
  for (const bool with_writer : {true, false}) {
    if (!with_writer) {
      catalog_.reset();
    }
    const auto before = Inventory(path());
    auto reader = Catalog::Open(path(), {.read_only = true});
    ASSERT_TRUE(reader.ok()) << reader.status();
    ExpectWhole((*reader)->Current());
    ASSERT_TRUE((*reader)->Refresh().ok());
    const auto follower = (*reader)->store().OpenFollower();
    ASSERT_TRUE(follower.ok()) << follower.status();
    ASSERT_TRUE((*follower)->CatchUp().ok());
    const auto state = TakeState(*follower);
    ASSERT_TRUE(state.ok()) << state.status();
    ExpectWhole(ReadView(*state, 3));
    EXPECT_EQ(Inventory(path()), before);
    reader->reset();
    EXPECT_EQ(Inventory(path()), before);
  }
}

// Reads without the right to write, as another user where this one may do everything.
const ChildBody kPowerlessReader("powerless reader", [](const std::string& path,
                                                        const ChildBody::Say& say) {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) {
    return 1;
  }
  if (std::ofstream(StrCat(path, "/rows/probe")).is_open()) {
    return 2;
  }
  const auto reader = Catalog::Open(path, {.read_only = true});
  if (!reader.ok() || (*reader)->Current().snapshot() != 2) {
    return 3;
  }
  say('o');
  while ((*reader)->Current().snapshot() < 5) {
    if (!(*reader)->Refresh().ok()) {
      return 4;
    }
  }
  return ScanTexts((*reader)->Current(), "view").size() == 5 ? 0 : 5;
});

TEST_F(ReadOnly, NeedsNoRightToWrite) {
  MustCommit(1);
  MustCommit(2);
  namespace fs = std::filesystem;
  const fs::perms no_write = fs::perms::owner_read | fs::perms::owner_exec | fs::perms::group_read |
                             fs::perms::group_exec | fs::perms::others_read |
                             fs::perms::others_exec;
  if (geteuid() != 0) {
    // The writer has its files open; only new ones would need the right.
    fs::permissions(StrCat(path(), "/rows"), no_write);
    fs::permissions(path(), no_write);
  }
  ChildProcess reader(kPowerlessReader, path());
  ASSERT_EQ(reader.Hear(), 'o') << "exit code " << reader.Wait();
  for (SnapshotId n = 3; n <= 5; ++n) {
    MustCommit(n);
  }
  EXPECT_EQ(reader.Wait(), 0);
  fs::permissions(path(), fs::perms::owner_all, fs::perm_options::add);
  fs::permissions(StrCat(path(), "/rows"), fs::perms::owner_all, fs::perm_options::add);
}

// --- A busy writer in another process ------------------------------------------------------------

constexpr SnapshotId kBusyCommits = 400;

// Commits in a loop and says so after each; flushes and merges files now and then, one family or
// all, so that files and logs are made and removed all the time.
const ChildBody kBusyWriter("follower's writer", [](const std::string& path,
                                                    const ChildBody::Say& say) {
  const auto catalog = Catalog::Open(path);
  if (!catalog.ok()) {
    return 1;
  }
  for (SnapshotId n = 1; n <= kBusyCommits; ++n) {
    if (!(*catalog)->Apply(ChangesOf((*catalog)->Current().relations(), Change(n))).ok()) {
      return 2;
    }
    say('c');
    RowStore& store = (*catalog)->store();
    const Family one = static_cast<Family>(n / 17 % kNumFamilies);
    if (n % 17 == 0 && !store.db().Flush({}, store.family(one)).ok()) {
      return 3;
    }
    if (n % 41 == 0 && !store.Flush().ok()) {
      return 4;
    }
    if (n % 59 == 0 && !store.db().CompactRange({}, store.family(one), nullptr, nullptr).ok()) {
      return 5;
    }
  }
  return 0;
});

// Each refresh gives a whole state that holds what was acknowledged before it began, and never one
// older than before. The writer begins a commit when the one before is acknowledged, so a whole
// state beyond what was acknowledged is that of the one commit under way.
TEST_F(ReadOnly, FollowsABusyWriterWholeCommitByWholeCommit) {
  catalog_.reset();
  ChildProcess writer(kBusyWriter, path());
  std::atomic<SnapshotId> acknowledged = 0;
  std::thread listener([&] {
    while (writer.Hear() == 'c') {
      ++acknowledged;
    }
  });
  // Reads what the latest refresh shows all the time.
  std::atomic<bool> done = false;
  std::thread other_reader([&] {
    SnapshotId last = 0;
    while (!done.load() && !HasFatalFailure()) {
      const ReadView view = reader_->Current();
      ASSERT_GE(view.snapshot(), last) << "a refresh went back";
      last = view.snapshot();
      ExpectWhole(view);
    }
  });
  std::vector<ReadView> held;
  std::set<SnapshotId> seen;
  const auto follow = [&] {
    SnapshotId last = 0;
    while (last < kBusyCommits && !HasFatalFailure()) {
      const SnapshotId before = acknowledged.load();
      const absl::Status status = reader_->Refresh();
      ASSERT_TRUE(status.ok()) << status;
      const ReadView view = reader_->Current();
      ExpectWhole(view);
      ASSERT_GE(view.snapshot(), before) << "an acknowledged commit is missing";
      ASSERT_GE(view.snapshot(), last) << "older than before";
      last = view.snapshot();
      seen.insert(last);
      if (seen.size() % 10 == 0) {
        held.push_back(view);
      }
      if (held.size() > 3) {
        held.erase(held.begin());
      }
    }
  };
  follow();
  done = true;
  other_reader.join();
  if (HasFatalFailure()) {
    writer.Kill();
    listener.join();
    return;
  }
  listener.join();
  EXPECT_EQ(writer.Wait(), 0);
  for (const ReadView& view : held) {
    ExpectWhole(view);
  }
  EXPECT_FALSE(seen.empty());
}

}  // namespace
}  // namespace varve
