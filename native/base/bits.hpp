// Sets of rows as words of bits: row i is bit i % 64 of word i / 64.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/portable.hpp"

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
