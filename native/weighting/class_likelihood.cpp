#include "weighting/class_likelihood.hpp"

#include <numeric>

#include "weighting/row_statistics.hpp"

namespace rulewright {
namespace {

bool is_class(const ClassLikelihood& state, std::size_t row, std::size_t k) {
    return static_cast<std::size_t>(state.labels[row]) == k;
}

void write_row(const ClassLikelihood& state, std::size_t row, std::size_t k) {
    write_pair(state.probability(k, row), is_class(state, row, k), state.weights[row], state.scale,
               state.stats + row * state.n_lanes);
}

// Far from overflow nothing happens; close to it the row is scaled, which changes no probability.
void keep_finite(const ClassLikelihood& state, std::size_t row) {
    const double before = state.totals[row];
    if (before < 1e200) return;
    double total = 0;
    for (std::size_t k = 0; k < state.n_classes; ++k) {
        total += state.exp_scores[k * state.n_rows + row] /= before;
    }
    state.totals[row] = total;
}

// The change of the loss; visit(row) returns by what ratio the row's total grew.
template <class Visit>
double sum_changes(const ClassLikelihood& state, std::span<const Row> rows, std::size_t k,
                   double size, int n_threads, const Visit& visit) {
    std::vector<double> partial(count_blocks(rows.size()));
    parallel_blocks(rows.size(), n_threads,
                    [&](std::size_t block, std::size_t from, std::size_t to) {
                        LogSum totals;
                        double hits = 0;
                        for (const Row row : rows.subspan(from, to - from)) {
                            totals.add(visit(row), state.weights[row]);
                            hits += is_class(state, row, k) ? state.weights[row] : 0.0;
                        }
                        partial[block] = totals.total() - size * hits;
                    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}

}  // namespace

void write_class_stats(const ClassLikelihood& state, std::size_t k, int n_threads) {
    parallel_blocks(state.n_rows, n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t row = from; row < to; ++row) write_row(state, row, k);
    });
}

std::vector<Row> write_telling_rows(const ClassLikelihood& state, std::span<const Row> rows,
                                    std::size_t k, double least) {
    std::vector<Row> kept(rows.size() + 1);  // every row is written, some are written over
    std::size_t n = 0;
    const double* exp_scores = state.exp_scores + k * state.n_rows;
    for (const Row row : rows) {
        kept[n] = row;
        const bool likely = exp_scores[row] >= least * state.totals[row];
        n += static_cast<std::size_t>(likely) | static_cast<std::size_t>(is_class(state, row, k));
    }
    kept.resize(n);
    for (const Row row : kept) write_row(state, row, k);
    return kept;
}

std::vector<Stat> sum_class_stats(const ClassLikelihood& state, std::span<const Row> rows,
                                  std::size_t k, double scale, int n_threads) {
    return sum_by_block<Stat>(rows, 2, n_threads, [&](Row row, Stat* sums) {
        Stat pair[2];
        write_pair(state.probability(k, row), is_class(state, row, k), state.weights[row], scale,
                   pair);
        sums[0] += pair[0];
        sums[1] += pair[1];
    });
}

double class_loss_change(const ClassLikelihood& state, std::span<const Row> rows, std::size_t k,
                         double size, int n_threads) {
    const double growth = std::expm1(size);
    return sum_changes(state, rows, k, size, n_threads,
                       [&](Row row) { return 1.0 + state.probability(k, row) * growth; });
}

double add_class_step(const ClassLikelihood& state, std::span<const Row> rows, std::size_t k,
                      double size, int n_threads) {
    const double factor = std::exp(size);
    return sum_changes(state, rows, k, size, n_threads, [&](Row row) {
        double& e = state.exp_scores[k * state.n_rows + row];
        const double before = state.totals[row], grown = e * factor;
        const double after = before + (grown - e);
        e = grown;
        state.totals[row] = after;
        keep_finite(state, row);
        return after / before;
    });
}

std::vector<double> sum_residuals(const ClassLikelihood& state, std::span<const Row> rows,
                                  int n_threads) {
    return sum_by_block<double>(rows, state.n_classes, n_threads, [&](Row row, double* sums) {
        const auto label = static_cast<std::size_t>(state.labels[row]);
        sums[label] += state.weights[row] * (1.0 - state.probability(label, row));
    });
}

std::vector<double> class_weights(const ClassLikelihood& state, std::span<const Row> rows,
                                  const std::uint8_t* side, int n_threads) {
    return weigh_classes(state, rows, side, n_threads);
}

}  // namespace rulewright
