// Question: which code does each raw value have among sorted cuts?
//
// The code of x is the number of cuts below x. With `on_cut` it is doubled, plus one when x lies
// exactly on a cut: below, on and between cuts then differ, and all of <, <=, >, >= become
// intervals of codes. A missing value (NaN) gets `missing`.
//
// Cost: O(log cuts) per value, without branches. IN values, cuts (sorted, distinct). OUT codes.
#pragma once

#include <span>

#include "base/types.hpp"

namespace rulewright {

struct Values {  // a column of a row-major or column-major matrix
    const double* first;
    std::size_t n;
    std::ptrdiff_t stride;  // in elements
};

void encode_values(const Values& values, std::span<const double> cuts, bool on_cut,
                   ValueCode missing, ValueCode* codes, int n_threads);

}  // namespace rulewright
