// main() of every test program. A program holds the tests of one folder; --test_file narrows a run
// to the cases written in one source file, so that ctest can list and run each file on its own.

#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>

DEFINE_string(test_file, "",
              "run only the cases of this source file, given from the repository root");

namespace {

// Whether `file` (as the compiler was given it) is `path` below some root.
bool IsFile(std::string_view file, std::string_view path) {
  return file == path || (file.ends_with(path) && file[file.size() - path.size() - 1] == '/');
}

// The --gtest_filter that selects the cases written in `path`; empty if there are none.
std::string FilterOfFile(std::string_view path) {
  std::string filter;
  const testing::UnitTest& unit_test = *testing::UnitTest::GetInstance();
  for (int i = 0; i < unit_test.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *unit_test.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (IsFile(test.file(), path)) {
        filter.append(suite.name()).append(".").append(test.name()).append(":");
      }
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  if (!FLAGS_test_file.empty()) {
    const std::string filter = FilterOfFile(FLAGS_test_file);
    if (filter.empty()) {
      std::fprintf(stderr, "no test case found in %s: expected at least one in this program\n",
                   FLAGS_test_file.c_str());
      return 1;
    }
    testing::GTEST_FLAG(filter) = filter;
  }
  return RUN_ALL_TESTS();
}
