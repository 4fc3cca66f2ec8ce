#include "search/rows.hpp"

#include <algorithm>
#include <numeric>

#include "base/parallel.hpp"
#include "base/random.hpp"

namespace rulewright {

std::vector<Row> draw_rows(std::size_t n, std::size_t size, std::uint64_t seed) {
    std::vector<Row> rows(size + 1);  // one spare place lets the loop write without a branch
    std::size_t taken = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t remaining = n - i;
        const std::uint64_t needed = size - taken;
        const std::uint64_t u = random_bits(seed, i) >> 32;
        rows[taken] = static_cast<Row>(i);
        taken += ((u * remaining) >> 32) < needed ? 1 : 0;
    }
    rows.resize(size);
    return rows;
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
std::size_t cover_block(const Columns<Code>& columns, std::span<const CodeTest> tests,
                        std::size_t begin, std::size_t end, Row* out) {
    std::size_t n = end - begin;
    std::iota(out, out + n, static_cast<Row>(begin));
    for (const CodeTest& test : tests) {
        n = keep(columns.column(static_cast<std::size_t>(test.column)), test, out, n);
    }
    return n;
}

}  // namespace

template <class Code>
std::vector<Row> cover_rows(const Columns<Code>& columns, std::span<const CodeTest> tests,
                            int n_threads) {
    std::vector<Row> rows(columns.n_rows);
    std::vector<std::size_t> counts(count_blocks(columns.n_rows));
    parallel_blocks(
        columns.n_rows, n_threads, [&](std::size_t block, std::size_t begin, std::size_t end) {
            counts[block] = cover_block(columns, tests, begin, end, rows.data() + begin);
        });
    std::size_t n = 0;
    for (std::size_t block = 0; block < counts.size(); ++block) {
        const Row* first = rows.data() + block * kBlock;
        std::copy(first, first + counts[block], rows.data() + n);
        n += counts[block];
    }
    rows.resize(n);
    return rows;
}

template std::vector<Row> cover_rows(const Columns<std::uint8_t>&, std::span<const CodeTest>, int);
template std::vector<Row> cover_rows(const Columns<std::uint16_t>&, std::span<const CodeTest>, int);

}  // namespace rulewright
