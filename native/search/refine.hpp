// Step 4 of a search: from a cover and a condition to the smaller cover. Cost: O(rows x lanes).
#pragma once

#include "search/cover.hpp"
#include "search/limits.hpp"

namespace rulewright {

// Keeps the rows of `cover` that satisfy the condition and moves the others to `dropped`, both in
// their order.
template <class Code>
void refine(const Columns<Code>& columns, const GrownCondition& condition, Cover& cover,
            Cover& dropped, int n_threads);

}  // namespace rulewright
