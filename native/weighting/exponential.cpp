#include "weighting/exponential.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

// A row in play is seen: its steps are at least one.
Stat steps_of(double weight, double scale) {
    return weight > 0 ? std::max<Stat>(1, std::llrint(weight * scale)) : 0;
}

bool is_own(const ExponentialLoss& loss, std::size_t row, std::size_t place) {
    return loss.own[row] == static_cast<std::int32_t>(place);
}

void write_row(const ExponentialLoss& loss, std::size_t row, double scale) {
    const double* weights = loss.weights + row * loss.n_heads;
    Stat* stats = loss.stats + row * loss.n_lanes;
    Stat all = 0;
    for (std::size_t k = 0; k < loss.n_heads; ++k) {
        const Stat steps = steps_of(weights[k], scale);
        const bool own = is_own(loss, row, k);
        stats[2 * k] = own ? steps : 0;
        stats[2 * k + 1] = own ? 0 : steps;
        all += steps;
    }
    if (loss.by_cost && loss.own[row] >= 0) stats[2 * loss.own[row]] = all;
}

// Four sums side by side: an addition need not wait for the one before it.
WeightRange measure(const double* weights, std::size_t n) {
    double total[4] = {}, largest[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (std::size_t j = 0; j < 4; ++j) {
            total[j] += weights[i + j];
            largest[j] = std::max(largest[j], weights[i + j]);
        }
    }
    for (; i < n; ++i) {
        total[0] += weights[i];
        largest[0] = std::max(largest[0], weights[i]);
    }
    return {(total[0] + total[1]) + (total[2] + total[3]), *std::max_element(largest, largest + 4)};
}

WeightRange measure_block(const ExponentialLoss& loss, std::size_t from, std::size_t to) {
    const double* weights = loss.weights + from * loss.n_heads;
    WeightRange range = measure(weights, (to - from) * loss.n_heads);
    if (!loss.by_cost) return range;
    for (std::size_t row = from; row < to; ++row, weights += loss.n_heads) {
        const double all = std::accumulate(weights, weights + loss.n_heads, 0.0);
        range.largest = std::max(range.largest, all);
    }
    return range;
}

}  // namespace

WeightRange measure_weights(const ExponentialLoss& loss, int n_threads) {
    std::vector<WeightRange> blocks(count_blocks(loss.n_rows));
    parallel_blocks(loss.n_rows, n_threads,
                    [&](std::size_t block, std::size_t from, std::size_t to) {
                        blocks[block] = measure_block(loss, from, to);
                    });
    WeightRange all;
    for (const WeightRange& block : blocks) {
        all.total += block.total;
        all.largest = std::max(all.largest, block.largest);
    }
    return all;
}

void add_confidence(const ExponentialLoss& loss, std::span<const Row> rows, std::size_t place,
                    double confidence, int n_threads) {
    const double helped = std::exp(-confidence), hurt = std::exp(confidence);
    const auto move = [](double& weight, double factor) {
        if (weight > 0) weight = std::max(weight * factor, kLeastWeight);
    };
    parallel_blocks(rows.size(), n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (const Row row : rows.subspan(from, to - from)) {
            double* weights = loss.weights + row * loss.n_heads;
            loss.scores[row * loss.n_heads + place] += confidence;
            const bool own = is_own(loss, row, place);
            if (own && loss.by_cost) {
                for (std::size_t k = 0; k < loss.n_heads; ++k) move(weights[k], helped);
            } else {
                move(weights[place], own ? helped : hurt);
            }
        }
    });
}

void scale_weights(const ExponentialLoss& loss, double factor, int n_threads) {
    parallel_blocks(loss.n_rows, n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t i = from * loss.n_heads; i < to * loss.n_heads; ++i) {
            double& weight = loss.weights[i];
            if (weight > 0) weight = std::max(weight * factor, kLeastWeight);
        }
    });
}

void write_lanes(const ExponentialLoss& loss, std::span<const Row> rows, double scale,
                 int n_threads) {
    parallel_blocks(rows.size(), n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (const Row row : rows.subspan(from, to - from)) write_row(loss, row, scale);
    });
}

std::vector<Stat> sum_weights(const ExponentialLoss& loss, std::span<const Row> rows,
                              std::size_t place, double scale, int n_threads) {
    std::vector<Stat> partial(2 * count_blocks(rows.size()));
    parallel_blocks(rows.size(), n_threads,
                    [&](std::size_t block, std::size_t from, std::size_t to) {
                        Stat sums[2] = {};  // against, for
                        for (const Row row : rows.subspan(from, to - from)) {
                            const double* weights = loss.weights + row * loss.n_heads;
                            const bool own = is_own(loss, row, place);
                            if (own && loss.by_cost) {
                                for (std::size_t k = 0; k < loss.n_heads; ++k) {
                                    sums[1] += steps_of(weights[k], scale);
                                }
                            } else {
                                sums[own ? 1 : 0] += steps_of(weights[place], scale);
                            }
                        }
                        partial[2 * block] = sums[1];
                        partial[2 * block + 1] = sums[0];
                    });
    std::vector<Stat> total(2);
    for (std::size_t i = 0; i < partial.size(); ++i) total[i % 2] += partial[i];
    return total;
}

std::vector<Stat> row_steps(const ExponentialLoss& loss, int n_threads) {
    std::vector<Stat> steps(loss.n_rows);
    parallel_blocks(loss.n_rows, n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t row = from; row < to; ++row) {
            const Stat* stats = loss.stats + row * loss.n_lanes;
            steps[row] = loss.by_cost && loss.own[row] >= 0
                             ? stats[2 * loss.own[row]]
                             : std::accumulate(stats, stats + 2 * loss.n_heads, Stat{0});
        }
    });
    return steps;
}

}  // namespace rulewright
