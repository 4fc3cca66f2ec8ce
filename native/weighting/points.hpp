// Question: which integer points of few items give the least log-loss?
//
// IN: groups of rows that the same items cover, with the weights of their positives and negatives.
// OUT: points z, the value u >= 0 of a point and the intercept b with the least
// sum_i log(1 + exp(-y_i (u z.x_i + b))) + l2 / 2 |u z|^2, and a lower bound of that loss for all
// points within the limits.
//
// Branch and bound, one item after another, the largest real response first. The points of the
// first items are fixed up to their common unit, the others have free real responses: a convex
// problem whose minimum bounds all cards below. Along the ratio of one response to the unit this
// minimum has a single valley, because its level sets are images of convex sets: once a point is
// too dear, those beyond it are; but 0 is always tried, because it leaves another item to be used
// instead. Where the unit would be negative it is 0.
//
// Invariants: a bound is the objective at the end of Newton's method minus its squared decrement.
// Cards whose losses differ by less than a share of 1e-9 are the same. With all nodes visited the
// bound equals the loss.
//
// Cost: O(groups x items^2) for a Newton step, a few steps for a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rulewright {

// Rows that the same items cover: `covers` has a line of 0 and 1 for each group.
struct ItemGroups {
    std::span<const std::uint8_t> covers;
    std::size_t n_items;
    std::span<const double> positives;
    std::span<const double> negatives;

    std::size_t size() const { return positives.size(); }
};

struct PointLimits {
    std::vector<std::int32_t> lowest, highest;
    std::int32_t max_items;
    std::int32_t max_range;  // of the sum of absolute points; -1: no limit
    double l2;
    double unit;  // 0: fitted
    std::int64_t max_nodes;
    double cutoff;
};

struct FoundPoints {
    std::vector<std::int32_t> points;
    double unit = 0, intercept = 0;
    double loss = std::numeric_limits<double>::infinity();
    double bound = 0;
    std::int64_t n_nodes = 0;
};

struct FittedScores {
    std::vector<double> responses;  // of the items, then the intercept
    double loss;
};

// Fits real responses with a ridge penalty and an intercept without one.
FittedScores fit_scores(const ItemGroups& groups, double l2, std::span<const double> start);

FoundPoints solve_points(const ItemGroups& groups, const PointLimits& limits);

}  // namespace rulewright
