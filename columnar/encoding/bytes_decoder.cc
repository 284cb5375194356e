#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/encoding/bit_packing.h"
#include "columnar/encoding/bytes.h"
#include "columnar/encoding/compression.h"
#include "columnar/encoding/integers.h"

namespace varve {
namespace {

constexpr std::string_view kRunLength = "run-length";
constexpr std::string_view kDictionary = "dictionary";

constexpr size_t kShort = 16;

absl::Status CutShort(std::string_view what) {
  return absl::DataLossError(StrCat(what, ": the body is cut short"));
}

}  // namespace

absl::Status BytesDecoder::Decode(PackEncoding encoding, std::string_view body, size_t rows,
                                  size_t from, size_t to, ColumnVector* column) {
  Body parts;
  VARVE_RETURN_IF_ERROR(Read(encoding, body, rows, &parts));
  if (encoding != PackEncoding::kPlain) {
    FillCodes(encoding, parts, from, to);
    return AppendCoded(parts, body.size(), column);
  }
  // Neighbours in the pack are neighbours in the heap.
  const size_t start = starts_[from];
  const size_t bytes = starts_[to] - start;
  const ColumnVector::GrownBytes grown = column->GrowBytes(to - from, bytes);
  if (bytes > 0) {
    std::memcpy(grown.heap.data(), parts.heap.data() + start, bytes);
  }
  const size_t shift = grown.heap_start - start;  // modulo 2^64
  for (size_t row = from; row < to; ++row) {
    grown.ends[row - from] = starts_[row + 1] + shift;
  }
  return absl::OkStatus();
}

absl::Status BytesDecoder::Gather(PackEncoding encoding, std::string_view body, size_t rows,
                                  std::span<const uint32_t> selection, ColumnVector* column) {
  if (selection.empty()) {
    return absl::OkStatus();
  }
  Body parts;
  VARVE_RETURN_IF_ERROR(Read(encoding, body, rows, &parts));
  if (encoding == PackEncoding::kPlain) {
    codes_.assign(selection.begin(), selection.end());
    return AppendCoded(parts, body.size(), column);
  }
  const size_t first = selection.front();
  FillCodes(encoding, parts, first, size_t{selection.back()} + 1);
  for (size_t i = 0; i < selection.size(); ++i) {
    codes_[i] = codes_[selection[i] - first];  // never to the right, as the selection ascends
  }
  codes_.resize(selection.size());
  return AppendCoded(parts, body.size(), column);
}

absl::Status BytesDecoder::Read(PackEncoding encoding, std::string_view body, size_t rows,
                                Body* parts) {
  switch (encoding) {
    case PackEncoding::kPlain: parts->num_values = rows; return ReadValues(body, "plain", parts);
    case PackEncoding::kConstant:
      starts_.assign({0, body.size()});
      parts->heap = body;
      parts->num_values = 1;
      return absl::OkStatus();
    case PackEncoding::kRunLength:
      VARVE_RETURN_IF_ERROR(ReadRuns(&body, rows, parts));
      return ReadValues(body, kRunLength, parts);
    case PackEncoding::kDictionary:
      VARVE_RETURN_IF_ERROR(ReadDictionary(&body, rows, parts));
      return ReadValues(body, kDictionary, parts);
    case PackEncoding::kDelta:
    case PackEncoding::kFrameOfReference:
    case PackEncoding::kFrames:
    case PackEncoding::kDeltaFrames:
    case PackEncoding::kKeyTuples: break;
  }
  return absl::InternalError("no encoding of bytes");
}

absl::Status BytesDecoder::ReadRuns(std::string_view* body, size_t rows, Body* parts) {
  uint32_t num_runs = 0;
  if (!GetLittleEndian(body, &num_runs)) {
    return CutShort(kRunLength);
  }
  if (num_runs > rows) {
    return absl::DataLossError(StrCat(kRunLength, ": ", num_runs, " runs in ", rows, " rows"));
  }
  IntegerBlock<int64_t> lengths;
  if (!lengths.Read(body, num_runs)) {
    return CutShort(kRunLength);
  }
  run_lengths_.resize(num_runs);
  lengths.Unpack(0, num_runs, run_lengths_.data());
  size_t row = 0;
  for (const int64_t run_length : run_lengths_) {
    const auto length = static_cast<uint64_t>(run_length);  // a negative one is huge
    if (length == 0 || length > rows - row) {
      return absl::DataLossError(
          StrCat(kRunLength, ": a run has length ", run_length, " at row ", row, " of ", rows));
    }
    row += length;
  }
  if (row != rows) {
    return absl::DataLossError(
        StrCat(kRunLength, ": the runs make ", row, " rows instead of ", rows));
  }
  parts->num_values = num_runs;
  return absl::OkStatus();
}

absl::Status BytesDecoder::ReadDictionary(std::string_view* body, size_t rows, Body* parts) {
  uint32_t num_entries = 0;
  uint8_t width = 0;
  if (!GetLittleEndian(body, &num_entries) || !GetLittleEndian(body, &width)) {
    return CutShort(kDictionary);
  }
  if (num_entries > rows || width > kMaxPackedWidth) {
    return absl::DataLossError(StrCat(kDictionary, ": ", num_entries, " entries with codes of ",
                                      static_cast<int>(width), " bits for ", rows, " rows"));
  }
  const size_t code_bytes = PackedBytes(rows, width);
  if (body->size() < code_bytes) {
    return CutShort(kDictionary);
  }
  parts->codes = body->substr(0, code_bytes);
  parts->width = width;
  parts->num_values = num_entries;
  body->remove_prefix(code_bytes);
  return absl::OkStatus();
}

absl::Status BytesDecoder::ReadValues(std::string_view body, std::string_view what, Body* parts) {
  IntegerBlock<int64_t> lengths;
  if (!lengths.Read(&body, parts->num_values)) {
    return CutShort(what);
  }
  parts->heap = body;
  lengths_.resize(parts->num_values);
  lengths.Unpack(0, parts->num_values, lengths_.data());
  starts_.resize(parts->num_values + 1);
  starts_[0] = 0;
  size_t end = 0;
  // A length is checked by what all lengths together may be: a sum that once exceeds the heap is
  // remembered, so that one that wraps around is seen.
  bool too_long = false;
  for (size_t i = 0; i < lengths_.size(); ++i) {
    too_long |= static_cast<uint64_t>(lengths_[i]) > body.size() - end;
    end += static_cast<uint64_t>(lengths_[i]);
    too_long |= end > body.size();
    starts_[i + 1] = end;
  }
  if (too_long || end != body.size()) {
    return absl::DataLossError(StrCat(what, ": the lengths of ", parts->num_values,
                                      " values do not make the ", body.size(), " bytes there are"));
  }
  return absl::OkStatus();
}

void BytesDecoder::FillCodes(PackEncoding encoding, const Body& parts, size_t from, size_t to) {
  if (encoding == PackEncoding::kDictionary) {
    codes_.resize(to - from);
    UnpackBits(parts.codes, parts.width, from, to, 0, codes_.data());
    return;
  }
  if (encoding == PackEncoding::kConstant) {
    codes_.assign(to - from, 0);
    return;
  }
  codes_.clear();
  size_t row = 0;
  for (size_t run = 0; run < run_lengths_.size(); ++run) {
    const size_t start = std::max(row, from);
    row += static_cast<size_t>(run_lengths_[run]);
    const size_t end = std::min(row, to);
    if (start < end) {
      codes_.insert(codes_.end(), end - start, run);
    }
  }
}

absl::Status BytesDecoder::AppendCoded(const Body& parts, size_t stored, ColumnVector* column) {
  size_t bytes = 0;
  for (const uint64_t code : codes_) {
    if (code >= parts.num_values) {
      return absl::DataLossError(
          StrCat(kDictionary, ": code ", code, " of ", parts.num_values, " entries"));
    }
    bytes += starts_[code + 1] - starts_[code];
  }
  if (!ExpansionIsBounded(bytes, stored)) {
    return absl::DataLossError(StrCat("a body of ", stored, " bytes would expand to ", bytes,
                                      ", more than any writer writes"));
  }
  const ColumnVector::GrownBytes grown = column->GrowBytes(codes_.size(), bytes);
  size_t end = 0;
  for (size_t i = 0; i < codes_.size(); ++i) {
    const size_t start = starts_[codes_[i]];
    const size_t length = starts_[codes_[i] + 1] - start;
    // Most values are short: where both sides have room, a copy of fixed size costs least, and what
    // it writes beyond the value is overwritten by the next.
    if (length <= kShort && start + kShort <= parts.heap.size() && end + kShort <= bytes) {
      std::memcpy(grown.heap.data() + end, parts.heap.data() + start, kShort);
    } else if (length > 0) {
      std::memcpy(grown.heap.data() + end, parts.heap.data() + start, length);
    }
    end += length;
    grown.ends[i] = grown.heap_start + end;
  }
  return absl::OkStatus();
}

}  // namespace varve
