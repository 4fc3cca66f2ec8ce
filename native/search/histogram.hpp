// What the statistics of a cover sum to, per code of each column: `lanes` sums per code, codes
// after codes, column after column.
//
// A value: histograms of disjoint covers add up to that of their union, and a part can be
// subtracted from the whole. Sums of integers are exact, so rows may be counted in any order and
// anywhere. Invariant: the sums over the codes of any column are equal.
#pragma once

#include <algorithm>
#include <vector>

#include "base/bits.hpp"
#include "search/columns.hpp"

namespace rulewright {

// Where the sums of a column are, and which of its codes rows may have (null: all of them).
struct ColumnSums {
    const Stat* sums;
    const Bits* seen = nullptr;
};

class Histogram {
  public:
    Histogram() = default;
    Histogram(const ColumnKinds& columns, std::size_t lanes) { reshape(columns, lanes); }

    // Fits the histogram to the columns; the sums must be set afterwards.
    void reshape(const ColumnKinds& columns, std::size_t lanes) {
        lanes_ = lanes;
        offsets_.resize(columns.n_columns() + 1);
        for (std::size_t j = 0; j < columns.n_columns(); ++j) {
            const auto n_codes = static_cast<std::size_t>(columns.n_bins[j]) + 1;
            offsets_[j + 1] = offsets_[j] + n_codes * lanes;
        }
        sums_.resize(offsets_.back());
    }

    bool fits(const ColumnKinds& columns) const {
        bool same = offsets_.size() == columns.n_columns() + 1;
        for (std::size_t j = 0; same && j < columns.n_columns(); ++j) {
            const auto n_codes = static_cast<std::size_t>(columns.n_bins[j]) + 1;
            same = offsets_[j + 1] - offsets_[j] == n_codes * lanes_;
        }
        return same;
    }

    std::size_t lanes() const { return lanes_; }
    std::vector<Stat>& sums() { return sums_; }
    std::size_t size() const { return sums_.size(); }
    Stat* column(std::size_t j) { return sums_.data() + offsets_[j]; }
    const Stat* column(std::size_t j) const { return sums_.data() + offsets_[j]; }

    void clear(std::size_t first, std::size_t last) { std::fill(column(first), column(last), 0); }

    void add(const Histogram& part, std::size_t first, std::size_t last) {
        for (std::size_t i = offsets_[first]; i < offsets_[last]; ++i) sums_[i] += part.sums_[i];
    }

    void subtract(const Histogram& part, std::size_t first, std::size_t last) {
        for (std::size_t i = offsets_[first]; i < offsets_[last]; ++i) sums_[i] -= part.sums_[i];
    }

    // The sums over the whole cover, read off one column.
    std::vector<Stat> total(std::size_t j) const {
        std::vector<Stat> total(lanes_);
        for (const Stat* sums = column(j); sums < column(j + 1); sums += lanes_) {
            for (std::size_t lane = 0; lane < lanes_; ++lane) total[lane] += sums[lane];
        }
        return total;
    }

  private:
    std::size_t lanes_ = 0;
    std::vector<std::size_t> offsets_;
    std::vector<Stat> sums_;
};

}  // namespace rulewright
