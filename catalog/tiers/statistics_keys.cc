#include "catalog/tiers/statistics_keys.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/float_order.h"
#include "base/status.h"
#include "catalog/relation_directory.h"
#include "catalog/store/row_store.h"
#include "catalog/tiers/columnar_format.h"
#include "catalog/transaction/table_statistics.h"

namespace varve {
namespace {

// Of the columns of statistics, in the order in which StatisticsKeys names them.
enum Slot : size_t { kTableId, kColumnId, kMinValue, kMaxValue, kContainsNan, kNumSlots };
constexpr std::string_view kSlotNames[kNumSlots] = {"table_id", "column_id", "min_value",
                                                    "max_value", "contains_nan"};

// Of derived columns (kStatisticsKeyColumns).
enum DerivedSlot : size_t { kMinKey, kMaxKey, kKeyType, kKeyTexts };

bool IsFloat(const Type& type) {
  return type.physical() == PhysicalType::kFloat64;
}

// Whether the keys of the kind are plain numbers of an integer type.
bool IsInteger(TypeKind kind) {
  switch (kind) {
    case TypeKind::kInt8:
    case TypeKind::kInt16:
    case TypeKind::kInt32:
    case TypeKind::kInt64:
    case TypeKind::kInt128:
    case TypeKind::kUInt8:
    case TypeKind::kUInt16:
    case TypeKind::kUInt32:
    case TypeKind::kUInt64: return true;
    default: return false;
  }
}

int128_t PrefixKey(std::string_view bytes) {
  uint128_t key = 0;
  for (size_t i = 0; i < kKeyPrefixSize; ++i) {
    key = key << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0);
  }
  return static_cast<int128_t>(key);
}

}  // namespace

std::optional<Type> OrderedType(std::string_view ducklake_type) {
  const Type type = TypeOfColumn(ducklake_type);
  return HasBounds(ducklake_type) && type.kind() != TypeKind::kInterval ? std::optional(type)
                                                                        : std::nullopt;
}

int128_t StatisticsKey(const Type& type, const Datum& value) {
  switch (type.physical()) {
    case PhysicalType::kBool: return value.bool_value() ? 1 : 0;
    case PhysicalType::kInt64: return value.int64_value();
    case PhysicalType::kInt128: return value.int128_value();
    case PhysicalType::kFloat64: return OrderedBitsOfFloat(value.float64_value());
    case PhysicalType::kBytes: return PrefixKey(value.bytes());
  }
  return 0;
}

bool HasExactKeys(const Type& type) {
  return type.physical() != PhysicalType::kBytes;
}

std::optional<Datum> ValueOfKey(const Type& type, int128_t key) {
  const auto fits = [&](int128_t smallest, int128_t largest) {
    return key >= smallest && key <= largest;
  };
  switch (type.physical()) {
    case PhysicalType::kBool:
      return fits(0, 1) ? std::optional(Datum::Bool(key != 0)) : std::nullopt;
    case PhysicalType::kInt64:
      return fits(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max())
                 ? std::optional(Datum::Int64(static_cast<int64_t>(key)))
                 : std::nullopt;
    case PhysicalType::kInt128: return Datum::Int128(key);
    case PhysicalType::kFloat64:
      return fits(0, int128_t{std::numeric_limits<uint64_t>::max()})
                 ? std::optional(Datum::Float64(FloatOfOrderedBits(static_cast<uint64_t>(key))))
                 : std::nullopt;
    case PhysicalType::kBytes: break;
  }
  return std::nullopt;
}

int64_t KeyTypeOf(const Type& type) {
  return static_cast<int64_t>(type.kind()) | int64_t{type.precision()} << 8 |
         int64_t{type.scale()} << 16;
}

std::optional<Type> TypeOfKeys(int64_t key_type) {
  const auto kind = key_type & 0xff;
  if (kind > static_cast<int64_t>(TypeKind::kText)) {
    return std::nullopt;
  }
  const Type type =
      static_cast<TypeKind>(kind) == TypeKind::kDecimal
          ? Type::Decimal(static_cast<uint8_t>(key_type >> 8), static_cast<uint8_t>(key_type >> 16))
          : Type(static_cast<TypeKind>(kind));
  return KeyTypeOf(type) == key_type ? std::optional(type) : std::nullopt;
}

bool KeysCompare(int64_t key_type, const Type& type) {
  return key_type == KeyTypeOf(type) ||
         (IsInteger(type.kind()) && key_type >= 0 && key_type <= KeyTypeOf(TypeKind::kText) &&
          IsInteger(static_cast<TypeKind>(key_type)));
}

Datum WithoutNegativeZero(const Datum& value) {
  const bool is_zero =
      !value.is_null() && value.physical() == PhysicalType::kFloat64 && value.float64_value() == 0;
  return is_zero ? Datum::Float64(0) : value;
}

Datum StatisticsBounds::Parse(const Datum& text, std::string* scratch) const {
  Datum value;
  return !text.is_null() && ParseBound(type_, text.bytes(), scratch, &value).ok()
             ? WithoutNegativeZero(value)
             : Datum();
}

std::optional<double> StatisticsBounds::AsFloat32(const Datum& text) {
  Datum value;
  std::string scratch;
  return ParseBound(TypeKind::kFloat32, text.bytes(), &scratch, &value).ok() &&
                 std::isfinite(value.float64_value())
             ? std::optional(value.float64_value())
             : std::nullopt;
}

void StatisticsBounds::Read(const Datum& min_text, const Datum& max_text,
                            const Datum& contains_nan) {
  min_ = Parse(min_text, &min_scratch_);
  max_ = Parse(max_text, &max_scratch_);
  if (!min_.is_null() && !max_.is_null() && CompareDatums(min_, max_) > 0) {
    min_ = Datum();
    max_ = Datum();
  }
  if (!IsFloat(type_)) {
    return;
  }
  if (contains_nan.is_null() || contains_nan.bool_value()) {
    max_ = Datum();
  }
  if (type_.kind() == TypeKind::kFloat64) {
    if (const auto narrow = min_.is_null() ? std::nullopt : AsFloat32(min_text)) {
      min_ = Datum::Float64(std::min(min_.float64_value(), *narrow));
    }
    if (const auto narrow = max_.is_null() ? std::nullopt : AsFloat32(max_text)) {
      max_ = Datum::Float64(std::max(max_.float64_value(), *narrow));
    }
  }
}

ColumnTypes::ColumnTypes(std::shared_ptr<const StoreState> state)
    : view_(state, state->last_snapshot) {}

absl::Status ColumnTypes::LoadTable(int64_t table_id) {
  table_id_.reset();
  types_.clear();
  const RelationRef relation = view_.relations().FindById(kColumn);
  ScanOptions options;
  options.columns = {*relation->columns.Find("column_id"), *relation->columns.Find("column_type")};
  options.rows = ScanRows::kAllVersions;
  options.key_prefix = {Datum::Int64(table_id)};
  options.with_intervals = false;
  VARVE_ASSIGN_OR_RETURN(const std::unique_ptr<RowScan> scan,
                         view_.Scan(relation, std::move(options)));
  ScanBatch batch;
  while (true) {
    VARVE_ASSIGN_OR_RETURN(const bool more, scan->Next(&batch));
    if (!more) {
      break;
    }
    for (size_t row = 0; row < batch.num_rows(); ++row) {
      const ColumnVector& ids = batch.columns.column(0);
      const ColumnVector& types = batch.columns.column(1);
      if (ids.is_null(row)) {
        continue;
      }
      // Later versions of a column come later.
      types_.erase(ids.int64s()[row]);
      if (const std::optional<Type> type =
              types.is_null(row) ? std::nullopt : OrderedType(types.bytes(row))) {
        types_.emplace(ids.int64s()[row], *type);
      }
    }
  }
  table_id_ = table_id;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Type>> ColumnTypes::Find(int64_t table_id, int64_t column_id) {
  if (table_id_ != table_id) {
    VARVE_RETURN_IF_ERROR(LoadTable(table_id));
  }
  const auto found = types_.find(column_id);
  return found == types_.end() ? std::nullopt : std::optional(found->second);
}

StatisticsKeys::StatisticsKeys(const RelationSchema& relation,
                               std::shared_ptr<const StoreState> state)
    : columns_({{.id = kMinKeyColumn, .name = "min_key", .type = TypeKind::kInt128},
                {.id = kMaxKeyColumn, .name = "max_key", .type = TypeKind::kInt128},
                {.id = kKeyTypeColumn, .name = "key_type", .type = TypeKind::kInt64},
                {.id = kKeyTextsColumn, .name = "key_texts", .type = TypeKind::kInt64}}),
      types_(std::move(state)) {
  const std::vector<size_t> of_block = TableColumnsOf(relation);
  for (const std::string_view name : kSlotNames) {
    const auto found = std::find(of_block.begin(), of_block.end(), *relation.columns.Find(name));
    read_.push_back(static_cast<size_t>(found - of_block.begin()));
  }
  rewritten_ = {read_[kMinValue], read_[kMaxValue]};
  num_relation_columns_ = of_block.size();
}

int64_t StatisticsKeys::AppendBound(BoundSide side, const Datum& bound, const Datum& text,
                                    ColumnVector* keys, ColumnVector* texts) {
  if (bound.is_null()) {
    keys->AppendNull();
    texts->Append(text);
    return 0;
  }
  const int128_t key = StatisticsKey(current_->type, bound);
  keys->AppendInt128(key);
  std::optional<std::string_view> rest;
  if (!IsTextOfKey(current_->type, key, text.bytes(), &scratch_, &rest)) {
    texts->Append(text);
    return 0;
  }
  rest.has_value() ? texts->AppendBytes(*rest) : texts->AppendNull();
  return KeyTextMark(side);
}

absl::Status StatisticsKeys::Append(const VersionBlock& block, std::span<const uint32_t> rows,
                                    size_t first, ColumnBatch* out) {
  const bool has_keys = block.columns.num_columns() > num_relation_columns_;
  if (has_keys) {
    VARVE_ASSIGN_OR_RETURN(const bool current, HasCurrentKeys(block, rows));
    if (current) {
      for (const size_t column : rewritten_) {
        out->mutable_column(column).AppendSelected(block.columns.column(column), rows);
      }
      for (size_t i = 0; i < columns_.size(); ++i) {
        out->mutable_column(first + i).AppendSelected(
            block.columns.column(num_relation_columns_ + i), rows);
      }
      return absl::OkStatus();
    }
    for (const BoundSide side : {BoundSide::kLower, BoundSide::kUpper}) {
      const bool lower = side == BoundSide::kLower;
      ColumnVector* const restored = lower ? &restored_min_ : &restored_max_;
      restored->Clear();
      const size_t keys = num_relation_columns_ + (lower ? kMinKey : kMaxKey);
      VARVE_RETURN_IF_ERROR(
          RestoreTexts(side,
                       {.texts = &block.columns.column(read_[lower ? kMinValue : kMaxValue]),
                        .keys = &block.columns.column(keys),
                        .key_types = &block.columns.column(num_relation_columns_ + kKeyType),
                        .key_texts = &block.columns.column(num_relation_columns_ + kKeyTexts)},
                       restored));
    }
  }
  ColumnVector& min_keys = out->mutable_column(first + kMinKey);
  ColumnVector& max_keys = out->mutable_column(first + kMaxKey);
  ColumnVector& key_types = out->mutable_column(first + kKeyType);
  ColumnVector& key_texts = out->mutable_column(first + kKeyTexts);
  ColumnVector& min_texts = out->mutable_column(read_[kMinValue]);
  ColumnVector& max_texts = out->mutable_column(read_[kMaxValue]);
  const auto column = [&](Slot slot) -> const ColumnVector& {
    return has_keys && slot == kMinValue   ? restored_min_
           : has_keys && slot == kMaxValue ? restored_max_
                                           : block.columns.column(read_[slot]);
  };
  for (const uint32_t row : rows) {
    const Datum min_text = column(kMinValue).at(row);
    const Datum max_text = column(kMaxValue).at(row);
    if (column(kTableId).is_null(row) || column(kColumnId).is_null(row)) {
      current_.reset();
    } else {
      VARVE_RETURN_IF_ERROR(
          FindColumn(column(kTableId).int64s()[row], column(kColumnId).int64s()[row]));
    }
    if (!current_.has_value() || !current_->bounds.has_value()) {
      min_keys.AppendNull();
      max_keys.AppendNull();
      key_types.AppendNull();
      key_texts.AppendInt64(0);
      min_texts.Append(min_text);
      max_texts.Append(max_text);
      continue;
    }
    StatisticsBounds& bounds = *current_->bounds;
    bounds.Read(min_text, max_text, column(kContainsNan).at(row));
    key_types.AppendInt64(KeyTypeOf(current_->type));
    key_texts.AppendInt64(
        AppendBound(BoundSide::kLower, bounds.min(), min_text, &min_keys, &min_texts) |
        AppendBound(BoundSide::kUpper, bounds.max(), max_text, &max_keys, &max_texts));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> StatisticsKeys::HasCurrentKeys(const VersionBlock& block,
                                                    std::span<const uint32_t> rows) {
  const ColumnVector& table_ids = block.columns.column(read_[kTableId]);
  const ColumnVector& column_ids = block.columns.column(read_[kColumnId]);
  const ColumnVector& key_types = block.columns.column(num_relation_columns_ + kKeyType);
  for (const uint32_t row : rows) {
    if (table_ids.is_null(row) || column_ids.is_null(row)) {
      return false;
    }
    VARVE_RETURN_IF_ERROR(FindColumn(table_ids.int64s()[row], column_ids.int64s()[row]));
    const bool agrees =
        current_->bounds.has_value()
            ? !key_types.is_null(row) && key_types.int64s()[row] == KeyTypeOf(current_->type)
            : key_types.is_null(row);
    if (!agrees) {
      return false;
    }
  }
  return true;
}

absl::Status StatisticsKeys::FindColumn(int64_t table_id, int64_t column_id) {
  if (current_.has_value() && current_->table_id == table_id && current_->column_id == column_id) {
    return absl::OkStatus();
  }
  VARVE_ASSIGN_OR_RETURN(const std::optional<Type> type, types_.Find(table_id, column_id));
  current_.emplace();
  current_->table_id = table_id;
  current_->column_id = column_id;
  if (type.has_value()) {
    current_->type = *type;
    current_->bounds.emplace(*type);
  }
  return absl::OkStatus();
}

std::unique_ptr<DerivedColumns> DerivedColumnsOf(const RelationSchema& relation,
                                                 std::shared_ptr<const StoreState> state) {
  return relation.id == kFileColumnStats
             ? std::make_unique<StatisticsKeys>(relation, std::move(state))
             : nullptr;
}

}  // namespace varve
