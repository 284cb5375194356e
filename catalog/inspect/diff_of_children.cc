#include <rocksdb/iterator.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/key_codec.h"
#include "base/status.h"
#include "base/strings.h"
#include "catalog/handle.h"
#include "catalog/inspect/diff_paths.h"
#include "catalog/payload_codec.h"
#include "catalog/store/row_store.h"
#include "catalog/store/store_format.h"
#include "catalog/store/version_cursor.h"

namespace varve {
namespace {

// A parent that is visible at one of the two views only, as its children's handles have it: the
// leading key columns (a table), and the last one (a file), which other columns may precede there.
struct ChangedParent {
  std::string group;
  std::string last;
  bool added = false;
};

// Whether any row with this handle, whatever its ordinal, is visible at each of two snapshots.
absl::StatusOr<std::pair<bool, bool>> SeenAt(const StoreState& state, const RelationRef& relation,
                                             std::string_view handle, SnapshotId from,
                                             SnapshotId to) {
  const bool has_ended = relation->versioning == Versioning::kInterval;
  VersionCursor cursor(state, relation, has_ended ? VersionSet::kBoth : VersionSet::kLive, handle);
  VARVE_RETURN_IF_ERROR(cursor.Start());
  std::pair<bool, bool> seen(false, false);
  while (cursor.valid()) {
    const StoredVersion& version = cursor.version();
    seen.first = seen.first || IsVisible(version.begin, version.end, from);
    seen.second = seen.second || IsVisible(version.begin, version.end, to);
    VARVE_RETURN_IF_ERROR(cursor.Next());
  }
  return seen;
}

absl::StatusOr<std::vector<ChangedParent>> ChangedParents(const ReadView& from, const ReadView& to,
                                                          const RelationRef& parent,
                                                          std::span<const std::string> handles) {
  std::vector<ChangedParent> changed;
  std::string_view previous;
  DecodedHandle decoded;
  for (const std::string& whole : handles) {
    const std::string_view handle = HandleWithoutOrdinal(*parent, whole);
    if (handle == previous) {
      continue;
    }
    previous = handle;
    VARVE_ASSIGN_OR_RETURN(const auto seen,
                           SeenAt(*from.state(), parent, handle, from.snapshot(), to.snapshot()));
    if (seen.first == seen.second) {
      continue;
    }
    VARVE_RETURN_IF_ERROR(DecodeHandle(*parent, handle, &decoded));
    if (decoded.key.back().is_null()) {
      continue;  // such a row has no children
    }
    ChangedParent& one = changed.emplace_back();
    one.added = seen.second;
    for (size_t i = 0; i + 1 < decoded.key.size(); ++i) {
      AppendKey(decoded.key[i], &one.group);
    }
    AppendKey(decoded.key.back(), &one.last);
  }
  return changed;
}

struct Child {
  std::string handle;
  bool added = false;
};

// Walks the children of some parents in key order.
//
// Where the parent's key leads the child's (a partition's columns), each parent's children are a
// range. Where columns stand in between (table, column, file), the same parents are looked for
// behind each value of those, the stem, in turn.
class ChildFinder {
 public:
  ChildFinder(const StoreState& state, RelationRef relation, uint64_t max_seeks)
      : relation_(std::move(relation)),
        max_seeks_(max_seeks),
        it_(state.store->db().NewIterator(state.read_options(),
                                          state.store->family(Family::kLive))) {
    const size_t last_column = relation_->parent_handle.back();
    const auto at = std::find(relation_->handle.begin(), relation_->handle.end(), last_column);
    between_ =
        static_cast<size_t>(at - relation_->handle.begin()) + 1 - relation_->parent_handle.size();
  }

  // `parents`: of one group, by their last key. false: too many seeks.
  absl::StatusOr<bool> Find(std::span<const ChangedParent> parents, std::vector<Child>* children) {
    const std::string group = LiveKey(relation_->id, parents.front().group);
    std::string stem;
    VARVE_RETURN_IF_ERROR(Seek(between_ == 0 ? group + parents.front().last : group));
    while (seeks_ <= max_seeks_ && Within(group)) {
      VARVE_RETURN_IF_ERROR(CutStem(group.size(), &stem));
      VARVE_RETURN_IF_ERROR(FindBehind(stem, parents, children));
      if (!Within(stem)) {
        continue;  // on to the next stem already
      }
      VARVE_RETURN_IF_ERROR(Seek(PrefixSuccessor(stem)));
    }
    return seeks_ <= max_seeks_;
  }

 private:
  bool Within(std::string_view prefix) const {
    return it_->Valid() && ToView(it_->key()).starts_with(prefix);
  }

  absl::Status Check() const {
    return it_->Valid() ? absl::OkStatus()
                        : FromRocksDb(it_->status(), StrCat("reading ", relation_->name));
  }

  absl::Status Seek(const std::string& key) {
    ++seeks_;
    it_->Seek(key);
    return Check();
  }

  // The key here up to where the parent's last column begins.
  absl::Status CutStem(size_t group_size, std::string* stem) const {
    const std::string_view key = ToView(it_->key());
    std::string_view rest = key.substr(group_size);
    for (size_t i = 0; i < between_; ++i) {
      if (!SkipKey(&rest)) {
        return MalformedPair(*relation_, key);
      }
    }
    stem->assign(key.substr(0, key.size() - rest.size()));
    return absl::OkStatus();
  }

  absl::Status FindBehind(const std::string& stem, std::span<const ChangedParent> parents,
                          std::vector<Child>* children) {
    for (const ChangedParent& parent : parents) {
      const std::string prefix = stem + parent.last;
      if (Within(stem) && ToView(it_->key()) < prefix) {
        VARVE_RETURN_IF_ERROR(Seek(prefix));
      }
      while (Within(prefix)) {
        children->push_back(
            {.handle = it_->key().ToString().substr(kRelationPrefixSize), .added = parent.added});
        it_->Next();
        VARVE_RETURN_IF_ERROR(Check());
      }
      if (!Within(stem) || seeks_ > max_seeks_) {
        break;
      }
    }
    return absl::OkStatus();
  }

  RelationRef relation_;
  uint64_t max_seeks_;
  uint64_t seeks_ = 0;
  size_t between_ = 0;  // columns of the child's key before the parent's last one
  std::unique_ptr<rocksdb::Iterator> it_;
};

absl::Status VisitChildren(const StoreState& state, const RelationRef& relation,
                           const std::vector<Child>& children, const RowDiffVisitor& visit) {
  std::vector<size_t> columns(relation->columns.num_columns());
  std::iota(columns.begin(), columns.end(), size_t{0});
  const RowDecoder decoder(relation, std::move(columns));
  std::vector<Datum> values(relation->columns.num_columns());
  DecodedHandle scratch;
  rocksdb::PinnableSlice value;
  for (const Child& child : children) {
    const std::string key = LiveKey(relation->id, child.handle);
    value.Reset();
    VARVE_RETURN_IF_ERROR(
        FromRocksDb(state.store->db().Get(state.read_options(), state.store->family(Family::kLive),
                                          ToSlice(key), &value),
                    StrCat("reading ", relation->name)));
    StoredVersion version;
    if (!ParseLive(key, ToView(value), &version)) {
      return MalformedPair(*relation, key);
    }
    VARVE_RETURN_IF_ERROR(decoder.Decode(version.handle, version.begin, version.end,
                                         version.payload, &scratch, values));
    RowDiff diff;
    diff.kind = child.added ? DiffKind::kAdded : DiffKind::kRemoved;
    (child.added ? diff.after : diff.before).emplace(std::span<const Datum>(values));
    VARVE_RETURN_IF_ERROR(visit(diff));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DiffOfChildren(const ReadView& from, const ReadView& to, const RelationRef& relation,
                            std::span<const std::string> parents, uint64_t max_seeks,
                            const RowDiffVisitor& visit, bool* done) {
  const RelationRef parent = from.relations().FindById(relation->parent);
  VARVE_ASSIGN_OR_RETURN(const std::vector<ChangedParent> changed,
                         ChangedParents(from, to, parent, parents));
  std::vector<Child> children;
  ChildFinder finder(*from.state(), relation, max_seeks);
  for (size_t first = 0; first < changed.size();) {
    size_t end = first + 1;
    while (end < changed.size() && changed[end].group == changed[first].group) {
      ++end;
    }
    VARVE_ASSIGN_OR_RETURN(*done,
                           finder.Find(std::span(changed).subspan(first, end - first), &children));
    if (!*done) {
      return absl::OkStatus();
    }
    first = end;
  }
  *done = true;
  return VisitChildren(*from.state(), relation, children, visit);
}

}  // namespace varve
