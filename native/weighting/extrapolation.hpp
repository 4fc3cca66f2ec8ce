// Where sweeps of coordinate descent are heading for.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "weighting/descent.hpp"

namespace rulewright {

// Anderson's extrapolation: of the points that they led to,
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

    // Begins anew, from a point that no sweep led to.
    void forget() { points_.clear(); }

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

    static void add_times(double weight, const std::vector<double>& from, std::vector<double>& to) {
        for (std::size_t k = 0; k < to.size(); ++k) to[k] += weight * from[k];
    }

    // Along a line the quadratic changes by the mean of the pulls at its ends.
    void try_mean(const std::array<double, kSteps>& weights) {
        const Place start = here();
        Place mean{std::vector<double>(start.coefs.size()), std::vector<double>(start.kept.size()),
                   0};
        for (std::size_t i = 0; i < kSteps; ++i) {
            const Place& point = points_[i + 1];
            mean.shift += weights[i] * point.shift;
            add_times(weights[i], point.kept, mean.kept);
            add_times(weights[i], point.coefs, mean.coefs);
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

}  // namespace rulewright
