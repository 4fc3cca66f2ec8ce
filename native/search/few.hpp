// The best few conditions on the rows of a histogram, for searches that follow several at once.
//
// Conditions are judged as in scan.hpp, but a numeric column is cut only between neighbouring codes
// of different classes, and conditions that cover the same rows are one. The last lane of the
// histogram is a random mark per row: covers of equal sums, marks included, are the same.
// Order: lower value, then more weight, then lower column, code below the cut, and operator.
// Cost: O(codes x lanes), and O(few) for each condition that is among the best so far.
#pragma once

#include "search/histogram.hpp"
#include "search/limits.hpp"

namespace rulewright {

// A condition and the cover that it leaves of its parent, which has a place among the parents.
struct Specialisation {
    Verdict verdict;
    Stat weight = 0;
    std::size_t parent = 0;
    GrownCondition condition{};
    std::vector<Stat> sums;

    bool better_than(const Specialisation& other) const {
        if (verdict.value != other.verdict.value) return verdict.value < other.verdict.value;
        return weight > other.weight;
    }
    bool before(const Specialisation& other) const;
};

// A sorted list of limited length without two of the same cover.
class Few {
  public:
    explicit Few(std::size_t most) : most_(most) {}

    bool takes(const Specialisation& found) const {
        return list_.size() < most_ || found.before(list_.back());
    }
    void add(Specialisation found);
    std::vector<Specialisation>& list() { return list_; }

  private:
    std::size_t most_;
    std::vector<Specialisation> list_;
};

struct FewScan {
    const ColumnKinds& columns;
    const Histogram& histogram;  // of the cover to be specialised: lanes of the score, ..., marks
    const Opening& opening;
    Stat min_weight;                             // of the lane before the marks; 0: not asked
    std::span<const Stat> all;                   // the sums over all rows
    double significance;                         // least likelihood ratio statistic of the best
    std::span<const std::vector<Stat>> seen;     // covers that are known already
    std::size_t parent;
};

// Adds the conditions on the columns [first, last) to the few, and replaces the best if one is
// better, significant and uses the required columns.
void scan_few(const ScoreChoice& choice, const FewScan& scan, std::size_t first, std::size_t last,
              Few& few, Specialisation& best);

// 2 sum o ln(o / E) of the lanes of a cover, against their shares in all rows.
double likelihood_ratio(const ScoreChoice& choice, const Stat* cover, const Stat* all);

// The best that any part of a cover could be: all the weight of its vote, and none against it.
Specialisation best_part(const ScoreChoice& choice, const Specialisation& found,
                         std::span<const Stat> all);

}  // namespace rulewright
