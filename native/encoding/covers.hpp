// Questions about packed covers, lines of words of bits: how many rows does each hold, and which
// rows do the same covers hold?
//
// Rows in the same covers form a group. Groups are numbered by their covers: in every 32 covers,
// the earlier of them first, the later cover counts for more, and a row outside comes first.
// IN weights (rows), shares (rows x classes). OUT the group of each row and, for each group, its
// covers as bits, its weight, and its sums of weight times share. Sums are added in the order of
// the rows.
// Cost: O(rows x classes + rows held by all covers), and sorting of the groups.
#pragma once

#include <span>
#include <vector>

#include "base/bits.hpp"
#include "base/types.hpp"

namespace rulewright {

struct CoverLines {
    const Bits* words;
    std::size_t n_covers, n_rows;

    std::size_t n_words() const { return count_words(n_rows); }
    const Bits* line(std::size_t cover) const { return words + cover * n_words(); }
};

struct CoverGroups {
    std::vector<std::int32_t> groups;  // of each row
    std::vector<Bits> covers;          // covers x words of groups
    std::vector<double> weights;       // of each group
    std::vector<double> sums;          // groups x classes
};

std::vector<std::int64_t> count_held(const CoverLines& covers);

CoverGroups group_rows(const CoverLines& covers, std::span<const double> weights,
                       std::span<const double> shares);

}  // namespace rulewright
