#include "base/failpoint.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <set>
#include <string>

#include "base/strings.h"

namespace varve {
namespace {

// "DeathTest" makes googletest run these before tests that may start threads.
class FailpointDeathTest : public ::testing::Test {
 protected:
  void TearDown() override { DisarmFailpoint(); }

  static void PassTimes(int times) {
    for (int i = 0; i < times; ++i) {
      VARVE_FAILPOINT("commit/before_write");
    }
    std::_Exit(0);  // survived
  }
};

TEST_F(FailpointDeathTest, AnArmedOneKillsAtOnce) {
  EXPECT_EXIT(
      {
        ASSERT_TRUE(ArmFailpoint("commit/before_write").ok());
        PassTimes(1);
      },
      ::testing::KilledBySignal(SIGKILL), "");
}

TEST_F(FailpointDeathTest, TheNthPassKills) {
  EXPECT_EXIT(
      {
        ASSERT_TRUE(ArmFailpoint("commit/before_write", 3).ok());
        PassTimes(2);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        ASSERT_TRUE(ArmFailpoint("commit/before_write", 3).ok());
        PassTimes(3);
      },
      ::testing::KilledBySignal(SIGKILL), "");
}

TEST_F(FailpointDeathTest, AnotherOneDoesNotKillNorCount) {
  EXPECT_EXIT(
      {
        ASSERT_TRUE(ArmFailpoint("commit/after_write", 2).ok());
        PassTimes(10);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(FailpointDeathTest, TextOfTheEnvironmentVariableNamesOneAndItsPass) {
  EXPECT_EXIT(
      {
        ASSERT_TRUE(ArmFailpointFromText("commit/before_write").ok());
        PassTimes(1);
      },
      ::testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(
      {
        ASSERT_TRUE(ArmFailpointFromText("commit/before_write:2").ok());
        VARVE_FAILPOINT("commit/before_write");
        std::fputs("one pass survived\n", stderr);
        VARVE_FAILPOINT("commit/before_write");
      },
      ::testing::KilledBySignal(SIGKILL), "one pass survived");
}

TEST_F(FailpointDeathTest, ADisarmedOneIsPassed) {
  ASSERT_TRUE(ArmFailpoint("commit/before_write").ok());
  DisarmFailpoint();
  VARVE_FAILPOINT("commit/before_write");
}

TEST_F(FailpointDeathTest, UnknownNamesAndMalformedPassesAreRefused) {
  EXPECT_EQ(ArmFailpoint("commit/sometime").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ArmFailpoint("").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ArmFailpoint("commit/before_write", 0).code(), absl::StatusCode::kInvalidArgument);
  for (const char* text : {"commit/before_write:", "commit/before_write:x",
                           "commit/before_write:-1", "commit/before_write:1:2"}) {
    const absl::Status status = ArmFailpointFromText(text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(MessageOf(status).find(text), std::string_view::npos) << status;
  }
  VARVE_FAILPOINT("commit/before_write");  // none is armed
}

TEST(Failpoint, NamesAreUniqueAndSayTheirFolderAndPlace) {
  std::set<std::string_view> names;
  for (const Failpoint& failpoint : kFailpoints) {
    EXPECT_TRUE(names.insert(failpoint.name).second) << failpoint.name;
    EXPECT_NE(failpoint.name.find('/'), std::string_view::npos) << failpoint.name;
    EXPECT_FALSE(failpoint.place.empty()) << failpoint.name;
    EXPECT_EQ(failpoint.name.find(':'), std::string_view::npos) << failpoint.name;
  }
}

}  // namespace
}  // namespace varve
