// Step 4 of a search: from a cover and a condition to the smaller cover. Cost: O(rows).
#pragma once

#include "search/cover.hpp"
#include "search/limits.hpp"

namespace rulewright {

// Consecutive rows.
struct RowRange {
    std::size_t from, to;
};

// Keeps the rows of `cover` that satisfy the condition and moves the others to `dropped`, both in
// their order. Statistics are to be gathered anew.
template <class Code>
void refine(const Columns<Code>& columns, const GrownCondition& condition, Cover& cover,
            Cover& dropped, int n_threads);

// The same, where the cover before was all rows of some ranges.
template <class Code>
void refine(const Columns<Code>& columns, const GrownCondition& condition,
            std::span<const RowRange> ranges, Cover& cover, Cover& dropped, int n_threads);

}  // namespace rulewright
