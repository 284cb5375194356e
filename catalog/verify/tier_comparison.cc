#include "catalog/verify/tier_comparison.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/handle.h"
#include "catalog/retention/retained.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/memory_format.h"
#include "catalog/tiers/memory_set.h"
#include "catalog/tiers/store_source.h"
#include "catalog/tiers/tier_merge.h"

namespace varve {
namespace {

std::string ShownEnd(SnapshotId end) {
  return end == kNoEnd ? "none" : StrCat(end);
}

std::string ShownValue(const Type& type, const Datum& value) {
  constexpr size_t kMost = 60;
  if (value.is_null()) {
    return "NULL";
  }
  const std::string text = ToText(type, value);
  return text.size() > kMost ? StrCat(text.substr(0, kMost), "…") : text;
}

// The versions of the row store, one at a time.
class StoreVersions {
 public:
  StoreVersions(std::shared_ptr<const StoreState> state, RelationRef relation,
                std::vector<size_t> columns)
      : source_(std::move(state), std::move(relation), std::move(columns)) {}

  absl::Status Next() {
    if (++row_ >= block_.num_rows()) {
      row_ = 0;
      VARVE_ASSIGN_OR_RETURN(valid_, source_.Next(&block_));
    }
    return absl::OkStatus();
  }
  bool valid() const { return valid_; }
  const VersionBlock& block() const { return block_; }
  size_t row() const { return row_; }

 private:
  StoreSource source_;
  VersionBlock block_;
  size_t row_ = 0;
  bool valid_ = true;
};

// The same of the tiers, without what was erased.
class TierVersions {
 public:
  TierVersions(const ReadView& view, const RelationRef& relation, std::vector<size_t> columns)
      : merge_(MergeTiers(view, relation,
                          {.read = {.columns = std::move(columns),
                                    .clean_read = false,
                                    .needs_versions = true,
                                    .reads = &reads_,
                                    .counters = &counters_}})) {}

  absl::Status Next() {
    do {
      if (++row_ >= end_) {
        VARVE_RETURN_IF_ERROR(NextRun());
      }
    } while (valid_ && (row_ >= end_ || block_->is_erased(row_)));
    return absl::OkStatus();
  }
  bool valid() const { return valid_; }
  const VersionBlock& block() const { return *block_; }
  size_t row() const { return row_; }

 private:
  absl::Status NextRun() {
    VersionMerger::Run run;
    VARVE_ASSIGN_OR_RETURN(valid_, merge_.merger->Next(&run));
    if (!valid_) {
      return absl::OkStatus();
    }
    if (run.pack != nullptr) {
      VARVE_RETURN_IF_ERROR(run.pack->ReadPack(&own_));
      run = {.block = &own_, .from = 0, .to = own_.num_rows()};
    }
    block_ = run.block;
    row_ = run.from;
    end_ = run.to;
    return absl::OkStatus();
  }

  ReadCounters reads_;
  ColumnarScanCounters counters_;
  TierMerge merge_;
  VersionBlock own_;
  const VersionBlock* block_ = nullptr;
  size_t row_ = 0;
  size_t end_ = 0;
  bool valid_ = true;
};

class TierComparison {
 public:
  TierComparison(VerifyRun* run, const RelationRef& relation)
      : run_(run), relation_(relation), columns_(TableColumnsOf(*relation)) {}

  absl::Status CompareVersions() {
    VARVE_ASSIGN_OR_RETURN(retained_,
                           FindRetained(*run_->view().state(), /*held=*/{}, absl::Now()));
    StoreVersions store(run_->view().state(), relation_, columns_);
    TierVersions tiers(run_->view(), relation_, columns_);
    VARVE_RETURN_IF_ERROR(store.Next());
    VARVE_RETURN_IF_ERROR(tiers.Next());
    while (store.valid() || tiers.valid()) {
      const std::string_view in_store =
          store.valid() ? store.block().keys[store.row()] : std::string_view();
      const std::string_view in_tiers =
          tiers.valid() ? tiers.block().keys[tiers.row()] : std::string_view();
      if (!tiers.valid() || (store.valid() && in_store < in_tiers)) {
        ReportAlone(store.block(), store.row(), Rule::kColumnarRowMissing,
                    "columnar files and memory have no version");
        VARVE_RETURN_IF_ERROR(store.Next());
      } else if (!store.valid() || in_tiers < in_store) {
        ReportAlone(tiers.block(), tiers.row(), Rule::kColumnarRowUnknown,
                    "the row store has no version");
        VARVE_RETURN_IF_ERROR(tiers.Next());
      } else {
        CompareVersion(store.block(), store.row(), tiers.block(), tiers.row());
        VARVE_RETURN_IF_ERROR(store.Next());
        VARVE_RETURN_IF_ERROR(tiers.Next());
      }
    }
    return absl::OkStatus();
  }

  // What scans give. Batches need not be of the same size on both sides.
  absl::Status CompareScans() {
    ScanOptions options{.path = ScanPath::kRow, .with_intervals = false};
    VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> by_store,
                           run_->view().Scan(relation_, options));
    options.path = ScanPath::kColumnar;
    VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> by_tiers,
                           run_->view().Scan(relation_, options));
    ScanBatch store;
    ScanBatch tiers;
    size_t in_store = 0;
    size_t in_tiers = 0;
    for (uint64_t number = 1;; ++number) {
      VARVE_ASSIGN_OR_RETURN(const bool has_store, Advance(by_store.get(), &store, &in_store));
      VARVE_ASSIGN_OR_RETURN(const bool has_tiers, Advance(by_tiers.get(), &tiers, &in_tiers));
      if (!has_store && !has_tiers) {
        return absl::OkStatus();
      }
      if (has_store != has_tiers) {
        Differs("", StrCat(has_store ? "the row store" : "the columnar path", " gives more than ",
                           number - 1, " rows at snapshot ", run_->view().snapshot()));
        return absl::OkStatus();
      }
      for (size_t i = 0; i < store.columns.num_columns(); ++i) {
        const Datum a = store.columns.column(i).at(in_store - 1);
        const Datum b = tiers.columns.column(i).at(in_tiers - 1);
        if (!(a == b)) {
          Differs("", StrCat("row ", number, " of a scan at snapshot ", run_->view().snapshot(),
                             ": ", ColumnDiffers(i, a, b)));
          return absl::OkStatus();  // what follows would repeat it
        }
      }
    }
  }

 private:
  static absl::StatusOr<bool> Advance(RowScan* scan, ScanBatch* batch, size_t* next) {
    if (*next < batch->num_rows()) {
      ++*next;
      return true;
    }
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(batch));
    *next = more ? 1 : 0;
    return more;
  }

  void Differs(std::string_view key, std::string message) {
    run_->Report(Rule::kColumnarRowDiffers, relation_->name, key, std::move(message));
  }
  std::string KeyOf(std::string_view version_key) const {
    return HandleToText(*relation_, HandleOfVersionKey(version_key));
  }
  std::string ColumnDiffers(size_t column, const Datum& in_store, const Datum& in_tiers) const {
    const ColumnSchema& schema = relation_->columns.column(column);
    return StrCat("column ", schema.name, " is ", ShownValue(schema.type, in_store),
                  " in the row store, ", ShownValue(schema.type, in_tiers),
                  " in columnar files and memory");
  }

  void ReportAlone(const VersionBlock& block, size_t row, Rule rule, std::string_view what) {
    if (!retained_.IsReclaimable(block.begins[row], block.ends[row])) {
      run_->Report(rule, relation_->name, KeyOf(block.keys[row]),
                   StrCat(what, " that begins at ", block.begins[row],
                          " (its end: ", ShownEnd(block.ends[row]), ")"));
    }
  }

  void CompareVersion(const VersionBlock& store, size_t in_store, const VersionBlock& tiers,
                      size_t in_tiers) {
    const std::string_view key = store.keys[in_store];
    if (store.ends[in_store] != tiers.ends[in_tiers]) {
      Differs(KeyOf(key),
              StrCat("the version that begins at ", store.begins[in_store], " has the end ",
                     ShownEnd(store.ends[in_store]), " in the row store, ",
                     ShownEnd(tiers.ends[in_tiers]), " in columnar files and memory"));
      return;
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Datum a = store.columns.column(i).at(in_store);
      const Datum b = tiers.columns.column(i).at(in_tiers);
      if (!(a == b)) {
        Differs(KeyOf(key), StrCat("the version that begins at ", store.begins[in_store], ": ",
                                   ColumnDiffers(columns_[i], a, b)));
        return;
      }
    }
  }

  VerifyRun* const run_;
  const RelationRef& relation_;
  const std::vector<size_t> columns_;
  RetainedSnapshots retained_;
};

}  // namespace

absl::Status CompareTiers(VerifyRun* run, const RelationRef& relation) {
  const StoreState& state = *run->view().state();
  if (state.memory == nullptr && state.csn != state.columnar->flushed_csn()) {
    return absl::OkStatus();
  }
  TierComparison comparison(run, relation);
  absl::Status status = comparison.CompareVersions();
  if (status.ok() && state.memory != nullptr) {
    status = comparison.CompareScans();
  }
  return absl::IsDataLoss(status) ? absl::OkStatus() : status;
}

}  // namespace varve
