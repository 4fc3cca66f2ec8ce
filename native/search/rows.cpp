#include "search/rows.hpp"

#include <algorithm>

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

template <class Code>
std::size_t cover_block(const Columns<Code>& columns, std::span<const CodeTest> tests,
                        std::size_t begin, std::size_t end, Row* out) {
    std::size_t n = 0;
    for (std::size_t i = begin; i < end; ++i) out[n++] = static_cast<Row>(i);
    for (const CodeTest& test : tests) {
        const Code* codes = columns.column(static_cast<std::size_t>(test.column));
        std::size_t kept = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Row row = out[i];
            out[kept] = row;
            kept += test.holds(codes[row * kGroup]) ? 1 : 0;
        }
        n = kept;
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
