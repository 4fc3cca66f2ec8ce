// Laplace's estimate of the accuracy of a rule: (p + 1) / (p + n + k), with the weights p and n for
// and against the rule and k classes.
#pragma once

#include "search/scores/score.hpp"

namespace rulewright {

struct LaplaceScore : WeightScore {
    double k;

    explicit LaplaceScore(const ScoreChoice& choice) : WeightScore(choice), k(choice.k) {}
    static constexpr std::string_view kName = "laplace";

    double empty(const Stat* all) const { return value(all); }
    static bool hopeless(const Sums&, double) { return false; }
    Verdict judge(const Sums& sums, Directions allowed) const {
        if (!may_vote(sums.cover, allowed)) return {};
        return {value(sums.cover), 0};
    }

  private:
    double value(const Stat* sums) const {
        return -(plus(sums) + 1) / (plus(sums) + minus(sums) + k);
    }
};

}  // namespace rulewright
