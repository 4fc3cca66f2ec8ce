// Question: what are the weighted cross-products of covers whose rows are sorted by weight?
//
// Rows with nearly the same weight lie side by side, in blocks of whole words. All rows of a block
// count alike, with the weight of the block: what two covers share is counted, 64 rows an
// instruction, and multiplied once per block.
//
// Cost: O(rows) per cover to sort it, O(rows / 64) per pair of covers.
#pragma once

#include <span>
#include <vector>

#include "base/bits.hpp"
#include "base/types.hpp"

namespace rulewright {

// Covers of the same rows, `n_words` words each, spare bits 0.
struct Covers {
    const Bits* words;
    std::size_t size, n_words;

    const Bits* operator[](std::size_t k) const { return words + k * n_words; }
};

// OUT: the given rows of each cover, in the given order, repeated if a row is; spare bits 0.
std::vector<Bits> take_rows(const Covers& covers, std::span<const Row> rows, int n_threads);

// The weight of block b is that of its `block` words (the last may have fewer).
struct BlockWeights {
    std::span<const double> weights;
    std::size_t block;
};

// OUT: sum_i w_i x_ij x_ik of the covers j with the others k, covers x others. Sums are taken in
// the order of the blocks: they are the same for any number of threads.
std::vector<double> count_shared(const Covers& covers, const Covers& others,
                                 const BlockWeights& blocks, int n_threads);

}  // namespace rulewright
