// Sets of rows as words of bits: row i is bit i % 64 of word i / 64.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

// Functions that count bits or sweep over words exist twice where the loader can choose: for every
// x86-64 processor, and for those with AVX2 and a popcount instruction.
#if defined(__x86_64__) && defined(__linux__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define RULEWRIGHT_CLONES __attribute__((target_clones("avx2", "default")))
#endif
#endif
#ifndef RULEWRIGHT_CLONES
#define RULEWRIGHT_CLONES
#endif

namespace rulewright {

using Bits = std::uint64_t;

inline constexpr std::size_t kWordBits = 64;

inline std::size_t count_words(std::size_t n) { return (n + kWordBits - 1) / kWordBits; }

inline bool test_bit(const Bits* words, std::size_t i) {
    return (words[i / kWordBits] >> (i % kWordBits) & 1) != 0;
}

inline void set_bit(Bits* words, std::size_t i) {
    words[i / kWordBits] |= Bits{1} << (i % kWordBits);
}

}  // namespace rulewright
