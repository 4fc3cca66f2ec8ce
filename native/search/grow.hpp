// Question: which conjunction, grown greedily one condition at a time, scores best?
//
// From a cover of rows, every condition on every allowed column is judged by the score on the rows
// that satisfy it; the best is added while it beats the rule so far by more than the tolerance.
// Required columns come first, and only the whole rule must be better than none.
// MLRules (2008), section 4, with any score; ties: lower column, then <= >= = != missing known,
// then smaller code, then lower class.
//
// Cost: O(rows x columns x lanes) for the first condition; each next one costs as many rows as the
// smaller side of the last cut, because the larger side's histogram is won by subtraction.
// IN columns, rows, statistics (n_rows x n_lanes). OUT conditions with the criterion after each.
#pragma once

#include <vector>

#include "search/columns.hpp"
#include "search/histogram.hpp"
#include "search/scores/score.hpp"

namespace rulewright {

enum class Op : std::int32_t { kLessEqual, kGreaterEqual, kEqual, kNotEqual, kMissing, kKnown };
inline constexpr std::int32_t kOps = 6;

enum class ScoreKind : std::int32_t { kNewton, kGradient, kSlipper };

struct ScoreChoice {
    ScoreKind kind;
    double l2;
    Votes votes;
    Directions directions;  // of the votes that a rule may cast
};

struct Statistics {
    const Stat* values;  // n_rows x n_lanes
    std::size_t n_lanes;
    std::size_t first_lane;  // the score reads pairs of lanes from here
    std::size_t n_pairs;
    bool weighted;  // the last lane holds the row weights and is summed too

    std::size_t used_lanes() const { return 2 * n_pairs + (weighted ? 1 : 0); }
};

struct Limits {
    std::int32_t max_conditions;  // negative: none
    double tolerance;             // least improvement of the criterion
    Stat min_weight;              // least sum of the last lane; 0: not asked
    // Per column: bit 1 << Op is set when a rule that votes up (down) may use the operator.
    std::span<const std::uint8_t> up_operators, down_operators;
    std::span<const std::uint8_t> required;  // per column: the rule must use it
    std::span<const std::uint64_t> groups;   // columns of one rule have a bit in common
};

struct GrownCondition {
    std::int32_t column;
    Op op;
    std::int32_t code;
    std::int32_t beyond;  // nearest covered code on the other side of a numeric cut
    double criterion;     // of the rule up to this condition
};

struct GrownRule {
    std::vector<GrownCondition> conditions;
    std::int32_t vote = -1;  // 2 * pair, plus 1 for a vote down
};

template <class Code>
GrownRule grow_rule(const Columns<Code>& columns, std::span<const Row> rows,
                    const Statistics& statistics, const ScoreChoice& choice, const Limits& limits,
                    Workspace& workspace, int n_threads);

// The test that a condition stands for.
CodeTest code_test(const GrownCondition& condition, std::int32_t n_bins);

}  // namespace rulewright
