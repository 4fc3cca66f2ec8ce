// Step 1 of a search: from rows to sums per code. Cost: O(rows x columns x lanes).
#pragma once

#include "search/cover.hpp"
#include "search/histogram.hpp"

namespace rulewright {

// Fills the cover with the given rows of `stats` and the lanes to be read.
void gather(std::span<const Row> rows, const Stat* stats, const Lanes& lanes, Cover& cover,
            int n_threads);

// Sets the histograms of one group of columns in one pass over the cover: a row's statistics are
// loaded once for kGroup columns.
template <class Code>
void count_group(const Columns<Code>& columns, std::size_t group, const Cover& cover,
                 Histogram& histogram);

}  // namespace rulewright
