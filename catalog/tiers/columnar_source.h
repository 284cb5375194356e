// The versions in columnar files: one lane of L2 (the live rows, or the ended ones), or one L1 run.
//
// A lane is a list of parts in handle order: what a file answers for in a relation. Packs that
// statistics prove to hold nothing of the answer are passed over unread; for the others one
// function, Judge, decides whether they may be read clean.
//
// Thread-safety: one thread. Ownership: keeps the files open; borrows what the options point to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catalog/relation.h"
#include "catalog/tiers/bound_texts.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/tier_read_options.h"
#include "catalog/tiers/version_source.h"
#include "columnar/columnar_table_reader.h"

namespace varve {

struct ColumnarSourceOptions {
  RelationRef relation;
  TierReadOptions read;
  // ReadPack reads a table's derived columns too, behind the columns asked for, and the columns
  // that are read with their help as they are stored. For compactions, which would make them again.
  bool with_derived = false;
  const PackCache* cache = nullptr;  // null: none
};

class ColumnarSource : public VersionSource, public PackSource {
 public:
  // `parts` ascend and do not overlap.
  ColumnarSource(std::vector<ColumnarPart> parts, ColumnarSourceOptions options);

  // Whole packs, one after the other.
  absl::StatusOr<bool> Next(VersionBlock* block) override;

  absl::StatusOr<bool> NextPack(PackBounds* bounds) override;
  std::optional<CleanReadRejection> rejection() const override { return rejection_; }
  absl::Status ReadPack(VersionBlock* block) override;
  absl::StatusOr<std::span<const uint32_t>> VisibleRows() override;
  absl::StatusOr<Intervals> ReadIntervals() override;
  absl::Status ReadKeys() override;
  void AppendKey(size_t row, std::string* key) const override;
  absl::Status ReadColumn(size_t column, std::span<const uint32_t> rows,
                          ColumnVector* values) override;
  absl::StatusOr<std::shared_ptr<const ColumnVector>> ReadWholeColumn(size_t column) override;
  absl::StatusOr<Rows> RowsInRange() override;
  absl::StatusOr<std::shared_ptr<const ColumnVector>> ReadShared(ColumnSlot slot,
                                                                 PhysicalType type) override;
  absl::StatusOr<std::shared_ptr<const ColumnVector>> ReadNarrowed(ColumnSlot slot) override;
  std::optional<PackMinMax> MinMax(uint32_t column_id) const override;

 private:
  // A stretch of packs of one part: those that one range of it touches.
  struct Stretch {
    size_t part = 0;
    HandleRange range;
    size_t next = 0;
    size_t end = 0;
  };

  void FindStretches();
  absl::Status OpenPart(size_t part);
  bool IsSkipped(size_t pack) const;
  std::optional<CleanReadRejection> Judge(size_t pack) const;
  bool IsWholeInRange(size_t pack) const;
  // The slots that a column is read from.
  void AddSlots(ColumnSlot slot, std::vector<ColumnSlot>* slots) const;
  absl::Status ReadAhead(size_t pack);
  void FillBounds(size_t pack, PackBounds* bounds) const;
  // Whose texts the slot has, if the open table has some of them as keys (bound_texts.h).
  std::optional<BoundSide> RestoredSide(ColumnSlot slot) const;
  ColumnSlot SlotOfSide(BoundSide side) const {
    return bound_slots_[static_cast<size_t>(side)].first;
  }
  bool ReadsDerived() const {
    return options_.with_derived && table().FindColumn(kKeyTextsColumn) != nullptr;
  }
  // As it is stored.
  absl::Status ReadStored(ColumnSlot slot, std::span<const uint32_t> rows, ColumnVector* values);
  absl::Status ReadTexts(BoundSide side, std::span<const uint32_t> rows, ColumnVector* texts);
  absl::StatusOr<std::shared_ptr<const ColumnVector>> ReadAllTexts(BoundSide side);
  absl::Status ReadHandles();
  absl::Status ReadVersions();
  void FillIntervals(VersionBlock* block) const;
  void FillKeys(VersionBlock* block);
  const ColumnarTable& table() const { return reader_->table(); }
  size_t rows() const { return table().rows_of_pack(pack_); }

  const std::vector<ColumnarPart> parts_;
  const ColumnarSourceOptions options_;
  std::vector<PhysicalType> types_;
  std::vector<ColumnSlot> slots_;  // per column asked for
  // Of the columns of the relation that have texts of bounds.
  std::vector<std::pair<ColumnSlot, BoundSide>> bound_slots_;
  bool by_snapshot_ = false;  // rows come and go with snapshots, and one is asked for
  bool projection_needs_version_ = false;
  bool predicate_needs_version_ = false;
  std::vector<Stretch> stretches_;
  size_t stretch_ = 0;
  std::optional<size_t> open_part_;
  std::unique_ptr<ColumnarTableReader> reader_;
  size_t read_ahead_end_ = 0;

  size_t pack_ = 0;  // the one it stands on
  std::optional<CleanReadRejection> rejection_;
  // What was read of that pack, all rows; null: nothing yet.
  std::shared_ptr<const ColumnVector> handles_;
  std::shared_ptr<const ColumnVector> versions_;
  std::shared_ptr<const ColumnVector> ends_;
  std::vector<std::shared_ptr<const ColumnVector>> whole_columns_;  // of those asked for
  std::optional<size_t> num_visible_;                               // of selection_
  std::vector<uint32_t> selection_;
  std::string key_bytes_;
};

}  // namespace varve
