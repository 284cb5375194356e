#include "catalog/handle.h"

#include "base/coding.h"
#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"

namespace varve {
namespace {

absl::Status WrongType(const ColumnSchema& column) {
  return absl::InvalidArgumentError(
      StrCat("key column '", column.name, "' is no ", TypeName(column.type)));
}

// `value_at(i)` is the value of the i-th handle column.
template <typename ValueAt>
absl::Status AppendColumns(const RelationSchema& relation, size_t count, const ValueAt& value_at,
                           std::string* out) {
  const size_t start = out->size();
  for (size_t i = 0; i < count; ++i) {
    const ColumnSchema& column = relation.columns.column(relation.handle[i]);
    const Datum& value = value_at(i);
    if (!value.is_null() && value.physical() != column.type.physical()) {
      return WrongType(column);
    }
    if (relation.handle_kind == HandleKind::kInt) {
      if (value.is_null()) {
        return absl::InvalidArgumentError(
            StrCat("column ", column.name, " is NULL; it identifies the row and needs a value"));
      }
      AppendIntHandle(value.int64_value(), out);
    } else {
      AppendKey(value, out);
    }
  }
  if (const size_t size = out->size() - start; size > kMaxHandleSize) {
    return absl::InvalidArgumentError(StrCat(relation.name, ": the key columns of a row take ",
                                             size, " bytes; at most ", kMaxHandleSize,
                                             " are kept"));
  }
  return absl::OkStatus();
}

absl::Status Malformed(const RelationSchema& relation, std::string_view handle) {
  return absl::DataLossError(StrCat(relation.name, ": key 0x", BytesToHexString(handle),
                                    " is no handle of this relation"));
}

}  // namespace

absl::Status AppendHandle(const RelationSchema& relation, std::span<const Datum> key,
                          std::string* out) {
  if (relation.handle_kind == HandleKind::kRowNumber) {
    return absl::InvalidArgumentError(
        StrCat(relation.name, " has no key columns; scan it instead"));
  }
  if (key.size() != relation.handle.size()) {
    return absl::InvalidArgumentError(StrCat(relation.name, " is identified by ",
                                             relation.handle.size(), " columns, ", key.size(),
                                             " values were given"));
  }
  return AppendColumns(
      relation, key.size(), [&](size_t i) -> const Datum& { return key[i]; }, out);
}

absl::Status AppendHandleOfRow(const RelationSchema& relation, std::span<const Datum> row,
                               std::string* out) {
  return AppendColumns(
      relation, relation.handle.size(),
      [&](size_t i) -> const Datum& { return row[relation.handle[i]]; }, out);
}

void AppendOrdinal(uint32_t ordinal, std::string* out) {
  if (ordinal != 0) {
    PutBigEndian(out, ordinal | kOrdinalMark);
  }
}

absl::Status AppendHandlePrefix(const RelationSchema& relation, std::span<const Datum> leading,
                                std::string* out) {
  if (leading.size() > relation.handle.size()) {
    return absl::InvalidArgumentError(StrCat(relation.name, " has ", relation.handle.size(),
                                             " key columns, ", leading.size(), " were given"));
  }
  return AppendColumns(
      relation, leading.size(), [&](size_t i) -> const Datum& { return leading[i]; }, out);
}

absl::Status DecodeHandle(const RelationSchema& relation, std::string_view handle,
                          DecodedHandle* decoded) {
  std::string_view rest = handle;
  decoded->key.resize(relation.handle.size());
  decoded->ordinal = 0;
  switch (relation.handle_kind) {
    case HandleKind::kRowNumber:
      if (!ReadIntHandle(&rest, &decoded->row_number) || !rest.empty()) {
        return Malformed(relation, handle);
      }
      return absl::OkStatus();
    case HandleKind::kInt: {
      int64_t value = 0;
      if (!ReadIntHandle(&rest, &value)) {
        return Malformed(relation, handle);
      }
      decoded->key[0] = Datum::Int64(value);
      break;
    }
    case HandleKind::kCommon:
      decoded->scratch.resize(relation.handle.size());
      for (size_t i = 0; i < relation.handle.size(); ++i) {
        decoded->scratch[i].clear();
        const PhysicalType type = relation.columns.column(relation.handle[i]).type.physical();
        if (!ReadKey(&rest, type, &decoded->scratch[i], &decoded->key[i])) {
          return Malformed(relation, handle);
        }
      }
      break;
  }
  if (rest.empty()) {
    return absl::OkStatus();
  }
  uint32_t marked = 0;
  if (rest.size() != kOrdinalSize || !GetBigEndian(&rest, &marked) ||
      (marked & kOrdinalMark) == 0 || marked == kOrdinalMark || !relation.may_repeat()) {
    return Malformed(relation, handle);
  }
  decoded->ordinal = marked & ~kOrdinalMark;
  return absl::OkStatus();
}

std::string_view HandleWithoutOrdinal(const RelationSchema& relation, std::string_view handle) {
  std::string_view rest = handle;
  if (relation.handle_kind != HandleKind::kCommon) {
    return handle.substr(0, kIntHandleSize);
  }
  for (size_t i = 0; i < relation.handle.size(); ++i) {
    if (!SkipKey(&rest)) {
      return handle;
    }
  }
  return handle.substr(0, handle.size() - rest.size());
}

std::string HandleToText(const RelationSchema& relation, std::string_view handle) {
  DecodedHandle decoded;
  if (!DecodeHandle(relation, handle, &decoded).ok()) {
    return StrCat("0x", BytesToHexString(handle));
  }
  if (relation.handle_kind == HandleKind::kRowNumber) {
    return StrCat("row ", decoded.row_number);
  }
  std::string text;
  for (size_t i = 0; i < decoded.key.size(); ++i) {
    const ColumnSchema& column = relation.columns.column(relation.handle[i]);
    StrAppend(&text, i == 0 ? "" : " ", column.name, "=");
    if (decoded.key[i].is_null()) {
      text.append("NULL");
    } else {
      AppendText(column.type, decoded.key[i], &text);
    }
  }
  if (decoded.ordinal != 0) {
    StrAppend(&text, " #", decoded.ordinal);
  }
  return text;
}

}  // namespace varve
