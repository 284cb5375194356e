#include "catalog/tiers/compaction.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "base/failpoint.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/relation_directory.h"
#include "catalog/retention/retained.h"
#include "catalog/retention/view_registry.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_source.h"
#include "catalog/tiers/columnar_tier.h"
#include "catalog/tiers/columnar_writer.h"
#include "catalog/tiers/statistics_keys.h"
#include "catalog/tiers/store_source.h"
#include "catalog/tiers/tier_metrics.h"
#include "catalog/tiers/version_merger.h"

namespace varve {
namespace {

// A range of handles, and what lies in it.
struct Work {
  HandleRange range;
  const ColumnarSegment* segment = nullptr;  // null: a gap
  uint64_t l1_rows = 0;                      // at most
};

// The rows of an L1 part that can lie in a range: those of the packs it touches.
uint64_t RowsIn(const ColumnarPart& part, const HandleRange& range) {
  uint64_t rows = 0;
  for (const HandleRange& answered : part.ranges) {
    const HandleRange both = Intersection(answered, range);
    if (both.empty()) {
      continue;
    }
    for (size_t pack = SeekPack(*part.table, both.lower);
         pack < part.table->num_packs() && both.IsBelowUpper(FirstHandle(*part.table, pack));
         ++pack) {
      rows += part.table->rows_of_pack(pack);
    }
  }
  return rows;
}

// The segments of a relation and the gaps around them, ascending: together all handles.
std::vector<Work> RangesOf(const RelationColumns& columns) {
  std::vector<Work> ranges;
  std::string next;
  bool open = true;
  for (const ColumnarSegment& segment : columns.segments) {
    if (next < segment.range.lower) {
      ranges.push_back({.range = {.lower = next, .upper = segment.range.lower}});
    }
    ranges.push_back({.range = segment.range, .segment = &segment});
    next = segment.range.upper;
    open = !next.empty();
  }
  if (open) {
    ranges.push_back({.range = {.lower = next}});
  }
  for (Work& work : ranges) {
    for (const ColumnarPart& part : columns.l1) {
      work.l1_rows += RowsIn(part, work.range);
    }
  }
  return ranges;
}

bool IsChosen(const std::vector<RelationId>& relations, RelationId relation) {
  return relations.empty() ||
         std::find(relations.begin(), relations.end(), relation) != relations.end();
}

// Takes a range of a relation away from the L1 files of a manifest, and files that answer for
// nothing any more out of it.
void TakeFromL1(RelationId relation, const HandleRange& range, proto::ColumnarManifest* manifest) {
  for (proto::ColumnarFileEntry& file : *manifest->mutable_files()) {
    for (proto::ColumnarTableEntry& table : *file.mutable_tables()) {
      if (file.level() != 1 || table.relation() != relation) {
        continue;
      }
      const std::vector<HandleRange> left = Without(AnsweredRanges(table), range);
      table.clear_ranges();
      for (const HandleRange& rest : left) {
        AddRange(rest, &table);
      }
    }
  }
}

void RemoveEmptyFiles(proto::ColumnarManifest* manifest) {
  google::protobuf::RepeatedPtrField<proto::ColumnarFileEntry> kept;
  for (proto::ColumnarFileEntry& file : *manifest->mutable_files()) {
    google::protobuf::RepeatedPtrField<proto::ColumnarTableEntry> tables;
    for (proto::ColumnarTableEntry& table : *file.mutable_tables()) {
      if (table.ranges_size() > 0) {
        *tables.Add() = std::move(table);
      }
    }
    file.mutable_tables()->Swap(&tables);
    if (file.tables_size() > 0) {
      *kept.Add() = std::move(file);
    }
  }
  manifest->mutable_files()->Swap(&kept);
}

void RemoveFile(uint64_t number, proto::ColumnarManifest* manifest) {
  for (proto::ColumnarFileEntry& file : *manifest->mutable_files()) {
    if (file.number() == number) {
      file.clear_tables();
    }
  }
}

// Small relations share files.
void RemoveTable(uint64_t number, RelationId relation, proto::ColumnarManifest* manifest) {
  for (proto::ColumnarFileEntry& file : *manifest->mutable_files()) {
    for (proto::ColumnarTableEntry& table : *file.mutable_tables()) {
      if (file.number() == number && table.relation() == relation) {
        table.clear_ranges();
      }
    }
  }
}

// How many segments new files make up: the two of one have the same range.
uint64_t CountSegments(const std::vector<proto::ColumnarFileEntry>& files) {
  uint64_t segments = 0;
  const std::string* lower = nullptr;
  for (const proto::ColumnarFileEntry& file : files) {
    const std::string& of_file = file.tables(0).ranges(0).lower();
    segments += lower == nullptr || *lower != of_file ? 1 : 0;
    lower = &of_file;
  }
  return segments;
}

class Compaction {
 public:
  Compaction(Catalog& catalog, const CompactionOptions& options)
      : catalog_(catalog),
        tier_(catalog.columnar_tier()),
        options_(options),
        state_(catalog.LatestState()),
        manifest_(state_->columnar->manifest()),
        shared_(tier_.place(), {.level = 2, .flushed_csn = state_->csn, .table = options.table}) {}

  absl::StatusOr<CompactionSummary> Compact() {
    VARVE_RETURN_IF_ERROR(Prepare());
    for (const RelationRef& relation : state_->directory->relations()) {
      const RelationColumns* const columns = state_->columnar->Find(relation->id);
      if (columns != nullptr && IsChosen(options_.relations, relation->id)) {
        VARVE_RETURN_IF_ERROR(columns->damage);
        Choose(relation, *columns);
      }
    }
    DropVanishedRelations();
    for (const auto& [relation, work] : chosen_) {
      VARVE_RETURN_IF_ERROR(CompactRange(relation, work));
    }
    VARVE_RETURN_IF_ERROR(FinishShared());
    RemoveEmptyFiles(&manifest_);
    VARVE_RETURN_IF_ERROR(MergeL1());
    return Install();
  }

  // `from_scratch`: without memory, so that nothing of the files counts any more. The change log is
  // then read from this state on.
  absl::StatusOr<CompactionSummary> Rebuild(bool from_scratch) {
    VARVE_RETURN_IF_ERROR(Prepare());
    if (from_scratch) {
      manifest_.set_flushed_csn(state_->csn);
    }
    for (const Family family : {Family::kLive, Family::kEnded}) {  // at most, and an estimate
      uint64_t keys = 0;
      state_->store->db().GetIntProperty(state_->store->family(family),
                                         rocksdb::DB::Properties::kEstimateNumKeys, &keys);
      rows_to_read_ += keys;
    }
    for (const RelationRef& relation : state_->directory->relations()) {
      const bool chosen = from_scratch                 ? true
                          : options_.relations.empty() ? !state_->columnar->IsComplete(relation->id)
                                                       : IsChosen(options_.relations, relation->id);
      if (chosen) {
        VARVE_RETURN_IF_ERROR(RebuildRelation(relation));
      }
    }
    VARVE_RETURN_IF_ERROR(FinishShared());
    DropVanishedRelations();
    RemoveEmptyFiles(&manifest_);
    return Install();
  }

 private:
  absl::Status Prepare() {
    VARVE_RETURN_IF_ERROR(tier_.PrepareDirectory());
    const std::vector<SnapshotId> held = catalog_.views().HeldSnapshots();
    VARVE_ASSIGN_OR_RETURN(retained_, FindRetained(*state_, held, absl::Now()));
    return absl::OkStatus();
  }

  void Choose(const RelationRef& relation, const RelationColumns& columns) {
    const std::vector<Work> ranges = RangesOf(columns);
    const uint64_t l1_rows =
        std::accumulate(ranges.begin(), ranges.end(), uint64_t{0},
                        [](uint64_t sum, const Work& work) { return sum + work.l1_rows; });
    if (!options_.full && l1_rows < options_.min_rows) {
      return;
    }
    bool any = false;
    for (const Work& work : ranges) {
      const uint64_t l2_rows = work.segment != nullptr ? work.segment->rows() : 0;
      const bool chosen =
          options_.full
              ? work.l1_rows > 0 || (work.segment != nullptr && work.segment->ended)
              : work.l1_rows > 0 && static_cast<double>(work.l1_rows) >=
                                        options_.min_changed_share * static_cast<double>(l2_rows);
      if (chosen) {
        any = true;
        rows_to_read_ += work.l1_rows + l2_rows;
        chosen_.emplace_back(relation, work);
      } else if (work.l1_rows == 0) {  // so that a file whose rows are all taken goes
        TakeFromL1(relation->id, work.range, &manifest_);
      }
    }
    summary_.relations += any ? 1 : 0;
  }

  ColumnarSourceOptions SourceOptions(const RelationRef& relation, const HandleRange& range) {
    return {.relation = relation,
            .read = {.columns = TableColumnsOf(*relation),
                     .range = range,
                     .reads = &reads_,
                     .counters = &counters_}};
  }

  absl::Status CompactRange(const RelationRef& relation, const Work& work) {
    const RelationColumns& columns = *state_->columnar->Find(relation->id);
    std::vector<std::unique_ptr<VersionSource>> sources;
    for (const ColumnarPart& part : columns.l1) {
      sources.push_back(
          std::make_unique<ColumnarSource>(std::vector{part}, SourceOptions(relation, work.range)));
    }
    if (work.segment != nullptr) {
      for (const std::optional<ColumnarPart>* part : {&work.segment->live, &work.segment->ended}) {
        if (part->has_value()) {
          sources.push_back(std::make_unique<ColumnarSource>(std::vector{**part},
                                                             SourceOptions(relation, work.range)));
          RemoveTable((*part)->file->number(), relation->id, &manifest_);
        }
      }
    }
    VARVE_RETURN_IF_ERROR(WriteSegments(relation, work.range, std::move(sources)));
    TakeFromL1(relation->id, work.range, &manifest_);
    return absl::OkStatus();
  }

  absl::Status RebuildRelation(const RelationRef& relation) {
    std::vector<std::unique_ptr<VersionSource>> sources;
    sources.push_back(std::make_unique<StoreSource>(state_, relation, TableColumnsOf(*relation)));
    for (proto::ColumnarFileEntry& file : *manifest_.mutable_files()) {
      for (proto::ColumnarTableEntry& table : *file.mutable_tables()) {
        if (table.relation() == relation->id) {
          table.clear_ranges();
        }
      }
    }
    VARVE_RETURN_IF_ERROR(WriteSegments(relation, HandleRange(), std::move(sources)));
    auto* const incomplete = manifest_.mutable_incomplete();
    incomplete->erase(std::remove(incomplete->begin(), incomplete->end(), relation->id),
                      incomplete->end());
    ++summary_.relations;
    return absl::OkStatus();
  }

  // Merges the sources into new segments of the range.
  absl::Status WriteSegments(const RelationRef& relation, const HandleRange& range,
                             std::vector<std::unique_ptr<VersionSource>> sources) {
    VersionMerger merger(std::move(sources), {});
    const std::unique_ptr<DerivedColumns> derived = DerivedColumnsOf(*relation, state_);
    L2Writer writer(tier_.place(), relation, range,
                    {.segment_bytes = options_.segment_bytes,
                     .csn = state_->csn,
                     .derived = derived.get(),
                     .shared = &shared_,
                     .table = options_.table});
    VersionMerger::Run run;
    std::vector<uint32_t> kept;
    while (true) {
      VARVE_ASSIGN_OR_RETURN(const bool more, merger.Next(&run));
      if (!more) {
        break;
      }
      kept.clear();
      for (size_t row = run.from; row < run.to; ++row) {
        if (run.block->is_erased(row)) {
          ++summary_.markers_dropped;
        } else if (retained_.IsReclaimable(run.block->begins[row], run.block->ends[row])) {
          ++summary_.reclaimed;
        } else {
          kept.push_back(static_cast<uint32_t>(row));
        }
      }
      summary_.rows_read += run.to - run.from;
      if (!kept.empty()) {
        VARVE_RETURN_IF_ERROR(writer.Add(*run.block, kept));
      }
      VARVE_RETURN_IF_ERROR(Progress());
    }
    VARVE_ASSIGN_OR_RETURN(std::vector<proto::ColumnarFileEntry> files, writer.Finish());
    summary_.rows_written += writer.rows_written();
    summary_.segments += CountSegments(files);
    for (proto::ColumnarFileEntry& file : files) {
      AddFile(std::move(file));
    }
    VARVE_FAILPOINT("compaction/range_written");
    return absl::OkStatus();
  }

  absl::Status FinishShared() {
    VARVE_ASSIGN_OR_RETURN(std::vector<proto::ColumnarFileEntry> files, shared_.Finish());
    for (proto::ColumnarFileEntry& file : files) {
      AddFile(std::move(file));
    }
    return absl::OkStatus();
  }

  void AddFile(proto::ColumnarFileEntry file) {
    summary_.bytes_written += file.bytes();
    written_.push_back(file);
    *manifest_.add_files() = std::move(file);
  }

  // Merges the newest L1 files while they are too many: as many of them as together are no smaller
  // than the next older one, so that a row is merged a logarithmic number of times.
  absl::Status MergeL1() {
    std::vector<const proto::ColumnarFileEntry*> files;  // the newest first
    for (const proto::ColumnarFileEntry& file : manifest_.files()) {
      if (file.level() == 1) {
        files.push_back(&file);
      }
    }
    if (files.size() <= options_.max_l1_files) {
      return absl::OkStatus();
    }
    std::sort(files.begin(), files.end(),
              [](const auto* a, const auto* b) { return a->number() > b->number(); });
    size_t count = files.size() - options_.max_l1_files + 1;
    uint64_t bytes = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      if (i >= count && files[i]->bytes() > bytes) {
        break;
      }
      bytes += files[i]->bytes();
      count = std::max(count, i + 1);
    }
    std::vector<proto::ColumnarFileEntry> merged;
    for (size_t i = 0; i < count; ++i) {
      merged.push_back(*files[i]);
    }
    VARVE_ASSIGN_OR_RETURN(proto::ColumnarFileEntry entry, WriteMergedL1(merged));
    for (const proto::ColumnarFileEntry& file : merged) {
      RemoveFile(file.number(), &manifest_);
    }
    summary_.l1_files_merged += merged.size();
    AddFile(std::move(entry));
    RemoveEmptyFiles(&manifest_);
    return absl::OkStatus();
  }

  // The part of a relation that an entry of the manifest under way describes; nullopt: none.
  absl::StatusOr<std::optional<ColumnarPart>> PartOf(const proto::ColumnarFileEntry& entry,
                                                     RelationId relation) {
    for (const proto::ColumnarTableEntry& table : entry.tables()) {
      if (table.relation() != relation) {
        continue;
      }
      VARVE_RETURN_IF_ERROR(state_->columnar->Find(relation)->damage);
      const std::shared_ptr<const StoredColumnarFile>& file =
          state_->columnar->files().find(entry.number())->second;
      return std::optional(ColumnarPart{.file = file,
                                        .table = file->file()->FindTable(relation),
                                        .ranges = AnsweredRanges(table)});
    }
    return std::optional<ColumnarPart>();
  }

  absl::StatusOr<proto::ColumnarFileEntry> WriteMergedL1(
      const std::vector<proto::ColumnarFileEntry>& entries) {
    VARVE_ASSIGN_OR_RETURN(
        const std::unique_ptr<NewColumnarFile> file,
        NewColumnarFile::Create(tier_.place(), {.level = 1,
                                                .kind = ColumnarFileKind::kMixed,
                                                .flushed_csn = state_->columnar->flushed_csn(),
                                                .table = options_.table}));
    for (const RelationRef& relation : state_->directory->relations()) {
      std::vector<std::unique_ptr<VersionSource>> sources;
      for (const proto::ColumnarFileEntry& entry : entries) {
        VARVE_ASSIGN_OR_RETURN(std::optional<ColumnarPart> part, PartOf(entry, relation->id));
        if (part.has_value()) {
          sources.push_back(std::make_unique<ColumnarSource>(
              std::vector{*std::move(part)}, SourceOptions(relation, HandleRange())));
        }
      }
      if (sources.empty()) {
        continue;
      }
      VARVE_RETURN_IF_ERROR(file->writer().BeginTable(TableSchemaOf(*relation)));
      VersionMerger merger(std::move(sources), {});
      const auto append = [&](const ColumnarRows& rows) -> absl::Status {
        VARVE_RETURN_IF_ERROR(file->writer().Append(rows));
        summary_.rows_read += rows.num_rows();
        summary_.rows_written += rows.num_rows();
        return Progress();
      };
      VARVE_RETURN_IF_ERROR(AppendMerged(*relation, &merger, append));
    }
    VARVE_ASSIGN_OR_RETURN(proto::ColumnarFileEntry entry, file->Finish());
    for (proto::ColumnarTableEntry& table : *entry.mutable_tables()) {
      table.add_ranges();  // all handles: what compactions have taken is not in it
    }
    return entry;
  }

  // Relations that were dropped need no files.
  void DropVanishedRelations() {
    for (proto::ColumnarFileEntry& file : *manifest_.mutable_files()) {
      for (proto::ColumnarTableEntry& table : *file.mutable_tables()) {
        if (state_->directory->FindById(table.relation()) == nullptr) {
          table.clear_ranges();
        }
      }
    }
  }

  // Reports it; Cancelled when the work is to be given up.
  absl::Status Progress() {
    if (options_.on_progress) {
      options_.on_progress(summary_.rows_read, std::max(rows_to_read_, summary_.rows_read));
    }
    return options_.stop != nullptr && *options_.stop
               ? absl::CancelledError("the compaction was given up")
               : absl::OkStatus();
  }

  absl::StatusOr<CompactionSummary> Install() {
    const std::string before = state_->columnar->manifest().SerializeAsString();
    manifest_.set_next_file(state_->columnar->manifest().next_file());
    if (manifest_.SerializeAsString() == before) {
      return summary_;
    }
    VARVE_FAILPOINT("compaction/before_install");
    // From here on the files are the tier's: after a commit that failed they may be installed.
    const std::vector<proto::ColumnarFileEntry> written = std::exchange(written_, {});
    VARVE_RETURN_IF_ERROR(tier_.Install(catalog_, std::move(manifest_), written, nullptr));
    VARVE_FAILPOINT("compaction/installed");
    return summary_;
  }

 public:
  // Removes what was written and not installed.
  ~Compaction() { RemoveFiles(tier_.place(), written_); }

 private:
  Catalog& catalog_;
  ColumnarTier& tier_;
  const CompactionOptions& options_;
  const std::shared_ptr<const StoreState> state_;
  proto::ColumnarManifest manifest_;
  SharedL2Files shared_;
  RetainedSnapshots retained_;
  std::vector<std::pair<RelationRef, Work>> chosen_;
  uint64_t rows_to_read_ = 0;
  std::vector<proto::ColumnarFileEntry> written_;
  ReadCounters reads_;
  ColumnarScanCounters counters_;
  CompactionSummary summary_;
};

absl::Status CheckWritable(const Catalog& catalog) {
  return catalog.LatestState()->store->read_only()
             ? absl::FailedPreconditionError(
                   StrCat("catalog ", catalog.path(), " is open read-only; open it for writing"))
             : absl::OkStatus();
}

}  // namespace

absl::StatusOr<CompactionSummary> CompactColumns(Catalog& catalog,
                                                 const CompactionOptions& options) {
  VARVE_RETURN_IF_ERROR(CheckWritable(catalog));
  const std::lock_guard lock(catalog.columnar_tier().maintenance_mutex());
  WorkTimer timer(TierWork::kCompaction);
  Compaction compaction(catalog, options);
  VARVE_ASSIGN_OR_RETURN(const CompactionSummary summary, compaction.Compact());
  timer.Finish(summary.rows_written, summary.bytes_written);
  return summary;
}

absl::StatusOr<CompactionSummary> RebuildColumns(Catalog& catalog,
                                                 const CompactionOptions& options) {
  VARVE_RETURN_IF_ERROR(CheckWritable(catalog));
  const bool from_scratch = !catalog.WaitForMemory().ok();
  const std::lock_guard lock(catalog.columnar_tier().maintenance_mutex());
  WorkTimer timer(TierWork::kRebuild);
  Compaction compaction(catalog, options);
  VARVE_ASSIGN_OR_RETURN(const CompactionSummary summary, compaction.Rebuild(from_scratch));
  timer.Finish(summary.rows_written, summary.bytes_written);
  return summary;
}

}  // namespace varve
