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

    void start(const Stat*) {}
    Verdict judge(const Stat* sums) const {
        return best_vote(votes, sums,
                         [this](double g, double h) { return -(g * g) / std::max(h + l2, 1e-12); });
    }
    static double criterion(double value) { return -std::sqrt(-value); }
};

}  // namespace rulewright
