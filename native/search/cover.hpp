// The rows of a cover, and their statistics gathered next to each other, lanes after lanes.
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

// The bits that the first and the second of any pair of statistics of a cover need, without the
// sign; a last lane without a partner is left out.
struct Reach {
    static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
    std::uint64_t first = kUnknown, second = kUnknown;

    void see(const Stat* stats, std::size_t lanes) {
        for (std::size_t lane = 0; lane + 1 < lanes; lane += 2) {
            first |= magnitude(stats[lane]);
            second |= magnitude(stats[lane + 1]);
        }
    }
    void join(const Reach& other) {
        first |= other.first;
        second |= other.second;
    }
    static std::uint64_t magnitude(Stat stat) {
        return static_cast<std::uint64_t>(stat < 0 ? ~stat : stat);
    }
};

inline Reach reach_of(const Stat* stats, std::size_t n_rows, std::size_t lanes) {
    Reach reach{0, 0};
    for (std::size_t i = 0; i < n_rows; ++i) reach.see(stats + i * lanes, lanes);
    return reach;
}

// Rows in ascending order and, once they are gathered, their statistics. The buffers only grow.
struct Cover {
    std::vector<Row> rows;
    std::vector<Stat> stats;
    std::size_t n = 0, lanes = 0;
    Reach reach;

    void reserve(std::size_t n_rows) {
        if (rows.size() < n_rows) rows.resize(n_rows);
    }
    void reserve(std::size_t n_rows, std::size_t n_lanes) {
        reserve(n_rows);
        lanes = n_lanes;
        if (stats.size() < n_rows * lanes) stats.resize(n_rows * lanes);
    }
    void assign(std::span<const Row> chosen) {
        reserve(chosen.size());
        n = chosen.size();
        std::ranges::copy(chosen, rows.begin());
    }
    std::span<const Row> covered() const { return std::span(rows).first(n); }
    std::span<const Stat> gathered() const { return std::span(stats).first(n * lanes); }
    // The sums of the gathered statistics.
    std::vector<Stat> sums() const {
        std::vector<Stat> sums(lanes);
        for (std::size_t i = 0; i < n * lanes; i += lanes) {
            for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += stats[i + lane];
        }
        return sums;
    }
    // Appends `count` rows that lie somewhere behind the rows in use.
    void append(std::size_t from, std::size_t count) {
        if (from != n) std::copy_n(rows.data() + from, count, rows.data() + n);
        n += count;
    }
};

}  // namespace rulewright
