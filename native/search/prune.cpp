#include "search/prune.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/parallel.hpp"

namespace rulewright {

namespace {

constexpr double kLeastCurvature = 1e-12;

// What a test adds to the set of the tests that a row fails; those beyond the most have one bit.
template <class Code>
struct Failure {
    CodeFilter<Code> passes;
    const Code* codes;
    std::size_t bit;

    Failure(const Columns<Code>& columns, const CodeTest& test, std::size_t place)
        : passes(test),
          codes(columns.column(static_cast<std::size_t>(test.column))),
          bit(std::min(place, kMostTests)) {}

    std::size_t operator()(Row row) const {
        return (passes(codes[std::size_t{row} * kGroup]) ^ 1) << bit;
    }
};

// Adds up the rows of one block to judge by, each at the set of tests that it fails; rows that fail
// a test beyond the most do not count.
template <class Code>
void add_block(std::span<const Failure<Code>> failures, const SplitPairs& pairs, std::size_t begin,
               std::size_t end, Stat* sums) {
    Row rows[kBlock];
    std::uint16_t failed[kBlock];
    const std::size_t n = rows_to_judge(pairs.side, begin, end, rows);
    std::fill_n(failed, n, std::uint16_t{0});
    for (const Failure<Code>& failure : failures) {
        for (std::size_t i = 0; i < n; ++i) {
            failed[i] = static_cast<std::uint16_t>(failed[i] | failure(rows[i]));
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (failed[i] >> kMostTests != 0) continue;
        const Stat* pair = pairs.values + std::size_t{rows[i]} * pairs.n_lanes;
        sums[2 * std::size_t{failed[i]}] += pair[0];
        sums[2 * std::size_t{failed[i]} + 1] += pair[1];
    }
}

// Sums of both lanes over the rows to judge by, for each set of the first tests that a row fails.
class FailureSums {
  public:
    template <class Code>
    FailureSums(const Columns<Code>& columns, std::span<const CodeTest> tests,
                const SplitPairs& pairs, int n_threads)
        : n_tests_(std::min(tests.size(), kMostTests)), sums_(std::size_t{2} << n_tests_) {
        const std::size_t width = sums_.size();
        std::vector<Failure<Code>> failures;
        for (std::size_t t = 0; t < tests.size(); ++t) failures.emplace_back(columns, tests[t], t);
        std::vector<Stat> partial(count_blocks(columns.n_rows) * width);
        parallel_blocks(columns.n_rows, n_threads,
                        [&](std::size_t block, std::size_t begin, std::size_t end) {
                            add_block<Code>(failures, pairs, begin, end, &partial[block * width]);
                        });
        for (std::size_t i = 0; i < partial.size(); ++i) sums_[i % width] += partial[i];
    }

    const std::vector<Stat>& all() const { return sums_; }

    // Sums over the rows that fail only the l-th of the tests kept, and at last over those that
    // fail none.
    std::vector<Stat> by_test(std::size_t kept) const {
        std::vector<Stat> sums(2 * (n_tests_ + 1));
        for (std::size_t set = 0; 2 * set < sums_.size(); ++set) {
            const std::size_t failed = set & kept;
            if ((failed & (failed - 1)) != 0 && failed != 0) continue;
            const auto first = static_cast<std::size_t>(std::countr_zero(failed));
            const std::size_t place = failed == 0 ? n_tests_ : first;
            sums[2 * place] += sums_[2 * set];
            sums[2 * place + 1] += sums_[2 * set + 1];
        }
        return sums;
    }

  private:
    std::size_t n_tests_;
    std::vector<Stat> sums_;
};

double evidence(Stat g, Stat h, const EvidenceUnit& unit) {
    const double curvature = unit.unit * static_cast<double>(h) + unit.l2;
    return -(unit.sign * unit.unit * static_cast<double>(g)) /
           std::sqrt(std::max(curvature, kLeastCurvature));
}

}  // namespace

template <class Code>
std::vector<Stat> failure_sums(const Columns<Code>& columns, std::span<const CodeTest> tests,
                               const SplitPairs& pairs, int n_threads) {
    return FailureSums(columns, tests, pairs, n_threads).all();
}

template <class Code>
std::vector<std::int32_t> prune_tests(const Columns<Code>& columns, std::span<const CodeTest> tests,
                                      const SplitPairs& pairs, const EvidenceUnit& unit,
                                      const ColumnWorth& by_column, int n_threads) {
    const std::size_t n = std::min(tests.size(), kMostTests);
    const FailureSums failures(columns, tests, pairs, n_threads);
    std::size_t kept = (std::size_t{1} << n) - 1;
    const auto column = [&](std::size_t t) { return static_cast<std::size_t>(tests[t].column); };
    std::vector<double> worth(n);
    while (kept != 0) {
        const std::vector<Stat> sums = failures.by_test(kept);
        const Stat g = sums[2 * n], h = sums[2 * n + 1];
        const double whole = evidence(g, h, unit);
        const bool single = tests.size() <= kMostTests && std::has_single_bit(kept);
        std::size_t least = n;
        bool required_only = true;
        for (std::size_t t = 0; t < n; ++t) {
            if ((kept >> t & 1) == 0) continue;
            const double rest = single ? 0.0 : evidence(g + sums[2 * t], h + sums[2 * t + 1], unit);
            worth[t] = whole - rest;
            if (by_column.required[column(t)] != 0) continue;
            required_only = false;
            const bool pays =
                worth[t] > 0 && by_column.worth[column(t)] + worth[t] > by_column.least;
            if (!pays && (least == n || worth[t] <= worth[least])) least = t;
        }
        if (least == n) {
            std::vector<std::int32_t> places;
            for (std::size_t t = 0; t < tests.size(); ++t) {
                if (t < n && (kept >> t & 1) == 0) continue;
                places.push_back(static_cast<std::int32_t>(t));
                if (t < n) by_column.worth[column(t)] += worth[t];
            }
            if (required_only && whole <= 0) places.clear();
            return places;
        }
        by_column.worth[column(least)] += worth[least];
        kept &= ~(std::size_t{1} << least);
    }
    std::vector<std::int32_t> places;  // tests beyond the most, if any
    for (std::size_t t = n; t < tests.size(); ++t) places.push_back(static_cast<std::int32_t>(t));
    return places;
}

template std::vector<Stat> failure_sums(const Columns<std::uint8_t>&, std::span<const CodeTest>,
                                        const SplitPairs&, int);
template std::vector<Stat> failure_sums(const Columns<std::uint16_t>&, std::span<const CodeTest>,
                                        const SplitPairs&, int);
template std::vector<std::int32_t> prune_tests(const Columns<std::uint8_t>&,
                                               std::span<const CodeTest>, const SplitPairs&,
                                               const EvidenceUnit&, const ColumnWorth&, int);
template std::vector<std::int32_t> prune_tests(const Columns<std::uint16_t>&,
                                               std::span<const CodeTest>, const SplitPairs&,
                                               const EvidenceUnit&, const ColumnWorth&, int);

}  // namespace rulewright
