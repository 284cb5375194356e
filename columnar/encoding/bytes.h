// Encodings of the byte strings of a pack.
//
// Format of a body of n values, all integers little-endian; block<int64> as in integers.h:
//
//   plain       block<int64>(n): length of each value | the values one after the other
//   constant    the value, for all n
//   run-length  num_runs(4) | block<int64>(num_runs): lengths of the runs, at least 1, together n
//               | block<int64>(num_runs): length of the value of each run | these values
//   dictionary  num_entries(4) | width(1) | codes: n numbers below num_entries, packed
//               (bit_packing.h) | block<int64>(num_entries): length of each entry | the entries
//
// The values at the end take exactly the rest of the body. All but plain need n >= 1 and keep
// ExpansionIsBounded (compression.h). The encoder takes the smallest (it looks at dictionaries of
// n / 2 entries at most); of equal ones the first of constant, dictionary, run-length, plain.
//
// Thread-safety: none; the objects own scratch memory and are meant to be reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/column_batch.h"
#include "columnar/encoding/pack_encoding.h"

namespace varve {

class BytesEncoder {
 public:
  // Appends the body of the column's rows [from, to) in the encoding it returns.
  PackEncoding Encode(const ColumnVector& column, size_t from, size_t to, std::string* body);

 private:
  // Distinct values, or values of runs: which row has each, and what they take.
  struct Values {
    std::vector<size_t> rows;
    std::vector<int64_t> lengths;
    size_t heap_bytes = 0;
    void Clear();
    void Add(size_t row, size_t length);
  };

  void FindRuns(const ColumnVector& column, size_t from, size_t to);
  // Fills entries_ and codes_; false when there are more than `max_entries` different values.
  bool BuildDictionary(const ColumnVector& column, size_t from, size_t to, size_t max_entries);
  void AppendLengths(std::span<const int64_t> lengths, std::string* body);
  void AppendValues(const ColumnVector& column, const Values& values, std::string* body);

  Values runs_;
  Values entries_;
  std::vector<int64_t> run_lengths_;
  std::vector<int64_t> lengths_;  // of all rows
  std::vector<uint64_t> codes_;
  std::vector<uint64_t> offsets_;  // of a block that is being written
  struct Slot {
    uint32_t hash = 0;
    uint32_t entry = 0;  // 1 + its number; 0: empty
  };
  std::vector<Slot> slots_;
};

class BytesDecoder {
 public:
  // Appends the values [from, to) of the `rows` in the body.
  absl::Status Decode(PackEncoding encoding, std::string_view body, size_t rows, size_t from,
                      size_t to, ColumnVector* column);

  // Appends those named by `selection`, ascending numbers below `rows`.
  absl::Status Gather(PackEncoding encoding, std::string_view body, size_t rows,
                      std::span<const uint32_t> selection, ColumnVector* column);

 private:
  // What a body holds once, and the bits that say which row has which.
  struct Body {
    std::string_view heap;   // value i is [starts_[i], starts_[i + 1])
    std::string_view codes;  // of a dictionary
    int width = 0;
    size_t num_values = 0;
  };
  absl::Status Read(PackEncoding encoding, std::string_view body, size_t rows, Body* parts);
  absl::Status ReadRuns(std::string_view* body, size_t rows, Body* parts);
  absl::Status ReadDictionary(std::string_view* body, size_t rows, Body* parts);
  // Reads the lengths of the body's values into starts_; the rest of the body becomes the heap.
  absl::Status ReadValues(std::string_view body, std::string_view what, Body* parts);
  // Sets codes_ to the value numbers of the rows [from, to).
  void FillCodes(PackEncoding encoding, const Body& parts, size_t from, size_t to);
  // Appends the values that codes_ name. `stored` is the size of the body.
  absl::Status AppendCoded(const Body& parts, size_t stored, ColumnVector* column);

  std::vector<size_t> starts_;
  std::vector<int64_t> lengths_;  // of values
  std::vector<int64_t> run_lengths_;
  std::vector<uint64_t> codes_;
};

}  // namespace varve
