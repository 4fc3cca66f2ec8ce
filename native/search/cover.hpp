// The rows of a cover with their statistics gathered next to each other, lanes after lanes. The
// buffers keep their size; `n` rows of them are in use.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace rulewright {

// Which of the `stride` lanes of a row a search reads: those of the score and, under a minimum
// weight, the last lane, which holds the row weights.
struct Lanes {
    std::size_t first, n, stride;
    bool weighted;

    std::size_t used() const { return n + (weighted ? 1 : 0); }
    void pick(const Stat* source, Stat* target) const {
        std::copy_n(source + first, n, target);
        if (weighted) target[n] = source[stride - 1];
    }
};

struct Cover {
    std::vector<Row> rows;
    std::vector<Stat> stats;
    std::size_t n = 0, lanes = 0;

    void reserve(std::size_t n_rows, std::size_t n_lanes) {
        lanes = n_lanes;
        rows.resize(n_rows);
        stats.resize(n_rows * lanes);
    }
    // Appends `count` rows that lie somewhere behind the rows in use.
    void append(std::size_t from, std::size_t count) {
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

}  // namespace rulewright
