#include "search/refine.hpp"

#include "base/parallel.hpp"

namespace rulewright {
namespace {

// The test that a condition stands for.
CodeTest code_test(const GrownCondition& condition, std::int32_t n_bins) {
    const std::int32_t code = condition.code;
    switch (condition.op) {
        case Op::kLessEqual:
            return {condition.column, 0, code, -1};
        case Op::kGreaterEqual:
            return {condition.column, code, n_bins - 1, -1};
        case Op::kEqual:
            return {condition.column, code, code, -1};
        case Op::kNotEqual:
            return {condition.column, 0, n_bins - 1, code};
        case Op::kMissing:
            return {condition.column, n_bins, n_bins, -1};
        case Op::kKnown:
            return {condition.column, 0, n_bins - 1, -1};
    }
    return {condition.column, 0, -1, -1};
}

// Moves the rows of [from, to) that pass the test to its front, the others to the same place in
// the dropped rows; returns how many passed. Both sides are written at every row, one of them for
// good: no branch to mispredict.
template <std::size_t kLanes, class Code>
std::size_t split(const CodeTest test, const Code* codes, Cover& cover, Cover& dropped,
                  std::size_t from, std::size_t to) {
    const std::size_t lanes = kLanes ? kLanes : cover.lanes;
    Row *rows = cover.rows.data() + from, *out_rows = dropped.rows.data() + from;
    Stat* stats = cover.stats.data() + from * lanes;
    Stat* out_stats = dropped.stats.data() + from * lanes;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < to - from; ++i) {
        const Row row = rows[i];
        const std::size_t out = i - kept;
        rows[kept] = row;
        out_rows[out] = row;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const Stat stat = stats[i * lanes + lane];
            stats[kept * lanes + lane] = stat;
            out_stats[out * lanes + lane] = stat;
        }
        kept += test.holds(codes[std::size_t{row} * kGroup]) ? 1 : 0;
    }
    return kept;
}

}  // namespace

// Every thread splits a piece of the cover, then the pieces are put together in order.
template <class Code>
void refine(const Columns<Code>& columns, const GrownCondition& condition, Cover& cover,
            Cover& dropped, int n_threads) {
    const auto column = static_cast<std::size_t>(condition.column);
    const CodeTest test = code_test(condition, columns.n_bins[column]);
    const Code* codes = columns.column(column);
    const std::size_t n = cover.n;
    const std::size_t n_pieces = n > kBlock ? count_threads(n_threads) : 1;
    std::vector<std::size_t> kept(n_pieces);
    dropped.reserve(cover.rows.size(), cover.lanes);
    parallel_for(n_pieces, n_threads, [&](std::size_t piece) {
        const std::size_t from = piece * n / n_pieces, to = (piece + 1) * n / n_pieces;
        kept[piece] = cover.lanes == 2 ? split<2>(test, codes, cover, dropped, from, to)
                                       : split<0>(test, codes, cover, dropped, from, to);
    });
    cover.n = dropped.n = 0;
    for (std::size_t piece = 0; piece < n_pieces; ++piece) {
        const std::size_t from = piece * n / n_pieces, to = (piece + 1) * n / n_pieces;
        cover.append(from, kept[piece]);
        dropped.append(from, to - from - kept[piece]);
    }
}

template void refine(const Columns<std::uint8_t>&, const GrownCondition&, Cover&, Cover&, int);
template void refine(const Columns<std::uint16_t>&, const GrownCondition&, Cover&, Cover&, int);

}  // namespace rulewright
