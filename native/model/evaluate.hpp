// Question: which rules fire on which rows, and what do they add up to?
//
// Rules are compiled to intervals of value codes: a condition is a union of intervals on one
// column, a rule the intersection of its conditions. Rows are taken in blocks of 64 per word:
// a condition becomes a few words of bits, a rule their AND, and only set bits cost an addition.
// Every score is the intercept plus the responses of the fired rules in rule order, so it has the
// same bits for any number of threads, in the twin and in the exports.
// Cost: O(rows x conditions) comparisons of 16-bit codes plus O(fired rules). Scores of many rows
// look up masks by code instead (code_masks.hpp), which is O(rows x columns) for 512 rules.
#pragma once

#include <span>

#include "base/types.hpp"

namespace rulewright {

struct CodeInterval {
    std::int32_t column, low, high;
};

struct CompiledRules {
    std::span<const CodeInterval> intervals;
    std::span<const std::int32_t> condition_starts;  // into intervals, one more than conditions
    std::span<const std::int32_t> rule_starts;       // into conditions, one more than rules
    std::size_t n_rules() const { return rule_starts.size() - 1; }
    std::span<const CodeInterval> condition(std::int32_t c) const {
        const auto at = static_cast<std::size_t>(c);
        const auto from = static_cast<std::size_t>(condition_starts[at]);
        return intervals.subspan(from, static_cast<std::size_t>(condition_starts[at + 1]) - from);
    }
};

struct Head {  // the classes a rule votes for, both included
    std::int32_t first, last;
};

struct ValueCodes {  // n_columns x n_rows
    const ValueCode* codes;
    std::size_t n_columns, n_rows;
};

// OUT scores, n_rows x n_classes, holding the intercepts on entry.
void add_responses(const ValueCodes& values, const CompiledRules& rules,
                   std::span<const Head> heads, std::span<const double> responses,
                   std::size_t n_classes, double* scores, int n_threads);

// OUT covers, n_rows x n_rules.
void rule_covers(const ValueCodes& values, const CompiledRules& rules, bool* covers, int n_threads);

// OUT bits, n_rules x ceil(n_rows / 64): row i is bit i % 64 of word i / 64, spare bits are 0.
void rule_bits(const ValueCodes& values, const CompiledRules& rules, std::uint64_t* bits,
               int n_threads);

}  // namespace rulewright
