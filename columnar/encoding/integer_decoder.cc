#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "columnar/encoding/bit_packing.h"
#include "columnar/encoding/frames.h"
#include "columnar/encoding/integers.h"

namespace varve {
namespace {

// Single integers are taken out of the bits when they are fewer than one in this many.
constexpr size_t kSparse = 4;

absl::Status CutShort(std::string_view what) {
  return absl::DataLossError(StrCat(what, ": the body is cut short"));
}

absl::Status CheckAtEnd(std::string_view rest, std::string_view what) {
  return rest.empty() ? absl::OkStatus()
                      : absl::DataLossError(
                            StrCat(what, ": ", rest.size(), " bytes follow the end of the body"));
}

absl::Status CheckLength(std::string_view body, size_t expected, std::string_view what) {
  return body.size() == expected ? absl::OkStatus()
                                 : absl::DataLossError(StrCat(what, ": the body has ", body.size(),
                                                              " bytes instead of ", expected));
}

template <typename T>
T Load(std::string_view body, size_t index) {
  T value;
  std::memcpy(&value, body.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
absl::Status ReadOnlyBlock(std::string_view body, size_t count, std::string_view what,
                           IntegerBlock<T>* block) {
  return block->Read(&body, count) ? CheckAtEnd(body, what) : CutShort(what);
}

}  // namespace

template <typename T>
IntegerDecoder<T>::IntegerDecoder() : frames_(std::make_unique<FrameReader<T>>()) {}
template <typename T>
IntegerDecoder<T>::~IntegerDecoder() = default;

template <typename T>
absl::Status IntegerDecoder<T>::Decode(PackEncoding encoding, std::string_view body, size_t rows,
                                       size_t from, size_t to, T* out) {
  switch (encoding) {
    case PackEncoding::kPlain:
      VARVE_RETURN_IF_ERROR(CheckLength(body, rows * sizeof(T), "plain"));
      if (from < to) {
        std::memcpy(out, body.data() + from * sizeof(T), (to - from) * sizeof(T));
      }
      return absl::OkStatus();
    case PackEncoding::kConstant:
      VARVE_RETURN_IF_ERROR(CheckLength(body, sizeof(T), "constant"));
      std::fill_n(out, to - from, Load<T>(body, 0));
      return absl::OkStatus();
    case PackEncoding::kFrameOfReference: {
      IntegerBlock<T> block;
      VARVE_RETURN_IF_ERROR(ReadOnlyBlock(body, rows, "frame of reference", &block));
      block.Unpack(from, to, out);
      return absl::OkStatus();
    }
    case PackEncoding::kRunLength: return DecodeRuns(body, rows, from, to, out);
    case PackEncoding::kDelta:
    case PackEncoding::kDeltaFrames: return DecodeSteps(encoding, body, rows, from, to, out);
    case PackEncoding::kFrames:
      VARVE_RETURN_IF_ERROR(frames_->Read(body, rows));
      frames_->Unpack(from, to, out);
      return absl::OkStatus();
    case PackEncoding::kDictionary: {
      Dictionary dictionary;
      VARVE_RETURN_IF_ERROR(ReadDictionary(body, rows, &dictionary));
      codes_.resize(to - from);
      UnpackBits(dictionary.codes, dictionary.width, from, to, 0, codes_.data());
      return LookUp(out);
    }
    case PackEncoding::kKeyTuples: break;
  }
  return absl::InternalError("no such encoding");
}

template <typename T>
absl::Status IntegerDecoder<T>::Gather(PackEncoding encoding, std::string_view body, size_t rows,
                                       std::span<const uint32_t> selection, T* out) {
  if (selection.empty()) {
    return absl::OkStatus();
  }
  const size_t first = selection.front();
  const size_t end = size_t{selection.back()} + 1;
  const bool sparse = selection.size() < (end - first) / kSparse;
  if (sparse && encoding == PackEncoding::kPlain) {
    VARVE_RETURN_IF_ERROR(CheckLength(body, rows * sizeof(T), "plain"));
    for (const uint32_t row : selection) {
      *out++ = Load<T>(body, row);
    }
    return absl::OkStatus();
  }
  if (sparse && encoding == PackEncoding::kFrameOfReference) {
    IntegerBlock<T> block;
    VARVE_RETURN_IF_ERROR(ReadOnlyBlock(body, rows, "frame of reference", &block));
    for (const uint32_t row : selection) {
      *out++ = block.At(row);
    }
    return absl::OkStatus();
  }
  if (sparse && encoding == PackEncoding::kDictionary) {
    Dictionary dictionary;
    VARVE_RETURN_IF_ERROR(ReadDictionary(body, rows, &dictionary));
    codes_.resize(selection.size());
    for (size_t i = 0; i < selection.size(); ++i) {
      codes_[i] = UnpackOne(dictionary.codes, dictionary.width, selection[i]);
    }
    return LookUp(out);
  }
  values_.resize(end - first);
  VARVE_RETURN_IF_ERROR(Decode(encoding, body, rows, first, end, values_.data()));
  for (const uint32_t row : selection) {
    *out++ = values_[row - first];
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status IntegerDecoder<T>::DecodeRuns(std::string_view body, size_t rows, size_t from,
                                           size_t to, T* out) {
  constexpr std::string_view kWhat = "run-length";
  uint32_t num_runs = 0;
  if (!GetLittleEndian(&body, &num_runs)) {
    return CutShort(kWhat);
  }
  if (num_runs > rows) {
    return absl::DataLossError(StrCat(kWhat, ": ", num_runs, " runs in ", rows, " rows"));
  }
  IntegerBlock<int64_t> lengths;
  IntegerBlock<T> values;
  if (!lengths.Read(&body, num_runs) || !values.Read(&body, num_runs)) {
    return CutShort(kWhat);
  }
  VARVE_RETURN_IF_ERROR(CheckAtEnd(body, kWhat));
  lengths_.resize(num_runs);
  lengths.Unpack(0, num_runs, lengths_.data());
  entries_.resize(num_runs);
  values.Unpack(0, num_runs, entries_.data());
  size_t row = 0;
  for (size_t run = 0; run < num_runs; ++run) {
    const auto length = static_cast<uint64_t>(lengths_[run]);  // a negative one is huge
    if (length == 0 || length > rows - row) {
      return absl::DataLossError(StrCat(kWhat, ": run ", run, " has length ", lengths_[run],
                                        " at row ", row, " of ", rows));
    }
    const size_t start = std::max(row, from);
    row += length;
    const size_t end = std::min(row, to);
    if (start < end) {
      std::fill_n(out + (start - from), end - start, entries_[run]);
    }
  }
  return row == rows ? absl::OkStatus()
                     : absl::DataLossError(
                           StrCat(kWhat, ": the runs make ", row, " rows instead of ", rows));
}

template <typename T>
absl::Status IntegerDecoder<T>::DecodeSteps(PackEncoding encoding, std::string_view body,
                                            size_t rows, size_t from, size_t to, T* out) {
  const std::string_view what = PackEncodingName(encoding);
  if (rows == 0 || body.size() < sizeof(T)) {
    return CutShort(what);
  }
  auto sum = static_cast<Unsigned<T>>(Load<T>(body, 0));
  body.remove_prefix(sizeof(T));
  IntegerBlock<T> block;
  if (encoding == PackEncoding::kDelta) {
    VARVE_RETURN_IF_ERROR(ReadOnlyBlock(body, rows - 1, what, &block));
  } else {
    VARVE_RETURN_IF_ERROR(frames_->Read(body, rows - 1));
  }
  const auto unpack_steps = [&](size_t first, size_t end, T* steps) {
    encoding == PackEncoding::kDelta ? block.Unpack(first, end, steps)
                                     : frames_->Unpack(first, end, steps);
  };
  if (from == to) {
    return absl::OkStatus();
  }
  // Row r is the first integer and the steps [0, r).
  if (from > 0) {
    entries_.resize(from);
    unpack_steps(0, from, entries_.data());
    for (const T step : entries_) {
      sum += static_cast<Unsigned<T>>(step);
    }
  }
  const size_t count = to - from;
  out[0] = static_cast<T>(sum);
  unpack_steps(from, to - 1, out + 1);
  for (size_t i = 1; i < count; ++i) {
    sum += static_cast<Unsigned<T>>(out[i]);
    out[i] = static_cast<T>(sum);
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status IntegerDecoder<T>::ReadDictionary(std::string_view body, size_t rows,
                                               Dictionary* dictionary) {
  constexpr std::string_view kWhat = "dictionary";
  uint32_t num_entries = 0;
  uint8_t width = 0;
  if (!GetLittleEndian(&body, &num_entries) || !GetLittleEndian(&body, &width)) {
    return CutShort(kWhat);
  }
  if (num_entries > rows || width > kMaxPackedWidth) {
    return absl::DataLossError(StrCat(kWhat, ": ", num_entries, " entries with codes of ",
                                      static_cast<int>(width), " bits for ", rows, " rows"));
  }
  const size_t code_bytes = PackedBytes(rows, width);
  IntegerBlock<T> entries;
  if (body.size() < code_bytes) {
    return CutShort(kWhat);
  }
  dictionary->codes = body.substr(0, code_bytes);
  dictionary->width = width;
  body.remove_prefix(code_bytes);
  VARVE_RETURN_IF_ERROR(ReadOnlyBlock(body, num_entries, kWhat, &entries));
  entries_.resize(num_entries);
  entries.Unpack(0, num_entries, entries_.data());
  return absl::OkStatus();
}

template <typename T>
absl::Status IntegerDecoder<T>::LookUp(T* out) const {
  uint64_t largest = 0;
  for (const uint64_t code : codes_) {
    largest = std::max(largest, code);
  }
  if (!codes_.empty() && largest >= entries_.size()) {
    return absl::DataLossError(
        StrCat("dictionary: code ", largest, " of ", entries_.size(), " entries"));
  }
  for (const uint64_t code : codes_) {
    *out++ = entries_[code];
  }
  return absl::OkStatus();
}

template class IntegerDecoder<int64_t>;
template class IntegerDecoder<int128_t>;

}  // namespace varve
