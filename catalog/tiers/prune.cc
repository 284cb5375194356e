#include "catalog/tiers/prune.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/relation_directory.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/file_verdicts.h"
#include "catalog/tiers/scan_path.h"
#include "catalog/tiers/tier_merge.h"
#include "catalog/tiers/tier_metrics.h"

namespace varve {
namespace {

// The columns of statistics that are read from rows, in this order.
enum Slot : size_t { kFileId, kNullCount, kMinValue, kMaxValue, kContainsNan, kNumSlots };
constexpr std::string_view kSlotNames[kNumSlots] = {"data_file_id", "null_count", "min_value",
                                                    "max_value", "contains_nan"};

constexpr int128_t kSmallestInt64 = std::numeric_limits<int64_t>::min();
constexpr int128_t kLargestInt64 = std::numeric_limits<int64_t>::max();

class Pruning {
 public:
  Pruning(const ReadView& view, int64_t table_id, int64_t column_id, FilterJudge judge,
          const PruneOptions& options)
      : view_(view),
        table_id_(table_id),
        column_id_(column_id),
        judge_(std::move(judge)),
        options_(options),
        statistics_(view.relations().FindById(kFileColumnStats)) {
    if (judge_.has_ranges() && !judge_.lets_all_through()) {
      bounds_.emplace(judge_.type());
    }
    for (const std::string_view name : kSlotNames) {
      columns_.push_back(*statistics_->columns.Find(name));
    }
  }

  absl::StatusOr<PrunedFiles> Run() {
    const RelationRef files = view_.relations().FindById(kDataFile);
    VARVE_RETURN_IF_ERROR(Walk(
        files, {*files->columns.Find("data_file_id")}, {Datum::Int64(table_id_)},
        [&] { verdicts_.ClearFiles(); },
        [&](const VersionMerger::Run& run) { return AddFiles(run); },
        [&](const ScanBatch& batch) { return AddFilesOfBatch(batch); }));
    verdicts_.Start();
    if (!judge_.lets_all_through()) {
      VARVE_RETURN_IF_ERROR(Walk(
          statistics_, columns_, {Datum::Int64(table_id_), Datum::Int64(column_id_)},
          [&] { verdicts_.Start(); },
          [&](const VersionMerger::Run& run) {
            return run.pack != nullptr ? JudgePack(*run.pack, run.to) : JudgeBlock(run);
          },
          [&](const ScanBatch& batch) {
            ids_.clear();
            JudgeRows(batch.columns, 0, batch.num_rows(), {});
            verdicts_.Add(ids_, row_verdicts_);
            return absl::OkStatus();
          }));
    }
    pruned_.live_files = verdicts_.num_files();
    pruned_.files = verdicts_.Remaining();
    return std::move(pruned_);
  }

 private:
  // Goes through the rows of a relation with a key prefix: in the tiers if they answer, and anew in
  // the row store if they do not or fail.
  template <typename OnRestart, typename OnRun, typename OnBatch>
  absl::Status Walk(const RelationRef& relation, const std::vector<size_t>& columns,
                    std::vector<Datum> prefix, const OnRestart& on_restart, const OnRun& on_run,
                    const OnBatch& on_batch) {
    std::string handle_prefix;
    VARVE_RETURN_IF_ERROR(AppendHandlePrefix(*relation, prefix, &handle_prefix));
    ScanOptions options;
    options.columns = columns;
    options.key_prefix = std::move(prefix);
    options.with_intervals = false;
    options.path = options_.path;
    VARVE_ASSIGN_OR_RETURN(const bool by_tiers,
                           IsAnsweredByTiers(view_, *relation, options, handle_prefix));
    if (by_tiers) {
      const absl::Status status = WalkTiers(relation, columns, handle_prefix, on_run);
      if (status.ok()) {
        return absl::OkStatus();
      }
      NoteDamage(relation->name, status);
      pruned_.fell_back = std::string(MessageOf(status));
      on_restart();
    }
    options.path = ScanPath::kRow;
    VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                           view_.Scan(relation, std::move(options)));
    ScanBatch batch;
    while (true) {
      VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
      if (!more) {
        return absl::OkStatus();
      }
      VARVE_RETURN_IF_ERROR(on_batch(batch));
    }
  }

  template <typename OnRun>
  absl::Status WalkTiers(const RelationRef& relation, const std::vector<size_t>& columns,
                         const std::string& prefix, const OnRun& on_run) {
    ReadCounters reads;
    ColumnarScanCounters counters;
    const TierMerge merge = MergeTiers(view_, relation,
                                       {.read = {.columns = columns,
                                                 .range = HandleRange::OfPrefix(prefix),
                                                 .at = view_.snapshot(),
                                                 .read_ahead = false,
                                                 .reads = &reads,
                                                 .counters = &counters},
                                        .merge = {.cuts_packs = relation->id == kDataFile}});
    VersionMerger::Run run;
    while (true) {
      VARVE_ASSIGN_OR_RETURN(const bool more, merge.merger->Next(&run));
      if (!more) {
        return absl::OkStatus();
      }
      VARVE_RETURN_IF_ERROR(on_run(run));
    }
  }

  // --- The table's files ---

  absl::Status AddFiles(const VersionMerger::Run& run) {
    if (run.pack == nullptr) {
      AddVisible(*run.block, run.from, run.to);
      return absl::OkStatus();
    }
    VARVE_ASSIGN_OR_RETURN(const std::shared_ptr<const ColumnVector> ids,
                           run.pack->ReadWholeColumn(0));
    if (!run.rows.has_value() && !run.pack->rejection().has_value()) {
      verdicts_.AddFiles(ids);
      return absl::OkStatus();
    }
    std::span<const uint32_t> rows;
    if (run.rows.has_value()) {
      rows = *run.rows;
    } else {
      VARVE_ASSIGN_OR_RETURN(rows, run.pack->VisibleRows());
    }
    ids_.clear();
    for (const uint32_t row : rows) {
      ids_.push_back(ids->int64s()[row]);
    }
    verdicts_.AddFiles(ids_);
    return absl::OkStatus();
  }

  void AddVisible(const VersionBlock& block, size_t from, size_t to) {
    ids_.clear();
    for (size_t row = from; row < to; ++row) {
      if (!block.is_erased(row) &&
          IsVisible(block.begins[row], block.ends[row], view_.snapshot())) {
        ids_.push_back(block.columns.column(0).int64s()[row]);
      }
    }
    verdicts_.AddFiles(ids_);
  }

  absl::Status AddFilesOfBatch(const ScanBatch& batch) {
    const std::span<const int64_t> ids = batch.columns.column(0).int64s();
    verdicts_.AddFiles(std::vector(ids.begin(), ids.end()));
    return absl::OkStatus();
  }

  // --- Statistics, by their texts ---

  // The column of rows of statistics that a slot is.
  absl::StatusOr<std::shared_ptr<const ColumnVector>> ReadSlot(PackSource& pack, Slot slot) {
    return pack.ReadShared(SlotOfColumn(*statistics_, columns_[slot]),
                           statistics_->columns.column(columns_[slot]).type.physical());
  }

  bool MayHaveNull(const ColumnVector& null_counts, size_t row) const {
    return judge_.asks_for_null() && (null_counts.is_null(row) || null_counts.int64s()[row] != 0);
  }

  Verdict JudgeTexts(const Datum& min, const Datum& max, const Datum& contains_nan) {
    if (!bounds_.has_value()) {
      return kNoMatch;  // no range is asked for
    }
    ++pruned_.rows_by_text;
    bounds_->Read(min, max, contains_nan);
    return judge_.MayMatch(bounds_->min(), bounds_->max()) ? kMayMatch : kNoMatch;
  }

  // Fills ids_ and row_verdicts_ with those of the rows [from, to), which have the columns of
  // kSlotNames.
  void JudgeRows(const ColumnBatch& columns, size_t from, size_t to,
                 std::span<const uint8_t> erased) {
    ids_.clear();
    row_verdicts_.clear();
    for (size_t row = from; row < to; ++row) {
      if (columns.column(kFileId).is_null(row) || (!erased.empty() && erased[row] != 0)) {
        continue;
      }
      ids_.push_back(columns.column(kFileId).int64s()[row]);
      row_verdicts_.push_back(MayHaveNull(columns.column(kNullCount), row)
                                  ? kMayMatch
                                  : JudgeTexts(columns.column(kMinValue).at(row),
                                               columns.column(kMaxValue).at(row),
                                               columns.column(kContainsNan).at(row)));
    }
  }

  absl::Status JudgeBlock(const VersionMerger::Run& run) {
    JudgeRows(run.block->columns, run.from, run.to, run.block->erased);
    verdicts_.Add(ids_, row_verdicts_);
    return absl::OkStatus();
  }

  // --- Statistics, by their keys ---

  // Rows of statistics neither begin nor end, and L2 has no markers: every row of a pack counts.
  absl::Status JudgePack(PackSource& pack, size_t num_rows) {
    VARVE_ASSIGN_OR_RETURN(const std::shared_ptr<const ColumnVector> ids, ReadSlot(pack, kFileId));
    row_verdicts_.assign(num_rows, kNoMatch);
    PackSource::Rows rows;
    VARVE_ASSIGN_OR_RETURN(rows, pack.RowsInRange());
    if (IsOutside(pack)) {
      ++pruned_.packs_skipped;
    } else {
      ++pruned_.packs_read;
      VARVE_RETURN_IF_ERROR(JudgeRanges(pack, rows));
      VARVE_RETURN_IF_ERROR(JudgeNulls(pack, rows));
    }
    const std::span<const uint8_t> no_file = ids->nulls().subspan(rows.from, rows.to - rows.from);
    if (std::memchr(no_file.data(), 1, no_file.size()) != nullptr) {
      for (size_t i = 0; i < no_file.size(); ++i) {
        if (no_file[i] != 0) {
          row_verdicts_[rows.from + i] = kSaysNothing;
        }
      }
    }
    verdicts_.Add(ids->int64s().subspan(rows.from, rows.to - rows.from),
                  std::span<const uint8_t>(row_verdicts_).subspan(rows.from, rows.to - rows.from));
    return absl::OkStatus();
  }

  // Statistics of the pack prove that no row of it can match.
  bool IsOutside(const PackSource& pack) const {
    if (judge_.asks_for_null()) {
      const std::optional<PackMinMax> counts =
          pack.MinMax(SlotOfColumn(*statistics_, columns_[kNullCount]).column_id());
      if (!counts.has_value() || counts->has_null || !counts->has_value || counts->max_is_open ||
          counts->min.int64_value() != 0 || counts->max.int64_value() != 0) {
        return false;
      }
    }
    if (!judge_.has_ranges()) {
      return true;
    }
    const std::optional<PackMinMax> min = pack.MinMax(kMinKeyColumn);
    const std::optional<PackMinMax> max = pack.MinMax(kMaxKeyColumn);
    if (HasKeys(pack) != true || !min.has_value() || !max.has_value()) {
      return false;
    }
    const auto knows_all = [](const PackMinMax& keys) { return keys.has_value && !keys.has_null; };
    return std::all_of(judge_.key_ranges().begin(), judge_.key_ranges().end(), [&](const auto& r) {
      return (knows_all(*min) && min->min.int128_value() > r.upper) ||
             (knows_all(*max) && !max->max_is_open && max->max.int128_value() < r.lower);
    });
  }

  // Whether all rows of the pack have keys that compare with those of the filter; nullopt: the
  // statistics of the pack do not say.
  std::optional<bool> HasKeys(const PackSource& pack) const {
    const std::optional<PackMinMax> types = pack.MinMax(kKeyTypeColumn);
    if (!types.has_value() || types->has_null || !types->has_value || types->max_is_open ||
        types->min.int64_value() != types->max.int64_value()) {
      return std::nullopt;
    }
    return KeysCompare(types->min.int64_value(), judge_.type());
  }

  absl::StatusOr<bool> HasKeys(PackSource& pack, PackSource::Rows rows) const {
    if (const std::optional<bool> known = HasKeys(pack); known.has_value()) {
      return *known;
    }
    VARVE_ASSIGN_OR_RETURN(const std::shared_ptr<const ColumnVector> types,
                           pack.ReadShared(ColumnSlot::Data(kKeyTypeColumn), PhysicalType::kInt64));
    for (size_t row = rows.from; row < rows.to; ++row) {
      if (types->is_null(row) || !KeysCompare(types->int64s()[row], judge_.type())) {
        return false;
      }
    }
    return true;
  }

  // Marks the rows whose bounds meet a range.
  absl::Status JudgeRanges(PackSource& pack, PackSource::Rows rows) {
    if (!judge_.has_ranges()) {
      return absl::OkStatus();
    }
    VARVE_ASSIGN_OR_RETURN(const bool has_keys, HasKeys(pack, rows));
    if (has_keys) {
      VARVE_RETURN_IF_ERROR(JudgeKeys(pack, rows));
      if (HasExactKeys(judge_.type()) || !AnyMatches(rows)) {
        return absl::OkStatus();
      }
    } else {
      std::fill(row_verdicts_.begin(), row_verdicts_.end(), kMayMatch);
    }
    // What keys leave, by their texts.
    VARVE_ASSIGN_OR_RETURN(const auto min, ReadSlot(pack, kMinValue));
    VARVE_ASSIGN_OR_RETURN(const auto max, ReadSlot(pack, kMaxValue));
    VARVE_ASSIGN_OR_RETURN(const auto nan, ReadSlot(pack, kContainsNan));
    for (size_t row = rows.from; row < rows.to; ++row) {
      if (row_verdicts_[row] == kMayMatch) {
        row_verdicts_[row] = JudgeTexts(min->at(row), max->at(row), nan->at(row));
      }
    }
    return absl::OkStatus();
  }

  bool AnyMatches(PackSource::Rows rows) const {
    return std::memchr(row_verdicts_.data() + rows.from, kMayMatch, rows.to - rows.from) != nullptr;
  }

  absl::Status JudgeKeys(PackSource& pack, PackSource::Rows rows) {
    const ColumnSlot min_slot = ColumnSlot::Data(kMinKeyColumn);
    const ColumnSlot max_slot = ColumnSlot::Data(kMaxKeyColumn);
    if (FitInt64s(pack.MinMax(kMinKeyColumn)) && FitInt64s(pack.MinMax(kMaxKeyColumn)) &&
        std::ranges::all_of(judge_.key_ranges(), ReachesInt64s)) {
      VARVE_ASSIGN_OR_RETURN(const auto min, pack.ReadNarrowed(min_slot));
      VARVE_ASSIGN_OR_RETURN(const auto max, pack.ReadNarrowed(max_slot));
      for (const FilterJudge::KeyRange range : judge_.key_ranges()) {
        MarkRange(min->int64s(), max->int64s(), min->nulls(), max->nulls(),
                  static_cast<int64_t>(std::max(range.lower, kSmallestInt64)),
                  static_cast<int64_t>(std::min(range.upper, kLargestInt64)), rows);
      }
    } else {
      VARVE_ASSIGN_OR_RETURN(const auto min, pack.ReadShared(min_slot, PhysicalType::kInt128));
      VARVE_ASSIGN_OR_RETURN(const auto max, pack.ReadShared(max_slot, PhysicalType::kInt128));
      for (const FilterJudge::KeyRange range : judge_.key_ranges()) {
        MarkRange(min->int128s(), max->int128s(), min->nulls(), max->nulls(), range.lower,
                  range.upper, rows);
      }
    }
    // kNoMatch and a mark of some range.
    for (size_t row = rows.from; row < rows.to; ++row) {
      row_verdicts_[row] = std::min<uint8_t>(row_verdicts_[row], kMayMatch);
    }
    return absl::OkStatus();
  }

  static bool FitInt64s(const std::optional<PackMinMax>& keys) {
    return keys.has_value() && !keys->max_is_open &&
           (!keys->has_value || (keys->min.int128_value() >= kSmallestInt64 &&
                                 keys->max.int128_value() <= kLargestInt64));
  }
  static bool ReachesInt64s(const FilterJudge::KeyRange& range) {
    return range.upper >= kSmallestInt64 && range.lower <= kLargestInt64;
  }

  template <typename T>
  void MarkRange(std::span<const T> min_keys, std::span<const T> max_keys,
                 std::span<const uint8_t> min_unknown, std::span<const uint8_t> max_unknown,
                 T lower, T upper, PackSource::Rows rows) {
    uint8_t* const verdicts = row_verdicts_.data();
    for (size_t row = rows.from; row < rows.to; ++row) {
      const bool reaches_down = (min_unknown[row] != 0) | (min_keys[row] <= upper);
      const bool reaches_up = (max_unknown[row] != 0) | (max_keys[row] >= lower);
      verdicts[row] |= static_cast<uint8_t>(reaches_down & reaches_up) << 1;
    }
  }

  absl::Status JudgeNulls(PackSource& pack, PackSource::Rows rows) {
    if (!judge_.asks_for_null()) {
      return absl::OkStatus();
    }
    VARVE_ASSIGN_OR_RETURN(const auto counts, ReadSlot(pack, kNullCount));
    for (size_t row = rows.from; row < rows.to; ++row) {
      if (MayHaveNull(*counts, row)) {
        row_verdicts_[row] = kMayMatch;
      }
    }
    return absl::OkStatus();
  }

  const ReadView& view_;
  const int64_t table_id_;
  const int64_t column_id_;
  const FilterJudge judge_;
  const PruneOptions options_;
  const RelationRef statistics_;
  std::vector<size_t> columns_;             // of statistics_, by Slot
  std::optional<StatisticsBounds> bounds_;  // nullopt: no bounds are compared
  FileVerdicts verdicts_;
  PrunedFiles pruned_;
  std::vector<int64_t> ids_;
  std::vector<uint8_t> row_verdicts_;
};

}  // namespace

absl::StatusOr<PrunedFiles> PruneFiles(const ReadView& view, int64_t table_id, int64_t column_id,
                                       const ColumnFilter& filter, const PruneOptions& options) {
  const RelationRef columns = view.relations().FindById(kColumn);
  const Datum key[] = {Datum::Int64(table_id), Datum::Int64(column_id)};
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> column, view.Get(*columns, key));
  if (!column.has_value()) {
    return absl::NotFoundError(
        StrCat("table ", table_id, " has no column ", column_id, " at snapshot ", view.snapshot()));
  }
  const Datum type = column->values[*columns->columns.Find("column_type")];
  VARVE_ASSIGN_OR_RETURN(
      FilterJudge judge,
      FilterJudge::Make(type.is_null() ? std::nullopt : OrderedType(type.bytes()), filter));
  return Pruning(view, table_id, column_id, std::move(judge), options).Run();
}

}  // namespace varve
