// A catalog in a temporary directory, for tests that change and read one.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "catalog/catalog.h"
#include "tests/catalog/row_text.h"
#include "tests/catalog/temp_dir.h"

namespace varve {

// What Init wrote with InitOptionsForTest.
inline constexpr std::string_view kMainUuid = "00000000-0000-4000-8000-000000000001";

inline Catalog::InitOptions InitOptionsForTest() {
  return {.data_path = "/lake/", .now = SnapshotTime(0), .schema_uuid = std::string(kMainUuid)};
}

// Puts a new catalog at `path`: a copy of one that Init made once.
inline void CopyNewCatalog(const std::string& path) {
  static const TempDir dir;
  static const absl::Status made = Catalog::Init(dir / "catalog", InitOptionsForTest());
  ASSERT_TRUE(made.ok()) << made;
  std::filesystem::copy(dir / "catalog", path, std::filesystem::copy_options::recursive);
}

class CatalogFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    CopyNewCatalog(path());
    Reopen();
  }

  std::string path() const { return dir_ / "catalog"; }

  // Closes the catalog and opens it again.
  void Reopen(const CatalogOptions& options = {}) {
    catalog_.reset();
    absl::StatusOr<std::unique_ptr<Catalog>> catalog = Catalog::Open(path(), options);
    ASSERT_TRUE(catalog.ok()) << catalog.status();
    catalog_ = *std::move(catalog);
  }

  // Commits the changes the text describes (row_text.h).
  absl::Status Apply(std::string_view text) {
    return catalog_->Apply(ChangesOf(catalog_->Current().relations(), text));
  }
  void MustApply(std::string_view text) {
    const absl::Status status = Apply(text);
    ASSERT_TRUE(status.ok()) << status << "\n" << text;
  }

  ReadView At(SnapshotId snapshot) const {
    absl::StatusOr<ReadView> view = catalog_->At(snapshot);
    EXPECT_TRUE(view.ok()) << view.status();
    return view.ok() ? *std::move(view) : catalog_->Current();
  }
  std::vector<std::string> Rows(std::string_view relation, ScanOptions options = {}) const {
    return ScanTexts(catalog_->Current(), relation, std::move(options));
  }
  std::vector<std::string> RowsAt(SnapshotId snapshot, std::string_view relation,
                                  ScanOptions options = {}) const {
    return ScanTexts(At(snapshot), relation, std::move(options));
  }
  std::vector<std::string> History(std::string_view relation) const {
    return ScanTexts(catalog_->Current(), relation, {.rows = ScanRows::kAllVersions});
  }
  // Every version of every relation, for "nothing changed".
  std::vector<std::string> Everything() const {
    std::vector<std::string> texts;
    const ReadView view = catalog_->Current();
    for (const RelationRef& relation : view.relations().relations()) {
      for (const std::string& row :
           ScanTexts(view, relation->name, {.rows = ScanRows::kAllVersions})) {
        texts.push_back(StrCat(relation->name, " ", row));
      }
    }
    texts.push_back(StrCat("last snapshot ", view.last_snapshot(), ", csn ", view.csn()));
    return texts;
  }

  TempDir dir_;
  std::unique_ptr<Catalog> catalog_;
};

}  // namespace varve
