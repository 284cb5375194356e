#include "catalog/store/catalog_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "tests/catalog/child_process.h"
#include "tests/catalog/row_text.h"
#include "tests/catalog/temp_dir.h"

namespace varve {
namespace {

std::string HostName() {
  std::array<char, 256> host{};
  EXPECT_EQ(gethostname(host.data(), host.size() - 1), 0);
  return host.data();
}

void ExpectNamesHolder(const absl::Status& status, const std::string& directory, pid_t pid) {
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  const std::string message(MessageOf(status));
  EXPECT_NE(message.find(directory), std::string::npos) << message;
  EXPECT_NE(message.find(StrCat("process ", pid, " ")), std::string::npos) << message;
  EXPECT_NE(message.find(HostName()), std::string::npos) << message;
  EXPECT_NE(message.find("read-only"), std::string::npos) << "how to read beside it: " << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << "one line: " << message;
}

const ChildBody kLockHolder("lock holder",
                            [](const std::string& directory, const ChildBody::Say& say) {
                              const auto lock = CatalogLock::Acquire(directory);
                              say(lock.ok() ? 'y' : 'n');
                              pause();
                              return 0;
                            });

const ChildBody kCatalogHolder("catalog holder",
                               [](const std::string& path, const ChildBody::Say& say) {
                                 const auto catalog = Catalog::Open(path);
                                 say(catalog.ok() ? 'y' : 'n');
                                 pause();
                                 return 0;
                               });

TEST(CatalogLock, ASecondHolderInTheSameProcessIsRefused) {
  const TempDir dir;
  auto first = CatalogLock::Acquire(dir.path());
  ASSERT_TRUE(first.ok()) << first.status();
  ExpectNamesHolder(CatalogLock::Acquire(dir.path()).status(), dir.path(), getpid());
  first->reset();
  EXPECT_TRUE(CatalogLock::Acquire(dir.path()).ok());
}

TEST(CatalogLock, AnotherProcessIsNamed) {
  const TempDir dir;
  ChildProcess holder(kLockHolder, dir.path());
  ASSERT_EQ(holder.Hear(), 'y');
  ExpectNamesHolder(CatalogLock::Acquire(dir.path()).status(), dir.path(), holder.pid());
}

TEST(CatalogLock, AKilledHoldersFileIsNoObstacle) {
  const TempDir dir;
  {
    ChildProcess holder(kLockHolder, dir.path());
    ASSERT_EQ(holder.Hear(), 'y');
    holder.Kill();
  }
  ASSERT_TRUE(std::filesystem::exists(dir / "varve.lock"));
  const auto lock = CatalogLock::Acquire(dir.path());
  ASSERT_TRUE(lock.ok()) << lock.status();
  // The file now names this process, with nothing left of a longer name.
  ExpectNamesHolder(CatalogLock::Acquire(dir.path()).status(), dir.path(), getpid());
}

TEST(CatalogLock, GarbageInTheFileIsNoObstacle) {
  const TempDir dir;
  std::ofstream(dir / "varve.lock") << std::string(5000, '\xff');
  EXPECT_TRUE(CatalogLock::Acquire(dir.path()).ok());
}

TEST(CatalogLock, ADirectoryThatIsNotThereIsAnErrorThatNamesIt) {
  const TempDir dir;
  const absl::Status status = CatalogLock::Acquire(dir / "nowhere").status();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(MessageOf(status).find(dir / "nowhere"), std::string_view::npos) << status;
}

TEST(CatalogLock, ACatalogOpenInAnotherProcessIsReadBesideIt) {
  const TempDir dir;
  const std::string path = dir / "catalog";
  ASSERT_TRUE(Catalog::Init(path, {.data_path = "/lake/"}).ok());
  ChildProcess holder(kCatalogHolder, path);
  ASSERT_EQ(holder.Hear(), 'y');
  ExpectNamesHolder(Catalog::Open(path).status(), path, holder.pid());
  const auto reader = Catalog::Open(path, {.read_only = true});
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(ScanTexts((*reader)->Current(), "snapshot_changes", {}).size(), 1U);
  holder.Kill();
  EXPECT_TRUE(Catalog::Open(path).ok());
}

}  // namespace
}  // namespace varve
