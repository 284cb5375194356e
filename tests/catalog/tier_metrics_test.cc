// What the process counts of scans, flushes and compactions.

#include "catalog/tiers/tier_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "catalog/inspect/metrics_text.h"
#include "tests/catalog/tiers_fixture.h"

namespace varve {
namespace {

class TierMetricsTest : public TiersFixture {
 protected:
  void SetUp() override {
    TiersFixture::SetUp();
    ReopenWithMemory();
  }
  // The value of a time series. Other tests of the process count, too: compare two.
  double Value(const std::string& series) const {
    std::istringstream lines(MetricsText(catalog_->Current()));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(series + " ")) {
        return std::stod(line.substr(series.size() + 1));
      }
    }
    ADD_FAILURE() << "there is no " << series;
    return 0;
  }
  void Scan(ScanOptions options) {
    const ReadView view = catalog_->Current();
    const auto scan = view.Scan(view.relations().FindById(kSchema), std::move(options));
    ASSERT_TRUE(scan.ok()) << scan.status();
    ScanBatch batch;
    while (*(*scan)->Next(&batch)) {
    }
  }
};

TEST_F(TierMetricsTest, CountsWhatScansDid) {
  MustApply("snapshot 1\ninsert schema 1 | - | 1 | - | a | a/ | true");
  Flush();
  Rebuild();
  const std::string clean = "varve_clean_read_packs_eligible_total";
  const std::string rejected = "varve_clean_read_packs_rejected_total{reason=\"projection\"}";
  const std::string latency = "varve_clean_read_seconds_count";
  const std::string scans = "varve_columnar_scans_total";
  const double clean_before = Value(clean);
  const double rejected_before = Value(rejected);
  const double latency_before = Value(latency);
  const double scans_before = Value(scans);
  const double rows_before = Value("varve_clean_read_rows_total");
  const double avoided_before = Value("varve_clean_read_mvcc_bytes_avoided_total");

  Scan({.columns = std::vector<size_t>{4}, .path = ScanPath::kColumnar, .with_intervals = false});
  EXPECT_EQ(Value(clean), clean_before + 1);
  EXPECT_EQ(Value(rejected), rejected_before);
  EXPECT_EQ(Value(latency), latency_before + 1);
  EXPECT_EQ(Value("varve_clean_read_rows_total"), rows_before + 2);
  EXPECT_GT(Value("varve_clean_read_mvcc_bytes_avoided_total"), avoided_before);

  Scan({.path = ScanPath::kColumnar});
  EXPECT_EQ(Value(clean), clean_before + 1);
  EXPECT_EQ(Value(rejected), rejected_before + 1);
  EXPECT_EQ(Value(latency), latency_before + 1) << "nothing was read clean";
  EXPECT_EQ(Value(scans), scans_before + 2);

  Scan({.path = ScanPath::kRow});
  EXPECT_EQ(Value(scans), scans_before + 2) << "scans of the row store are not counted here";
}

TEST_F(TierMetricsTest, CountsFlushesAndCompactions) {
  const auto count = [](const char* metric, const char* work) {
    return StrCat("varve_tier_work_", metric, "{work=\"", work, "\"}");
  };
  const double flushes = Value(count("seconds_count", "flush"));
  const double flushed_rows = Value(count("rows_total", "flush"));
  const double flushed_bytes = Value(count("bytes_total", "flush"));
  MustApply("snapshot 1\ninsert schema 1 | - | 1 | - | a | a/ | true");
  Flush();
  EXPECT_EQ(Value(count("seconds_count", "flush")), flushes + 1);
  EXPECT_EQ(Value(count("rows_total", "flush")), flushed_rows + 2);
  EXPECT_GT(Value(count("bytes_total", "flush")), flushed_bytes);

  const double rebuilds = Value(count("seconds_count", "rebuild"));
  Rebuild();
  EXPECT_EQ(Value(count("seconds_count", "rebuild")), rebuilds + 1);
  const double compactions = Value(count("seconds_count", "compaction"));
  CompactAll();
  EXPECT_EQ(Value(count("seconds_count", "compaction")), compactions + 1);
}

TEST_F(TierMetricsTest, WorkThatFailsIsCountedApart) {
  const std::string failures = "varve_tier_work_failures_total{work=\"flush\"}";
  const double before = Value(failures);
  { WorkTimer timer(TierWork::kFlush); }
  EXPECT_EQ(Value(failures), before + 1);
}

TEST_F(TierMetricsTest, NoLabelNamesARelation) {
  MustApply("snapshot 1\ninsert schema 1 | - | 1 | - | a | a/ | true");
  Flush();
  EXPECT_THAT(MetricsText(catalog_->Current()), ::testing::Not(::testing::HasSubstr("ducklake")));
}

}  // namespace
}  // namespace varve
