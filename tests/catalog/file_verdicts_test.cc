// Rows of statistics walked beside the files of a table.

#include "catalog/tiers/file_verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tests/base/random_values.h"
#include "tests/seed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using Ids = std::vector<int64_t>;
using Verdicts = std::vector<uint8_t>;

FileVerdicts FilesOf(const Ids& ids) {
  FileVerdicts files;
  files.AddFiles(ids);
  files.Start();
  return files;
}

TEST(FileVerdicts, LeavesOutFilesThatCannotMatch) {
  FileVerdicts files = FilesOf({1, 2, 3, 4});
  files.Add(Ids{1, 2}, Verdicts{kNoMatch, kMayMatch});
  files.Add(Ids{3, 4}, Verdicts{kMayMatch, kNoMatch});
  EXPECT_THAT(files.Remaining(), ElementsAre(2, 3));
}

TEST(FileVerdicts, KeepsFilesOfWhichNothingIsSaid) {
  FileVerdicts files = FilesOf({1, 2, 3, 4, 5});
  files.Add(Ids{1, 4}, Verdicts{kNoMatch, kNoMatch});
  files.Add(Ids{5}, Verdicts{kSaysNothing});
  EXPECT_THAT(files.Remaining(), ElementsAre(2, 3, 5));
}

TEST(FileVerdicts, PassesOverRowsOfFilesThatAreNotThere) {
  FileVerdicts files = FilesOf({-5, 20, 40});
  files.Add(Ids{-9, -5, 1, 2}, Verdicts{kMayMatch, kNoMatch, kMayMatch, kMayMatch});
  files.Add(Ids{30, 40, 50}, Verdicts{kMayMatch, kNoMatch, kMayMatch});
  files.Add(Ids{60}, Verdicts{kMayMatch});
  EXPECT_THAT(files.Remaining(), ElementsAre(20));
}

TEST(FileVerdicts, OneRowThatMayMatchKeepsAFileWhereverItStands) {
  FileVerdicts files = FilesOf({1, 2, 3});
  files.Add(Ids{1, 1, 2}, Verdicts{kNoMatch, kMayMatch, kNoMatch});
  files.Add(Ids{2, 3}, Verdicts{kMayMatch, kMayMatch});
  files.Add(Ids{3}, Verdicts{kNoMatch});
  EXPECT_THAT(files.Remaining(), ElementsAre(1, 2, 3));
}

TEST(FileVerdicts, StartForgetsWhatWasSaid) {
  FileVerdicts files = FilesOf({1, 2});
  files.Add(Ids{1, 2}, Verdicts{kNoMatch, kNoMatch});
  files.Start();
  files.Add(Ids{2}, Verdicts{kNoMatch});
  EXPECT_THAT(files.Remaining(), ElementsAre(1));
}

TEST(FileVerdicts, FilesThatCameInSeveralCallsAreOneList) {
  FileVerdicts files;
  files.AddFiles(Ids{1, 2});
  auto shared = std::make_shared<ColumnVector>(PhysicalType::kInt64);
  for (const int64_t id : {4, 5, 6}) {
    shared->AppendInt64(id);
  }
  files.AddFiles(shared);
  files.AddFiles(Ids{});
  files.AddFiles(Ids{9});
  EXPECT_EQ(files.num_files(), 6U);
  files.Start();
  files.Add(Ids{2, 3, 4, 5}, Verdicts{kNoMatch, kMayMatch, kNoMatch, kMayMatch});
  files.Add(Ids{5, 6, 7, 9, 9}, Verdicts{kNoMatch, kNoMatch, kMayMatch, kNoMatch, kMayMatch});
  EXPECT_THAT(files.Remaining(), ElementsAre(1, 5, 9));
}

// Against a map from files to verdicts.
TEST(FileVerdicts, RandomRowsSayOfFilesWhatTheySayOneByOne) {
  RandomValues random(TestSeed());
  for (int round = 0; round < 2'000; ++round) {
    FileVerdicts files;
    std::map<int64_t, uint8_t> expected;
    int64_t id = 0;
    for (uint64_t chunk = random.Below(6); chunk > 0; --chunk) {
      Ids ids;
      for (uint64_t count = random.Below(20); count > 0; --count) {
        id += 1 + static_cast<int64_t>(random.Below(random.OneIn(4) ? 4 : 1));
        ids.push_back(id);
        expected[id] = kSaysNothing;
      }
      files.AddFiles(std::move(ids));
    }
    files.Start();
    int64_t row_id = 1;
    while (row_id <= id + 3) {
      Ids ids;
      Verdicts verdicts;
      for (uint64_t count = random.Below(30); count > 0; --count) {
        ids.push_back(row_id);
        verdicts.push_back(static_cast<uint8_t>(random.Below(3)));
        if (const auto found = expected.find(row_id); found != expected.end()) {
          found->second = std::max(found->second, verdicts.back());
        }
        row_id += static_cast<int64_t>(random.Below(8) == 0 ? 0 : 1 + random.Below(8) / 7);
      }
      files.Add(ids, verdicts);
    }
    Ids remaining;
    for (const auto& [file, verdict] : expected) {
      if (verdict != kNoMatch) {
        remaining.push_back(file);
      }
    }
    ASSERT_EQ(files.Remaining(), remaining) << "round " << round;
  }
}

TEST(FileVerdicts, WithoutFilesNothingRemains) {
  FileVerdicts files = FilesOf({});
  files.Add(Ids{1}, Verdicts{kMayMatch});
  EXPECT_THAT(files.Remaining(), ElementsAre());
}

}  // namespace
}  // namespace varve
