#include "search/grow.hpp"

#include "base/parallel.hpp"
#include "search/count.hpp"
#include "search/refine.hpp"
#include "search/scan.hpp"
#include "search/scores/registry.hpp"

namespace rulewright {
namespace {

template <class Code>
class Growth {
  public:
    Growth(const Columns<Code>& columns, const ScoreChoice& choice, const Limits& limits,
           Workspace& workspace, int n_threads)
        : columns_(columns),
          choice_(choice),
          limits_(limits),
          opening_(limits, choice.directions),
          cover_(workspace.cover),
          dropped_(workspace.dropped),
          histogram_(workspace.histogram),
          other_(workspace.other),
          n_threads_(n_threads) {}

    GrownRule run(std::span<const Row> rows, const Stat* stats, const Lanes& lanes) {
        GrownRule rule;
        gather(rows, stats, lanes, cover_, n_threads_);
        histogram_.reshape(columns_, lanes.used());
        other_.reshape(columns_, lanes.used());
        const auto max_conditions = static_cast<std::size_t>(limits_.max_conditions);
        const Cover* counted = &cover_;
        double empty = 0, best = 0;
        while (rule.conditions.size() < max_conditions && cover_.n > 0) {
            const Candidate found = best_candidate(*counted, best);
            if (rule.conditions.empty()) {
                all_ = histogram_.total(0);
                empty = best = with_score<double>(
                    choice_, [&](const auto& score) { return score.empty(all_.data()); });
            }
            if (found.verdict.vote < 0) break;
            const bool improves = found.condition.criterion < best - limits_.tolerance;
            if (!improves && !opening_.misses_required()) break;  // required ones need not help
            best = found.condition.criterion;
            rule.conditions.push_back(found.condition);
            rule.vote = found.verdict.vote;
            opening_.narrow(found.condition);
            if (rule.conditions.size() < max_conditions) {
                refine(columns_, found.condition, cover_, dropped_, n_threads_);
                counted = cover_.n <= dropped_.n ? &cover_ : &dropped_;
            }
        }
        const bool good = best < empty - limits_.tolerance && !opening_.misses_required();
        return good ? rule : GrownRule{};
    }

  private:
    // Counts and scans group by group, so that a group's histograms are still in the cache when
    // they are read. `counted` are the rows to count: those of the cover, or those that the last
    // condition dropped, which are subtracted.
    Candidate best_candidate(const Cover& counted, double reached) {
        const Scan scan{columns_, histogram_, opening_, limits_.min_weight, all_, reached};
        // Waking threads costs more than a little work.
        const int n_threads = counted.n + histogram_.size() > kBlock ? n_threads_ : 1;
        std::vector<Candidate> found(columns_.n_groups());
        parallel_for(columns_.n_groups(), n_threads, [&](std::size_t group) {
            const std::size_t first = group * kGroup, last = first + columns_.width(group);
            if (&counted == &cover_) {
                count_group(columns_, group, counted, histogram_);
            } else {
                count_group(columns_, group, counted, other_);
                histogram_.subtract(other_, first, last);
            }
            found[group] = scan_columns(choice_, scan, first, last);
        });
        Candidate best;
        for (const Candidate& candidate : found) best.improve(candidate);
        return best;
    }

    const Columns<Code>& columns_;
    const ScoreChoice& choice_;
    const Limits& limits_;
    Opening opening_;
    Cover &cover_, &dropped_;
    Histogram &histogram_, &other_;
    std::vector<Stat> all_;  // sums over all rows, known after the first count
    int n_threads_;
};

}  // namespace

template <class Code>
GrownRule grow_rule(const Columns<Code>& columns, std::span<const Row> rows, const Stat* stats,
                    const Lanes& lanes, const ScoreChoice& choice, const Limits& limits,
                    Workspace& workspace, int n_threads) {
    return Growth(columns, choice, limits, workspace, n_threads).run(rows, stats, lanes);
}

template GrownRule grow_rule(const Columns<std::uint8_t>&, std::span<const Row>, const Stat*,
                             const Lanes&, const ScoreChoice&, const Limits&, Workspace&, int);
template GrownRule grow_rule(const Columns<std::uint16_t>&, std::span<const Row>, const Stat*,
                             const Lanes&, const ScoreChoice&, const Limits&, Workspace&, int);

}  // namespace rulewright
