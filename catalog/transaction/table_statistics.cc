#include "catalog/transaction/table_statistics.h"

#include <algorithm>
#include <array>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"

namespace varve {
namespace {

struct NamedType {
  std::string_view name;
  TypeKind kind;
};

// DuckLake's own names (specification, data types); some mean something else in SQL ("int8").
constexpr auto kScalarTypes = std::to_array<NamedType>({
    {"boolean", TypeKind::kBoolean},
    {"int8", TypeKind::kInt8},
    {"int16", TypeKind::kInt16},
    {"int32", TypeKind::kInt32},
    {"int64", TypeKind::kInt64},
    {"int128", TypeKind::kInt128},
    {"uint8", TypeKind::kUInt8},
    {"uint16", TypeKind::kUInt16},
    {"uint32", TypeKind::kUInt32},
    {"uint64", TypeKind::kUInt64},
    {"uint128", TypeKind::kUInt128},
    {"float32", TypeKind::kFloat32},
    {"float64", TypeKind::kFloat64},
    {"date", TypeKind::kDate},
    {"time", TypeKind::kTime},
    {"timestamp", TypeKind::kTimestamp},
    {"timestamptz", TypeKind::kTimestampTz},
    {"timestamp_s", TypeKind::kTimestampS},
    {"timestamp_ms", TypeKind::kTimestampMs},
    {"timestamp_us", TypeKind::kTimestamp},
    {"timestamp_ns", TypeKind::kTimestampNs},
    {"interval", TypeKind::kInterval},
    {"varchar", TypeKind::kVarchar},
    {"json", TypeKind::kJson},
    {"blob", TypeKind::kBlob},
    {"uuid", TypeKind::kUuid},
});

// Types whose values are kept as text, though their order is not that of the text.
constexpr auto kOtherTypes = std::to_array<std::string_view>({
    "timetz",
    "list",
    "struct",
    "map",
    "variant",
    "geometry",
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "linestring z",
    "geometrycollection",
});

const NamedType* FindScalar(std::string_view name) {
  const auto* found =
      std::find_if(kScalarTypes.begin(), kScalarTypes.end(),
                   [&](const NamedType& type) { return EqualsIgnoreCase(type.name, name); });
  return found == kScalarTypes.end() ? nullptr : found;
}

std::optional<Type> ParseDecimal(std::string_view name) {
  if (!StartsWithIgnoreCase(name, "decimal(")) {
    return std::nullopt;
  }
  const Type type = TypeFromDeclaration(name);
  return type.kind() == TypeKind::kDecimal ? std::optional(type) : std::nullopt;
}

// Takes the added bound where it lies beyond the other one in the direction of `beyond`.
absl::Status WidenBound(const Type& type, const std::optional<std::string>& added,
                        std::strong_ordering beyond, std::optional<std::string>* bound) {
  if (!added.has_value() || !bound->has_value()) {
    bound->reset();  // unknown for one is unknown for both
    return absl::OkStatus();
  }
  if (*added == **bound) {
    return absl::OkStatus();
  }
  Datum have;
  Datum came;
  std::string have_scratch;
  std::string came_scratch;
  VARVE_RETURN_IF_ERROR(ParseBound(type, **bound, &have_scratch, &have));
  VARVE_RETURN_IF_ERROR(ParseBound(type, *added, &came_scratch, &came));
  if (CompareDatums(came, have) == beyond) {
    *bound = added;
  }
  return absl::OkStatus();
}

std::optional<std::string> StoredText(const Datum& value) {
  return value.is_null() ? std::nullopt : std::optional<std::string>(value.bytes());
}
std::optional<bool> StoredBool(const Datum& value) {
  return value.is_null() ? std::nullopt : std::optional<bool>(value.bool_value());
}
// A bound that reads by the type; others say nothing.
std::optional<std::string> StoredBound(const Type& type, const Datum& value) {
  std::string scratch;
  Datum parsed;
  return !value.is_null() && ParseBound(type, value.bytes(), &scratch, &parsed).ok()
             ? StoredText(value)
             : std::nullopt;
}

ColumnBounds BoundsOfRow(const Type& type, const Row& row) {
  ColumnBounds bounds = {.contains_null = StoredBool(row[2]),
                         .contains_nan = StoredBool(row[3]),
                         .min_value = StoredBound(type, row[4]),
                         .max_value = StoredBound(type, row[5]),
                         .extra_stats = StoredText(row[6])};
  const bool says_nothing = row[4].is_null() && row[5].is_null() && row[6].is_null();
  bounds.has_values = !says_nothing || bounds.contains_null != true;
  return bounds;
}

void SetText(size_t column, const std::optional<std::string>& text, Row* row) {
  row->Set(column, text.has_value() ? Datum::Bytes(*text) : Datum());
}
void SetBool(size_t column, std::optional<bool> value, Row* row) {
  row->Set(column, value.has_value() ? Datum::Bool(*value) : Datum());
}

}  // namespace

Type TypeOfColumn(std::string_view ducklake_type) {
  if (const NamedType* const scalar = FindScalar(ducklake_type); scalar != nullptr) {
    return scalar->kind;
  }
  return ParseDecimal(ducklake_type).value_or(TypeKind::kVarchar);
}

bool IsDuckLakeType(std::string_view ducklake_type) {
  return FindScalar(ducklake_type) != nullptr || ParseDecimal(ducklake_type).has_value() ||
         std::any_of(kOtherTypes.begin(), kOtherTypes.end(),
                     [&](std::string_view name) { return EqualsIgnoreCase(name, ducklake_type); });
}

bool HasBounds(std::string_view ducklake_type) {
  return FindScalar(ducklake_type) != nullptr || ParseDecimal(ducklake_type).has_value();
}

absl::Status ParseBound(const Type& type, std::string_view text, std::string* scratch,
                        Datum* value) {
  return ParseDatum(type, text, BlobText::kEscaped, scratch, value);
}

std::string BoundText(const Type& type, const Datum& value, std::string_view text) {
  if (type.kind() != TypeKind::kBlob) {
    return std::string(text);
  }
  std::string escaped;
  for (const char c : value.bytes()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f && c != '\\' && c != '\'' && c != '"';
    if (plain) {
      escaped.push_back(c);
    } else {
      StrAppend(&escaped, "\\x", absl::AsciiStrToUpper(BytesToHexString({&c, 1})));
    }
  }
  return escaped;
}

absl::Status Widen(const Type& type, const ColumnBounds& added, ColumnBounds* bounds) {
  ColumnBounds widened = *bounds;
  widened.contains_null = EitherIs(added.contains_null, bounds->contains_null);
  widened.contains_nan = EitherIs(added.contains_nan, bounds->contains_nan);
  if (!bounds->has_values) {
    widened.has_values = added.has_values;
    widened.min_value = added.min_value;
    widened.max_value = added.max_value;
    widened.extra_stats = added.extra_stats;
  } else if (added.has_values) {
    VARVE_RETURN_IF_ERROR(
        WidenBound(type, added.min_value, std::strong_ordering::less, &widened.min_value));
    VARVE_RETURN_IF_ERROR(
        WidenBound(type, added.max_value, std::strong_ordering::greater, &widened.max_value));
    if (added.extra_stats != widened.extra_stats) {
      widened.extra_stats.reset();
    }
  }
  *bounds = std::move(widened);
  return absl::OkStatus();
}

Row ApplyToTableStats(int64_t table_id, const std::optional<Row>& row,
                      const TableStatisticsDelta& delta) {
  Row applied = row.has_value() ? *row : Row(4);
  applied.Set(0, Datum::Int64(table_id));
  const auto add = [&](size_t column, int64_t count) {
    const int64_t before = applied[column].is_null() ? 0 : applied[column].int64_value();
    applied.Set(column, Datum::Int64(SaturatingSum(before, count)));
  };
  add(1, delta.record_count);
  add(2, delta.row_ids);
  add(3, delta.file_size_bytes);
  return applied;
}

absl::StatusOr<Row> ApplyToColumnStats(int64_t table_id, int64_t column_id,
                                       const std::optional<Row>& row,
                                       const TableStatisticsDelta::Column& delta) {
  ColumnBounds bounds = delta.bounds;
  if (row.has_value()) {
    bounds = BoundsOfRow(delta.type, *row);
    VARVE_RETURN_IF_ERROR(Widen(delta.type, delta.bounds, &bounds));
  }
  const bool unknown = bounds.has_values && !bounds.min_value.has_value() &&
                       !bounds.max_value.has_value() && !bounds.extra_stats.has_value();
  if (unknown && bounds.contains_null == true) {
    bounds.contains_null.reset();
  }
  Row applied = row.has_value() ? *row : Row(7);
  applied.Set(0, Datum::Int64(table_id));
  applied.Set(1, Datum::Int64(column_id));
  SetBool(2, bounds.contains_null, &applied);
  SetBool(3, bounds.contains_nan, &applied);
  SetText(4, bounds.min_value, &applied);
  SetText(5, bounds.max_value, &applied);
  SetText(6, bounds.extra_stats, &applied);
  return applied;
}

}  // namespace varve
