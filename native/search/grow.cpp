#include "search/grow.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"
#include "search/scan.hpp"
#include "search/scores/gradient.hpp"
#include "search/scores/newton.hpp"
#include "search/scores/slipper.hpp"

namespace rulewright {
namespace {

template <class Code, class Score>
class Growth {
  public:
    Growth(const Columns<Code>& columns, const Statistics& statistics, Score score,
           Directions directions, const Limits& limits, Workspace& workspace, int n_threads)
        : columns_(columns),
          statistics_(statistics),
          score_(score),
          directions_(directions),
          limits_(limits),
          n_threads_(n_threads),
          layout_(columns.n_bins, statistics.used_lanes()),
          unused_required_(limits.required.begin(), limits.required.end()),
          cover_(workspace.cover),
          dropped_(workspace.dropped),
          histogram_(workspace.histogram),
          other_(workspace.other) {}

    GrownRule run(std::span<const Row> rows) {
        GrownRule rule;
        gather(rows);
        const Cover* counted = &cover_;
        double empty = 0, best = 0;
        while (rule.conditions.size() < max_conditions() && cover_.n > 0) {
            Candidate found = best_candidate(*counted);
            if (rule.conditions.empty()) empty = best = score_.empty(total(0).data());
            if (found.verdict.vote < 0) break;
            found.condition.criterion = score_.criterion(found.verdict.value);
            const bool improves = found.condition.criterion < best - limits_.tolerance;
            if (!improves && !misses_required()) break;  // what is required need not help by itself
            best = found.condition.criterion;
            rule.conditions.push_back(found.condition);
            rule.vote = found.verdict.vote;
            narrow(found.condition);
            if (rule.conditions.size() < max_conditions()) counted = &refine(found.condition);
        }
        const bool good = best < empty - limits_.tolerance && !misses_required();
        return good ? rule : GrownRule{};
    }

  private:
    std::size_t max_conditions() const { return static_cast<std::size_t>(limits_.max_conditions); }

    bool misses_required() const {
        return std::ranges::any_of(unused_required_, [](auto required) { return required != 0; });
    }

    // What the condition leaves open to those that follow.
    void narrow(const GrownCondition& condition) {
        const auto column = static_cast<std::size_t>(condition.column);
        unused_required_[column] = 0;
        groups_ &= limits_.groups[column];
        directions_ = directions_ & scan_of(column, false).allows(condition.op);
    }

    // How a column may be used next. While a required column is unused only required ones are open.
    ColumnScan scan_of(std::size_t column, bool only_required) const {
        const bool open = (limits_.groups[column] & groups_) != 0 &&
                          (!only_required || unused_required_[column] != 0);
        const auto operators = [&](Directions side, std::span<const std::uint8_t> allowed) {
            return open && (directions_ & side) ? allowed[column] : std::uint8_t{0};
        };
        return {static_cast<std::int32_t>(column),
                columns_.n_bins[column],
                columns_.nominal[column] != 0,
                operators(kUp, limits_.up_operators),
                operators(kDown, limits_.down_operators),
                limits_.min_weight,
                layout_.lanes()};
    }

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

    // Bring the histograms up to date and judge every condition, group by group, so that a group's
    // histograms are still in the cache when they are read. `counted` are the rows to count: those
    // of the cover, or those that the last condition dropped.
    Candidate best_candidate(const Cover& counted) {
        histogram_.resize(layout_.size());
        other_.resize(layout_.size());
        const bool only_required = misses_required();
        // Waking threads costs more than a little work.
        const int n_threads = counted.n + histogram_.size() > kBlock ? n_threads_ : 1;
        std::vector<Candidate> found(columns_.n_groups());
        parallel_for(columns_.n_groups(), n_threads, [&](std::size_t group) {
            count(group, counted);
            const std::size_t first = group * kGroup;
            const std::vector<Stat> sums = total(first);
            Candidate& best = found[group];
            for (std::size_t j = first; j < first + columns_.width(group); ++j) {
                const Stat* histogram = histogram_.data() + layout_.offset(j);
                best.improve(scan_column(scan_of(j, only_required), score_, sums.data(), histogram,
                                         best.verdict.value));
            }
        });
        Candidate best;
        for (const Candidate& candidate : found) best.improve(candidate);
        return best;
    }

    // Histograms of a group: counted anew, or what remains when the dropped rows are taken off.
    void count(std::size_t group, const Cover& counted) {
        const std::size_t from = layout_.offset(group * kGroup);
        const std::size_t to = layout_.offset(group * kGroup + columns_.width(group));
        std::vector<Stat>& histogram = &counted == &cover_ ? histogram_ : other_;
        std::fill(histogram.data() + from, histogram.data() + to, 0);
        fill_group(columns_, group, counted, layout_, histogram.data());
        if (&counted == &cover_) return;
        for (std::size_t i = from; i < to; ++i) histogram_[i] -= other_[i];
    }

    // The sums over the whole cover, read off the histogram of any column.
    std::vector<Stat> total(std::size_t column) const {
        const std::size_t lanes = layout_.lanes();
        std::vector<Stat> sums(lanes);
        for (std::size_t i = layout_.offset(column); i < layout_.offset(column + 1); i += lanes) {
            for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += histogram_[i + lane];
        }
        return sums;
    }

    // Keep the rows that satisfy the condition; return the smaller side, which is to be counted.
    // Every thread splits a piece of the cover, then the pieces are put together in order.
    const Cover& refine(const GrownCondition& condition) {
        const auto column = static_cast<std::size_t>(condition.column);
        const CodeTest test = code_test(condition, columns_.n_bins[column]);
        const std::size_t n = cover_.n, lanes = layout_.lanes();
        const auto n_pieces = n > kBlock ? static_cast<std::size_t>(n_threads_) : std::size_t{1};
        std::vector<std::size_t> kept(n_pieces);
        dropped_.reserve(cover_.rows.size(), lanes);
        parallel_for(n_pieces, n_threads_, [&](std::size_t piece) {
            const std::size_t from = piece * n / n_pieces, to = (piece + 1) * n / n_pieces;
            const Code* codes = columns_.column(column);
            kept[piece] =
                lanes == 2 ? split<2>(test, codes, from, to) : split<0>(test, codes, from, to);
        });
        cover_.n = dropped_.n = 0;
        for (std::size_t piece = 0; piece < n_pieces; ++piece) {
            const std::size_t from = piece * n / n_pieces, to = (piece + 1) * n / n_pieces;
            cover_.append(from, kept[piece], lanes);
            dropped_.append(from, to - from - kept[piece], lanes);
        }
        return cover_.n <= dropped_.n ? cover_ : dropped_;
    }

    // Moves the rows of [from, to) that pass the test to its front, the others to the same place
    // in the dropped rows; returns how many passed. Both sides are written at every row, one of
    // them for good: no branch to mispredict.
    template <std::size_t kLanes>
    std::size_t split(const CodeTest test, const Code* codes, std::size_t from, std::size_t to) {
        const std::size_t lanes = kLanes ? kLanes : layout_.lanes();
        Row *rows = cover_.rows.data() + from, *out_rows = dropped_.rows.data() + from;
        Stat* stats = cover_.stats.data() + from * lanes;
        Stat* out_stats = dropped_.stats.data() + from * lanes;
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

    const Columns<Code>& columns_;
    const Statistics& statistics_;
    Score score_;
    Directions directions_;  // of the votes still open
    std::uint64_t groups_ = ~std::uint64_t{0};
    const Limits& limits_;
    int n_threads_;
    HistogramLayout layout_;
    std::vector<std::uint8_t> unused_required_;
    Cover &cover_, &dropped_;
    std::vector<Stat>&histogram_, &other_;
};

}  // namespace

template <class Code>
GrownRule grow_rule(const Columns<Code>& columns, std::span<const Row> rows,
                    const Statistics& statistics, const ScoreChoice& choice, const Limits& limits,
                    Workspace& workspace, int n_threads) {
    const auto grow = [&](auto score) {
        return Growth(columns, statistics, score, choice.directions, limits, workspace, n_threads)
            .run(rows);
    };
    switch (choice.kind) {
        case ScoreKind::kNewton:
            return grow(NewtonScore{choice.votes, choice.l2});
        case ScoreKind::kGradient:
            return grow(GradientScore{choice.votes});
        case ScoreKind::kSlipper:
            return grow(SlipperScore{choice.votes});
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
                             const ScoreChoice&, const Limits&, Workspace&, int);
template GrownRule grow_rule(const Columns<std::uint16_t>&, std::span<const Row>, const Statistics&,
                             const ScoreChoice&, const Limits&, Workspace&, int);

}  // namespace rulewright
