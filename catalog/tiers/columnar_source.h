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

#include "catalog/predicate.h"
#include "catalog/relation.h"
#include "catalog/scan.h"
#include "catalog/tiers/bound_texts.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/columnar_set.h"
#include "catalog/tiers/version_source.h"
#include "columnar/columnar_table_reader.h"

namespace varve {

struct ColumnarSourceOptions {
  RelationRef relation;
  std::vector<size_t> columns;  // of the relation
  HandleRange range;            // of encoded handles
  // The rows visible there are asked for. nullopt: all versions.
  std::optional<SnapshotId> at;
  // Packs that it lets no row of are passed over, for L2; null: none.
  const Predicate* predicate = nullptr;
  bool clean_read = true;
  // The keys and intervals of rows are needed even where all are visible.
  bool needs_versions = false;
  // Reads what the columns asked for take of several packs in one go. Not worth it where most packs
  // turn out not to be needed.
  bool read_ahead = true;
  // ReadPack reads a table's derived columns too, behind the columns asked for, and the columns
  // that are read with their help as they are stored. For compactions, which would make them again.
  bool with_derived = false;
  const PackCache* cache = nullptr;
  // Where what is done is counted; borrowed, never null.
  ReadCounters* reads = nullptr;
  ColumnarScanCounters* counters = nullptr;
};

class ColumnarSource : public VersionSource, public PackSource {
 public:
  // `parts` ascend and do not overlap.
  ColumnarSource(std::vector<ColumnarPart> parts, ColumnarSourceOptions options);

  // Whole packs, one after the other.
  absl::StatusOr<bool> Next(VersionBlock* block) override;

  absl::StatusOr<bool> NextPack(PackBounds* bounds) override;
  std::optional<CleanReadRejection> rejection() const override { return rejection_; }
  absl::Status ReadPack(PackRows which, VersionBlock* block) override;
  absl::Status ReadIntervals(VersionBlock* block) override;
  absl::Status ReadKeys(VersionBlock* block) override;
  absl::Status ReadColumn(size_t column, std::span<const uint32_t> rows,
                          ColumnVector* values) override;
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
  const ColumnarTable& table() const { return reader_->table(); }
  size_t rows() const { return table().rows_of_pack(pack_); }

  const std::vector<ColumnarPart> parts_;
  const ColumnarSourceOptions options_;
  std::vector<PhysicalType> types_;
  std::vector<ColumnSlot> slots_;  // per column asked for
  // Of the columns of the relation that have texts of bounds.
  std::vector<std::pair<ColumnSlot, BoundSide>> bound_slots_;
  bool projection_needs_version_ = false;
  bool predicate_needs_version_ = false;
  std::vector<Stretch> stretches_;
  size_t stretch_ = 0;
  std::optional<size_t> open_part_;
  std::unique_ptr<ColumnarTableReader> reader_;
  size_t read_ahead_end_ = 0;

  size_t pack_ = 0;  // the one it stands on
  std::optional<CleanReadRejection> rejection_;
  // Of that pack, while has_…: as they are in the file.
  bool has_handles_ = false;
  bool has_versions_ = false;
  ColumnVector handles_{PhysicalType::kInt64};
  ColumnVector versions_{PhysicalType::kInt64};
  ColumnVector ends_{PhysicalType::kInt64};
  std::string key_bytes_;
  std::vector<uint32_t> selection_;
};

}  // namespace varve
