// The nodes of a concurrent B-tree. See concurrent_btree.h for how they hang together.
//
//   leaf (256 bytes with 14 entries)            inner node (256 bytes with 14 keys)
//   +---------+--------+-------+                +---------+--------+-------+
//   | version | parent | count |                | version | parent | count |
//   +---------+--------+-------+                +---------+--------+-------+
//   | next leaf                |                | key 0 .. key 13          |
//   | key 0   .. key 13        |                | child 0 .. child 14      |
//   | value 0 .. value 13      |                +--------------------------+
//   +--------------------------+                child i holds the keys in [key i-1, key i)
//
// Entries are sorted, without gaps. What lies behind `count` is null or what stood there before a
// split: a reader that races with a writer meets only values, children and keys that are or were in
// the node. An inner node has one child more than keys; it may have no key at all.
//
// Every access that may race is an acquire load or a release store of one aligned word;
// btree_version.h says why. Who holds a node's lock may read it as it likes. `parent` is guarded by
// the lock of the *parent*: when that one is split, it moves its children without locking them.
//
// Thread-safety: as each function says. Ownership: nodes lie in the tree's arena.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mvcc/btree_key.h"
#include "mvcc/btree_version.h"

namespace varve {

inline constexpr size_t kCacheLine = 64;

// The words of a node are plain words, so that a frozen tree can be read as the arrays it consists
// of; while it is not frozen they are read and written by these two.
template <typename T>
T LoadAcquire(const T& word) {
  return std::atomic_ref<T>(const_cast<T&>(word)).load(std::memory_order_acquire);
}
template <typename T>
void StoreRelease(T& word, T value) {
  std::atomic_ref<T>(word).store(value, std::memory_order_release);
}

struct BTreeNode {
  BTreeNode(bool leaf, BTreeVersion::Birth birth) : version(birth), is_leaf(leaf) {}

  uint32_t size() const { return count.load(std::memory_order_acquire); }

  BTreeVersion version;
  std::atomic<BTreeNode*> parent = nullptr;  // an inner node; null: this is the root
  std::atomic<uint32_t> count = 0;           // of keys
  const bool is_leaf;
};

// Has the processor fetch the lines of a node side by side instead of one after the other.
inline void PrefetchNode(const BTreeNode* node) {
  const char* const bytes = reinterpret_cast<const char*>(node);
  for (size_t line = 0; line < 4; ++line) {
    __builtin_prefetch(bytes + line * kCacheLine);
  }
}

// Where a key is among sorted ones, or would be put.
struct BTreePosition {
  uint32_t index = 0;
  bool exact = false;
};

// The first of `count` keys that is not below the probe. Readers and writers. The bytes of stored
// keys are asked for all at once, rather than waited for at one step of the search after the other:
// random look-ups in a tree of millions take a quarter less time.
inline BTreePosition FindFirstNotBelow(const BTreeKey* keys, uint32_t count,
                                       const BTreeKeyProbe& probe) {
  for (uint32_t i = 0; i < count; ++i) {
    const BTreeKey key = LoadAcquire(keys[i]);
    if (key.is_stored()) {
      __builtin_prefetch(key.stored());
    }
  }
  uint32_t low = 0;
  uint32_t high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    const int order = probe.Compare(LoadAcquire(keys[middle]));
    if (order == 0) {
      return {.index = middle, .exact = true};
    }
    if (order > 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {.index = low, .exact = false};
}

template <typename Value, typename Traits>
struct alignas(kCacheLine) BTreeLeaf : BTreeNode {
  static constexpr uint32_t kEntries = Traits::kLeafEntries;
  static_assert(kEntries >= 2, "a split leaves something on both sides");
  static_assert(std::is_pointer_v<Value>);

  explicit BTreeLeaf(BTreeVersion::Birth birth = BTreeVersion::Birth::kUnlocked)
      : BTreeNode(true, birth) {}

  // Readers and writers.
  BTreePosition Find(const BTreeKeyProbe& probe) const {
    return FindFirstNotBelow(keys, size(), probe);
  }

  // Requires: the lock and a flag; there is room.
  void InsertAt(uint32_t index, BTreeKey key, Value value) {
    const uint32_t entries = size();
    assert(index <= entries && entries < kEntries);
    for (uint32_t i = entries; i > index; --i) {
      StoreRelease(keys[i], keys[i - 1]);
      StoreRelease(values[i], values[i - 1]);
      Traits::RacePoint();
    }
    StoreRelease(keys[index], key);
    StoreRelease(values[index], value);
    Traits::RacePoint();
    // Last: what lies below the count is never null.
    count.store(entries + 1, std::memory_order_release);
  }

  // The entries from `from` on of a leaf of which the lock is held. Requires: nobody else knows
  // this leaf, which is empty.
  void CopyTail(const BTreeLeaf& other, uint32_t from) {
    const uint32_t entries = other.size() - from;
    for (uint32_t i = 0; i < entries; ++i) {
      keys[i] = other.keys[from + i];
      values[i] = other.values[from + i];
    }
    count.store(entries, std::memory_order_release);
  }

  BTreeLeaf* next = nullptr;
  BTreeKey keys[kEntries];
  Value values[kEntries] = {};
};

template <typename Traits>
struct alignas(kCacheLine) BTreeInner : BTreeNode {
  static constexpr uint32_t kKeys = Traits::kInnerKeys;
  static_assert(kKeys >= 2, "a split leaves something on both sides");

  explicit BTreeInner(BTreeVersion::Birth birth) : BTreeNode(false, birth) {}

  // Readers: the child whose range the key is in. Never null.
  BTreeNode* FindChild(const BTreeKeyProbe& probe) const {
    const BTreePosition position = FindFirstNotBelow(keys, size(), probe);
    return LoadAcquire(children[position.index + (position.exact ? 1 : 0)]);
  }

  // Requires: the lock; `child` is one of the children.
  uint32_t IndexOf(const BTreeNode* child) const {
    uint32_t index = 0;
    while (children[index] != child) {
      ++index;
      assert(index <= size());
    }
    return index;
  }

  // Puts `right`, whose keys begin at `separator`, behind the child number `left_index`, and under
  // this node. Requires: the lock and a flag; there is room.
  void InsertBehind(uint32_t left_index, BTreeKey separator, BTreeNode* right) {
    const uint32_t old_count = size();
    assert(left_index <= old_count && old_count < kKeys);
    right->parent.store(this, std::memory_order_release);
    for (uint32_t i = old_count; i > left_index; --i) {
      StoreRelease(children[i + 1], children[i]);
      StoreRelease(keys[i], keys[i - 1]);
      Traits::RacePoint();
    }
    StoreRelease(children[left_index + 1], right);
    StoreRelease(keys[left_index], separator);
    Traits::RacePoint();
    count.store(old_count + 1, std::memory_order_release);
  }

  // Moves the children from `first_child` on, and the keys between them, from a node of which the
  // lock is held and a flag set. Requires: nobody else knows this node, which is empty and locked.
  void TakeTail(BTreeInner* other, uint32_t first_child) {
    const uint32_t moved = other->size() - first_child;
    for (uint32_t i = 0; i < moved; ++i) {
      keys[i] = other->keys[first_child + i];
    }
    for (uint32_t i = 0; i <= moved; ++i) {
      children[i] = other->children[first_child + i];
      children[i]->parent.store(this, std::memory_order_release);
    }
    count.store(moved, std::memory_order_release);
  }

  BTreeKey keys[kKeys];
  BTreeNode* children[kKeys + 1] = {};
};

}  // namespace varve
