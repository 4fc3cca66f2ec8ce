#include "search/roots.hpp"

#include "base/parallel.hpp"
#include "search/count.hpp"

namespace rulewright {

template <class Code>
void Roots::follow(const Columns<Code>& columns, std::span<const Row> rows, const Stat* before,
                   const Stat* stats, int n_threads) {
    changes_.assign(rows);
    gather(stats, {0, lanes_, lanes_, false}, changes_, n_threads);
    if (before != nullptr) {
        for (std::size_t i = 0; i < rows.size() * lanes_; ++i) changes_.stats[i] -= before[i];
        changes_.reach = reach_of(changes_.stats.data(), rows.size(), lanes_);
    }
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
}

void Roots::sum(std::span<const std::uint8_t> chosen, std::size_t first, std::size_t last,
                Histogram& histogram) const {
    histogram.clear(first, last);
    for (std::size_t b = 0; b < n_blocks(); ++b) {
        if (chosen[b] != 0) histogram.add(blocks_[b], first, last);
    }
}

std::vector<RowRange> ChosenBlocks::ranges() const {
    std::vector<RowRange> ranges;
    for (std::size_t b = 0; b < roots.n_blocks(); ++b) {
        if (chosen[b] != 0) ranges.push_back({roots.start(b), roots.start(b + 1)});
    }
    return ranges;
}

template void Roots::follow(const Columns<std::uint8_t>&, std::span<const Row>, const Stat*,
                            const Stat*, int);
template void Roots::follow(const Columns<std::uint16_t>&, std::span<const Row>, const Stat*,
                            const Stat*, int);

}  // namespace rulewright
