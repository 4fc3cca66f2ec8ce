#include "search/few.hpp"

#include <cmath>
#include <numeric>
#include <tuple>

#include "search/scores/registry.hpp"
#include "search/walk.hpp"

namespace rulewright {
namespace {

// Judges the conditions on one column.
template <std::size_t kLanes, class Score>
class FewScanner : public ColumnWalk<kLanes, FewScanner<kLanes, Score>> {
  public:
    FewScanner(const ScoreChoice& choice, const Score& score, const FewScan& scan,
               std::size_t column, const std::vector<Stat>& parent, Few& few, Specialisation& best)
        : ColumnWalk<kLanes, FewScanner>(scan.columns, scan.histogram, column, parent.data()),
          choice_(choice),
          score_(score),
          scan_(scan),
          parent_(parent.data()),
          operators_(scan.opening.operators(column)),
          few_(few),
          best_(best) {
        found_.parent = scan.parent;
        found_.condition.column = static_cast<std::int32_t>(column);
    }

    void run() {
        if (!operators_.none()) this->walk();
    }

    bool cuts(std::int32_t below, std::int32_t above) const {
        const std::size_t class_below = only_lane(below);
        return class_below == choice_.n_lanes || class_below != only_lane(above);
    }

    void judge(Op op, std::int32_t code, std::int32_t beyond, const Stat* cover) {
        const Directions allowed = operators_.allow(op);
        if (allowed == kNeither) return;
        if (scan_.min_weight > 0 && cover[this->lanes() - 2] < scan_.min_weight) return;
        found_.verdict = score_.judge({cover, parent_, scan_.all.data()}, allowed);
        if (found_.verdict.vote < 0) return;
        found_.weight = std::accumulate(cover, cover + choice_.n_lanes, Stat{0});
        found_.condition.op = op;
        found_.condition.code = code;
        found_.condition.beyond = beyond;
        const bool among_few = few_.takes(found_), beats_best = found_.better_than(best_);
        if (among_few || beats_best) keep(cover, among_few, beats_best);
    }

  private:
    // The lane that has all the weight of a code, or n_lanes if there are several.
    std::size_t only_lane(std::int32_t code) const {
        const Stat* s = this->sums(code);
        std::size_t only = choice_.n_lanes, n = 0;
        for (std::size_t lane = 0; lane < choice_.n_lanes; ++lane) {
            if (s[lane] != 0) only = lane, ++n;
        }
        return n == 1 ? only : choice_.n_lanes;
    }

    void keep(const Stat* cover, bool among_few, bool beats_best) {
        found_.sums.assign(cover, cover + this->lanes());
        found_.condition.criterion = score_.criterion(found_.verdict.value);
        if (std::ranges::find(scan_.seen, found_.sums) != scan_.seen.end()) return;
        if (beats_best && is_significant(cover) && is_complete()) best_ = found_;
        if (among_few) few_.add(found_);
    }
    bool is_significant(const Stat* cover) const {
        return scan_.significance <= 0 ||
               likelihood_ratio(choice_, cover, scan_.all.data()) >= scan_.significance;
    }
    bool is_complete() const {
        if (!scan_.opening.misses_required()) return true;
        Opening after = scan_.opening;
        after.narrow(found_.condition);
        return !after.misses_required();
    }

    const ScoreChoice& choice_;
    const Score& score_;
    const FewScan& scan_;
    const Stat* parent_;
    OpenOperators operators_;
    Few& few_;
    Specialisation &best_, found_;
};

template <std::size_t kLanes, class Score>
bool scan_with(const ScoreChoice& choice, const Score& score, const FewScan& scan,
               std::size_t first, std::size_t last, Few& few, Specialisation& best) {
    const std::vector<Stat> parent = scan.histogram.total(first);
    for (std::size_t j = first; j < last; ++j) {
        FewScanner<kLanes, Score>(choice, score, scan, j, parent, few, best).run();
    }
    return true;
}

std::tuple<std::size_t, std::int32_t, std::int32_t, Op> place(const Specialisation& found) {
    const GrownCondition& c = found.condition;
    return {found.parent, c.column, c.op == Op::kGreaterEqual ? c.beyond : c.code, c.op};
}

}  // namespace

bool Specialisation::before(const Specialisation& other) const {
    if (better_than(other)) return true;
    return !other.better_than(*this) && place(*this) < place(other);
}

void Few::add(Specialisation found) {
    const auto same = std::ranges::find(list_, found.sums, &Specialisation::sums);
    if (same != list_.end()) {
        if (!found.before(*same)) return;
        list_.erase(same);
    }
    const auto later = [](const Specialisation& a, const Specialisation& b) { return a.before(b); };
    list_.insert(std::upper_bound(list_.begin(), list_.end(), found, later), std::move(found));
    if (list_.size() > most_) list_.pop_back();
}

double likelihood_ratio(const ScoreChoice& choice, const Stat* cover, const Stat* all) {
    double covered = 0, total = 0, sum = 0;
    for (std::size_t lane = 0; lane < choice.n_lanes; ++lane) {
        covered += static_cast<double>(cover[lane]);
        total += static_cast<double>(all[lane]);
    }
    for (std::size_t lane = 0; lane < choice.n_lanes; ++lane) {
        if (cover[lane] <= 0) continue;
        const double o = static_cast<double>(cover[lane]);
        sum += o * std::log((o / covered) / (static_cast<double>(all[lane]) / total));
    }
    return 2 * choice.unit * sum;
}

Specialisation best_part(const ScoreChoice& choice, const Specialisation& found,
                         std::span<const Stat> all) {
    const auto lane = static_cast<std::size_t>(found.verdict.vote / 2);
    Specialisation part;
    part.sums.assign(found.sums.size(), 0);
    part.weight = part.sums[lane] = found.sums[lane];
    part.verdict = with_score<Verdict>(choice, [&](const auto& score) {
        return score.judge({part.sums.data(), found.sums.data(), all.data()}, kUp);
    });
    return part;
}

void scan_few(const ScoreChoice& choice, const FewScan& scan, std::size_t first, std::size_t last,
              Few& few, Specialisation& best) {
    with_score<bool>(choice, [&](const auto& score) {
        return scan.histogram.lanes() == 3
                   ? scan_with<3>(choice, score, scan, first, last, few, best)
                   : scan_with<0>(choice, score, scan, first, last, few, best);
    });
}

}  // namespace rulewright
