#include "catalog/verify/pack_statistics.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "catalog/tiers/columnar_format.h"
#include "columnar/columnar_table_reader.h"
#include "columnar/file_description.h"

namespace varve {
namespace {

std::string BoundsText(const PackSnapshotBounds& bounds) {
  const auto text = [](SnapshotId id) { return id == kNoEnd ? std::string("none") : StrCat(id); };
  return StrCat("begins ", text(bounds.min_begin), " to ", text(bounds.max_begin), ", ends ",
                text(bounds.min_end), " to ", text(bounds.max_end));
}

class PackStatisticsCheck {
 public:
  PackStatisticsCheck(VerifyRun* run, const RelationRef& relation, const ColumnarPart& part)
      : run_(run),
        relation_(relation),
        part_(part),
        table_(*part.table),
        reader_(part.file->file(), part.table, &counters_),
        handles_(PhysicalOfHandle(table_.schema().handle)) {}

  absl::Status Run() {
    VARVE_ASSIGN_OR_RETURN(const std::vector<std::string> defects,
                           PropertyDefects(*part_.file->file(), table_));
    for (const std::string& defect : defects) {
      run_->Report(Rule::kPackStatisticsMissing, relation_->name, FileName(), defect);
    }
    for (size_t pack = 0; pack < table_.num_packs(); ++pack) {
      VARVE_RETURN_IF_ERROR(CheckPack(pack));
    }
    if (table_.max_version().has_value() && *table_.max_version() != max_begin_) {
      Wrong("", StrCat("the largest begin is said to be ", *table_.max_version(), ", but is ",
                       max_begin_));
    }
    return absl::OkStatus();
  }

 private:
  std::string FileName() const { return ColumnarFileName(part_.file->number()); }
  void Wrong(std::string_view where, std::string_view what) {
    run_->Report(Rule::kPackStatisticsWrong, relation_->name, FileName(), StrCat(where, what));
  }

  absl::Status CheckPack(size_t pack) {
    handles_.Clear();
    versions_.Clear();
    ends_.Clear();
    VARVE_RETURN_IF_ERROR(reader_.ReadPack(pack, ColumnSlot::Handle(), &handles_));
    VARVE_RETURN_IF_ERROR(reader_.ReadPack(pack, ColumnSlot::Version(), &versions_));
    VARVE_RETURN_IF_ERROR(reader_.ReadPack(pack, ColumnSlot::End(), &ends_));
    const std::string where = StrCat("pack ", pack, ": ");
    CheckRows(where);
    CheckFlagsAndBounds(where, pack);
    CheckHandles(where, pack);
    for (const ColumnarTable::Column& column : table_.columns()) {
      VARVE_RETURN_IF_ERROR(CheckMinMax(where, pack, column));
    }
    return absl::OkStatus();
  }

  bool IsErased(size_t row) const { return versions_.is_null(row); }
  SnapshotId begin(size_t row) const { return static_cast<SnapshotId>(versions_.int64s()[row]); }
  SnapshotId end(size_t row) const {
    return ends_.is_null(row) ? kNoEnd : static_cast<SnapshotId>(ends_.int64s()[row]);
  }

  // Order, and what a file of its kind may hold.
  void CheckRows(std::string_view where) {
    const ColumnarFileKind kind = part_.file->file()->properties().kind;
    for (size_t row = 0; row < handles_.size(); ++row) {
      run_->CountRow();
      if (row > 0) {
        const auto order = CompareDatums(handles_.at(row - 1), handles_.at(row));
        if (order > 0 || (order == 0 && begin(row - 1) >= begin(row))) {
          Wrong(where, StrCat("row ", row, " is out of order"));
        }
      }
      const bool fits =
          kind == ColumnarFileKind::kMixed ||
          (!IsErased(row) && (end(row) == kNoEnd) == (kind == ColumnarFileKind::kLive));
      if (!fits) {
        Wrong(where, StrCat("row ", row, " does not belong into a file of its kind"));
      }
      const std::string handle = EncodedHandle(table_.schema().handle, handles_.at(row));
      if (part_.file->level() != 1 && !part_.ranges.empty() &&
          !part_.ranges.front().Contains(handle)) {
        Wrong(where, StrCat("row ", row, " lies outside of the file's range of handles"));
      }
    }
  }

  void CheckFlagsAndBounds(std::string_view where, size_t pack) {
    uint8_t flags = 0;
    PackSnapshotBounds bounds;
    for (size_t row = 0; row < handles_.size(); ++row) {
      const SnapshotId row_end = IsErased(row) ? 0 : end(row);
      flags |= row_end != kNoEnd ? kPackHasDelete : 0;
      flags |= row > 0 && handles_.at(row) == handles_.at(row - 1) ? kPackHasMultiVersion : 0;
      bounds.min_begin = std::min(bounds.min_begin, begin(row));
      bounds.max_begin = std::max(bounds.max_begin, begin(row));
      bounds.min_end = std::min(bounds.min_end, row_end);
      bounds.max_end = std::max(bounds.max_end, row_end);
    }
    max_begin_ = std::max(max_begin_, bounds.max_begin);
    if (const auto& stats = table_.mvcc_stats(); stats.has_value() && stats->flags(pack) != flags) {
      Wrong(where, StrCat("its flags are said to be ", static_cast<int>(stats->flags(pack)),
                          ", but are ", static_cast<int>(flags)));
    }
    if (const auto& said = table_.snapshot_bounds();
        said.has_value() && !((*said)[pack] == bounds)) {
      Wrong(where, StrCat("its bounds are said to be ", BoundsText((*said)[pack]), ", but are ",
                          BoundsText(bounds)));
    }
  }

  void CheckHandles(std::string_view where, size_t pack) {
    if (handles_.size() == 0) {
      return;
    }
    if (!(table_.first_handle(pack) == handles_.at(0))) {
      Wrong(where, "its first handle is another one than is said");
    }
    const ColumnarTable::HandleBound bound = table_.last_handle_bound(pack);
    const Datum last = handles_.at(handles_.size() - 1);
    const auto order = CompareDatums(last, bound.handle);
    if (order > 0 || (!bound.inclusive && order == 0) ||
        (table_.last_handles().has_value() && order != 0)) {
      Wrong(where, "its last handle is another one than is said");
    }
    for (size_t row = 0; row < handles_.size(); ++row) {
      if (!table_.MayContain(handles_.at(row))) {
        Wrong(where, StrCat("the bloom filter denies the handle of row ", row));
        break;  // one tells all
      }
    }
  }

  absl::Status CheckMinMax(std::string_view where, size_t pack,
                           const ColumnarTable::Column& column) {
    ColumnVector values(column.info.type.physical());
    VARVE_RETURN_IF_ERROR(reader_.ReadPack(pack, ColumnSlot::Data(column.info.id), &values));
    if (!column.min_max.has_value()) {
      return absl::OkStatus();
    }
    const PackMinMax said = column.min_max->pack(pack);
    for (size_t row = 0; row < values.size(); ++row) {
      if (IsErased(row)) {
        continue;
      }
      const Datum value = values.at(row);
      const bool holds = value.is_null()
                             ? said.has_null
                             : said.has_value && CompareDatums(said.min, value) <= 0 &&
                                   (said.max_is_open || CompareDatums(value, said.max) <= 0);
      if (!holds) {
        Wrong(where, StrCat("row ", row, " has a value outside of the min-max index of column ",
                            column.info.name));
        break;
      }
    }
    return absl::OkStatus();
  }

  VerifyRun* const run_;
  const RelationRef& relation_;
  const ColumnarPart& part_;
  const ColumnarTable& table_;
  ReadCounters counters_;
  ColumnarTableReader reader_;
  ColumnVector handles_;
  ColumnVector versions_{PhysicalType::kInt64};
  ColumnVector ends_{PhysicalType::kInt64};
  SnapshotId max_begin_ = 0;
};

}  // namespace

absl::Status CheckPackStatistics(VerifyRun* run, const RelationRef& relation,
                                 const ColumnarPart& part) {
  const absl::Status status = PackStatisticsCheck(run, relation, part).Run();
  if (!absl::IsDataLoss(status)) {
    return status;
  }
  run->Report(Rule::kColumnarDamaged, relation->name, ColumnarFileName(part.file->number()),
              std::string(MessageOf(status)));
  return absl::OkStatus();
}

}  // namespace varve
