// Question: how do probabilities, statistics and loss change when a rule is added?
//
// Rows keep e_k = exp(f_k), so a step s for class k multiplies e_k by exp(s): p = e / sum(e) needs
// no exponential per row and never saturates as p itself would. From p follow the statistics of
// the negative log-likelihood, g = w (P - [y in U]) and h = w P (1 - P) with P = p(U), in fixed
// point. There is one pair per class, U = {k}; or, cumulative, one per cut, U = {k, ..., K-1} with
// k = 1 .. K-1: the same pair with g negated is that of the classes below the cut. The statistics
// may be coarse, for the search; sums for a response are as fine as their own scale says.
//
// Cost: O(rows x K); only rows that the rule covers change. Float sums are taken in fixed blocks.
#pragma once

#include <span>
#include <vector>

#include "base/types.hpp"

namespace rulewright {

struct Likelihood {
    std::size_t n_classes;
    std::size_t n_lanes;  // 2 per pair, plus one for the weight if needed
    bool cumulative;
    double scale;  // fixed-point steps per unit
    const std::int32_t* labels;
    const double* weights;
    double* exp_scores;  // n_rows x n_classes
    Stat* stats;         // n_rows x n_lanes
};

// Adds `size` to the scores of the classes first, ..., last.
struct Step {
    std::size_t first, last;
    double size;
};

// Statistics of the given rows from their scores.
void refresh_stats(const Likelihood& state, std::span<const Row> rows, int n_threads);

// What adding the step to the rows' scores would do to the loss.
double loss_change(const Likelihood& state, std::span<const Row> rows, Step step, int n_threads);

// Add the step and refresh the statistics; returns the change of the loss.
double add_step(const Likelihood& state, std::span<const Row> rows, Step step, int n_threads);

// Sums of one pair over the rows, from their scores and not from their statistics, in steps of
// which there are `scale` per unit: what a response is computed from.
std::vector<Stat> sum_pair(const Likelihood& state, std::span<const Row> rows, std::size_t pair,
                           double scale, int n_threads);

// Exact sums of all lanes over the rows.
std::vector<Stat> sum_stats(const Likelihood& state, std::span<const Row> rows, int n_threads);

// Weight of each class among the rows on side 0, and then on side 1, of a split.
std::vector<double> class_weights(const Likelihood& state, std::span<const Row> rows,
                                  const std::uint8_t* side, int n_threads);

}  // namespace rulewright
