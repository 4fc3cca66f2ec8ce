// FOIL's information gain: p (log2(p / (p + n)) - log2(P / (P + N))), with the weights p and n for
// and against the rule and P and N before the condition.
#pragma once

#include <cmath>

#include "search/scores/score.hpp"

namespace rulewright {

struct FoilScore : WeightScore {
    using WeightScore::WeightScore;
    static constexpr std::string_view kName = "foil";
    static constexpr bool kGain = true;

    static double empty(const Stat*) { return 0; }
    static bool hopeless(const Sums&, double) { return false; }
    Verdict judge(const Sums& sums, Directions allowed) const {
        if (!may_vote(sums.cover, allowed)) return {};
        return {plus(sums.cover) * (log_share(sums.parent) - log_share(sums.cover)), 0};
    }

  private:
    double log_share(const Stat* sums) const {
        return std::log2(plus(sums) / (plus(sums) + minus(sums)));
    }
};

}  // namespace rulewright
