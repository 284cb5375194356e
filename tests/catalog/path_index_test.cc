// The index of paths: that it finds every file of a view, whatever was committed since it was read.

#include "catalog/transaction/path_index.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "catalog/feed/changes_truncation.h"
#include "catalog/store/commit.h"
#include "catalog/store/commit_queue.h"
#include "catalog/transaction/footprint.h"
#include "tests/catalog/catalog_fixture.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class PathIndexTest : public CatalogFixture {
 protected:
  static std::string DataFileLine(int64_t id, int64_t table, std::string_view path) {
    return StrCat("insert data_file ", id, " | ", table, " | ", 1, " | - | - | ", path,
                  " | true | parquet | 1 | 1 | 1 | 0\n");
  }

  // "0" for data file 0 under the first path, "1:d5" for delete file 5 under the second.
  static std::vector<std::string> Find(PathIndex* index, const ReadView& view, int64_t table,
                                       const std::vector<std::string_view>& keys) {
    const absl::StatusOr<std::vector<PathIndex::File>> files = index->Find(view, table, keys);
    EXPECT_TRUE(files.ok()) << files.status();
    std::vector<std::string> texts;
    for (const PathIndex::File& file : files.value_or(std::vector<PathIndex::File>())) {
      texts.push_back(StrCat(file.key, file.is_delete_file ? ":d" : ":", file.id));
    }
    return texts;
  }

  // The feed begins anew.
  void ForgetChanges() {
    const auto prepare = [](varve::Commit& commit) -> absl::Status {
      absl::StatusOr<ChangesTruncation> cut = TruncateChanges(commit.base(), commit.base().csn);
      if (!cut.ok()) {
        return cut.status();
      }
      commit.DeleteChanges(cut->first_key, cut->end_key);
      for (auto& [key, value] : cut->defaults) {
        commit.PutDefault(key, value);
      }
      return absl::OkStatus();
    };
    const absl::Status status = catalog_->Commit({.prepare = prepare});
    ASSERT_TRUE(status.ok()) << status;
  }

  // Commits the changes; the index is told which paths of table 7 they register.
  void ApplyNoted(std::string_view text, const std::vector<std::string_view>& keys) {
    MustApply(text);
    Footprint footprint;
    Action action = {.operation = Operation::kInsert, .id = 7};
    for (const std::string_view key : keys) {
      action.paths.push_back(HashOfPathKey(key));
    }
    std::sort(action.paths.begin(), action.paths.end());
    footprint.Add(std::move(action));
    const ReadView view = catalog_->Current();
    index_.Note({{.csn = view.csn(),
                  .snapshot = view.last_snapshot(),
                  .footprint = std::make_shared<const Footprint>(std::move(footprint))}});
  }

  PathIndex index_;
};

TEST_F(PathIndexTest, FilesAreFoundByTableAndWholePath) {
  MustApply(StrCat("snapshot 1\n", DataFileLine(3, 7, "a"), DataFileLine(4, 7, "b"),
                   DataFileLine(5, 8, "a"),
                   "insert delete_file 6 | 7 | 1 | - | 3 | c | false | parquet | 1 | 1 | 1"));
  const ReadView view = catalog_->Current();
  EXPECT_THAT(Find(&index_, view, 7, {"ra", "rc", "ac", "rb", "rA", "aa", "r"}),
              ElementsAre("0:3", "2:d6", "3:4"));
  EXPECT_THAT(Find(&index_, view, 8, {"ra", "rb"}), ElementsAre("0:5"));
  EXPECT_THAT(Find(&index_, view, 9, {"ra", "rb"}), IsEmpty());
  EXPECT_EQ(index_.num_paths(), 4U);
}

TEST_F(PathIndexTest, EndedFilesAreFoundToo) {
  MustApply(StrCat("snapshot 1\n", DataFileLine(3, 7, "a")));
  MustApply("snapshot 2\nend data_file 7 | 3 @ 2");
  MustApply(StrCat("snapshot 3\n", DataFileLine(4, 7, "a")));
  EXPECT_THAT(Find(&index_, catalog_->Current(), 7, {"ra"}), ElementsAre("0:3", "0:4"));
}

TEST_F(PathIndexTest, WhatCommitsSayIsFound) {
  ApplyNoted(StrCat("snapshot 1\n", DataFileLine(3, 7, "a")), {"ra"});
  EXPECT_THAT(Find(&index_, catalog_->Current(), 7, {"ra"}), ElementsAre("0:3"));
  ApplyNoted(StrCat("snapshot 2\n", DataFileLine(4, 7, "b"), DataFileLine(5, 7, "c")),
             {"rb", "rc"});
  const ReadView second = catalog_->Current();
  ApplyNoted(StrCat("snapshot 3\n", DataFileLine(6, 7, "d")), {"rd"});
  EXPECT_THAT(Find(&index_, catalog_->Current(), 7, {"rb", "rd", "re"}), ElementsAre("0:4", "1:6"));
  EXPECT_THAT(Find(&index_, second, 7, {"rc"}), ElementsAre("0:5"));
}

TEST_F(PathIndexTest, APathThatIsRegisteredAgainIsFoundAgain) {
  ApplyNoted(StrCat("snapshot 1\n", DataFileLine(3, 7, "a")), {"ra"});
  EXPECT_THAT(Find(&index_, catalog_->Current(), 7, {"ra"}), ElementsAre("0:3"));
  ApplyNoted(StrCat("snapshot 2\nend data_file 7 | 3 @ 2\n", DataFileLine(4, 7, "a")), {"ra"});
  const ReadView second = catalog_->Current();
  ApplyNoted(StrCat("snapshot 3\nend data_file 7 | 4 @ 3\n", DataFileLine(5, 7, "a")), {"ra"});
  const ReadView third = catalog_->Current();
  // Nobody has the path of the third before asking for it.
  EXPECT_THAT(Find(&index_, third, 7, {"rb"}), IsEmpty());
  EXPECT_THAT(Find(&index_, second, 7, {"ra"}), UnorderedElementsAre("0:3", "0:4"));
  EXPECT_THAT(Find(&index_, third, 7, {"ra"}), UnorderedElementsAre("0:3", "0:4", "0:5"));
}

TEST_F(PathIndexTest, AnOlderViewMissesNothing) {
  MustApply(StrCat("snapshot 1\n", DataFileLine(3, 7, "a")));
  const ReadView old = catalog_->Current();
  MustApply("snapshot 2\nerase data_file 7 | 3 @ 1");
  EXPECT_THAT(Find(&index_, catalog_->Current(), 7, {"ra"}), IsEmpty());
  PathIndex fresh;
  EXPECT_THAT(Find(&fresh, old, 7, {"ra"}), ElementsAre("0:3"));
  EXPECT_THAT(Find(&fresh, catalog_->Current(), 7, {"ra"}), IsEmpty());
}

TEST_F(PathIndexTest, TablesNotAskedAboutAreForgotten) {
  std::string lines = "snapshot 1\n";
  for (int64_t file = 0; file < 30; ++file) {
    lines += DataFileLine(file, file / 10, StrCat("p", file));
  }
  MustApply(lines);
  PathIndex small(15);
  const ReadView view = catalog_->Current();
  for (int64_t table = 0; table < 3; ++table) {
    EXPECT_THAT(Find(&small, view, table, {StrCat("rp", table * 10)}),
                ElementsAre(StrCat("0:", table * 10)));
    EXPECT_EQ(small.num_paths(), 10U);
  }
  EXPECT_THAT(Find(&small, view, 0, {"rp5"}), ElementsAre("0:5"));
}

// Random commits, asked about at random: what is found is what the rows say, and perhaps more that
// was there before.
TEST_F(PathIndexTest, CommitsAreCaughtUpWith) {
  std::mt19937_64 random(TestSeed());
  std::string lines = "snapshot 1\n";
  std::set<int64_t> live;
  for (int64_t file = 0; file < 100; ++file) {
    lines += DataFileLine(file, 7, StrCat("p", file));
    live.insert(file);
  }
  MustApply(lines);
  int64_t next = 100;
  for (int64_t snapshot = 2; snapshot < 60; ++snapshot) {
    lines = StrCat("snapshot ", snapshot, "\n");
    for (uint64_t i = random() % 4; i > 0; --i) {
      lines += DataFileLine(next, 7, StrCat("p", next));
      live.insert(next++);
    }
    if (random() % 3 == 0) {
      const int64_t victim = *std::next(live.begin(), static_cast<int64_t>(random() % live.size()));
      StrAppend(&lines, "erase data_file 7 | ", victim, " @ 1\n");
      live.erase(victim);
    }
    MustApply(lines);
    if (random() % 10 == 0) {
      ForgetChanges();
    }
    if (random() % 3 != 0) {
      continue;
    }
    for (const int64_t file : live) {
      EXPECT_THAT(Find(&index_, catalog_->Current(), 7, {StrCat("rp", file)}),
                  ElementsAre(StrCat("0:", file)));
    }
  }
}

// Several ask while files come: nobody misses what the view it asks with shows.
TEST_F(PathIndexTest, SeveralMayAskAtOnce) {
  constexpr int64_t kTables = 3;
  constexpr int64_t kSnapshots = 30;
  PathIndex small(40);  // tables are forgotten, too
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      while (!done) {
        const ReadView view = catalog_->Current();
        for (int64_t table = 0; table < kTables; ++table) {
          const auto last = static_cast<int64_t>(view.last_snapshot());
          if (last > 0) {
            const std::string key = StrCat("rp", last);
            const std::string file = StrCat("0:", last * kTables + table);
            EXPECT_THAT(Find(&small, view, table, {key}), ElementsAre(file));
          }
        }
      }
    });
  }
  for (int64_t snapshot = 1; snapshot <= kSnapshots; ++snapshot) {
    std::string lines = StrCat("snapshot ", snapshot, "\n");
    for (int64_t table = 0; table < kTables; ++table) {
      lines += DataFileLine(snapshot * kTables + table, table, StrCat("p", snapshot));
    }
    MustApply(lines);
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_LE(small.num_paths(), 40U + kSnapshots);  // the table asked about last stays
}

}  // namespace
}  // namespace varve
