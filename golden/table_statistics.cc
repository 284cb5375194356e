#include "golden/table_statistics.h"

#include <algorithm>
#include <array>

#include "base/status.h"
#include "base/strings.h"
#include "base/text.h"

namespace varve::golden {
namespace {

struct NamedType {
  std::string_view name;
  TypeKind kind;
};

constexpr auto kTypes = std::to_array<NamedType>({
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
    {"timestamp_ns", TypeKind::kTimestampNs},
    {"interval", TypeKind::kInterval},
    {"json", TypeKind::kJson},
    {"blob", TypeKind::kBlob},
    {"uuid", TypeKind::kUuid},
});

// Takes the bound of `other` where it lies beyond `bound` in the direction of `beyond`.
absl::Status WidenBound(const Type& type, const Literal& other, std::strong_ordering beyond,
                        Literal* bound) {
  if (!other.has_value() || !bound->has_value()) {
    *bound = bound->has_value() ? *bound : other;
    return absl::OkStatus();
  }
  Datum have;
  Datum came;
  std::string have_scratch;
  std::string came_scratch;
  VARVE_RETURN_IF_ERROR(ParseDatum(type, **bound, BlobText::kHex, &have_scratch, &have));
  VARVE_RETURN_IF_ERROR(ParseDatum(type, *other, BlobText::kHex, &came_scratch, &came));
  if (CompareDatums(came, have) == beyond) {
    *bound = other;
  }
  return absl::OkStatus();
}

}  // namespace

Type TypeOfColumn(std::string_view ducklake_type) {
  if (ducklake_type.starts_with("decimal")) {
    return TypeFromDeclaration(ducklake_type);
  }
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(), [&](const NamedType& type) {
    return type.name == ducklake_type;
  });
  return found == kTypes.end() ? TypeKind::kVarchar : found->kind;
}

int64_t NextRowId(const LakeEdit& lake, int64_t table_id) {
  const std::vector<LakeRow> stats =
      lake.Live("ducklake_table_stats", {{"table_id", Num(table_id)}});
  return stats.empty() ? 0 : stats.front().Id("next_row_id");
}

absl::Status CountRows(int64_t table_id, int64_t rows, int64_t bytes, LakeEdit* lake) {
  int64_t record_count = rows;
  int64_t file_size_bytes = bytes;
  for (const LakeRow& stats : lake->Live("ducklake_table_stats", {{"table_id", Num(table_id)}})) {
    record_count += stats.Id("record_count");
    file_size_bytes += stats.Id("file_size_bytes");
  }
  return lake->Put("ducklake_table_stats", {{"table_id", Num(table_id)},
                                            {"record_count", Num(record_count)},
                                            {"next_row_id", Num(NextRowId(*lake, table_id) + rows)},
                                            {"file_size_bytes", Num(file_size_bytes)}});
}

absl::Status Widen(const Type& type, const ColumnBounds& other, ColumnBounds* bounds) {
  bounds->has_null |= other.has_null;
  VARVE_RETURN_IF_ERROR(WidenBound(type, other.min, std::strong_ordering::less, &bounds->min));
  return WidenBound(type, other.max, std::strong_ordering::greater, &bounds->max);
}

absl::Status WidenColumn(const LakeRow& column, const ColumnBounds& bounds, LakeEdit* lake) {
  const std::vector<NamedText> key = {{"table_id", column.Text("table_id")},
                                      {"column_id", column.Text("column_id")}};
  ColumnBounds widened = bounds;
  for (const LakeRow& old : lake->Live("ducklake_table_column_stats", key)) {
    widened = {.has_null = old.Text("contains_null") == "true",
               .min = old.Text("min_value"),
               .max = old.Text("max_value")};
    VARVE_RETURN_IF_ERROR(Widen(TypeOfColumn(*column.Text("column_type")), bounds, &widened));
  }
  return lake->Put("ducklake_table_column_stats",
                   {key[0],
                    key[1],
                    {"contains_null", widened.has_null ? "true" : "false"},
                    {"contains_nan", ContainsNan(column)},
                    {"min_value", widened.min},
                    {"max_value", widened.max}});
}

Literal ContainsNan(const LakeRow& column) {
  const Type type = TypeOfColumn(*column.Text("column_type"));
  return type.physical() == PhysicalType::kFloat64 ? Literal("false") : Literal();
}

}  // namespace varve::golden
