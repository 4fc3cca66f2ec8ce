// What a score is. The engine hands it the summed lanes of a candidate cover and asks for a
// verdict; everything the engine knows about the learner stands in these few members:
//
//   bool    hopeless(const Stat* sums, double best) const
//                                            whether judge cannot give less than `best`: a quick
//                                            look that spares most candidates roots and divisions
//   Verdict judge(const Stat* sums, Directions allowed) const
//                                            value of the best vote, the lower the better;
//                                            kUseless when no vote helps
//   double  criterion(double value) const    value on the paper's scale, to be compared with the
//                                            tolerance (judge may use any increasing transform)
//   double  empty(const Stat* sums) const    criterion of the rule without conditions, which the
//                                            first condition must beat
//
// To add a score: one file here, one case in grow_rule (grow.cpp), one twin in reference/search.py.
#pragma once

#include <limits>

#include "base/types.hpp"

namespace rulewright {

// A quick look must leave to the judge what rounding might decide.
inline constexpr double kSurely = 1 - 1e-12;

inline constexpr double kUseless = std::numeric_limits<double>::infinity();

struct Verdict {
    double value = kUseless;
    std::int32_t vote = -1;  // 2 * pair, plus 1 for a vote down
};

// Lanes come in pairs. A vote is for the side that a pair stands for (up), or against it (down).
enum Directions : std::uint8_t { kNeither = 0, kUp = 1, kDown = 2, kBoth = 3 };

inline Directions operator&(Directions a, Directions b) {
    return static_cast<Directions>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}

// How a score reads the lanes.
struct Votes {
    double unit;           // what one step of the fixed-point statistics is worth
    std::int32_t n_pairs;  // pairs of lanes
};

// The best vote over all pairs (g, h) for `value(g, h)`, defined for g < 0: a negative g votes up,
// a positive one down. Ties go to the lower pair.
template <class Value>
Verdict best_vote(const Votes& votes, const Stat* sums, Directions allowed, const Value& value) {
    Verdict best;
    for (std::int32_t k = 0; k < votes.n_pairs; ++k) {
        const double g = static_cast<double>(sums[2 * k]) * votes.unit;
        const double h = static_cast<double>(sums[2 * k + 1]) * votes.unit;
        if (g < 0 && (allowed & kUp)) {
            const double v = value(g, h);
            if (v < best.value) best = {v, 2 * k};
        } else if (g > 0 && (allowed & kDown)) {
            const double v = value(-g, h);
            if (v < best.value) best = {v, 2 * k + 1};
        }
    }
    return best;
}

}  // namespace rulewright
