// A change of one row: a node of the row's redo list.
//
//   timestamp (8) | next (8) | size (4) | change list (size bytes)
//
// One arena allocation of exactly that size. A node never changes once it is linked, except that
// its `next` is set once; nodes of one list are in timestamp order.
//
// Thread-safety: a list has one writer at a time (the caller sees to it) and any number of readers.
// The writer stores the link with release when all of the node is written; a reader loads it with
// acquire, so it sees either no node or a whole one.
// Ownership: the arena's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string_view>

#include "base/arena.h"
#include "mvcc/row_change_list.h"

namespace varve {

// When a change was made, on the clock of a row set: the number of its commit (csn).
using Timestamp = uint64_t;

inline constexpr Timestamp kMaxTimestamp = std::numeric_limits<Timestamp>::max();

class Mutation {
 public:
  // Requires: the list is well-formed.
  static Mutation* Create(Arena* arena, Timestamp at, RowChangeList list) {
    const std::string_view bytes = list.bytes();
    void* const memory = arena->Allocate(kListOffset + bytes.size(), alignof(Mutation));
    auto* const mutation = new (memory) Mutation(at, static_cast<uint32_t>(bytes.size()));
    std::memcpy(static_cast<char*>(memory) + kListOffset, bytes.data(), bytes.size());
    return mutation;
  }
  Mutation(const Mutation&) = delete;
  Mutation& operator=(const Mutation&) = delete;

  Timestamp timestamp() const { return timestamp_; }
  const Mutation* next() const { return next_.load(std::memory_order_acquire); }
  RowChangeList list() const {
    return RowChangeList({reinterpret_cast<const char*>(this) + kListOffset, size_});
  }

  // Links `after` behind this node, the last of its list.
  void Append(Mutation* after) { next_.store(after, std::memory_order_release); }

 private:
  // Where the list begins: right behind size_, in what the compiler would leave as padding.
  static constexpr size_t kListOffset = 20;

  Mutation(Timestamp timestamp, uint32_t size) : timestamp_(timestamp), size_(size) {}

  const Timestamp timestamp_;
  std::atomic<Mutation*> next_ = nullptr;
  const uint32_t size_;
};

}  // namespace varve
