// Question: how do the weights of boosting change when a rule is added?
//
// Rows have a weight per head: of the pair (row, label), see weighting/exponential.py. Adding a
// confidence to one head multiplies the weights of covered rows, then all are divided by their sum
// Z. From the weights follow the lanes (W+, W-) of every head, in fixed point.
//
// Cost: O(rows x heads). Float sums are taken in fixed blocks.
#pragma once

#include <span>

#include "base/types.hpp"

namespace rulewright {

struct ExponentialLoss {
    std::size_t n_rows, n_heads, n_lanes;
    bool by_cost;             // pairs compare labels: all of a row's pairs help its class
    double scale;             // fixed-point steps per unit
    const std::int32_t* own;  // place of the row's class among the heads; -1: none
    double* weights;          // n_rows x n_heads
    Stat* stats;              // n_rows x n_lanes
};

// Weights never underflow to zero: a row that is fitted well may matter again.
inline constexpr double kLeastWeight = 1e-300;

// Add a confidence to the head at `place` on the rows; returns Z.
double add_confidence(const ExponentialLoss& loss, std::span<const Row> rows, std::size_t place,
                      double confidence, int n_threads);

// Write the lanes of all rows from their weights.
void refresh_lanes(const ExponentialLoss& loss, int n_threads);

}  // namespace rulewright
