// Question: which code does each raw value have among sorted cuts?
//
// The code of x is the number of cuts below x. With `on_cut` it is doubled, plus one when x lies
// exactly on a cut: below, on and between cuts then differ, and all of <, <=, >, >= become
// intervals of codes. A missing value (NaN) gets `missing`.
//
// Columns of one matrix are coded together, so many rows at a time that its lines are loaded once.
// Cost: O(log cuts) per value, without branches, and less where cuts lie evenly. IN values, cuts
// (sorted, distinct). OUT codes.
#pragma once

#include <span>

#include "base/types.hpp"

namespace rulewright {

struct Values {  // a column of a row-major or column-major matrix
    const double* first;
    std::ptrdiff_t stride;  // in elements
};

struct CodedColumn {
    Values values;
    std::span<const double> cuts;
    ValueCode* codes;
};

void encode_columns(std::span<const CodedColumn> columns, std::size_t n_rows, bool on_cut,
                    ValueCode missing, int n_threads);

}  // namespace rulewright
