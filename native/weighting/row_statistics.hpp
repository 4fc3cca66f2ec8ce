// What the likelihoods share: derivatives of a row in fixed point, and sums over rows in blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/types.hpp"

namespace rulewright {

inline Stat fixed_point(double value, double scale) { return std::llrint(value * scale); }

// Every row of positive weight is seen: its h is at least one step, so a code is present in a
// histogram exactly when its sums are not all zero.
inline void write_pair(double p, bool is_class, double weight, double scale, Stat* pair) {
    pair[0] = fixed_point(weight * (p - (is_class ? 1.0 : 0.0)), scale);
    pair[1] = std::max<Stat>(1, fixed_point(weight * p * (1.0 - p), scale));
}

// Sum of weighted logarithms. Rows of weight one share a logarithm: their ratios are multiplied,
// as many as cannot overflow.
class LogSum {
  public:
    void add(double ratio, double weight) {
        if (weight != 1.0) {
            sum_ += weight * std::log(ratio);
            return;
        }
        product_ *= ratio;
        if (++n_ == 64) flush();
    }
    double total() {
        flush();
        return sum_;
    }

  private:
    void flush() {
        sum_ += std::log(product_);
        product_ = 1;
        n_ = 0;
    }
    double sum_ = 0, product_ = 1;
    int n_ = 0;
};

struct FetchNothing {
    void operator()(std::size_t) const {}
};

// Vectors of `width` sums, taken per block and then in block order; add(row, sums) adds a row,
// and fetch(i) may ask for the data of rows after the i-th.
template <class Number, class Add, class Fetch = FetchNothing>
std::vector<Number> sum_by_block(std::span<const Row> rows, std::size_t width, int n_threads,
                                 const Add& add, const Fetch& fetch = {}) {
    std::vector<Number> partial(count_blocks(rows.size()) * width);
    parallel_blocks(rows.size(), n_threads,
                    [&](std::size_t block, std::size_t from, std::size_t to) {
                        Number* sums = partial.data() + block * width;
                        for (std::size_t i = from; i < to; ++i) {
                            fetch(i);
                            add(rows[i], sums);
                        }
                    });
    std::vector<Number> total(width);
    for (std::size_t i = 0; i < partial.size(); ++i) total[i % width] += partial[i];
    return total;
}

// Weight of each class among the rows on side 0, and then on side 1, of a split.
template <class State, class Fetch = FetchNothing>
std::vector<double> weigh_classes(const State& state, std::span<const Row> rows,
                                  const std::uint8_t* side, int n_threads,
                                  const Fetch& fetch = {}) {
    const auto add = [&](Row row, double* sums) {
        const auto label = static_cast<std::size_t>(state.labels[row]);
        sums[(side[row] == 0 ? 0 : state.n_classes) + label] += state.weights[row];
    };
    return sum_by_block<double>(rows, 2 * state.n_classes, n_threads, add, fetch);
}

}  // namespace rulewright
