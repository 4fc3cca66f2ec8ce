// Question: which test of a C4.5 tree branches a node best?
//
// A nominal column branches into its labels, a numeric one at a cut. With h(x) = x log2 x over the
// weights of the classes, the gain of a test is the fall of entropy over the rows whose value is
// known, times their share. The gain of a cut is charged log2(cuts tried) / weight; either side of
// it needs min(25, max(m, a tenth of the mean weight of a class)). At least two branches weigh m.
// Among the tests whose gain is at least the average the one with the largest ratio of gain and
// split information is chosen. Quinlan (1993, 1996: release 8).
//
// Weights are fixed-point integers, so that the order of rows changes nothing; a row whose value
// was missing higher up is in several nodes with a part of its weight each.
// Ties (within 1e-9): lower column, smaller threshold.
// Cost: O(rows x columns) where the rows outnumber codes x classes, plus sorting elsewhere.
#pragma once

#include "search/columns.hpp"

namespace rulewright {

struct BranchLimits {
    std::int32_t n_classes;
    double unit;                         // weight of one step
    double min_cases;                    // m
    std::span<const std::uint8_t> many;  // per column: too many values to enter the average
};

struct Branching {
    std::int32_t column = -1;             // -1: none
    std::int32_t code = -1, beyond = -1;  // a cut lies between these codes; -1: into labels
    double gain = 0, ratio = 0;
};

// The rows of a node, the weight of each, and the classes of all rows.
struct BranchRows {
    std::span<const Row> rows;
    std::span<const Stat> weights;
    std::span<const std::int32_t> labels;
};

template <class Code>
Branching choose_branching(const Columns<Code>& columns, const BranchRows& node,
                           const BranchLimits& limits, int n_threads);

}  // namespace rulewright
