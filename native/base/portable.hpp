// The only file that asks which compiler and processor this is. Everything here has a version in
// standard C++20, which other compilers use, and GCC and clang with RULEWRIGHT_STANDARD as well.
// Both versions have the same results, bit for bit.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__GNUC__) && !defined(RULEWRIGHT_STANDARD)
#define RULEWRIGHT_GNU
#endif

#if defined(RULEWRIGHT_GNU) && defined(__x86_64__)
#define RULEWRIGHT_GNU_X86
#elif defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

// Functions that count bits or sweep over words exist twice where the loader can choose: for every
// x86-64 processor, and for those with AVX2 and a popcount instruction.
#if defined(RULEWRIGHT_GNU_X86) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define RULEWRIGHT_CLONES __attribute__((target_clones("avx2", "default")))
#endif
#endif
#ifndef RULEWRIGHT_CLONES
#define RULEWRIGHT_CLONES
#endif

// A function for processors that count the bits of eight words at once. No clone can ask for this
// instruction: has_wide_popcount() says whether the function may be called.
#ifdef RULEWRIGHT_GNU_X86
#define RULEWRIGHT_WIDE_POPCOUNT __attribute__((target("avx512f,avx512vpopcntdq")))
#else
#define RULEWRIGHT_WIDE_POPCOUNT
#endif

// A rare part of a hot loop, which stays a call.
#ifdef RULEWRIGHT_GNU
#define RULEWRIGHT_NOINLINE [[gnu::noinline]]
#elif defined(_MSC_VER)
#define RULEWRIGHT_NOINLINE __declspec(noinline)
#else
#define RULEWRIGHT_NOINLINE
#endif

namespace rulewright {

inline bool has_wide_popcount() {
#ifdef RULEWRIGHT_GNU_X86
    return __builtin_cpu_supports("avx512vpopcntdq") != 0;
#else
    return false;
#endif
}

// Asks for a cache line that is read soon.
inline void prefetch([[maybe_unused]] const void* place) {
#ifdef RULEWRIGHT_GNU
    __builtin_prefetch(place);
#elif defined(_MSC_VER) && defined(_M_X64)
    _mm_prefetch(static_cast<const char*>(place), _MM_HINT_T0);
#endif
}

// Asks for a cache line that is read and written soon.
inline void prefetch_to_write([[maybe_unused]] const void* place) {
#ifdef RULEWRIGHT_GNU
    __builtin_prefetch(place, 1);
#else
    prefetch(place);
#endif
}

// Tells the processor that this thread waits in a loop.
inline void pause() {
#ifdef RULEWRIGHT_GNU_X86
    __builtin_ia32_pause();
#elif defined(_MSC_VER) && defined(_M_X64)
    _mm_pause();
#endif
}

// The upper 64 bits of a product.
inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(RULEWRIGHT_GNU) && defined(__SIZEOF_INT128__)
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#else
    constexpr std::uint64_t low = 0xFFFFFFFF;
    const std::uint64_t b_low = b & low, b_high = b >> 32;
    const std::uint64_t lower = (a & low) * b_low;
    const std::uint64_t middle = (a >> 32) * b_low + (lower >> 32);
    const std::uint64_t other = (a & low) * b_high + (middle & low);
    return (a >> 32) * b_high + (middle >> 32) + (other >> 32);
#endif
}

// Four numbers; GCC and clang have instructions for them, or pairs of instructions.
#ifdef RULEWRIGHT_GNU
using Four [[gnu::vector_size(32)]] = double;
#else
struct Four {
    double lanes[4];

    double operator[](std::size_t k) const { return lanes[k]; }
    Four& operator+=(const Four& other) {
        for (std::size_t k = 0; k < 4; ++k) lanes[k] += other.lanes[k];
        return *this;
    }
    friend Four operator*(Four a, const Four& b) {
        for (std::size_t k = 0; k < 4; ++k) a.lanes[k] *= b.lanes[k];
        return a;
    }
};
#endif

inline void load(const double* from, Four& numbers) { std::memcpy(&numbers, from, sizeof numbers); }
inline void store(const Four& numbers, double* to) { std::memcpy(to, &numbers, sizeof numbers); }

// Sets the numbers to zero whose bit, of four, the word lacks.
inline void keep_marked(std::int64_t word, const std::int64_t* bits, Four& numbers) {
#ifdef RULEWRIGHT_GNU
    using FourBits [[gnu::vector_size(32)]] = std::int64_t;
    const FourBits words = {word, word, word, word};
    FourBits own;
    std::memcpy(&own, bits, sizeof own);
    numbers = reinterpret_cast<Four>(((words & own) != 0) & reinterpret_cast<FourBits>(numbers));
#else
    for (std::size_t k = 0; k < 4; ++k) {
        if ((word & bits[k]) == 0) numbers.lanes[k] = 0;
    }
#endif
}

}  // namespace rulewright
