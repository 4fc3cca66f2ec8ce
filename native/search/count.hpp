// Step 1 of a search: from rows to sums per code. Cost: O(rows x columns x lanes); two lanes of
// small numbers are added as one.
#pragma once

#include "search/cover.hpp"
#include "search/histogram.hpp"

namespace rulewright {

// What a row that comes so much later needs is asked for: of a small cover, rows lie far apart.
inline constexpr std::size_t kAhead = 16;

// Gathers the lanes to be read of the statistics of the rows of a cover.
void gather(const Stat* stats, const Lanes& lanes, Cover& cover, int n_threads);

// Adds the rows [from, to) of the cover to the histograms of one group of columns in one pass: a
// row's statistics are loaded once for kGroup columns.
template <class Code>
void add_group(const Columns<Code>& columns, std::size_t group, const Cover& cover,
               std::size_t from, std::size_t to, Histogram& histogram);

// Sets the histograms of one group of columns.
template <class Code>
void count_group(const Columns<Code>& columns, std::size_t group, const Cover& cover,
                 Histogram& histogram) {
    const std::size_t first = group * kGroup;
    histogram.clear(first, first + columns.width(group));
    add_group(columns, group, cover, 0, cover.n, histogram);
}

}  // namespace rulewright
