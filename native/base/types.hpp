// The few widths that all kernels share; kernels/structs.py holds the same list for Python.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rulewright {

using Row = std::uint32_t;        // index of a training row
using ValueCode = std::uint16_t;  // code of a value at prediction

// Row statistics are fixed-point integers: their sums are exact, so neither the order of rows,
// nor the number of threads, nor a histogram found by subtraction can change a result.
using Stat = std::int64_t;

inline constexpr ValueCode kMissing = 65535;
inline constexpr ValueCode kUnseen = 65534;

// Binned columns are stored in groups: one short load brings the codes of a whole group.
inline constexpr std::size_t kGroup = 8;

}  // namespace rulewright
