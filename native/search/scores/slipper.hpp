// SLIPPER's score: sqrt(W+) - sqrt(W-), with the weights of the covered rows for and against the
// vote in a pair of lanes. A rule that covers no weight for its vote is none.
#pragma once

#include <cmath>

#include "search/scores/score.hpp"

namespace rulewright {

struct SlipperScore {
    Votes votes;

    double empty(const Stat* sums) const { return value(sums); }
    // sqrt(W+) > z + sqrt(W-) needs W+ > z^2 + W-: most candidates fail this and need no root.
    bool hopeless(const Stat* sums, double best) const {
        if (best >= 0) return false;
        const double plus = static_cast<double>(sums[0]) * votes.unit;
        const double minus = static_cast<double>(sums[1]) * votes.unit;
        return plus < (best * best + minus) * kSurely;
    }
    Verdict judge(const Stat* sums, Directions) const {
        if (sums[0] <= 0) return {};
        return {value(sums), 0};
    }
    static double criterion(double value) { return value; }

  private:
    double value(const Stat* sums) const {
        const double plus = static_cast<double>(sums[0]) * votes.unit;
        const double minus = static_cast<double>(sums[1]) * votes.unit;
        const double total = std::sqrt(plus) + std::sqrt(minus);
        // As a quotient: nothing cancels when both are nearly equal.
        return total > 0 ? (minus - plus) / total : 0.0;
    }
};

}  // namespace rulewright
