// Step 4 of a search: from a cover and a condition to the smaller cover. Cost: O(rows).
#pragma once

#include "search/cover.hpp"
#include "search/limits.hpp"

namespace rulewright {

// Consecutive rows.
struct RowRange {
    std::size_t from, to;
};

// The test that a condition stands for.
CodeTest code_test(const GrownCondition& condition, std::int32_t n_bins);

// Keeps the rows of `cover` that pass the test and moves the others to `dropped`, both in their
// order. Statistics are to be gathered anew.
template <class Code>
void refine(const Columns<Code>& columns, const CodeTest& test, Cover& cover, Cover& dropped,
            int n_threads);

// The same, where the cover before was all rows of some ranges.
template <class Code>
void refine(const Columns<Code>& columns, const CodeTest& test, std::span<const RowRange> ranges,
            Cover& cover, Cover& dropped, int n_threads);

// The same with a condition, of a cover or of ranges.
template <class Code, class... Covers>
void refine(const Columns<Code>& columns, const GrownCondition& condition, Covers&&... covers) {
    const auto column = static_cast<std::size_t>(condition.column);
    refine(columns, code_test(condition, columns.n_bins[column]), covers...);
}

}  // namespace rulewright
