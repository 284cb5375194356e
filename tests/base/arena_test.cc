#include "base/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "tests/seed.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace varve {
namespace {

struct Piece {
  char* data;
  size_t size;
};

// Allocates `count` pieces of up to `max_size` bytes and fills each with `mark`.
std::vector<Piece> AllocatePieces(Arena* arena, size_t count, size_t max_size, uint64_t seed,
                                  char mark) {
  std::mt19937_64 random(seed);
  std::vector<Piece> pieces;
  for (size_t i = 0; i < count; ++i) {
    const size_t size = 1 + random() % max_size;
    const size_t alignment = size_t{1} << (random() % 7);
    auto* const data = static_cast<char*>(arena->Allocate(size, alignment));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0U);
    std::memset(data, mark, size);
    pieces.push_back({.data = data, .size = size});
  }
  return pieces;
}

// A2, A4
TEST(ArenaTest, ChunksDoubleUpToTheMaximumAndTheFootprintIsTheirSum) {
  Arena arena({.first_chunk_bytes = 1024, .max_chunk_bytes = 4096});
  EXPECT_EQ(arena.footprint(), 1024U);

  // The sums after one, two, … chunks of 1024, 2048, 4096, 4096, …
  std::vector<size_t> footprints = {arena.footprint()};
  while (footprints.size() < 5) {
    arena.Allocate(8);
    if (arena.footprint() != footprints.back()) {
      footprints.push_back(arena.footprint());
    }
  }

  EXPECT_EQ(footprints, (std::vector<size_t>{1024, 3072, 7168, 11264, 15360}));
}

// A2
TEST(ArenaTest, AnOversizedRequestGetsAChunkOfItsOwnAndTheCurrentOneStays) {
  Arena arena({.first_chunk_bytes = 1024, .max_chunk_bytes = 4096});
  auto* const before = static_cast<char*>(arena.Allocate(8));
  const size_t footprint = arena.footprint();

  auto* const large = static_cast<char*>(arena.Allocate(100'000));
  std::memset(large, 'x', 100'000);
  const size_t grown = arena.footprint() - footprint;
  auto* const after = static_cast<char*>(arena.Allocate(8));

  EXPECT_GE(grown, 100'000U);
  EXPECT_LE(grown, 100'000U + Arena::kMaxAlignment) << "no more than it needs";
  EXPECT_EQ(arena.footprint(), footprint + grown) << "the old chunk still had room";
  EXPECT_EQ(after, before + 8);
}

// A2
TEST(ArenaTest, ARequestLargerThanTheNextChunkSkipsToOneThatHoldsIt) {
  Arena arena({.first_chunk_bytes = 1024, .max_chunk_bytes = 65'536});
  arena.Allocate(10'000);
  EXPECT_EQ(arena.footprint(), 1024U + 16'384U);
}

// A3
TEST(ArenaTest, AlignsUpTo64) {
  Arena arena;
  for (size_t alignment = 1; alignment <= Arena::kMaxAlignment; alignment *= 2) {
    for (int i = 0; i < 50; ++i) {
      arena.Allocate(1, 1);  // the next free byte lies anywhere
      const void* const data = arena.Allocate(24, alignment);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % alignment, 0U) << alignment;
    }
  }
}

// A6
TEST(ArenaTest, LivesUntilItsLastUserLetsGo) {
  auto arena = std::make_shared<Arena>();
  auto* const data = static_cast<char*>(arena->Allocate(100));
  std::memset(data, 'x', 100);
  const std::shared_ptr<Arena> scanner = arena;
  arena.reset();
  EXPECT_EQ(std::count(data, data + 100, 'x'), 100);
}

// A1: what threads got does not overlap, and nobody else wrote to it.
TEST(ArenaTest, EightThreadsGetPiecesThatDoNotOverlap) {
  constexpr int kThreads = 8;
  constexpr size_t kPieces = 4'000;
  Arena arena({.first_chunk_bytes = 256, .max_chunk_bytes = 16'384});
  std::vector<std::vector<Piece>> pieces(kThreads);
  std::vector<std::thread> threads;
  const uint64_t seed = TestSeed();
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      pieces[static_cast<size_t>(t)] = AllocatePieces(
          &arena, kPieces, 120, seed + static_cast<uint64_t>(t), static_cast<char>('a' + t));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  std::vector<std::pair<uintptr_t, uintptr_t>> ranges;
  for (int t = 0; t < kThreads; ++t) {
    for (const Piece& piece : pieces[static_cast<size_t>(t)]) {
      const auto begin = reinterpret_cast<uintptr_t>(piece.data);
      ranges.emplace_back(begin, begin + piece.size);
      ASSERT_EQ(std::count(piece.data, piece.data + piece.size, static_cast<char>('a' + t)),
                static_cast<std::ptrdiff_t>(piece.size));
    }
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    ASSERT_LE(ranges[i - 1].second, ranges[i].first);
  }
}

// A4: pieces that fill a chunk to the last byte show how many chunks there must be.
TEST(ArenaTest, TheFootprintIsExactAfterConcurrentAllocation) {
  constexpr size_t kChunk = 4096;
  constexpr int kThreads = 8;
  constexpr size_t kPieces = 1'000;
  constexpr size_t kPiece = 64;
  Arena arena({.first_chunk_bytes = kChunk, .max_chunk_bytes = kChunk});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      size_t last = 0;
      for (size_t i = 0; i < kPieces; ++i) {
        arena.Allocate(kPiece, 64);
        const size_t footprint = arena.footprint();
        EXPECT_EQ(footprint % kChunk, 0U);
        EXPECT_GE(footprint, last);
        last = footprint;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  // The head of a chunk takes 64 bytes of it.
  constexpr size_t kPerChunk = (kChunk - 64) / kPiece;
  constexpr size_t kChunks = (kThreads * kPieces + kPerChunk - 1) / kPerChunk;
  EXPECT_EQ(arena.footprint(), kChunks * kChunk);
}

// A5
TEST(ArenaTest, WhatIsNotGivenOutIsPoisoned) {
#if defined(__SANITIZE_ADDRESS__)
  Arena arena;
  auto* const first = static_cast<char*>(arena.Allocate(24));
  EXPECT_EQ(__asan_address_is_poisoned(first + 23), 0);
  EXPECT_NE(__asan_address_is_poisoned(first + 24), 0) << "not given out yet";
  auto* const odd = static_cast<char*>(arena.Allocate(5, 1));
  EXPECT_EQ(__asan_address_is_poisoned(odd + 4), 0);
  EXPECT_NE(__asan_address_is_poisoned(odd + 5), 0);
  arena.Allocate(5, 1);
  EXPECT_NE(__asan_address_is_poisoned(odd + 5), 0) << "the gap between two stays poisoned";
  EXPECT_EQ(__asan_region_is_poisoned(first, 24), nullptr);
#else
  GTEST_SKIP() << "needs AddressSanitizer: preset asan";
#endif
}

}  // namespace
}  // namespace varve
