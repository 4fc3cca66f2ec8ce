// Step 1 of a search: from rows to sums per code. Cost: O(rows x columns x lanes); two lanes of
// small numbers are added as one, and columns of few codes are counted by their joint codes.
#pragma once

#include "search/cover.hpp"
#include "search/histogram.hpp"

namespace rulewright {

// What a row that comes so much later needs is asked for: of a small cover, rows lie far apart.
inline constexpr std::size_t kAhead = 16;

// Gathers the lanes to be read of the statistics of the rows of a cover.
void gather(const Stat* stats, const Lanes& lanes, Cover& cover, int n_threads);

// Adds the rows [from, to) of the cover to the histograms of one part of the columns.
template <class Code>
void add_part(const Columns<Code>& columns, const Part& part, const Cover& cover, std::size_t from,
              std::size_t to, Histogram& histogram);

// Sets the histograms of one part of the columns.
template <class Code>
void count_part(const Columns<Code>& columns, const Part& part, const Cover& cover,
                Histogram& histogram) {
    histogram.clear(part.first_column(), part.last_column(columns));
    add_part(columns, part, cover, 0, cover.n, histogram);
}

}  // namespace rulewright
