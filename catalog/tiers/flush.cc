#include "catalog/tiers/flush.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/failpoint.h"
#include "base/status.h"
#include "catalog/feed/changes_truncation.h"
#include "catalog/relation_directory.h"
#include "catalog/store/commit_queue.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_tier.h"
#include "catalog/tiers/columnar_writer.h"
#include "catalog/tiers/manifest_edits.h"
#include "catalog/tiers/memory_source.h"
#include "catalog/tiers/tier_metrics.h"
#include "catalog/tiers/version_merger.h"

namespace varve {
namespace {

// The sets that are to be flushed, the newest first.
std::vector<const MemorySet*> FrozenSets(const StoreState& state) {
  std::vector<const MemorySet*> sets;
  for (const MemorySet* set = state.memory->older.get(); set != nullptr; set = set->older.get()) {
    sets.push_back(set);
  }
  return sets;
}

class Flush {
 public:
  Flush(const StoreState& state, const FlushOptions& options)
      : state_(state), options_(options), sets_(FrozenSets(state)) {
    for (const MemorySet* set : sets_) {
      for (const auto& [relation, memory] : set->relations) {
        total_ += memory->rows->num_rows();
      }
    }
  }

  // Writes the rows of all relations; false: there are none.
  absl::StatusOr<bool> Write(ColumnarFileWriter* writer) {
    for (const RelationRef& relation : state_.directory->relations()) {
      VARVE_RETURN_IF_ERROR(WriteRelation(relation, writer));
    }
    return rows_ > 0;
  }
  uint64_t rows() const { return rows_; }
  bool has_rows() const { return total_ > 0; }

 private:
  absl::Status WriteRelation(const RelationRef& relation, ColumnarFileWriter* writer) {
    std::vector<std::unique_ptr<VersionSource>> sources;
    for (const MemorySet* set : sets_) {
      if (const auto memory = set->relations.find(relation->id); memory != set->relations.end()) {
        sources.push_back(std::make_unique<MemorySource>(
            memory->second, MemorySourceOptions{.columns = TableColumnsOf(*relation),
                                                .csn = state_.memory->from,
                                                .with_erased = true}));
      }
    }
    VersionMerger merger(std::move(sources), {});
    bool begun = false;
    return AppendMerged(*relation, &merger, [&](const ColumnarRows& rows) -> absl::Status {
      if (options_.stop != nullptr && *options_.stop) {
        return absl::CancelledError("the flush was given up");
      }
      if (!std::exchange(begun, true)) {
        VARVE_RETURN_IF_ERROR(writer->BeginTable(TableSchemaOf(*relation)));
      }
      VARVE_RETURN_IF_ERROR(writer->Append(rows));
      rows_ += rows.num_rows();
      if (options_.on_progress && rows_ - reported_ >= kRowsPerPack) {
        reported_ = rows_;
        options_.on_progress(rows_, total_);
      }
      return absl::OkStatus();
    });
  }

  const StoreState& state_;
  const FlushOptions& options_;
  const std::vector<const MemorySet*> sets_;
  uint64_t total_ = 0;
  uint64_t rows_ = 0;
  uint64_t reported_ = 0;  // of them
};

}  // namespace

absl::StatusOr<FlushSummary> FlushMemory(Catalog& catalog, const FlushOptions& options) {
  VARVE_RETURN_IF_ERROR(catalog.WaitForMemory());
  ColumnarTier& tier = catalog.columnar_tier();
  const std::lock_guard lock(tier.maintenance_mutex());
  WorkTimer timer(TierWork::kFlush);
  VARVE_RETURN_IF_ERROR(tier.PrepareDirectory());
  VARVE_ASSIGN_OR_RETURN(const std::shared_ptr<const StoreState> state, catalog.FreezeMemory());
  FlushSummary summary{.flushed_csn = state->memory->from};
  VARVE_FAILPOINT("flush/frozen");
  Flush flush(*state, options);
  proto::ColumnarManifest manifest = state->columnar->manifest();
  manifest.set_flushed_csn(summary.flushed_csn);
  RemoveVanished(*state->directory, &manifest);
  RemoveEmptyFiles(&manifest);
  std::vector<proto::ColumnarFileEntry> written;
  if (flush.has_rows()) {
    VARVE_ASSIGN_OR_RETURN(
        const std::unique_ptr<NewColumnarFile> file,
        NewColumnarFile::Create(tier.place(), {.level = 1,
                                               .kind = ColumnarFileKind::kMixed,
                                               .flushed_csn = summary.flushed_csn,
                                               .table = options.table}));
    VARVE_ASSIGN_OR_RETURN(const bool has_rows, flush.Write(&file->writer()));
    if (has_rows) {
      VARVE_ASSIGN_OR_RETURN(proto::ColumnarFileEntry entry, file->Finish());
      for (proto::ColumnarTableEntry& table : *entry.mutable_tables()) {
        table.add_ranges();  // all handles
      }
      summary.bytes = entry.bytes();
      written.push_back(entry);
      *manifest.add_files() = std::move(entry);
    }
  }
  summary.rows = flush.rows();
  VARVE_FAILPOINT("flush/written");
  const Csn keep_from = summary.flushed_csn > options.changes_retention
                            ? summary.flushed_csn - options.changes_retention
                            : 0;
  VARVE_RETURN_IF_ERROR(
      tier.Install(catalog, std::move(manifest), written, [&](Commit& commit) -> absl::Status {
        VARVE_ASSIGN_OR_RETURN(const ChangesTruncation truncation,
                               TruncateChanges(commit.base(), keep_from));
        if (!truncation.end_key.empty()) {
          commit.DeleteChanges(truncation.first_key, truncation.end_key);
        }
        for (const auto& [key, value] : truncation.defaults) {
          commit.PutDefault(key, value);
        }
        return absl::OkStatus();
      }));
  VARVE_FAILPOINT("flush/installed");
  timer.Finish(summary.rows, summary.bytes);
  return summary;
}

}  // namespace varve
