// The root of a concurrent B-tree, and the way from it to a leaf that readers and writers share.
//
// Nothing here writes to a node. The way down is checked hand over hand: the child is read from its
// parent, the child's stable version is taken, and only then is the parent looked at again. When
// the parent is still the same, the child was the right one at that moment, and from then on the
// child's own version tells of any split that moves keys out of it.
//
// Thread-safety: any thread; Replace as it says. Ownership: none, the nodes lie in an arena.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "mvcc/btree_key.h"
#include "mvcc/btree_node.h"
#include "mvcc/btree_version.h"

namespace varve {

template <typename Value, typename Traits>
class BTreeRoot {
 public:
  using Leaf = BTreeLeaf<Value, Traits>;
  using Inner = BTreeInner<Traits>;

  // A leaf and the stable version at which it was the one for the key that was looked for.
  struct Place {
    const Leaf* leaf;
    uint64_t version;
  };

  // `first_leaf` is the whole tree so far.
  explicit BTreeRoot(Leaf* first_leaf) : first_leaf_(first_leaf), root_(first_leaf) {}

  // The leaf of the smallest keys. Always the same: a split puts the new leaf on the right.
  const Leaf* first_leaf() const { return first_leaf_; }

  // Requires: the locks of the old root and of `root` are held, and the old root's parent is `root`
  // already. So roots follow each other in order.
  void Replace(Inner* root) { root_.store(root, std::memory_order_release); }

  Place FindLeaf(const BTreeKeyProbe& probe) const {
    while (true) {
      if (const std::optional<Place> place = TryFindLeaf(probe); place.has_value()) {
        return *place;
      }
    }
  }

  std::optional<Value> Find(const BTreeKeyProbe& probe) const {
    Place place = FindLeaf(probe);
    while (true) {
      const BTreePosition position = place.leaf->Find(probe);
      Traits::RacePoint();
      const Value value =
          position.exact ? LoadAcquire(place.leaf->values[position.index]) : Value();
      if (!place.leaf->version.ChangedSince(place.version)) {
        return position.exact ? std::optional<Value>(value) : std::nullopt;
      }
      Renew(probe, &place);
    }
  }

  // The place of the key after its leaf has changed.
  void Renew(const BTreeKeyProbe& probe, Place* place) const {
    const uint64_t version = place->leaf->version.Stable();
    if (BTreeVersion::HasSplit(place->version, version)) {
      *place = FindLeaf(probe);
    } else {
      place->version = version;
    }
  }

 private:
  // Nullopt: a split was met, so that the way down has to start again.
  std::optional<Place> TryFindLeaf(const BTreeKeyProbe& probe) const {
    uint64_t version;
    const BTreeNode* node = StableRoot(&version);
    while (!node->is_leaf) {
      const BTreeNode* const child = static_cast<const Inner*>(node)->FindChild(probe);
      PrefetchNode(child);
      Traits::RacePoint();
      const uint64_t child_version = child->version.Stable();
      Traits::RacePoint();
      if (!node->version.ChangedSince(version)) {
        node = child;
        version = child_version;
        continue;
      }
      const uint64_t new_version = node->version.Stable();
      if (BTreeVersion::HasSplit(version, new_version)) {
        return std::nullopt;
      }
      version = new_version;
    }
    return Place{.leaf = static_cast<const Leaf*>(node), .version = version};
  }

  // The root and its version. root_ may be read just before it is replaced; then the old root has a
  // parent once its version is stable again, and the new root lies there.
  const BTreeNode* StableRoot(uint64_t* version) const {
    const BTreeNode* node = root_.load(std::memory_order_acquire);
    while (true) {
      *version = node->version.Stable();
      const BTreeNode* const parent = node->parent.load(std::memory_order_acquire);
      if (parent == nullptr) {
        return node;
      }
      node = parent;
    }
  }

  Leaf* const first_leaf_;
  std::atomic<BTreeNode*> root_;
};

}  // namespace varve
