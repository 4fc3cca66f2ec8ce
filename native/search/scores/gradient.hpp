// Gradient score of MLRules: g itself.
#pragma once

#include "search/scores/score.hpp"

namespace rulewright {

struct GradientScore : PairScore {
    using PairScore::PairScore;
    static constexpr std::string_view kName = "gradient";

    static bool hopeless(const Sums&, double) { return false; }
    Verdict judge(const Sums& sums, Directions allowed) const {
        return best_vote(sums.cover, allowed, [](double g, double) { return g; });
    }
    static double criterion(double value) { return value; }
};

}  // namespace rulewright
