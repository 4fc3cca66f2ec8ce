// Question: what are the products of a matrix of rules with vectors, and with itself?
//
// A column is a packed cover (0 or 1 per row, 64 rows a word) or, behind the covers, a dense column
// of numbers (a linear term). Nothing is centred or scaled here: that is algebra on the results
// (weighting/l1/design.py). The matrix itself is never unpacked.
//
// Sums over rows are kept in 16 lanes, row i in lane i % 16, and the lanes are added in order: a
// column has the same sum for any number of threads and for any vector width. A cover of few rows
// is walked bit by bit, any other word by word under a mask; rows outside add zero, so both ways
// give the same number. Sums of many covers at once are added up in another order: the sums of all
// subsets of eight rows are found first, and looked up by the bytes of each cover.
//
// Cost: O(rows) per column and vector; O(rows / 64) per pair of covers of unweighted rows.
#pragma once

#include <span>
#include <vector>

#include "base/bits.hpp"
#include "base/types.hpp"

namespace rulewright {

struct RuleMatrix {
    std::size_t n_rows, n_covers, n_dense;
    const Bits* covers;           // n_covers x words, spare bits 0
    const double* dense;          // n_dense x n_rows
    const std::uint32_t* counts;  // n_covers: rows of each, see count_covers

    std::size_t n_words() const { return count_words(n_rows); }
    std::size_t n_columns() const { return n_covers + n_dense; }
    bool is_cover(std::size_t column) const { return column < n_covers; }
    const Bits* cover(std::size_t column) const { return covers + column * n_words(); }
    const double* numbers(std::size_t column) const { return dense + (column - n_covers) * n_rows; }
};

using ColumnIds = std::span<const std::int32_t>;

// Number of rows of each cover.
std::vector<std::uint32_t> count_covers(const Bits* covers, std::size_t n_covers,
                                        std::size_t n_words);

// sum_i x_ij v_i of one column.
double column_sum(const RuleMatrix& matrix, std::size_t column, const double* values);

// values_i += step x_ij, or step w_i x_ij with weights.
void add_column(const RuleMatrix& matrix, std::size_t column, double step, const double* weights,
                double* values);

// sum_i x_ij v_i of the columns.
std::vector<double> column_sums(const RuleMatrix& matrix, ColumnIds columns, const double* values,
                                int n_threads);

// scores_i += sum_j coefs_j x_ij, in the order of the columns.
void add_columns(const RuleMatrix& matrix, ColumnIds columns, const double* coefs, double* scores);

// sum_i w_i x_ij x_ik of the columns with the others: columns x others. Without weights every row
// weighs one, and covers are counted.
std::vector<double> cross_products(const RuleMatrix& matrix, ColumnIds columns, ColumnIds others,
                                   const double* weights, int n_threads);

}  // namespace rulewright
