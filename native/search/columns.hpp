// Binned columns as the kernels see them: codes [group][row][kGroup], bin counts, kinds, and the
// parts in which they are counted (joint.hpp).
// Column j has the codes 0 .. n_bins[j]-1 and, for a missing value, n_bins[j].
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "base/types.hpp"

namespace rulewright {

struct ColumnKinds {
    std::span<const std::int32_t> n_bins;
    std::span<const std::uint8_t> nominal;

    std::size_t n_columns() const { return n_bins.size(); }
    std::size_t n_groups() const { return (n_columns() + kGroup - 1) / kGroup; }
    std::size_t width(std::size_t group) const {
        const std::size_t left = n_columns() - group * kGroup;
        return left < kGroup ? left : kGroup;
    }
};

// The place of a column in a joint code: its code is `joint code / stride % n_codes`.
struct Digit {
    std::size_t column, n_codes, stride;
};

// The columns of a joint code; strides ascend from 1.
struct Joint {
    std::vector<Digit> digits;
    std::size_t n_codes = 1;
};

// Consecutive groups of columns that are counted in one pass over rows.
struct Part {
    std::size_t first_group, last_group;
    std::vector<Joint> joints;        // at most kGroup; none: a column has too many codes
    std::vector<std::uint8_t> bytes;  // [row][kGroup]; empty: the codes of the group are the bytes

    std::size_t first_column() const { return first_group * kGroup; }
    std::size_t last_column(const ColumnKinds& columns) const {
        return (last_group - 1) * kGroup + columns.width(last_group - 1);
    }
};

template <class Code>
struct Columns : ColumnKinds {
    const Code* codes;
    std::size_t n_rows;
    std::span<const Part> parts;

    const Code* group(std::size_t g) const { return codes + g * n_rows * kGroup; }
    // Code of (row, column) is column(j)[row * kGroup].
    const Code* column(std::size_t j) const { return group(j / kGroup) + j % kGroup; }
};

// A condition on codes: low <= code <= high and code is none of those skipped (-1 skips nothing).
struct CodeTest {
    std::int32_t column, low, high;
    std::vector<std::int32_t> skips;

    bool within(std::int32_t code) const { return low <= code && code <= high; }
};

// A test as the inner loops ask it: a table of the codes from low to high knows the answers.
template <class Code>
class CodeFilter {
  public:
    explicit CodeFilter(const CodeTest& test) : low_(std::max(test.low, 0)) {
        const std::int32_t high =
            std::min<std::int32_t>(test.high, std::numeric_limits<Code>::max());
        if (low_ <= high) passes_.assign(static_cast<std::size_t>(high - low_) + 1, 1);
        for (const std::int32_t skip : test.skips) {
            if (low_ <= skip && skip <= high) passes_[static_cast<std::size_t>(skip - low_)] = 0;
        }
    }
    std::size_t operator()(Code code) const {
        const auto place = static_cast<std::size_t>(code - low_);  // huge for a code below low
        return place < passes_.size() ? passes_[place] : 0;
    }

  private:
    std::int32_t low_;
    std::vector<std::uint8_t> passes_;
};

template <>
class CodeFilter<std::uint8_t> {
  public:
    explicit CodeFilter(const CodeTest& test) {
        for (std::int32_t code = 0; code < 256; ++code) {
            passes_[static_cast<std::size_t>(code)] = test.within(code) ? 1 : 0;
        }
        for (const std::int32_t skip : test.skips) {
            if (0 <= skip && skip < 256) passes_[static_cast<std::size_t>(skip)] = 0;
        }
    }
    std::size_t operator()(std::uint8_t code) const { return passes_[code]; }

  private:
    std::array<std::uint8_t, 256> passes_;
};

}  // namespace rulewright
