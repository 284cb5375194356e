#include "columnar/columnar_table_reader.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/columnar_rows.h"
#include "columnar/format.h"

namespace varve {
namespace {

bool IsMvcc(const ColumnarTable::Column& column) {
  return column.info.id >= kFirstReservedColumnId;
}

void AppendNulls(size_t rows, ColumnVector* out) {
  for (size_t row = 0; row < rows; ++row) {
    out->AppendNull();
  }
}

}  // namespace

ColumnarTableReader::ColumnarTableReader(std::shared_ptr<const ColumnarFile> file,
                                         const ColumnarTable* table, ReadCounters* counters,
                                         ColumnarTableReaderOptions options)
    : file_(std::move(file)), table_(table), counters_(counters), options_(options) {}

const ColumnarTable::Column* ColumnarTableReader::Find(ColumnSlot slot) const {
  switch (slot.kind()) {
    case ColumnSlot::Kind::kHandle: return &table_->handle_column();
    case ColumnSlot::Kind::kVersion: return &table_->version_column();
    case ColumnSlot::Kind::kEnd: return &table_->end_column();
    case ColumnSlot::Kind::kData: return table_->FindColumn(slot.column_id());
  }
  return nullptr;
}

absl::Status ColumnarTableReader::CheckType(const ColumnarTable::Column& column,
                                            PhysicalType type) const {
  if (column.info.type.physical() == type) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      StrCat("column ", column.info.id, " (", column.info.name, ") of relation ",
             table_->schema().relation, " is ", TypeName(column.info.type), " in columnar file ",
             file_->path(), " and was asked for as another physical type"));
}

PackKey ColumnarTableReader::KeyOf(size_t pack, const ColumnarTable::Column& column,
                                   PackForm form) const {
  return {.file_id = file_->file_id(),
          .relation = table_->schema().relation,
          .column_id = column.info.id,
          .pack = static_cast<uint32_t>(pack),
          .form = form};
}

std::shared_ptr<const ColumnVector> ColumnarTableReader::LookUp(const PackKey& key) {
  if (options_.cache == nullptr) {
    return nullptr;
  }
  std::shared_ptr<const ColumnVector> cached = options_.cache->Lookup(key);
  counters_->cache_hits += cached != nullptr ? 1 : 0;
  return cached;
}

absl::Status ColumnarTableReader::DamagedPack(size_t pack, const ColumnarTable::Column& column,
                                              std::string_view what) const {
  return file_->Damaged(
      StrCat("table ", table_->schema().relation, ", column ", column.info.name, ", pack ", pack),
      what);
}

absl::Status ColumnarTableReader::ReadPieces(std::vector<Wanted> wanted,
                                             std::vector<Piece>* pieces) const {
  const auto offset = [](const Wanted& want) { return want.location.offset; };
  std::ranges::sort(wanted, {}, offset);
  const auto repeated =
      std::unique(wanted.begin(), wanted.end(),
                  [](const Wanted& a, const Wanted& b) { return a.location == b.location; });
  wanted.erase(repeated, wanted.end());
  for (auto first = wanted.begin(); first != wanted.end();) {
    // Neighbours are joined; nothing that was not asked for is read along.
    const uint64_t start = first->location.offset;
    uint64_t end = start;
    auto last = first;
    while (last != wanted.end() && last->location.offset == end &&
           (last == first || end - start + last->location.length <= options_.max_read_bytes)) {
      end += last->location.length;
      counters_->mvcc_bytes_read += last->is_mvcc ? last->location.length : 0;
      ++last;
    }
    Piece& piece = pieces->emplace_back();
    piece.offset = start;
    piece.bytes.resize(end - start);
    VARVE_RETURN_IF_ERROR(file_->Read(start, piece.bytes.size(), piece.bytes.data()));
    ++counters_->reads;
    counters_->bytes_read += piece.bytes.size();
    first = last;
  }
  return absl::OkStatus();
}

std::string_view ColumnarTableReader::FindIn(const std::vector<Piece>& pieces,
                                             const PackLocation& location) {
  // The last piece that starts at or before the pack.
  auto it =
      std::upper_bound(pieces.begin(), pieces.end(), location.offset,
                       [](uint64_t offset, const Piece& piece) { return offset < piece.offset; });
  if (it == pieces.begin()) {
    return {};
  }
  --it;
  const uint64_t start = location.offset - it->offset;
  if (start + location.length > it->bytes.size()) {
    return {};
  }
  return std::string_view(it->bytes).substr(start, location.length);
}

void ColumnarTableReader::Want(size_t pack, const ColumnarTable::Column& column,
                               std::vector<Wanted>* wanted) const {
  if (FindIn(ahead_, column.packs[pack]).empty()) {
    wanted->push_back({.location = column.packs[pack], .is_mvcc = IsMvcc(column)});
  }
}

absl::StatusOr<std::string_view> ColumnarTableReader::Encoded(
    const std::vector<Piece>& pieces, size_t pack, const ColumnarTable::Column& column) const {
  const PackLocation& location = column.packs[pack];
  std::string_view bytes = FindIn(ahead_, location);
  if (bytes.empty()) {
    bytes = FindIn(pieces, location);
  }
  if (bytes.empty()) {
    // Two packs of a damaged meta can begin at one place, and the shorter one was read.
    return DamagedPack(pack, column, "it overlaps another pack");
  }
  const std::string_view encoded = bytes.substr(0, bytes.size() - kChecksumSize);
  if (LoadLittleEndian<uint64_t>(encoded.data() + encoded.size()) != SectionChecksum(encoded)) {
    return DamagedPack(pack, column, "its checksum does not match");
  }
  return encoded;
}

absl::Status ColumnarTableReader::Decode(const std::vector<Piece>& pieces, size_t pack,
                                         const ColumnarTable::Column& column, ColumnVector* out) {
  VARVE_ASSIGN_OR_RETURN(const std::string_view encoded, Encoded(pieces, pack, column));
  if (const absl::Status status =
          decoder_.Decode(encoded, column.info.type.physical(), table_->rows_of_pack(pack), out);
      !status.ok()) {
    return DamagedPack(pack, column, FromAbsl(status.message()));
  }
  ++counters_->packs_decoded;
  return absl::OkStatus();
}

absl::Status ColumnarTableReader::ReadPack(size_t pack, std::span<const ColumnSlot> slots,
                                           std::span<ColumnVector* const> out) {
  assert(slots.size() == out.size());
  // Columns that must be read, parallel to slots; null where the cache or nothing has the rows.
  std::vector<const ColumnarTable::Column*> to_read(slots.size());
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < slots.size(); ++i) {
    const ColumnarTable::Column* column = Find(slots[i]);
    if (column == nullptr) {
      AppendNulls(table_->rows_of_pack(pack), out[i]);
      continue;
    }
    VARVE_RETURN_IF_ERROR(CheckType(*column, out[i]->type()));
    if (const auto cached = LookUp(KeyOf(pack, *column)); cached != nullptr) {
      out[i]->AppendRange(*cached, 0, cached->size());
      continue;
    }
    to_read[i] = column;
    Want(pack, *column, &wanted);
  }
  std::vector<Piece> pieces;
  VARVE_RETURN_IF_ERROR(ReadPieces(std::move(wanted), &pieces));
  for (size_t i = 0; i < slots.size(); ++i) {
    if (to_read[i] == nullptr) {
      continue;
    }
    if (options_.cache == nullptr) {
      VARVE_RETURN_IF_ERROR(Decode(pieces, pack, *to_read[i], out[i]));
      continue;
    }
    auto decoded = std::make_shared<ColumnVector>(out[i]->type());
    VARVE_RETURN_IF_ERROR(Decode(pieces, pack, *to_read[i], decoded.get()));
    out[i]->AppendRange(*decoded, 0, decoded->size());
    options_.cache->Insert(KeyOf(pack, *to_read[i]), std::move(decoded));
  }
  return absl::OkStatus();
}

absl::Status ColumnarTableReader::ReadPack(size_t pack, ColumnSlot slot, ColumnVector* out) {
  return ReadPack(pack, std::span(&slot, 1), std::span(&out, 1));
}

absl::Status ColumnarTableReader::ReadPackSelected(size_t pack, ColumnSlot slot,
                                                   std::span<const uint32_t> selection,
                                                   ColumnVector* out) {
  const ColumnarTable::Column* column = Find(slot);
  if (column == nullptr || selection.empty()) {
    AppendNulls(selection.size(), out);
    return absl::OkStatus();
  }
  VARVE_RETURN_IF_ERROR(CheckType(*column, out->type()));
  if (const auto cached = LookUp(KeyOf(pack, *column)); cached != nullptr) {
    out->AppendSelected(*cached, selection);
    return absl::OkStatus();
  }
  std::vector<Wanted> wanted;
  Want(pack, *column, &wanted);
  std::vector<Piece> pieces;
  VARVE_RETURN_IF_ERROR(ReadPieces(std::move(wanted), &pieces));
  VARVE_ASSIGN_OR_RETURN(const std::string_view encoded, Encoded(pieces, pack, *column));
  if (const absl::Status status =
          decoder_.DecodeSelected(encoded, out->type(), table_->rows_of_pack(pack), selection, out);
      !status.ok()) {
    return DamagedPack(pack, *column, FromAbsl(status.message()));
  }
  ++counters_->packs_decoded;
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const ColumnVector>> ColumnarTableReader::ReadPackShared(
    size_t pack, ColumnSlot slot, PhysicalType type) {
  const ColumnarTable::Column* column = Find(slot);
  auto rows = std::make_shared<ColumnVector>(type);
  if (column == nullptr) {
    AppendNulls(table_->rows_of_pack(pack), rows.get());
    return rows;
  }
  VARVE_RETURN_IF_ERROR(CheckType(*column, type));
  if (auto cached = LookUp(KeyOf(pack, *column)); cached != nullptr) {
    return cached;
  }
  VARVE_RETURN_IF_ERROR(ReadAndDecode(pack, *column, rows.get()));
  if (options_.cache != nullptr) {
    options_.cache->Insert(KeyOf(pack, *column), rows);
  }
  return rows;
}

absl::Status ColumnarTableReader::ReadAndDecode(size_t pack, const ColumnarTable::Column& column,
                                                ColumnVector* out) {
  std::vector<Wanted> wanted;
  Want(pack, column, &wanted);
  std::vector<Piece> pieces;
  VARVE_RETURN_IF_ERROR(ReadPieces(std::move(wanted), &pieces));
  return Decode(pieces, pack, column, out);
}

absl::StatusOr<std::shared_ptr<const ColumnVector>> ColumnarTableReader::ReadPackNarrowed(
    size_t pack, ColumnSlot slot) {
  const ColumnarTable::Column* column = Find(slot);
  auto narrowed = std::make_shared<ColumnVector>(PhysicalType::kInt64);
  if (column == nullptr) {
    AppendNulls(table_->rows_of_pack(pack), narrowed.get());
    return narrowed;
  }
  VARVE_RETURN_IF_ERROR(CheckType(*column, PhysicalType::kInt128));
  const PackKey key = KeyOf(pack, *column, PackForm::kNarrowed);
  if (auto cached = LookUp(key); cached != nullptr) {
    return cached;
  }
  ColumnVector wide(PhysicalType::kInt128);
  VARVE_RETURN_IF_ERROR(ReadAndDecode(pack, *column, &wide));
  const std::span<int64_t> values = narrowed->GrowInt64s(wide.size());
  bool fits = true;
  for (size_t row = 0; row < values.size(); ++row) {
    values[row] = static_cast<int64_t>(wide.int128s()[row]);
    fits &= values[row] == wide.int128s()[row];
  }
  if (!fits) {
    return DamagedPack(pack, *column, "a value lies outside its min-max index");
  }
  std::ranges::copy(wide.nulls(), narrowed->mutable_nulls().begin());
  if (options_.cache != nullptr) {
    options_.cache->Insert(key, narrowed);
  }
  return narrowed;
}

absl::StatusOr<size_t> ColumnarTableReader::ReadAhead(size_t first, size_t end,
                                                      std::span<const ColumnSlot> slots) {
  ahead_.clear();
  std::vector<Wanted> wanted;
  uint64_t bytes = 0;
  size_t pack = first;
  for (; pack < end; ++pack) {
    const size_t size_before = wanted.size();
    for (const ColumnSlot slot : slots) {
      const ColumnarTable::Column* column = Find(slot);
      if (column == nullptr ||
          (options_.cache != nullptr && options_.cache->Contains(KeyOf(pack, *column)))) {
        continue;
      }
      Want(pack, *column, &wanted);
      bytes += column->packs[pack].length;
    }
    if (pack > first && bytes > options_.read_ahead_bytes) {
      wanted.resize(size_before);
      break;
    }
  }
  if (const absl::Status status = ReadPieces(std::move(wanted), &ahead_); !status.ok()) {
    ahead_.clear();
    return status;
  }
  return pack;
}

}  // namespace varve
