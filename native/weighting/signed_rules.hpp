// Question: what are the products of rules that take -1, 0 or 1, with each other and with numbers?
//
// A rule is two packed covers: the rows where it holds (1) and where it fails (-1); it is unknown
// (0) on the others. A product of two rules is the number of rows where both are known, minus twice
// the number of those where they differ, so it is an exact integer, found from words of 64 rows.
//
// Cost: O(rows / 64) per pair of rules; O(rows) per rule for sums of numbers.
#pragma once

#include <span>
#include <vector>

#include "base/bits.hpp"

namespace rulewright {

struct SignedRules {
    std::size_t n_words;
    const Bits* holds;  // rules x n_words, spare bits 0
    const Bits* fails;  // likewise, no bit of a row that holds
};

using Lines = std::span<const std::int32_t>;

// sum_i x_ij x_ik of the lines with the others: lines x others.
std::vector<std::int64_t> signed_products(const SignedRules& rules, Lines lines, Lines others,
                                          int n_threads);

// sum_i x_ij v_i of the lines. Row i is summed in lane i % 64 and the lanes are added in order, so
// a sum does not depend on threads or vector width.
std::vector<double> signed_sums(const SignedRules& rules, Lines lines,
                                std::span<const double> values, int n_threads);

}  // namespace rulewright
