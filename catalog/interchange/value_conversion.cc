#include "catalog/interchange/value_conversion.h"

#include "base/status.h"
#include "base/strings.h"

namespace varve {
namespace {

// Parses a number's text for a type that holds no such number as it is.
absl::Status ConvertByText(std::string text, const Type& type, BlobText blob_text,
                           std::string* scratch, Datum* datum) {
  if (type.physical() == PhysicalType::kBytes) {
    *scratch = std::move(text);
    *datum = Datum::Bytes(*scratch);
    return absl::OkStatus();
  }
  return ParseDatum(type, text, blob_text, scratch, datum);
}

absl::Status ConvertBytes(std::string_view bytes, const Type& type, Datum* datum) {
  if (type.physical() != PhysicalType::kBytes) {
    return absl::InvalidArgumentError(
        StrCat(bytes.size(), " bytes of binary data are not a ", TypeName(type)));
  }
  if (type.kind() != TypeKind::kBlob && !IsValidUtf8(bytes)) {
    return absl::InvalidArgumentError(
        StrCat(bytes.size(), " bytes of binary data are no UTF-8 text"));
  }
  *datum = Datum::Bytes(bytes);
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertValue(const SourceValue& value, const Type& type, BlobText blob_text,
                          std::string* scratch, Datum* datum) {
  switch (value.kind) {
    case SourceValue::Kind::kNull: *datum = Datum::Null(); return absl::OkStatus();
    case SourceValue::Kind::kText: return ParseDatum(type, value.text, blob_text, scratch, datum);
    case SourceValue::Kind::kBytes: return ConvertBytes(value.text, type, datum);
    case SourceValue::Kind::kInteger:
      if (type.kind() == TypeKind::kInt64) {
        *datum = Datum::Int64(value.integer);
        return absl::OkStatus();
      }
      return ConvertByText(StrCat(value.integer), type, blob_text, scratch, datum);
    case SourceValue::Kind::kReal: {
      if (type.kind() == TypeKind::kFloat64) {
        *datum = Datum::Float64(value.real);
        return absl::OkStatus();
      }
      return ConvertByText(ToText(TypeKind::kFloat64, Datum::Float64(value.real)), type, blob_text,
                           scratch, datum);
    }
  }
  return absl::InternalError("no such kind of value");
}

}  // namespace varve
