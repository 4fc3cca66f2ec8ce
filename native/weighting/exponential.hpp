// Question: how do the weights of boosting change when a rule is added?
//
// Rows have a weight per head: of the pair (row, label), see weighting/exponential.py. Adding a
// confidence to one head multiplies the weights of covered rows; the weights are not normalised, so
// those of other rows stay as they are, and the caller divides by their total. From the weights
// follow the lanes (W+, W-) of every head, in fixed point.
//
// Cost: O(rows given x heads); the total takes one pass over all weights. Float sums are taken in
// fixed blocks.
#pragma once

#include <span>
#include <vector>

#include "base/types.hpp"

namespace rulewright {

struct ExponentialLoss {
    std::size_t n_rows, n_heads, n_lanes;
    bool by_cost;             // pairs compare labels: all of a row's pairs help its class
    const std::int32_t* own;  // place of the row's class among the heads; -1: none
    double* weights;          // n_rows x n_heads
    double* scores;           // n_rows x n_heads
    Stat* stats;              // n_rows x n_lanes
};

// Weights never underflow to zero: a row that is fitted well may matter again.
inline constexpr double kLeastWeight = 1e-300;

// The sum of all weights, and the largest weight that a lane of a row stands for.
struct WeightRange {
    double total = 0, largest = 0;
};

WeightRange measure_weights(const ExponentialLoss& loss, int n_threads);

// Adds a confidence to the scores of the head at `place` on the rows, and changes their weights.
void add_confidence(const ExponentialLoss& loss, std::span<const Row> rows, std::size_t place,
                    double confidence, int n_threads);

// Multiplies all weights.
void scale_weights(const ExponentialLoss& loss, double factor, int n_threads);

// Writes the lanes of the rows from their weights, in steps of 1 / scale.
void write_lanes(const ExponentialLoss& loss, std::span<const Row> rows, double scale,
                 int n_threads);

// W+ and W- of a rule that covers the rows and speaks for the head at `place`, in such steps.
std::vector<Stat> sum_weights(const ExponentialLoss& loss, std::span<const Row> rows,
                              std::size_t place, double scale, int n_threads);

// The steps of each row over all its pairs, read off its lanes.
std::vector<Stat> row_steps(const ExponentialLoss& loss, int n_threads);

}  // namespace rulewright
