#include "search/rows.hpp"

#include <numeric>

#include "base/parallel.hpp"
#include "base/random.hpp"

namespace rulewright {

Draw draw_rows(std::size_t n, std::size_t size, std::uint64_t seed) {
    Draw draw{std::vector<Row>(size + 1), std::vector<std::uint8_t>(n)};
    Row* rows = draw.rows.data();  // one spare place lets the loop write without a branch
    std::uint8_t* drawn = draw.drawn.data();
    std::size_t taken = 0;
    const auto decide = [&](std::size_t i, std::uint64_t u) {
        const auto take = static_cast<std::size_t>(((u * (n - i)) >> 32) < size - taken);
        rows[taken] = static_cast<Row>(i);
        drawn[i] = static_cast<std::uint8_t>(take);
        taken += take;
    };
    for (std::size_t i = 0; i < n; i += 2) {
        const std::uint64_t bits = random_bits(seed, i / 2);
        decide(i, bits & 0xFFFFFFFFULL);
        if (i + 1 < n) decide(i + 1, bits >> 32);
    }
    draw.rows.resize(size);
    return draw;
}

namespace {

// Keeps those of the first n rows of `rows` that pass the test, without a branch per row.
template <class Code>
std::size_t keep(const Code* codes, const CodeTest test, Row* rows, std::size_t n) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Row row = rows[i];
        rows[kept] = row;
        kept += test.holds(codes[std::size_t{row} * kGroup]) ? 1 : 0;
    }
    return kept;
}

template <class Code>
std::vector<Row> cover_block(const Columns<Code>& columns, std::span<const CodeTest> tests,
                             std::size_t begin, std::size_t end) {
    Row rows[kBlock];
    std::size_t n = end - begin;
    std::iota(rows, rows + n, static_cast<Row>(begin));
    for (const CodeTest& test : tests) {
        n = keep(columns.column(static_cast<std::size_t>(test.column)), test, rows, n);
    }
    return {rows, rows + n};
}

}  // namespace

template <class Code>
std::vector<Row> cover_rows(const Columns<Code>& columns, std::span<const CodeTest> tests,
                            int n_threads) {
    std::vector<std::vector<Row>> blocks(count_blocks(columns.n_rows));
    parallel_blocks(columns.n_rows, n_threads,
                    [&](std::size_t block, std::size_t begin, std::size_t end) {
                        blocks[block] = cover_block(columns, tests, begin, end);
                    });
    std::size_t n = 0;
    for (const auto& block : blocks) n += block.size();
    std::vector<Row> rows;
    rows.reserve(n);
    for (const auto& block : blocks) rows.insert(rows.end(), block.begin(), block.end());
    return rows;
}

template std::vector<Row> cover_rows(const Columns<std::uint8_t>&, std::span<const CodeTest>, int);
template std::vector<Row> cover_rows(const Columns<std::uint16_t>&, std::span<const CodeTest>, int);

}  // namespace rulewright
