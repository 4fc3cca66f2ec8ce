// Question: which conjunction does a beam search find best?
//
// As in CN2 (1989): all members of the beam are specialised by every condition; the best few of
// the results are the next beam, and the best of all, if it is significant, is the answer. A result
// that covers the rows of a member of any beam so far is no new one, nor are two that cover the
// same rows. A member stays only if a part of its cover could beat the best and the member itself.
// A path (grow.hpp) is another search: there the criterion must fall at every step.
//
// Cost: O(width x rows x columns x lanes) per length of the conjunction.
// IN columns, rows, statistics (n_rows x lanes) that are weights. OUT conditions with the criterion
// after each; none if nothing beats the empty conjunction by more than the tolerance.
#pragma once

#include "search/cover.hpp"
#include "search/grow.hpp"

namespace rulewright {

struct Beam {
    std::size_t width;
    double significance;  // least likelihood ratio statistic; 0: any
};

template <class Code>
GrownRule grow_beam(const Columns<Code>& columns, std::span<const Row> rows, const Stat* stats,
                    const Lanes& lanes, const ScoreChoice& choice, const Limits& limits,
                    const Beam& beam, int n_threads);

}  // namespace rulewright
