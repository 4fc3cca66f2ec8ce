#include "weighting/sorted_covers.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

void take_cover(const Bits* cover, std::span<const Row> rows, Bits* taken) {
    for (std::size_t first = 0; first < rows.size(); first += kWordBits) {
        const std::size_t n = std::min(kWordBits, rows.size() - first);
        Bits word = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const Row row = rows[first + k];
            word |= (cover[row / kWordBits] >> (row % kWordBits) & 1) << k;
        }
        taken[first / kWordBits] = word;
    }
}

RULEWRIGHT_CLONES
double count_pair(const Bits* a, const Bits* b, std::size_t n_words, const double* weights,
                  std::size_t block) {
    double sum = 0;
    for (std::size_t first = 0, k = 0; first < n_words; first += block, ++k) {
        const std::size_t end = std::min(n_words, first + block);
        std::uint64_t count = 0;
        for (std::size_t w = first; w < end; ++w) {
            count += static_cast<std::uint64_t>(std::popcount(a[w] & b[w]));
        }
        sum += weights[k] * static_cast<double>(count);
    }
    return sum;
}

}  // namespace

std::vector<Bits> take_rows(const Covers& covers, std::span<const Row> rows, int n_threads) {
    const std::size_t n_words = count_words(rows.size());
    std::vector<Bits> taken(covers.size * n_words);
    if (taken.empty()) return taken;
    parallel_for(covers.size, n_threads,
                 [&](std::size_t k) { take_cover(covers[k], rows, taken.data() + k * n_words); });
    return taken;
}

std::vector<double> count_shared(const Covers& covers, const Covers& others,
                                 const BlockWeights& blocks, int n_threads) {
    std::vector<double> products(covers.size * others.size);
    parallel_for(covers.size, n_threads, [&](std::size_t j) {
        for (std::size_t k = 0; k < others.size; ++k) {
            products[j * others.size + k] = count_pair(covers[j], others[k], covers.n_words,
                                                       blocks.weights.data(), blocks.block);
        }
    });
    return products;
}

}  // namespace rulewright
