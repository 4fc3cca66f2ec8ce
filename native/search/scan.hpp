// Question: which condition on one column does the score like best, given the column's histogram?
//
// A numeric column is walked once: the prefix sums judge "<=", the known rows minus the prefix
// judge ">=". A nominal column offers "=" and "!=" for every label present. Missing rows lie in
// their own code and enter no sum but that of "is missing".
// Cost: O(codes x lanes). Only codes present in the cover are cut points.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "search/grow.hpp"

namespace rulewright {

struct Candidate {
    Verdict verdict;
    GrownCondition condition{};

    // Strictly better replaces: the first of equals stays.
    void improve(const Candidate& other) {
        if (other.verdict.vote >= 0 && other.verdict.value < verdict.value) *this = other;
    }
};

struct ColumnScan {
    std::int32_t column, n_bins;
    bool nominal;
    std::uint8_t up, down;  // operators open to votes up and down
    Stat min_weight;
    std::size_t lanes;

    Directions allows(Op op) const {
        const int bit = static_cast<int>(op);
        return static_cast<Directions>(((up >> bit) & 1) | (((down >> bit) & 1) << 1));
    }
};

// One sum per lane. kLanes = 0: any number of lanes, known at run time.
template <std::size_t kLanes>
struct LaneSums : std::array<Stat, kLanes> {
    explicit LaneSums(std::size_t) : std::array<Stat, kLanes>{} {}
};
template <>
struct LaneSums<0> : std::vector<Stat> {
    using std::vector<Stat>::vector;
};

template <std::size_t kLanes, class Score>
class Scanner {
  public:
    // `total` are the sums over the whole cover; only what is below `floor` is looked for.
    Scanner(const ColumnScan& scan, const Score& score, const Stat* total, const Stat* histogram,
            double floor)
        : scan_(scan), score_(score), histogram_(histogram), known_(scan.lanes), rest_(scan.lanes) {
        const Stat* missing = sums(scan.n_bins);
        for (std::size_t lane = 0; lane < lanes(); ++lane) {
            known_[lane] = total[lane] - missing[lane];
        }
        for (Candidate& best : best_of_op_) best.verdict.value = floor;
    }

    Candidate best() {
        if (scan_.nominal) {
            scan_labels();
        } else {
            scan_cuts();
        }
        scan_presence();
        Candidate best;
        for (const Candidate& candidate : best_of_op_) best.improve(candidate);
        return best;
    }

  private:
    std::size_t lanes() const { return kLanes ? kLanes : scan_.lanes; }
    const Stat* sums(std::int32_t code) const {
        return histogram_ + static_cast<std::size_t>(code) * lanes();
    }
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

    // Nearly all candidates end here, so this is kept small enough to be inlined.
    void judge(Op op, std::int32_t code, std::int32_t beyond, const Stat* cover) {
        const Candidate& best = best_of_op_[static_cast<std::size_t>(op)];
        if (!score_.hopeless(cover, best.verdict.value)) judge_closely(op, code, beyond, cover);
    }

    [[gnu::noinline]] void judge_closely(Op op, std::int32_t code, std::int32_t beyond,
                                         const Stat* cover) {
        const Directions allowed = scan_.allows(op);
        if (allowed == kNeither) return;
        if (scan_.min_weight > 0 && cover[lanes() - 1] < scan_.min_weight) return;
        const Verdict verdict = score_.judge(cover, allowed);
        Candidate& best = best_of_op_[static_cast<std::size_t>(op)];
        if (verdict.vote >= 0 && verdict.value < best.verdict.value) {
            best = {verdict, {scan_.column, op, code, beyond, 0}};
        }
    }

    void scan_cuts() {
        LaneSums<kLanes> prefix(lanes());
        std::int32_t last = -1;  // the last code present so far
        for (std::int32_t code = 0; code < scan_.n_bins; ++code) {
            if (!present(code)) continue;
            if (last >= 0) {
                judge(Op::kLessEqual, last, code, prefix.data());
                judge(Op::kGreaterEqual, code, last, known_without(prefix.data()));
            }
            add(prefix, code);
            last = code;
        }
    }

    // A label that all known rows share tells nothing.
    void scan_labels() {
        std::int32_t n_present = 0;
        for (std::int32_t code = 0; code < scan_.n_bins; ++code) n_present += present(code) ? 1 : 0;
        if (n_present < 2) return;
        for (std::int32_t code = 0; code < scan_.n_bins; ++code) {
            if (!present(code)) continue;
            judge(Op::kEqual, code, -1, sums(code));
            judge(Op::kNotEqual, code, -1, known_without(sums(code)));
        }
    }

    void scan_presence() {
        if (!present(scan_.n_bins)) return;
        judge(Op::kMissing, scan_.n_bins, -1, sums(scan_.n_bins));
        judge(Op::kKnown, scan_.n_bins, -1, known_.data());
    }

    const ColumnScan& scan_;
    const Score& score_;
    const Stat* histogram_;
    LaneSums<kLanes> known_, rest_;
    Candidate best_of_op_[kOps];
};

template <class Score>
Candidate scan_column(const ColumnScan& scan, const Score& score, const Stat* total,
                      const Stat* histogram, double floor) {
    if (scan.up == 0 && scan.down == 0) return {};
    if (scan.lanes == 2) return Scanner<2, Score>(scan, score, total, histogram, floor).best();
    return Scanner<0, Score>(scan, score, total, histogram, floor).best();
}

}  // namespace rulewright
