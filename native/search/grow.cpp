#include "search/grow.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"
#include "search/histogram.hpp"
#include "search/scan.hpp"
#include "search/scores/gradient.hpp"
#include "search/scores/newton.hpp"

namespace rulewright {
namespace {

template <class Code, class Score>
class Growth {
  public:
    Growth(const Columns<Code>& columns, const Statistics& statistics, Score score,
           const Limits& limits, int n_threads)
        : columns_(columns),
          statistics_(statistics),
          score_(score),
          limits_(limits),
          n_threads_(n_threads),
          layout_(columns.n_bins, statistics.used_lanes()),
          unused_required_(limits.required.begin(), limits.required.end()) {}

    GrownRule run(std::span<const Row> rows) {
        GrownRule rule;
        gather(rows);
        fill(cover_, histogram_);
        double best = 0;
        while (rule.conditions.size() < max_conditions() && cover_.n > 0) {
            Candidate found = best_candidate();
            if (found.verdict.vote < 0) break;
            found.condition.criterion = score_.criterion(found.verdict.value);
            if (!(found.condition.criterion < best - limits_.tolerance)) break;
            best = found.condition.criterion;
            rule.conditions.push_back(found.condition);
            rule.vote = found.verdict.vote;
            unused_required_[static_cast<std::size_t>(found.condition.column)] = 0;
            if (rule.conditions.size() < max_conditions()) refine(found.condition);
        }
        const bool unmet = std::ranges::any_of(unused_required_, [](auto r) { return r != 0; });
        return unmet ? GrownRule{} : rule;
    }

  private:
    std::size_t max_conditions() const { return static_cast<std::size_t>(limits_.max_conditions); }

    // Waking threads costs more than a little work.
    int threads(std::size_t work) const { return work > kBlock ? n_threads_ : 1; }

    void gather(std::span<const Row> rows) {
        const std::size_t lanes = layout_.lanes();
        const std::size_t pairs = 2 * statistics_.n_pairs;
        cover_.reserve(rows.size(), lanes);
        cover_.n = rows.size();
        std::ranges::copy(rows, cover_.rows.begin());
        parallel_blocks(
            rows.size(), n_threads_, [&](std::size_t, std::size_t from, std::size_t to) {
                for (std::size_t i = from; i < to; ++i) {
                    const Stat* source = statistics_.values + rows[i] * statistics_.n_lanes;
                    Stat* target = cover_.stats.data() + i * lanes;
                    std::copy_n(source + statistics_.first_lane, pairs, target);
                    if (statistics_.weighted) target[pairs] = source[statistics_.n_lanes - 1];
                }
            });
    }

    void fill(const Cover& cover, std::vector<Stat>& histogram) const {
        histogram.assign(layout_.size(), 0);
        parallel_for(columns_.n_groups(), threads(cover.n), [&](std::size_t group) {
            fill_group(columns_, group, cover, layout_, histogram.data());
        });
    }

    // While a required column is unused only required columns are looked at.
    std::uint8_t allowed(std::size_t column, bool only_required) const {
        if (only_required && !unused_required_[column]) return 0;
        return limits_.operators[column];
    }

    // The sums over the whole cover, read off the first column's histogram.
    std::vector<Stat> total() const {
        const std::size_t lanes = layout_.lanes();
        std::vector<Stat> sums(lanes);
        for (std::size_t i = 0; i < layout_.offset(1); i += lanes) {
            for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += histogram_[i + lane];
        }
        return sums;
    }

    Candidate best_candidate() {
        const std::size_t lanes = layout_.lanes();
        score_.start(total().data());
        const bool only_required =
            std::ranges::any_of(unused_required_, [](auto r) { return r != 0; });
        std::vector<Candidate> found(columns_.n_columns());
        parallel_for(columns_.n_groups(), threads(histogram_.size()), [&](std::size_t group) {
            const std::size_t first = group * kGroup;
            for (std::size_t j = first; j < first + columns_.width(group); ++j) {
                const ColumnScan scan{static_cast<std::int32_t>(j), columns_.n_bins[j],
                                      columns_.nominal[j] != 0,     allowed(j, only_required),
                                      limits_.min_weight,           lanes};
                found[j] = scan_column(scan, score_, histogram_.data() + layout_.offset(j));
            }
        });
        Candidate best;
        for (const Candidate& candidate : found) best.improve(candidate);
        return best;
    }

    // Keep the rows that satisfy the condition. The smaller side is counted anew, the larger one
    // is what remains of the old histogram.
    void refine(const GrownCondition& condition) {
        const auto column = static_cast<std::size_t>(condition.column);
        const CodeTest test = code_test(condition, columns_.n_bins[column]);
        dropped_.reserve(cover_.rows.size(), layout_.lanes());
        if (layout_.lanes() == 2) {
            split<2>(test, columns_.column(column));
        } else {
            split<0>(test, columns_.column(column));
        }
        if (cover_.n <= dropped_.n) {
            fill(cover_, histogram_);
        } else {
            fill(dropped_, other_);
            for (std::size_t i = 0; i < histogram_.size(); ++i) histogram_[i] -= other_[i];
        }
    }

    // Both sides are written at every row, one of them for good: no branch to mispredict.
    template <std::size_t kLanes>
    void split(const CodeTest test, const Code* codes) {
        const std::size_t lanes = kLanes ? kLanes : layout_.lanes();
        Row *rows = cover_.rows.data(), *out_rows = dropped_.rows.data();
        Stat *stats = cover_.stats.data(), *out_stats = dropped_.stats.data();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < cover_.n; ++i) {
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
        dropped_.n = cover_.n - kept;
        cover_.n = kept;
    }

    const Columns<Code>& columns_;
    const Statistics& statistics_;
    Score score_;
    const Limits& limits_;
    int n_threads_;
    HistogramLayout layout_;
    std::vector<std::uint8_t> unused_required_;
    Cover cover_, dropped_;
    std::vector<Stat> histogram_, other_;
};

}  // namespace

template <class Code>
GrownRule grow_rule(const Columns<Code>& columns, std::span<const Row> rows,
                    const Statistics& statistics, const ScoreChoice& choice, const Limits& limits,
                    int n_threads) {
    const auto grow = [&](auto score) {
        return Growth(columns, statistics, score, limits, n_threads).run(rows);
    };
    switch (choice.kind) {
        case ScoreKind::kNewton:
            return grow(NewtonScore{choice.votes, choice.l2});
        case ScoreKind::kGradient:
            return grow(GradientScore{choice.votes});
    }
    return {};
}

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

template GrownRule grow_rule(const Columns<std::uint8_t>&, std::span<const Row>, const Statistics&,
                             const ScoreChoice&, const Limits&, int);
template GrownRule grow_rule(const Columns<std::uint16_t>&, std::span<const Row>, const Statistics&,
                             const ScoreChoice&, const Limits&, int);

}  // namespace rulewright
