#include "catalog/tiers/compaction.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
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
#include "catalog/tiers/manifest_edits.h"
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
      if (columns == nullptr || !IsChosen(options_.relations, relation->id)) {
        continue;
      }
      if (columns->damage.ok()) {
        Choose(relation, *columns);
      } else {
        Skip(*relation, columns->damage);
      }
    }
    RemoveVanished(*state_->directory, &manifest_);
    for (const auto& [relation, ranges] : chosen_) {
      const absl::Status status = CompactRelation(relation, ranges);
      if (absl::IsDataLoss(status)) {
        Skip(*relation, status);
      } else {
        VARVE_RETURN_IF_ERROR(status);
      }
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
    VARVE_RETURN_IF_ERROR(FindDamagedFiles());
    for (const RelationRef& relation : state_->directory->relations()) {
      const bool chosen =
          from_scratch ? true
          : options_.relations.empty()
              ? !state_->columnar->IsComplete(relation->id) || damaged_.contains(relation->id)
              : IsChosen(options_.relations, relation->id);
      if (chosen) {
        VARVE_RETURN_IF_ERROR(RebuildRelation(relation));
      }
    }
    VARVE_RETURN_IF_ERROR(FinishShared());
    RemoveVanished(*state_->directory, &manifest_);
    RemoveEmptyFiles(&manifest_);
    return Install();
  }

 private:
  absl::Status FindDamagedFiles() {
    VARVE_ASSIGN_OR_RETURN(
        const std::vector<DamagedFile> files,
        FindDamage(*state_, options_.check, [&](uint64_t done, uint64_t total) -> absl::Status {
          if (options_.on_check) {
            options_.on_check(done, total);
          }
          return CheckStop();
        }));
    for (const DamagedFile& file : files) {
      CompactionSummary::Damage damage{.file = file.name, .what = file.what};
      for (const RelationId id : file.relations) {
        const RelationRef relation = state_->directory->FindById(id);
        const bool is_rebuilt = relation != nullptr && IsChosen(options_.relations, id);
        if (is_rebuilt) {
          damaged_.insert(id);
          damage.rebuilt.push_back(relation->name);
        }
      }
      summary_.damaged.push_back(std::move(damage));
    }
    return absl::OkStatus();
  }

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
    std::vector<Work> chosen_ranges;
    for (const Work& work : ranges) {
      const uint64_t l2_rows = work.segment != nullptr ? work.segment->rows() : 0;
      const bool chosen =
          options_.full
              ? work.l1_rows > 0 || (work.segment != nullptr && work.segment->ended)
              : work.l1_rows > 0 && static_cast<double>(work.l1_rows) >=
                                        options_.min_changed_share * static_cast<double>(l2_rows);
      if (chosen) {
        rows_to_read_ += work.l1_rows + l2_rows;
        chosen_ranges.push_back(work);
      } else if (work.l1_rows == 0) {  // so that a file whose rows are all taken goes
        TakeFromL1(relation->id, work.range, &manifest_);
      }
    }
    if (!chosen_ranges.empty()) {
      chosen_.emplace_back(relation, std::move(chosen_ranges));
    }
  }

  // The relation stays as it is: something of it is damaged. The row store answers until it is
  // rebuilt, so what becomes of its flushed rows does not count.
  void Skip(const RelationSchema& relation, const absl::Status& why) {
    AddIncomplete(relation.id, &manifest_);
    if (skipped_.insert(relation.id).second) {
      summary_.skipped.push_back({.relation = relation.name, .why = std::string(MessageOf(why))});
    }
  }

  ColumnarSourceOptions SourceOptions(const RelationRef& relation, const HandleRange& range) {
    return {.relation = relation,
            .read = {.columns = TableColumnsOf(*relation),
                     .range = range,
                     .reads = &reads_,
                     .counters = &counters_}};
  }

  // What the compaction of a relation does to the manifest.
  struct Edits {
    std::vector<uint64_t> files_taken;  // of level 2
    std::vector<HandleRange> ranges_taken;
    std::vector<proto::ColumnarFileEntry> files_added;
  };

  // All its ranges, or on error none.
  absl::Status CompactRelation(const RelationRef& relation, const std::vector<Work>& ranges) {
    const CompactionSummary before = summary_;
    Edits edits;
    for (const Work& work : ranges) {
      if (absl::Status status = CompactRange(relation, work, &edits); !status.ok()) {
        RemoveFiles(tier_.place(), edits.files_added);
        summary_ = before;
        return status;
      }
    }
    for (const uint64_t number : edits.files_taken) {
      RemoveTable(number, relation->id, &manifest_);
    }
    for (const HandleRange& range : edits.ranges_taken) {
      TakeFromL1(relation->id, range, &manifest_);
    }
    AddFiles(std::move(edits.files_added));
    ++summary_.relations;
    return absl::OkStatus();
  }

  absl::Status CompactRange(const RelationRef& relation, const Work& work, Edits* edits) {
    const RelationColumns& columns = *state_->columnar->Find(relation->id);
    std::vector<std::unique_ptr<VersionSource>> sources;
    for (const ColumnarPart& part : columns.l1) {
      sources.push_back(
          std::make_unique<ColumnarSource>(std::vector{part}, SourceOptions(relation, work.range)));
    }
    if (work.segment != nullptr) {
      for (const std::optional<ColumnarPart>* part : {&work.segment->live, &work.segment->ended}) {
        if (part->has_value()) {
          ColumnarSourceOptions options = SourceOptions(relation, work.range);
          options.with_derived = true;
          sources.push_back(
              std::make_unique<ColumnarSource>(std::vector{**part}, std::move(options)));
          edits->files_taken.push_back((*part)->file->number());
        }
      }
    }
    edits->ranges_taken.push_back(work.range);
    return WriteSegments(relation, work.range, std::move(sources), &edits->files_added);
  }

  absl::Status RebuildRelation(const RelationRef& relation) {
    std::vector<std::unique_ptr<VersionSource>> sources;
    sources.push_back(std::make_unique<StoreSource>(state_, relation, TableColumnsOf(*relation)));
    RemoveRelation(relation->id, &manifest_);
    std::vector<proto::ColumnarFileEntry> files;
    const absl::Status status = WriteSegments(relation, HandleRange(), std::move(sources), &files);
    AddFiles(std::move(files));
    VARVE_RETURN_IF_ERROR(status);
    RemoveIncomplete(relation->id, &manifest_);
    ++summary_.relations;
    return absl::OkStatus();
  }

  // Merges the sources into new segments of the range, whose files are added to `written`.
  absl::Status WriteSegments(const RelationRef& relation, const HandleRange& range,
                             std::vector<std::unique_ptr<VersionSource>> sources,
                             std::vector<proto::ColumnarFileEntry>* written) {
    VersionMerger merger(std::move(sources), {});
    const std::unique_ptr<DerivedColumns> derived = DerivedColumnsOf(*relation, state_);
    ColumnarTableBuilderOptions table = options_.table;
    // Children are looked up by their parent, never by all of their handle.
    table.handle_bloom = table.handle_bloom && relation->versioning != Versioning::kViaParent;
    L2Writer writer(tier_.place(), relation, range,
                    {.segment_bytes = options_.segment_bytes,
                     .csn = state_->csn,
                     .derived = derived.get(),
                     .shared = &shared_,
                     .table = std::move(table)});
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
      written->push_back(std::move(file));
    }
    VARVE_FAILPOINT("compaction/range_written");
    return absl::OkStatus();
  }

  // Rows of relations that were skipped afterwards may be in the shared files; they do not count.
  absl::Status FinishShared() {
    VARVE_ASSIGN_OR_RETURN(std::vector<proto::ColumnarFileEntry> files, shared_.Finish());
    for (proto::ColumnarFileEntry& file : files) {
      auto* const tables = file.mutable_tables();
      tables->erase(
          std::remove_if(tables->begin(), tables->end(),
                         [&](const auto& table) { return skipped_.contains(table.relation()); }),
          tables->end());
    }
    AddFiles(std::move(files));
    return absl::OkStatus();
  }

  void AddFiles(std::vector<proto::ColumnarFileEntry> files) {
    for (proto::ColumnarFileEntry& file : files) {
      if (file.tables().empty()) {
        RemoveFiles(tier_.place(), {file});
        continue;
      }
      summary_.bytes_written += file.bytes();
      written_.push_back(file);
      *manifest_.add_files() = std::move(file);
    }
  }

  // Merges the newest L1 files while they are too many: as many of them as together are no smaller
  // than the next older one, so that a row is merged a logarithmic number of times. One that cannot
  // be opened is passed over: all relations it has rows of are skipped, so it has no place in the
  // order of the others.
  absl::Status MergeL1() {
    absl::Status status;
    size_t skipped = 0;
    do {  // again without a relation that turned out to be damaged
      skipped = skipped_.size();
      CompactionSummary before = summary_;
      status = TryMergeL1();
      if (!status.ok()) {
        before.skipped = std::move(summary_.skipped);
        summary_ = std::move(before);
      }
    } while (absl::IsDataLoss(status) && skipped_.size() > skipped);
    return status;
  }

  absl::Status TryMergeL1() {
    std::vector<const proto::ColumnarFileEntry*> files;  // the newest first
    for (const proto::ColumnarFileEntry& file : manifest_.files()) {
      if (file.level() == 1 && state_->columnar->files().contains(file.number())) {
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
    AddFiles({std::move(entry)});
    RemoveEmptyFiles(&manifest_);
    return absl::OkStatus();
  }

  // The part of a relation that an entry of the manifest under way describes; nullopt: none, or
  // the relation is skipped.
  std::optional<ColumnarPart> PartOf(const proto::ColumnarFileEntry& entry,
                                     const RelationSchema& relation) {
    for (const proto::ColumnarTableEntry& table : entry.tables()) {
      if (table.relation() != relation.id) {
        continue;
      }
      if (const absl::Status& damage = state_->columnar->Find(relation.id)->damage; !damage.ok()) {
        Skip(relation, damage);
      }
      if (skipped_.contains(relation.id)) {
        return std::nullopt;
      }
      const std::shared_ptr<const StoredColumnarFile>& file =
          state_->columnar->files().find(entry.number())->second;
      return ColumnarPart{.file = file,
                          .table = file->file()->FindTable(relation.id),
                          .ranges = AnsweredRanges(table)};
    }
    return std::nullopt;
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
        if (std::optional<ColumnarPart> part = PartOf(entry, *relation); part.has_value()) {
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
      const absl::Status status = AppendMerged(*relation, &merger, append);
      if (absl::IsDataLoss(status)) {
        Skip(*relation, status);
      }
      VARVE_RETURN_IF_ERROR(status);
    }
    VARVE_ASSIGN_OR_RETURN(proto::ColumnarFileEntry entry, file->Finish());
    for (proto::ColumnarTableEntry& table : *entry.mutable_tables()) {
      table.add_ranges();  // all handles: what compactions have taken is not in it
    }
    return entry;
  }

  // Reports it; Cancelled when the work is to be given up.
  absl::Status Progress() {
    if (options_.on_progress) {
      options_.on_progress(summary_.rows_read, std::max(rows_to_read_, summary_.rows_read));
    }
    return CheckStop();
  }

  absl::Status CheckStop() const {
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
  std::vector<std::pair<RelationRef, std::vector<Work>>> chosen_;
  absl::flat_hash_set<RelationId> skipped_;
  absl::flat_hash_set<RelationId> damaged_;  // inside of files that can be opened, or not
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
