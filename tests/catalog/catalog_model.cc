#include "tests/catalog/catalog_model.h"

#include <algorithm>
#include <compare>
#include <memory>
#include <utility>

#include "base/strings.h"
#include "tests/catalog/row_text.h"

namespace varve {
namespace {

using Version = CatalogModel::Version;

bool SameKey(std::span<const Datum> a, std::span<const Datum> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool KeyLess(std::span<const Datum> a, std::span<const Datum> b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (const auto order = CompareDatums(a[i], b[i]); order != 0) {
      return order < 0;
    }
  }
  return false;
}

// By key, ordinal, begin: the order of scans.
void Sort(const RelationSchema& schema, std::vector<Version>* versions) {
  std::stable_sort(versions->begin(), versions->end(), [&](const Version& a, const Version& b) {
    const std::vector<Datum> x = CatalogModel::KeyOfVersion(schema, a);
    const std::vector<Datum> y = CatalogModel::KeyOfVersion(schema, b);
    if (!SameKey(x, y)) {
      return KeyLess(x, y);
    }
    return a.ordinal != b.ordinal ? a.ordinal < b.ordinal : a.begin < b.begin;
  });
}

std::optional<SnapshotId> SnapshotOf(const Datum& value) {
  return value.is_null() || value.int64_value() < 0
             ? std::nullopt
             : std::optional(static_cast<SnapshotId>(value.int64_value()));
}

}  // namespace

CatalogModel::CatalogModel() {
  for (const RelationRef& relation : BuiltinRelations()) {
    relations_[relation->name].schema = relation;
  }
}

std::vector<Datum> CatalogModel::KeyOfVersion(const RelationSchema& schema,
                                              const Version& version) {
  if (schema.handle_kind == HandleKind::kRowNumber) {
    return {Datum::Int64(version.row_number)};
  }
  std::vector<Datum> key;
  for (const size_t column : schema.handle) {
    key.push_back(version.row[column]);
  }
  return key;
}

// --- Changing ------------------------------------------------------------------------------------

bool CatalogModel::Apply(const ChangeSet& changes) {
  CatalogModel next = *this;
  for (const std::string& name : changes.dropped()) {
    const auto it = next.relations_.find(name);
    if (it == next.relations_.end() || !it->second.schema->dynamic) {
      return false;
    }
    next.relations_.erase(it);
  }
  for (const RelationSchema& created : changes.created()) {
    if (next.relations_.contains(created.name)) {
      return false;
    }
    next.relations_[created.name].schema = std::make_shared<RelationSchema>(created);
  }
  for (const RowChange& change : changes.changes()) {
    if (!next.ApplyOne(change)) {
      return false;
    }
  }
  bool last_is_there = false;
  for (const Version& snapshot : next.relations_["ducklake_snapshot"].versions) {
    if (!snapshot.erased) {
      next.last_snapshot_ = std::max(next.last_snapshot_, snapshot.begin);
      last_is_there = last_is_there || snapshot.begin == last_snapshot_;
    }
  }
  if (!last_is_there) {
    return false;
  }
  for (auto& [name, relation] : next.relations_) {
    if (!next.Settle(&relation)) {
      return false;
    }
  }
  *this = std::move(next);
  return true;
}

bool CatalogModel::ApplyOne(const RowChange& change) {
  const auto found = relations_.find(change.relation->name);
  if (found == relations_.end()) {
    return false;
  }
  Relation& relation = found->second;
  const RelationSchema& schema = *relation.schema;
  if (change.kind == RowChange::Kind::kInsert) {
    return InsertRow(&relation, change.row, /*overwrite=*/false);
  }
  if (change.kind == RowChange::Kind::kPut) {
    return !schema.begin_column.has_value() && InsertRow(&relation, change.row, /*overwrite=*/true);
  }
  Version* target = nullptr;
  for (Version& version : relation.versions) {
    if (version.erased || !SameKey(KeyOfVersion(schema, version), change.row.values())) {
      continue;
    }
    const bool better =
        change.kind == RowChange::Kind::kErase
            ? target == nullptr && version.begin == change.begin
            : version.end == kNoEnd && (target == nullptr || version.begin < target->begin);
    target = better ? &version : target;
  }
  if (target == nullptr) {
    return false;
  }
  if (change.kind == RowChange::Kind::kErase) {
    target->erased = true;
    return true;
  }
  if (schema.versioning != Versioning::kInterval || change.end <= target->begin) {
    return false;
  }
  target->end = change.end;
  target->row.Set(*schema.end_column, Datum::Int64(static_cast<int64_t>(change.end)));
  target->changed = true;
  return true;
}

bool CatalogModel::InsertRow(Relation* relation, const Row& row, bool overwrite) {
  const RelationSchema& schema = *relation->schema;
  Version version{.row = row, .is_new = true, .changed = true};
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i].is_null() && !schema.columns.column(i).nullable) {
      return false;
    }
  }
  if (schema.handle_kind == HandleKind::kInt && row[schema.handle[0]].is_null()) {
    return false;
  }
  if (schema.begin_column.has_value()) {
    const std::optional<SnapshotId> begin = SnapshotOf(row[*schema.begin_column]);
    if (!begin.has_value()) {
      return false;
    }
    version.begin = *begin;
  }
  if (schema.end_column.has_value() && !row[*schema.end_column].is_null()) {
    const std::optional<SnapshotId> end = SnapshotOf(row[*schema.end_column]);
    if (!end.has_value() || *end <= version.begin) {
      return false;
    }
    version.end = *end;
  }
  if (schema.handle_kind == HandleKind::kRowNumber) {
    version.row_number = next_row_number_++;
  }
  const std::vector<Datum> key = KeyOfVersion(schema, version);
  if (overwrite) {
    for (Version& old : relation->versions) {
      if (!old.erased && SameKey(KeyOfVersion(schema, old), key)) {
        old.row = row;
        return true;
      }
    }
  }
  if (std::none_of(relation->keys.begin(), relation->keys.end(),
                   [&](const Row& known) { return SameKey(known.values(), key); })) {
    relation->keys.emplace_back(std::span<const Datum>(key));
  }
  relation->versions.push_back(std::move(version));
  return true;
}

// Checks a relation as it is after the set, and makes it ready for the next one.
bool CatalogModel::Settle(Relation* relation) const {
  const RelationSchema& schema = *relation->schema;
  std::vector<Version>& versions = relation->versions;
  std::erase_if(versions, [](const Version& version) { return version.erased; });
  for (size_t i = 0; i < versions.size(); ++i) {
    const Version& version = versions[i];
    if (version.changed && (version.begin > last_snapshot_ ||
                            (version.end != kNoEnd && version.end > last_snapshot_))) {
      return false;
    }
    for (size_t j = 0; j < i; ++j) {
      const bool same_key =
          SameKey(KeyOfVersion(schema, version), KeyOfVersion(schema, versions[j]));
      const bool same_id =
          schema.unique_column.has_value() &&
          version.row[*schema.unique_column] == versions[j].row[*schema.unique_column];
      if ((schema.declared_key && same_key) || same_id) {
        return false;
      }
    }
  }
  if (!PlaceNewVersions(relation)) {
    return false;
  }
  for (Version& version : versions) {
    version.is_new = version.changed = false;
  }
  Sort(schema, &versions);
  return true;
}

// Each new version takes the lowest ordinal where it overlaps none of its key.
bool CatalogModel::PlaceNewVersions(Relation* relation) const {
  std::vector<Version>& versions = relation->versions;
  for (size_t i = 0; i < versions.size(); ++i) {
    Version& version = versions[i];
    const auto clashes = [&](size_t j) {
      const Version& other = versions[j];
      return i != j && (!other.is_new || j < i) && other.ordinal == version.ordinal &&
             SameKey(KeyOfVersion(*relation->schema, version),
                     KeyOfVersion(*relation->schema, other)) &&
             IntervalsOverlap(version.begin, version.end, other.begin, other.end);
    };
    if (!version.is_new) {
      continue;
    }
    for (size_t j = 0; j < versions.size(); ++j) {
      if (clashes(j)) {
        if (!relation->schema->repeats) {
          return false;
        }
        ++version.ordinal;
        j = static_cast<size_t>(-1);  // look again from the start
      }
    }
  }
  return true;
}

// --- Reading -------------------------------------------------------------------------------------

std::vector<SnapshotId> CatalogModel::Snapshots() const {
  std::vector<SnapshotId> ids;
  for (const Version& version : relations_.at("ducklake_snapshot").versions) {
    ids.push_back(version.begin);
  }
  return ids;
}

std::vector<const Version*> CatalogModel::Parents(const Relation& relation,
                                                  const Version& version) const {
  const Relation& parent = relations_.at(BuiltinRelationById(relation.schema->parent)->name);
  std::vector<const Version*> parents;
  for (const Version& candidate : parent.versions) {
    const std::vector<Datum> key = KeyOfVersion(*parent.schema, candidate);
    bool same = true;
    for (size_t i = 0; i < key.size(); ++i) {
      same = same && key[i] == version.row[relation.schema->parent_handle[i]];
    }
    if (same) {
      parents.push_back(&candidate);
    }
  }
  return parents;
}

SnapshotInterval CatalogModel::ParentInterval(const Relation& relation,
                                              const Version& version) const {
  SnapshotInterval interval{.begin = kNoEnd, .end = 0};
  for (const Version* parent : Parents(relation, version)) {
    interval.begin = std::min(interval.begin, parent->begin);
    interval.end = std::max(interval.end, parent->end);
  }
  return interval.end == 0 ? kNowhere : interval;
}

bool CatalogModel::IsVisibleAt(const Relation& relation, const Version& version,
                               SnapshotId at) const {
  switch (relation.schema->versioning) {
    case Versioning::kUnversioned: return true;
    case Versioning::kInterval:
    case Versioning::kBeginOnly: return version.begin <= at && at < version.end;
    case Versioning::kViaParent: {
      const std::vector<const Version*> parents = Parents(relation, version);
      return std::any_of(parents.begin(), parents.end(), [at](const Version* parent) {
        return parent->begin <= at && at < parent->end;
      });
    }
  }
  return false;
}

std::vector<std::string> CatalogModel::Visible(const Relation& relation, SnapshotId at) const {
  std::vector<std::string> texts;
  for (const Version& version : relation.versions) {
    if (IsVisibleAt(relation, version, at)) {
      texts.push_back(RowText(*relation.schema, version.row.values()));
    }
  }
  return texts;
}

std::vector<std::string> CatalogModel::AllVersions(const Relation& relation) const {
  std::vector<std::string> texts;
  for (const Version& version : relation.versions) {
    const SnapshotInterval interval = relation.schema->versioning == Versioning::kViaParent
                                          ? ParentInterval(relation, version)
                                          : SnapshotInterval{version.begin, version.end};
    texts.push_back(StrCat(RowText(*relation.schema, version.row.values()), " @ ",
                           IntervalText(interval.begin, interval.end)));
  }
  return texts;
}

std::string CatalogModel::Get(const Relation& relation, std::span<const Datum> key,
                              SnapshotId at) const {
  for (const Version& version : relation.versions) {  // the lowest ordinal comes first
    if (SameKey(KeyOfVersion(*relation.schema, version), key) &&
        IsVisibleAt(relation, version, at)) {
      return RowText(*relation.schema, version.row.values());
    }
  }
  return "";
}

std::vector<std::string> CatalogModel::Versions(const Relation& relation,
                                                std::span<const Datum> key) const {
  std::vector<const Version*> found;
  for (const Version& version : relation.versions) {
    if (SameKey(KeyOfVersion(*relation.schema, version), key)) {
      found.push_back(&version);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Version* a, const Version* b) { return a->begin < b->begin; });
  std::vector<std::string> texts;
  for (const Version* version : found) {
    texts.push_back(StrCat(RowText(*relation.schema, version->row.values()), " @ ",
                           IntervalText(version->begin, version->end)));
  }
  return texts;
}

}  // namespace varve
