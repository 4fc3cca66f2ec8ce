// The conditions on one column of a histogram, each with the sums of the rows that satisfy it.
//
// A numeric column is walked once: the prefix sums are those of "<=", the known rows minus the
// prefix those of ">=". A nominal column offers "=" for every label that some covered rows do not
// have, and "!=" for every label of several. Missing rows lie in their own code and enter no sum
// but that of "is missing". Only codes present in the cover are cut points.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "search/histogram.hpp"
#include "search/limits.hpp"

namespace rulewright {

// One sum per lane. kLanes = 0: any number of lanes, known at run time.
template <std::size_t kLanes>
struct LaneSums : std::array<Stat, kLanes> {
    explicit LaneSums(std::size_t) : std::array<Stat, kLanes>{} {}
};
template <>
struct LaneSums<0> : std::vector<Stat> {
    using std::vector<Stat>::vector;
};

// `Judge` derives from the walk: judge(op, code, beyond, sums) sees every condition, and cuts(a, b)
// tells whether a cut between two neighbouring codes is one.
template <std::size_t kLanes, class Judge>
class ColumnWalk {
  protected:
    ColumnWalk(const ColumnKinds& columns, const Histogram& histogram, std::size_t column,
               const Stat* parent)
        : ColumnWalk(columns, {histogram.column(column)}, histogram.lanes(), column, parent) {}

    ColumnWalk(const ColumnKinds& columns, const ColumnSums& sums_of, std::size_t n_lanes,
               std::size_t column, const Stat* parent)
        : n_lanes_(n_lanes),
          n_bins_(columns.n_bins[column]),
          nominal_(columns.nominal[column] != 0),
          histogram_(sums_of.sums),
          seen_(sums_of.seen),
          known_(n_lanes_),
          rest_(n_lanes_) {
        const Stat* missing = sums(n_bins_);
        for (std::size_t lane = 0; lane < lanes(); ++lane) {
            known_[lane] = parent[lane] - missing[lane];
        }
    }

    void walk() {
        if (nominal_) {
            walk_labels();
        } else {
            walk_cuts();
        }
        walk_presence();
    }

    std::size_t lanes() const { return kLanes ? kLanes : n_lanes_; }
    const Stat* sums(std::int32_t code) const {
        return histogram_ + static_cast<std::size_t>(code) * lanes();
    }

  private:
    Judge& self() { return static_cast<Judge&>(*this); }
    bool present(std::int32_t code) const {
        const Stat* s = sums(code);
        if constexpr (kLanes == 2) return (s[0] | s[1]) != 0;
        return std::any_of(s, s + lanes(), [](Stat v) { return v != 0; });
    }
    void add(LaneSums<kLanes>& to, std::int32_t code) const {
        for (std::size_t lane = 0; lane < lanes(); ++lane) to[lane] += sums(code)[lane];
    }
    const Stat* known_without(const Stat* part) {
        for (std::size_t lane = 0; lane < lanes(); ++lane) rest_[lane] = known_[lane] - part[lane];
        return rest_.data();
    }

    // The next code that rows may have; n_bins_ after the last.
    std::int32_t after(std::int32_t code) const {
        if (seen_ == nullptr) return code + 1;
        const auto next = static_cast<std::size_t>(code + 1);
        std::size_t w = next / kWordBits;
        Bits left = seen_[w] >> (next % kWordBits) << (next % kWordBits);
        const auto n_words = static_cast<std::size_t>(n_bins_) / kWordBits + 1;
        while (left == 0 && ++w < n_words) left = seen_[w];
        if (left == 0) return n_bins_;
        return static_cast<std::int32_t>(w * kWordBits) + std::countr_zero(left);
    }

    void walk_cuts() {
        LaneSums<kLanes> prefix(lanes());
        std::int32_t last = -1;  // the last code present so far
        for (std::int32_t code = after(-1); code < n_bins_; code = after(code)) {
            if (!present(code)) continue;
            if (last >= 0 && self().cuts(last, code)) {
                self().judge(Op::kLessEqual, last, code, prefix.data());
                self().judge(Op::kGreaterEqual, code, last, known_without(prefix.data()));
            }
            add(prefix, code);
            last = code;
        }
    }

    // A label of all covered rows says nothing; a single label of the known ones separates them
    // from the missing, but no row differs from it.
    void walk_labels() {
        std::int32_t n_present = 0;
        for (std::int32_t code = after(-1); code < n_bins_; code = after(code)) {
            n_present += present(code) ? 1 : 0;
        }
        if (n_present + (present(n_bins_) ? 1 : 0) < 2) return;
        for (std::int32_t code = after(-1); code < n_bins_; code = after(code)) {
            if (!present(code)) continue;
            self().judge(Op::kEqual, code, -1, sums(code));
            if (n_present > 1) self().judge(Op::kNotEqual, code, -1, known_without(sums(code)));
        }
    }

    void walk_presence() {
        if (!present(n_bins_)) return;
        self().judge(Op::kMissing, n_bins_, -1, sums(n_bins_));
        self().judge(Op::kKnown, n_bins_, -1, known_.data());
    }

    std::size_t n_lanes_;
    std::int32_t n_bins_;
    bool nominal_;
    const Stat* histogram_;
    const Bits* seen_;
    LaneSums<kLanes> known_, rest_;
};

}  // namespace rulewright
