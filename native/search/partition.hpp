// Steps of a search whose rows lie in partitions: count and refine of rows with their statistics
// next to each other, which nobody but the partition sees. Histograms are added to, so that those
// of blocks of rows can be kept up to date by what changed.
#pragma once

#include <span>
#include <vector>

#include "search/columns.hpp"

namespace rulewright {

// Rows in any order, with `lanes` statistics each.
struct Gathered {
    std::span<const Row> rows;
    const Stat* stats;
    std::size_t lanes;
};

// Adds the statistics of the rows at places starts[b], ..., starts[b + 1] - 1 to the histogram of
// block b: `lanes` sums per code, codes after codes, column after column, block after block.
// Cost: O(rows x columns x lanes).
template <class Code>
void add_counts(const Columns<Code>& columns, const Gathered& gathered,
                std::span<const Stat> starts, Stat* sums);

// The rows that pass a test and those that fail it, in their order. Cost: O(rows x lanes).
struct Sides {
    std::vector<Row> rows[2];  // failed, passed
    std::vector<Stat> stats[2];
};

template <class Code>
Sides split_rows(const Columns<Code>& columns, const Gathered& gathered, const CodeTest& test);

}  // namespace rulewright
