// The texts of bounds, where L2 has them as keys.
//
// A bound of file column statistics is a text, and L2 has it once more as a key
// (statistics_keys.h). Nearly always the text is what its key reads as; then the key alone is kept,
// and the column of the text has what the key does not say: of strings and blobs that are longer
// than a key what follows in them, of all else nothing (NULL). The derived column key_texts says of
// each row whose text is kept that way: bit 0 the lower bound's, bit 1 the upper one's. All other
// texts are kept as they are, whatever they are.
//
// Thread-safety: free functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/column_batch.h"
#include "base/int128.h"
#include "base/type.h"
#include "catalog/relation.h"
#include "columnar/columnar_table_reader.h"

namespace varve {

enum class BoundSide : uint8_t { kLower, kUpper };

constexpr int64_t KeyTextMark(BoundSide side) {
  return side == BoundSide::kLower ? 1 : 2;
}
// The derived column that has the keys of a side.
uint32_t KeyColumnOf(BoundSide side);

// Whose texts a column of a relation has; nullopt: it is no bound of file column statistics.
std::optional<BoundSide> BoundSideOf(const RelationSchema& relation, size_t column);

// Whether a text is what its key reads as. `rest` becomes what the key does not say: a part of
// `text`, or nullopt for nothing. `scratch` is overwritten.
bool IsTextOfKey(const Type& type, int128_t key, std::string_view text, std::string* scratch,
                 std::optional<std::string_view>* rest);

// Columns of the same rows of a table, as it has them.
struct StoredBounds {
  const ColumnVector* texts = nullptr;      // of one side: bytes
  const ColumnVector* keys = nullptr;       // of that side: int128
  const ColumnVector* key_types = nullptr;  // int64
  const ColumnVector* key_texts = nullptr;  // int64
};
// Appends the texts. DataLoss if a row has no key, or one of no type, where a text is to be made of
// it; `out` may have some of the rows then.
absl::Status RestoreTexts(BoundSide side, const StoredBounds& stored, ColumnVector* out);

}  // namespace varve
