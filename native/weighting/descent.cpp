#include "weighting/descent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace rulewright {
namespace {

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

// Where the last sweeps are heading for (Anderson's extrapolation): of the points that they led to,
// the mean whose steps cancel best. What a state keeps is an affine function of the coefficients,
// so that it is extrapolated with the same weights.
template <class State>
class Extrapolation {
  public:
    Extrapolation(State& state, ColumnIds columns, Penalty penalty, double* coefs)
        : state_(state), columns_(columns), penalty_(penalty), coefs_(coefs) {}

    // Keeps the point that a sweep led to; after enough of them goes to the mean, if it is better.
    void follow() {
        points_.push_back(here());
        if (points_.size() <= kSteps) return;
        std::array<double, kSteps> weights;
        if (solve(weights)) try_mean(weights);
        points_.clear();
    }

  private:
    static constexpr std::size_t kSteps = 5;

    struct Place {
        std::vector<double> coefs, kept;
        double shift;
    };

    Place here() const {
        Place place{{}, {state_.kept().begin(), state_.kept().end()}, state_.shift};
        for (const std::int32_t j : columns_) place.coefs.push_back(coefs_[j]);
        return place;
    }
    void go(const Place& place) {
        std::copy(place.kept.begin(), place.kept.end(), state_.kept().begin());
        state_.shift = place.shift;
        for (std::size_t i = 0; i < columns_.size(); ++i) coefs_[columns_[i]] = place.coefs[i];
    }
    std::vector<double> pulls() const {
        std::vector<double> found;
        for (const std::int32_t column : columns_) {
            const auto j = static_cast<std::size_t>(column);
            found.push_back(state_.quadratic.scales[j] * state_.pull(j));
        }
        return found;
    }

    // The weights z / sum z with U U' z = 1, where the rows of U are the steps; by elimination.
    bool solve(std::array<double, kSteps>& z) const {
        double m[kSteps][kSteps + 1];
        for (std::size_t i = 0; i < kSteps; ++i) {
            for (std::size_t k = 0; k < kSteps; ++k) {
                m[i][k] = 0;
                for (std::size_t c = 0; c < columns_.size(); ++c) {
                    m[i][k] += (points_[i + 1].coefs[c] - points_[i].coefs[c]) *
                               (points_[k + 1].coefs[c] - points_[k].coefs[c]);
                }
            }
            m[i][kSteps] = 1;
        }
        for (std::size_t i = 0; i < kSteps; ++i) {  // positive definite: no pivots needed
            if (!(m[i][i] > 0)) return false;
            for (std::size_t k = i + 1; k < kSteps; ++k) {
                const double factor = m[k][i] / m[i][i];
                for (std::size_t c = i; c <= kSteps; ++c) m[k][c] -= factor * m[i][c];
            }
        }
        double sum = 0;
        for (std::size_t i = kSteps; i-- > 0;) {
            z[i] = m[i][kSteps];
            for (std::size_t k = i + 1; k < kSteps; ++k) z[i] -= m[i][k] * z[k];
            z[i] /= m[i][i];
            sum += z[i];
        }
        for (double& weight : z) weight /= sum;
        return std::isfinite(sum) && sum > 0;
    }

    // Along a line the quadratic changes by the mean of the pulls at its ends.
    void try_mean(const std::array<double, kSteps>& weights) {
        const Place start = here();
        Place mean{std::vector<double>(start.coefs.size()), std::vector<double>(start.kept.size()),
                   0};
        for (std::size_t i = 0; i < kSteps; ++i) {
            const Place& point = points_[i + 1];
            mean.shift += weights[i] * point.shift;
            subtract(-weights[i], point.kept.data(), point.kept.size(), mean.kept.data());
            subtract(-weights[i], point.coefs.data(), point.coefs.size(), mean.coefs.data());
        }
        const std::vector<double> before = pulls();
        go(mean);
        const std::vector<double> after = pulls();
        double change = 0;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const double a = start.coefs[c], b = mean.coefs[c];
            change -= (b - a) * (before[c] + after[c]) / 2;
            change += penalty_.l1 * (std::fabs(b) - std::fabs(a));
            change += penalty_.l2 * (b - a) * (b + a) / 2;
        }
        if (!(change < 0)) go(start);
    }

    State& state_;
    ColumnIds columns_;
    Penalty penalty_;
    double* coefs_;
    std::vector<Place> points_;
};

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
        Extrapolation<State> extrapolation(state, active, penalty, coefs);
        while (n_sweeps < stop.max_sweeps) {
            ++n_sweeps;
            if (!(sweep(state, active, penalty, coefs) > stop.change)) break;
            extrapolation.follow();
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
