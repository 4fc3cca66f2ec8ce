// The cost of the errors of a term, FP + k FN, less that of the shorter term: n - n' + k (p' - p),
// with the weights p and n for and against. Values are gains: a condition is added as long as the
// cost falls, the longer term covers less than the shorter one, and that one errs.
#pragma once

#include "search/scores/score.hpp"

namespace rulewright {

struct ErrorsScore : WeightScore {
    double k;

    explicit ErrorsScore(const ScoreChoice& choice) : WeightScore(choice), k(choice.k) {}
    static constexpr std::string_view kName = "errors";
    static constexpr bool kGain = true;

    static double empty(const Stat*) { return 0; }
    static bool hopeless(const Sums&, double) { return false; }
    Verdict judge(const Sums& sums, Directions allowed) const {
        if (!may_vote(sums.cover, allowed) || sums.parent[1] <= 0) return {};
        if (sums.cover[0] == sums.parent[0] && sums.cover[1] == sums.parent[1]) return {};
        const double errs = minus(sums.cover) - minus(sums.parent);
        return {errs - k * (plus(sums.cover) - plus(sums.parent)), 0};
    }
};

}  // namespace rulewright
