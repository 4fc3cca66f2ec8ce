// Question: which coefficients minimise a quadratic with an L1 and a ridge penalty?
//
//   1/2 sum_i w_i (z_i - sum_j a_j d_j (x_ij - m_j))^2 + l1 sum_j |a_j| + l2 / 2 sum_j a_j^2,
//
// where m_j is the weighted mean of column j, d_j its scale, and z has weighted mean 0. Coordinate
// descent: a_j <- S(A_j'r + v_j a_j, l1) / (v_j + l2) with r the residual and v_j = ||A_j||^2.
// Sweeps run over all given columns, then over those that are not zero until nothing changes, then
// over all again. After five sweeps over these, the point that they are heading for is tried
// (Anderson); where many are not enough and products are given, the least point with the same signs
// is found by elimination.
//
// Naive: r is kept, as w_i r_i. Covariance: the sums of w_i r_i x_ij are kept, and the raw
// cross-products of the columns are given. Both keep one number for the part that centring adds.
//
// Cost per coordinate: O(rows) naive, O(columns) covariance; an elimination is as long as many
// sweeps, and made no more often than these. One thread: each step needs the last.
#pragma once

#include "weighting/rule_matrix.hpp"

namespace rulewright {

// How to look at the columns; arrays by column.
struct Quadratic {
    double weight;         // sum of w_i
    const double* means;   // m_j
    const double* scales;  // d_j
    const double* norms;   // v_j; a column of norm 0 stays out
};

struct Stop {
    double change;  // no v_j (step of a_j)^2 above this
    int max_sweeps;
};

struct Penalty {
    double l1, l2;
};

// IN: coefs (by column) and residuals w_i r_i at them. OUT: both, moved. Returns the sweeps made.
int descend_naive(const RuleMatrix& matrix, const Quadratic& quadratic, const double* weights,
                  ColumnIds columns, Penalty penalty, Stop stop, double* coefs, double* residuals);

// IN: raw cross-products (sum_i w_i x_ij x_ik of n columns, counts or sums, rows `stride` apart),
// coefs and the sums of w_i r_i x_ij at them. OUT: both, moved. Returns the sweeps made.
template <class Number>
int descend_covariance(const Number* products, std::size_t stride, const Quadratic& quadratic,
                       ColumnIds columns, std::size_t n, Penalty penalty, Stop stop, double* coefs,
                       double* sums);

}  // namespace rulewright
