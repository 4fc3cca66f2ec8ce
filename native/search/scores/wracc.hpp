// Weighted relative accuracy: (p - (p + n) P / (P + N)) / (P + N), with the weights p and n for and
// against the rule and P and N over all rows.
#pragma once

#include "search/scores/score.hpp"

namespace rulewright {

struct WraccScore : WeightScore {
    using WeightScore::WeightScore;
    static constexpr std::string_view kName = "wracc";

    static double empty(const Stat*) { return 0; }
    static bool hopeless(const Sums&, double) { return false; }
    Verdict judge(const Sums& sums, Directions allowed) const {
        if (!may_vote(sums.cover, allowed)) return {};
        const double p = plus(sums.cover), n = minus(sums.cover);
        const double total = plus(sums.all) + minus(sums.all);
        return {((p + n) * (plus(sums.all) / total) - p) / total, 0};
    }
};

}  // namespace rulewright
