#include "base/text.h"

#include <limits>

#include "base/interval.h"
#include "base/number_text.h"
#include "base/strings.h"
#include "base/temporal.h"
#include "base/text_scanner.h"

namespace varve {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

// What a fault is told with: values are shown up to this many bytes.
constexpr size_t kMaxShownBytes = 60;

TextFault ParseBoolean(std::string_view text, bool* value) {
  if (text == "1" || EqualsIgnoreCase(text, "t") || EqualsIgnoreCase(text, "true")) {
    *value = true;
    return TextFault::kNone;
  }
  if (text == "0" || EqualsIgnoreCase(text, "f") || EqualsIgnoreCase(text, "false")) {
    *value = false;
    return TextFault::kNone;
  }
  return TextFault::kMalformed;
}

// The value of a hex digit of either case; -1 for anything else.
int HexValue(char c) {
  if (absl::ascii_isdigit(static_cast<unsigned char>(c))) {
    return c - '0';
  }
  const char lower = absl::ascii_tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

TextFault ParseUuid(std::string_view text, int128_t* value) {
  constexpr size_t kUuidLength = 36;
  if (text.size() != kUuidLength) {
    return TextFault::kMalformed;
  }
  uint128_t bits = 0;
  for (size_t i = 0; i < kUuidLength; ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i] != '-') {
        return TextFault::kMalformed;
      }
      continue;
    }
    const int digit = HexValue(text[i]);
    if (digit < 0) {
      return TextFault::kMalformed;
    }
    bits = bits << 4 | static_cast<uint128_t>(digit);
  }
  *value = static_cast<int128_t>(bits ^ kInt128SignBit);
  return TextFault::kNone;
}

// Appends the byte that two hex digits spell. Requires: text has two characters.
bool AppendHexByte(std::string_view text, std::string* out) {
  const int high = HexValue(text[0]);
  const int low = HexValue(text[1]);
  if (high < 0 || low < 0) {
    return false;
  }
  out->push_back(static_cast<char>(high << 4 | low));
  return true;
}

// \x followed by two hex digits a byte.
bool ParseHexBlob(std::string_view text, std::string* bytes) {
  if (!text.starts_with("\\x") || text.size() % 2 != 0) {
    return false;
  }
  bytes->clear();
  for (size_t i = 2; i < text.size(); i += 2) {
    if (!AppendHexByte(text.substr(i, 2), bytes)) {
      return false;
    }
  }
  return true;
}

// ASCII characters stand for themselves, except that each \ begins a byte written as \xNN.
bool ParseEscapedBlob(std::string_view text, std::string* bytes) {
  bytes->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) {
      return false;
    }
    if (text[i] != '\\') {
      bytes->push_back(text[i]);
      continue;
    }
    if (text.size() - i < 4 || text[i + 1] != 'x' || !AppendHexByte(text.substr(i + 2, 2), bytes)) {
      return false;
    }
    i += 3;
  }
  return true;
}

TimestampFormat FormatOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTimestampS: return {.ticks_per_second = 1};
    case TypeKind::kTimestampMs: return {.ticks_per_second = 1'000};
    case TypeKind::kTimestampNs: return {.ticks_per_second = 1'000'000'000};
    case TypeKind::kTimestampTz: return {.with_zone = true};
    default: return {};
  }
}

template <typename T>
TextFault ParseIntegerOf(std::string_view text, int64_t* value) {
  return ParseInteger(text, std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), value);
}

// Of a type that is kept as int64.
TextFault ParseInt64Value(const Type& type, std::string_view text, int64_t* value) {
  switch (type.kind()) {
    case TypeKind::kInt8: return ParseIntegerOf<int8_t>(text, value);
    case TypeKind::kInt16: return ParseIntegerOf<int16_t>(text, value);
    case TypeKind::kInt32: return ParseIntegerOf<int32_t>(text, value);
    case TypeKind::kInt64: return ParseIntegerOf<int64_t>(text, value);
    case TypeKind::kUInt8: return ParseIntegerOf<uint8_t>(text, value);
    case TypeKind::kUInt16: return ParseIntegerOf<uint16_t>(text, value);
    case TypeKind::kUInt32: return ParseIntegerOf<uint32_t>(text, value);
    case TypeKind::kDate: return ParseDate(text, value);
    case TypeKind::kTime: return ParseTime(text, value);
    case TypeKind::kDecimal: {
      int128_t wide = 0;
      const TextFault fault = ParseDecimal(text, type.precision(), type.scale(), &wide);
      *value = static_cast<int64_t>(wide);
      return fault;
    }
    default: return ParseTimestamp(text, FormatOf(type.kind()), value);
  }
}

// Of a type that is kept as int128.
TextFault ParseInt128Value(const Type& type, std::string_view text, int128_t* value) {
  switch (type.kind()) {
    case TypeKind::kUInt64:
      return ParseWideInteger(text, 0, std::numeric_limits<uint64_t>::max(), value);
    case TypeKind::kDecimal: return ParseDecimal(text, type.precision(), type.scale(), value);
    case TypeKind::kUuid: return ParseUuid(text, value);
    case TypeKind::kUInt128: {
      uint128_t number = 0;
      const TextFault fault = ParseUnsigned128(text, &number);
      *value = static_cast<int128_t>(number ^ kInt128SignBit);
      return fault;
    }
    case TypeKind::kInterval: {
      Interval interval;
      const TextFault fault = ParseInterval(text, &interval);
      *value = PackInterval(interval);
      return fault;
    }
    default: return ParseWideInteger(text, kInt128Min, kInt128Max, value);
  }
}

// Of a type that is kept as bytes.
TextFault ParseBytesValue(const Type& type, std::string_view text, BlobText blob_text,
                          std::string* scratch, std::string_view* value) {
  if (type.kind() == TypeKind::kBlob) {
    const bool well_formed =
        blob_text == BlobText::kHex ? ParseHexBlob(text, scratch) : ParseEscapedBlob(text, scratch);
    *value = *scratch;
    return well_formed ? TextFault::kNone : TextFault::kMalformed;
  }
  *value = text;
  return IsValidUtf8(text) ? TextFault::kNone : TextFault::kNotUtf8;
}

TextFault ParseValue(const Type& type, std::string_view text, BlobText blob_text,
                     std::string* scratch, Datum* value) {
  TextFault fault = TextFault::kNone;
  Datum parsed;
  switch (type.physical()) {
    case PhysicalType::kBool: {
      bool truth = false;
      fault = ParseBoolean(text, &truth);
      parsed = Datum::Bool(truth);
      break;
    }
    case PhysicalType::kInt64: {
      int64_t number = 0;
      fault = ParseInt64Value(type, text, &number);
      parsed = Datum::Int64(number);
      break;
    }
    case PhysicalType::kInt128: {
      int128_t number = 0;
      fault = ParseInt128Value(type, text, &number);
      parsed = Datum::Int128(number);
      break;
    }
    case PhysicalType::kFloat64: {
      double number = 0;
      fault = type.kind() == TypeKind::kFloat32 ? ParseFloat32(text, &number)
                                                : ParseFloat64(text, &number);
      parsed = Datum::Float64(number);
      break;
    }
    case PhysicalType::kBytes: {
      std::string_view bytes;
      fault = ParseBytesValue(type, text, blob_text, scratch, &bytes);
      parsed = Datum::Bytes(bytes);
      break;
    }
  }
  if (fault == TextFault::kNone) {
    *value = parsed;
  }
  return fault;
}

// The text in quotes, on one line whatever it holds: what is no printable ASCII or valid UTF-8 is
// written as \xNN, and a long text is cut.
std::string Quoted(std::string_view text) {
  const bool is_utf8 = IsValidUtf8(text);
  std::string_view shown = text;
  if (shown.size() > kMaxShownBytes) {
    size_t cut = kMaxShownBytes;
    while (is_utf8 && cut > 0 && (static_cast<unsigned char>(shown[cut]) & 0xc0) == 0x80) {
      --cut;  // not inside a character
    }
    shown = shown.substr(0, cut);
  }
  std::string result = "'";
  for (const char c : shown) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_utf8)) {
      StrAppend(&result, "\\x", kHexDigits.substr(byte >> 4, 1), kHexDigits.substr(byte & 0xf, 1));
    } else {
      result.push_back(c);
    }
  }
  if (shown.size() < text.size()) {
    StrAppend(&result, "...' (", text.size(), " bytes)");
  } else {
    result.push_back('\'');
  }
  return result;
}

absl::Status ErrorOf(TextFault fault, const Type& type, std::string_view text, BlobText blob_text) {
  const std::string name = TypeName(type);
  const std::string value = Quoted(text);
  // Of these names only those with "i" begin with a vowel's sound; "ubigint" is "a you-bigint".
  const std::string_view article = name.front() == 'i' ? "an " : "a ";
  switch (fault) {
    case TextFault::kNone: return absl::OkStatus();
    case TextFault::kOutOfRange:
      return absl::InvalidArgumentError(StrCat(value, " is out of range for ", name));
    case TextFault::kTooPrecise:
      return absl::InvalidArgumentError(
          StrCat(value, " has more digits after the point than ", name, " holds"));
    case TextFault::kNoSuchDay:
      return absl::InvalidArgumentError(
          StrCat(value, " is not ", article, name, ": the calendar has no such day"));
    case TextFault::kHasZone:
      return absl::InvalidArgumentError(
          StrCat(value, " is not ", article, name, ": it names an offset from UTC"));
    case TextFault::kNotUtf8:
      return absl::InvalidArgumentError(
          StrCat(value, " is not ", article, name, ": it is not valid UTF-8"));
    case TextFault::kMalformed: break;
  }
  std::string_view expected;
  if (type.kind() == TypeKind::kBlob) {
    expected = blob_text == BlobText::kHex ? ": expected \\x and pairs of hex digits"
                                           : ": expected ASCII, other bytes as \\xNN";
  }
  return absl::InvalidArgumentError(StrCat(value, " is not ", article, name, expected));
}

void AppendUuid(int128_t value, std::string* out) {
  const uint128_t bits = static_cast<uint128_t>(value) ^ kInt128SignBit;
  for (int digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) {
      out->push_back('-');
    }
    out->push_back(kHexDigits[static_cast<size_t>(bits >> (4 * (31 - digit))) & 0xf]);
  }
}

}  // namespace

absl::Status ParseDatum(const Type& type, std::string_view text, BlobText blob_text,
                        std::string* scratch, Datum* value) {
  const TextFault fault = ParseValue(type, text, blob_text, scratch, value);
  return fault == TextFault::kNone ? absl::OkStatus() : ErrorOf(fault, type, text, blob_text);
}

void AppendText(const Type& type, const Datum& value, std::string* out) {
  switch (type.kind()) {
    case TypeKind::kBoolean: out->append(value.bool_value() ? "true" : "false"); return;
    case TypeKind::kInt8:
    case TypeKind::kInt16:
    case TypeKind::kInt32:
    case TypeKind::kInt64:
    case TypeKind::kUInt8:
    case TypeKind::kUInt16:
    case TypeKind::kUInt32: AppendInteger(value.int64_value(), out); return;
    case TypeKind::kInt128:
    case TypeKind::kUInt64: AppendInt128(value.int128_value(), out); return;
    case TypeKind::kUInt128:
      AppendUInt128(static_cast<uint128_t>(value.int128_value()) ^ kInt128SignBit, out);
      return;
    case TypeKind::kFloat32: AppendFloat32(value.float64_value(), out); return;
    case TypeKind::kFloat64: AppendFloat64(value.float64_value(), out); return;
    case TypeKind::kDecimal:
      AppendDecimal(
          type.physical() == PhysicalType::kInt64 ? value.int64_value() : value.int128_value(),
          type.scale(), out);
      return;
    case TypeKind::kDate: AppendDate(value.int64_value(), out); return;
    case TypeKind::kTime: AppendTime(value.int64_value(), out); return;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampS:
    case TypeKind::kTimestampMs:
    case TypeKind::kTimestampNs:
      AppendTimestamp(value.int64_value(), FormatOf(type.kind()), out);
      return;
    case TypeKind::kInterval: AppendInterval(UnpackInterval(value.int128_value()), out); return;
    case TypeKind::kVarchar:
    case TypeKind::kJson:
    case TypeKind::kText: out->append(value.bytes()); return;
    case TypeKind::kBlob:
      out->append("\\x");
      out->append(BytesToHexString(value.bytes()));
      return;
    case TypeKind::kUuid: AppendUuid(value.int128_value(), out); return;
  }
}

std::string ToText(const Type& type, const Datum& value) {
  std::string text;
  AppendText(type, value, &text);
  return text;
}

}  // namespace varve
