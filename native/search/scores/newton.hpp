// Newton score of MLRules: g / sqrt(h + l2). judge returns -(g^2) / (h + l2), which orders
// candidates in the same way and needs no root.
#pragma once

#include <algorithm>
#include <cmath>

#include "search/scores/score.hpp"

namespace rulewright {

struct NewtonScore {
    Votes votes;
    double l2;

    static double empty(const Stat*) { return 0; }
    // With one pair: g^2 / (h + l2) > -best, without the division.
    bool hopeless(const Stat* sums, double best) const {
        if (votes.n_pairs != 1) return false;
        const double g = static_cast<double>(sums[0]) * votes.unit;
        const double h = static_cast<double>(sums[1]) * votes.unit;
        return g * g < -best * (h + l2) * kSurely;
    }
    Verdict judge(const Stat* sums, Directions allowed) const {
        return best_vote(votes, sums, allowed,
                         [this](double g, double h) { return -(g * g) / std::max(h + l2, 1e-12); });
    }
    static double criterion(double value) { return -std::sqrt(-value); }
};

}  // namespace rulewright
