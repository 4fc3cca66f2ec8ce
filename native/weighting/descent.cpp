#include "weighting/descent.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "weighting/extrapolation.hpp"
#include "weighting/positive_system.hpp"

namespace rulewright {
namespace {

// Sweeps that the part of the active columns is worth making for.
constexpr int kSweepsOfPart = 2;

double shrink(double value, double by) {
    return std::copysign(std::max(std::fabs(value) - by, 0.0), value);
}

RULEWRIGHT_CLONES
void subtract(double step, const std::int32_t* from, std::size_t n, double* values) {
    for (std::size_t k = 0; k < n; ++k) values[k] -= step * static_cast<double>(from[k]);
}

RULEWRIGHT_CLONES
void subtract(double step, const double* from, std::size_t n, double* values) {
    for (std::size_t k = 0; k < n; ++k) values[k] -= step * from[k];
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
    std::span<double> kept() const { return {residuals, matrix.n_rows}; }
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
    void add(std::size_t j, double step) { subtract(step, products + j * stride, n, sums); }
    std::span<double> kept() const { return {sums, n}; }
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

// Sweeps over the active columns until nothing changes; returns how many.
template <class State>
int settle(State& state, ColumnIds active, Penalty penalty, Stop stop, double* coefs) {
    Extrapolation<State> extrapolation(state, active, penalty, coefs);
    for (int n_sweeps = 1; n_sweeps <= stop.max_sweeps; ++n_sweeps) {
        if (!(sweep(state, active, penalty, coefs) > stop.change)) return n_sweeps;
        extrapolation.follow();
    }
    return stop.max_sweeps;
}

// The quadratic of the active columns alone, centred and scaled: what is swept over is as small as
// it can be, and the point where sweeps are heading for can be found by elimination.
class ActivePart {
  public:
    template <class Number>
    ActivePart(const Covariance<Number>& state, ColumnIds active, const double* coefs)
        : n_(active.size()), gram_(n_ * n_), zeros_(n_), ones_(n_, 1.0) {
        const Quadratic& q = state.quadratic;
        for (std::size_t i = 0; i < n_; ++i) {
            const auto j = static_cast<std::size_t>(active[i]);
            const Number* line = state.products + j * state.stride;
            for (std::size_t l = 0; l < n_; ++l) {
                const auto k = static_cast<std::size_t>(active[l]);
                gram_[i * n_ + l] =
                    q.scales[j] * q.scales[k] *
                    (static_cast<double>(line[k]) - q.weight * q.means[j] * q.means[k]);
            }
            columns_.push_back(static_cast<std::int32_t>(i));
            norms_.push_back(q.norms[j]);
            coefs_.push_back(coefs[j]);
            pulls_.push_back(q.scales[j] * state.pull(j));
        }
    }

    int settle(Penalty penalty, Stop stop) {
        const Quadratic quadratic{0, zeros_.data(), ones_.data(), norms_.data()};
        Covariance<double> state{gram_.data(), n_, n_, quadratic, pulls_.data()};
        Extrapolation extrapolation(state, columns_, penalty, coefs_.data());
        const int patience = kLeastPatience + static_cast<int>(n_ / kSweepsOfJump);
        for (int n_sweeps = 1; n_sweeps <= stop.max_sweeps; ++n_sweeps) {
            if (!(sweep(state, columns_, penalty, coefs_.data()) > stop.change)) return n_sweeps;
            extrapolation.follow();
            if (n_sweeps % patience == 0) {
                jump(state, penalty);
                extrapolation.forget();
            }
        }
        return stop.max_sweeps;
    }
    double coef(std::size_t i) const { return coefs_[i]; }

  private:
    // An elimination takes as long as about n / 12 sweeps: so many are tried before.
    static constexpr std::size_t kSweepsOfJump = 12;
    static constexpr int kLeastPatience = 10;

    // From signs that sweeps have found to the least point with these signs: columns that resemble
    // each other make sweeps slow, but not this. Coefficients that would change sign become 0.
    void jump(Covariance<double>& state, Penalty penalty) {
        std::vector<std::size_t> ids;
        for (std::size_t j = 0; j < n_; ++j) {
            if (coefs_[j] != 0) ids.push_back(j);
        }
        std::vector<double> steps = way(ids, penalty);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const double coef = coefs_[ids[i]];
            if ((coef + steps[i]) * coef < 0) steps[i] = -coef;
        }
        go(state, penalty, ids, steps);
    }

    // Steps to the least point with the signs of these columns.
    std::vector<double> way(const std::vector<std::size_t>& ids, Penalty penalty) const {
        std::vector<double> matrix(ids.size() * ids.size()), steps = slopes(ids, penalty);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            double* line = matrix.data() + i * ids.size();
            for (std::size_t k = 0; k <= i; ++k) line[k] = gram_[ids[i] * n_ + ids[k]];
            line[i] += penalty.l2;
        }
        solve_positive(matrix.data(), ids.size(), steps.data());
        return steps;
    }

    // Makes the steps if the objective falls: along a line by the mean of the slopes at its ends.
    void go(Covariance<double>& state, Penalty penalty, const std::vector<std::size_t>& ids,
            const std::vector<double>& steps) {
        const std::vector<double> before = slopes(ids, penalty), kept = pulls_;
        for (std::size_t i = 0; i < ids.size(); ++i) state.add(ids[i], steps[i]);
        double gain = 0;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const double turned = pulls_[ids[i]] - kept[ids[i]] - penalty.l2 * steps[i];
            gain += steps[i] * (before[i] + turned / 2);
        }
        if (gain > 0) {
            for (std::size_t i = 0; i < ids.size(); ++i) coefs_[ids[i]] += steps[i];
        } else {
            pulls_ = kept;
        }
    }

    // How fast the objective falls as each coefficient grows, with the signs kept.
    std::vector<double> slopes(const std::vector<std::size_t>& ids, Penalty penalty) const {
        std::vector<double> found;
        for (const std::size_t j : ids) {
            found.push_back(pulls_[j] - std::copysign(penalty.l1, coefs_[j]) -
                            penalty.l2 * coefs_[j]);
        }
        return found;
    }

    std::size_t n_;
    std::vector<double> gram_, zeros_, ones_, norms_, coefs_, pulls_;
    std::vector<std::int32_t> columns_;
};

template <class Number>
int settle(Covariance<Number>& state, ColumnIds active, Penalty penalty, Stop stop, double* coefs) {
    for (int n_sweeps = 1; n_sweeps <= kSweepsOfPart; ++n_sweeps) {
        if (n_sweeps > stop.max_sweeps) return stop.max_sweeps;
        if (!(sweep(state, active, penalty, coefs) > stop.change)) return n_sweeps;
    }
    ActivePart part(state, active, coefs);
    const int n_sweeps = part.settle(penalty, {stop.change, stop.max_sweeps - kSweepsOfPart});
    for (std::size_t i = 0; i < active.size(); ++i) {
        const auto j = static_cast<std::size_t>(active[i]);
        const double step = (part.coef(i) - coefs[j]) * state.quadratic.scales[j];
        coefs[j] = part.coef(i);
        if (step == 0) continue;
        state.add(j, step);
        state.shift += step * state.quadratic.means[j];
    }
    return kSweepsOfPart + n_sweeps;
}

template <class State>
int descend(State& state, ColumnIds columns, Penalty penalty, Stop stop, double* coefs) {
    std::vector<std::int32_t> active;
    int n_sweeps = 0;
    while (n_sweeps < stop.max_sweeps) {
        ++n_sweeps;
        if (!(sweep(state, columns, penalty, coefs) > stop.change)) break;  // NaN ends it too
        active.clear();
        std::copy_if(columns.begin(), columns.end(), std::back_inserter(active),
                     [&](std::int32_t j) { return coefs[j] != 0; });
        n_sweeps +=
            settle(state, active, penalty, {stop.change, stop.max_sweeps - n_sweeps}, coefs);
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
