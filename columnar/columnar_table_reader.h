// Reads packs of one table of a columnar file: the columns and packs asked for, nothing else.
//
// What is known without reading (packs, handles, statistics) is in table(). Columns are named by
// slots; a data column that the file does not have reads as NULL. Pieces of the file that lie side
// by side are read in one go, and every pack's checksum is checked each time it is read. A damaged
// pack is DataLoss naming file, table, column and pack; other packs stay readable.
//
// Thread-safety: none; a reader belongs to one thread, any number of readers share a file. Owns:
// decoder, buffers, a share in the file. Borrows: the cache and the counters.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/column_batch.h"
#include "columnar/columnar_file.h"
#include "columnar/columnar_table.h"
#include "columnar/pack_cache.h"
#include "columnar/pack_codec.h"

namespace varve {

// What a reader did. Added to, never reset.
struct ReadCounters {
  uint64_t reads = 0;            // calls of the file
  uint64_t bytes_read = 0;       // from the file
  uint64_t mvcc_bytes_read = 0;  // of them: handle, version and end columns
  uint64_t packs_decoded = 0;    // packs of columns, whole or in part
  uint64_t cache_hits = 0;       // packs of columns that needed no reading
};

// A column of a table, as a reader is asked for it.
//
// Handles come as kInt64 or kBytes. Versions come as kInt64: the begin, with the NULL mark set on a
// delete marker (the begin stays readable under it, see ColumnVector::int64s). Ends come as kInt64:
// NULL while the row is live.
class ColumnSlot {
 public:
  enum class Kind : uint8_t { kHandle, kVersion, kEnd, kData };

  static constexpr ColumnSlot Handle() { return ColumnSlot(Kind::kHandle, 0); }
  static constexpr ColumnSlot Version() { return ColumnSlot(Kind::kVersion, 0); }
  static constexpr ColumnSlot End() { return ColumnSlot(Kind::kEnd, 0); }
  static constexpr ColumnSlot Data(uint32_t column_id) {
    return ColumnSlot(Kind::kData, column_id);
  }

  constexpr Kind kind() const { return kind_; }
  constexpr uint32_t column_id() const { return column_id_; }  // kData only

  friend constexpr bool operator==(const ColumnSlot&, const ColumnSlot&) = default;

 private:
  constexpr ColumnSlot(Kind kind, uint32_t column_id) : kind_(kind), column_id_(column_id) {}

  Kind kind_;
  uint32_t column_id_;
};

struct ColumnarTableReaderOptions {
  const PackCache* cache = nullptr;  // null: none
  size_t read_ahead_bytes = size_t{8} << 20;
  size_t max_read_bytes = size_t{4} << 20;  // a longer piece is read in several
};

class ColumnarTableReader {
 public:
  // Requires: `table` is one of the file's; `counters` outlives the reader.
  ColumnarTableReader(std::shared_ptr<const ColumnarFile> file, const ColumnarTable* table,
                      ReadCounters* counters, ColumnarTableReaderOptions options = {});
  ColumnarTableReader(const ColumnarTableReader&) = delete;
  ColumnarTableReader& operator=(const ColumnarTableReader&) = delete;

  const ColumnarTable& table() const { return *table_; }
  const ColumnarFile& file() const { return *file_; }
  size_t num_packs() const { return table_->num_packs(); }

  // Appends all rows of the pack to out[i], for each slots[i]. Requires: as many vectors as slots;
  // the type of each is the slot's, or any for a column that the file does not have.
  // FailedPrecondition if a data column has another physical type in the file. After an error the
  // vectors may be of different lengths.
  absl::Status ReadPack(size_t pack, std::span<const ColumnSlot> slots,
                        std::span<ColumnVector* const> out);
  absl::Status ReadPack(size_t pack, ColumnSlot slot, ColumnVector* out);

  // Appends the rows of the pack that `selection` names. Requires: ascending numbers below the
  // pack's number of rows.
  absl::Status ReadPackSelected(size_t pack, ColumnSlot slot, std::span<const uint32_t> selection,
                                ColumnVector* out);

  // All rows of the pack, shared with the cache if there is one; `type` as for ReadPack.
  absl::StatusOr<std::shared_ptr<const ColumnVector>> ReadPackShared(size_t pack, ColumnSlot slot,
                                                                     PhysicalType type);

  // … of a column of 128-bit integers, in 64 bits: half the memory to go through. Requires: every
  // value of the pack, those under NULL included or 0, fits (its min-max index says so).
  // FailedPrecondition if the column has another type, DataLoss if a value does not fit.
  absl::StatusOr<std::shared_ptr<const ColumnVector>> ReadPackNarrowed(size_t pack,
                                                                       ColumnSlot slot);

  // Reads pieces of the file that are going to be asked for: those of the slots in the packs from
  // `first` on, up to `end` but no more packs than fit into read_ahead_bytes (one at least). Later
  // reads take them from memory, until the next ReadAhead. Returns the first pack not read.
  absl::StatusOr<size_t> ReadAhead(size_t first, size_t end, std::span<const ColumnSlot> slots);

 private:
  // A piece of the file in memory.
  struct Piece {
    uint64_t offset = 0;
    std::string bytes;
  };
  struct Wanted {
    PackLocation location;
    bool is_mvcc = false;
  };

  // Null for a data column that the file does not have.
  const ColumnarTable::Column* Find(ColumnSlot slot) const;
  absl::Status CheckType(const ColumnarTable::Column& column, PhysicalType type) const;
  PackKey KeyOf(size_t pack, const ColumnarTable::Column& column,
                PackForm form = PackForm::kStored) const;
  std::shared_ptr<const ColumnVector> LookUp(const PackKey& key);
  // Decodes one pack into `out`, from the file.
  absl::Status ReadAndDecode(size_t pack, const ColumnarTable::Column& column, ColumnVector* out);

  // Wants a pack to be read, unless it was read ahead.
  void Want(size_t pack, const ColumnarTable::Column& column, std::vector<Wanted>* wanted) const;
  // Reads what is wanted, neighbours in one go; the pieces ascend.
  absl::Status ReadPieces(std::vector<Wanted> wanted, std::vector<Piece>* pieces) const;
  // The bytes of a pack, or none if it is in no piece.
  static std::string_view FindIn(const std::vector<Piece>& pieces, const PackLocation& location);
  // The encoded pack, checked. Requires: it was read ahead or is in a piece.
  absl::StatusOr<std::string_view> Encoded(const std::vector<Piece>& pieces, size_t pack,
                                           const ColumnarTable::Column& column) const;
  absl::Status Decode(const std::vector<Piece>& pieces, size_t pack,
                      const ColumnarTable::Column& column, ColumnVector* out);
  absl::Status DamagedPack(size_t pack, const ColumnarTable::Column& column,
                           std::string_view what) const;

  const std::shared_ptr<const ColumnarFile> file_;
  const ColumnarTable* const table_;
  ReadCounters* const counters_;
  const ColumnarTableReaderOptions options_;
  PackDecoder decoder_;
  std::vector<Piece> ahead_;  // of the last ReadAhead
};

}  // namespace varve
