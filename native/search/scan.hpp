// Step 3 of a search: which condition does the score rate best, given the histograms?
//
// Scores of one pair of lanes are asked about sets of labels as well (walk.hpp).
// Ties: lower column, then <= >= = != missing known, then smaller code, then lower class; sets of
// labels come last, those that begin the order of labels first, then the smaller, then "in".
// Cost: O(codes x lanes), and sorting of the labels that may be in sets.
#pragma once

#include "search/histogram.hpp"
#include "search/limits.hpp"
#include "search/loose.hpp"

namespace rulewright {

struct Candidate {
    Verdict verdict;
    GrownCondition condition{};

    // Strictly better replaces: the first of equals stays.
    void improve(const Candidate& other) {
        if (other.verdict.vote >= 0 && other.verdict.value < verdict.value) *this = other;
    }
};

struct Scan {
    const ColumnKinds& columns;
    const Histogram& histogram;  // of the cover to which a condition is to be added
    const Opening& opening;
    Stat min_weight;
    LabelSets sets;
    std::span<const Stat> all;     // the sums over all rows; empty if the cover is all rows
    double reached;                // the criterion of the rule so far, to which gains are added
    const Loose* loose = nullptr;  // has the sums of few rows, and the histogram nothing
    std::span<const Stat> parent = {};  // the sums over these rows

    ColumnSums sums(std::size_t column) const {
        return loose != nullptr ? loose->column(column) : ColumnSums{histogram.column(column)};
    }
    std::vector<Stat> total(std::size_t column) const {
        return loose != nullptr ? std::vector(parent.begin(), parent.end())
                                : histogram.total(column);
    }
};

// The best condition on the columns [first, last); its vote is -1 if there is none.
Candidate scan_columns(const ScoreChoice& choice, const Scan& scan, std::size_t first,
                       std::size_t last);

}  // namespace rulewright
