// Readers beside a committing writer. Short; meant for ThreadSanitizer.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "catalog/store/row_store.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/catalog/child_process.h"

namespace varve {
namespace {

class Concurrency : public CatalogFixture {
 protected:
  static constexpr int kCommits = 60;
  static constexpr int kReaders = 3;

  // Commit n replaces table 1 by a version named n, and makes the count of heap rows n.
  static std::string Change(int n) {
    return StrCat("snapshot ", n, n > 1 ? StrCat("\n end table 1 @ ", n) : "",
                  "\n insert table 1 | - | ", n, " | - | 0 | ", n, "\n put table_stats 1 | ", n,
                  "\n insert view ", n, " | - | ", n);
  }

  // A view is one consistent state, and stays it.
  static void ExpectWhole(const ReadView& view) {
    const SnapshotId at = view.snapshot();
    const std::vector<std::string> tables = ScanTexts(view, "table", {.columns = {{5}}});
    const std::vector<std::string> stats = ScanTexts(view, "table_stats", {.columns = {{1}}});
    ASSERT_EQ(tables, at == 0 ? std::vector<std::string>() : std::vector{StrCat(at)});
    ASSERT_EQ(ScanTexts(view, "view", {.columns = {{0}}}).size(), at);
    ASSERT_EQ(GetText(view, "table", "1").empty(), at == 0);
    if (view.is_current()) {
      ASSERT_EQ(stats, tables) << "the state of one commit";
    }
  }
};

TEST_F(Concurrency, ReadersSeeWholeCommitsAndTheirViewsStay) {
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      const ReadView first = catalog_->Current();
      SnapshotId last = first.snapshot();
      while (!done.load()) {
        const ReadView view = catalog_->Current();
        ASSERT_GE(view.snapshot(), last) << "time does not go back";
        last = view.snapshot();
        ExpectWhole(view);
        const auto past = catalog_->At(last / 2);
        ASSERT_TRUE(past.ok()) << past.status();
        ExpectWhole(*past);
        const auto timed = catalog_->AtTime(SnapshotTime(static_cast<int64_t>(last / 2)));
        ASSERT_TRUE(timed.ok()) << timed.status();
        ASSERT_EQ(timed->snapshot(), last / 2);
        ExpectWhole(first);
      }
    });
  }
  for (int n = 1; n <= kCommits; ++n) {
    MustApply(Change(n));
    if (n % 20 == 0) {
      ASSERT_TRUE(catalog_->store().Flush().ok());
    }
  }
  done = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  ExpectWhole(catalog_->Current());
  EXPECT_EQ(catalog_->Current().snapshot(), static_cast<SnapshotId>(kCommits));
}

TEST_F(Concurrency, OneViewServesManyThreads) {
  for (int n = 1; n <= 20; ++n) {
    MustApply(Change(n));
  }
  const ReadView view = *catalog_->At(10);
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        ExpectWhole(view);
        ASSERT_EQ(GetText(view, "table", "1"), "1 | - | 10 | 11 | 0 | 10 | - | -");
      }
    });
  }
  for (int n = 21; n <= 40; ++n) {
    MustApply(Change(n));
  }
  for (std::thread& reader : readers) {
    reader.join();
  }
}

TEST_F(Concurrency, CommitsOfSeveralThreadsAreOneAfterTheOther) {
  constexpr int kWriters = 3;
  constexpr int kEach = 15;
  const Csn before = catalog_->Current().csn();
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kEach; ++i) {
        MustApply(StrCat("insert metadata same | ", writer * kEach + i, "\n insert metadata w",
                         writer * kEach + i, " | v"));
      }
    });
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  EXPECT_EQ(catalog_->Current().csn(), before + kWriters * kEach);
  EXPECT_EQ(Rows("metadata", {.key_prefix = {Datum::Bytes("same")}}).size(),
            static_cast<size_t>(kWriters * kEach))
      << "equal keys of different writers are kept apart";
}

TEST_F(Concurrency, ViewsMayOutliveTheCatalogOnOtherThreads) {
  MustApply(Change(1));
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([view = catalog_->Current()] { ExpectWhole(view); });
  }
  catalog_.reset();
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_TRUE(Catalog::Open(path()).ok());
}

// --- Two processes -------------------------------------------------------------------------------

constexpr SnapshotId kBusyCommits = 60;

// Commits, and merges files now and then, so that files are made and removed all the time.
const ChildBody kBusyWriter("busy writer", [](const std::string& path, const ChildBody::Say& say) {
  const auto catalog = Catalog::Open(path);
  for (SnapshotId n = 1; n <= kBusyCommits; ++n) {
    const ChangeSet changes =
        ChangesOf((*catalog)->Current().relations(),
                  StrCat("snapshot ", n, n > 1 ? StrCat("\n end table 1 @ ", n) : "",
                         "\n insert table 1 | - | ", n, " | - | 0 | ", n, "\n insert view ", n,
                         " | - | ", n));
    if (!(*catalog)->Apply(changes).ok()) {
      return 1;
    }
    if (n == 1) {
      say('s');
    }
    for (const Family family : {Family::kDefault, Family::kLive, Family::kEnded}) {
      RowStore& store = (*catalog)->store();
      if (n % 3 == 0 && !store.db().CompactRange({}, store.family(family), nullptr, nullptr).ok()) {
        return 1;
      }
    }
  }
  say('f');
  pause();
  return 0;
});

// A reader in another process opens again and again while files are replaced under it: every
// opening gives a whole state.
TEST(ConcurrencyOfProcesses, OpeningBesideABusyWriterGivesAWholeState) {
  const TempDir dir;
  const std::string path = dir / "catalog";
  ASSERT_TRUE(Catalog::Init(path, InitOptionsForTest()).ok());
  ChildProcess writer(kBusyWriter, path);
  ASSERT_EQ(writer.Hear(), 's');
  std::atomic<bool> finished = false;
  std::thread listener([&] {
    EXPECT_EQ(writer.Hear(), 'f') << "the writer failed";
    finished = true;
  });
  SnapshotId last = 1;
  const auto read = [&] {
    const auto catalog = Catalog::Open(path, {.read_only = true});
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    const ReadView view = (*catalog)->Current();
    ASSERT_GE(view.snapshot(), last) << "an acknowledged commit is missing";
    last = view.snapshot();
    ASSERT_EQ(ScanTexts(view, "snapshot", {.columns = {{0}}}).size(), last + 1);
    ASSERT_EQ(ScanTexts(view, "view", {.columns = {{0}}}).size(), last);
    ASSERT_EQ(ScanTexts(view, "table", {.columns = {{5}}}), std::vector{StrCat(last)});
    ASSERT_EQ(ScanTexts(view, "table", {.columns = {{5}}, .rows = ScanRows::kAllVersions}).size(),
              last);
  };
  while (!finished && !::testing::Test::HasFatalFailure()) {
    read();
  }
  listener.join();
  read();
  EXPECT_EQ(last, kBusyCommits);
}

}  // namespace
}  // namespace varve
