#include "catalog/store/scan_columns.h"

#include <limits>

namespace varve {
namespace {

constexpr size_t kNoSlot = std::numeric_limits<size_t>::max();

}  // namespace

ScanColumns::ScanColumns(const RelationSchema& relation, const ScanOptions& options)
    : slot_of(relation.columns.num_columns(), kNoSlot) {
  if (options.columns.has_value()) {
    for (const size_t column : *options.columns) {
      Add(column);
    }
  } else {
    for (size_t column = 0; column < slot_of.size(); ++column) {
      Add(column);
    }
  }
  num_returned = read.size();
  for (const Term& term : options.predicate.terms()) {
    Add(term.column);
  }
}

void ScanColumns::Add(size_t column) {
  if (slot_of[column] == kNoSlot) {
    slot_of[column] = read.size();
    read.push_back(column);
  }
}

}  // namespace varve
