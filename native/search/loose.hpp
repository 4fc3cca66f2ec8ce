// The sums per code of one group of columns over few rows.
//
// A cover of fewer rows than its columns have codes leaves most codes without a row, and nothing is
// spent on those: rows are counted into a table of one group, which stays in the cache, the codes
// seen are marked, and only these are read and set back to zero.
// Cost: O(rows x columns x lanes + codes / 64).
#pragma once

#include <vector>

#include "search/cover.hpp"
#include "search/histogram.hpp"

namespace rulewright {

class Loose {
  public:
    // Forgets what was counted before.
    template <class Code>
    void count(const Columns<Code>& columns, std::size_t group, const Cover& cover);

    ColumnSums column(std::size_t j) const {
        return {sums_.data() + first_sum_[j % kGroup], seen_.data() + first_word_[j % kGroup]};
    }

  private:
    template <std::size_t kLanes>
    void forget();
    void reshape(const ColumnKinds& columns, std::size_t group, std::size_t lanes);
    template <std::size_t kLanes, class Code>
    void add(const Code* codes, const Cover& cover);

    std::size_t lanes_ = 0, width_ = 0;
    std::size_t first_sum_[kGroup + 1] = {}, first_word_[kGroup + 1] = {};
    std::vector<Stat> sums_;
    std::vector<Bits> seen_;
};

}  // namespace rulewright
