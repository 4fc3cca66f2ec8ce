#include "weighting/response_fit.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

// Newton steps up to 1.79 lower the objective for certain (SAFE_STEP in weighting/likelihood.py);
// the penalty and the bound only help.
constexpr double kLargestStep = 1.5;

struct Head {
    std::size_t first, last;
};

Head head_of(const ResponseFit& fit, std::int32_t rule) {
    const std::int32_t* head = fit.heads + 2 * static_cast<std::size_t>(rule);
    return {static_cast<std::size_t>(head[0]), static_cast<std::size_t>(head[1])};
}

const std::uint64_t* cover_of(const ResponseFit& fit, std::int32_t rule) {
    return fit.covers + static_cast<std::size_t>(rule) * fit.n_words;
}

// Calls visit(row) for the bits of each word, in ascending order.
template <class Word, class Visit>
void each_row(std::size_t n_words, const Word& word, const Visit& visit) {
    for (std::size_t i = 0; i < n_words; ++i) {
        for (std::uint64_t bits = word(i); bits != 0; bits &= bits - 1) {
            visit(64 * i + static_cast<std::size_t>(std::countr_zero(bits)));
        }
    }
}

template <class Visit>
void each_covered(const ResponseFit& fit, std::int32_t rule, const Visit& visit) {
    const std::uint64_t* cover = cover_of(fit, rule);
    each_row(fit.n_words, [cover](std::size_t i) { return cover[i]; }, visit);
}

struct Derivatives {
    double g, h;
};

// share(p) is the probability of the head's classes in a row.
template <class Share>
Derivatives sum_derivatives(const ResponseFit& fit, std::int32_t rule, const Share& share) {
    double expected = 0, h = 0;
    each_covered(fit, rule, [&](std::size_t row) {
        const double p = share(fit.probabilities + row * fit.n_classes);
        const double weighted = fit.weights[row] * p;
        expected += weighted;
        h += weighted * (1.0 - p);
    });
    return {expected - fit.hits[rule], h};
}

// The total is summed rather than derived from the share: nothing cancels, and it stays 1.
void add(const ResponseFit& fit, std::int32_t rule, double step) {
    const Head head = head_of(fit, rule);
    const double factor = std::exp(step);
    each_covered(fit, rule, [&](std::size_t row) {
        double* p = fit.probabilities + row * fit.n_classes;
        for (std::size_t k = head.first; k <= head.last; ++k) p[k] *= factor;
        const double scale = 1.0 / std::accumulate(p, p + fit.n_classes, 0.0);
        for (std::size_t k = 0; k < fit.n_classes; ++k) p[k] *= scale;
    });
}

// Most heads are one class: without an inner loop they cost half.
template <class Body>
auto with_share(Head head, const Body& body) {
    if (head.first == head.last) {
        return body([k = head.first](const double* p) { return p[k]; });
    }
    return body([head](const double* p) {
        return std::accumulate(p + head.first, p + head.last + 1, 0.0);
    });
}

Derivatives derivatives(const ResponseFit& fit, std::int32_t rule) {
    return with_share(head_of(fit, rule),
                      [&](const auto& share) { return sum_derivatives(fit, rule, share); });
}

// Where the quadratic model of a coordinate is lowest, seen from the response.
double newton_step(const Derivatives& sums, double response, double sign, double l1, double l2) {
    if (sign == 0) return -sums.g / std::max(sums.h, 1e-300);
    const double slope = sign * sums.g + l1 + l2 * sign * response;
    return sign * std::max(-slope / std::max(sums.h + l2, 1e-300), -sign * response);
}

}  // namespace

std::vector<double> weigh_hits(const ResponseFit& fit, std::size_t n_rules) {
    std::vector<double> hits(n_rules);
    for (std::size_t i = 0; i < n_rules; ++i) {
        const auto rule = static_cast<std::int32_t>(i);
        const Head head = head_of(fit, rule);
        each_covered(fit, rule, [&](std::size_t row) {
            const double* q = fit.shares + row * fit.n_classes;
            const double share = std::accumulate(q + head.first, q + head.last + 1, 0.0);
            hits[i] += fit.weights[row] * share;
        });
    }
    return hits;
}

double sweep(const ResponseFit& fit, std::span<const std::int32_t> rules, double* responses,
             double l1, double l2) {
    double change = 0;
    for (const std::int32_t rule : rules) {
        const double sign = fit.signs[rule];
        const Derivatives sums = derivatives(fit, rule);
        const double step = std::clamp(newton_step(sums, responses[rule], sign, l1, l2),
                                       -kLargestStep, kLargestStep);
        if (step == 0) continue;
        add(fit, rule, step);
        responses[rule] += step;
        change += (sums.h + (sign == 0 ? 0.0 : l2)) * step * step;
    }
    return change;
}

void move(const ResponseFit& fit, std::span<const std::int32_t> rules, const double* steps) {
    for (std::size_t i = 0; i < rules.size(); ++i) add(fit, rules[i], steps[i]);
}

std::vector<double> gradients(const ResponseFit& fit, std::span<const std::int32_t> rules,
                              int n_threads) {
    std::vector<double> sums(rules.size());
    parallel_for(rules.size(), n_threads,
                 [&](std::size_t i) { sums[i] = derivatives(fit, rules[i]).g; });
    return sums;
}

std::vector<double> hessian(const ResponseFit& fit, std::span<const std::int32_t> rules,
                            int n_threads) {
    // Probabilities summed up to each class, so that a union is a difference of two.
    const std::size_t width = fit.n_classes + 1;
    std::vector<double> sums(fit.n_rows * width);
    parallel_blocks(fit.n_rows, n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t row = from; row < to; ++row) {
            const double* p = fit.probabilities + row * fit.n_classes;
            std::partial_sum(p, p + fit.n_classes, sums.data() + row * width + 1);
        }
    });
    const std::size_t m = rules.size();
    std::vector<double> second(m * m);
    parallel_for(m, n_threads, [&](std::size_t i) {
        const Head a = head_of(fit, rules[i]);
        const std::uint64_t* cover = cover_of(fit, rules[i]);
        for (std::size_t j = i; j < m; ++j) {
            const Head b = head_of(fit, rules[j]);
            const std::uint64_t* other = cover_of(fit, rules[j]);
            const std::size_t low = std::max(a.first, b.first);
            const std::size_t high = std::max(low, std::min(a.last, b.last) + 1);
            double sum = 0;
            each_row(
                fit.n_words, [&](std::size_t w) { return cover[w] & other[w]; },
                [&](std::size_t row) {
                    const double* c = sums.data() + row * width;
                    const double both = c[high] - c[low];
                    const double apart =
                        (c[a.last + 1] - c[a.first]) * (c[b.last + 1] - c[b.first]);
                    sum += fit.weights[row] * (both - apart);
                });
            second[i * m + j] = second[j * m + i] = sum;
        }
    });
    return second;
}

}  // namespace rulewright
