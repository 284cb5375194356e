// Rows of statistics walked beside the files of a table.

#include "catalog/tiers/file_verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

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

TEST(FileVerdicts, WithoutFilesNothingRemains) {
  FileVerdicts files = FilesOf({});
  files.Add(Ids{1}, Verdicts{kMayMatch});
  EXPECT_THAT(files.Remaining(), ElementsAre());
}

}  // namespace
}  // namespace varve
