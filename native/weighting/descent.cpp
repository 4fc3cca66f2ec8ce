#include "weighting/descent.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace rulewright {
namespace {

double shrink(double value, double by) {
    return std::copysign(std::max(std::fabs(value) - by, 0.0), value);
}

// The residual: w_i r_i is residuals_i + w_i shift, and its sum over all rows is 0.
struct Naive {
    const RuleMatrix& matrix;
    const Quadratic& quadratic;
    const double* weights;
    double* residuals;
    double shift = 0;

    double pull(std::size_t j) const {
        return column_sum(matrix, j, residuals) + shift * quadratic.weight * quadratic.means[j];
    }
    void add(std::size_t j, double step) { add_column(matrix, j, -step, weights, residuals); }
};

// The sums over the columns: of column k it is sums_k + weight m_k shift.
template <class Number>
struct Covariance {
    const Number* products;
    std::size_t stride, n;
    const Quadratic& quadratic;
    double* sums;
    double shift = 0;

    double pull(std::size_t j) const {
        return sums[j] + shift * quadratic.weight * quadratic.means[j];
    }
    void add(std::size_t j, double step) {
        const Number* row = products + j * stride;
        for (std::size_t k = 0; k < n; ++k) sums[k] -= step * static_cast<double>(row[k]);
    }
};

// Minimises along each column in turn; returns the largest v_j step^2.
template <class State>
double sweep(State& state, ColumnIds columns, Penalty penalty, double* coefs) {
    const Quadratic& quadratic = state.quadratic;
    double largest = 0;
    for (const std::int32_t column : columns) {
        const auto j = static_cast<std::size_t>(column);
        const double norm = quadratic.norms[j], scale = quadratic.scales[j];
        if (norm <= 0) continue;
        const double target = scale * state.pull(j) + norm * coefs[j];
        const double step = shrink(target, penalty.l1) / (norm + penalty.l2) - coefs[j];
        if (step == 0) continue;
        coefs[j] += step;
        state.add(j, step * scale);
        state.shift += step * scale * quadratic.means[j];
        largest = std::max(largest, norm * step * step);
    }
    return largest;
}

template <class State>
int descend(State& state, ColumnIds columns, Penalty penalty, Stop stop, double* coefs) {
    std::vector<std::int32_t> active;
    int n_sweeps = 0;
    while (n_sweeps < stop.max_sweeps) {
        ++n_sweeps;
        if (sweep(state, columns, penalty, coefs) <= stop.change) break;
        active.clear();
        std::copy_if(columns.begin(), columns.end(), std::back_inserter(active),
                     [&](std::int32_t j) { return coefs[j] != 0; });
        double change = 2 * stop.change + 1;
        while (change > stop.change && n_sweeps < stop.max_sweeps) {
            ++n_sweeps;
            change = sweep(state, active, penalty, coefs);
        }
    }
    return n_sweeps;
}

}  // namespace

int descend_naive(const RuleMatrix& matrix, const Quadratic& quadratic, const double* weights,
                  ColumnIds columns, Penalty penalty, Stop stop, double* coefs, double* residuals) {
    Naive state{matrix, quadratic, weights, residuals};
    const int n_sweeps = descend(state, columns, penalty, stop, coefs);
    for (std::size_t i = 0; i < matrix.n_rows; ++i) residuals[i] += weights[i] * state.shift;
    return n_sweeps;
}

template <class Number>
int descend_covariance(const Number* products, std::size_t stride, const Quadratic& quadratic,
                       ColumnIds columns, std::size_t n, Penalty penalty, Stop stop, double* coefs,
                       double* sums) {
    Covariance<Number> state{products, stride, n, quadratic, sums};
    const int n_sweeps = descend(state, columns, penalty, stop, coefs);
    for (std::size_t k = 0; k < n; ++k) {
        sums[k] += quadratic.weight * quadratic.means[k] * state.shift;
    }
    return n_sweeps;
}

template int descend_covariance(const std::int32_t*, std::size_t, const Quadratic&, ColumnIds,
                                std::size_t, Penalty, Stop, double*, double*);
template int descend_covariance(const double*, std::size_t, const Quadratic&, ColumnIds,
                                std::size_t, Penalty, Stop, double*, double*);

}  // namespace rulewright
