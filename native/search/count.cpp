#include "search/count.hpp"

#include <bit>
#include <cstring>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

// The rows to add: their places in the codes, and their statistics.
struct Counted {
    std::span<const Row> rows;
    const Stat* stats;
    std::size_t lanes;

    template <class Code>
    void fetch_ahead(const Code* codes, std::size_t i) const {
        const Row row = rows[std::min(i + kAhead, rows.size() - 1)];
        __builtin_prefetch(codes + std::size_t{row} * kGroup);
    }
};

// kLanes = 0 and kWidth = 0 mean "known at run time"; constants let the compiler unroll.
template <std::size_t kLanes, std::size_t kWidth, class Code>
void add_lanes(const Columns<Code>& columns, std::size_t group, const Counted& counted,
               Histogram& histogram) {
    const std::size_t lanes = kLanes ? kLanes : counted.lanes;
    const std::size_t width = kWidth ? kWidth : columns.width(group);
    const Code* codes = columns.group(group);
    Stat* base[kGroup] = {};
    for (std::size_t j = 0; j < width; ++j) base[j] = histogram.column(group * kGroup + j);

    const Stat* stats = counted.stats;
    for (std::size_t i = 0; i < counted.rows.size(); ++i) {
        counted.fetch_ahead(codes, i);
        Code code[kGroup];
        std::memcpy(code, codes + std::size_t{counted.rows[i]} * kGroup, sizeof(code));
        if constexpr (kLanes == 1) {
            for (std::size_t j = 0; j < width; ++j) base[j][code[j]] += *stats;
        } else if constexpr (kLanes == 2) {
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

// Two lanes in one word: the second in the low bits, the first above it. Words add up as numbers
// do, and as many as `most` of them are told apart again.
class Packing {
  public:
    explicit Packing(const Reach& reach)
        : spare_(62 - width(reach.first) - width(reach.second)),
          shift_(width(reach.second) + spare_ / 2 + 1) {}

    // Fewer rows than these are not worth the second table.
    static constexpr std::size_t kLeastRows = 1024;
    bool pays(std::size_t n_rows) const {
        return n_rows >= kLeastRows && spare_ >= 2 * width(kLeastRows);
    }
    std::size_t most() const { return std::size_t{1} << (spare_ / 2); }

    std::uint64_t pack(Stat first, Stat second) const {
        return (static_cast<std::uint64_t>(first) << shift_) + static_cast<std::uint64_t>(second);
    }
    void unpack(std::uint64_t word, Stat* sums) const {
        const int spare = 64 - shift_;
        const Stat second = static_cast<Stat>(word << spare) >> spare;
        sums[0] += static_cast<Stat>(word - static_cast<std::uint64_t>(second)) >> shift_;
        sums[1] += second;
    }

  private:
    static int width(std::uint64_t value) { return 64 - std::countl_zero(value); }

    int spare_, shift_;
};

// A word for each code of a group: small enough to stay in the nearest cache.
class Tile {
  public:
    static constexpr std::size_t kCodes = 256;

    template <std::size_t kWidth>
    void add(const Packing& packing, const std::uint8_t* codes, std::size_t width,
             const Counted& counted) {
        const Stat* stats = counted.stats;
        for (std::size_t i = 0; i < counted.rows.size(); ++i) {
            counted.fetch_ahead(codes, i);
            std::uint8_t code[kGroup];
            std::memcpy(code, codes + std::size_t{counted.rows[i]} * kGroup, sizeof(code));
            const std::uint64_t word = packing.pack(stats[0], stats[1]);
            for (std::size_t j = 0; j < (kWidth ? kWidth : width); ++j) words_[j][code[j]] += word;
            stats += 2;
        }
    }
    // Moves the words of the j-th column to its histogram.
    void flush(const Packing& packing, std::size_t j, Stat* sums, const Stat* end) {
        for (std::uint64_t* word = words_[j]; sums < end; sums += 2, ++word) {
            packing.unpack(*word, sums);
            *word = 0;
        }
    }

  private:
    std::uint64_t words_[kGroup][kCodes] = {};
};

void add_packed(const Packing& packing, const Columns<std::uint8_t>& columns, std::size_t group,
                const Counted& counted, Histogram& histogram) {
    Tile tile;
    const std::size_t width = columns.width(group), first = group * kGroup;
    for (std::size_t from = 0; from < counted.rows.size(); from += packing.most()) {
        const std::size_t n = std::min(packing.most(), counted.rows.size() - from);
        const Counted part{counted.rows.subspan(from, n), counted.stats + 2 * from, 2};
        if (width == kGroup) {
            tile.add<kGroup>(packing, columns.group(group), width, part);
        } else {
            tile.add<0>(packing, columns.group(group), width, part);
        }
        for (std::size_t j = 0; j < width; ++j) {
            tile.flush(packing, j, histogram.column(first + j), histogram.column(first + j + 1));
        }
    }
}

}  // namespace

void gather(const Stat* stats, const Lanes& lanes, Cover& cover, int n_threads) {
    const std::size_t used = lanes.used();
    cover.reserve(cover.n, used);
    std::vector<Reach> reach(count_blocks(cover.n), Reach{0, 0});
    const auto pick = [&](std::size_t block, std::size_t from, std::size_t to) {
        Stat* target = cover.stats.data() + from * used;
        for (std::size_t i = from; i < to; ++i, target += used) {
            const Row soon = cover.rows[std::min(i + kAhead, to - 1)];
            __builtin_prefetch(stats + soon * lanes.stride);
            lanes.pick(stats + cover.rows[i] * lanes.stride, target);
        }
        reach[block] = reach_of(cover.stats.data() + from * used, to - from, used);
    };
    parallel_blocks(cover.n, n_threads, pick);
    cover.reach = {0, 0};
    for (const Reach& one : reach) cover.reach.join(one);
}

template <class Code>
void add_group(const Columns<Code>& columns, std::size_t group, const Cover& cover,
               std::size_t from, std::size_t to, Histogram& histogram) {
    const Counted counted{std::span(cover.rows).subspan(from, to - from),
                          cover.stats.data() + from * cover.lanes, cover.lanes};
    const bool whole = columns.width(group) == kGroup;
    if constexpr (sizeof(Code) == 1) {
        const Packing packing(cover.reach);
        if (cover.lanes == 2 && packing.pays(to - from)) {
            add_packed(packing, columns, group, counted, histogram);
            return;
        }
    }
    if (cover.lanes == 2 && whole) {
        add_lanes<2, kGroup>(columns, group, counted, histogram);
    } else if (cover.lanes == 2) {
        add_lanes<2, 0>(columns, group, counted, histogram);
    } else if (cover.lanes == 3 && whole) {
        add_lanes<3, kGroup>(columns, group, counted, histogram);
    } else if (cover.lanes == 1 && whole) {
        add_lanes<1, kGroup>(columns, group, counted, histogram);
    } else {
        add_lanes<0, 0>(columns, group, counted, histogram);
    }
}

template void add_group(const Columns<std::uint8_t>&, std::size_t, const Cover&, std::size_t,
                        std::size_t, Histogram&);
template void add_group(const Columns<std::uint16_t>&, std::size_t, const Cover&, std::size_t,
                        std::size_t, Histogram&);

}  // namespace rulewright
