// The merging half of a bulk load: sorted rows in, live and ended pairs out, clashes found.
//
// Rows come in (relation, handle, begin, order of arrival). All versions of a handle are together,
// so duplicates and overlapping intervals show as neighbours, and memory does not grow with the
// load.
//
// Thread-safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "catalog/load/bulk_loader.h"
#include "catalog/load/sorted_file_writer.h"
#include "catalog/read_view.h"

namespace varve {

// What stands before the payload of a row on its way through the sort.
struct LoadHead {
  SnapshotId end = kNoEnd;
  uint32_t origin = 0;
  uint64_t line = 0;
};

// A sort key is the row's live key, then 8 bytes begin, then 8 bytes order of arrival.
void AppendLoadSuffix(SnapshotId begin, uint64_t arrival, std::string* key);
void AppendLoadHead(const LoadHead& head, std::string* value);

class LoadMerger {
 public:
  struct Options {
    bool keep_anomalies = false;
    SnapshotId last_snapshot = 0;
    Csn csn = 0;
    const std::vector<std::string>* origins = nullptr;  // borrowed
    std::function<RelationRef(RelationId)> relation_of;
  };

  LoadMerger(Options options, SortedFileWriter* live, SortedFileWriter* ended)
      : options_(std::move(options)), live_(live), ended_(ended) {}

  // Takes the next pair of the sort.
  absl::Status Add(std::string_view key, std::string_view value);
  absl::Status Finish();

  const BulkLoadSummary& summary() const { return summary_; }

 private:
  // A version that cannot be written yet: keys must ascend, and ordinals above 0 come last.
  struct Held {
    uint32_t ordinal = 0;
    SnapshotId begin = 0;
    SnapshotId end = kNoEnd;
    std::string payload;
  };
  struct Lane {  // the versions of one ordinal: where the last one ends
    SnapshotId end = 0;
    LoadHead head;
  };

  absl::Status AddVersion(SnapshotId begin, const LoadHead& head, std::string_view payload);
  absl::Status AddIndexEntry(const LoadHead& head, std::string_view handle);
  absl::StatusOr<uint32_t> PlaceVersion(SnapshotId begin, const LoadHead& head);
  absl::Status WriteVersion(uint32_t ordinal, SnapshotId begin, SnapshotId end,
                            std::string_view payload);
  absl::Status EndGroup();
  absl::Status Error(const LoadHead& head, std::string_view message) const;
  std::string Where(const LoadHead& head) const;

  Options options_;
  SortedFileWriter* live_;
  SortedFileWriter* ended_;
  BulkLoadSummary summary_;

  std::string group_;  // relation and handle of the group at hand
  RelationRef relation_;
  std::vector<Lane> lanes_;           // by ordinal
  std::optional<Held> live_version_;  // ordinal 0
  std::vector<Held> held_;            // ordinals above 0
  std::string key_;
  std::string value_;
};

}  // namespace varve
