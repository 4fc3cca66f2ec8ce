// Question: which responses of given rules fit best?
//
// Coordinate descent on the penalised negative log-likelihood
//
//   sum_i w_i (log sum_k exp f_ik - sum_k q_ik f_ik) + sum_j (l1 |b_j| + l2 b_j^2 / 2),
//
// where q_ik is the share of class k in row i (1 for the class of the row, if it has one) and f_ik
// the sum of the responses b_j of the rules that cover row i and speak for class k. A response
// keeps the sign of its rule; a rule of sign 0 is free and has no penalty (one that covers
// everything is an intercept). Covers are packed bits. Rows keep their probabilities: a step
// multiplies those of the voted classes by exp(step) and then all to sum to 1, without an
// exponential per row.
//
// Cost: O(covered rows x K) per coordinate. Sums run over the rows of one rule in order, so no
// result depends on the number of threads.
#pragma once

#include <span>
#include <vector>

#include "base/types.hpp"

namespace rulewright {

struct ResponseFit {
    std::size_t n_rows;
    std::size_t n_classes;
    std::size_t n_words;   // 64-bit words of a cover
    const double* shares;  // n_rows x n_classes
    const double* weights;
    double* probabilities;        // n_rows x n_classes
    const std::uint64_t* covers;  // n_rules x n_words, spare bits 0
    const std::int32_t* heads;    // n_rules x 2: first and last class
    const std::int8_t* signs;     // n_rules: 1, -1 or 0
    const double* hits;           // n_rules, see weigh_hits
};

// Weight of its classes in the rows that each rule covers: what of its derivative never changes.
std::vector<double> weigh_hits(const ResponseFit& fit, std::size_t n_rules);

// A Newton step for each rule in turn, from where the steps before left off. Returns the sum of
// (h + l2) step^2, about twice what the objective lost.
double sweep(const ResponseFit& fit, std::span<const std::int32_t> rules, double* responses,
             double l1, double l2);

// Add steps to the responses of rules: only the probabilities change.
void move(const ResponseFit& fit, std::span<const std::int32_t> rules, const double* steps);

// Derivative of the negative log-likelihood along each rule.
std::vector<double> gradients(const ResponseFit& fit, std::span<const std::int32_t> rules,
                              int n_threads);

// Second derivatives, rules x rules.
std::vector<double> hessian(const ResponseFit& fit, std::span<const std::int32_t> rules,
                            int n_threads);

}  // namespace rulewright
