#include "catalog/retention/view_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/catalog/catalog_fixture.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ViewRegistry::Token Hold(ViewRegistry* views, SnapshotId snapshot, Csn csn) {
  return *views->HoldWith([&]() -> absl::StatusOr<ViewRegistry::Held> {
    return ViewRegistry::Held{.snapshot = snapshot, .csn = csn};
  });
}

TEST(ViewRegistryTest, HoldsUntilTheLastCopyOfATokenDies) {
  ViewRegistry views;
  EXPECT_THAT(views.HeldSnapshots(), IsEmpty());
  EXPECT_EQ(views.OldestCsn(), std::nullopt);
  ViewRegistry::Token first = Hold(&views, 7, 30);
  ViewRegistry::Token second = Hold(&views, 3, 40);
  const ViewRegistry::Token same = Hold(&views, 7, 50);
  EXPECT_THAT(views.HeldSnapshots(), ElementsAre(3, 7));
  EXPECT_EQ(views.OldestCsn(), 30U);
  ViewRegistry::Token copy = first;
  first.reset();
  EXPECT_EQ(views.OldestCsn(), 30U);
  copy.reset();
  EXPECT_EQ(views.OldestCsn(), 40U);
  second.reset();
  EXPECT_THAT(views.HeldSnapshots(), ElementsAre(7));
}

TEST(ViewRegistryTest, TokensMayDieInAnyOrderAndOutliveTheRegistry) {
  std::vector<ViewRegistry::Token> tokens;
  {
    ViewRegistry views;
    for (SnapshotId i = 0; i < 6; ++i) {
      tokens.push_back(Hold(&views, i, i));
    }
    tokens.erase(tokens.begin() + 2);
    tokens.erase(tokens.begin());
    tokens.pop_back();
    EXPECT_THAT(views.HeldSnapshots(), ElementsAre(1, 3, 4));
  }
  EXPECT_EQ(tokens.size(), 3U);
}

TEST(ViewRegistryTest, AnErrorOfTheChoiceHoldsNothing) {
  ViewRegistry views;
  const auto token = views.HoldWith([]() -> absl::StatusOr<ViewRegistry::Held> {
    return absl::NotFoundError("no such snapshot");
  });
  EXPECT_TRUE(absl::IsNotFound(token.status()));
  EXPECT_THAT(views.HeldSnapshots(), IsEmpty());
}

TEST(ViewRegistryTest, ServesManyThreads) {
  ViewRegistry views;
  const ViewRegistry::Token kept = Hold(&views, 1, 1);
  std::atomic<bool> done = false;
  std::thread lister([&] {
    while (!done) {
      ASSERT_FALSE(views.HeldSnapshots().empty());
      ASSERT_EQ(views.OldestCsn(), 1U);
    }
  });
  std::vector<std::thread> holders;
  for (int i = 0; i < 3; ++i) {
    holders.emplace_back([&] {
      for (SnapshotId n = 2; n < 3'000; ++n) {
        const ViewRegistry::Token token = Hold(&views, n, n);
        const ViewRegistry::Token copy = token;
      }
    });
  }
  for (std::thread& holder : holders) {
    holder.join();
  }
  done = true;
  lister.join();
  EXPECT_THAT(views.HeldSnapshots(), ElementsAre(1));
}

// --- The views of a catalog ----------------------------------------------------------------------

class ViewsOfACatalog : public CatalogFixture {};

TEST_F(ViewsOfACatalog, HoldTheirSnapshotsUntilTheyDie) {
  MustApply("snapshot 1\n snapshot 2\n snapshot 3");
  EXPECT_THAT(catalog_->views().HeldSnapshots(), IsEmpty());
  {
    const ReadView past = At(1);
    const ReadView current = catalog_->Current();
    EXPECT_THAT(catalog_->views().HeldSnapshots(), ElementsAre(1, 3));
    const ReadView timed = *catalog_->AtTime(SnapshotTime(2));
    EXPECT_THAT(catalog_->views().HeldSnapshots(), ElementsAre(1, 2, 3));
    MustApply("snapshot 4");
    EXPECT_EQ(catalog_->views().OldestCsn(), current.csn());
    const auto scan = past.Scan(past.relations().FindById(kSnapshot), {});
    EXPECT_TRUE(scan.ok());
  }
  EXPECT_THAT(catalog_->views().HeldSnapshots(), IsEmpty());
}

TEST_F(ViewsOfACatalog, HoldThroughTheScansTheyMade) {
  MustApply("snapshot 1\n snapshot 2");
  std::unique_ptr<RowScan> scan;
  {
    const ReadView view = At(1);
    scan = *view.Scan(view.relations().FindById(kSnapshot), {});
  }
  EXPECT_THAT(catalog_->views().HeldSnapshots(), ElementsAre(1));
  scan.reset();
  EXPECT_THAT(catalog_->views().HeldSnapshots(), IsEmpty());
}

}  // namespace
}  // namespace varve
