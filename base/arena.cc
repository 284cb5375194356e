#include "base/arena.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace varve {
namespace {

#if defined(__SANITIZE_ADDRESS__)
// The shadow has one byte per 8 bytes: threads that unpoison neighbouring allocations must not
// share one.
constexpr size_t kMinAlignment = 8;

void Poison(const void* data, size_t size) {
  ASAN_POISON_MEMORY_REGION(data, size);
}
void Unpoison(const void* data, size_t size) {
  ASAN_UNPOISON_MEMORY_REGION(data, size);
}
#else
constexpr size_t kMinAlignment = 1;

void Poison(const void* /*data*/, size_t /*size*/) {}
void Unpoison(const void* /*data*/, size_t /*size*/) {}
#endif

constexpr size_t AlignUp(size_t offset, size_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

}  // namespace

// The head of a chunk; what is given out follows it in the same piece of the heap. The chunk itself
// is aligned to kMaxAlignment, so that an aligned offset is an aligned address.
struct alignas(Arena::kMaxAlignment) Arena::Chunk {
  Chunk(size_t all_bytes, Chunk* older_chunk) : bytes(all_bytes), older(older_chunk) {}

  char* data() { return reinterpret_cast<char*>(this); }

  // Null: it does not fit.
  void* TryAllocate(size_t size, size_t alignment) {
    // Relaxed: the bytes between `used` and `bytes` hold nothing that another thread wrote, and
    // who got the pointer to this chunk acquired all of its head.
    size_t old_used = used.load(std::memory_order_relaxed);
    while (true) {
      const size_t offset = AlignUp(old_used, alignment);
      if (offset > bytes || bytes - offset < size) {
        return nullptr;
      }
      if (used.compare_exchange_weak(old_used, offset + size, std::memory_order_relaxed)) {
        Unpoison(data() + offset, size);
        return data() + offset;
      }
    }
  }

  const size_t bytes;  // with this head
  Chunk* const older;
  std::atomic<size_t> used = sizeof(Chunk);
};

Arena::Arena(const ArenaOptions& options)
    : options_(options), next_chunk_bytes_(std::max(options.first_chunk_bytes, 2 * sizeof(Chunk))) {
  assert(options.max_chunk_bytes >= options.first_chunk_bytes);
  current_.store(AddChunk(next_chunk_bytes_), std::memory_order_release);
  next_chunk_bytes_ = std::min(2 * next_chunk_bytes_, options_.max_chunk_bytes);
}

Arena::~Arena() {
  for (Chunk* chunk = chunks_; chunk != nullptr;) {
    Chunk* const older = chunk->older;
    const size_t bytes = chunk->bytes;
    Unpoison(chunk, bytes);
    chunk->~Chunk();
    ::operator delete (chunk, std::align_val_t{kMaxAlignment});
    chunk = older;
  }
}

void* Arena::Allocate(size_t size, size_t alignment) {
  assert(size > 0);
  assert(alignment > 0 && alignment <= kMaxAlignment && (alignment & (alignment - 1)) == 0);
  alignment = std::max(alignment, kMinAlignment);
  // Acquires what AllocateInNewChunk released: the head of the chunk.
  Chunk* const chunk = current_.load(std::memory_order_acquire);
  if (void* const data = chunk->TryAllocate(size, alignment); data != nullptr) {
    return data;
  }
  return AllocateInNewChunk(chunk, size, alignment);
}

Arena::Chunk* Arena::AddChunk(size_t bytes) {
  void* const memory = ::operator new (bytes, std::align_val_t{kMaxAlignment});
  auto* const chunk = new (memory) Chunk(bytes, chunks_);
  Poison(chunk->data() + sizeof(Chunk), bytes - sizeof(Chunk));
  chunks_ = chunk;
  footprint_.fetch_add(bytes, std::memory_order_relaxed);
  return chunk;
}

void* Arena::AllocateInNewChunk(const Chunk* full, size_t size, size_t alignment) {
  const size_t needed = AlignUp(sizeof(Chunk), alignment) + size;
  const std::lock_guard lock(mutex_);
  // Another thread may have added one while this one waited; only when that is full too is a
  // further one needed.
  if (Chunk* const chunk = current_.load(std::memory_order_relaxed); chunk != full) {
    if (void* const data = chunk->TryAllocate(size, alignment); data != nullptr) {
      return data;
    }
  }
  if (needed > options_.max_chunk_bytes) {
    // Not made the current one: what is left of that still serves small requests.
    return AddChunk(needed)->TryAllocate(size, alignment);
  }
  size_t bytes = next_chunk_bytes_;
  while (bytes < needed) {
    bytes = std::min(2 * bytes, options_.max_chunk_bytes);
  }
  next_chunk_bytes_ = std::min(2 * bytes, options_.max_chunk_bytes);
  Chunk* const chunk = AddChunk(bytes);
  // Cut off before others see the chunk: they cannot use it up first.
  void* const data = chunk->TryAllocate(size, alignment);
  current_.store(chunk, std::memory_order_release);
  return data;
}

}  // namespace varve
