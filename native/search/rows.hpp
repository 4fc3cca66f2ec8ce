// Questions about rows: which belong to a random subsample, which satisfy a conjunction, and what
// do statistics sum to after each of its conditions?
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

// Flags a random share of the weight of every stratum: its rows are taken in the order of random
// keys until the share is reached; the row that crosses it goes where the share is met more nearly.
// Cost: O(n): only the rows whose keys are close to the crossing are sorted.
struct Strata {
    std::span<const Stat> weights;         // not negative
    std::span<const std::int32_t> strata;  // 0 .. n_strata - 1
    std::size_t n_strata;
};

std::vector<std::uint8_t> split_by_weight(const Strata& rows, double share, std::uint64_t seed);

// The rows that satisfy all tests, in ascending order. Cost: O(n + covers of the prefixes).
template <class Code>
std::vector<Row> cover_rows(const Columns<Code>& columns, std::span<const CodeTest> tests,
                            int n_threads);

// Two lanes of statistics per row, and the side of a split that the row is on.
struct SplitPairs {
    const Stat* values;  // the first of the two lanes
    std::size_t n_lanes;
    const std::uint8_t* side;  // 0 or 1
};

// Sums of both lanes over the rows that satisfy the first l tests, for l = 0 .. tests, on each
// side: [side][l][lane]. Cost: O(n + covers of the prefixes).
template <class Code>
std::vector<Stat> prefix_sums(const Columns<Code>& columns, std::span<const CodeTest> tests,
                              const SplitPairs& pairs, int n_threads);

// The rows of a block on side 0, in ascending order; returns how many. `rows` has room for all.
std::size_t rows_to_judge(const std::uint8_t* side, std::size_t begin, std::size_t end, Row* rows);

// Sums of both lanes over the rows on side 0 that satisfy the first l tests, for l = 1 .. tests:
// [l - 1][lane]. Cost: O(rows on side 0 + their covers of the prefixes).
template <class Code>
std::vector<Stat> judged_sums(const Columns<Code>& columns, std::span<const CodeTest> tests,
                              const SplitPairs& pairs, int n_threads);

}  // namespace rulewright
