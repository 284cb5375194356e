#include "base/type.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/strings.h"

namespace varve {
namespace {

constexpr int kMaxDecimalPrecision = 38;

// What may stand in parentheses behind a type's name.
enum class Arguments : uint8_t {
  kNone,
  kLength,     // varchar(20), timestamp(6): one number, which does not change how values are kept
  kPrecision,  // decimal(12,2), decimal(12): part of the type, and required
};

struct Spelling {
  std::string_view name;  // lower case, single spaces
  TypeKind kind;
  Arguments arguments = Arguments::kNone;
};

// int8, int4 and int2 count bytes here, as in PostgreSQL and DuckDB. (DuckLake's own column types
// count bits: int8 is a tinyint there. Those never reach this table.)
constexpr auto kSpellings = std::to_array<Spelling>({
    {"boolean", TypeKind::kBoolean},
    {"bool", TypeKind::kBoolean},
    {"logical", TypeKind::kBoolean},
    {"tinyint", TypeKind::kInt8},
    {"int1", TypeKind::kInt8},
    {"smallint", TypeKind::kInt16},
    {"int2", TypeKind::kInt16},
    {"integer", TypeKind::kInt32},
    {"int", TypeKind::kInt32},
    {"int4", TypeKind::kInt32},
    {"bigint", TypeKind::kInt64},
    {"int8", TypeKind::kInt64},
    {"hugeint", TypeKind::kInt128},
    {"utinyint", TypeKind::kUInt8},
    {"usmallint", TypeKind::kUInt16},
    {"uinteger", TypeKind::kUInt32},
    {"ubigint", TypeKind::kUInt64},
    {"uhugeint", TypeKind::kUInt128},
    {"real", TypeKind::kFloat32},
    {"float", TypeKind::kFloat32},
    {"float4", TypeKind::kFloat32},
    {"double precision", TypeKind::kFloat64},
    {"double", TypeKind::kFloat64},
    {"float8", TypeKind::kFloat64},
    {"decimal", TypeKind::kDecimal, Arguments::kPrecision},
    {"numeric", TypeKind::kDecimal, Arguments::kPrecision},
    {"dec", TypeKind::kDecimal, Arguments::kPrecision},
    {"date", TypeKind::kDate},
    {"time", TypeKind::kTime, Arguments::kLength},
    {"time without time zone", TypeKind::kTime, Arguments::kLength},
    {"timestamp", TypeKind::kTimestamp, Arguments::kLength},
    {"timestamp without time zone", TypeKind::kTimestamp, Arguments::kLength},
    {"timestamp_us", TypeKind::kTimestamp},
    {"datetime", TypeKind::kTimestamp},
    {"timestamp with time zone", TypeKind::kTimestampTz, Arguments::kLength},
    {"timestamptz", TypeKind::kTimestampTz, Arguments::kLength},
    {"timestamp_s", TypeKind::kTimestampS},
    {"timestamp_ms", TypeKind::kTimestampMs},
    {"timestamp_ns", TypeKind::kTimestampNs},
    {"interval", TypeKind::kInterval, Arguments::kLength},
    {"varchar", TypeKind::kVarchar, Arguments::kLength},
    {"character varying", TypeKind::kVarchar, Arguments::kLength},
    {"char", TypeKind::kVarchar, Arguments::kLength},
    {"character", TypeKind::kVarchar, Arguments::kLength},
    {"bpchar", TypeKind::kVarchar, Arguments::kLength},
    {"text", TypeKind::kVarchar},
    {"string", TypeKind::kVarchar},
    {"json", TypeKind::kJson},
    {"jsonb", TypeKind::kJson},
    {"blob", TypeKind::kBlob},
    {"bytea", TypeKind::kBlob},
    {"binary", TypeKind::kBlob},
    {"varbinary", TypeKind::kBlob},
    {"uuid", TypeKind::kUuid},
});

// A declaration taken apart: "Timestamp (6)  WITH time zone" is "timestamp with time zone" and {6}.
struct Declaration {
  std::string name;
  std::vector<int> arguments;
};

// nullopt for what has no scalar type's form, such as struct(a integer, b text).
std::optional<Declaration> TakeApart(std::string_view text) {
  Declaration result;
  std::string name(text);
  const size_t open = text.find('(');
  if (open != std::string_view::npos) {
    const size_t close = text.find(')', open);
    if (close == std::string_view::npos) {
      return std::nullopt;
    }
    for (const absl::string_view part :
         absl::StrSplit(ToAbsl(text.substr(open + 1, close - open - 1)), ',')) {
      const std::optional<int> argument =
          ParseNumber<int>(FromAbsl(absl::StripAsciiWhitespace(part)));
      if (!argument.has_value() || *argument < 0) {
        return std::nullopt;
      }
      result.arguments.push_back(*argument);
    }
    name = StrCat(text.substr(0, open), " ", text.substr(close + 1));
  }
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return absl::ascii_isspace(static_cast<unsigned char>(c)); }, ' ');
  absl::RemoveExtraAsciiWhitespace(&name);
  result.name = AsciiStrToLower(name);
  return result;
}

// numeric without arguments holds any number of digits in PostgreSQL: only text can keep that.
Type DecimalOf(const std::vector<int>& arguments) {
  if (arguments.empty() || arguments.size() > 2) {
    return TypeKind::kText;
  }
  const int precision = arguments[0];
  const int scale = arguments.size() == 2 ? arguments[1] : 0;
  if (precision < 1 || precision > kMaxDecimalPrecision || scale > precision) {
    return TypeKind::kText;
  }
  return Type::Decimal(static_cast<uint8_t>(precision), static_cast<uint8_t>(scale));
}

}  // namespace

std::string TypeName(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean: return "boolean";
    case TypeKind::kInt8: return "tinyint";
    case TypeKind::kInt16: return "smallint";
    case TypeKind::kInt32: return "integer";
    case TypeKind::kInt64: return "bigint";
    case TypeKind::kInt128: return "hugeint";
    case TypeKind::kUInt8: return "utinyint";
    case TypeKind::kUInt16: return "usmallint";
    case TypeKind::kUInt32: return "uinteger";
    case TypeKind::kUInt64: return "ubigint";
    case TypeKind::kUInt128: return "uhugeint";
    case TypeKind::kFloat32: return "real";
    case TypeKind::kFloat64: return "double precision";
    case TypeKind::kDecimal:
      return StrCat("decimal(", static_cast<int>(type.precision()), ",",
                    static_cast<int>(type.scale()), ")");
    case TypeKind::kDate: return "date";
    case TypeKind::kTime: return "time";
    case TypeKind::kTimestamp: return "timestamp";
    case TypeKind::kTimestampTz: return "timestamp with time zone";
    case TypeKind::kTimestampS: return "timestamp_s";
    case TypeKind::kTimestampMs: return "timestamp_ms";
    case TypeKind::kTimestampNs: return "timestamp_ns";
    case TypeKind::kInterval: return "interval";
    case TypeKind::kVarchar: return "varchar";
    case TypeKind::kJson: return "json";
    case TypeKind::kBlob: return "blob";
    case TypeKind::kUuid: return "uuid";
    case TypeKind::kText: return "text";
  }
  return "text";
}

Type TypeFromDeclaration(std::string_view declaration) {
  const std::optional<Declaration> parts = TakeApart(declaration);
  if (!parts.has_value()) {
    return TypeKind::kText;
  }
  for (const Spelling& spelling : kSpellings) {
    if (spelling.name != parts->name) {
      continue;
    }
    const size_t count = parts->arguments.size();
    switch (spelling.arguments) {
      case Arguments::kNone: return count == 0 ? Type(spelling.kind) : Type(TypeKind::kText);
      case Arguments::kLength: return count <= 1 ? Type(spelling.kind) : Type(TypeKind::kText);
      case Arguments::kPrecision: return DecimalOf(parts->arguments);
    }
  }
  return TypeKind::kText;
}

}  // namespace varve
