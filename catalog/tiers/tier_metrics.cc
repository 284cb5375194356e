#include "catalog/tiers/tier_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <spdlog/spdlog.h>

#include <array>
#include <string>

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;
using prometheus::Registry;

constexpr std::array<std::string_view, 3> kWorkNames = {"flush", "compaction", "rebuild"};

// Bounds of buckets, in seconds. A scan takes from tens of microseconds to seconds, work on files
// from milliseconds to minutes.
Histogram::BucketBoundaries ScanSeconds() {
  return {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10};
}
Histogram::BucketBoundaries WorkSeconds() {
  return {0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000};
}

struct TierMetrics {
  Registry registry;

  Counter& scans = Count("varve_columnar_scans_total", "Scans that columnar files answered.");
  Counter& fallbacks = Count("varve_columnar_fallbacks_total",
                             "Reads that went on in the row store, because a file is damaged.");
  Counter& skipped =
      Count("varve_columnar_packs_skipped_total", "Packs that statistics let scans pass over.");
  Counter& bytes_read =
      Count("varve_columnar_bytes_read_total", "Bytes that scans read from columnar files.");
  Counter& mvcc_bytes_read = Count("varve_columnar_mvcc_bytes_read_total",
                                   "Of them: bytes of handles, versions and ends.");
  Counter& clean = Count("varve_clean_read_packs_eligible_total",
                         "Packs that were eligible for clean read, and read so.");
  Counter& clean_rows = Count("varve_clean_read_rows_total", "Rows of packs that were read clean.");
  Counter& avoided = Count("varve_clean_read_mvcc_bytes_avoided_total",
                           "Bytes of handles, versions and ends that clean reads left unread.");
  Histogram& clean_seconds = prometheus::BuildHistogram()
                                 .Name("varve_clean_read_seconds")
                                 .Help("Time spent in scans that read packs clean.")
                                 .Register(registry)
                                 .Add({}, ScanSeconds());
  std::array<Counter*, kNumCleanReadRejections> rejected{};
  struct Work {
    Counter* failures = nullptr;
    Counter* rows = nullptr;
    Counter* bytes = nullptr;
    Histogram* seconds = nullptr;
  };
  std::array<Work, kWorkNames.size()> work{};

  TierMetrics() {
    Family<Counter>& rejections = prometheus::BuildCounter()
                                      .Name("varve_clean_read_packs_rejected_total")
                                      .Help("Packs that were not eligible for clean read, and why.")
                                      .Register(registry);
    for (size_t i = 0; i < rejected.size(); ++i) {
      const auto reason = static_cast<CleanReadRejection>(i);
      rejected[i] = &rejections.Add({{"reason", std::string(CleanReadRejectionName(reason))}});
    }
    Family<Counter>& failures = CountFamily(
        "varve_tier_work_failures_total",
        "Flushes, compactions and rebuilds of columnar files that failed or were given up.");
    Family<Counter>& rows =
        CountFamily("varve_tier_work_rows_total", "Rows they wrote to columnar files.");
    Family<Counter>& bytes =
        CountFamily("varve_tier_work_bytes_total", "Bytes they wrote to columnar files.");
    Family<Histogram>& seconds =
        prometheus::BuildHistogram()
            .Name("varve_tier_work_seconds")
            .Help("Flushes, compactions and rebuilds that succeeded, and how long they took.")
            .Register(registry);
    for (size_t i = 0; i < work.size(); ++i) {
      const prometheus::Labels labels = {{"work", std::string(kWorkNames[i])}};
      work[i] = {.failures = &failures.Add(labels),
                 .rows = &rows.Add(labels),
                 .bytes = &bytes.Add(labels),
                 .seconds = &seconds.Add(labels, WorkSeconds())};
    }
  }

 private:
  Family<Counter>& CountFamily(const std::string& name, const std::string& help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Counter& Count(const std::string& name, const std::string& help) {
    return CountFamily(name, help).Add({});
  }
};

TierMetrics& Metrics() {
  static auto& metrics = *new TierMetrics;
  return metrics;
}

void Add(uint64_t n, Counter* counter) {
  if (n > 0) {
    counter->Increment(static_cast<double>(n));
  }
}

}  // namespace

Registry& TierRegistry() {
  return Metrics().registry;
}

void NoteScan(const ScanStats& stats, absl::Duration elapsed) {
  if (stats.path != ScanPath::kColumnar) {
    return;
  }
  TierMetrics& metrics = Metrics();
  const ColumnarScanCounters& counters = stats.columnar;
  metrics.scans.Increment();
  Add(counters.packs_skipped, &metrics.skipped);
  Add(counters.bytes_read, &metrics.bytes_read);
  Add(counters.mvcc_bytes_read, &metrics.mvcc_bytes_read);
  Add(counters.packs_clean, &metrics.clean);
  Add(counters.clean_rows, &metrics.clean_rows);
  Add(counters.mvcc_bytes_avoided, &metrics.avoided);
  for (size_t i = 0; i < counters.rejected.size(); ++i) {
    Add(counters.rejected[i], metrics.rejected[i]);
  }
  if (counters.packs_clean > 0) {
    metrics.clean_seconds.Observe(absl::ToDoubleSeconds(elapsed));
  }
}

void NoteDamage(std::string_view relation, const absl::Status& status) {
  Metrics().fallbacks.Increment();
  spdlog::warn("{}",
               StrCat("scan of ", relation, " goes on in the row store: ", MessageOf(status)));
}

WorkTimer::WorkTimer(TierWork work) : work_(work) {}

WorkTimer::~WorkTimer() {
  if (!finished_) {
    Metrics().work[static_cast<size_t>(work_)].failures->Increment();
  }
}

void WorkTimer::Finish(uint64_t rows, uint64_t bytes) {
  finished_ = true;
  const TierMetrics::Work& work = Metrics().work[static_cast<size_t>(work_)];
  Add(rows, work.rows);
  Add(bytes, work.bytes);
  work.seconds->Observe(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
}

}  // namespace varve
