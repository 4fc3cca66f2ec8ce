#include "search/roots.hpp"

#include <stdexcept>

#include "base/parallel.hpp"
#include "base/portable.hpp"
#include "search/count.hpp"

namespace rulewright {

namespace {

Stat packed(const Stat* pair) {
    const auto first = static_cast<std::uint64_t>(pair[0]);
    return static_cast<Stat>((first << 32) + static_cast<std::uint64_t>(pair[1]));
}

void add_unpacked(const Stat* words, std::size_t n, Stat* sums) {
    for (std::size_t i = 0; i < n; ++i, sums += 2) {
        const Stat second = static_cast<std::int32_t>(words[i]);
        sums[0] += (words[i] - second) >> 32;
        sums[1] += second;
    }
}

void fetch_ahead(const Stat* stats, std::span<const Row> rows, std::size_t i, std::size_t lanes) {
    prefetch(stats + rows[std::min(i + kAhead, rows.size() - 1)] * lanes);
}

}  // namespace

void Roots::remember(std::span<const Row> rows, const Stat* stats, int n_threads) {
    changes_.assign(rows);
    changes_.reserve(rows.size(), width());
    if (stats == nullptr) {
        std::fill_n(changes_.stats.begin(), rows.size() * width(), 0);
        return;
    }
    parallel_blocks(rows.size(), n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            fetch_ahead(stats, rows, i, lanes_);
            const Stat* known = stats + rows[i] * lanes_;
            if (packed_) {
                changes_.stats[i] = packed(known);
            } else {
                std::copy_n(known, lanes_, changes_.stats.data() + i * lanes_);
            }
        }
    });
}

// Turns what is remembered of the rows into what is to be added.
void Roots::change(const Stat* stats, int n_threads) {
    std::vector<Reach> reach(count_blocks(changes_.n), Reach{0, 0});
    parallel_blocks(changes_.n, n_threads,
                    [&](std::size_t block, std::size_t from, std::size_t to) {
                        reach[block] = change_block(stats, from, to);
                    });
    changes_.reach = {0, 0};
    for (const Reach& one : reach) changes_.reach.join(one);
    // A difference has a bit more than what it is of.
    if (packed_ && (changes_.reach.first | changes_.reach.second) >> (bits_ + 1) != 0) {
        throw std::invalid_argument("a statistic has more bits than was said");
    }
}

Reach Roots::change_block(const Stat* stats, std::size_t from, std::size_t to) {
    const std::span<const Row> rows = changes_.covered();
    Reach reach{0, 0};
    for (std::size_t i = from; i < to; ++i) {
        fetch_ahead(stats, rows, i, lanes_);
        const Stat* now = stats + rows[i] * lanes_;
        Stat* change = changes_.stats.data() + i * width();
        if (packed_) {
            Stat pair[2] = {0, 0};
            add_unpacked(change, 1, pair);
            pair[0] = now[0] - pair[0];
            pair[1] = now[1] - pair[1];
            reach.see(pair, 2);
            *change = packed(pair);
        } else {
            for (std::size_t lane = 0; lane < lanes_; ++lane)
                change[lane] = now[lane] - change[lane];
            reach.see(change, lanes_);
        }
    }
    return reach;
}

template <class Code>
void Roots::follow(const Columns<Code>& columns, const Stat* stats, int n_threads) {
    change(stats, n_threads);
    const std::span<const Row> rows = changes_.covered();
    std::vector<std::size_t> ends(n_blocks() + 1);
    for (std::size_t b = 1; b <= n_blocks(); ++b) {
        const auto end = std::ranges::lower_bound(rows, static_cast<Row>(start(b)));
        ends[b] = static_cast<std::size_t>(end - rows.begin());
    }
    const std::size_t n_parts = columns.parts.size();
    const std::size_t work = rows.size() * columns.n_groups();
    parallel_for(n_blocks() * n_parts, work > kBlock ? n_threads : 1, [&](std::size_t task) {
        const std::size_t b = task / n_parts;
        const Part& part = columns.parts[task % n_parts];
        if (ends[b] < ends[b + 1]) {
            add_part(columns, part, changes_, ends[b], ends[b + 1], blocks_[b]);
        }
    });
    changes_.n = 0;
}

void Roots::sum(std::span<const std::uint8_t> chosen, std::size_t first, std::size_t last,
                Histogram& histogram) const {
    histogram.clear(first, last);
    for (std::size_t b = 0; b < n_blocks(); ++b) {
        if (chosen[b] == 0) continue;
        if (packed_) {
            const Stat* words = blocks_[b].column(first);
            const auto n = static_cast<std::size_t>(blocks_[b].column(last) - words);
            add_unpacked(words, n, histogram.column(first));
        } else {
            histogram.add(blocks_[b], first, last);
        }
    }
}

std::vector<RowRange> ChosenBlocks::ranges() const {
    std::vector<RowRange> ranges;
    for (std::size_t b = 0; b < roots.n_blocks(); ++b) {
        if (chosen[b] != 0) ranges.push_back({roots.start(b), roots.start(b + 1)});
    }
    return ranges;
}

template void Roots::follow(const Columns<std::uint8_t>&, const Stat*, int);
template void Roots::follow(const Columns<std::uint16_t>&, const Stat*, int);

}  // namespace rulewright
