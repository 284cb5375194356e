#include "catalog/transaction/column_rules.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/transaction/definitions.h"
#include "catalog/transaction/table_statistics.h"

namespace varve {
namespace {

constexpr std::string_view kInliningOption = "data_inlining_row_limit";
// DuckLake's columns in data files (_ducklake_internal_row_id, …) and, from 1.1 on, in the tables
// of inlined rows.
constexpr std::string_view kReservedPrefix = "_ducklake_";
constexpr auto kInlinedColumns =
    std::to_array<std::string_view>({"row_id", "begin_snapshot", "end_snapshot"});

constexpr int kMaxDepth = 64;

std::string FieldPath(std::string_view path, const ColumnDefinition& field, size_t index) {
  return StrCat(path, ".",
                field.name.empty() ? StrCat("field ", index + 1) : ShownName(field.name));
}

absl::Status CheckFields(const ColumnDefinition& column, std::string_view path, int depth);

absl::Status CheckColumnAt(const ColumnDefinition& column, std::string_view path, int depth) {
  if (depth > kMaxDepth) {
    return absl::InvalidArgumentError(
        StrCat("column ", path, " is nested more than ", kMaxDepth, " levels deep"));
  }
  const std::string type = TypeToStore(column.type);
  if (!IsDuckLakeType(type)) {
    return absl::InvalidArgumentError(StrCat("column ", path, ": ", ShownName(column.type),
                                             " is no type of DuckLake; int64, decimal(12,2), "
                                             "varchar, list, … are"));
  }
  VARVE_RETURN_IF_ERROR(CheckDefault(path, type, column.default_value, column.default_value_type));
  VARVE_RETURN_IF_ERROR(CheckDefault(path, type, column.initial_default, "literal"));
  VARVE_RETURN_IF_ERROR(
      CheckName(StrCat("the dialect of column ", path), column.default_value_dialect));
  return CheckFields(column, path, depth);
}

absl::Status CheckFields(const ColumnDefinition& column, std::string_view path, int depth) {
  const std::string type = TypeToStore(column.type);
  const size_t fields = column.fields.size();
  if (!IsNestedType(type)) {
    return fields == 0 ? absl::OkStatus()
                       : absl::InvalidArgumentError(StrCat("column ", path, ": a ", type,
                                                           " has no fields, found ", fields));
  }
  const size_t expected = type == "list" ? 1 : (type == "map" ? 2 : std::max<size_t>(fields, 1));
  if (fields != expected) {
    return absl::InvalidArgumentError(StrCat("column ", path, ": a ", type, " has ",
                                             type == "list"  ? "one field, its element"
                                             : type == "map" ? "two fields, key and value"
                                                             : "at least one field",
                                             ", found ", fields));
  }
  absl::flat_hash_set<std::string> names;
  for (size_t i = 0; i < fields; ++i) {
    const ColumnDefinition& field = column.fields[i];
    const std::string field_path = FieldPath(path, field, i);
    const std::string fixed = FieldName(type, i);
    if (fixed.empty()) {
      VARVE_RETURN_IF_ERROR(CheckName(StrCat("a field of column ", path), field.name));
      if (!names.insert(AsciiStrToLower(field.name)).second) {
        return absl::InvalidArgumentError(
            StrCat("column ", path, " has two fields ", ShownName(field.name)));
      }
    } else if (!field.name.empty() && field.name != fixed) {
      return absl::InvalidArgumentError(StrCat("column ", path, ": field ", i + 1, " of a ", type,
                                               " is called ", fixed, ", found ",
                                               ShownName(field.name)));
    }
    VARVE_RETURN_IF_ERROR(CheckColumnAt(field, field_path, depth + 1));
  }
  return absl::OkStatus();
}

// The value of a setting at one scope.
absl::StatusOr<NullableText> OptionAt(const Transaction::State& state, std::string_view key,
                                      std::string_view scope, int64_t scope_id) {
  const RelationRef& metadata = state.relation(kMetadata);
  const std::array<Datum, 3> handle = {Datum::Bytes(key),
                                       scope.empty() ? Datum() : Datum::Bytes(scope),
                                       scope.empty() ? Datum() : Datum::Int64(scope_id)};
  VARVE_ASSIGN_OR_RETURN(const std::optional<VersionedRow> row, state.rows.Get(metadata, handle));
  return row.has_value() ? NullableText(TextOf(*metadata, row->values, "value")) : std::nullopt;
}

// Whether small inserts are kept in the catalog: yes, unless the limit is set to 0.
absl::StatusOr<bool> InliningIsOn(const Transaction::State& state, int64_t schema_id,
                                  std::optional<int64_t> table_id) {
  NullableText limit;
  if (table_id.has_value()) {
    VARVE_ASSIGN_OR_RETURN(limit, OptionAt(state, kInliningOption, "table", *table_id));
  }
  if (!limit.has_value()) {
    VARVE_ASSIGN_OR_RETURN(limit, OptionAt(state, kInliningOption, "schema", schema_id));
  }
  if (!limit.has_value()) {
    VARVE_ASSIGN_OR_RETURN(limit, OptionAt(state, kInliningOption, "", 0));
  }
  return limit != "0";
}

struct Promotion {
  std::string_view from;
  std::string_view to;
};
constexpr auto kPromotions = std::to_array<Promotion>({
    {"int8", "int16"},
    {"int8", "int32"},
    {"int8", "int64"},
    {"int16", "int32"},
    {"int16", "int64"},
    {"int32", "int64"},
    {"uint8", "uint16"},
    {"uint8", "uint32"},
    {"uint8", "uint64"},
    {"uint16", "uint32"},
    {"uint16", "uint64"},
    {"uint32", "uint64"},
    {"float32", "float64"},
});

}  // namespace

bool IsStruct(std::string_view type) {
  return EqualsIgnoreCase(type, "struct");
}

bool IsNestedType(std::string_view type) {
  return IsStruct(type) || EqualsIgnoreCase(type, "list") || EqualsIgnoreCase(type, "map");
}

std::string TypeToStore(std::string_view type) {
  std::string stored = AsciiStrToLower(type);
  std::erase(stored, ' ');
  return stored;
}

std::string FieldName(std::string_view type, size_t index) {
  return type == "list" ? "element" : (type == "map" ? (index == 0 ? "key" : "value") : "");
}

absl::Status CheckColumn(const ColumnDefinition& column, std::string_view path) {
  VARVE_RETURN_IF_ERROR(CheckName("a column", column.name));
  return CheckColumnAt(column, path, 1);
}

absl::Status CheckNotReserved(const Transaction::State& state, int64_t schema_id,
                              std::optional<int64_t> table_id, std::string_view name) {
  if (StartsWithIgnoreCase(name, kReservedPrefix)) {
    return absl::InvalidArgumentError(StrCat("a column cannot be called ", ShownName(name),
                                             ": names that begin with ", kReservedPrefix,
                                             " are DuckLake's own"));
  }
  if (std::none_of(kInlinedColumns.begin(), kInlinedColumns.end(),
                   [&](std::string_view own) { return EqualsIgnoreCase(own, name); })) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const bool inlining, InliningIsOn(state, schema_id, table_id));
  return inlining ? absl::InvalidArgumentError(StrCat(
                        "a column cannot be called ", ShownName(name),
                        ": DuckLake uses the name in tables of inlined rows; turn inlining off "
                        "first (option ",
                        kInliningOption, " = 0), or choose another"))
                  : absl::OkStatus();
}

absl::Status CheckDefault(std::string_view path, std::string_view type, const NullableText& value,
                          std::string_view value_type) {
  if (value_type != "literal" && value_type != "expression") {
    return absl::InvalidArgumentError(StrCat("column ", path,
                                             ": the type of a default is literal or expression, "
                                             "found ",
                                             ShownName(value_type)));
  }
  if (!value.has_value()) {
    return absl::OkStatus();
  }
  if (IsNestedType(type)) {
    return absl::InvalidArgumentError(
        StrCat("column ", path, ": a ", type, " cannot have a default value"));
  }
  VARVE_RETURN_IF_ERROR(CheckText(StrCat("the default of column ", path), *value));
  // DuckLake writes the text NULL where there is no default.
  if (value_type == "expression" || *value == "NULL") {
    return absl::OkStatus();
  }
  Datum datum;
  std::string scratch;
  const absl::Status parsed = ParseBound(TypeOfColumn(type), *value, &scratch, &datum);
  return parsed.ok() ? absl::OkStatus()
                     : absl::InvalidArgumentError(
                           StrCat("the default of column ", path, ": ", MessageOf(parsed)));
}

absl::Status CheckPromotion(std::string_view path, std::string_view from, std::string_view to) {
  if (!IsDuckLakeType(to)) {
    return absl::InvalidArgumentError(
        StrCat("column ", path, ": ", ShownName(to), " is no type of DuckLake"));
  }
  if (from == to) {
    return absl::InvalidArgumentError(StrCat("column ", path, " has type ", to, " already"));
  }
  const bool widens = std::any_of(
      kPromotions.begin(), kPromotions.end(),
      [&](const Promotion& promotion) { return promotion.from == from && promotion.to == to; });
  return widens ? absl::OkStatus()
                : absl::InvalidArgumentError(
                      StrCat("column ", path, " cannot change from ", from, " to ", to,
                             ": only integers of one kind and floats change, and only to wider "
                             "ones"));
}

}  // namespace varve
