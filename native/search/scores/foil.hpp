// FOIL's information gain: p (log2(p / (p + n)) - log2(P / (P + N))), with the weights p and n for
// and against the rule and P and N before the condition.
#pragma once

#include <cmath>
#include <numbers>

#include "search/scores/score.hpp"

namespace rulewright {

struct FoilScore : WeightScore {
    using WeightScore::WeightScore;
    static constexpr std::string_view kName = "foil";
    static constexpr bool kGain = true;

    static double empty(const Stat*) { return 0; }
    // ln x <= (x - 1)(x + 5) / (4 x + 2) bounds the gain without a logarithm; x = a / b is by how
    // much the share of the weight for the rule grows. Rounding is left to the judge.
    bool hopeless(const Sums& sums, double best) const {
        if (!(best < 0)) return false;
        const double p = plus(sums.cover), parent = plus(sums.parent);
        const double a = p * (parent + minus(sums.parent)), b = parent * (p + minus(sums.cover));
        const double rise = a - b + (1 - kSurely) * (a + b);
        return p * rise * (a + 5 * b) < -best * kSurely * std::numbers::ln2 * b * (4 * a + 2 * b);
    }
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
