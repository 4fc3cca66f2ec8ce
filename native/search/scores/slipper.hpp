// SLIPPER's score: sqrt(W+) - sqrt(W-).
#pragma once

#include <cmath>

#include "search/scores/score.hpp"

namespace rulewright {

struct SlipperScore : WeightScore {
    using WeightScore::WeightScore;
    static constexpr std::string_view kName = "slipper";

    double empty(const Stat* all) const { return value(all); }
    // sqrt(W+) > z + sqrt(W-) needs W+ > z^2 + W-: most candidates fail this and need no root.
    bool hopeless(const Sums& sums, double best) const {
        return best < 0 && plus(sums.cover) < (best * best + minus(sums.cover)) * kSurely;
    }
    Verdict judge(const Sums& sums, Directions allowed) const {
        if (!may_vote(sums.cover, allowed)) return {};
        return {value(sums.cover), 0};
    }

  private:
    double value(const Stat* sums) const {
        const double total = std::sqrt(plus(sums)) + std::sqrt(minus(sums));
        // As a quotient: nothing cancels when both are nearly equal.
        return total > 0 ? (minus(sums) - plus(sums)) / total : 0.0;
    }
};

}  // namespace rulewright
