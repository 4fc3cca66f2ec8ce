#include "search/partition.hpp"

#include <algorithm>
#include <cstring>

namespace rulewright {
namespace {

// kLanes = 0 means "known at run time"; constants let the compiler unroll.
template <std::size_t kLanes, class Code>
void add_group(const Columns<Code>& columns, std::size_t group, const Gathered& gathered,
               std::size_t from, std::size_t to, Stat* const* base) {
    const std::size_t lanes = kLanes ? kLanes : gathered.lanes;
    const std::size_t width = columns.width(group);
    const Code* codes = columns.group(group);
    const Stat* stats = gathered.stats + from * lanes;
    for (const Row row : gathered.rows.subspan(from, to - from)) {
        Code code[kGroup];
        std::memcpy(code, codes + std::size_t{row} * kGroup, sizeof(code));
        for (std::size_t j = 0; j < width; ++j) {
            Stat* sums = base[j] + code[j] * lanes;
            for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += stats[lane];
        }
        stats += lanes;
    }
}

// Where the sums of each column start in a histogram; the last entry is its size.
std::vector<std::size_t> column_offsets(const ColumnKinds& columns, std::size_t lanes) {
    std::vector<std::size_t> offsets(columns.n_columns() + 1);
    for (std::size_t j = 0; j < columns.n_columns(); ++j) {
        offsets[j + 1] = offsets[j] + (static_cast<std::size_t>(columns.n_bins[j]) + 1) * lanes;
    }
    return offsets;
}

}  // namespace

template <class Code>
void add_counts(const Columns<Code>& columns, const Gathered& gathered,
                std::span<const Stat> starts, Stat* sums) {
    const std::vector<std::size_t> offsets = column_offsets(columns, gathered.lanes);
    for (std::size_t group = 0; group < columns.n_groups(); ++group) {
        for (std::size_t block = 0; block + 1 < starts.size(); ++block) {
            Stat* base[kGroup] = {};
            for (std::size_t j = 0; j < columns.width(group); ++j) {
                base[j] = sums + block * offsets.back() + offsets[group * kGroup + j];
            }
            const auto from = static_cast<std::size_t>(starts[block]);
            const auto to = static_cast<std::size_t>(starts[block + 1]);
            if (gathered.lanes == 2) {
                add_group<2>(columns, group, gathered, from, to, base);
            } else {
                add_group<0>(columns, group, gathered, from, to, base);
            }
        }
    }
}

template <class Code>
Sides split_rows(const Columns<Code>& columns, const Gathered& gathered, const CodeTest& test) {
    const std::size_t n = gathered.rows.size(), lanes = gathered.lanes;
    const Code* codes = columns.column(static_cast<std::size_t>(test.column));
    const CodeFilter<Code> passes(test);
    std::vector<std::uint8_t> passed(n);
    std::size_t n_passed = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t passing = passes(codes[std::size_t{gathered.rows[i]} * kGroup]);
        passed[i] = static_cast<std::uint8_t>(passing);
        n_passed += passing;
    }
    Sides sides;
    const std::size_t counts[2] = {n - n_passed, n_passed};
    for (std::size_t side = 0; side < 2; ++side) {
        sides.rows[side].resize(counts[side]);
        sides.stats[side].resize(counts[side] * lanes);
    }
    std::size_t filled[2] = {};
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t side = passed[i], place = filled[side]++;
        sides.rows[side][place] = gathered.rows[i];
        const Stat* own = gathered.stats + i * lanes;
        std::copy_n(own, lanes, sides.stats[side].data() + place * lanes);
    }
    return sides;
}

template void add_counts(const Columns<std::uint8_t>&, const Gathered&, std::span<const Stat>,
                         Stat*);
template void add_counts(const Columns<std::uint16_t>&, const Gathered&, std::span<const Stat>,
                         Stat*);
template Sides split_rows(const Columns<std::uint8_t>&, const Gathered&, const CodeTest&);
template Sides split_rows(const Columns<std::uint16_t>&, const Gathered&, const CodeTest&);

}  // namespace rulewright
