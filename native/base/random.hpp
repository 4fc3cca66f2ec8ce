// SplitMix64: the i-th number of a stream is a pure function of (seed, i), so the twin can draw
// the same numbers with array operations.
#pragma once

#include <cstdint>

#include "base/portable.hpp"

namespace rulewright {

inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

// The random numbers of one restart: a pure function of (seed, purpose, restart).
class RandomStream {
  public:
    RandomStream(std::uint64_t seed, std::uint64_t purpose, std::uint64_t restart)
        : key_(random_bits(random_bits(seed, purpose), restart)) {}

    std::uint64_t bits() { return random_bits(key_, drawn_++); }
    std::uint64_t below(std::uint64_t n) { return multiply_high(bits(), n); }
    bool chance(double p) { return static_cast<double>(bits() >> 11) * 0x1p-53 < p; }
    std::uint64_t drawn() const { return drawn_; }

  private:
    std::uint64_t key_;
    std::uint64_t drawn_ = 0;
};

}  // namespace rulewright
