#include "weighting/signed_rules.hpp"

#include <algorithm>
#include <numeric>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

// A thread takes so many pairs, or rules, at a time.
constexpr std::size_t kTile = 64;

RULEWRIGHT_CLONES
std::int64_t product(const Bits* holds, const Bits* fails, const Bits* other_holds,
                     const Bits* other_fails, std::size_t n_words) {
    std::uint64_t known = 0, different = 0;
    for (std::size_t w = 0; w < n_words; ++w) {
        const Bits both = (holds[w] | fails[w]) & (other_holds[w] | other_fails[w]);
        known += static_cast<std::uint64_t>(std::popcount(both));
        different += static_cast<std::uint64_t>(std::popcount((holds[w] ^ other_holds[w]) & both));
    }
    return static_cast<std::int64_t>(known) - 2 * static_cast<std::int64_t>(different);
}

// Adds the values of the rows of a word to their lanes, with the signs that the rule gives them.
RULEWRIGHT_CLONES
void add_word(Bits holds, Bits fails, const double* values, std::size_t n, double* lanes) {
    for (std::size_t i = 0; i < n; ++i) {
        const auto sign = static_cast<int>(holds >> i & 1) - static_cast<int>(fails >> i & 1);
        lanes[i] += sign * values[i];
    }
}

double weighted_sum(const Bits* holds, const Bits* fails, std::span<const double> values) {
    double lanes[kWordBits] = {};
    for (std::size_t w = 0; w * kWordBits < values.size(); ++w) {
        const std::size_t first = w * kWordBits;
        const std::size_t n = std::min(kWordBits, values.size() - first);
        add_word(holds[w], fails[w], values.data() + first, n, lanes);
    }
    return std::accumulate(lanes, lanes + kWordBits, 0.0);
}

// Calls body(i) for all i below n, in tiles that threads share.
template <class Body>
void tiled(std::size_t n, int n_threads, const Body& body) {
    parallel_for((n + kTile - 1) / kTile, n_threads, [&](std::size_t tile) {
        for (std::size_t i = tile * kTile; i < std::min(n, (tile + 1) * kTile); ++i) body(i);
    });
}

}  // namespace

std::vector<std::int64_t> signed_products(const SignedRules& rules, Lines lines, Lines others,
                                          int n_threads) {
    const std::size_t n = others.size(), n_words = rules.n_words;
    std::vector<std::int64_t> products(lines.size() * n);
    tiled(products.size(), n_threads, [&](std::size_t i) {
        const std::size_t a = static_cast<std::size_t>(lines[i / n]) * n_words;
        const std::size_t b = static_cast<std::size_t>(others[i % n]) * n_words;
        products[i] =
            product(rules.holds + a, rules.fails + a, rules.holds + b, rules.fails + b, n_words);
    });
    return products;
}

std::vector<double> signed_sums(const SignedRules& rules, Lines lines,
                                std::span<const double> values, int n_threads) {
    std::vector<double> sums(lines.size());
    tiled(sums.size(), n_threads, [&](std::size_t i) {
        const std::size_t a = static_cast<std::size_t>(lines[i]) * rules.n_words;
        sums[i] = weighted_sum(rules.holds + a, rules.fails + a, values);
    });
    return sums;
}

}  // namespace rulewright
