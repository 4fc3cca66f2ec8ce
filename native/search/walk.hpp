// The conditions on one column of a histogram, each with the sums of the rows that satisfy it.
//
// A numeric column is walked once: the prefix sums are those of "<=", the known rows minus the
// prefix those of ">=". A nominal column offers "=" for every label that some covered rows do not
// have, and "!=" for every label of several. Missing rows lie in their own code and enter no sum
// but that of "is missing". Only codes present in the cover are cut points.
//
// Sets of labels are looked for by one pair of lanes (g, h). The mean of a label is estimated by
// g / (h + smoothing), and labels whose h is below the smoothing are in no set. The others are
// ordered by their means, equal ones by their codes: without smoothing, the set of the largest
// g^2 / h begins or ends this order. Sets are the first n and the last n labels, up to half of
// them, because "not in" is asked about the others. The labels of a set were chosen for their g, so
// the set is judged without the excess of their g over h times the mean: noise would win otherwise.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>
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

// The first or the last n labels of the order.
struct LabelSet {
    bool first;
    std::size_t n;
};

// `Judge` derives from the walk: judge(op, code, beyond, sums) sees every condition on one code,
// judge_set(op, set, sums, excess) every one on a set, and cuts(a, b) tells whether a cut between
// two neighbouring codes is one.
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

    void walk_sets(const LabelSets& sets) {
        const std::size_t n_present = order_labels(sets.smoothing);
        const std::size_t most = std::min(static_cast<std::size_t>(sets.most), n_present - 1);
        const std::size_t longest = std::min(most, (order_.size() + 1) / 2);
        for (const bool first : {true, false}) {
            LaneSums<kLanes> sums(lanes());
            Stat excess = 0;
            for (std::size_t n = 1; n <= longest; ++n) {
                add(sums, label(first, n - 1));
                excess += excess_of(label(first, n - 1), sets.smoothing);
                if (n == 1) continue;  // one label is no set
                self().judge_set(Op::kEqual, {first, n}, sums.data(), excess);
                self().judge_set(Op::kNotEqual, {first, n}, known_without(sums.data()), -excess);
            }
        }
    }

    // The codes of a set, ascending.
    std::vector<std::int32_t> labels(const LabelSet& set) const {
        std::vector<std::int32_t> codes;
        for (std::size_t i = 0; i < set.n; ++i) codes.push_back(label(set.first, i));
        std::ranges::sort(codes);
        return codes;
    }

    bool nominal() const { return nominal_; }
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
    Stat* known_without(const Stat* part) {
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

    // Orders the labels that are heavy enough and returns how many are present.
    std::size_t order_labels(Stat smoothing) {
        std::size_t n_present = 0;
        for (std::int32_t code = after(-1); code < n_bins_; code = after(code)) {
            if (!present(code)) continue;
            ++n_present;
            const Stat g = sums(code)[0], h = sums(code)[1];
            if (h < smoothing) continue;
            const double smooth = static_cast<double>(h) + static_cast<double>(smoothing);
            order_.emplace_back(static_cast<double>(g) / smooth, code);
        }
        std::ranges::sort(order_);
        return n_present;
    }
    Stat excess_of(std::int32_t code, Stat smoothing) const {
        const auto g = static_cast<double>(sums(code)[0]), h = static_cast<double>(sums(code)[1]);
        const double share = h / (h + static_cast<double>(smoothing));
        return sums(code)[0] - static_cast<Stat>(std::nearbyint(g * share));
    }
    std::int32_t label(bool first, std::size_t i) const {
        return order_[first ? i : order_.size() - 1 - i].second;
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
    std::vector<std::pair<double, std::int32_t>> order_;
};

}  // namespace rulewright
