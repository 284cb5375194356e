// What verify finds in the columnar tier: everything that is wrong, and nothing else.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/key_codec.h"
#include "base/strings.h"
#include "catalog/retention/excise.h"
#include "catalog/retention/gc.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/verify/verify.h"
#include "columnar/format.h"
#include "tests/catalog/tiers_fixture.h"

namespace varve {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Schemas 1 to 6 beside main, of which 3 and 4 end at snapshot 2: rows of both kinds.
constexpr std::string_view kFirst = R"(
  snapshot 1
  insert schema 1 | - | 1 | - | s1 | s1/ | true
  insert schema 2 | - | 1 | - | s2 | s2/ | true
  insert schema 3 | - | 1 | - | s3 | s3/ | true
  insert schema 4 | - | 1 | - | s4 | s4/ | true
  insert schema 5 | - | 1 | - | s5 | s5/ | true
  insert schema 6 | - | 1 | - | s6 | s6/ | true
)";
constexpr std::string_view kSecond = R"(
  snapshot 2
  end schema 3 @ 2
  end schema 4 @ 2
)";

class VerifyColumnar : public TiersFixture {
 protected:
  void SetUp() override {
    TiersFixture::SetUp();
    ReopenWithMemory();
    MustApply(kFirst);
    MustApply(kSecond);
  }

  // The findings about the columnar tier, as "rule relation key: message".
  std::vector<std::string> Findings() {
    std::vector<std::string> findings;
    const auto summary = Verify(catalog_->Current(), {}, [&](const Finding& finding) {
      if (finding.rule.starts_with("columnar-") || finding.rule.starts_with("pack-")) {
        findings.push_back(
            StrCat(finding.rule, " ", finding.relation, " ", finding.key, ": ", finding.message));
      }
    });
    EXPECT_TRUE(summary.ok()) << summary.status();
    return findings;
  }
  // Everything into level 2, with table properties as the function leaves them.
  void CompactEdited(std::function<void(std::vector<Property>*)> edit) {
    Flush();
    Rebuild();
    ColumnarTableBuilderOptions table = SmallPacks(2);
    table.edit_properties = std::move(edit);
    const auto rebuilt = RebuildColumns(*catalog_, {.relations = {kSchema}, .table = table});
    ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  }
  // Writes past the commit lock; seen after reopening.
  rocksdb::DB& db() { return catalog_->store().db(); }
  rocksdb::ColumnFamilyHandle* family(Family family) { return catalog_->store().family(family); }
  std::string HandleOf(int64_t schema) {
    std::string handle;
    AppendIntHandle(schema, &handle);
    return handle;
  }
};

TEST_F(VerifyColumnar, FindsNothingWhereAllIsWell) {
  // In memory, flushed, rebuilt, compacted, with changes in between, and after old rows went.
  EXPECT_THAT(Findings(), IsEmpty());
  Flush();
  EXPECT_THAT(Findings(), IsEmpty());
  Rebuild();
  EXPECT_THAT(Findings(), IsEmpty());
  MustApply("snapshot 3\nend schema 5 @ 3\ninsert schema 7 | - | 3 | - | s7 | s7/ | true");
  EXPECT_THAT(Findings(), IsEmpty());
  Flush();
  EXPECT_THAT(Findings(), IsEmpty());
  CompactAll(2, 1);
  EXPECT_THAT(Findings(), IsEmpty());
  ASSERT_TRUE(ApplyGc(catalog_.get(), {.keep_last = 1}).ok());
  EXPECT_THAT(Findings(), IsEmpty()) << "reclaimable rows on both sides";
  CompactAll();
  EXPECT_THAT(Findings(), IsEmpty()) << "reclaimable rows in the row store alone";
  ASSERT_TRUE(Excise(catalog_.get()).ok());
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(VerifyColumnar, FindsNothingWhereRowsWereExcisedBeforeTheyWereCompacted) {
  Flush();
  Rebuild();
  ASSERT_TRUE(ApplyGc(catalog_.get(), {.keep_last = 1}).ok());
  ASSERT_TRUE(Excise(catalog_.get()).ok());
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(VerifyColumnar, MissingStatisticsAreANote) {
  CompactEdited([](std::vector<Property>* properties) {
    std::erase_if(*properties,
                  [](const Property& property) { return property.key == kPropMaxVersion; });
  });
  const std::vector<std::string> findings = Findings();
  ASSERT_THAT(findings, SizeIs(2));  // the files of live and of ended rows
  EXPECT_THAT(findings[0], AllOf(HasSubstr("pack-statistics-missing ducklake_schema 0000"),
                                 HasSubstr(".vcol: max_ver is missing")));
}

TEST_F(VerifyColumnar, WrongFlagsAndBoundsAreFound) {
  CompactEdited([](std::vector<Property>* properties) {
    for (Property& property : *properties) {
      if (property.key == kPropPackMvccStats) {
        property.value.back() = static_cast<char>(property.value.back() ^ kPackHasMultiVersion);
      } else if (property.key == kPropPackSnapshotBounds) {
        ++property.value[5];  // the smallest begin of the first pack
      }
    }
  });
  const std::string all = StrJoin(Findings(), "\n");
  EXPECT_THAT(all, HasSubstr("pack-statistics-wrong ducklake_schema 0000"));
  EXPECT_THAT(all, HasSubstr("its flags are said to be 2, but are 0"));
  EXPECT_THAT(all, HasSubstr("pack 0: its bounds are said to be begins 1 to 1, ends none to none, "
                             "but are begins 0 to 1, ends none to none"));
}

TEST_F(VerifyColumnar, AWrongLargestBeginIsFound) {
  CompactEdited([](std::vector<Property>* properties) {
    for (Property& property : *properties) {
      if (property.key == kPropMaxVersion) {
        ++property.value[0];
      }
    }
  });
  EXPECT_THAT(StrJoin(Findings(), "\n"), HasSubstr("the largest begin is said to be 2, but is 1"));
}

TEST_F(VerifyColumnar, ARowTheRowStoreHasNotGotIsFound) {
  Flush();
  Rebuild();
  ASSERT_TRUE(db().Delete({}, family(Family::kLive), LiveKey(kSchema, HandleOf(2))).ok());
  ReopenWithMemory();
  EXPECT_THAT(Findings(),
              ElementsAre("columnar-row-unknown ducklake_schema schema_id=2: the row store has no "
                          "version that begins at 1 (its end: none)",
                          HasSubstr("columnar-row-differs ducklake_schema : row 3 of a scan")));
}

TEST_F(VerifyColumnar, ARowTheTiersHaveNotGotIsFound) {
  Flush();
  Rebuild();
  std::string value;
  ASSERT_TRUE(db().Get({}, family(Family::kLive), LiveKey(kSchema, HandleOf(2)), &value).ok());
  ASSERT_TRUE(db().Put({}, family(Family::kLive), LiveKey(kSchema, HandleOf(9)), value).ok());
  ReopenWithMemory();
  EXPECT_THAT(Findings(),
              ElementsAre("columnar-row-missing ducklake_schema schema_id=9: columnar files and "
                          "memory have no version that begins at 1 (its end: none)",
                          "columnar-row-differs ducklake_schema : the row store gives more than 5 "
                          "rows at snapshot 2"));
}

TEST_F(VerifyColumnar, ARowThatDiffersIsFound) {
  Flush();
  Rebuild();
  std::string value;
  ASSERT_TRUE(db().Get({}, family(Family::kLive), LiveKey(kSchema, HandleOf(5)), &value).ok());
  const size_t name = value.find("s5");
  ASSERT_NE(name, std::string::npos);
  value[name] = 'x';
  ASSERT_TRUE(db().Put({}, family(Family::kLive), LiveKey(kSchema, HandleOf(5)), value).ok());
  ReopenWithMemory();
  EXPECT_THAT(
      Findings(),
      ElementsAre("columnar-row-differs ducklake_schema schema_id=5: the version that begins at 1: "
                  "column schema_name is x5 in the row store, s5 in columnar files and memory",
                  HasSubstr("columnar-row-differs ducklake_schema : row 4 of a scan at snapshot 2: "
                            "column schema_name is x5 in the row store")));
}

TEST_F(VerifyColumnar, AFlippedByteIsFound) {
  Flush();
  Rebuild({kSchema});
  for (const auto& [number, stored] : catalog_->LatestState()->columnar->files()) {
    std::fstream file(stored->file()->path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(kColumnarHeaderSize);  // the first pack
    const char flipped = static_cast<char>(file.get() ^ 1);
    file.seekp(kColumnarHeaderSize);
    file.put(flipped);
    ASSERT_TRUE(file.good());
  }
  const std::vector<std::string> findings = Findings();
  ASSERT_THAT(findings, Not(IsEmpty()));
  EXPECT_THAT(findings, Each(AllOf(StartsWith("columnar-damaged ducklake_"),
                                   HasSubstr(", pack 0: its checksum does not match"))));
}

TEST_F(VerifyColumnar, FilesThatAreNotThereAreANote) {
  Flush();
  Rebuild();
  catalog_.reset();
  std::filesystem::remove_all(StrCat(path(), "/", kColumnarDirectory));
  ReopenWithMemory();
  const std::vector<std::string> findings = Findings();
  ASSERT_THAT(findings, Not(IsEmpty()));
  EXPECT_THAT(findings, Each(AllOf(StartsWith("columnar-file-missing ducklake_"),
                                   HasSubstr("; the row store answers"))));
}

// Writes another manifest and opens the catalog anew.
class VerifyManifest : public VerifyColumnar {
 protected:
  void EditManifest(const std::function<void(proto::ColumnarManifest*)>& edit) {
    Flush();
    Rebuild();
    proto::ColumnarManifest manifest = catalog_->LatestState()->columnar->manifest();
    edit(&manifest);
    ASSERT_TRUE(db().Put({}, family(Family::kDefault), std::string(kColumnarManifestKey),
                         manifest.SerializeAsString())
                    .ok());
    ReopenWithMemory();
  }
  // The entry of the live rows of schemas.
  static proto::ColumnarFileEntry* Schemas(proto::ColumnarManifest* manifest) {
    for (proto::ColumnarFileEntry& file : *manifest->mutable_files()) {
      if (!file.ended() && file.level() == 2 && file.tables(0).relation() == kSchema) {
        return &file;
      }
    }
    return nullptr;
  }
};

TEST_F(VerifyManifest, NumbersThatAreNotThoseOfTheFileAreFound) {
  uint64_t rows = 0;
  EditManifest([&](proto::ColumnarManifest* manifest) {
    proto::ColumnarFileEntry* const entry = Schemas(manifest);
    ASSERT_NE(entry, nullptr);
    rows = entry->tables(0).rows();
    entry->mutable_tables(0)->set_rows(rows + 1);
    entry->set_bytes(entry->bytes() + 1);
  });
  const std::string all = StrJoin(Findings(), "\n");
  EXPECT_THAT(all, HasSubstr(StrCat("the manifest says rows ", rows + 1, ", the file ", rows)));
  EXPECT_THAT(all, HasSubstr("the manifest says bytes "));
}

TEST_F(VerifyManifest, ARowOutsideOfTheRangeOfItsFileIsFound) {
  EditManifest([&](proto::ColumnarManifest* manifest) {
    for (proto::ColumnarFileEntry& file : *manifest->mutable_files()) {
      if (file.level() == 2 && file.tables(0).relation() == kSchema) {
        file.mutable_tables(0)->mutable_ranges(0)->set_lower(HandleOf(2));
      }
    }
  });
  EXPECT_THAT(StrJoin(Findings(), "\n"),
              AllOf(HasSubstr("pack 0: row 0 lies outside of the file's range of handles"),
                    HasSubstr("columnar-row-missing ducklake_schema schema_id=1")));
}

TEST_F(VerifyManifest, FilesOfLevel2ThatOverlapAreFound) {
  EditManifest([&](proto::ColumnarManifest* manifest) {
    Schemas(manifest)->mutable_tables(0)->mutable_ranges(0)->set_upper(HandleOf(100));
  });
  EXPECT_THAT(StrJoin(Findings(), "\n"),
              HasSubstr("its range of handles overlaps that of another file of level 2"));
}

TEST_F(VerifyManifest, ANumberThatWouldBeGivenOutAgainIsFound) {
  EditManifest([&](proto::ColumnarManifest* manifest) { manifest->set_next_file(1); });
  EXPECT_THAT(StrJoin(Findings(), "\n"),
              HasSubstr("the number of the next file is 1, so this one can be given out again"));
}

TEST_F(VerifyManifest, AnEndedRowThatIsAmongTheLiveOnesIsFound) {
  // Given that the file of live rows stands for that of ended rows, too,
  EditManifest([&](proto::ColumnarManifest* manifest) {
    const uint64_t live = Schemas(manifest)->number();
    for (proto::ColumnarFileEntry& file : *manifest->mutable_files()) {
      if (file.ended() && file.tables(0).relation() == kSchema) {
        file.set_number(live);
      }
    }
  });
  // Then every row of it is there twice.
  EXPECT_THAT(StrJoin(Findings(), "\n"),
              AllOf(HasSubstr("the manifest has the file twice"),
                    HasSubstr("columnar-row-repeated ducklake_schema schema_id=1: the version that "
                              "begins at 1 is in files 0000")));
}

}  // namespace
}  // namespace varve
