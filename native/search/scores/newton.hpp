// Newton score of MLRules: g / sqrt(h + l2). judge returns -(g^2) / (h + l2), which orders
// candidates in the same way and needs no root.
#pragma once

#include <algorithm>
#include <cmath>

#include "search/scores/score.hpp"

namespace rulewright {

struct NewtonScore : PairScore {
    double l2;

    explicit NewtonScore(const ScoreChoice& choice) : PairScore(choice), l2(choice.l2) {}
    static constexpr std::string_view kName = "newton";

    // With one pair: g^2 / (h + l2) > -best, without the division.
    bool hopeless(const Sums& sums, double best) const {
        if (n_pairs != 1) return false;
        const double g = static_cast<double>(sums.cover[0]) * unit;
        const double h = static_cast<double>(sums.cover[1]) * unit;
        return g * g < -best * (h + l2) * kSurely;
    }
    Verdict judge(const Sums& sums, Directions allowed) const {
        return best_vote(sums.cover, allowed,
                         [this](double g, double h) { return -(g * g) / std::max(h + l2, 1e-12); });
    }
    static double criterion(double value) { return -std::sqrt(-value); }
};

}  // namespace rulewright
