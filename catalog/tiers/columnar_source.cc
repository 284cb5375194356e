#include "catalog/tiers/columnar_source.h"

#include <algorithm>
#include <utility>

#include "base/key_codec.h"
#include "base/status.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/memory_format.h"

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
  for (const size_t column : options_.columns) {
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
  if (options_.predicate != nullptr) {
    const std::vector<Term>& terms = options_.predicate->terms();
    predicate_needs_version_ = std::any_of(
        terms.begin(), terms.end(), [&](const Term& term) { return needs_version(term.column); });
  }
  projection_needs_version_ =
      options_.needs_versions ||
      std::any_of(options_.columns.begin(), options_.columns.end(), needs_version);
  FindStretches();
}

void ColumnarSource::FindStretches() {
  for (size_t part = 0; part < parts_.size(); ++part) {
    const ColumnarTable& table = *parts_[part].table;
    if (!MayHoldRowsOf(table, options_.range)) {
      continue;
    }
    for (const HandleRange& of_part : parts_[part].ranges) {
      const HandleRange range = Intersection(of_part, options_.range);
      if (range.empty()) {
        continue;
      }
      Stretch stretch{.part = part, .range = range};
      stretch.next = range.lower.empty() ? 0 : SeekPack(table, range.lower);
      stretch.end = stretch.next;
      while (stretch.end < table.num_packs() &&
             range.IsBelowUpper(FirstHandle(table, stretch.end))) {
        ++stretch.end;
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
      parts_[part].file->file(), parts_[part].table, options_.reads,
      ColumnarTableReaderOptions{.cache = options_.cache});
  handles_ = ColumnVector(PhysicalOfHandle(table().schema().handle));
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
  if (options_.at.has_value() && bounds.has_value() &&
      (*bounds)[pack].ProvesNoneVisible(*options_.at)) {
    const auto& stats = table().mvcc_stats();
    if (!stats.has_value() || !(*bounds)[pack].Contradicts(stats->flags(pack))) {
      return true;
    }
  }
  if (options_.predicate == nullptr) {
    return false;
  }
  for (const Term& term : options_.predicate->terms()) {
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
  if (!options_.clean_read || !options_.at.has_value()) {
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
  if (bounds.has_value() && (*bounds)[pack].ProvesAllVisible(*options_.at)) {
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
  return *table().max_version() <= *options_.at ? std::nullopt
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
  if (options_.predicate == nullptr || options_.predicate->empty()) {
    for (const ColumnSlot slot : slots_) {
      AddSlots(slot, &slots);
    }
  } else {  // the others may not be needed at all
    for (const Term& term : options_.predicate->terms()) {
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
        ++options_.counters->packs_skipped;
        continue;
      }
      pack_ = pack;
      has_handles_ = false;
      has_versions_ = false;
      rejection_ = Judge(pack);
      FillBounds(pack, bounds);
      if (options_.read_ahead && pack >= read_ahead_end_) {
        VARVE_RETURN_IF_ERROR(ReadAhead(pack));
      }
      return true;
    }
    read_ahead_end_ = 0;
  }
  return false;
}

absl::Status ColumnarSource::ReadHandles() {
  if (!has_handles_) {
    handles_.Clear();
    VARVE_RETURN_IF_ERROR(reader_->ReadPack(pack_, ColumnSlot::Handle(), &handles_));
    has_handles_ = true;
  }
  return absl::OkStatus();
}

absl::Status ColumnarSource::ReadVersions() {
  if (!has_versions_) {
    versions_.Clear();
    ends_.Clear();
    VARVE_RETURN_IF_ERROR(reader_->ReadPack(pack_, ColumnSlot::Version(), &versions_));
    VARVE_RETURN_IF_ERROR(reader_->ReadPack(pack_, ColumnSlot::End(), &ends_));
    has_versions_ = true;
  }
  return absl::OkStatus();
}

absl::Status ColumnarSource::ReadIntervals(VersionBlock* block) {
  VARVE_RETURN_IF_ERROR(ReadVersions());
  block->erased.clear();
  const std::span<const int64_t> begins = versions_.int64s();
  block->begins.assign(begins.begin(), begins.end());
  block->ends.resize(rows());
  const std::span<const int64_t> ends = ends_.int64s();
  const std::span<const uint8_t> is_live = ends_.nulls();
  for (size_t row = 0; row < block->ends.size(); ++row) {
    block->ends[row] = is_live[row] != 0 ? kNoEnd : static_cast<SnapshotId>(ends[row]);
  }
  const auto erased = versions_.nulls();
  if (std::any_of(erased.begin(), erased.end(), [](uint8_t mark) { return mark != 0; })) {
    block->erased.assign(erased.begin(), erased.end());
  }
  return absl::OkStatus();
}

absl::Status ColumnarSource::ReadKeys(VersionBlock* block) {
  VARVE_RETURN_IF_ERROR(ReadHandles());
  VARVE_RETURN_IF_ERROR(ReadVersions());
  const HandleType type = table().schema().handle;
  const std::span<const int64_t> begins = versions_.int64s();
  key_bytes_.clear();
  // Views are taken when the bytes stay where they are.
  key_bytes_.reserve(handles_.heap_size() + rows() * 2 * sizeof(uint64_t));
  block->keys.clear();
  for (size_t row = 0; row < rows(); ++row) {
    const size_t start = key_bytes_.size();
    if (type == HandleType::kInt) {
      AppendEncodedHandle(type, Datum::Int64(handles_.int64s()[row]), &key_bytes_);
      AppendVersionKey("", static_cast<SnapshotId>(begins[row]), &key_bytes_);
    } else {
      AppendVersionKey(handles_.bytes(row), static_cast<SnapshotId>(begins[row]), &key_bytes_);
    }
    block->keys.emplace_back(key_bytes_.data() + start, key_bytes_.size() - start);
  }
  return absl::OkStatus();
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
  const HandleType type = table().schema().handle;
  VARVE_ASSIGN_OR_RETURN(const std::shared_ptr<const ColumnVector> handles,
                         ReadShared(ColumnSlot::Handle(), PhysicalOfHandle(type)));
  const auto position = [&](std::string_view bound) {  // of the first handle at or behind it
    size_t low = 0;
    size_t high = handles->size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      (EncodedHandle(type, handles->at(middle)) < bound ? low = middle + 1 : high = middle);
    }
    return low;
  };
  const HandleRange& range = stretches_[stretch_].range;
  const size_t from = position(range.lower);
  return Rows{.from = from,
              .to = range.upper.empty() ? handles->size() : std::max(from, position(range.upper))};
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
      ++options_.reads->cache_hits;
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

absl::Status ColumnarSource::ReadPack(PackRows which, VersionBlock* block) {
  VARVE_RETURN_IF_ERROR(ReadIntervals(block));
  VARVE_RETURN_IF_ERROR(ReadKeys(block));
  // The rows in the range are consecutive.
  const HandleRange& range = stretches_[stretch_].range;
  const auto lower = std::lower_bound(block->keys.begin(), block->keys.end(), range.lower);
  const auto upper = range.upper.empty() ? block->keys.end()
                                         : std::lower_bound(lower, block->keys.end(), range.upper);
  const auto from = static_cast<uint32_t>(lower - block->keys.begin());
  const auto to = static_cast<uint32_t>(upper - block->keys.begin());
  const bool by_snapshot = which == PackRows::kVisible && options_.at.has_value();
  selection_.clear();
  for (uint32_t row = from; row < to; ++row) {
    if (!by_snapshot || IsVisible(block->begins[row], block->ends[row], *options_.at)) {
      selection_.push_back(row);
    }
  }
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
  const auto keep = [&](auto* values) {
    if (!values->empty()) {
      for (size_t i = 0; i < selection_.size(); ++i) {
        (*values)[i] = (*values)[selection_[i]];
      }
      values->resize(selection_.size());
    }
  };
  keep(&block->keys);
  keep(&block->begins);
  keep(&block->ends);
  keep(&block->erased);
  block->columns.SetNumRows(block->begins.size());
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
    ++options_.counters->packs_normal;
    if (rejection_.has_value()) {
      ++options_.counters->rejected[static_cast<size_t>(*rejection_)];
    }
    VARVE_RETURN_IF_ERROR(ReadPack(PackRows::kAll, block));
  } while (block->num_rows() == 0);
  return true;
}

}  // namespace varve
