// Binned columns as the kernels see them: codes [group][row][kGroup], bin counts, kinds, and the
// parts in which they are counted (joint.hpp).
// Column j has the codes 0 .. n_bins[j]-1 and, for a missing value, n_bins[j].
#pragma once

#include <array>
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

// A condition on codes: low <= code <= high and code != skip (skip = -1: none).
struct CodeTest {
    std::int32_t column, low, high, skip;

    template <class Code>
    bool holds(Code code) const {
        const auto c = static_cast<std::int32_t>(code);
        return (c >= low) & (c <= high) & (c != skip);
    }
};

// A test as the inner loops ask it. Of short codes a table knows the answers.
template <class Code>
class CodeFilter {
  public:
    explicit CodeFilter(const CodeTest& test) : test_(test) {}
    std::size_t operator()(Code code) const { return test_.holds(code) ? 1 : 0; }

  private:
    CodeTest test_;
};

template <>
class CodeFilter<std::uint8_t> {
  public:
    explicit CodeFilter(const CodeTest& test) {
        for (std::size_t code = 0; code < passes_.size(); ++code) {
            passes_[code] = test.holds(static_cast<std::uint8_t>(code)) ? 1 : 0;
        }
    }
    std::size_t operator()(std::uint8_t code) const { return passes_[code]; }

  private:
    std::array<std::uint8_t, 256> passes_;
};

}  // namespace rulewright
