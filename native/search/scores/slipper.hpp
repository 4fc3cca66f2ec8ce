// SLIPPER's score: sqrt(W+) - sqrt(W-).
#pragma once

#include <cmath>

#include "search/scores/score.hpp"

namespace rulewright {

struct SlipperScore : WeightScore {
    using WeightScore::WeightScore;
    static constexpr std::string_view kName = "slipper";

    double empty(const Stat* all) const { return value(all); }
    // The judge's question squared twice: it needs no root, and few candidates get past it that
    // are no better. A tie goes to the judge, so differences count as a little more than they are.
    bool hopeless(const Sums& sums, double best) const {
        const double p = plus(sums.cover), m = minus(sums.cover), square = best * best;
        const double slack = (1 - kSurely) * (p + m + square);
        if (best < 0) {  // sqrt(W+) > z + sqrt(W-)
            const double over = p - (m + square) + slack;
            return over <= 0 || over * over < 4 * square * m;
        }
        const double over = m - (p + square) - slack;  // sqrt(W-) < z + sqrt(W+)
        return over > 0 && over * over > 4 * square * p;
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
