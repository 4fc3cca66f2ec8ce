#include "weighting/likelihood.hpp"

#include <cmath>
#include <numeric>

#include "base/portable.hpp"
#include "weighting/row_statistics.hpp"

namespace rulewright {
namespace {

double sum_scores(const Likelihood& state, const double* e) {
    return std::accumulate(e, e + state.n_classes, 0.0);
}

void write_stats(const Likelihood& state, std::size_t row, double total) {
    const double* e = state.exp_scores + row * state.n_classes;
    Stat* stats = state.stats + row * state.n_lanes;
    const double weight = state.weights[row];
    const auto label = static_cast<std::size_t>(state.labels[row]);
    if (!state.cumulative) {
        for (std::size_t k = 0; k < state.n_classes; ++k) {
            write_pair(e[k] / total, k == label, weight, state.scale, stats + 2 * k);
        }
        return;
    }
    double tail = 0;
    for (std::size_t k = state.n_classes - 1; k > 0; --k) {
        tail += e[k];
        write_pair(tail / total, label >= k, weight, state.scale, stats + 2 * (k - 1));
    }
}

// Far from overflow nothing happens; close to it the row is scaled, which changes no probability.
double keep_finite(const Likelihood& state, double* e, double total) {
    if (total < 1e200 && total > 1e-200) return total;
    for (std::size_t k = 0; k < state.n_classes; ++k) e[k] /= total;
    return sum_scores(state, e);
}

// Asks for the scores, weight and label of a row that comes soon: covered rows lie far apart.
void fetch_ahead(const Likelihood& state, std::span<const Row> rows, std::size_t i) {
    constexpr std::size_t kAhead = 16;
    const std::size_t row = rows[std::min(i + kAhead, rows.size() - 1)];
    prefetch_to_write(state.exp_scores + row * state.n_classes);
    prefetch(state.weights + row);
    prefetch(state.labels + row);
}

// Visits the rows in fixed blocks. visit(row) returns by what ratio the row's total of exp scores
// grew; the result is the change of the loss when `step` was added.
template <class Visit>
double sum_changes(const Likelihood& state, std::span<const Row> rows, Step step, int n_threads,
                   const Visit& visit) {
    std::vector<double> partial(count_blocks(rows.size()));
    parallel_blocks(rows.size(), n_threads,
                    [&](std::size_t block, std::size_t from, std::size_t to) {
                        LogSum totals;
                        double hits = 0;
                        for (std::size_t i = from; i < to; ++i) {
                            fetch_ahead(state, rows, i);
                            const Row row = rows[i];
                            const double weight = state.weights[row];
                            totals.add(visit(row), weight);
                            const auto label = static_cast<std::size_t>(state.labels[row]);
                            const bool hit = step.first <= label && label <= step.last;
                            hits += hit ? weight : 0.0;
                        }
                        partial[block] = totals.total() - step.size * hits;
                    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}

// Sums over rows as `sum_by_block`, with the next rows asked for.
template <class Number, class Add>
std::vector<Number> sum_fetched(const Likelihood& state, std::span<const Row> rows,
                                std::size_t width, int n_threads, const Add& add) {
    return sum_by_block<Number>(rows, width, n_threads, add,
                                [&](std::size_t i) { fetch_ahead(state, rows, i); });
}

}  // namespace

void refresh_stats(const Likelihood& state, std::span<const Row> rows, int n_threads) {
    parallel_blocks(rows.size(), n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            write_stats(state, rows[i],
                        sum_scores(state, state.exp_scores + rows[i] * state.n_classes));
        }
    });
}

double loss_change(const Likelihood& state, std::span<const Row> rows, Step step, int n_threads) {
    const double growth = std::expm1(step.size);
    return sum_changes(state, rows, step, n_threads, [&](Row row) {
        const double* e = state.exp_scores + row * state.n_classes;
        const double voted = std::accumulate(e + step.first, e + step.last + 1, 0.0);
        return 1.0 + voted * growth / sum_scores(state, e);
    });
}

double add_step(const Likelihood& state, std::span<const Row> rows, Step step, int n_threads) {
    const double factor = std::exp(step.size);
    return sum_changes(state, rows, step, n_threads, [&](Row row) {
        double* e = state.exp_scores + row * state.n_classes;
        const double before = sum_scores(state, e);
        for (std::size_t k = step.first; k <= step.last; ++k) e[k] *= factor;
        const double after = sum_scores(state, e);
        write_stats(state, row, keep_finite(state, e, after));
        return after / before;
    });
}

std::vector<Stat> sum_pair(const Likelihood& state, std::span<const Row> rows, std::size_t pair,
                           double scale, int n_threads) {
    const std::size_t last = state.n_classes - 1;
    return sum_fetched<Stat>(state, rows, 2, n_threads, [&](Row row, Stat* sums) {
        const double* e = state.exp_scores + std::size_t{row} * state.n_classes;
        const auto label = static_cast<std::size_t>(state.labels[row]);
        double voted = e[pair];
        if (state.cumulative) {
            voted = 0;
            for (std::size_t k = last; k > pair; --k) voted += e[k];
        }
        const bool hit = state.cumulative ? label > pair : label == pair;
        Stat one[2];
        write_pair(voted / sum_scores(state, e), hit, state.weights[row], scale, one);
        sums[0] += one[0];
        sums[1] += one[1];
    });
}

std::vector<Stat> sum_stats(const Likelihood& state, std::span<const Row> rows, int n_threads) {
    const std::size_t lanes = state.n_lanes;
    return sum_fetched<Stat>(state, rows, lanes, n_threads, [&](Row row, Stat* sums) {
        const Stat* stats = state.stats + row * lanes;
        for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += stats[lane];
    });
}

std::vector<double> class_weights(const Likelihood& state, std::span<const Row> rows,
                                  const std::uint8_t* side, int n_threads) {
    return weigh_classes(state, rows, side, n_threads,
                         [&](std::size_t i) { fetch_ahead(state, rows, i); });
}

}  // namespace rulewright
