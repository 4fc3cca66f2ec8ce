#include "weighting/exponential.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

// A row in play is seen: its steps are at least one.
Stat steps_of(double weight, double scale) {
    return weight > 0 ? std::max<Stat>(1, std::llrint(weight * scale)) : 0;
}

void write_lanes(const ExponentialLoss& loss, std::size_t row) {
    const double* weights = loss.weights + row * loss.n_heads;
    Stat* stats = loss.stats + row * loss.n_lanes;
    Stat all = 0;
    for (std::size_t k = 0; k < loss.n_heads; ++k) {
        const Stat steps = steps_of(weights[k], loss.scale);
        const bool own = loss.own[row] == static_cast<std::int32_t>(k);
        stats[2 * k] = own ? steps : 0;
        stats[2 * k + 1] = own ? 0 : steps;
        all += steps;
    }
    if (loss.by_cost && loss.own[row] >= 0) stats[2 * loss.own[row]] = all;
}

double sum_weights(const ExponentialLoss& loss, int n_threads) {
    std::vector<double> partial(count_blocks(loss.n_rows));
    parallel_blocks(loss.n_rows, n_threads,
                    [&](std::size_t block, std::size_t from, std::size_t to) {
                        partial[block] = std::accumulate(loss.weights + from * loss.n_heads,
                                                         loss.weights + to * loss.n_heads, 0.0);
                    });
    return std::accumulate(partial.begin(), partial.end(), 0.0);
}

}  // namespace

double add_confidence(const ExponentialLoss& loss, std::span<const Row> rows, std::size_t place,
                      double confidence, int n_threads) {
    const double helped = std::exp(-confidence), hurt = std::exp(confidence);
    const std::size_t n_heads = loss.n_heads;
    parallel_blocks(rows.size(), n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (const Row row : rows.subspan(from, to - from)) {
            double* weights = loss.weights + row * n_heads;
            const bool own = loss.own[row] == static_cast<std::int32_t>(place);
            if (own && loss.by_cost) {
                for (std::size_t k = 0; k < n_heads; ++k) weights[k] *= helped;
            } else {
                weights[place] *= own ? helped : hurt;
            }
        }
    });
    const double z = sum_weights(loss, n_threads);
    parallel_blocks(loss.n_rows, n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t i = from * n_heads; i < to * n_heads; ++i) {
            double& weight = loss.weights[i];
            if (weight > 0) weight = std::max(weight / z, kLeastWeight);
        }
        for (std::size_t row = from; row < to; ++row) write_lanes(loss, row);
    });
    return z;
}

void refresh_lanes(const ExponentialLoss& loss, int n_threads) {
    parallel_blocks(loss.n_rows, n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t row = from; row < to; ++row) write_lanes(loss, row);
    });
}

}  // namespace rulewright
