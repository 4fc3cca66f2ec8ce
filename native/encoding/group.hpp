// Question: what do the values of rows come to, group by group?
//
// Entry i belongs to groups[i] and has the value of row rows[i], or of row i if `rows` is empty.
// A missing value (NaN) counts for nothing. Sums are sums of whole numbers: neither the order of
// entries nor a database that adds them up can change a result.
//
// Cost: one pass over the entries; medians take one more over the values of each group.
// IN groups (below the number of groups), rows (below the number of values). OUT one line per
// group.
#pragma once

#include <span>

#include "base/types.hpp"

namespace rulewright {

struct GroupedRows {
    std::span<const Row> groups, rows;

    std::size_t row(std::size_t i) const { return rows.empty() ? i : rows[i]; }
};

// How many known values a group has, the least and the largest of them (NaN if there is none), and
// the sum of all as multiples of 1 / factor. Multiples beyond 2^53 and sums beyond 2^62 count as
// these.
struct GroupSummary {
    double count, least, largest, total;
};

void summarise_groups(const GroupedRows& entries, const double* values, double factor,
                      std::span<GroupSummary> groups);

// counts[g * cuts + c]: how many values of group g are at least the c-th cut.
void count_at_least(const GroupedRows& entries, const double* values, std::span<const double> cuts,
                    std::uint32_t* counts);

// The value at the latest of the times, which are those of the entries; of several the largest.
void last_values(const GroupedRows& entries, const double* values, const double* times,
                 std::span<double> last);

// Half the sum of the two middle values.
void middle_values(const GroupedRows& entries, const double* values, std::span<double> middle);

// What a column holds: the largest size of a value (-1 if none is known), the least value, and the
// fewest digits after the point, up to `most`, that write every value; most + 1 if some has more.
struct ValueFacts {
    double size, least;
    int digits;
};

ValueFacts value_facts(std::span<const Row> rows, std::span<const double> values, int most);

}  // namespace rulewright
