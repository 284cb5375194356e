// Bytes that are tuples of integers, taken apart into columns of integers.
//
// The handles of most relations are keys of several ids (base/key_codec.h). As bytes they take as
// much as all ids together; as columns the table's id is constant, and the files of a table are
// steps.
//
// A value is a tuple of k fields if it is k times
//
//   0x20 + n | the n significant bytes, big-endian, of an integer 0 … 2^63 - 1
//
// (n = 0 for 0) and nothing else. A body of n values (PackEncoding::kKeyTuples):
//
//   num_fields(1), at least 1 | num_fields × (length(4) | encoded pack of n int64, none NULL)
//
// Thread-safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/column_batch.h"

namespace varve {

inline constexpr size_t kMaxTupleFields = 8;

// Sets `fields` to the columns of the tuples in the rows [from, to), and returns true; false if
// they are not all tuples of the same number of fields. Requires: from < to.
bool SplitKeyTuples(const ColumnVector& column, size_t from, size_t to,
                    std::vector<ColumnVector>* fields);

// Appends the tuples that the fields are of. DataLoss if an integer is negative, or if the tuples
// would expand further than ExpansionIsBounded (compression.h) allows for a body of `stored` bytes;
// the column is then as it was. Requires: fields, equally long.
absl::Status JoinKeyTuples(std::span<const ColumnVector> fields, size_t stored,
                           ColumnVector* column);

}  // namespace varve
