#include "weighting/rule_matrix.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/count_bits.hpp"
#include "base/parallel.hpp"
#include "base/portable.hpp"

namespace rulewright {
namespace {

constexpr std::size_t kLanes = 16;

// A thread takes so many columns of a cross-product at a time.
constexpr std::size_t kTile = 64;

// It takes so many covers at a time to sum, and looks up what they add if there are enough of them.
constexpr std::size_t kPart = 512, kMany = 64;

// Words of a cache line.
constexpr std::size_t kLine = 8;

// The bits of the rows 4 k, ..., 4 k + 3 of a word.
constexpr std::array<std::array<std::int64_t, 4>, 16> kRowBits = [] {
    std::array<std::array<std::int64_t, 4>, 16> bits{};
    for (std::size_t row = 0; row < kWordBits; ++row) {
        bits[row / 4][row % 4] = static_cast<std::int64_t>(Bits{1} << row);
    }
    return bits;
}();

// Below this share of covered rows it is faster to visit them one by one.
bool is_sparse(const RuleMatrix& matrix, std::size_t column) {
    return std::size_t{matrix.counts[column]} * 12 < matrix.n_rows;
}

// Calls visit(row) for the covered rows of the words from `first` on, in ascending order.
template <class Visit>
void each_row(const RuleMatrix& matrix, std::size_t column, std::size_t first, const Visit& visit) {
    const Bits* cover = matrix.cover(column);
    for (std::size_t w = first; w < matrix.n_words(); ++w) {
        for (Bits bits = cover[w]; bits != 0; bits &= bits - 1) {
            visit(kWordBits * w + static_cast<std::size_t>(std::countr_zero(bits)));
        }
    }
}

// Adds the values of the covered rows of whole words to the lanes.
RULEWRIGHT_CLONES
void sum_words(const Bits* cover, std::size_t n_words, const double* values, double* lanes) {
    Four sums[4] = {};
    for (std::size_t w = 0; w < n_words; ++w, values += kWordBits) {
        const auto word = static_cast<std::int64_t>(cover[w]);
        if (word == 0) continue;
        for (std::size_t k = 0; k < 16; ++k) {
            Four number;
            load(values + 4 * k, number);
            keep_marked(word, kRowBits[k].data(), number);
            sums[k % 4] += number;
        }
    }
    for (std::size_t k = 0; k < 4; ++k) store(sums[k], lanes + 4 * k);
}

// Adds a step to the values of the covered rows of whole words, times a weight if there are any.
RULEWRIGHT_CLONES
void add_words(const Bits* cover, std::size_t n_words, double step, const double* weights,
               double* values) {
    const Four steps = {step, step, step, step};
    for (std::size_t w = 0; w < n_words; ++w, values += kWordBits) {
        const auto word = static_cast<std::int64_t>(cover[w]);
        if (word == 0) continue;
        for (std::size_t k = 0; k < 16; ++k) {
            Four number, weight = {1, 1, 1, 1};
            load(values + 4 * k, number);
            if (weights) load(weights + kWordBits * w + 4 * k, weight);
            Four moved = steps * weight;
            keep_marked(word, kRowBits[k].data(), moved);
            number += moved;
            store(number, values + 4 * k);
        }
    }
}

RULEWRIGHT_CLONES
void sum_numbers(const double* numbers, const double* values, std::size_t n, double* lanes) {
    for (std::size_t i = 0; i + kLanes <= n; i += kLanes) {
        for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += numbers[i + k] * values[i + k];
    }
    for (std::size_t i = n - n % kLanes; i < n; ++i) lanes[i % kLanes] += numbers[i] * values[i];
}

// The sums of all subsets of eight values, by the byte that tells them.
using SubsetSums = std::array<double, 256>;

RULEWRIGHT_CLONES
void add_up_subsets(const double* values, SubsetSums& sums) {
    sums[0] = 0;
    for (std::size_t k = 0; k < 8; ++k) {
        const std::size_t half = std::size_t{1} << k;
        for (std::size_t m = 0; m < half; ++m) sums[half + m] = sums[m] + values[k];
    }
}

double look_up(const std::array<SubsetSums, 8>& subsets, Bits word) {
    const auto one = [&](std::size_t k) { return subsets[k][word >> (8 * k) & 255]; };
    return ((one(0) + one(1)) + (one(2) + one(3))) + ((one(4) + one(5)) + (one(6) + one(7)));
}

// Sums of many covers: what each adds in eight rows is looked up.
std::vector<double> sum_covers(const RuleMatrix& matrix, ColumnIds columns, const double* values) {
    std::vector<double> sums(columns.size());
    std::array<SubsetSums, 8> subsets;
    std::vector<Bits> words(kLine * columns.size());  // a cache line of each cover, word by word
    for (std::size_t w = 0; w < matrix.n_words(); ++w) {
        if (w % kLine == 0) {
            const std::size_t n = std::min(kLine, matrix.n_words() - w);
            for (std::size_t i = 0; i < columns.size(); ++i) {
                const Bits* cover = matrix.cover(static_cast<std::size_t>(columns[i])) + w;
                for (std::size_t k = 0; k < n; ++k) words[k * columns.size() + i] = cover[k];
            }
        }
        double own[kWordBits] = {};
        std::copy_n(values + kWordBits * w, std::min(kWordBits, matrix.n_rows - kWordBits * w),
                    own);
        for (std::size_t k = 0; k < 8; ++k) add_up_subsets(own + 8 * k, subsets[k]);
        const Bits* line = words.data() + w % kLine * columns.size();
        for (std::size_t i = 0; i < columns.size(); ++i) sums[i] += look_up(subsets, line[i]);
    }
    return sums;
}

// Adds steps of covers to the values of 64 rows, in the order of the columns.
RULEWRIGHT_CLONES
void add_to_word(const RuleMatrix& matrix, ColumnIds columns, const double* steps, std::size_t w,
                 double* values) {
    for (std::size_t half = 0; half < 16; half += 8) {
        Four numbers[8];
        for (std::size_t k = 0; k < 8; ++k) load(values + 4 * (half + k), numbers[k]);
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto word = static_cast<std::int64_t>(
                matrix.cover(static_cast<std::size_t>(columns[i]))[w] >> (4 * half));
            for (std::size_t k = 0; k < 8; ++k) {
                Four step = {steps[i], steps[i], steps[i], steps[i]};
                keep_marked(word, kRowBits[k].data(), step);
                numbers[k] += step;
            }
        }
        for (std::size_t k = 0; k < 8; ++k) store(numbers[k], values + 4 * (half + k));
    }
}

}  // namespace

std::vector<std::uint32_t> count_covers(const Bits* covers, std::size_t n_covers,
                                        std::size_t n_words) {
    std::vector<std::uint32_t> counts(n_covers);
    for (std::size_t j = 0; j < n_covers; ++j) {
        const Bits* cover = covers + j * n_words;
        counts[j] = static_cast<std::uint32_t>(count_common(cover, cover, n_words));
    }
    return counts;
}

double column_sum(const RuleMatrix& matrix, std::size_t column, const double* values) {
    double lanes[kLanes] = {};
    if (!matrix.is_cover(column)) {
        sum_numbers(matrix.numbers(column), values, matrix.n_rows, lanes);
    } else {
        const std::size_t whole = is_sparse(matrix, column) ? 0 : matrix.n_rows / kWordBits;
        if (whole) sum_words(matrix.cover(column), whole, values, lanes);
        each_row(matrix, column, whole,
                 [&](std::size_t row) { lanes[row % kLanes] += values[row]; });
    }
    return std::accumulate(lanes, lanes + kLanes, 0.0);
}

void add_column(const RuleMatrix& matrix, std::size_t column, double step, const double* weights,
                double* values) {
    if (!matrix.is_cover(column)) {
        const double* numbers = matrix.numbers(column);
        for (std::size_t i = 0; i < matrix.n_rows; ++i) {
            values[i] += step * (weights ? weights[i] : 1.0) * numbers[i];
        }
        return;
    }
    const std::size_t whole = is_sparse(matrix, column) ? 0 : matrix.n_rows / kWordBits;
    if (whole) add_words(matrix.cover(column), whole, step, weights, values);
    each_row(matrix, column, whole,
             [&](std::size_t row) { values[row] += step * (weights ? weights[row] : 1.0); });
}

std::vector<double> column_sums(const RuleMatrix& matrix, ColumnIds columns, const double* values,
                                int n_threads) {
    std::vector<double> sums(columns.size());
    std::vector<std::size_t> places;  // of covers, in front, then of dense columns
    for (std::size_t i = 0; i < columns.size(); ++i) places.push_back(i);
    const auto is_cover = [&](std::size_t i) {
        return matrix.is_cover(static_cast<std::size_t>(columns[i]));
    };
    std::stable_partition(places.begin(), places.end(), is_cover);
    const std::size_t n_parts = (columns.size() + kPart - 1) / kPart;
    parallel_for(n_parts, n_threads, [&](std::size_t part) {
        std::size_t first = part * kPart;
        const std::size_t end = std::min(first + kPart, columns.size());
        std::vector<std::int32_t> covers;
        for (std::size_t k = first; k < end && is_cover(places[k]); ++k) {
            covers.push_back(columns[places[k]]);
        }
        if (covers.size() >= kMany) {
            const std::vector<double> found = sum_covers(matrix, covers, values);
            for (const double sum : found) sums[places[first++]] = sum;
        }
        for (; first < end; ++first) {
            const auto column = static_cast<std::size_t>(columns[places[first]]);
            sums[places[first]] = column_sum(matrix, column, values);
        }
    });
    return sums;
}

void add_columns(const RuleMatrix& matrix, ColumnIds columns, const double* coefs, double* scores) {
    std::vector<std::int32_t> covers;
    std::vector<double> steps;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto column = static_cast<std::size_t>(columns[i]);
        if (coefs[i] == 0) continue;
        if (matrix.is_cover(column) && !is_sparse(matrix, column)) {
            covers.push_back(columns[i]);
            steps.push_back(coefs[i]);
        } else {
            add_column(matrix, column, coefs[i], nullptr, scores);
        }
    }
    const std::size_t whole = matrix.n_rows / kWordBits;
    for (std::size_t w = 0; w < whole; ++w) {
        add_to_word(matrix, covers, steps.data(), w, scores + kWordBits * w);
    }
    for (std::size_t i = 0; i < covers.size(); ++i) {
        each_row(matrix, static_cast<std::size_t>(covers[i]), whole,
                 [&](std::size_t row) { scores[row] += steps[i]; });
    }
}

std::vector<double> cross_products(const RuleMatrix& matrix, ColumnIds columns, ColumnIds others,
                                   const double* weights, int n_threads) {
    const std::size_t n = others.size(), n_words = matrix.n_words();
    std::vector<double> products(columns.size() * n), weighted(matrix.n_rows);
    const bool numbers = std::any_of(others.begin(), others.end(), [&](std::int32_t column) {
        return !matrix.is_cover(static_cast<std::size_t>(column));
    });
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto a = static_cast<std::size_t>(columns[i]);
        const bool counted = !weights && matrix.is_cover(a);
        if (!counted || numbers) {
            std::fill(weighted.begin(), weighted.end(), 0.0);
            add_column(matrix, a, 1.0, weights, weighted.data());
        }
        if (!counted) {
            const auto sums = column_sums(matrix, others, weighted.data(), n_threads);
            std::copy(sums.begin(), sums.end(),
                      products.begin() + static_cast<std::ptrdiff_t>(i * n));
            continue;
        }
        parallel_for((n + kTile - 1) / kTile, n_threads, [&](std::size_t tile) {
            for (std::size_t k = tile * kTile; k < std::min(n, (tile + 1) * kTile); ++k) {
                const auto b = static_cast<std::size_t>(others[k]);
                products[i * n + k] = matrix.is_cover(b)
                                          ? static_cast<double>(count_common(
                                                matrix.cover(a), matrix.cover(b), n_words))
                                          : column_sum(matrix, b, weighted.data());
            }
        });
    }
    return products;
}

}  // namespace rulewright
