#include "base/count_bits.hpp"

namespace rulewright {
namespace {

RULEWRIGHT_CLONES
std::int64_t count_words_one_by_one(const Bits* a, const Bits* b, std::size_t n_words) {
    std::int64_t count = 0;
    for (std::size_t w = 0; w < n_words; ++w) count += std::popcount(a[w] & b[w]);
    return count;
}

#if defined(__x86_64__) && defined(__GNUC__)
// No clone can ask for this instruction, so the choice is made here.
__attribute__((target("avx512f,avx512vpopcntdq"))) std::int64_t count_eight_words(
    const Bits* a, const Bits* b, std::size_t n_words) {
    std::int64_t count = 0;
    for (std::size_t w = 0; w < n_words; ++w) count += __builtin_popcountll(a[w] & b[w]);
    return count;
}

bool counts_eight_words() { return __builtin_cpu_supports("avx512vpopcntdq") != 0; }
#else
constexpr auto count_eight_words = count_words_one_by_one;

bool counts_eight_words() { return false; }
#endif

}  // namespace

std::int64_t count_common(const Bits* a, const Bits* b, std::size_t n_words) {
    static const auto count = counts_eight_words() ? count_eight_words : count_words_one_by_one;
    return count(a, b, n_words);
}

}  // namespace rulewright
