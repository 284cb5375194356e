#include "catalog/change_set.h"

#include <utility>

namespace varve {

void ChangeSet::Insert(RelationRef relation, Row row) {
  changes_.push_back(
      {.kind = RowChange::Kind::kInsert, .relation = std::move(relation), .row = std::move(row)});
}

void ChangeSet::Put(RelationRef relation, Row row) {
  changes_.push_back(
      {.kind = RowChange::Kind::kPut, .relation = std::move(relation), .row = std::move(row)});
}

void ChangeSet::End(RelationRef relation, std::span<const Datum> key, SnapshotId end) {
  changes_.push_back({.kind = RowChange::Kind::kEnd,
                      .relation = std::move(relation),
                      .row = Row(key),
                      .end = end});
}

void ChangeSet::Erase(RelationRef relation, std::span<const Datum> key, SnapshotId begin) {
  changes_.push_back({.kind = RowChange::Kind::kErase,
                      .relation = std::move(relation),
                      .row = Row(key),
                      .begin = begin});
}

void ChangeSet::CreateRelation(RelationSchema relation) {
  created_.push_back(std::move(relation));
}
void ChangeSet::DropRelation(std::string name) {
  dropped_.push_back(std::move(name));
}

}  // namespace varve
