#include "catalog/tiers/bound_texts.h"

#include <array>
#include <limits>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"
#include "catalog/relation_directory.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/tiers/statistics_keys.h"

namespace varve {
namespace {

// The bytes that the key of a string or blob has of it.
std::string_view PrefixOfKey(int128_t key, std::array<char, kKeyPrefixSize>* bytes) {
  auto rest = static_cast<uint128_t>(key);
  for (size_t i = kKeyPrefixSize; i-- > 0; rest >>= 8) {
    (*bytes)[i] = static_cast<char>(rest);
  }
  return {bytes->data(), bytes->size()};
}

std::string_view WithoutTrailingZeros(std::string_view bytes) {
  const size_t last = bytes.find_last_not_of('\0');
  return bytes.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// Appends the text of a row that is kept as a key.
absl::Status AppendTextOfKey(const Type& type, int128_t key, const ColumnVector& texts, size_t row,
                             std::string* scratch, ColumnVector* out) {
  scratch->clear();
  if (HasExactKeys(type)) {
    const std::optional<Datum> value = ValueOfKey(type, key);
    if (!value.has_value()) {
      return absl::DataLossError(
          StrCat("statistics: a key is no value of the type ", TypeName(type)));
    }
    AppendText(type, *value, scratch);
  } else {
    std::array<char, kKeyPrefixSize> bytes;
    const std::string_view prefix = PrefixOfKey(key, &bytes);
    if (texts.is_null(row)) {
      scratch->append(WithoutTrailingZeros(prefix));
    } else {
      StrAppend(scratch, prefix, texts.bytes(row));
    }
  }
  out->AppendBytes(*scratch);
  return absl::OkStatus();
}

}  // namespace

uint32_t KeyColumnOf(BoundSide side) {
  return side == BoundSide::kLower ? kMinKeyColumn : kMaxKeyColumn;
}

std::optional<BoundSide> BoundSideOf(const RelationSchema& relation, size_t column) {
  if (relation.id != kFileColumnStats) {
    return std::nullopt;
  }
  const std::string& name = relation.columns.column(column).name;
  return name == "min_value"   ? std::optional(BoundSide::kLower)
         : name == "max_value" ? std::optional(BoundSide::kUpper)
                               : std::nullopt;
}

bool IsTextOfKey(const Type& type, int128_t key, std::string_view text, std::string* scratch,
                 std::optional<std::string_view>* rest) {
  rest->reset();
  if (HasExactKeys(type)) {
    const std::optional<Datum> value = ValueOfKey(type, key);
    scratch->clear();
    if (value.has_value()) {
      AppendText(type, *value, scratch);
    }
    return value.has_value() && *scratch == text;
  }
  std::array<char, kKeyPrefixSize> bytes;
  const std::string_view prefix = PrefixOfKey(key, &bytes);
  if (text.size() <= kKeyPrefixSize) {
    return WithoutTrailingZeros(prefix) == text;
  }
  *rest = text.substr(kKeyPrefixSize);
  return text.substr(0, kKeyPrefixSize) == prefix;
}

absl::Status RestoreTexts(BoundSide side, const StoredBounds& stored, ColumnVector* out) {
  const int64_t mark = KeyTextMark(side);
  std::optional<int64_t> key_type;  // that `type` is of
  std::optional<Type> type;
  std::string scratch;
  for (size_t row = 0; row < stored.texts->size(); ++row) {
    if (stored.key_texts->is_null(row) || (stored.key_texts->int64s()[row] & mark) == 0) {
      stored.texts->is_null(row) ? out->AppendNull() : out->AppendBytes(stored.texts->bytes(row));
      continue;
    }
    if (stored.keys->is_null(row) || stored.key_types->is_null(row)) {
      return absl::DataLossError("statistics: a text is to be made of a key that is not there");
    }
    if (key_type != stored.key_types->int64s()[row]) {
      key_type = stored.key_types->int64s()[row];
      type = TypeOfKeys(*key_type);
    }
    if (!type.has_value()) {
      return absl::DataLossError(StrCat("statistics: no type has the key type ", *key_type));
    }
    VARVE_RETURN_IF_ERROR(
        AppendTextOfKey(*type, stored.keys->int128s()[row], *stored.texts, row, &scratch, out));
  }
  return absl::OkStatus();
}

}  // namespace varve
