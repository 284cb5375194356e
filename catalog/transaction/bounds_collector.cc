#include "catalog/transaction/bounds_collector.h"

#include "base/status.h"

namespace varve {
namespace {

// Bounds that are no values of the type say nothing of it.
void DropForeignBounds(const Type& type, ColumnBounds* bounds) {
  std::string scratch;
  Datum value;
  for (std::optional<std::string>* const bound : {&bounds->min_value, &bounds->max_value}) {
    if (bound->has_value() && !ParseBound(type, **bound, &scratch, &value).ok()) {
      bound->reset();
    }
  }
}

}  // namespace

void BoundsCollector::Add(const Added& added) {
  contains_null_ = empty_ ? added.contains_null : EitherIs(contains_null_, added.contains_null);
  contains_nan_ = empty_ ? added.contains_nan : EitherIs(contains_nan_, added.contains_nan);
  empty_ = false;
  if (!added.has_values) {
    return;
  }
  if (!has_values_) {
    has_values_ = true;
    if (added.min_value.has_value()) {
      Keep(*added.min_value, &min_);
    }
    if (added.max_value.has_value()) {
      Keep(*added.max_value, &max_);
    }
    extra_stats_ = added.extra_stats;
    return;
  }
  Widen(added.min_value, std::strong_ordering::less, &min_);
  Widen(added.max_value, std::strong_ordering::greater, &max_);
  if (added.extra_stats != extra_stats_) {
    extra_stats_.reset();
  }
}

void BoundsCollector::Keep(const Bound& bound, std::optional<Kept>* kept) const {
  if (!kept->has_value()) {
    kept->emplace();
  }
  (*kept)->text = bound.text;
  (*kept)->value = bound.value;
  if (type_.kind() == TypeKind::kBlob) {
    (*kept)->blob.assign(bound.value.bytes());
  }
}

void BoundsCollector::Widen(const std::optional<Bound>& added, std::strong_ordering beyond,
                            std::optional<Kept>* kept) const {
  if (!added.has_value() || !kept->has_value()) {
    kept->reset();  // unknown for one is unknown for both
  } else if (CompareDatums(added->value, ValueOf(**kept)) == beyond) {
    Keep(*added, kept);
  }
}

Datum BoundsCollector::ValueOf(const Kept& kept) const {
  return type_.kind() == TypeKind::kBlob ? Datum::Bytes(kept.blob) : kept.value;
}

std::optional<std::string> BoundsCollector::TextOf(const std::optional<Kept>& kept) const {
  return kept.has_value() ? std::optional(BoundText(type_, ValueOf(*kept), kept->text))
                          : std::nullopt;
}

ColumnBounds BoundsCollector::Take() const {
  return {.contains_null = contains_null_,
          .contains_nan = contains_nan_,
          .has_values = has_values_,
          .min_value = TextOf(min_),
          .max_value = TextOf(max_),
          .extra_stats =
              extra_stats_.has_value() ? std::optional(std::string(*extra_stats_)) : std::nullopt};
}

absl::Status AddBounds(int64_t column_id, const Type& type, const ColumnBounds& bounds,
                       TableStatisticsDelta* delta) {
  const auto [it, is_new] = delta->columns.try_emplace(column_id);
  TableStatisticsDelta::Column& column = it->second;
  if (is_new) {
    column = {.type = type, .bounds = bounds};
    return absl::OkStatus();
  }
  if (!(column.type == type)) {
    column.type = type;
    DropForeignBounds(type, &column.bounds);
  }
  return Widen(type, bounds, &column.bounds);
}

}  // namespace varve
