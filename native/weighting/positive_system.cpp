#include "weighting/positive_system.hpp"

#include <algorithm>
#include <cmath>

#include "base/portable.hpp"

namespace rulewright {
namespace {

// What is left of a diagonal element of a column that depends on others, as a share of it.
constexpr double kDependent = 1e-9;

constexpr std::size_t kLines = 4;

double add_lanes(const Four& sums) { return (sums[0] + sums[1]) + (sums[2] + sums[3]); }

// Subtracts from found[l] the products of line l of some with one line, over the first n columns.
RULEWRIGHT_CLONES
void subtract_products(const double* const* some, const double* line, std::size_t n,
                       double* const* found) {
    Four sums[kLines] = {};
    std::size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        Four with;
        load(line + k, with);
        for (std::size_t l = 0; l < kLines; ++l) {
            Four own;
            load(some[l] + k, own);
            sums[l] += own * with;
        }
    }
    for (std::size_t l = 0; l < kLines; ++l) {
        double sum = add_lanes(sums[l]);
        for (std::size_t i = k; i < n; ++i) sum += some[l][i] * line[i];
        *found[l] -= sum;
    }
}

// Finishes line i, whose first `from` elements are done, and leaves the inverse of its root in it.
void finish_line(double* matrix, std::size_t n, std::size_t i, std::size_t from) {
    double* line = matrix + i * n;
    for (std::size_t j = from; j <= i; ++j) {
        const double* other = matrix + j * n;
        double sum = 0;
        for (std::size_t k = 0; k < j; ++k) sum += line[k] * other[k];
        if (j < i) {
            line[j] = (line[j] - sum) * other[j];
        } else {
            const double left = line[i] - sum;
            line[i] = left > kDependent * line[i] ? 1 / std::sqrt(left) : 0.0;
        }
    }
}

}  // namespace

void solve_positive(double* matrix, std::size_t n, double* b) {
    for (std::size_t first = 0; first < n; first += kLines) {
        double* lines[kLines];  // the last block may have fewer: the last line again
        for (std::size_t l = 0; l < kLines; ++l) {
            lines[l] = matrix + std::min(first + l, n - 1) * n;
        }
        const std::size_t n_lines = std::min(kLines, n - first);
        for (std::size_t j = 0; j < first; ++j) {
            const double* other = matrix + j * n;
            double unused = 0;
            double* found[kLines];
            for (std::size_t l = 0; l < kLines; ++l)
                found[l] = l < n_lines ? lines[l] + j : &unused;
            subtract_products(lines, other, j, found);
            for (std::size_t l = 0; l < n_lines; ++l) lines[l][j] *= other[j];
        }
        for (std::size_t l = 0; l < n_lines; ++l) finish_line(matrix, n, first + l, first);
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double* line = matrix + i * n;
        for (std::size_t k = 0; k < i; ++k) b[i] -= line[k] * b[k];
        b[i] *= line[i];
    }
    for (std::size_t i = n; i-- > 0;) {
        const double* line = matrix + i * n;
        b[i] *= line[i];
        for (std::size_t k = 0; k < i; ++k) b[k] -= line[k] * b[i];
    }
}

}  // namespace rulewright
