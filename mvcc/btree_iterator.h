// Walks over the entries of a concurrent B-tree in key order, beside writers.
//
// The iterator copies one leaf at a time and validates the copy, so it sees each leaf as it was at
// one moment; the tree as a whole may move on meanwhile. Every key that was there when the iterator
// was placed is seen exactly once, in order; a key that came later may be seen or not. That holds
// because keys move only to the right, into a leaf between the one they came from and its old next
// leaf, and the walk goes on at the next leaf *of the copy*.
//
// An iterator that is made after the tree was frozen reads the leaves where they lie.
//
// Thread-safety: one thread. Ownership: borrows the tree; key() and LeafKey() and what LeafValues()
// shows are valid until the iterator is moved to another entry.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "mvcc/btree_key.h"
#include "mvcc/btree_node.h"
#include "mvcc/btree_root.h"

namespace varve {

template <typename Value, typename Traits>
class BTreeIterator {
 public:
  using Root = BTreeRoot<Value, Traits>;
  using Leaf = typename Root::Leaf;

  // Stands on no entry until a seek.
  BTreeIterator(const Root* root, bool frozen) : root_(root), frozen_(frozen) {}

  // To the first entry.
  void SeekToStart() { Read(root_->first_leaf()); }

  // To the first entry at or after `key`; `exact` says whether it is at it. False: there is none.
  bool SeekAtOrAfter(std::string_view key, bool* exact) {
    *exact = Seek(key);
    if (index_ == count_) {
      ReadNext();
    }
    return IsValid();
  }

  // To the last entry at or before `key`. False: there is none.
  bool SeekAtOrBefore(std::string_view key, bool* exact) {
    *exact = Seek(key);
    if (*exact) {
      return true;
    }
    // Every leaf but the first holds the key its range begins with, so the entry before is in this
    // leaf, if there is one.
    if (index_ == 0) {
      count_ = 0;
      return false;
    }
    --index_;
    return true;
  }

  // Whether it stands on an entry. What follows requires it.
  bool IsValid() const { return index_ < count_; }

  void Next() {
    assert(IsValid());
    if (++index_ == count_) {
      ReadNext();
    }
  }

  // One entry back inside the leaf. False, and nothing happened: this was its first one.
  bool Prev() {
    assert(IsValid());
    if (index_ == 0) {
      return false;
    }
    --index_;
    return true;
  }

  std::string_view key() const { return LeafKey(0); }
  Value value() const {
    assert(IsValid());
    return values()[index_];
  }

  // For scans: the values from the current entry to the end of the leaf, the key of the i-th of
  // them, and a step over the first n of them.
  std::span<const Value> LeafValues() const { return {values() + index_, count_ - index_}; }
  std::string_view LeafKey(size_t i) const {
    assert(index_ + i < count_);
    return keys()[index_ + i].view();
  }
  void SkipLeaf(size_t n) {
    assert(n <= count_ - index_);
    index_ += static_cast<uint32_t>(n);
    if (index_ == count_) {
      ReadNext();
    }
  }

 private:
  const BTreeKey* keys() const { return in_place_ != nullptr ? in_place_->keys : keys_; }
  const Value* values() const { return in_place_ != nullptr ? in_place_->values : values_; }

  // Reads the leaf of the key, and stands at the first entry not below it, or behind the last.
  bool Seek(std::string_view key) {
    const BTreeKeyProbe probe(key);
    typename Root::Place place = root_->FindLeaf(probe);
    if (frozen_) {
      ReadInPlace(place.leaf);
    } else {
      while (!TryCopy(place.leaf, place.version)) {
        root_->Renew(probe, &place);
      }
    }
    const BTreePosition position = FindFirstNotBelow(keys(), count_, probe);
    index_ = position.index;
    return position.exact;
  }

  void ReadNext() {
    index_ = 0;
    count_ = 0;
    if (next_ != nullptr) {
      Read(next_);
    }
  }

  void Read(const Leaf* leaf) {
    index_ = 0;
    if (frozen_) {
      ReadInPlace(leaf);
    } else {
      while (!TryCopy(leaf, leaf->version.Stable())) {
      }
    }
    // The leaf after this one is asked for while the caller is busy with this one.
    if (next_ != nullptr) {
      PrefetchNode(next_);
    }
  }

  void ReadInPlace(const Leaf* leaf) {
    in_place_ = leaf;
    count_ = leaf->size();
    next_ = leaf->next;
  }

  // False: the leaf is no longer at `version`, the copy is worth nothing.
  bool TryCopy(const Leaf* leaf, uint64_t version) {
    count_ = leaf->size();
    for (uint32_t i = 0; i < count_; ++i) {
      keys_[i] = LoadAcquire(leaf->keys[i]);
      values_[i] = LoadAcquire(leaf->values[i]);
    }
    Traits::RacePoint();
    next_ = LoadAcquire(leaf->next);
    return !leaf->version.ChangedSince(version);
  }

  const Root* root_;
  bool frozen_;
  const Leaf* in_place_ = nullptr;  // null: the copy below is read
  const Leaf* next_ = nullptr;
  uint32_t index_ = 0;
  uint32_t count_ = 0;
  BTreeKey keys_[Leaf::kEntries];
  Value values_[Leaf::kEntries] = {};
};

}  // namespace varve
