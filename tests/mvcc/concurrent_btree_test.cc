// The concurrent B-tree in one thread. Beside each other: concurrent_btree_stress_test.cc.

#include "mvcc/concurrent_btree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/strings.h"
#include "mvcc/btree_key.h"
#include "mvcc/btree_node.h"
#include "tests/seed.h"

namespace varve {
namespace {

using Value = const std::string*;

// Nodes so small that a few keys make several levels.
struct TinyTraits : BTreeTraits {
  static constexpr size_t kLeafEntries = 4;
  static constexpr size_t kInnerKeys = 3;
};

using Tree = ConcurrentBTree<Value>;
using TinyTree = ConcurrentBTree<Value, TinyTraits>;
using Entries = std::vector<std::pair<std::string, std::string>>;

// Texts that stay where they are, to point to.
class Texts {
 public:
  Value Add(std::string text) { return &texts_.emplace_back(std::move(text)); }

 private:
  std::deque<std::string> texts_;
};

template <typename AnyTree>
Entries ReadAll(const AnyTree& tree) {
  Entries entries;
  auto iterator = tree.NewIterator();
  for (iterator.SeekToStart(); iterator.IsValid(); iterator.Next()) {
    entries.emplace_back(iterator.key(), *iterator.value());
  }
  return entries;
}

// Rising with n, of 1 to 3 digits.
std::string ShortKey(int n) {
  return StrCat(n < 10 ? "" : n < 100 ? "a" : "b", n);
}
std::string LongKey(int n) {
  return StrCat("a key of many bytes ", 100'000 + n);
}

template <typename AnyTree>
class BTreeOfAnyFanOut : public testing::Test {
 protected:
  void Fill(int count, int step) {
    for (int n = 0; n < count; ++n) {
      ASSERT_TRUE(tree_.Insert(LongKey(n * step), texts_.Add(StrCat("value ", n * step))));
    }
  }

  Arena arena_;
  Texts texts_;
  AnyTree tree_{&arena_};
};

using FanOuts = testing::Types<Tree, TinyTree>;
TYPED_TEST_SUITE(BTreeOfAnyFanOut, FanOuts);

// T1
TEST(BTreeNodeTest, NodesHave256BytesAtMost) {
  using Leaf = BTreeLeaf<Value, BTreeTraits>;
  using Inner = BTreeInner<BTreeTraits>;
  EXPECT_LE(sizeof(Leaf), 256U);
  EXPECT_LE(sizeof(Inner), 256U);
  EXPECT_EQ(sizeof(Leaf) % kCacheLine, 0U);
  EXPECT_LT((sizeof(BTreeLeaf<Value, TinyTraits>)), sizeof(Leaf)) << "fan-out is a parameter";
}

// T1, T2
TEST(BTreeNodeTest, ALeafKeepsOrderWhereverIsInserted) {
  using Leaf = BTreeLeaf<Value, TinyTraits>;
  Leaf leaf;
  Texts texts;
  const auto insert = [&](std::string_view key) {
    const BTreePosition position = leaf.Find(BTreeKeyProbe(key));
    if (position.exact || leaf.size() == Leaf::kEntries) {
      return false;
    }
    leaf.version.Lock();
    leaf.version.SetInserting();
    leaf.InsertAt(position.index, BTreeKey::Inline(key), texts.Add(std::string(key)));
    leaf.version.Unlock();
    return true;
  };
  const auto contents = [&] {
    std::string all;
    for (uint32_t i = 0; i < leaf.size(); ++i) {
      EXPECT_EQ(leaf.keys[i].view(), *leaf.values[i]) << "keys and values move together";
      StrAppend(&all, leaf.keys[i].view());
    }
    return all;
  };

  EXPECT_TRUE(insert("m"));
  EXPECT_TRUE(insert("c"));
  EXPECT_EQ(contents(), "cm") << "before";
  EXPECT_TRUE(insert("x"));
  EXPECT_EQ(contents(), "cmx") << "after";
  EXPECT_TRUE(insert("g"));
  EXPECT_EQ(contents(), "cgmx") << "in the middle";
  EXPECT_FALSE(insert("g")) << "there already";
  EXPECT_FALSE(insert("h")) << "full";
  EXPECT_EQ(contents(), "cgmx");
  EXPECT_EQ(BTreeVersion::InsertCount(leaf.version.Stable()), 4U);
}

// T2
TEST(BTreeKeyTest, KeysOfSevenBytesAtMostLieInTheSlot) {
  std::string stored(BTreeKey::StoredSize("12345678"), '\0');
  BTreeKey::Store("12345678", stored.data());
  EXPECT_EQ(stored, std::string("\x08\0"
                                "12345678",
                                10));
  const BTreeKey long_key = BTreeKey::Stored(stored.data());
  EXPECT_TRUE(long_key.is_stored());
  EXPECT_EQ(long_key.view(), "12345678");
  EXPECT_EQ(static_cast<const void*>(long_key.view().data()), stored.data() + 2) << "no copy";
  for (const std::string_view key : {"", "1", "1234567"}) {
    const BTreeKey slot = BTreeKey::Inline(key);
    EXPECT_FALSE(slot.is_stored());
    EXPECT_EQ(slot.view(), key);
  }
}

// T2: bytes 0, 0x7f, 0x80 and 0xff at every place around the limits of the slot and of a word.
TEST(BTreeKeyTest, ComparesAsMemcmpDoes) {
  std::mt19937_64 random(TestSeed());
  constexpr char kBytes[] = {'\0', '\x7f', '\x80', '\xff'};
  std::vector<std::string> keys;
  for (const size_t size : {0, 1, 6, 7, 8, 9, 15, 16, 17, 23, 24, 25}) {
    for (int i = 0; i < 12; ++i) {
      std::string key(size, 'x');
      for (size_t at = size - std::min<size_t>(size, 1 + random() % 9); at < size; ++at) {
        key[at] = kBytes[random() % 4];
      }
      keys.push_back(key);
    }
  }
  for (const std::string& slot_key : keys) {
    std::string stored(BTreeKey::StoredSize(slot_key), '\0');
    BTreeKey::Store(slot_key, stored.data());
    const BTreeKey slot = slot_key.size() <= BTreeKey::kMaxInline ? BTreeKey::Inline(slot_key)
                                                                  : BTreeKey::Stored(stored.data());
    for (const std::string& key : keys) {
      const int expected = key < slot_key ? -1 : key > slot_key ? 1 : 0;
      ASSERT_EQ(BTreeKeyProbe(key).Compare(slot), expected)
          << BytesToHexString(key) << " and " << BytesToHexString(slot_key);
    }
  }
}

// T7
TYPED_TEST(BTreeOfAnyFanOut, AnEmptyTreeHasNothing) {
  EXPECT_EQ(this->tree_.size(), 0U);
  EXPECT_EQ(this->tree_.Find("a"), std::nullopt);
  auto iterator = this->tree_.NewIterator();
  EXPECT_FALSE(iterator.IsValid()) << "before the first seek";
  iterator.SeekToStart();
  EXPECT_FALSE(iterator.IsValid());
  bool exact = true;
  EXPECT_FALSE(iterator.SeekAtOrAfter("a", &exact));
  EXPECT_FALSE(exact);
  exact = true;
  EXPECT_FALSE(iterator.SeekAtOrBefore("a", &exact));
  EXPECT_FALSE(exact);
  EXPECT_FALSE(iterator.IsValid());
}

// T8
TYPED_TEST(BTreeOfAnyFanOut, ADuplicateDoesNotReplace) {
  constexpr int kKeys = 10'000;
  const Value other = this->texts_.Add("another");
  for (int n = 0; n < kKeys; ++n) {
    const Value value = this->texts_.Add(StrCat(n));
    ASSERT_TRUE(this->tree_.Insert(LongKey(n), value));
    ASSERT_FALSE(this->tree_.Insert(LongKey(n), other));
    ASSERT_EQ(this->tree_.Find(LongKey(n)), value);
  }
  for (int n = 0; n < kKeys; ++n) {
    ASSERT_FALSE(this->tree_.Insert(LongKey(n), other));
    const std::optional<Value> value = this->tree_.Find(LongKey(n));
    ASSERT_TRUE(value.has_value());
    ASSERT_EQ(**value, StrCat(n));
  }
  EXPECT_EQ(this->tree_.size(), static_cast<size_t>(kKeys));
  EXPECT_EQ(this->tree_.Find(LongKey(kKeys)), std::nullopt);
  EXPECT_EQ(this->tree_.Find(""), std::nullopt);
}

// T2
TYPED_TEST(BTreeOfAnyFanOut, TakesKeysOfAnyLength) {
  Entries expected;
  for (const size_t size : {0, 1, 7, 8, 1'000, 65'535}) {
    for (const std::string_view letter : {"a", "b", "c"}) {
      if (size == 0 && letter != "a") {
        continue;
      }
      const std::string key = size == 0 ? "" : std::string(size - 1, 'k').append(letter);
      ASSERT_TRUE(this->tree_.Insert(key, this->texts_.Add(StrCat(size, letter))));
      expected.emplace_back(key, StrCat(size, letter));
    }
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(ReadAll(this->tree_), expected);
  for (const auto& [key, text] : expected) {
    ASSERT_TRUE(this->tree_.Find(key).has_value());
    EXPECT_EQ(**this->tree_.Find(key), text);
  }
}

// T2: 1,000-byte keys that differ in their last bytes only.
TYPED_TEST(BTreeOfAnyFanOut, TakesManyKeysOf1000Bytes) {
  const auto key = [](int n) { return std::string(994, 'p') + StrCat(100'000 + n); };
  std::vector<int> order(500);
  for (int n = 0; n < 500; ++n) {
    order[static_cast<size_t>(n)] = n;
  }
  std::mt19937_64 random(TestSeed());
  std::shuffle(order.begin(), order.end(), random);
  for (const int n : order) {
    ASSERT_TRUE(this->tree_.Insert(key(n), this->texts_.Add(StrCat(n))));
  }
  const Entries entries = ReadAll(this->tree_);
  ASSERT_EQ(entries.size(), order.size());
  for (int n = 0; n < 500; ++n) {
    ASSERT_EQ(entries[static_cast<size_t>(n)], std::pair(key(n), StrCat(n)));
  }
}

TYPED_TEST(BTreeOfAnyFanOut, HoldsWhatAMapHolds) {
  for (const int count : {1'000, 100'000}) {
    Arena arena;
    TypeParam tree(&arena);
    std::map<std::string, std::string> model;
    std::mt19937_64 random(TestSeed() + static_cast<uint64_t>(count));
    for (int i = 0; i < count; ++i) {
      std::string key(random() % 12, '\0');
      for (char& byte : key) {
        byte = static_cast<char>('a' + random() % 4);
      }
      if (random() % 2 == 0) {
        StrAppend(&key, random());
      }
      const auto [entry, inserted] = model.emplace(key, StrCat(i));
      ASSERT_EQ(tree.Insert(key, &entry->second), inserted);
    }
    EXPECT_EQ(tree.size(), model.size());
    EXPECT_EQ(ReadAll(tree), Entries(model.begin(), model.end()));
    for (const auto& [key, text] : model) {
      ASSERT_EQ(tree.Find(key), &text);
      ASSERT_EQ(tree.Find(key + "~").has_value(), model.contains(key + "~"));
    }
    auto iterator = tree.NewIterator();
    for (int i = 0; i < 2'000; ++i) {
      std::string key(random() % 9, '\0');
      for (char& byte : key) {
        byte = static_cast<char>('a' + random() % 5);
      }
      bool exact = false;
      const auto after = model.lower_bound(key);
      ASSERT_EQ(iterator.SeekAtOrAfter(key, &exact), after != model.end());
      ASSERT_EQ(exact, model.contains(key));
      if (after != model.end()) {
        ASSERT_EQ(iterator.key(), after->first);
      }
      const auto behind = model.upper_bound(key);
      ASSERT_EQ(iterator.SeekAtOrBefore(key, &exact), behind != model.begin());
      ASSERT_EQ(exact, model.contains(key));
      if (behind != model.begin()) {
        ASSERT_EQ(iterator.key(), std::prev(behind)->first);
      }
    }
  }
}

// T6: no leaf but the last one has room left.
TYPED_TEST(BTreeOfAnyFanOut, RisingKeysLeaveFullLeaves) {
  constexpr size_t kFull = BTreeIterator<Value, BTreeTraits>::Leaf::kEntries;
  constexpr size_t kEntries = std::is_same_v<TypeParam, Tree> ? kFull : TinyTraits::kLeafEntries;
  this->Fill(1'000, 1);
  auto iterator = this->tree_.NewIterator();
  size_t read = 0;
  for (iterator.SeekToStart(); iterator.IsValid();) {
    const size_t in_leaf = iterator.LeafValues().size();
    ASSERT_EQ(in_leaf, std::min(kEntries, 1'000 - read)) << read;
    read += in_leaf;
    iterator.SkipLeaf(in_leaf);
  }
  EXPECT_EQ(read, 1'000U);
}

// T7
TYPED_TEST(BTreeOfAnyFanOut, SeeksAtOrAfter) {
  this->Fill(100, 10);
  auto iterator = this->tree_.NewIterator();
  bool exact = false;
  const auto seek = [&](const std::string& key) {
    return iterator.SeekAtOrAfter(key, &exact) ? *iterator.value() : "none";
  };
  EXPECT_EQ(seek(""), "value 0") << "before the first";
  EXPECT_FALSE(exact);
  EXPECT_EQ(seek(LongKey(0)), "value 0") << "to the first";
  EXPECT_TRUE(exact);
  EXPECT_EQ(seek(LongKey(990)), "value 990") << "to the last";
  EXPECT_TRUE(exact);
  EXPECT_EQ(seek(LongKey(991)), "none") << "after the last";
  EXPECT_FALSE(exact);
  EXPECT_FALSE(iterator.IsValid());
  for (int n = 1; n < 99; ++n) {
    EXPECT_EQ(seek(LongKey(n * 10)), StrCat("value ", n * 10));
    EXPECT_TRUE(exact);
    EXPECT_EQ(seek(LongKey(n * 10 + 3)), StrCat("value ", n * 10 + 10)) << "between";
    EXPECT_FALSE(exact);
    iterator.Next();
    EXPECT_EQ(iterator.IsValid() ? *iterator.value() : "none",
              n == 98 ? "none" : StrCat("value ", n * 10 + 20))
        << "it goes on from there";
  }
}

// T7
TYPED_TEST(BTreeOfAnyFanOut, SeeksAtOrBefore) {
  this->Fill(100, 10);
  auto iterator = this->tree_.NewIterator();
  bool exact = true;
  const auto seek = [&](const std::string& key) {
    return iterator.SeekAtOrBefore(key, &exact) ? *iterator.value() : "none";
  };
  EXPECT_EQ(seek(""), "none") << "before the first";
  EXPECT_FALSE(exact);
  EXPECT_FALSE(iterator.IsValid());
  EXPECT_EQ(seek(LongKey(991)), "value 990") << "after the last";
  EXPECT_FALSE(exact);
  for (int n = 0; n < 100; ++n) {
    EXPECT_EQ(seek(LongKey(n * 10)), StrCat("value ", n * 10));
    EXPECT_TRUE(exact);
    EXPECT_EQ(seek(LongKey(n * 10 + 3)), StrCat("value ", n * 10)) << "between";
    EXPECT_FALSE(exact);
  }
}

// T7
TYPED_TEST(BTreeOfAnyFanOut, RewindsInsideALeaf) {
  this->Fill(100, 1);
  auto iterator = this->tree_.NewIterator();
  int n = 0;
  for (iterator.SeekToStart(); iterator.IsValid(); ++n) {
    const size_t in_leaf = iterator.LeafValues().size();
    iterator.SkipLeaf(in_leaf - 1);
    for (size_t i = in_leaf - 1; i > 0; --i) {
      EXPECT_EQ(iterator.key(), LongKey(n + static_cast<int>(i)));
      EXPECT_TRUE(iterator.Prev());
    }
    EXPECT_EQ(iterator.key(), LongKey(n));
    EXPECT_FALSE(iterator.Prev()) << "the edge of the leaf";
    EXPECT_EQ(iterator.key(), LongKey(n)) << "and nothing happened";
    iterator.SkipLeaf(in_leaf);
    n += static_cast<int>(in_leaf) - 1;
  }
  EXPECT_EQ(n, 100);
}

// T7
TYPED_TEST(BTreeOfAnyFanOut, ReadsWholeLeaves) {
  Entries expected;
  for (int n = 0; n < 300; ++n) {  // inline and stored keys
    const std::string key = n % 2 == 0 ? ShortKey(n) : LongKey(n);
    ASSERT_TRUE(this->tree_.Insert(key, this->texts_.Add(StrCat(n))));
    expected.emplace_back(key, StrCat(n));
  }
  std::sort(expected.begin(), expected.end());
  Entries entries;
  auto iterator = this->tree_.NewIterator();
  for (iterator.SeekToStart(); iterator.IsValid();) {
    const std::span<const Value> values = iterator.LeafValues();
    const size_t half = (values.size() + 1) / 2;  // a scan may stop inside a leaf
    for (size_t i = 0; i < half; ++i) {
      entries.emplace_back(iterator.LeafKey(i), *values[i]);
    }
    iterator.SkipLeaf(half);
  }
  EXPECT_EQ(entries, expected);
}

// T7
TYPED_TEST(BTreeOfAnyFanOut, AnIteratorSeesALeafAsItWasWhenItCameThere) {
  this->Fill(2, 10);
  auto iterator = this->tree_.NewIterator();
  iterator.SeekToStart();
  for (int n = 1; n < 10; ++n) {  // more than fit in: the leaf is split under the iterator
    ASSERT_TRUE(this->tree_.Insert(LongKey(n), this->texts_.Add("new")));
  }
  EXPECT_EQ(iterator.key(), LongKey(0));
  iterator.Next();
  EXPECT_EQ(iterator.key(), LongKey(10)) << "the copy knows no new entries";
  iterator.Next();
  EXPECT_FALSE(iterator.IsValid()) << "nor that the last one has moved";
  EXPECT_EQ(ReadAll(this->tree_).size(), 11U);
}

// T7
TYPED_TEST(BTreeOfAnyFanOut, AFrozenTreeReadsTheSameWithoutCopies) {
  std::mt19937_64 random(TestSeed());
  for (int n = 0; n < 3'000; ++n) {
    const int k = static_cast<int>(random() % 5'000);
    this->tree_.Insert(k % 3 == 0 ? ShortKey(k) : LongKey(k), this->texts_.Add(StrCat(k)));
  }
  auto before = this->tree_.NewIterator();
  before.SeekToStart();
  const Entries unfrozen = ReadAll(this->tree_);

  EXPECT_FALSE(this->tree_.frozen());
  this->tree_.Freeze();
  EXPECT_TRUE(this->tree_.frozen());

  EXPECT_EQ(ReadAll(this->tree_), unfrozen);
  auto first = this->tree_.NewIterator();
  auto second = this->tree_.NewIterator();
  first.SeekToStart();
  second.SeekToStart();
  EXPECT_EQ(first.LeafValues().data(), second.LeafValues().data()) << "the leaf itself";
  EXPECT_NE(before.LeafValues().data(), first.LeafValues().data()) << "a copy";
  EXPECT_TRUE(std::ranges::equal(before.LeafValues(), first.LeafValues()));
  bool exact = false;
  ASSERT_TRUE(first.SeekAtOrAfter(unfrozen[1'000].first, &exact));
  EXPECT_TRUE(exact);
  EXPECT_EQ(*first.value(), unfrozen[1'000].second);
  EXPECT_EQ(this->tree_.Find(unfrozen[7].first), first.SeekAtOrBefore(unfrozen[7].first, &exact)
                                                     ? std::optional(first.value())
                                                     : std::nullopt);
}

TYPED_TEST(BTreeOfAnyFanOut, AnIteratorCanBeMovedAndCopied) {
  this->Fill(50, 1);
  auto iterator = this->tree_.NewIterator();
  bool exact = false;
  ASSERT_TRUE(iterator.SeekAtOrAfter(LongKey(20), &exact));
  auto copy = iterator;
  iterator.SeekToStart();
  EXPECT_EQ(copy.key(), LongKey(20));
  copy.Next();
  EXPECT_EQ(*copy.value(), "value 21");
}

// T5
TYPED_TEST(BTreeOfAnyFanOut, APreparedMutationKnowsWhetherTheKeyExists) {
  using Mutation = typename TypeParam::PreparedMutation;
  const Value first = this->texts_.Add("first");
  {
    Mutation mutation(&this->tree_, "a key of more than seven bytes");
    EXPECT_FALSE(mutation.exists());
    mutation.Insert(first);
  }
  {
    Mutation mutation(&this->tree_, "a key of more than seven bytes");
    EXPECT_TRUE(mutation.exists());
    EXPECT_EQ(mutation.value(), first);
  }
  { const Mutation given_up(&this->tree_, "another"); }
  EXPECT_EQ(this->tree_.Find("another"), std::nullopt);
  EXPECT_EQ(this->tree_.size(), 1U);
  EXPECT_TRUE(this->tree_.Insert("another", first)) << "the lock was given back";
}

// T5: the other writer of the leaf comes through only after the mutation has gone; readers do not
// wait for either.
TYPED_TEST(BTreeOfAnyFanOut, APreparedMutationHoldsTheLockUntilItGoes) {
  using Mutation = typename TypeParam::PreparedMutation;
  for (const bool insert : {false, true}) {
    const std::string key = StrCat("key ", insert);
    const Value mine = this->texts_.Add("mine");
    const Value theirs = this->texts_.Add("theirs");
    std::atomic<bool> released = false;
    std::optional<Mutation> mutation;
    mutation.emplace(&this->tree_, key);
    ASSERT_FALSE(mutation->exists());

    bool inserted = false;
    bool came_after = false;
    std::thread other([&] {
      inserted = this->tree_.Insert(key, theirs);
      came_after = released.load();
    });
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(this->tree_.Find(key), std::nullopt) << "readers pass";
      std::this_thread::yield();
    }
    released.store(true);
    if (insert) {
      mutation->Insert(mine);
    }
    mutation.reset();
    other.join();

    EXPECT_TRUE(came_after);
    EXPECT_EQ(inserted, !insert);
    EXPECT_EQ(this->tree_.Find(key), insert ? mine : theirs);
  }
}

// W9
TEST(ConcurrentBTreeTest, LookingForAKeyWithoutInsertingChangesNothingForReaders) {
  Arena arena;
  BTreeLeaf<Value, BTreeTraits> leaf;
  const uint64_t before = leaf.version.Stable();
  BTreeRoot<Value, BTreeTraits> root(&leaf);
  EXPECT_EQ(root.Find(BTreeKeyProbe("a")), std::nullopt);
  EXPECT_EQ(root.FindLeaf(BTreeKeyProbe("a")).version, before);
  EXPECT_FALSE(leaf.version.is_locked());

  // And through a whole tree: an iterator's copy stays valid beside a mutation that is given up.
  Texts texts;
  Tree tree(&arena);
  ASSERT_TRUE(tree.Insert("b", texts.Add("b")));
  const size_t footprint = arena.footprint();
  { const Tree::PreparedMutation mutation(&tree, "c"); }
  EXPECT_EQ(tree.Find("c"), std::nullopt);
  EXPECT_EQ(arena.footprint(), footprint);
}

// A stored key is pointed to, not copied, in leaves and in the inner nodes above them.
TYPED_TEST(BTreeOfAnyFanOut, StoredKeysAreNotCopied) {
  using Mutation = typename TypeParam::PreparedMutation;
  std::deque<std::string> keys;
  std::deque<std::string> stored_keys;
  for (int n = 0; n < 500; ++n) {
    // Not aligned: a key of an even place begins at an odd address.
    const std::string& key = keys.emplace_back(n % 5 == 0 ? ShortKey(n) : LongKey(n));
    std::string& stored = stored_keys.emplace_back(TypeParam::StoredKeySize(key) + 1, '\0');
    TypeParam::StoreKey(key, stored.data() + n % 2);
    Mutation mutation(&this->tree_, key);
    ASSERT_FALSE(mutation.exists());
    mutation.InsertWithStoredKey(stored.data() + n % 2, &key);
  }
  auto iterator = this->tree_.NewIterator();
  bool exact = false;
  for (int n = 0; n < 500; ++n) {
    const std::string& key = keys[static_cast<size_t>(n)];
    ASSERT_TRUE(iterator.SeekAtOrAfter(key, &exact) && exact);
    ASSERT_EQ(iterator.key(), key);
    ASSERT_EQ(iterator.value(), &key);
    if (key.size() > BTreeKey::kMaxInline) {
      ASSERT_EQ(iterator.key().data(), stored_keys[static_cast<size_t>(n)].data() + n % 2 + 2);
    }
  }
}

}  // namespace
}  // namespace varve
