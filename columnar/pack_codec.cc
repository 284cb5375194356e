#include "columnar/pack_codec.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <vector>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/encoding/bytes.h"
#include "columnar/encoding/compression.h"
#include "columnar/encoding/integers.h"
#include "columnar/encoding/key_tuples.h"
#include "columnar/encoding/null_bitmap.h"
#include "columnar/format.h"

namespace varve {
namespace {

enum class Nulls : uint8_t { kNone = 0, kAll = 1, kBitmap = 2 };

constexpr uint8_t kNullsMask = 3;
constexpr uint8_t kCompressedFlag = 4;
constexpr uint8_t kKnownFlags = kNullsMask | kCompressedFlag;

// A body below this size is not worth the time of a try.
constexpr size_t kMinCompressedBytes = 64;

// What a body of this many bytes may take after zstd. Bytes must become a tenth smaller, integers
// three tenths: these are unpacked several times faster than zstd runs.
size_t CompressionLimit(PhysicalType type, size_t body_bytes) {
  return type == PhysicalType::kBytes ? body_bytes - body_bytes / 10
                                      : body_bytes - body_bytes * 3 / 10;
}

// Tuples are taken apart if that saves more than zstd mostly does.
constexpr size_t kTupleSaving = 3;

// Most packed integers do not compress. A sample from the front shows it at an eighth of the time.
constexpr size_t kMinSampleBytes = 1024;
constexpr size_t kSampleShare = 8;

// A pack taken apart.
struct PackHead {
  PackEncoding encoding = PackEncoding::kPlain;
  Nulls nulls = Nulls::kNone;
  bool compressed = false;
  size_t rows = 0;
  std::string_view null_bitmap;
  size_t body_size = 0;  // before compression
  std::string_view stored_body;
};

bool HasEncoding(PhysicalType type, uint8_t encoding) {
  switch (static_cast<PackEncoding>(encoding)) {
    case PackEncoding::kPlain:
    case PackEncoding::kConstant:
    case PackEncoding::kRunLength:
    case PackEncoding::kDictionary: return true;
    case PackEncoding::kDelta:
    case PackEncoding::kFrameOfReference:
    case PackEncoding::kFrames:
    case PackEncoding::kDeltaFrames: return type != PhysicalType::kBytes;
    case PackEncoding::kKeyTuples: return type == PhysicalType::kBytes;
  }
  return false;
}

absl::Status CutShort(size_t size) {
  return absl::DataLossError(StrCat("pack: ", size, " bytes are too few for its head"));
}

absl::Status ReadNullBitmapOf(std::string_view* in, PackHead* head) {
  const size_t bytes = NullBitmapBytes(head->rows);
  if (in->size() < bytes) {
    return absl::DataLossError(
        StrCat("pack: ", in->size(), " bytes left for the NULL bitmap of ", head->rows, " rows"));
  }
  head->null_bitmap = in->substr(0, bytes);
  in->remove_prefix(bytes);
  if (head->rows % 8 != 0 &&
      static_cast<uint8_t>(head->null_bitmap.back()) >> (head->rows % 8) != 0) {
    return absl::DataLossError(
        StrCat("pack: the NULL bitmap marks rows beyond the ", head->rows, " there are"));
  }
  return absl::OkStatus();
}

absl::StatusOr<PackHead> ReadHead(std::string_view encoded, PhysicalType type) {
  std::string_view in = encoded;
  uint8_t encoding = 0;
  uint8_t flags = 0;
  uint64_t rows = 0;
  if (!GetLittleEndian(&in, &encoding) || !GetLittleEndian(&in, &flags) ||
      !GetVarint64(&in, &rows)) {
    return CutShort(encoded.size());
  }
  if (!HasEncoding(type, encoding)) {
    return absl::DataLossError(StrCat("pack: no encoding of its type has the number ",
                                      static_cast<int>(encoding),
                                      "; a later version may have written it"));
  }
  const uint8_t nulls = flags & kNullsMask;
  if ((flags & ~kKnownFlags) != 0 || nulls > static_cast<uint8_t>(Nulls::kBitmap)) {
    return absl::DataLossError(
        StrCat("pack: the flags ", static_cast<int>(flags), " have no meaning"));
  }
  if (rows > kMaxPackRows) {
    return absl::DataLossError(
        StrCat("pack: ", rows, " rows are more than the ", kMaxPackRows, " a pack may have"));
  }
  PackHead head{.encoding = static_cast<PackEncoding>(encoding),
                .nulls = static_cast<Nulls>(nulls),
                .compressed = (flags & kCompressedFlag) != 0,
                .rows = rows};
  if (head.nulls == Nulls::kBitmap) {
    VARVE_RETURN_IF_ERROR(ReadNullBitmapOf(&in, &head));
  }
  uint64_t body_size = 0;
  if (head.compressed && !GetVarint64(&in, &body_size)) {
    return CutShort(encoded.size());
  }
  head.body_size = head.compressed ? body_size : in.size();
  head.stored_body = in;
  // No encoder takes more than plain does.
  if (const auto width = static_cast<size_t>(FixedWidth(type));
      type == PhysicalType::kBool ? head.body_size > rows * sizeof(int64_t)
                                  : width != 0 && head.body_size > rows * width) {
    return absl::DataLossError(
        StrCat("pack: a body of ", head.body_size, " bytes for ", rows, " numbers"));
  }
  return head;
}

}  // namespace

struct PackEncoder::Scratch {
  explicit Scratch(PackCodecOptions codec) : options(codec), compressor(codec.zstd_level) {}

  const PackCodecOptions options;
  IntegerEncoder<int64_t> int64s;
  IntegerEncoder<int128_t> int128s;
  BytesEncoder bytes;
  Compressor compressor;
  std::vector<int64_t> as_int64s;  // bools and float64s
  std::string body;
  std::string compressed;
  // Of tuples: their fields, and what encodes those.
  std::vector<ColumnVector> fields;
  std::unique_ptr<PackEncoder> field_encoder;
  std::string encoded_field;
};

PackEncoder::PackEncoder(PackCodecOptions options) : scratch_(std::make_unique<Scratch>(options)) {}
PackEncoder::~PackEncoder() = default;
PackEncoder::PackEncoder(PackEncoder&&) noexcept = default;
PackEncoder& PackEncoder::operator=(PackEncoder&&) noexcept = default;

PackEncoding PackEncoder::EncodeBody(const ColumnVector& column, size_t from, size_t to) {
  const size_t rows = to - from;
  std::string* body = &scratch_->body;
  std::vector<int64_t>& as_int64s = scratch_->as_int64s;
  body->clear();
  switch (column.type()) {
    case PhysicalType::kBool: {
      const std::span<const uint8_t> bools = column.bools().subspan(from, rows);
      as_int64s.assign(bools.begin(), bools.end());
      return scratch_->int64s.Encode(as_int64s, body);
    }
    case PhysicalType::kFloat64: {
      const std::span<const double> floats = column.float64s().subspan(from, rows);
      as_int64s.resize(rows);
      if (rows > 0) {
        std::memcpy(as_int64s.data(), floats.data(), floats.size_bytes());
      }
      return scratch_->int64s.Encode(as_int64s, body);
    }
    case PhysicalType::kInt64:
      return scratch_->int64s.Encode(column.int64s().subspan(from, rows), body);
    case PhysicalType::kInt128:
      return scratch_->int128s.Encode(column.int128s().subspan(from, rows), body);
    case PhysicalType::kBytes:
      return EncodeTuples(column, from, to) ? PackEncoding::kKeyTuples
                                            : scratch_->bytes.Encode(column, from, to, body);
  }
  return PackEncoding::kPlain;
}

bool PackEncoder::EncodeTuples(const ColumnVector& column, size_t from, size_t to) {
  std::vector<ColumnVector>& fields = scratch_->fields;
  if (from == to || !SplitKeyTuples(column, from, to, &fields)) {
    return false;
  }
  if (scratch_->field_encoder == nullptr) {
    scratch_->field_encoder = std::make_unique<PackEncoder>(scratch_->options);
  }
  std::string* body = &scratch_->body;
  body->push_back(static_cast<char>(fields.size()));
  for (const ColumnVector& field : fields) {
    scratch_->encoded_field.clear();
    scratch_->field_encoder->Encode(field, 0, field.size(), &scratch_->encoded_field);
    PutLengthPrefixed(body, scratch_->encoded_field);
  }
  const size_t start = from == 0 ? 0 : column.ends()[from - 1];
  const size_t heap_bytes = column.ends()[to - 1] - start;
  if (body->size() >= heap_bytes / kTupleSaving || !ExpansionIsBounded(heap_bytes, body->size())) {
    body->clear();
    return false;
  }
  return true;
}

void PackEncoder::Encode(const ColumnVector& column, size_t from, size_t to, std::string* out) {
  assert(from <= to && to <= column.size() && to - from <= kMaxPackRows);
  const size_t rows = to - from;
  const std::span<const uint8_t> marks = column.nulls().subspan(from, rows);
  const size_t null_count = CountNulls(marks);
  const Nulls nulls = null_count == 0      ? Nulls::kNone
                      : null_count == rows ? Nulls::kAll
                                           : Nulls::kBitmap;
  const PackEncoding encoding = EncodeBody(column, from, to);

  const size_t encoding_at = out->size();
  out->push_back(static_cast<char>(encoding));
  const size_t flags_at = out->size();
  out->push_back(static_cast<char>(nulls));
  PutVarint64(out, rows);
  if (nulls == Nulls::kBitmap) {
    AppendNullBitmap(marks, out);
  }
  const size_t body_at = out->size();
  // The fields of tuples are compressed already.
  bool compressed = encoding != PackEncoding::kKeyTuples && AppendCompressed(column.type(), out);
  if (!compressed) {
    out->append(scratch_->body);
  }
  std::optional<PackEncoding> aligned;
  if (column.type() == PhysicalType::kInt64) {
    aligned =
        ReplaceByAligned(&scratch_->int64s, column.int64s().subspan(from, rows), body_at, out);
  } else if (column.type() == PhysicalType::kInt128) {
    aligned =
        ReplaceByAligned(&scratch_->int128s, column.int128s().subspan(from, rows), body_at, out);
  }
  if (aligned.has_value()) {
    (*out)[encoding_at] = static_cast<char>(*aligned);
    compressed = true;
  }
  if (compressed) {
    (*out)[flags_at] = static_cast<char>((*out)[flags_at] | kCompressedFlag);
  }
}

template <typename T>
std::optional<PackEncoding> PackEncoder::ReplaceByAligned(IntegerEncoder<T>* encoder,
                                                          std::span<const T> values, size_t body_at,
                                                          std::string* out) {
  if (!encoder->MayCompressAligned(values)) {
    return std::nullopt;
  }
  std::string& body = scratch_->body;
  std::string& compressed = scratch_->compressed;
  body.clear();
  const PackEncoding encoding = encoder->EncodeAligned(values, &body);
  const size_t limit = CompressionLimit(PhysicalType::kInt64, out->size() - body_at);
  if (sizeof(T) >
      sizeof(uint64_t)) {  // what comes again shows in the whole only, texts do anywhere
    const std::string_view sample =
        std::string_view(body).substr(0, std::max(kMinSampleBytes, body.size() / kSampleShare));
    compressed.clear();
    if (!scratch_->compressor.Compress(sample, limit * sample.size() / body.size(), &compressed)) {
      return std::nullopt;
    }
  }
  compressed.clear();
  PutVarint64(&compressed, body.size());
  if (!scratch_->compressor.Compress(body, limit, &compressed)) {
    return std::nullopt;
  }
  out->replace(body_at, std::string::npos, compressed);
  return encoding;
}

bool PackEncoder::AppendCompressed(PhysicalType type, std::string* out) {
  const std::string_view body = scratch_->body;
  if (body.size() < kMinCompressedBytes) {
    return false;
  }
  const size_t old_size = out->size();
  if (type != PhysicalType::kBytes) {
    const std::string_view sample =
        body.substr(0, std::max(kMinSampleBytes, body.size() / kSampleShare));
    if (!scratch_->compressor.Compress(sample, CompressionLimit(type, sample.size()), out)) {
      return false;
    }
    out->resize(old_size);
  }
  PutVarint64(out, body.size());
  if (!scratch_->compressor.Compress(body, CompressionLimit(type, body.size()), out)) {
    out->resize(old_size);
    return false;
  }
  return true;
}

struct PackDecoder::Scratch {
  // Appends the rows that `rows_of` stands for: a range or a selection.
  template <typename RowsOf>
  absl::Status Append(std::string_view encoded, PhysicalType type, size_t rows,
                      const RowsOf& rows_of, ColumnVector* column);
  template <typename RowsOf>
  absl::Status AppendValues(const PackHead& head, std::string_view body, const RowsOf& rows_of,
                            ColumnVector* column);

  template <typename RowsOf>
  absl::Status AppendTuples(const PackHead& head, std::string_view body, const RowsOf& rows_of,
                            ColumnVector* column);

  IntegerDecoder<int64_t> int64s;
  IntegerDecoder<int128_t> int128s;
  BytesDecoder bytes;
  Decompressor decompressor;
  std::vector<int64_t> as_int64s;  // bools and float64s
  std::vector<ColumnVector> fields;
  std::unique_ptr<PackDecoder> field_decoder;
};

namespace {

// The two ways of naming rows, so that what surrounds them is written once.
struct RowRange {
  size_t from = 0;
  size_t to = 0;

  size_t size() const { return to - from; }
  template <typename T>
  absl::Status Read(IntegerDecoder<T>* decoder, const PackHead& head, std::string_view body,
                    T* out) const {
    return decoder->Decode(head.encoding, body, head.rows, from, to, out);
  }
  absl::Status Read(BytesDecoder* decoder, const PackHead& head, std::string_view body,
                    ColumnVector* column) const {
    return decoder->Decode(head.encoding, body, head.rows, from, to, column);
  }
  absl::Status ReadField(PackDecoder* decoder, std::string_view encoded, size_t num_rows,
                         ColumnVector* field) const {
    return decoder->DecodeRange(encoded, PhysicalType::kInt64, num_rows, from, to, field);
  }
  void ReadNulls(std::string_view bitmap, std::span<uint8_t> marks) const {
    ReadNullBitmap(bitmap, from, marks);
  }
};

struct RowSelection {
  std::span<const uint32_t> rows;

  size_t size() const { return rows.size(); }
  template <typename T>
  absl::Status Read(IntegerDecoder<T>* decoder, const PackHead& head, std::string_view body,
                    T* out) const {
    return decoder->Gather(head.encoding, body, head.rows, rows, out);
  }
  absl::Status Read(BytesDecoder* decoder, const PackHead& head, std::string_view body,
                    ColumnVector* column) const {
    return decoder->Gather(head.encoding, body, head.rows, rows, column);
  }
  absl::Status ReadField(PackDecoder* decoder, std::string_view encoded, size_t num_rows,
                         ColumnVector* field) const {
    return decoder->DecodeSelected(encoded, PhysicalType::kInt64, num_rows, rows, field);
  }
  void ReadNulls(std::string_view bitmap, std::span<uint8_t> marks) const {
    for (size_t i = 0; i < rows.size(); ++i) {
      marks[i] = NullBit(bitmap, rows[i]) ? 1 : 0;
    }
  }
};

}  // namespace

template <typename RowsOf>
absl::Status PackDecoder::Scratch::AppendValues(const PackHead& head, std::string_view body,
                                                const RowsOf& rows_of, ColumnVector* column) {
  switch (column->type()) {
    case PhysicalType::kBool: {
      as_int64s.resize(rows_of.size());
      VARVE_RETURN_IF_ERROR(rows_of.Read(&int64s, head, body, as_int64s.data()));
      const std::span<uint8_t> bools = column->GrowBools(rows_of.size());
      uint64_t all = 0;
      for (size_t i = 0; i < bools.size(); ++i) {
        all |= static_cast<uint64_t>(as_int64s[i]);
        bools[i] = static_cast<uint8_t>(as_int64s[i]);
      }
      return all <= 1 ? absl::OkStatus() : absl::DataLossError("a bool is neither 0 nor 1");
    }
    case PhysicalType::kFloat64: {
      as_int64s.resize(rows_of.size());
      VARVE_RETURN_IF_ERROR(rows_of.Read(&int64s, head, body, as_int64s.data()));
      const std::span<double> floats = column->GrowFloat64s(rows_of.size());
      if (!floats.empty()) {
        std::memcpy(floats.data(), as_int64s.data(), floats.size_bytes());
      }
      return absl::OkStatus();
    }
    case PhysicalType::kInt64:
      return rows_of.Read(&int64s, head, body, column->GrowInt64s(rows_of.size()).data());
    case PhysicalType::kInt128:
      return rows_of.Read(&int128s, head, body, column->GrowInt128s(rows_of.size()).data());
    case PhysicalType::kBytes:
      return head.encoding == PackEncoding::kKeyTuples ? AppendTuples(head, body, rows_of, column)
                                                       : rows_of.Read(&bytes, head, body, column);
  }
  return absl::InternalError("no such physical type");
}

template <typename RowsOf>
absl::Status PackDecoder::Scratch::AppendTuples(const PackHead& head, std::string_view body,
                                                const RowsOf& rows_of, ColumnVector* column) {
  const size_t stored = body.size();
  uint8_t num_fields = 0;
  if (!GetLittleEndian(&body, &num_fields) || num_fields == 0 || num_fields > kMaxTupleFields) {
    return absl::DataLossError(StrCat("key tuples: of ", static_cast<int>(num_fields), " fields"));
  }
  if (field_decoder == nullptr) {
    field_decoder = std::make_unique<PackDecoder>();
  }
  fields.resize(num_fields, ColumnVector(PhysicalType::kInt64));
  for (ColumnVector& field : fields) {
    std::string_view encoded;
    if (!GetLengthPrefixed(&body, &encoded)) {
      return absl::DataLossError("key tuples: the body is cut short");
    }
    field.Clear();
    VARVE_RETURN_IF_ERROR(rows_of.ReadField(field_decoder.get(), encoded, head.rows, &field));
  }
  return body.empty() ? JoinKeyTuples(fields, stored, column)
                      : absl::DataLossError(StrCat("key tuples: ", body.size(),
                                                   " bytes follow the end of the body"));
}

template <typename RowsOf>
absl::Status PackDecoder::Scratch::Append(std::string_view encoded, PhysicalType type, size_t rows,
                                          const RowsOf& rows_of, ColumnVector* column) {
  assert(column->type() == type);
  VARVE_ASSIGN_OR_RETURN(const PackHead head, ReadHead(encoded, type));
  if (head.rows != rows) {
    return absl::DataLossError(StrCat("pack: it has ", head.rows, " rows instead of ", rows));
  }
  std::string_view body = head.stored_body;
  if (head.compressed) {
    VARVE_ASSIGN_OR_RETURN(body, decompressor.Decompress(head.stored_body, head.body_size));
  }
  const size_t old_size = column->size();
  if (const absl::Status status = AppendValues(head, body, rows_of, column); !status.ok()) {
    column->Truncate(old_size);
    return absl::DataLossError(StrCat("pack: ", MessageOf(status)));
  }
  const std::span<uint8_t> marks = column->mutable_nulls().subspan(old_size);
  if (head.nulls == Nulls::kAll) {
    std::fill(marks.begin(), marks.end(), uint8_t{1});
  } else if (head.nulls == Nulls::kBitmap) {
    rows_of.ReadNulls(head.null_bitmap, marks);
  }
  return absl::OkStatus();
}

PackDecoder::PackDecoder() : scratch_(std::make_unique<Scratch>()) {}
PackDecoder::~PackDecoder() = default;
PackDecoder::PackDecoder(PackDecoder&&) noexcept = default;
PackDecoder& PackDecoder::operator=(PackDecoder&&) noexcept = default;

absl::Status PackDecoder::Decode(std::string_view encoded, PhysicalType type, size_t rows,
                                 ColumnVector* column) {
  return DecodeRange(encoded, type, rows, 0, rows, column);
}

absl::Status PackDecoder::DecodeRange(std::string_view encoded, PhysicalType type, size_t rows,
                                      size_t from, size_t to, ColumnVector* column) {
  assert(from <= to && to <= rows);
  return scratch_->Append(encoded, type, rows, RowRange{.from = from, .to = to}, column);
}

absl::Status PackDecoder::DecodeSelected(std::string_view encoded, PhysicalType type, size_t rows,
                                         std::span<const uint32_t> selection,
                                         ColumnVector* column) {
  assert(std::is_sorted(selection.begin(), selection.end()));
  assert(selection.empty() || selection.back() < rows);
  return scratch_->Append(encoded, type, rows, RowSelection{.rows = selection}, column);
}

absl::StatusOr<PackDescription> DescribePack(std::string_view encoded, PhysicalType type) {
  VARVE_ASSIGN_OR_RETURN(const PackHead head, ReadHead(encoded, type));
  PackDescription description{
      .encoding = head.encoding,
      .compression = head.compressed ? PackCompression::kZstd : PackCompression::kNone,
      .rows = head.rows,
      .bytes = encoded.size(),
      .uncompressed_bytes = encoded.size() - head.stored_body.size() + head.body_size};
  switch (head.nulls) {
    case Nulls::kNone: break;
    case Nulls::kAll: description.null_count = head.rows; break;
    case Nulls::kBitmap: description.null_count = CountNullBits(head.null_bitmap); break;
  }
  return description;
}

}  // namespace varve
