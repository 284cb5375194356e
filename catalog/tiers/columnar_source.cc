#include "catalog/tiers/columnar_source.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/key_codec.h"
#include "base/status.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/memory_format.h"
#include "mvcc/visibility.h"

namespace varve {
namespace {

// Whether a pack can hold a value for which the term is true.
bool MayMatch(const Term& term, const PackMinMax& pack) {
  const auto reaches = [&](const Datum& value) {  // the upper bound is at or above it
    return pack.max_is_open || CompareDatums(value, pack.max) <= 0;
  };
  const auto can_equal = [&](const Datum& value) {
    return !value.is_null() && pack.has_value && CompareDatums(pack.min, value) <= 0 &&
           reaches(value);
  };
  switch (term.op) {
    case Comparison::kIsNull: return pack.has_null;
    case Comparison::kIsNotNull: return pack.has_value;
    case Comparison::kIn:
      return std::any_of(term.constants.values().begin(), term.constants.values().end(), can_equal);
    default: break;
  }
  const Datum& constant = term.constants[0];
  if (constant.is_null() || !pack.has_value) {
    return false;
  }
  switch (term.op) {
    case Comparison::kEqual: return can_equal(constant);
    case Comparison::kLess: return CompareDatums(pack.min, constant) < 0;
    case Comparison::kLessOrEqual: return CompareDatums(pack.min, constant) <= 0;
    case Comparison::kGreater: return pack.max_is_open || CompareDatums(pack.max, constant) > 0;
    case Comparison::kGreaterOrEqual: return reaches(constant);
    default: return true;
  }
}

// Whether the table can have rows in the range, as far as its Bloom filter knows: it knows of
// ranges of a single handle.
bool MayHoldRowsOf(const ColumnarTable& table, const HandleRange& range) {
  const bool is_one_handle = table.schema().handle == HandleType::kInt &&
                             range.lower.size() == kIntHandleSize &&
                             range.upper == PrefixSuccessor(range.lower);
  return !is_one_handle || table.MayContain(DecodeTableHandle(HandleType::kInt, range.lower));
}

constexpr size_t kAtOnce = 64;  // packs looked at for one read ahead

// Texts that are kept as keys are made for a whole pack when at least one in so many is wanted.
constexpr size_t kMadeWhole = 8;

}  // namespace

ColumnarSource::ColumnarSource(std::vector<ColumnarPart> parts, ColumnarSourceOptions options)
    : parts_(std::move(parts)), options_(std::move(options)) {
  const RelationSchema& relation = *options_.relation;
  for (const size_t column : options_.read.columns) {
    types_.push_back(relation.columns.column(column).type.physical());
    slots_.push_back(SlotOfColumn(relation, column));
  }
  for (size_t column = 0; column < relation.columns.num_columns(); ++column) {
    if (const std::optional<BoundSide> side = BoundSideOf(relation, column)) {
      bound_slots_.emplace_back(SlotOfColumn(relation, column), *side);
    }
  }
  const auto needs_version = [&](size_t column) {
    return column == relation.begin_column || column == relation.end_column;
  };
  if (options_.read.predicate != nullptr) {
    const std::vector<Term>& terms = options_.read.predicate->terms();
    predicate_needs_version_ = std::any_of(
        terms.begin(), terms.end(), [&](const Term& term) { return needs_version(term.column); });
  }
  projection_needs_version_ =
      options_.read.needs_versions ||
      std::any_of(options_.read.columns.begin(), options_.read.columns.end(), needs_version);
  by_snapshot_ = options_.read.at.has_value() && (relation.versioning == Versioning::kInterval ||
                                                  relation.versioning == Versioning::kBeginOnly);
  whole_columns_.resize(options_.read.columns.size());
  FindStretches();
}

void ColumnarSource::FindStretches() {
  for (size_t part = 0; part < parts_.size(); ++part) {
    const ColumnarTable& table = *parts_[part].table;
    if (!MayHoldRowsOf(table, options_.read.range)) {
      continue;
    }
    for (const HandleRange& of_part : parts_[part].ranges) {
      const HandleRange range = Intersection(of_part, options_.read.range);
      if (range.empty()) {
        continue;
      }
      Stretch stretch{.part = part, .range = range};
      stretch.next = range.lower.empty() ? 0 : SeekPack(table, range.lower);
      stretch.end = table.num_packs();
      for (size_t low = stretch.next; !range.upper.empty() && low < stretch.end;) {
        const size_t middle = low + (stretch.end - low) / 2;
        range.IsBelowUpper(FirstHandle(table, middle)) ? low = middle + 1 : stretch.end = middle;
      }
      if (stretch.next < stretch.end) {
        stretches_.push_back(std::move(stretch));
      }
    }
  }
}

absl::Status ColumnarSource::OpenPart(size_t part) {
  if (open_part_ == part) {
    return absl::OkStatus();
  }
  open_part_ = part;
  read_ahead_end_ = 0;
  reader_ = std::make_unique<ColumnarTableReader>(
      parts_[part].file->file(), parts_[part].table, options_.read.reads,
      ColumnarTableReaderOptions{.cache = options_.cache});
  return absl::OkStatus();
}

bool ColumnarSource::IsWholeInRange(size_t pack) const {
  const HandleRange& range = stretches_[stretch_].range;
  PackBounds bounds;
  FillBounds(pack, &bounds);
  if (!range.lower.empty() && bounds.first < range.lower) {
    return false;
  }
  return range.upper.empty() ||
         (bounds.last_is_in_pack ? bounds.last < range.upper : bounds.last <= range.upper);
}

bool ColumnarSource::IsSkipped(size_t pack) const {
  if (parts_[*open_part_].file->level() != 2) {
    return false;  // newer images hide older ones, whatever they look like
  }
  const auto& bounds = table().snapshot_bounds();
  if (options_.read.at.has_value() && bounds.has_value() &&
      (*bounds)[pack].ProvesNoneVisible(*options_.read.at)) {
    const auto& stats = table().mvcc_stats();
    if (!stats.has_value() || !(*bounds)[pack].Contradicts(stats->flags(pack))) {
      return true;
    }
  }
  if (options_.read.predicate == nullptr) {
    return false;
  }
  for (const Term& term : options_.read.predicate->terms()) {
    const ColumnSlot slot = SlotOfColumn(*options_.relation, term.column);
    if (slot.kind() != ColumnSlot::Kind::kData || RestoredSide(slot).has_value()) {
      continue;
    }
    const ColumnarTable::Column* const column = table().FindColumn(slot.column_id());
    if (column == nullptr) {  // NULL in every row
      if (term.op != Comparison::kIsNull) {
        return true;
      }
    } else if (column->min_max.has_value() &&
               column->info.type.physical() ==
                   options_.relation->columns.column(term.column).type.physical() &&
               !MayMatch(term, column->min_max->pack(pack))) {
      return true;
    }
  }
  return false;
}

std::optional<CleanReadRejection> ColumnarSource::Judge(size_t pack) const {
  if (parts_[*open_part_].file->level() != 2) {
    return CleanReadRejection::kNotL2;
  }
  if (!IsWholeInRange(pack)) {  // said even where no pack is read clean: its rows must be cut
    return CleanReadRejection::kRangeBoundary;
  }
  if (!options_.read.clean_read || !options_.read.at.has_value()) {
    return CleanReadRejection::kSwitchedOff;
  }
  if (predicate_needs_version_) {  // what it needs is among the columns, too
    return CleanReadRejection::kPredicate;
  }
  if (projection_needs_version_) {
    return CleanReadRejection::kProjection;
  }
  const auto& stats = table().mvcc_stats();
  const auto& bounds = table().snapshot_bounds();
  if (!stats.has_value() ||
      (bounds.has_value() && (*bounds)[pack].Contradicts(stats->flags(pack)))) {
    return CleanReadRejection::kMissingStats;
  }
  if (bounds.has_value() && (*bounds)[pack].ProvesAllVisible(*options_.read.at)) {
    return std::nullopt;
  }
  if (stats->has_delete(pack)) {
    return CleanReadRejection::kDelete;
  }
  if (stats->has_multi_version(pack)) {
    return CleanReadRejection::kMultiVersion;
  }
  if (!table().max_version().has_value()) {
    return CleanReadRejection::kMissingStats;
  }
  return *table().max_version() <= *options_.read.at
             ? std::nullopt
             : std::optional(CleanReadRejection::kMaxVersion);
}

void ColumnarSource::FillBounds(size_t pack, PackBounds* bounds) const {
  bounds->first = FirstHandle(table(), pack);
  const ColumnarTable::HandleBound last = table().last_handle_bound(pack);
  bounds->last = EncodedHandle(table().schema().handle, last.handle);
  bounds->last_is_in_pack = last.inclusive;
  bounds->rows = table().rows_of_pack(pack);
  bounds->mvcc_bytes = uint64_t{table().handle_column().packs[pack].length} +
                       table().version_column().packs[pack].length +
                       table().end_column().packs[pack].length;
}

void ColumnarSource::AddSlots(ColumnSlot slot, std::vector<ColumnSlot>* slots) const {
  slots->push_back(slot);
  if (const std::optional<BoundSide> side = RestoredSide(slot)) {
    for (const uint32_t id : {KeyColumnOf(*side), kKeyTypeColumn, kKeyTextsColumn}) {
      slots->push_back(ColumnSlot::Data(id));
    }
  }
}

// Reads ahead what this pack and those behind it need, as far as they are alike.
absl::Status ColumnarSource::ReadAhead(size_t pack) {
  const Stretch& stretch = stretches_[stretch_];
  const bool clean = !Judge(pack).has_value();
  size_t end = pack + 1;
  while (end < stretch.end && end < pack + kAtOnce && !IsSkipped(end) &&
         !Judge(end).has_value() == clean) {
    ++end;
  }
  std::vector<ColumnSlot> slots;
  if (options_.read.predicate == nullptr || options_.read.predicate->empty()) {
    for (const ColumnSlot slot : slots_) {
      AddSlots(slot, &slots);
    }
  } else {  // the others may not be needed at all
    for (const Term& term : options_.read.predicate->terms()) {
      AddSlots(SlotOfColumn(*options_.relation, term.column), &slots);
    }
  }
  if (!clean) {
    slots.push_back(ColumnSlot::Version());
    slots.push_back(ColumnSlot::End());
  }
  if (!slots.empty()) {
    VARVE_ASSIGN_OR_RETURN(end, reader_->ReadAhead(pack, end, slots));
  }
  read_ahead_end_ = end;
  return absl::OkStatus();
}

absl::StatusOr<bool> ColumnarSource::NextPack(PackBounds* bounds) {
  for (; stretch_ < stretches_.size(); ++stretch_) {
    Stretch& stretch = stretches_[stretch_];
    VARVE_RETURN_IF_ERROR(OpenPart(stretch.part));
    while (stretch.next < stretch.end) {
      const size_t pack = stretch.next++;
      if (IsSkipped(pack)) {
        ++options_.read.counters->packs_skipped;
        continue;
      }
      pack_ = pack;
      handles_.reset();
      versions_.reset();
      ends_.reset();
      std::fill(whole_columns_.begin(), whole_columns_.end(), nullptr);
      num_visible_.reset();
      rejection_ = Judge(pack);
      FillBounds(pack, bounds);
      if (options_.read.read_ahead && pack >= read_ahead_end_) {
        VARVE_RETURN_IF_ERROR(ReadAhead(pack));
      }
      return true;
    }
    read_ahead_end_ = 0;
  }
  return false;
}

absl::Status ColumnarSource::ReadHandles() {
  if (handles_ == nullptr) {
    VARVE_ASSIGN_OR_RETURN(
        handles_, ReadShared(ColumnSlot::Handle(), PhysicalOfHandle(table().schema().handle)));
  }
  return absl::OkStatus();
}

absl::Status ColumnarSource::ReadVersions() {
  if (ends_ == nullptr) {
    VARVE_ASSIGN_OR_RETURN(versions_, ReadShared(ColumnSlot::Version(), PhysicalType::kInt64));
    VARVE_ASSIGN_OR_RETURN(ends_, ReadShared(ColumnSlot::End(), PhysicalType::kInt64));
  }
  return absl::OkStatus();
}

absl::StatusOr<PackSource::Intervals> ColumnarSource::ReadIntervals() {
  VARVE_RETURN_IF_ERROR(ReadVersions());
  return Intervals{
      .begins = versions_->int64s(), .ends = ends_->int64s(), .has_no_end = ends_->nulls()};
}

absl::StatusOr<std::span<const uint32_t>> ColumnarSource::VisibleRows() {
  if (!num_visible_.has_value()) {
    VARVE_ASSIGN_OR_RETURN(const Rows range, RowsInRange());
    selection_.resize(range.to - range.from);
    if (!rejection_.has_value()) {
      std::iota(selection_.begin(), selection_.end(), static_cast<uint32_t>(range.from));
    } else {
      VARVE_ASSIGN_OR_RETURN(const Intervals intervals, ReadIntervals());
      if (by_snapshot_) {
        selection_.resize(SelectVisible(intervals.begins, intervals.ends, intervals.has_no_end,
                                        range.from, range.to, *options_.read.at,
                                        selection_.data()));
      } else {
        std::iota(selection_.begin(), selection_.end(), static_cast<uint32_t>(range.from));
      }
      const std::span<const uint8_t> erased = versions_->nulls();
      if (std::memchr(erased.data(), 1, erased.size()) != nullptr) {
        std::erase_if(selection_, [&](uint32_t row) { return erased[row] != 0; });
      }
    }
    num_visible_ = selection_.size();
  }
  return std::span<const uint32_t>(selection_);
}

absl::Status ColumnarSource::ReadKeys() {
  VARVE_RETURN_IF_ERROR(ReadHandles());
  return ReadVersions();
}

void ColumnarSource::AppendKey(size_t row, std::string* key) const {
  const auto begin = static_cast<SnapshotId>(versions_->int64s()[row]);
  if (table().schema().handle == HandleType::kInt) {
    AppendEncodedHandle(HandleType::kInt, Datum::Int64(handles_->int64s()[row]), key);
    AppendVersionKey("", begin, key);
  } else {
    AppendVersionKey(handles_->bytes(row), begin, key);
  }
}

absl::StatusOr<std::shared_ptr<const ColumnVector>> ColumnarSource::ReadWholeColumn(size_t column) {
  if (whole_columns_[column] == nullptr) {
    VARVE_ASSIGN_OR_RETURN(whole_columns_[column], ReadShared(slots_[column], types_[column]));
  }
  return whole_columns_[column];
}

absl::Status ColumnarSource::ReadColumn(size_t column, std::span<const uint32_t> rows,
                                        ColumnVector* values) {
  if (const std::optional<BoundSide> side = RestoredSide(slots_[column])) {
    return ReadTexts(*side, rows, values);
  }
  return ReadStored(slots_[column], rows, values);
}

absl::Status ColumnarSource::ReadStored(ColumnSlot slot, std::span<const uint32_t> rows,
                                        ColumnVector* values) {
  return rows.size() == this->rows() ? reader_->ReadPack(pack_, slot, values)
                                     : reader_->ReadPackSelected(pack_, slot, rows, values);
}

absl::StatusOr<PackSource::Rows> ColumnarSource::RowsInRange() {
  if (IsWholeInRange(pack_)) {
    return Rows{.to = rows()};
  }
  VARVE_RETURN_IF_ERROR(ReadHandles());
  const HandleType type = table().schema().handle;
  const auto position = [&](std::string_view bound) {  // of the first handle at or behind it
    size_t low = 0;
    size_t high = handles_->size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      (EncodedHandle(type, handles_->at(middle)) < bound ? low = middle + 1 : high = middle);
    }
    return low;
  };
  const HandleRange& range = stretches_[stretch_].range;
  const size_t from = position(range.lower);
  return Rows{.from = from,
              .to = range.upper.empty() ? handles_->size() : std::max(from, position(range.upper))};
}

absl::StatusOr<std::shared_ptr<const ColumnVector>> ColumnarSource::ReadShared(ColumnSlot slot,
                                                                               PhysicalType type) {
  if (const std::optional<BoundSide> side = RestoredSide(slot)) {
    return ReadAllTexts(*side);
  }
  return reader_->ReadPackShared(pack_, slot, type);
}

absl::StatusOr<std::shared_ptr<const ColumnVector>> ColumnarSource::ReadNarrowed(ColumnSlot slot) {
  return reader_->ReadPackNarrowed(pack_, slot);
}

std::optional<BoundSide> ColumnarSource::RestoredSide(ColumnSlot slot) const {
  for (const auto& [bound_slot, side] : bound_slots_) {
    if (bound_slot == slot && table().FindColumn(kKeyTextsColumn) != nullptr) {
      return side;
    }
  }
  return std::nullopt;
}

absl::StatusOr<std::shared_ptr<const ColumnVector>> ColumnarSource::ReadAllTexts(BoundSide side) {
  // What they were made into has a place of its own in the cache.
  const PackKey key = {.file_id = reader_->file().file_id(),
                       .relation = table().schema().relation,
                       .column_id = SlotOfSide(side).column_id(),
                       .pack = static_cast<uint32_t>(pack_),
                       .form = PackForm::kMade};
  if (options_.cache != nullptr) {
    if (std::shared_ptr<const ColumnVector> cached = options_.cache->Lookup(key)) {
      ++options_.read.reads->cache_hits;
      return cached;
    }
  }
  const auto read = [&](ColumnSlot slot, PhysicalType type) {
    return reader_->ReadPackShared(pack_, slot, type);
  };
  VARVE_ASSIGN_OR_RETURN(const auto texts, read(SlotOfSide(side), PhysicalType::kBytes));
  VARVE_ASSIGN_OR_RETURN(const auto keys,
                         read(ColumnSlot::Data(KeyColumnOf(side)), PhysicalType::kInt128));
  VARVE_ASSIGN_OR_RETURN(const auto key_types,
                         read(ColumnSlot::Data(kKeyTypeColumn), PhysicalType::kInt64));
  VARVE_ASSIGN_OR_RETURN(const auto key_texts,
                         read(ColumnSlot::Data(kKeyTextsColumn), PhysicalType::kInt64));
  auto restored = std::make_shared<ColumnVector>(PhysicalType::kBytes);
  VARVE_RETURN_IF_ERROR(RestoreTexts(side,
                                     {.texts = texts.get(),
                                      .keys = keys.get(),
                                      .key_types = key_types.get(),
                                      .key_texts = key_texts.get()},
                                     restored.get()));
  if (options_.cache != nullptr) {
    options_.cache->Insert(key, restored);
  }
  return restored;
}

absl::Status ColumnarSource::ReadTexts(BoundSide side, std::span<const uint32_t> rows,
                                       ColumnVector* texts) {
  if (rows.size() * kMadeWhole >= this->rows()) {
    VARVE_ASSIGN_OR_RETURN(const auto all, ReadAllTexts(side));
    texts->AppendSelected(*all, rows);
    return absl::OkStatus();
  }
  ColumnVector stored(PhysicalType::kBytes);
  ColumnVector keys(PhysicalType::kInt128);
  ColumnVector key_types(PhysicalType::kInt64);
  ColumnVector key_texts(PhysicalType::kInt64);
  const auto read = [&](ColumnSlot slot, ColumnVector* values) {
    return reader_->ReadPackSelected(pack_, slot, rows, values);
  };
  VARVE_RETURN_IF_ERROR(read(SlotOfSide(side), &stored));
  VARVE_RETURN_IF_ERROR(read(ColumnSlot::Data(KeyColumnOf(side)), &keys));
  VARVE_RETURN_IF_ERROR(read(ColumnSlot::Data(kKeyTypeColumn), &key_types));
  VARVE_RETURN_IF_ERROR(read(ColumnSlot::Data(kKeyTextsColumn), &key_texts));
  return RestoreTexts(
      side, {.texts = &stored, .keys = &keys, .key_types = &key_types, .key_texts = &key_texts},
      texts);
}

std::optional<PackMinMax> ColumnarSource::MinMax(uint32_t column_id) const {
  const ColumnarTable::Column* const column = table().FindColumn(column_id);
  return column == nullptr || !column->min_max.has_value()
             ? std::nullopt
             : std::optional(column->min_max->pack(pack_));
}

void ColumnarSource::FillIntervals(VersionBlock* block) const {
  const std::span<const int64_t> begins = versions_->int64s();
  const std::span<const int64_t> ends = ends_->int64s();
  const std::span<const uint8_t> has_no_end = ends_->nulls();
  const std::span<const uint8_t> erased = versions_->nulls();
  block->begins.clear();
  block->ends.clear();
  block->erased.clear();
  for (const uint32_t row : selection_) {
    block->begins.push_back(static_cast<SnapshotId>(begins[row]));
    block->ends.push_back(has_no_end[row] != 0 ? kNoEnd : static_cast<SnapshotId>(ends[row]));
  }
  if (std::memchr(erased.data(), 1, erased.size()) != nullptr) {
    for (const uint32_t row : selection_) {
      block->erased.push_back(erased[row]);
    }
  }
}

void ColumnarSource::FillKeys(VersionBlock* block) {
  key_bytes_.clear();
  // Views are taken when the bytes stay where they are.
  key_bytes_.reserve(handles_->heap_size() + rows() * 2 * sizeof(uint64_t));
  block->keys.clear();
  for (const uint32_t row : selection_) {
    const size_t start = key_bytes_.size();
    AppendKey(row, &key_bytes_);
    block->keys.emplace_back(key_bytes_.data() + start, key_bytes_.size() - start);
  }
}

absl::Status ColumnarSource::ReadPack(VersionBlock* block) {
  VARVE_RETURN_IF_ERROR(ReadKeys());
  VARVE_ASSIGN_OR_RETURN(const Rows range, RowsInRange());
  num_visible_.reset();
  selection_.resize(range.to - range.from);
  std::iota(selection_.begin(), selection_.end(), static_cast<uint32_t>(range.from));
  FillIntervals(block);
  FillKeys(block);
  const bool with_derived = ReadsDerived();
  std::vector<PhysicalType> types = types_;
  if (with_derived) {
    for (const DerivedColumnId& column : kStatisticsKeyColumns) {
      types.push_back(column.type);
    }
  }
  block->columns.Reset(types);
  for (size_t i = 0; i < slots_.size(); ++i) {
    ColumnVector& column = block->columns.mutable_column(i);
    VARVE_RETURN_IF_ERROR(with_derived ? ReadStored(slots_[i], selection_, &column)
                                       : ReadColumn(i, selection_, &column));
  }
  for (size_t i = slots_.size(); i < types.size(); ++i) {
    const ColumnSlot slot = ColumnSlot::Data(kStatisticsKeyColumns[i - slots_.size()].id);
    VARVE_RETURN_IF_ERROR(ReadStored(slot, selection_, &block->columns.mutable_column(i)));
  }
  block->columns.SetNumRows(selection_.size());
  return absl::OkStatus();
}

absl::StatusOr<bool> ColumnarSource::Next(VersionBlock* block) {
  PackBounds bounds;
  do {
    VARVE_ASSIGN_OR_RETURN(const bool more, NextPack(&bounds));
    if (!more) {
      block->begins.clear();
      return false;
    }
    ++options_.read.counters->packs_normal;
    if (rejection_.has_value()) {
      ++options_.read.counters->rejected[static_cast<size_t>(*rejection_)];
    }
    VARVE_RETURN_IF_ERROR(ReadPack(block));
  } while (block->num_rows() == 0);
  return true;
}

}  // namespace varve
