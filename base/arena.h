// Memory that is given out piece by piece and freed as a whole.
//
// An arena takes chunks from the heap and cuts allocations off their front. Chunks double from
// `first_chunk_bytes` to `max_chunk_bytes`, so that a small arena stays small and a large one asks
// the heap rarely; only a request that fits no chunk of the largest size gets one of its own,
// exactly as large as it needs. Nothing is returned before the arena goes, and no destructor is
// run: put trivially destructible objects here.
//
// Allocation is lock-free: one compare-and-swap moves the end of what is given out. A mutex is
// taken only to add a chunk.
//
// Under AddressSanitizer what is not given out is poisoned, so that running over the end of an
// allocation is reported as it would be for one of the heap.
//
// Thread-safety: any thread, except construction and destruction. What is allocated is not zeroed;
// handing it to another thread is the caller's to synchronise.
// Ownership: the arena owns its chunks. Those who keep pointers into it (trees, rows, scanners)
// keep a std::shared_ptr<Arena> beside them.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

namespace varve {

struct ArenaOptions {
  size_t first_chunk_bytes = size_t{4} << 10;
  size_t max_chunk_bytes = size_t{1} << 20;  // at least first_chunk_bytes
};

class Arena {
 public:
  static constexpr size_t kDefaultAlignment = 8;
  static constexpr size_t kMaxAlignment = 64;

  explicit Arena(const ArenaOptions& options = {});
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // `size` bytes, never null. Requires: size > 0; alignment is a power of two up to kMaxAlignment.
  void* Allocate(size_t size, size_t alignment = kDefaultAlignment);

  // Bytes taken from the heap: the sum of the chunks, whatever is given out of them.
  size_t footprint() const { return footprint_.load(std::memory_order_relaxed); }

 private:
  struct Chunk;

  Chunk* AddChunk(size_t bytes);
  void* AllocateInNewChunk(const Chunk* full, size_t size, size_t alignment);

  const ArenaOptions options_;
  std::atomic<Chunk*> current_;  // allocations are tried here
  std::atomic<size_t> footprint_ = 0;
  std::mutex mutex_;         // guards the two below, and writing to current_
  Chunk* chunks_ = nullptr;  // all of them, the youngest first
  size_t next_chunk_bytes_;  // what the next one has unless a request needs more
};

}  // namespace varve
