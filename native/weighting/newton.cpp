#include "weighting/newton.hpp"

#include <algorithm>
#include <cmath>

namespace rulewright {
namespace {

constexpr int kSteps = 100, kHalvings = 60;
constexpr double kClose = 1e-12, kTiny = 1e-12;

// Four sums at a time: the compiler may not reorder one.
double dot(const double* a, const double* b, std::size_t n) {
    double sums[4] = {0, 0, 0, 0};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    }
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

LogisticFit::LogisticFit(std::span<const double> positives, std::span<const double> negatives)
    : positives_(positives),
      negatives_(negatives),
      counts_(positives.size()),
      scores_(positives.size()),
      fractions_(positives.size()),
      weighted_(positives.size()) {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        counts_[i] = positives[i] + negatives[i];
        total_ += counts_[i];
    }
}

void LogisticFit::begin(std::span<const double> offset) {
    offset_.assign(offset.begin(), offset.end());
    columns_.clear();
    theta_.clear();
    ridge_.clear();
}

void LogisticFit::add_column(std::span<const double> column, double ridge, double start) {
    columns_.insert(columns_.end(), column.begin(), column.end());
    ridge_.push_back(ridge);
    theta_.push_back(start);
}

double LogisticFit::evaluate(const std::vector<double>& theta) {
    const std::size_t n = counts_.size();
    std::copy(offset_.begin(), offset_.end(), scores_.begin());
    double objective = 0;
    for (std::size_t a = 0; a < theta.size(); ++a) {
        const double* column = columns_.data() + a * n;
        for (std::size_t i = 0; i < n; ++i) scores_[i] += theta[a] * column[i];
        objective += 0.5 * ridge_[a] * theta[a] * theta[a];
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double score = scores_[i], odds = std::exp(-std::abs(score));
        fractions_[i] = (score >= 0 ? 1.0 : odds) / (1.0 + odds);
        const double surprise = std::log1p(odds);
        objective += positives_[i] * (surprise + std::max(-score, 0.0)) +
                     negatives_[i] * (surprise + std::max(score, 0.0));
    }
    return objective;
}

// The slope and the curvature at the fractions of the last evaluation.
void LogisticFit::differentiate() {
    const std::size_t n = counts_.size(), d = theta_.size();
    slope_.resize(d);
    curved_.resize(d * d);
    for (std::size_t i = 0; i < n; ++i) weighted_[i] = counts_[i] * fractions_[i] - positives_[i];
    for (std::size_t a = 0; a < d; ++a) {
        slope_[a] = dot(weighted_.data(), columns_.data() + a * n, n) + ridge_[a] * theta_[a];
    }
    for (std::size_t a = 0; a < d; ++a) {
        const double* column = columns_.data() + a * n;
        for (std::size_t i = 0; i < n; ++i) {
            weighted_[i] = counts_[i] * fractions_[i] * (1.0 - fractions_[i]) * column[i];
        }
        for (std::size_t b = 0; b <= a; ++b) {
            curved_[a * d + b] = dot(weighted_.data(), columns_.data() + b * n, n);
        }
        curved_[a * d + a] += ridge_[a] + kTiny * total_;
    }
}

// Solves curvature x step = slope by Cholesky's method; false where rounding made it singular.
bool LogisticFit::solve() {
    const std::size_t d = theta_.size();
    step_ = slope_;
    for (std::size_t a = 0; a < d; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            double sum = curved_[a * d + b];
            for (std::size_t c = 0; c < b; ++c) sum -= curved_[a * d + c] * curved_[b * d + c];
            if (a == b && !(sum > 0)) return false;
            curved_[a * d + b] = a == b ? std::sqrt(sum) : sum / curved_[b * d + b];
        }
    }
    for (std::size_t a = 0; a < d; ++a) {
        for (std::size_t b = 0; b < a; ++b) step_[a] -= curved_[a * d + b] * step_[b];
        step_[a] /= curved_[a * d + a];
    }
    for (std::size_t a = d; a-- > 0;) {
        for (std::size_t b = a + 1; b < d; ++b) step_[a] -= curved_[b * d + a] * step_[b];
        step_[a] /= curved_[a * d + a];
    }
    return true;
}

void LogisticFit::minimise() {
    value_ = evaluate(theta_);
    promised_ = 0;
    for (int k = 0; k < kSteps; ++k) {
        differentiate();
        if (!solve()) return;
        promised_ = std::max(0.0, 0.5 * dot(slope_.data(), step_.data(), step_.size()));
        if (promised_ <= kClose * total_) {  // the last step doubles the digits
            for (std::size_t a = 0; a < theta_.size(); ++a) theta_[a] -= step_[a];
            return;
        }
        double length = 1, value = value_;
        int halved = 0;
        for (; halved < kHalvings; ++halved, length /= 2) {
            trial_ = theta_;
            for (std::size_t a = 0; a < trial_.size(); ++a) trial_[a] -= length * step_[a];
            value = evaluate(trial_);
            if (value <= value_ - 0.2 * length * promised_) break;
        }
        if (halved == kHalvings) return;
        theta_.swap(trial_);
        value_ = value;
    }
}

}  // namespace rulewright
