// Question: which conditions of a grown rule pay on rows that it was not grown on?
//
// The evidence for a rule is -g / sqrt(h + l2) over rows that it covers, and a condition is worth
// the evidence of the rule minus that of the rule without it; no rule has evidence 0. While some
// condition is worth nothing, or the conditions on its column have been worth no more than `least`
// in all rules so far, the one of them that is worth least goes (of equals the last).
//
// IN: tests in the order of growth; `pairs`: the lanes g and h, and side 0 for the rows to judge
// by. IN/OUT: `worth` per column. It gains what a condition was worth when it went, or at the end.
// OUT: places of the tests that stay; none if no rule is left, or only columns that are required
// and no evidence. Of more than 12 tests, those beyond stay.
// Cost: O(n x tests) once, then O(2^tests) for every condition that goes.
#pragma once

#include <vector>

#include "search/columns.hpp"
#include "search/rows.hpp"

namespace rulewright {

struct ColumnWorth {
    std::span<double> worth;                 // per column
    std::span<const std::uint8_t> required;  // per column: its conditions stay
    double least;
};

struct EvidenceUnit {
    double unit;  // of both lanes
    double sign;  // of g: -1 for votes down
    double l2;
};

// More tests than these are not told apart.
inline constexpr std::size_t kMostTests = 12;

// Sums of both lanes over the rows to judge by, for each set of tests that a row fails:
// [set][lane]. At most kMostTests tests. Cost: O(n x tests).
template <class Code>
std::vector<Stat> failure_sums(const Columns<Code>& columns, std::span<const CodeTest> tests,
                               const SplitPairs& pairs, int n_threads);

template <class Code>
std::vector<std::int32_t> prune_tests(const Columns<Code>& columns, std::span<const CodeTest> tests,
                                      const SplitPairs& pairs, const EvidenceUnit& unit,
                                      const ColumnWorth& by_column, int n_threads);

}  // namespace rulewright
