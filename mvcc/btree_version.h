// The version word of a B-tree node: its lock, and what a reader needs to notice a change.
//
//   63      62         61         60 .. 32         31 .. 0
//   locked  inserting  splitting  split counter    insert counter
//
// A writer locks, sets the flag of what it is about to do (the node is *dirty* now), changes the
// node, and unlocks; unlocking adds one to the counter of every flag that is set and clears the
// flags, in one store. Locking and unlocking without a flag changes nothing that a reader looks at.
//
// A reader writes nothing. It takes a stable version (one without a flag), reads the node, and
// looks at the version again: when it has not changed, what was read is one state of the node. A
// changed insert counter means reading the node again; a changed split counter means that keys have
// moved to another node, so the way from the root has to be found again.
//
// Why this is right on a processor that reorders, and under ThreadSanitizer, which knows no fences:
//   - The writer's flag is a relaxed store, every store into the node after it a *release* store.
//     The reader's loads from the node are *acquire* loads, the second look at the version comes
//     after them. So a reader that met one word of a change also meets the flag, or what came
//     after it: it cannot take half a change for a state.
//   - Unlocking is a release store, taking a stable version an acquire load: a reader that starts
//     from a version sees everything that led to it. Taking the lock is a read-modify-write, so a
//     reader that meets a locked word without flags still acquires the unlock before it.
// A counter that came round between two looks would be missed: that takes 2^32 inserts into one
// node while one reader stands still.
//
// Thread-safety: any thread; Set*, Unlock only by the one that holds the lock.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <thread>

namespace varve {

// Waits for another thread to get on: a few pauses of the processor first, then, as the other one
// may be waiting for this very core, the scheduler.
class SpinWait {
 public:
  void Once() {
    if (++turns_ > kPauses) {
      std::this_thread::yield();
      return;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

 private:
  static constexpr int kPauses = 64;
  int turns_ = 0;
};

class BTreeVersion {
 public:
  enum class Birth : uint8_t {
    kUnlocked,
    kLockedInserting,  // a node that others can reach before it is complete
  };

  explicit BTreeVersion(Birth birth)
      : word_(birth == Birth::kLockedInserting ? kLocked | kInserting : 0) {}

  // Readers: a version without flags, waiting for one. The lock bit is taken off.
  uint64_t Stable() const {
    SpinWait wait;
    while (true) {
      const uint64_t word = word_.load(std::memory_order_acquire);
      if ((word & kDirty) == 0) {
        return word & ~kLocked;
      }
      wait.Once();
    }
  }

  // Readers: whether the node may be another than it was at `stable`. To be asked after acquire
  // loads of what is to be validated.
  bool ChangedSince(uint64_t stable) const {
    return (word_.load(std::memory_order_relaxed) & ~kLocked) != stable;
  }

  // Whether a split lies between two stable versions.
  static bool HasSplit(uint64_t before, uint64_t after) {
    return ((before ^ after) & kSplitCounter) != 0;
  }

  void Lock() {
    SpinWait wait;
    while (!TryLock()) {
      wait.Once();
    }
  }
  bool TryLock() {
    uint64_t word = word_.load(std::memory_order_relaxed);
    return (word & kLocked) == 0 &&
           word_.compare_exchange_weak(word, word | kLocked, std::memory_order_acquire,
                                       std::memory_order_relaxed);
  }
  bool is_locked() const { return (word_.load(std::memory_order_relaxed) & kLocked) != 0; }

  void SetInserting() { SetFlag(kInserting); }
  void SetSplitting() { SetFlag(kSplitting); }

  void Unlock() {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    assert((word & kLocked) != 0);
    uint64_t inserts = word & kInsertCounter;
    uint64_t splits = word & kSplitCounter;
    if ((word & kInserting) != 0) {
      inserts = (inserts + 1) & kInsertCounter;
    }
    if ((word & kSplitting) != 0) {
      splits = (splits + kOneSplit) & kSplitCounter;
    }
    word_.store(splits | inserts, std::memory_order_release);
  }

  // How often it was unlocked after inserting and after splitting.
  static uint64_t InsertCount(uint64_t stable) { return stable & kInsertCounter; }
  static uint64_t SplitCount(uint64_t stable) { return (stable & kSplitCounter) / kOneSplit; }

 private:
  static constexpr uint64_t kLocked = uint64_t{1} << 63;
  static constexpr uint64_t kInserting = uint64_t{1} << 62;
  static constexpr uint64_t kSplitting = uint64_t{1} << 61;
  static constexpr uint64_t kDirty = kInserting | kSplitting;
  static constexpr uint64_t kOneSplit = uint64_t{1} << 32;
  static constexpr uint64_t kInsertCounter = kOneSplit - 1;
  static constexpr uint64_t kSplitCounter = (kSplitting - 1) & ~kInsertCounter;

  void SetFlag(uint64_t flag) {
    const uint64_t word = word_.load(std::memory_order_relaxed);
    assert((word & kLocked) != 0);
    word_.store(word | flag, std::memory_order_relaxed);
  }

  std::atomic<uint64_t> word_;
};

}  // namespace varve
