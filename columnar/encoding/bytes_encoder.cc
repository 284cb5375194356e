#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "base/coding.h"
#include "columnar/encoding/bit_packing.h"
#include "columnar/encoding/bytes.h"
#include "columnar/encoding/compression.h"
#include "columnar/encoding/integers.h"

namespace varve {
namespace {

size_t LengthsBytes(std::span<const int64_t> lengths) {
  const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
  return IntegerBlock<int64_t>::Bytes(lengths.size(), *shortest, *longest);
}

}  // namespace

void BytesEncoder::Values::Clear() {
  rows.clear();
  lengths.clear();
  heap_bytes = 0;
}

void BytesEncoder::Values::Add(size_t row, size_t length) {
  rows.push_back(row);
  lengths.push_back(static_cast<int64_t>(length));
  heap_bytes += length;
}

void BytesEncoder::FindRuns(const ColumnVector& column, size_t from, size_t to) {
  runs_.Clear();
  run_lengths_.clear();
  size_t start = from;
  std::string_view value = column.bytes(from);
  for (size_t row = from + 1; row <= to; ++row) {
    if (row == to || column.bytes(row) != value) {
      runs_.Add(start, value.size());
      run_lengths_.push_back(static_cast<int64_t>(row - start));
      if (row < to) {
        start = row;
        value = column.bytes(row);
      }
    }
  }
}

bool BytesEncoder::BuildDictionary(const ColumnVector& column, size_t from, size_t to,
                                   size_t max_entries) {
  const size_t num_slots = std::bit_ceil(2 * max_entries);
  slots_.assign(num_slots, Slot{});
  entries_.Clear();
  codes_.clear();
  // One look-up for each run: equal neighbours share their code.
  size_t row = from;
  for (const int64_t run_length : run_lengths_) {
    const std::string_view value = column.bytes(row);
    const auto hash = static_cast<uint32_t>(XXH3_64bits(value.data(), value.size()));
    size_t at = hash & (num_slots - 1);
    while (slots_[at].entry != 0 && (slots_[at].hash != hash ||
                                     column.bytes(entries_.rows[slots_[at].entry - 1]) != value)) {
      at = (at + 1) & (num_slots - 1);
    }
    if (slots_[at].entry == 0) {
      if (entries_.rows.size() == max_entries) {
        return false;
      }
      entries_.Add(row, value.size());
      slots_[at] = {.hash = hash, .entry = static_cast<uint32_t>(entries_.rows.size())};
    }
    codes_.insert(codes_.end(), static_cast<size_t>(run_length), slots_[at].entry - 1);
    row += static_cast<size_t>(run_length);
  }
  return row == to;
}

PackEncoding BytesEncoder::Encode(const ColumnVector& column, size_t from, size_t to,
                                  std::string* body) {
  const size_t count = to - from;
  if (count == 0) {
    AppendLengths({}, body);
    return PackEncoding::kPlain;
  }
  lengths_.clear();
  size_t heap_bytes = 0;
  for (size_t row = from; row < to; ++row) {
    lengths_.push_back(static_cast<int64_t>(column.bytes(row).size()));
    heap_bytes += column.bytes(row).size();
  }
  FindRuns(column, from, to);
  const size_t num_runs = runs_.rows.size();
  if (num_runs == 1 && ExpansionIsBounded(heap_bytes, column.bytes(from).size())) {
    body->append(column.bytes(from));
    return PackEncoding::kConstant;
  }

  PackEncoding best = PackEncoding::kPlain;
  size_t best_bytes = LengthsBytes(lengths_) + heap_bytes + 1;  // gives way to what is as small
  const auto offer = [&](PackEncoding encoding, size_t bytes) {
    if (bytes < best_bytes && ExpansionIsBounded(heap_bytes, bytes)) {
      best = encoding;
      best_bytes = bytes;
    }
  };
  const size_t head = sizeof(uint32_t);
  // Half the rows at most: what a dictionary saves beyond, zstd saves too.
  if (const size_t max_entries = std::min(count / 2, num_runs);
      max_entries >= 1 && BuildDictionary(column, from, to, max_entries)) {
    offer(PackEncoding::kDictionary, head + 1 +
                                         PackedBytes(count, CodeWidth(entries_.rows.size())) +
                                         LengthsBytes(entries_.lengths) + entries_.heap_bytes);
  }
  if (num_runs <= count / 2) {
    offer(PackEncoding::kRunLength,
          head + LengthsBytes(run_lengths_) + LengthsBytes(runs_.lengths) + runs_.heap_bytes);
  }

  switch (best) {
    case PackEncoding::kDictionary: {
      const int width = CodeWidth(entries_.rows.size());
      PutLittleEndian(body, static_cast<uint32_t>(entries_.rows.size()));
      body->push_back(static_cast<char>(width));
      PackBits(codes_, width, body);
      AppendValues(column, entries_, body);
      break;
    }
    case PackEncoding::kRunLength:
      PutLittleEndian(body, static_cast<uint32_t>(num_runs));
      AppendLengths(run_lengths_, body);
      AppendValues(column, runs_, body);
      break;
    default: {
      AppendLengths(lengths_, body);
      const size_t start = from == 0 ? 0 : column.ends()[from - 1];
      body->append(column.heap().substr(start, heap_bytes));
      break;
    }
  }
  return best;
}

void BytesEncoder::AppendLengths(std::span<const int64_t> lengths, std::string* body) {
  int64_t shortest = 0;
  int64_t longest = 0;
  if (!lengths.empty()) {
    const auto [low, high] = std::minmax_element(lengths.begin(), lengths.end());
    shortest = *low;
    longest = *high;
  }
  IntegerBlock<int64_t>::Append(lengths, shortest, longest, &offsets_, body);
}

void BytesEncoder::AppendValues(const ColumnVector& column, const Values& values,
                                std::string* body) {
  AppendLengths(values.lengths, body);
  body->reserve(body->size() + values.heap_bytes);
  for (const size_t row : values.rows) {
    body->append(column.bytes(row));
  }
}

}  // namespace varve
