#include "search/count.hpp"

#include <cstring>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

// kLanes = 0 and kWidth = 0 mean "known at run time"; constants let the compiler unroll.
template <std::size_t kLanes, std::size_t kWidth, class Code>
void count_columns(const Columns<Code>& columns, std::size_t group, const Cover& cover,
                   Histogram& histogram) {
    const std::size_t lanes = kLanes ? kLanes : cover.lanes;
    const std::size_t width = kWidth ? kWidth : columns.width(group);
    const Code* codes = columns.group(group);
    Stat* base[kGroup] = {};
    for (std::size_t j = 0; j < width; ++j) base[j] = histogram.column(group * kGroup + j);

    const Stat* stats = cover.stats.data();
    for (const Row row : std::span(cover.rows).first(cover.n)) {
        Code code[kGroup];
        std::memcpy(code, codes + std::size_t{row} * kGroup, sizeof(code));
        if constexpr (kLanes == 2) {
            const Stat first = stats[0], second = stats[1];
            for (std::size_t j = 0; j < width; ++j) {
                Stat* sums = base[j] + code[j] * lanes;
                sums[0] += first;
                sums[1] += second;
            }
        } else {
            for (std::size_t j = 0; j < width; ++j) {
                Stat* sums = base[j] + code[j] * lanes;
                for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += stats[lane];
            }
        }
        stats += lanes;
    }
}

}  // namespace

void gather(std::span<const Row> rows, const Stat* stats, const Lanes& lanes, Cover& cover,
            int n_threads) {
    const std::size_t used = lanes.used();
    cover.reserve(rows.size(), used);
    cover.n = rows.size();
    std::ranges::copy(rows, cover.rows.begin());
    parallel_blocks(rows.size(), n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            lanes.pick(stats + rows[i] * lanes.stride, cover.stats.data() + i * used);
        }
    });
}

template <class Code>
void count_group(const Columns<Code>& columns, std::size_t group, const Cover& cover,
                 Histogram& histogram) {
    const std::size_t width = columns.width(group);
    histogram.clear(group * kGroup, group * kGroup + width);
    if (cover.lanes == 2 && width == kGroup) {
        count_columns<2, kGroup>(columns, group, cover, histogram);
    } else if (cover.lanes == 2) {
        count_columns<2, 0>(columns, group, cover, histogram);
    } else if (cover.lanes == 3 && width == kGroup) {
        count_columns<3, kGroup>(columns, group, cover, histogram);
    } else {
        count_columns<0, 0>(columns, group, cover, histogram);
    }
}

template void count_group(const Columns<std::uint8_t>&, std::size_t, const Cover&, Histogram&);
template void count_group(const Columns<std::uint16_t>&, std::size_t, const Cover&, Histogram&);

}  // namespace rulewright
