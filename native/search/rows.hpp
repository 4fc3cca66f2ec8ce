// Questions about rows: which belong to a random subsample, and which satisfy a conjunction?
#pragma once

#include <vector>

#include "search/columns.hpp"

namespace rulewright {

// A uniform sample of `size` of `n` rows without replacement, in ascending order, and a flag per
// row that tells whether it was drawn (sequential selection: row i is taken with probability needed
// / remaining). Cost: O(n), half a random number per row.
struct Draw {
    std::vector<Row> rows;
    std::vector<std::uint8_t> drawn;
};

Draw draw_rows(std::size_t n, std::size_t size, std::uint64_t seed);

// The rows that satisfy all tests, in ascending order. Cost: O(n + covers of the prefixes).
template <class Code>
std::vector<Row> cover_rows(const Columns<Code>& columns, std::span<const CodeTest> tests,
                            int n_threads);

}  // namespace rulewright
