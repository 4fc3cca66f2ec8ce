// Question: which conjunction, grown greedily one condition at a time, scores best?
//
// A path through the steps count, merge, scan and refine: from a cover of rows, every condition on
// every allowed column is judged by the score on the rows that satisfy it; the best is added while
// it beats the rule so far by more than the tolerance. Required columns come first, and only the
// whole rule must be better than none. MLRules (2008), section 4, with any score.
//
// Cost: O(rows x columns x lanes) for the first condition; each next one costs as many rows as the
// smaller side of the last cut, because the larger side's histogram is found by subtraction.
// IN columns, rows, statistics (n_rows x lanes). OUT conditions with the criterion after each.
#pragma once

#include "search/cover.hpp"
#include "search/histogram.hpp"
#include "search/limits.hpp"
#include "search/roots.hpp"

namespace rulewright {

// Buffers that are reused from rule to rule, so that memory is not allocated for every rule.
struct Workspace {
    Cover cover, dropped;
    Histogram histogram, other;
};

struct GrownRule {
    std::vector<GrownCondition> conditions;
    std::int32_t vote = -1;  // 2 * pair, plus 1 for a vote down
};

template <class Code>
GrownRule grow_rule(const Columns<Code>& columns, std::span<const Row> rows, const Stat* stats,
                    const Lanes& lanes, const ScoreChoice& choice, const Limits& limits,
                    Workspace& workspace, int n_threads);

// The same from the rows of chosen blocks, whose first histogram need not be counted. The score
// must read all lanes.
template <class Code>
GrownRule grow_rule(const Columns<Code>& columns, const ChosenBlocks& blocks, const Stat* stats,
                    const ScoreChoice& choice, const Limits& limits, Workspace& workspace,
                    int n_threads);

}  // namespace rulewright
