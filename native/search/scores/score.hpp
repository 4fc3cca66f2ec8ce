// What a score is. The engine hands it the summed lanes of a candidate cover and asks for a
// verdict; everything the engine knows about the learner stands in these few members:
//
//   Verdict judge(const Stat* sums) const   value of the best vote, the lower the better;
//                                            kUseless when no vote helps
//   double  criterion(double value) const   value on the paper's scale, to be compared with the
//                                            tolerance (judge may use any increasing transform)
//   void    start(const Stat* cover)        sums of the cover that is about to be refined (for
//                                            gains relative to it); may do nothing
//
// To add a score: one file here, one case in grow_rule (grow.cpp), one twin in reference.py.
#pragma once

#include <limits>

#include "base/types.hpp"

namespace rulewright {

inline constexpr double kUseless = std::numeric_limits<double>::infinity();

struct Verdict {
    double value = kUseless;
    std::int32_t vote = -1;
};

// The votes a rule may cast, and how they read the lanes. Lanes come in pairs (g, h).
struct Votes {
    double unit;           // what one step of the fixed-point statistics is worth
    std::int32_t n_pairs;  // pairs of lanes
    std::int32_t first;    // class that the first pair stands for
    bool up;               // a negative g may vote for the class of its pair
    bool down;             // a positive g may vote against it, for class first - 1: with two
                           // classes one pair says all
};

// The best vote over all pairs for `value(g, h)`, defined for g < 0; ties go to the lower class.
template <class Value>
Verdict best_vote(const Votes& votes, const Stat* sums, const Value& value) {
    Verdict best;
    for (std::int32_t k = 0; k < votes.n_pairs; ++k) {
        const double g = static_cast<double>(sums[2 * k]) * votes.unit;
        const double h = static_cast<double>(sums[2 * k + 1]) * votes.unit;
        if (g < 0 && votes.up) {
            const double v = value(g, h);
            if (v < best.value) best = {v, votes.first + k};
        } else if (g > 0 && votes.down) {
            best = {value(-g, h), votes.first - 1};
        }
    }
    return best;
}

}  // namespace rulewright
