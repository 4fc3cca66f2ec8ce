// Question: which condition on one column does the score like best, given the column's histogram?
//
// A numeric column is walked once: the prefix sums judge "<=", the known rows minus the prefix
// judge ">=". A nominal column offers "=" and "!=" for every label present. Missing rows lie in
// their own code and enter no sum but that of "is missing".
// Cost: O(codes x lanes). Only codes present in the cover are cut points.
#pragma once

#include <algorithm>
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
    std::uint8_t operators;
    Stat min_weight;
    std::size_t lanes;

    bool allows(Op op) const { return (operators >> static_cast<int>(op)) & 1; }
};

// kLanes = 0: any number of lanes, known at run time.
template <std::size_t kLanes, class Score>
class Scanner {
  public:
    Scanner(const ColumnScan& scan, const Score& score, const Stat* histogram)
        : scan_(scan), score_(score), histogram_(histogram), known_(scan.lanes), rest_(scan.lanes) {
        for (std::int32_t code = 0; code < scan.n_bins; ++code) add(known_, code);
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
        return std::any_of(s, s + lanes(), [](Stat v) { return v != 0; });
    }
    void add(std::vector<Stat>& to, std::int32_t code) const {
        for (std::size_t lane = 0; lane < lanes(); ++lane) to[lane] += sums(code)[lane];
    }
    const Stat* known_without(const Stat* part) {
        for (std::size_t lane = 0; lane < lanes(); ++lane) rest_[lane] = known_[lane] - part[lane];
        return rest_.data();
    }

    void judge(Op op, std::int32_t code, std::int32_t beyond, const Stat* cover) {
        if (!scan_.allows(op)) return;
        if (scan_.min_weight > 0 && cover[lanes() - 1] < scan_.min_weight) return;
        const Verdict verdict = score_.judge(cover);
        Candidate& best = best_of_op_[static_cast<std::size_t>(op)];
        if (verdict.vote >= 0 && verdict.value < best.verdict.value) {
            best = {verdict, {scan_.column, op, code, beyond, 0}};
        }
    }

    void scan_cuts() {
        std::vector<Stat> prefix(lanes());
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
    std::vector<Stat> known_, rest_;
    Candidate best_of_op_[kOps];
};

template <class Score>
Candidate scan_column(const ColumnScan& scan, const Score& score, const Stat* histogram) {
    if (scan.operators == 0) return {};
    if (scan.lanes == 2) return Scanner<2, Score>(scan, score, histogram).best();
    return Scanner<0, Score>(scan, score, histogram).best();
}

}  // namespace rulewright
