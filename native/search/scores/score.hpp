// What a score is. The engine hands it summed lanes and asks for a verdict; everything the engine
// knows about the learner lies in these few members:
//
//   kName                                    the name by which Python asks for the score
//   kGain                                    whether values are gains over the parent; then the
//                                            criterion of a rule is the sum of its gains
//   kWeights                                 whether lanes are weights, of which a vote up for lane
//                                            i is 2 i, and values are best where all the weight
//                                            lies in one lane: what a beam can bound
//   bool    reads(std::size_t n_lanes)       whether it can read so many lanes
//   bool    hopeless(const Sums& sums, double best) const
//                                            whether judge cannot give less than `best`: a quick
//                                            look that spares most candidates roots and divisions
//   Verdict judge(const Sums& sums, Directions allowed) const
//                                            value of the best vote, the lower the better;
//                                            kUseless when no vote helps
//   double  criterion(double value) const    value on the paper's scale, to be compared with the
//                                            tolerance (judge may use any increasing transform)
//   double  empty(const Stat* all) const     criterion of the rule without conditions, which the
//                                            first condition must beat
//
// To add a score: one file here, its line in registry.hpp, its twin in tests/reference/scores.py.
#pragma once

#include <limits>
#include <string_view>

#include "base/types.hpp"

namespace rulewright {

// A quick look must leave to the judge what rounding might decide.
inline constexpr double kSurely = 1 - 1e-12;

inline constexpr double kUseless = std::numeric_limits<double>::infinity();

// The lanes of the candidate's cover, of the cover before the condition, and of all rows.
struct Sums {
    const Stat *cover, *parent, *all;
};

struct Verdict {
    double value = kUseless;
    std::int32_t vote = -1;  // 2 * pair, plus 1 for a vote down
};

// A vote is for the side that a pair of lanes stands for (up), or against it (down).
enum Directions : std::uint8_t { kNeither = 0, kUp = 1, kDown = 2, kBoth = 3 };

inline Directions operator&(Directions a, Directions b) {
    return static_cast<Directions>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}

struct ScoreChoice {
    std::size_t kind;                 // place in the registry
    double unit;                      // what one step of the fixed-point statistics is worth
    std::size_t n_lanes, first_lane;  // which lanes of the statistics the score reads
    double l2;
    double k;               // classes of Laplace's estimate; cost of a missed row
    Directions directions;  // of the votes that a rule may cast
};

// Scores over pairs of lanes (g, h), one pair per class.
struct PairScore {
    double unit;
    std::int32_t n_pairs;

    static constexpr bool kGain = false, kWeights = false;
    explicit PairScore(const ScoreChoice& choice)
        : unit(choice.unit), n_pairs(static_cast<std::int32_t>(choice.n_lanes / 2)) {}
    static bool reads(std::size_t n_lanes) { return n_lanes > 0 && n_lanes % 2 == 0; }
    static double empty(const Stat*) { return 0; }

    // The best vote over all pairs for `value(g, h)`, defined for g < 0: a negative g votes up, a
    // positive one down. Ties go to the lower pair.
    template <class Value>
    Verdict best_vote(const Stat* sums, Directions allowed, const Value& value) const {
        Verdict best;
        for (std::int32_t k = 0; k < n_pairs; ++k) {
            const double g = static_cast<double>(sums[2 * k]) * unit;
            const double h = static_cast<double>(sums[2 * k + 1]) * unit;
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
};

// Scores over the weights for and against a rule, which votes up. A rule that covers no weight for
// its vote is none.
struct WeightScore {
    double unit;

    static constexpr bool kGain = false, kWeights = true;
    explicit WeightScore(const ScoreChoice& choice) : unit(choice.unit) {}
    static bool reads(std::size_t n_lanes) { return n_lanes == 2; }
    static bool may_vote(const Stat* cover, Directions allowed) {
        return cover[0] > 0 && (allowed & kUp);
    }
    double plus(const Stat* sums) const { return static_cast<double>(sums[0]) * unit; }
    double minus(const Stat* sums) const { return static_cast<double>(sums[1]) * unit; }
    static double criterion(double value) { return value; }
};

}  // namespace rulewright
