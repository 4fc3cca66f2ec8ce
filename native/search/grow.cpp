#include "search/grow.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "search/count.hpp"
#include "search/loose.hpp"
#include "search/refine.hpp"
#include "search/scan.hpp"
#include "search/scores/registry.hpp"

namespace rulewright {
namespace {

template <class Code>
class Growth {
  public:
    Growth(const Columns<Code>& columns, const Stat* stats, const Lanes& lanes,
           const ScoreChoice& choice, const Limits& limits, Workspace& workspace, int n_threads)
        : columns_(columns),
          stats_(stats),
          lanes_(lanes),
          choice_(choice),
          limits_(limits),
          opening_(limits, choice.directions),
          cover_(workspace.cover),
          dropped_(workspace.dropped),
          histogram_(workspace.histogram),
          other_(workspace.other),
          n_threads_(n_threads) {
        histogram_.reshape(columns, lanes.used());
        other_.reshape(columns, lanes.used());
    }

    GrownRule from_rows(std::span<const Row> rows) {
        cover_.assign(rows);
        if (rows.empty()) return {};
        return run(
            [&] { return count_and_scan(cover_); },
            [&](const auto& found) { refine(columns_, found, cover_, dropped_, n_threads_); });
    }

    GrownRule from_blocks(const ChosenBlocks& blocks) {
        const std::vector<RowRange> ranges = blocks.ranges();
        if (ranges.empty()) return {};
        return run([&] { return sum_and_scan(blocks); },
                   [&](const auto& found) {
                       refine(columns_, found, ranges, cover_, dropped_, n_threads_);
                   });
    }

  private:
    // Adds conditions while they help. How the first is found, and which rows it leaves, depends on
    // where the search starts.
    template <class First, class Leave>
    GrownRule run(const First& first, const Leave& leave) {
        GrownRule rule;
        const auto max_conditions = static_cast<std::size_t>(limits_.max_conditions);
        if (max_conditions == 0) return rule;
        Candidate found = first();
        all_ = parent_.empty() ? histogram_.total(0) : parent_;
        const double empty = with_score<double>(
            choice_, [&](const auto& score) { return score.empty(all_.data()); });
        double best = empty;
        while (found.verdict.vote >= 0) {
            const bool improves = found.condition.criterion < best - limits_.tolerance;
            if (!improves && !opening_.misses_required()) break;  // required ones need not help
            best = found.condition.criterion;
            rule.conditions.push_back(found.condition);
            rule.vote = found.verdict.vote;
            opening_.narrow(found.condition);
            if (rule.conditions.size() == max_conditions) break;
            if (rule.conditions.size() == 1) {
                leave(found.condition);
            } else {
                refine(columns_, found.condition, cover_, dropped_, n_threads_);
            }
            if (cover_.n == 0) break;
            reached_ = best;
            found = count_and_scan(cover_.n <= dropped_.n ? cover_ : dropped_);
        }
        const bool good = best < empty - limits_.tolerance && !opening_.misses_required();
        return good ? rule : GrownRule{};
    }

    // `counted` are the rows to count: those of the cover, or those that the last condition
    // dropped, which are subtracted.
    Candidate count_and_scan(Cover& counted) {
        gather(stats_, lanes_, counted, n_threads_);
        if (std::ranges::any_of(columns_.parts, [&](const Part& part) { return is_loose(part); })) {
            if (&counted != &cover_) gather(stats_, lanes_, cover_, n_threads_);
            parent_ = cover_.sums();
        }
        return scan_parts(counted.n, [&](const Part& part, std::size_t first, std::size_t last) {
            if (is_loose(part)) return scan_loose(part);
            if (&counted == &cover_) {
                count_part(columns_, part, counted, histogram_);
            } else {
                count_part(columns_, part, counted, other_);
                histogram_.subtract(other_, first, last);
            }
            return scan_columns(choice_, scan(), first, last);
        });
    }

    Candidate sum_and_scan(const ChosenBlocks& blocks) {
        const std::size_t n_sums = blocks.roots.n_blocks() * histogram_.size() / kGroup;
        return scan_parts(n_sums, [&](const Part&, std::size_t first, std::size_t last) {
            blocks.roots.sum(blocks.chosen, first, last, histogram_);
            return scan_columns(choice_, scan(), first, last);
        });
    }

    // Whether the cover has fewer rows than the columns of a part have codes. Covers only get
    // smaller, so the histograms of the part are not needed any more.
    bool is_loose(const Part& part) const {
        const std::size_t first = part.first_column(), last = part.last_column(columns_);
        const auto n_sums =
            static_cast<std::size_t>(histogram_.column(last) - histogram_.column(first));
        return cover_.n * (last - first) * lanes_.used() < n_sums;
    }

    Candidate scan_loose(const Part& part) const {
        thread_local Loose loose;
        Scan of_few = scan();
        of_few.loose = &loose;
        of_few.parent = parent_;
        Candidate best;
        for (std::size_t group = part.first_group; group < part.last_group; ++group) {
            loose.count(columns_, group, cover_);
            const std::size_t first = group * kGroup;
            best.improve(scan_columns(choice_, of_few, first, first + columns_.width(group)));
        }
        return best;
    }

    Scan scan() const {
        return {columns_, histogram_, opening_, limits_.min_weight, limits_.sets, all_, reached_};
    }

    // Counts and scans part by part, so that histograms are still in the cache when they are read.
    // `work` is how many rows are counted.
    template <class Find>
    Candidate scan_parts(std::size_t work, const Find& find) {
        // Waking threads costs more than a little work.
        const int n_threads = work + histogram_.size() > kBlock ? n_threads_ : 1;
        std::vector<Candidate> found(columns_.parts.size());
        parallel_for(found.size(), n_threads, [&](std::size_t i) {
            const Part& part = columns_.parts[i];
            found[i] = find(part, part.first_column(), part.last_column(columns_));
        });
        Candidate best;
        for (const Candidate& candidate : found) best.improve(candidate);
        return best;
    }

    const Columns<Code>& columns_;
    const Stat* stats_;
    const Lanes lanes_;
    const ScoreChoice& choice_;
    const Limits& limits_;
    Opening opening_;
    Cover &cover_, &dropped_;
    Histogram &histogram_, &other_;
    std::vector<Stat> all_;     // sums over all rows, known after the first count
    std::vector<Stat> parent_;  // sums over the cover, if a part is loose
    double reached_ = 0;        // the criterion of the rule so far
    int n_threads_;
};

}  // namespace

template <class Code>
GrownRule grow_rule(const Columns<Code>& columns, std::span<const Row> rows, const Stat* stats,
                    const Lanes& lanes, const ScoreChoice& choice, const Limits& limits,
                    Workspace& workspace, int n_threads) {
    return Growth(columns, stats, lanes, choice, limits, workspace, n_threads).from_rows(rows);
}

template <class Code>
GrownRule grow_rule(const Columns<Code>& columns, const ChosenBlocks& blocks, const Stat* stats,
                    const ScoreChoice& choice, const Limits& limits, Workspace& workspace,
                    int n_threads) {
    const Lanes lanes{0, choice.n_lanes, blocks.roots.lanes(), limits.min_weight > 0};
    return Growth(columns, stats, lanes, choice, limits, workspace, n_threads).from_blocks(blocks);
}

template GrownRule grow_rule(const Columns<std::uint8_t>&, std::span<const Row>, const Stat*,
                             const Lanes&, const ScoreChoice&, const Limits&, Workspace&, int);
template GrownRule grow_rule(const Columns<std::uint16_t>&, std::span<const Row>, const Stat*,
                             const Lanes&, const ScoreChoice&, const Limits&, Workspace&, int);
template GrownRule grow_rule(const Columns<std::uint8_t>&, const ChosenBlocks&, const Stat*,
                             const ScoreChoice&, const Limits&, Workspace&, int);
template GrownRule grow_rule(const Columns<std::uint16_t>&, const ChosenBlocks&, const Stat*,
                             const ScoreChoice&, const Limits&, Workspace&, int);

}  // namespace rulewright
