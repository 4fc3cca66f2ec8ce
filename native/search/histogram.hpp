// Question: what do the statistics of a cover sum to, per code of each column?
//
// Histograms hold `lanes` sums per code, column after column. Those of one group of columns are
// filled in one pass over the cover: a row's statistics are loaded once for kGroup columns.
// Cost: O(rows x columns x lanes). Invariant: the sums over the codes of any column are equal.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "search/columns.hpp"

namespace rulewright {

// Rows with their statistics gathered side by side, lanes after lanes. The buffers keep their size;
// `n` rows of them are in use.
struct Cover {
    std::vector<Row> rows;
    std::vector<Stat> stats;
    std::size_t n = 0;

    void reserve(std::size_t n_rows, std::size_t lanes) {
        rows.resize(n_rows);
        stats.resize(n_rows * lanes);
    }
    // Appends `count` rows that stand somewhere behind the rows in use.
    void append(std::size_t from, std::size_t count, std::size_t lanes) {
        const auto shift = [&](auto& values, std::size_t width) {
            const auto first = values.begin() + static_cast<std::ptrdiff_t>(from * width);
            std::copy(first, first + static_cast<std::ptrdiff_t>(count * width),
                      values.begin() + static_cast<std::ptrdiff_t>(n * width));
        };
        if (from != n) {
            shift(rows, 1);
            shift(stats, lanes);
        }
        n += count;
    }
};

// Buffers that growth fills again and again. Whoever grows many rules keeps one, so that memory is
// not asked from the system and given back with every rule.
struct Workspace {
    Cover cover, dropped;
    std::vector<Stat> histogram, other;
};

class HistogramLayout {
  public:
    HistogramLayout(std::span<const std::int32_t> n_bins, std::size_t lanes)
        : lanes_(lanes), offsets_(n_bins.size() + 1) {
        for (std::size_t j = 0; j < n_bins.size(); ++j) {
            const auto n_codes = static_cast<std::size_t>(n_bins[j]) + 1;
            offsets_[j + 1] = offsets_[j] + n_codes * lanes;
        }
    }
    std::size_t lanes() const { return lanes_; }
    std::size_t size() const { return offsets_.back(); }
    std::size_t offset(std::size_t column) const { return offsets_[column]; }

  private:
    std::size_t lanes_;
    std::vector<std::size_t> offsets_;
};

// kLanes = 0 and kWidth = 0 mean "known at run time"; constants let the compiler unroll.
template <std::size_t kLanes, std::size_t kWidth, class Code>
void fill_columns(const Columns<Code>& columns, std::size_t group, const Cover& cover,
                  const HistogramLayout& layout, Stat* histogram) {
    const std::size_t lanes = kLanes ? kLanes : layout.lanes();
    const std::size_t width = kWidth ? kWidth : columns.width(group);
    const Code* codes = columns.group(group);
    Stat* base[kGroup] = {};
    for (std::size_t j = 0; j < width; ++j) base[j] = histogram + layout.offset(group * kGroup + j);

    const Stat* stats = cover.stats.data();
    for (const Row row : std::span(cover.rows).first(cover.n)) {
        Code code[kGroup];
        std::memcpy(code, codes + std::size_t{row} * kGroup, sizeof(code));
        const Stat first = stats[0], second = stats[1];
        for (std::size_t j = 0; j < width; ++j) {
            Stat* sums = base[j] + code[j] * lanes;
            if constexpr (kLanes == 2) {
                sums[0] += first;
                sums[1] += second;
            } else {
                for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += stats[lane];
            }
        }
        stats += lanes;
    }
}

template <class Code>
void fill_group(const Columns<Code>& columns, std::size_t group, const Cover& cover,
                const HistogramLayout& layout, Stat* histogram) {
    const bool pair = layout.lanes() == 2;
    if (pair && columns.width(group) == kGroup) {
        fill_columns<2, kGroup>(columns, group, cover, layout, histogram);
    } else if (pair) {
        fill_columns<2, 0>(columns, group, cover, layout, histogram);
    } else {
        fill_columns<0, 0>(columns, group, cover, layout, histogram);
    }
}

}  // namespace rulewright
