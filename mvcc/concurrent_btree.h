// A B-tree in memory from keys (bytes, in memcmp order) to pointers, for many readers and writers
// at once. Entries are added and never removed or changed. What a MemRowSet keeps its rows in.
//
// Readers write nothing, not even a lock word: they read a node and validate what they read by its
// version (btree_version.h). Writers go down as readers do and lock one leaf; a split locks upwards
// from there. btree_node.h shows the nodes, btree_key.h the keys, btree_root.h the way down.
//
// A split, by the writer that holds the lock of a full leaf L with parent P (D: locked and dirty):
//
//        P                 P                  P                 P(D)               P
//        |                 |                  |                /    \            /   \.
//   -> L -> N      L    R(D)    N     L(D) -> R(D) -> N    L(D) -> R(D) ->     L -> R -> N
//                  R: upper half      L: lower half        P points to R
//        1                 2                  3                  4                  5
//
//   2. R is born locked and inserting, and gets the upper half of L. Nobody can reach it yet.
//   3. L is marked splitting; R is linked behind it; L's count is cut down; the new entry goes to
//      its side. A reader that is in L will see its version change; one that comes waits.
//   4. P is locked: its lock is taken and `L->parent` looked at again, because P may have been
//      split meanwhile. P is marked inserting and gets R. A full P is split in the same way, its
//      new right sibling born locked and dirty, and the story goes on one level up. Without a P, L
//      was the root: a new root is born locked, becomes the parent of both, and is published.
//   5. R and L are unlocked, then P. In this order, and only after P is dirty: a reader that took a
//      version of P before it knew of R, and a version of L after L was cut, finds P changed.
//
// Locks are taken upwards and, on one level, by one writer at a time, so they cannot deadlock.
//
// When the entry that splits a leaf goes behind the last one of all, R gets nothing but that entry,
// and so on upwards: rising keys leave full nodes behind. They also skip the way down: the last
// leaf is remembered, and a key at or above its first one belongs there.
//
// Thread-safety: any thread, except construction, destruction and Freeze.
// Ownership: borrows the arena, which holds nodes and keys; values are the caller's.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string_view>

#include "base/arena.h"
#include "mvcc/btree_iterator.h"
#include "mvcc/btree_key.h"
#include "mvcc/btree_node.h"
#include "mvcc/btree_root.h"

namespace varve {

struct BTreeTraits {
  // Nodes of 256 bytes.
  static constexpr size_t kLeafEntries = 14;
  static constexpr size_t kInnerKeys = 14;
  // Called where threads can get in each other's way; a test yields there.
  static void RacePoint() {}
};

// Value: a pointer type.
template <typename Value, typename Traits = BTreeTraits>
class ConcurrentBTree {
 public:
  static constexpr size_t kMaxKeySize = BTreeKey::kMaxSize;

  class PreparedMutation;
  using Iterator = BTreeIterator<Value, Traits>;

  // The arena outlives the tree.
  explicit ConcurrentBTree(Arena* arena)
      : arena_(arena),
        last_leaf_(NewNode<Leaf>(BTreeVersion::Birth::kUnlocked)),
        root_(last_leaf_.load(std::memory_order_relaxed)) {}
  ConcurrentBTree(const ConcurrentBTree&) = delete;
  ConcurrentBTree& operator=(const ConcurrentBTree&) = delete;

  // False: the key is there already, and nothing has changed. Requires: key.size() <= kMaxKeySize;
  // not frozen.
  bool Insert(std::string_view key, Value value) {
    PreparedMutation mutation(this, key);
    if (mutation.exists()) {
      return false;
    }
    mutation.Insert(value);
    return true;
  }

  std::optional<Value> Find(std::string_view key) const { return root_.Find(BTreeKeyProbe(key)); }

  // Exact while no insert is under way.
  size_t size() const { return size_.load(std::memory_order_relaxed); }

  // From now on nothing is inserted, and iterators made from now on read leaves without copying
  // them. Requires: no mutation is under way; the caller has synchronised with those that were.
  void Freeze() { frozen_.store(true, std::memory_order_release); }
  bool frozen() const { return frozen_.load(std::memory_order_acquire); }

  Iterator NewIterator() const { return Iterator(&root_, frozen()); }

  // A key stored outside of the tree, in memory that lives as long as the arena: 2 bytes length,
  // little-endian, then the bytes; unaligned. Requires: key.size() <= kMaxKeySize.
  static size_t StoredKeySize(std::string_view key) { return BTreeKey::StoredSize(key); }
  static void StoreKey(std::string_view key, char* out) { BTreeKey::Store(key, out); }

 private:
  using Leaf = BTreeLeaf<Value, Traits>;
  using Inner = BTreeInner<Traits>;

  template <typename Node>
  Node* NewNode(BTreeVersion::Birth birth) {
    return new (arena_->Allocate(sizeof(Node), alignof(Node))) Node(birth);
  }

  BTreeKey NewKey(std::string_view key);
  Leaf* LockLeaf(const BTreeKeyProbe& probe, BTreePosition* position);
  Leaf* TryLockLastLeaf(const BTreeKeyProbe& probe);
  void InsertAndUnlock(Leaf* leaf, uint32_t index, BTreeKey key, Value value);
  void SplitAndUnlock(Leaf* left, uint32_t index, BTreeKey key, Value value);
  void LinkAndUnlock(BTreeNode* left, BTreeKey separator, BTreeNode* right, bool at_end);
  void MakeRootAndUnlock(BTreeNode* left, BTreeKey separator, BTreeNode* right);
  Inner* SplitInner(Inner* left, uint32_t left_index, bool at_end, BTreeKey* separator,
                    BTreeNode* child);
  static Inner* LockParent(const BTreeNode* node);

  Arena* const arena_;
  std::atomic<bool> frozen_ = false;
  std::atomic<Leaf*> last_leaf_;  // changed by the holder of its lock
  BTreeRoot<Value, Traits> root_;
  // On a line of its own: every insert writes it, every descent reads the root.
  alignas(kCacheLine) std::atomic<size_t> size_ = 0;
};

// An insert in two steps: the key is looked for and its leaf locked; then the caller, who knows
// whether it exists, makes the value and inserts it, or leaves it. Holds the lock of the leaf from
// construction until Insert or destruction; other writers of that leaf wait meanwhile, readers do
// not. The thread must not start another mutation of the same tree before that.
//
// Thread-safety: one thread. Borrows the key.
template <typename Value, typename Traits>
class ConcurrentBTree<Value, Traits>::PreparedMutation {
 public:
  PreparedMutation(ConcurrentBTree* tree, std::string_view key)
      : tree_(tree), probe_(key), leaf_(tree->LockLeaf(probe_, &position_)) {
    assert(key.size() <= kMaxKeySize);
  }
  ~PreparedMutation() {
    if (leaf_ != nullptr) {
      leaf_->version.Unlock();
    }
  }
  PreparedMutation(const PreparedMutation&) = delete;
  PreparedMutation& operator=(const PreparedMutation&) = delete;

  bool exists() const { return position_.exact; }

  // Requires: exists(), nothing inserted.
  Value value() const {
    assert(exists() && leaf_ != nullptr);
    return leaf_->values[position_.index];
  }

  // Copies a key of more than 7 bytes into the arena. Requires: !exists(), nothing inserted.
  void Insert(Value value) { Insert(tree_->NewKey(probe_.key()), value); }

  // Copies nothing: the tree points to `stored_key`. A key of at most 7 bytes is taken over anyway.
  // Requires: as Insert; the stored form of the very key, as StoreKey writes it.
  void InsertWithStoredKey(const char* stored_key, Value value) {
    assert(BTreeKey::ReadStored(stored_key) == probe_.key());
    Insert(probe_.key().size() <= BTreeKey::kMaxInline ? BTreeKey::Inline(probe_.key())
                                                       : BTreeKey::Stored(stored_key),
           value);
  }

 private:
  void Insert(BTreeKey key, Value value) {
    assert(!exists() && leaf_ != nullptr);
    tree_->InsertAndUnlock(leaf_, position_.index, key, value);
    leaf_ = nullptr;
  }

  ConcurrentBTree* const tree_;
  const BTreeKeyProbe probe_;
  BTreePosition position_;
  Leaf* leaf_;  // null: no longer locked
};

template <typename Value, typename Traits>
BTreeKey ConcurrentBTree<Value, Traits>::NewKey(std::string_view key) {
  if (key.size() <= BTreeKey::kMaxInline) {
    return BTreeKey::Inline(key);
  }
  auto* const stored = static_cast<char*>(arena_->Allocate(StoredKeySize(key), /*alignment=*/1));
  StoreKey(key, stored);
  return BTreeKey::Stored(stored);
}

// Locks the leaf the key belongs into and finds its position there.
template <typename Value, typename Traits>
auto ConcurrentBTree<Value, Traits>::LockLeaf(const BTreeKeyProbe& probe, BTreePosition* position)
    -> Leaf* {
  assert(!frozen());
  if (Leaf* const last = TryLockLastLeaf(probe); last != nullptr) {
    // Rising keys go behind the last one.
    const uint32_t count = last->size();
    *position = probe.Compare(last->keys[count - 1]) > 0 ? BTreePosition{.index = count}
                                                         : last->Find(probe);
    return last;
  }
  while (true) {
    const auto place = root_.FindLeaf(probe);
    auto* const leaf = const_cast<Leaf*>(place.leaf);
    Traits::RacePoint();
    leaf->version.Lock();
    if (!BTreeVersion::HasSplit(place.version, leaf->version.Stable())) {
      *position = leaf->Find(probe);
      return leaf;
    }
    leaf->version.Unlock();
  }
}

// Null: the key is not known to belong into the last leaf. The range of a leaf begins at or before
// its first key, that of the last one has no end.
template <typename Value, typename Traits>
auto ConcurrentBTree<Value, Traits>::TryLockLastLeaf(const BTreeKeyProbe& probe) -> Leaf* {
  Leaf* const leaf = last_leaf_.load(std::memory_order_acquire);
  const auto belongs = [&] {
    return leaf->size() > 0 && LoadAcquire(leaf->next) == nullptr &&
           probe.Compare(LoadAcquire(leaf->keys[0])) >= 0;
  };
  if (!belongs()) {
    return nullptr;
  }
  Traits::RacePoint();
  leaf->version.Lock();
  if (belongs()) {
    return leaf;
  }
  leaf->version.Unlock();
  return nullptr;
}

template <typename Value, typename Traits>
void ConcurrentBTree<Value, Traits>::InsertAndUnlock(Leaf* leaf, uint32_t index, BTreeKey key,
                                                     Value value) {
  if (leaf->size() < Leaf::kEntries) {
    leaf->version.SetInserting();
    leaf->InsertAt(index, key, value);
    leaf->version.Unlock();
  } else {
    SplitAndUnlock(leaf, index, key, value);
  }
  size_.fetch_add(1, std::memory_order_relaxed);
}

template <typename Value, typename Traits>
void ConcurrentBTree<Value, Traits>::SplitAndUnlock(Leaf* left, uint32_t index, BTreeKey key,
                                                    Value value) {
  auto* const right = NewNode<Leaf>(BTreeVersion::Birth::kLockedInserting);
  const bool at_end = left->next == nullptr && index == Leaf::kEntries;
  const uint32_t kept = at_end ? Leaf::kEntries : Leaf::kEntries / 2;
  right->CopyTail(*left, kept);
  right->next = left->next;

  left->version.SetSplitting();
  Traits::RacePoint();
  StoreRelease(left->next, right);
  Traits::RacePoint();
  left->count.store(kept, std::memory_order_release);
  if (index < kept) {
    left->InsertAt(index, key, value);
  } else {
    right->InsertAt(index - kept, key, value);
  }
  if (right->next == nullptr) {
    last_leaf_.store(right, std::memory_order_release);
  }
  LinkAndUnlock(left, right->keys[0], right, at_end);
}

// Makes `right` known to the parent of `left`, then unlocks both. Requires: both are locked and
// dirty. `at_end`: right is the last node of its level and was made by keys that rise.
template <typename Value, typename Traits>
void ConcurrentBTree<Value, Traits>::LinkAndUnlock(BTreeNode* left, BTreeKey separator,
                                                   BTreeNode* right, bool at_end) {
  while (true) {
    Traits::RacePoint();
    Inner* const parent = LockParent(left);
    if (parent == nullptr) {
      MakeRootAndUnlock(left, separator, right);
      return;
    }
    const uint32_t left_index = parent->IndexOf(left);
    Inner* parent_right = nullptr;
    if (parent->size() < Inner::kKeys) {
      parent->version.SetInserting();
      parent->InsertBehind(left_index, separator, right);
    } else {
      parent_right = SplitInner(parent, left_index, at_end, &separator, right);
    }
    Traits::RacePoint();
    right->version.Unlock();
    left->version.Unlock();
    if (parent_right == nullptr) {
      parent->version.Unlock();
      return;
    }
    left = parent;
    right = parent_right;
  }
}

template <typename Value, typename Traits>
void ConcurrentBTree<Value, Traits>::MakeRootAndUnlock(BTreeNode* left, BTreeKey separator,
                                                       BTreeNode* right) {
  auto* const root = NewNode<Inner>(BTreeVersion::Birth::kLockedInserting);
  root->children[0] = left;
  root->InsertBehind(0, separator, right);
  left->parent.store(root, std::memory_order_release);
  Traits::RacePoint();
  root_.Replace(root);
  right->version.Unlock();
  left->version.Unlock();
  root->version.Unlock();
}

// Splits a full inner node to put `child` behind its child number `left_index`; `separator` is
// where the child's keys begin, and then where the new node's do. Requires: the lock of `left`.
// Both nodes are locked and dirty afterwards.
template <typename Value, typename Traits>
auto ConcurrentBTree<Value, Traits>::SplitInner(Inner* left, uint32_t left_index, bool at_end,
                                                BTreeKey* separator, BTreeNode* child) -> Inner* {
  auto* const right = NewNode<Inner>(BTreeVersion::Birth::kLockedInserting);
  left->version.SetSplitting();
  Traits::RacePoint();
  if (at_end) {
    // `left` stays full, and its sibling begins where its only child does.
    right->children[0] = child;
    child->parent.store(right, std::memory_order_release);
    return right;
  }
  const uint32_t kept = Inner::kKeys / 2;
  const BTreeKey child_begin = *separator;
  *separator = left->keys[kept];
  right->TakeTail(left, kept + 1);
  Traits::RacePoint();
  left->count.store(kept, std::memory_order_release);
  if (left_index <= kept) {
    left->InsertBehind(left_index, child_begin, child);
  } else {
    right->InsertBehind(left_index - kept - 1, child_begin, child);
  }
  return right;
}

// Null: the node is the root. A node whose lock is held cannot get another parent unless the lock
// of its parent is held too, so the one that is confirmed stays.
template <typename Value, typename Traits>
auto ConcurrentBTree<Value, Traits>::LockParent(const BTreeNode* node) -> Inner* {
  while (true) {
    BTreeNode* const parent = node->parent.load(std::memory_order_acquire);
    if (parent == nullptr) {
      return nullptr;
    }
    Traits::RacePoint();
    parent->version.Lock();
    if (node->parent.load(std::memory_order_relaxed) == parent) {
      return static_cast<Inner*>(parent);
    }
    parent->version.Unlock();
  }
}

}  // namespace varve
