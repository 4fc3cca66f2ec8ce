#include "search/refine.hpp"

#include "base/parallel.hpp"

namespace rulewright {

namespace {

// The test that passes some codes, which ascend: it skips those between them.
CodeTest test_of_set(std::int32_t column, std::span<const std::int32_t> codes) {
    CodeTest test{column, codes.front(), codes.back(), {}};
    for (std::size_t i = 1; i < codes.size(); ++i) {
        for (std::int32_t code = codes[i - 1] + 1; code < codes[i]; ++code) {
            test.skips.push_back(code);
        }
    }
    return test;
}

}  // namespace

CodeTest code_test(const GrownCondition& condition, std::int32_t n_bins) {
    const std::int32_t code = condition.code;
    const auto& labels = condition.labels;
    switch (condition.op) {
        case Op::kLessEqual:
            return {condition.column, 0, code, {}};
        case Op::kGreaterEqual:
            return {condition.column, code, n_bins - 1, {}};
        case Op::kEqual:
            return labels.empty() ? CodeTest{condition.column, code, code, {}}
                                  : test_of_set(condition.column, labels);
        case Op::kNotEqual:
            return {condition.column, 0, n_bins - 1,
                    labels.empty() ? std::vector<std::int32_t>{code} : labels};
        case Op::kMissing:
            return {condition.column, n_bins, n_bins, {}};
        case Op::kKnown:
            return {condition.column, 0, n_bins - 1, {}};
    }
    return {condition.column, 0, -1, {}};
}

namespace {

// Writes the rows source(0), source(1), ... that pass to `kept` and the others to `dropped`;
// returns how many passed. Both sides are written at every row, one of them for good: no branch to
// mispredict. `kept` may be where the rows come from.
template <class Code, class Source>
std::size_t split(const CodeFilter<Code>& passes, const Code* codes, const Source& source,
                  std::size_t n, Row* kept, Row* dropped) {
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Row row = source(i);
        dropped[i - n_kept] = row;
        kept[n_kept] = row;
        n_kept += passes(codes[std::size_t{row} * kGroup]);
    }
    return n_kept;
}

// Splits the pieces [starts[i], starts[i + 1]) of the cover, then puts them together in order.
template <class Code, class SplitPiece>
void split_pieces(std::span<const std::size_t> starts, Cover& cover, Cover& dropped, int n_threads,
                  const SplitPiece& split_piece) {
    cover.reserve(starts.back());
    dropped.reserve(starts.back());
    std::vector<std::size_t> kept(starts.size() - 1);
    parallel_for(kept.size(), starts.back() > kBlock ? n_threads : 1, [&](std::size_t piece) {
        const std::size_t from = starts[piece];
        kept[piece] = split_piece(piece, starts[piece + 1] - from, cover.rows.data() + from,
                                  dropped.rows.data() + from);
    });
    cover.n = dropped.n = 0;
    for (std::size_t piece = 0; piece < kept.size(); ++piece) {
        cover.append(starts[piece], kept[piece]);
        dropped.append(starts[piece], starts[piece + 1] - starts[piece] - kept[piece]);
    }
}

}  // namespace

template <class Code>
void refine(const Columns<Code>& columns, const CodeTest& test, Cover& cover, Cover& dropped,
            int n_threads) {
    const auto column = static_cast<std::size_t>(test.column);
    const CodeFilter<Code> passes(test);
    const std::size_t n_pieces = cover.n > kBlock ? count_threads(n_threads) : 1;
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i <= n_pieces; ++i) starts.push_back(i * cover.n / n_pieces);
    split_pieces<Code>(starts, cover, dropped, n_threads,
                       [&](std::size_t, std::size_t n, Row* kept, Row* others) {
                           const auto source = [kept](std::size_t i) { return kept[i]; };
                           return split(passes, columns.column(column), source, n, kept, others);
                       });
}

template <class Code>
void refine(const Columns<Code>& columns, const CodeTest& test, std::span<const RowRange> ranges,
            Cover& cover, Cover& dropped, int n_threads) {
    const auto column = static_cast<std::size_t>(test.column);
    const CodeFilter<Code> passes(test);
    std::vector<std::size_t> starts{0};
    for (const RowRange& range : ranges) starts.push_back(starts.back() + range.to - range.from);
    split_pieces<Code>(starts, cover, dropped, n_threads,
                       [&](std::size_t piece, std::size_t n, Row* kept, Row* others) {
                           const std::size_t from = ranges[piece].from;
                           const auto source = [from](std::size_t i) {
                               return static_cast<Row>(from + i);
                           };
                           return split(passes, columns.column(column), source, n, kept, others);
                       });
}

template void refine(const Columns<std::uint8_t>&, const CodeTest&, Cover&, Cover&, int);
template void refine(const Columns<std::uint16_t>&, const CodeTest&, Cover&, Cover&, int);
template void refine(const Columns<std::uint8_t>&, const CodeTest&, std::span<const RowRange>,
                     Cover&, Cover&, int);
template void refine(const Columns<std::uint16_t>&, const CodeTest&, std::span<const RowRange>,
                     Cover&, Cover&, int);

}  // namespace rulewright
