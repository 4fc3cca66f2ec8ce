// Question: which rule is nearest to a row?
//
// The distance of a rule is the sum of the squared gaps of its conditions, added up in their order:
// of a number how far it is outside the interval, in widths of its column (1 if it is missing), of
// a label what the table of its column says. Of equally near rules the first is nearest. A sum that
// has reached the best one so far is not finished: gaps are not negative, so nothing changes.
// Cost: O(rows x conditions).
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include "base/types.hpp"

namespace rulewright {

struct DistanceColumns {
    std::span<const double> widths;  // 0: all known numbers are alike
    std::span<const std::int32_t>
        group_starts;                      // one more than columns; a numeric one has no group
    std::span<const std::int32_t> groups;  // of the codes of each nominal column
    std::span<const std::int32_t> table_starts;  // one more than columns
    std::span<const double> tables;              // squared distances of groups, square by square

    std::size_t size() const { return widths.size(); }
    bool is_nominal(std::size_t j) const { return group_starts[j] < group_starts[j + 1]; }
};

// A condition on one column, with what its gaps need.
class Gap {
  public:
    Gap(const DistanceColumns& columns, std::size_t column, double low, double high)
        : column_(column), low_(low), high_(high), width_(columns.widths[column]) {
        if (!columns.is_nominal(column)) return;
        groups_ = columns.groups.data() + columns.group_starts[column];
        const auto first = static_cast<std::size_t>(columns.table_starts[column]);
        const auto size = static_cast<std::size_t>(columns.table_starts[column + 1]) - first;
        const auto n = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(size))));
        line_ = columns.tables.data() + first + n * static_cast<std::size_t>(group_of(low));
    }

    double squared(const double* row) const {
        const double x = row[column_];
        if (groups_ != nullptr) return line_[group_of(x)];
        if (x != x) return 1;
        const double outside = x < low_ ? low_ - x : x > high_ ? x - high_ : 0;
        const double gap = width_ > 0 ? outside / width_ : 0;
        return gap * gap;
    }
    bool covers(const double* row) const { return row[column_] >= low_ && row[column_] <= high_; }

  private:
    std::int32_t group_of(double code) const { return groups_[static_cast<std::size_t>(code)]; }

    std::size_t column_;
    double low_, high_, width_;
    const std::int32_t* groups_ = nullptr;
    const double* line_ = nullptr;
};

// The sum of gaps, or any number above `limit` if it is above it.
inline double distance(std::span<const Gap> gaps, const double* row, double limit) {
    double total = 0;
    for (const Gap& gap : gaps) {
        total += gap.squared(row);
        if (total > limit) break;
    }
    return total;
}

struct Boxes {
    std::span<const std::int32_t> starts;   // into the conditions, one more than rules
    std::span<const std::int32_t> columns;  // of each condition
    std::span<const double> lows, highs;    // both included; of a nominal column the code

    std::size_t n_rules() const { return starts.size() - 1; }
};

// IN values, n_rows x columns: numbers, NaN if missing, and codes.
// OUT the nearest rule of each row (0 if there is none) and its distance (infinite).
void nearest_rules(const double* values, std::size_t n_rows, const DistanceColumns& columns,
                   const Boxes& boxes, std::int32_t* places, double* distances, int n_threads);

}  // namespace rulewright
