// SplitMix64: the i-th number of a stream is a pure function of (seed, i), so the twin can draw
// the same numbers with array operations.
#pragma once

#include <cstdint>

namespace rulewright {

inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

}  // namespace rulewright
