#include "weighting/likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

Stat fixed_point(double value, double scale) { return std::llrint(value * scale); }

// Every row of positive weight is seen: its h is at least one step, so a code is present in a
// histogram exactly when its sums are not all zero.
void write_pair(double p, bool is_class, double weight, double scale, Stat* pair) {
    pair[0] = fixed_point(weight * (p - (is_class ? 1.0 : 0.0)), scale);
    pair[1] = std::max<Stat>(1, fixed_point(weight * p * (1.0 - p), scale));
}

double sum_scores(const Likelihood& state, const double* e) {
    return std::accumulate(e, e + state.n_classes, 0.0);
}

void write_stats(const Likelihood& state, std::size_t row, double total) {
    const double* e = state.exp_scores + row * state.n_classes;
    Stat* stats = state.stats + row * state.n_lanes;
    const double weight = state.weights[row];
    const auto label = static_cast<std::size_t>(state.labels[row]);
    const std::size_t first = state.n_classes == 2 ? 1 : 0;
    for (std::size_t k = first; k < state.n_classes; ++k) {
        write_pair(e[k] / total, k == label, weight, state.scale, stats + 2 * (k - first));
    }
}

// Far from overflow nothing happens; close to it the row is scaled, which changes no probability.
double keep_finite(const Likelihood& state, double* e, double total) {
    if (total < 1e200 && total > 1e-200) return total;
    for (std::size_t k = 0; k < state.n_classes; ++k) e[k] /= total;
    return sum_scores(state, e);
}

template <class RowChange>
double sum_blocks(std::span<const Row> rows, int n_threads, const RowChange& row_change) {
    std::vector<double> partial(count_blocks(rows.size()));
    parallel_blocks(rows.size(), n_threads,
                    [&](std::size_t block, std::size_t from, std::size_t to) {
                        double sum = 0;
                        for (std::size_t i = from; i < to; ++i) sum += row_change(rows[i]);
                        partial[block] = sum;
                    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}

// Change of one row's loss when its total of exp scores becomes `after`.
double row_loss_change(const Likelihood& state, Row row, Step step, double before, double after) {
    const bool hit = static_cast<std::size_t>(state.labels[row]) == step.vote;
    return state.weights[row] * (std::log(after / before) - (hit ? step.size : 0.0));
}

}  // namespace

void refresh_stats(const Likelihood& state, std::span<const Row> rows, int n_threads) {
    sum_blocks(rows, n_threads, [&](Row row) {
        write_stats(state, row, sum_scores(state, state.exp_scores + row * state.n_classes));
        return 0.0;
    });
}

double loss_change(const Likelihood& state, std::span<const Row> rows, Step step, int n_threads) {
    const double growth = std::expm1(step.size);
    return sum_blocks(rows, n_threads, [&](Row row) {
        const double* e = state.exp_scores + row * state.n_classes;
        const double before = sum_scores(state, e);
        return row_loss_change(state, row, step, before, before + e[step.vote] * growth);
    });
}

double add_step(const Likelihood& state, std::span<const Row> rows, Step step, int n_threads) {
    const double factor = std::exp(step.size);
    return sum_blocks(rows, n_threads, [&](Row row) {
        double* e = state.exp_scores + row * state.n_classes;
        const double before = sum_scores(state, e);
        e[step.vote] *= factor;
        const double after = sum_scores(state, e);
        write_stats(state, row, keep_finite(state, e, after));
        return row_loss_change(state, row, step, before, after);
    });
}

std::vector<Stat> sum_stats(const Stat* stats, std::size_t n_lanes, std::span<const Row> rows) {
    std::vector<Stat> sums(n_lanes);
    for (const Row row : rows) {
        for (std::size_t lane = 0; lane < n_lanes; ++lane)
            sums[lane] += stats[row * n_lanes + lane];
    }
    return sums;
}

std::vector<double> class_weights(const Likelihood& state, std::span<const Row> rows) {
    std::vector<double> sums(state.n_classes);
    for (const Row row : rows) {
        sums[static_cast<std::size_t>(state.labels[row])] += state.weights[row];
    }
    return sums;
}

}  // namespace rulewright
