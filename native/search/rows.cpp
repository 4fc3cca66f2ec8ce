#include "search/rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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

// Rows fall into buckets by the leading bits of their keys: all of the buckets before the one where
// a stratum reaches its share are taken, and only the rows of that bucket need an order.
constexpr int kBucketBits = 10;  // their weights stay in the nearest cache
constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;

struct Crossing {
    std::size_t bucket = 0;
    Stat before = 0, target = 0;  // weight of the buckets before, and the share to reach
};

Crossing find_crossing(std::span<const Stat> buckets, double share) {
    const Stat total = std::accumulate(buckets.begin(), buckets.end(), Stat{0});
    Crossing crossing;
    crossing.target = std::llrint(share * static_cast<double>(total));
    while (crossing.bucket + 1 < kBuckets &&
           crossing.before + buckets[crossing.bucket] < crossing.target) {
        crossing.before += buckets[crossing.bucket++];
    }
    return crossing;
}

}  // namespace

std::vector<std::uint8_t> split_by_weight(const Strata& rows, double share, std::uint64_t seed) {
    const std::size_t n = rows.weights.size();
    const auto bucket_of = [](std::uint64_t key) { return key >> (64 - kBucketBits); };
    std::vector<Stat> weights(rows.n_strata * kBuckets);
    for (std::size_t i = 0; i < n; ++i) {
        const auto stratum = static_cast<std::size_t>(rows.strata[i]);
        weights[stratum * kBuckets + bucket_of(random_bits(seed, i))] += rows.weights[i];
    }
    std::vector<Crossing> crossings;
    for (std::size_t s = 0; s < rows.n_strata; ++s) {
        crossings.push_back(
            find_crossing(std::span(weights).subspan(s * kBuckets, kBuckets), share));
    }
    std::vector<std::uint8_t> taken(n);
    std::vector<std::pair<std::uint64_t, std::size_t>> undecided;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t key = random_bits(seed, i);
        const Crossing& crossing = crossings[static_cast<std::size_t>(rows.strata[i])];
        taken[i] = bucket_of(key) < crossing.bucket ? 1 : 0;
        if (bucket_of(key) == crossing.bucket) undecided.emplace_back(key, i);
    }
    std::ranges::sort(undecided);
    for (const auto& [key, i] : undecided) {
        Crossing& crossing = crossings[static_cast<std::size_t>(rows.strata[i])];
        const Stat after = crossing.before + rows.weights[i];
        const bool crosses = after >= crossing.target;
        taken[i] = crossing.before < crossing.target &&
                           (!crosses || after - crossing.target < crossing.target - crossing.before)
                       ? 1
                       : 0;
        crossing.before = crosses ? std::max(after, crossing.target) : after;
    }
    return taken;
}

namespace {

template <class Code>
struct ColumnTest {
    CodeFilter<Code> passes;
    const Code* codes;

    std::size_t operator()(Row row) const { return passes(codes[std::size_t{row} * kGroup]); }
};

template <class Code>
std::vector<ColumnTest<Code>> column_tests(const Columns<Code>& columns,
                                           std::span<const CodeTest> tests) {
    std::vector<ColumnTest<Code>> found;
    for (const CodeTest& test : tests) {
        found.push_back(
            {CodeFilter<Code>(test), columns.column(static_cast<std::size_t>(test.column))});
    }
    return found;
}

// Keeps those of the first n rows of `rows` that pass the test, without a branch per row.
template <class Code>
std::size_t keep(const ColumnTest<Code>& test, Row* rows, std::size_t n) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const Row row = rows[i];
        rows[kept] = row;
        kept += test(row);
    }
    return kept;
}

// The rows of a block that pass all tests; the first one is asked of every row.
template <class Code>
std::size_t cover_block(std::span<const ColumnTest<Code>> tests, std::size_t begin, std::size_t end,
                        Row* rows) {
    if (tests.empty()) {
        std::iota(rows, rows + (end - begin), static_cast<Row>(begin));
        return end - begin;
    }
    std::size_t n = 0;
    for (std::size_t row = begin; row < end; ++row) {
        rows[n] = static_cast<Row>(row);
        n += tests[0](static_cast<Row>(row));
    }
    for (const ColumnTest<Code>& test : tests.subspan(1)) n = keep(test, rows, n);
    return n;
}

// Adds the rows to the sums of their sides, `stride` apart.
void add_pairs(const SplitPairs& pairs, std::span<const Row> rows, Stat* sums, std::size_t stride) {
    for (const Row row : rows) {
        const Stat* pair = pairs.values + std::size_t{row} * pairs.n_lanes;
        Stat* target = sums + pairs.side[row] * stride;
        target[0] += pair[0];
        target[1] += pair[1];
    }
}

// The same of consecutive rows: the sums of all rows and of side 1 stay in registers.
void add_range(const SplitPairs& pairs, std::size_t begin, std::size_t end, Stat* sums,
               std::size_t stride) {
    Stat all[2] = {}, side[2] = {};
    const Stat* pair = pairs.values + begin * pairs.n_lanes;
    for (std::size_t row = begin; row < end; ++row, pair += pairs.n_lanes) {
        const Stat mask = -Stat{pairs.side[row]};
        for (std::size_t lane = 0; lane < 2; ++lane) {
            all[lane] += pair[lane];
            side[lane] += pair[lane] & mask;
        }
    }
    for (std::size_t lane = 0; lane < 2; ++lane) {
        sums[lane] += all[lane] - side[lane];
        sums[stride + lane] += side[lane];
    }
}

}  // namespace

template <class Code>
std::vector<Row> cover_rows(const Columns<Code>& columns, std::span<const CodeTest> tests,
                            int n_threads) {
    const std::vector<ColumnTest<Code>> asked = column_tests(columns, tests);
    std::vector<std::vector<Row>> blocks(count_blocks(columns.n_rows));
    parallel_blocks(columns.n_rows, n_threads,
                    [&](std::size_t block, std::size_t begin, std::size_t end) {
                        Row rows[kBlock];
                        const std::size_t n = cover_block<Code>(asked, begin, end, rows);
                        blocks[block].assign(rows, rows + n);
                    });
    std::size_t n = 0;
    for (const auto& block : blocks) n += block.size();
    std::vector<Row> rows;
    rows.reserve(n);
    for (const auto& block : blocks) rows.insert(rows.end(), block.begin(), block.end());
    return rows;
}

template <class Code>
std::vector<Stat> prefix_sums(const Columns<Code>& columns, std::span<const CodeTest> tests,
                              const SplitPairs& pairs, int n_threads) {
    const std::vector<ColumnTest<Code>> asked = column_tests(columns, tests);
    const auto first = std::span(asked).first(std::min<std::size_t>(asked.size(), 1));
    const std::size_t stride = 2 * (tests.size() + 1), width = 2 * stride;
    std::vector<Stat> partial(count_blocks(columns.n_rows) * width);
    parallel_blocks(
        columns.n_rows, n_threads, [&](std::size_t block, std::size_t begin, std::size_t end) {
            Stat* sums = partial.data() + block * width;
            Row rows[kBlock];
            add_range(pairs, begin, end, sums, stride);
            for (std::size_t t = 0, n = 0; t < asked.size(); ++t) {
                n = t == 0 ? cover_block<Code>(first, begin, end, rows) : keep(asked[t], rows, n);
                add_pairs(pairs, {rows, n}, sums += 2, stride);
            }
        });
    std::vector<Stat> total(width);
    for (std::size_t i = 0; i < partial.size(); ++i) total[i % width] += partial[i];
    return total;
}

std::size_t rows_to_judge(const std::uint8_t* side, std::size_t begin, std::size_t end, Row* rows) {
    std::size_t n_off = 0;  // a plain loop, which the compiler turns into vector instructions
    for (std::size_t row = begin; row < end; ++row) n_off += side[row];
    if (n_off == end - begin) return 0;
    std::size_t n = 0;
    for (std::size_t row = begin; row < end; ++row) {
        rows[n] = static_cast<Row>(row);
        n += side[row] == 0 ? 1 : 0;
    }
    return n;
}

template <class Code>
std::vector<Stat> judged_sums(const Columns<Code>& columns, std::span<const CodeTest> tests,
                              const SplitPairs& pairs, int n_threads) {
    const std::vector<ColumnTest<Code>> asked = column_tests(columns, tests);
    const std::size_t width = 2 * tests.size();
    std::vector<Stat> partial(count_blocks(columns.n_rows) * width);
    parallel_blocks(columns.n_rows, n_threads,
                    [&](std::size_t block, std::size_t begin, std::size_t end) {
                        Stat* sums = partial.data() + block * width;
                        Row rows[kBlock];
                        std::size_t n = rows_to_judge(pairs.side, begin, end, rows);
                        for (const ColumnTest<Code>& test : asked) {
                            n = keep(test, rows, n);
                            add_pairs(pairs, {rows, n}, sums, 0);
                            sums += 2;
                        }
                    });
    std::vector<Stat> total(width);
    for (std::size_t i = 0; i < partial.size(); ++i) total[i % width] += partial[i];
    return total;
}

template std::vector<Stat> judged_sums(const Columns<std::uint8_t>&, std::span<const CodeTest>,
                                       const SplitPairs&, int);
template std::vector<Stat> judged_sums(const Columns<std::uint16_t>&, std::span<const CodeTest>,
                                       const SplitPairs&, int);
template std::vector<Stat> prefix_sums(const Columns<std::uint8_t>&, std::span<const CodeTest>,
                                       const SplitPairs&, int);
template std::vector<Stat> prefix_sums(const Columns<std::uint16_t>&, std::span<const CodeTest>,
                                       const SplitPairs&, int);
template std::vector<Row> cover_rows(const Columns<std::uint8_t>&, std::span<const CodeTest>, int);
template std::vector<Row> cover_rows(const Columns<std::uint16_t>&, std::span<const CodeTest>, int);

}  // namespace rulewright
