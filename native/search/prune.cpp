#include "search/prune.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/parallel.hpp"

namespace rulewright {

namespace {

constexpr std::size_t kMostTests = 64;
constexpr double kLeastCurvature = 1e-12;

// The rows to judge by, each with the tests that it fails as bits.
class Failures {
  public:
    template <class Code>
    Failures(const Columns<Code>& columns, std::span<const CodeTest> tests, const SplitPairs& pairs,
             int n_threads)
        : pairs_(pairs),
          n_rows_(columns.n_rows),
          n_threads_(n_threads),
          rows_(n_rows_),
          failed_(n_rows_),
          counts_(count_blocks(n_rows_)) {
        parallel_blocks(n_rows_, n_threads,
                        [&](std::size_t block, std::size_t begin, std::size_t end) {
                            counts_[block] = fill(columns, tests, begin, end);
                        });
    }

    // Sums of both lanes over the rows that fail only the l-th of the tests kept, and at last over
    // those that fail none.
    std::vector<Stat> sums(std::uint64_t kept, std::size_t n_tests) const {
        const std::size_t width = 2 * (n_tests + 2);  // the last pair is of all other rows
        std::vector<Stat> partial(counts_.size() * width);
        parallel_blocks(n_rows_, n_threads_,
                        [&](std::size_t block, std::size_t begin, std::size_t) {
                            add(kept, n_tests, begin, counts_[block], &partial[block * width]);
                        });
        std::vector<Stat> total(width);
        for (std::size_t i = 0; i < partial.size(); ++i) total[i % width] += partial[i];
        return total;
    }

  private:
    template <class Code>
    std::size_t fill(const Columns<Code>& columns, std::span<const CodeTest> tests,
                     std::size_t begin, std::size_t end) {
        Row* rows = &rows_[begin];
        std::uint64_t* failed = &failed_[begin];
        std::size_t n = 0;
        for (std::size_t row = begin; row < end; ++row) {
            rows[n] = static_cast<Row>(row);
            n += pairs_.side[row] == 0 ? 1 : 0;
        }
        for (std::size_t t = 0; t < tests.size(); ++t) {
            const CodeTest& test = tests[t];
            const Code* codes = columns.column(static_cast<std::size_t>(test.column));
            const auto fails = [&](std::size_t i) {
                return std::uint64_t{!test.holds(codes[std::size_t{rows[i]} * kGroup])};
            };
            if (t < kMostTests) {
                for (std::size_t i = 0; i < n; ++i) failed[i] |= fails(i) << t;
                continue;
            }
            std::size_t left = 0;
            for (std::size_t i = 0; i < n; ++i) {
                const bool stays = fails(i) == 0;
                rows[left] = rows[i];
                failed[left] = failed[i];
                left += stays ? 1 : 0;
            }
            n = left;
        }
        return n;
    }

    void add(std::uint64_t kept, std::size_t n_tests, std::size_t begin, std::size_t n,
             Stat* sums) const {
        for (std::size_t i = begin; i < begin + n; ++i) {
            const std::uint64_t failed = failed_[i] & kept;
            const auto first = static_cast<std::size_t>(std::countr_zero(failed));
            std::size_t place = failed == 0 ? n_tests : first;
            place = (failed & (failed - 1)) != 0 && failed != 0 ? n_tests + 1 : place;
            const Stat* pair = pairs_.values + std::size_t{rows_[i]} * pairs_.n_lanes;
            sums[2 * place] += pair[0];
            sums[2 * place + 1] += pair[1];
        }
    }

    SplitPairs pairs_;
    std::size_t n_rows_;
    int n_threads_;
    std::vector<Row> rows_;
    std::vector<std::uint64_t> failed_;
    std::vector<std::size_t> counts_;  // rows to judge by in each block
};

double evidence(Stat g, Stat h, const EvidenceUnit& unit) {
    const double curvature = unit.unit * static_cast<double>(h) + unit.l2;
    return -(unit.sign * unit.unit * static_cast<double>(g)) /
           std::sqrt(std::max(curvature, kLeastCurvature));
}

}  // namespace

template <class Code>
std::vector<std::int32_t> prune_tests(const Columns<Code>& columns, std::span<const CodeTest> tests,
                                      const SplitPairs& pairs, const EvidenceUnit& unit,
                                      const ColumnWorth& by_column, int n_threads) {
    const std::size_t n = std::min(tests.size(), kMostTests);
    const Failures failures(columns, tests, pairs, n_threads);
    std::uint64_t kept = n == kMostTests ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    const auto column = [&](std::size_t t) { return static_cast<std::size_t>(tests[t].column); };
    std::vector<double> worth(n);
    while (kept != 0) {
        const std::vector<Stat> sums = failures.sums(kept, n);
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
        kept &= ~(std::uint64_t{1} << least);
    }
    std::vector<std::int32_t> places;  // tests beyond the most, if any
    for (std::size_t t = n; t < tests.size(); ++t) places.push_back(static_cast<std::int32_t>(t));
    return places;
}

template std::vector<std::int32_t> prune_tests(const Columns<std::uint8_t>&,
                                               std::span<const CodeTest>, const SplitPairs&,
                                               const EvidenceUnit&, const ColumnWorth&, int);
template std::vector<std::int32_t> prune_tests(const Columns<std::uint16_t>&,
                                               std::span<const CodeTest>, const SplitPairs&,
                                               const EvidenceUnit&, const ColumnWorth&, int);

}  // namespace rulewright
