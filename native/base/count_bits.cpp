#include "base/count_bits.hpp"

namespace rulewright {
namespace {

RULEWRIGHT_CLONES
std::int64_t count_words_one_by_one(const Bits* a, const Bits* b, std::size_t n_words) {
    std::int64_t count = 0;
    for (std::size_t w = 0; w < n_words; ++w) count += std::popcount(a[w] & b[w]);
    return count;
}

RULEWRIGHT_WIDE_POPCOUNT
std::int64_t count_eight_words(const Bits* a, const Bits* b, std::size_t n_words) {
    std::int64_t count = 0;
    for (std::size_t w = 0; w < n_words; ++w) count += std::popcount(a[w] & b[w]);
    return count;
}

}  // namespace

std::int64_t count_common(const Bits* a, const Bits* b, std::size_t n_words) {
    static const auto count = has_wide_popcount() ? count_eight_words : count_words_one_by_one;
    return count(a, b, n_words);
}

}  // namespace rulewright
