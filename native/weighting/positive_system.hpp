// Question: which x solves M x = b, for a symmetric matrix that is positive, or nearly so?
//
// Cholesky's elimination, four lines at a time. An unknown whose column depends on those before it
// is left out: its x is 0.
//
// Cost: O(n^3 / 6). Sums are taken in four lanes, alike on any processor.
#pragma once

#include <cstddef>

namespace rulewright {

// IN: the lower half of M, n x n, and b. OUT: b has become x; M is overwritten.
void solve_positive(double* matrix, std::size_t n, double* b);

}  // namespace rulewright
