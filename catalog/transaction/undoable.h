// Sets and maps that can go back to a mark: what an operation of a transaction did to them is taken
// back when it fails, at the cost of what it did, not of what is there.
//
// Thread-safety: none; values. Marks do not nest.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace varve {

template <typename T>
class UndoableSet {
 public:
  void insert(const T& value) {
    if (values_.insert(value).second) {
      changed_.push_back({value, /*added=*/true});
    }
  }
  void erase(const T& value) {
    if (values_.erase(value) > 0) {
      changed_.push_back({value, /*added=*/false});
    }
  }
  bool contains(const T& value) const { return values_.contains(value); }
  bool empty() const { return values_.empty(); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  void Mark() { changed_.clear(); }
  void Rollback() {
    for (auto change = changed_.rbegin(); change != changed_.rend(); ++change) {
      if (change->added) {
        values_.erase(change->value);
      } else {
        values_.insert(change->value);
      }
    }
    changed_.clear();
  }

 private:
  struct Change {
    T value;
    bool added = false;
  };
  std::set<T> values_;
  std::vector<Change> changed_;  // since the mark, in order
};

// Values are changed through operator[], which keeps what was there the first time after a mark.
template <typename Key, typename Value>
class UndoableMap {
 public:
  using const_iterator = typename std::map<Key, Value>::const_iterator;

  Value& operator[](const Key& key) {
    Keep(key);
    return values_[key];
  }
  void try_emplace(const Key& key, Value value) {
    Keep(key);
    values_.try_emplace(key, std::move(value));
  }
  void erase(const Key& key) {
    Keep(key);
    values_.erase(key);
  }
  const_iterator erase(const_iterator at) {
    Keep(at->first);
    return values_.erase(at);
  }
  const Value& at(const Key& key) const { return values_.at(key); }
  const_iterator find(const Key& key) const { return values_.find(key); }
  bool contains(const Key& key) const { return values_.contains(key); }
  bool empty() const { return values_.empty(); }
  const_iterator begin() const { return values_.begin(); }
  const_iterator end() const { return values_.end(); }

  void Mark() { before_.clear(); }
  void Rollback() {
    for (auto& [key, value] : before_) {
      if (value.has_value()) {
        values_.insert_or_assign(key, *std::move(value));
      } else {
        values_.erase(key);
      }
    }
    before_.clear();
  }

 private:
  void Keep(const Key& key) {
    if (!before_.contains(key)) {
      const auto found = values_.find(key);
      before_.emplace(key, found == values_.end() ? std::nullopt : std::optional(found->second));
    }
  }

  std::map<Key, Value> values_;
  std::map<Key, std::optional<Value>> before_;  // of what was touched since the mark
};

}  // namespace varve
