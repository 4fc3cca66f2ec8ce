// Gradient score of MLRules: g itself.
#pragma once

#include "search/scores/score.hpp"

namespace rulewright {

struct GradientScore {
    Votes votes;

    static double empty(const Stat*) { return 0; }
    static bool hopeless(const Stat*, double) { return false; }
    Verdict judge(const Stat* sums, Directions allowed) const {
        return best_vote(votes, sums, allowed, [](double g, double) { return g; });
    }
    static double criterion(double value) { return value; }
};

}  // namespace rulewright
