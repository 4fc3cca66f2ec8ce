// Question: which regression tree of at most t leaves, grown best-first, fits the residuals best?
//
// A best-first driver over the steps count, scan and refine: the leaf whose best split has the
// largest score is split until there are t leaves or no split reduces the squared error by more
// than the tolerance. Rows whose value is missing stay at the node that asks for it.
// Friedman and Popescu (2008), section 3.1, with any number of outputs.
//
// Cost: O(rows x columns x lanes) for the root; each next split costs as many rows as the smaller
// child and the rows that stay, because the larger child's histogram is found by subtraction.
// IN columns, rows, statistics (n_rows x lanes: weight above 0, then weighted residuals).
// OUT splits in the order of growth; split i makes the nodes 2 i + 1 (left) and 2 i + 2 (right).
#pragma once

#include "search/split.hpp"

namespace rulewright {

struct TreeShape {
    std::int32_t max_leaves;
    double reuse;  // factor of the scores of splits on columns that the path already uses
    bool onehot;   // split nominal columns into one label and the others
};

struct GrownTree {
    std::vector<std::int32_t> nodes;  // the node that each split splits
    std::vector<Split> splits;
    std::vector<Stat> sums;  // [node][lane]
};

template <class Code>
GrownTree grow_tree(const Columns<Code>& columns, std::span<const Row> rows, const Stat* stats,
                    std::size_t n_lanes, const TreeShape& shape, const Limits& limits,
                    int n_threads);

// A tree as rows walk it; see Routes in kernels/trees.py.
struct Routes {
    std::span<const std::int32_t> children, columns, starts;
    std::span<const std::uint8_t> sides;
};

// The deepest node that every row reaches. Cost: O(rows x depth).
template <class Code>
std::vector<std::int32_t> route_rows(const Columns<Code>& columns, const Routes& routes,
                                     int n_threads);

}  // namespace rulewright
