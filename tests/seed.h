// The seed of property tests: a new one each run, printed, and repeatable.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace varve {

// The seed of this process: VARVE_TEST_SEED if it is set, else a random one. Printed on first use,
// so that a failure can be repeated: VARVE_TEST_SEED=N <program> --gtest_filter=<test>.
inline uint64_t TestSeed() {
  static const uint64_t process_seed = [] {
    const char* given = std::getenv("VARVE_TEST_SEED");  // NOLINT(concurrency-mt-unsafe): once
    const uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("VARVE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    return seed;
  }();
  return process_seed;
}

}  // namespace varve
