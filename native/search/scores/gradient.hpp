// Gradient score of MLRules: g itself.
#pragma once

#include "search/scores/score.hpp"

namespace rulewright {

struct GradientScore {
    Votes votes;

    void start(const Stat*) {}
    Verdict judge(const Stat* sums) const {
        return best_vote(votes, sums, [](double g, double) { return g; });
    }
    static double criterion(double value) { return value; }
};

}  // namespace rulewright
