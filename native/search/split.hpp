// Question: which split of a node into two parts reduces the squared error of its outputs most,
// given the histograms?
//
// Lane 0 is the weight W of the rows, lanes 1 .. K are their weighted residuals G. The error falls
// by sum_k (G_L^2 / W_L + G_R^2 / W_R - G^2 / W), taken over the rows whose value is known. Rows
// with a missing value go to neither part, unless the split asks for just that.
// A numeric column is cut between two codes that are present; half of the empty bins between them
// go to either side, so that increasing transforms of the column change nothing. The labels of a
// nominal column are ordered by the mean of the output whose means spread most, and that order is
// cut; the smaller set of labels, at a tie that of the smaller means, is the left part.
// Ties: lower column, smaller threshold (label, part of the order), then is missing | is known.
// Cost: O(codes x lanes), for nominal columns plus sorting.
#pragma once

#include "search/histogram.hpp"
#include "search/limits.hpp"

namespace rulewright {

struct Split {
    double score = 0;  // 0: none
    std::int32_t column = -1;
    Op op = Op::kLessEqual;           // of the left part: <=, = or is missing
    std::vector<std::int32_t> codes;  // the last code on the left, the labels or the missing code
    std::vector<Stat> left, right;    // sums of the parts

    // Where a code of the column goes: 1 left, 2 right, 0 nowhere.
    std::vector<std::uint8_t> sides(std::int32_t n_bins) const;
};

struct SplitScan {
    const ColumnKinds& columns;
    const Limits& limits;
    const Histogram& histogram;          // of the node
    std::span<const Stat> sums;          // of the node
    std::span<const std::uint8_t> used;  // per column: the path of the node uses it
    std::uint64_t groups;                // that the path leaves open
    double reuse;                        // factor of scores on used columns
    bool onehot;                         // one label against the others
};

// The best split on the columns [first, last).
Split scan_splits(const SplitScan& scan, std::size_t first, std::size_t last);

}  // namespace rulewright
