// How the columns of a table are counted: in parts, each in one pass over the rows of a cover.
//
// Columns whose numbers of codes multiply to at most 256 share a byte, their joint code. One
// addition per row and byte counts them all; the sums per code of each column are marginal sums of
// those per joint code. A part holds up to kGroup such bytes, so a pass counts up to 64 Boolean
// columns. Only columns of more than 256 codes have longer codes: no others pay for them.
// Cost: O(rows x columns) once per table, and a byte per row and joint column.
#pragma once

#include "search/columns.hpp"

namespace rulewright {

// The parts of a table, in the order of their columns. `largest` is the largest code of each.
template <class Code>
std::vector<Part> parts_of(const Columns<Code>& columns, std::span<const Code> largest);

}  // namespace rulewright
