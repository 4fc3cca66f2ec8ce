// Question: the same as likelihood.hpp, for rules that vote for one class chosen beforehand. What
// does it cost when there are many classes?
//
// A row keeps e_k = exp(f_k) of every class and their total, classes one after the other. A step
// for class k changes e_k and the total of the rows that the rule covers; statistics are written
// for the class that the next rule votes for, and for no other. Scores grow only, so that the total
// is kept up to date by adding; it is taken anew where a row is scaled.
//
// Cost: O(rows), whatever the number of classes. Float sums are taken in fixed blocks.
#pragma once

#include <span>
#include <vector>

#include "base/types.hpp"

namespace rulewright {

struct ClassLikelihood {
    std::size_t n_rows, n_classes;
    std::size_t n_lanes;  // the pair (g, h), and one for the weight if needed
    double scale;         // fixed-point steps per unit
    const std::int32_t* labels;
    const double* weights;
    double* exp_scores;  // n_classes x n_rows
    double* totals;      // n_rows: sums of exp_scores
    Stat* stats;         // n_rows x n_lanes

    double probability(std::size_t k, std::size_t row) const {
        return exp_scores[k * n_rows + row] / totals[row];
    }
};

// The statistics of a vote for class k, of all rows.
void write_class_stats(const ClassLikelihood& state, std::size_t k, int n_threads);

// Those of the rows that tell about a vote for class k: rows of the class, and rows that have it
// with a probability of `least` or more. Their statistics are written; the others have hardly any
// g and h to count, and keep what they had.
std::vector<Row> write_telling_rows(const ClassLikelihood& state, std::span<const Row> rows,
                                    std::size_t k, double least);

// (g, h) of a vote for class k over the rows, exact sums, with `scale` steps per unit.
std::vector<Stat> sum_class_stats(const ClassLikelihood& state, std::span<const Row> rows,
                                  std::size_t k, double scale, int n_threads);

// What adding `size` >= 0 to the scores of class k would do to the loss.
double class_loss_change(const ClassLikelihood& state, std::span<const Row> rows, std::size_t k,
                         double size, int n_threads);

// Adds it, and returns the change of the loss. Statistics are left as they were.
double add_class_step(const ClassLikelihood& state, std::span<const Row> rows, std::size_t k,
                      double size, int n_threads);

// What the rows of each class lack: the sums of w (1 - p) of their own class.
std::vector<double> sum_residuals(const ClassLikelihood& state, std::span<const Row> rows,
                                  int n_threads);

// Weight of each class among the rows on side 0, and then on side 1, of a split.
std::vector<double> class_weights(const ClassLikelihood& state, std::span<const Row> rows,
                                  const std::uint8_t* side, int n_threads);

}  // namespace rulewright
