#include "search/scan.hpp"

#include <array>

#include "search/scores/registry.hpp"

namespace rulewright {
namespace {

// One sum per lane. kLanes = 0: any number of lanes, known at run time.
template <std::size_t kLanes>
struct LaneSums : std::array<Stat, kLanes> {
    explicit LaneSums(std::size_t) : std::array<Stat, kLanes>{} {}
};
template <>
struct LaneSums<0> : std::vector<Stat> {
    using std::vector<Stat>::vector;
};

// Judges the conditions on one column.
template <std::size_t kLanes, class Score>
class Scanner {
  public:
    // Only what is below `floor` is looked for.
    Scanner(const Scan& scan, const Score& score, std::size_t column, OpenOperators operators,
            const Stat* parent, double floor)
        : n_lanes_(scan.histogram.lanes()),
          column_(static_cast<std::int32_t>(column)),
          n_bins_(scan.columns.n_bins[column]),
          nominal_(scan.columns.nominal[column] != 0),
          operators_(operators),
          min_weight_(scan.min_weight),
          score_(score),
          parent_(parent),
          all_(scan.all.empty() ? parent : scan.all.data()),
          histogram_(scan.histogram.column(column)),
          known_(n_lanes_),
          rest_(n_lanes_) {
        const Stat* missing = sums(n_bins_);
        for (std::size_t lane = 0; lane < lanes(); ++lane) {
            known_[lane] = parent[lane] - missing[lane];
        }
        for (Candidate& best : best_of_op_) best.verdict.value = floor;
    }

    Candidate best() {
        if (nominal_) {
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
    std::size_t lanes() const { return kLanes ? kLanes : n_lanes_; }
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
        if (!score_.hopeless({cover, parent_, all_}, best.verdict.value)) {
            judge_closely(op, code, beyond, cover);
        }
    }

    [[gnu::noinline]] void judge_closely(Op op, std::int32_t code, std::int32_t beyond,
                                         const Stat* cover) {
        const Directions allowed = operators_.allow(op);
        if (allowed == kNeither) return;
        if (min_weight_ > 0 && cover[lanes() - 1] < min_weight_) return;
        const Verdict verdict = score_.judge({cover, parent_, all_}, allowed);
        Candidate& best = best_of_op_[static_cast<std::size_t>(op)];
        if (verdict.vote >= 0 && verdict.value < best.verdict.value) {
            best = {verdict, {column_, op, code, beyond, 0}};
        }
    }

    void scan_cuts() {
        LaneSums<kLanes> prefix(lanes());
        std::int32_t last = -1;  // the last code present so far
        for (std::int32_t code = 0; code < n_bins_; ++code) {
            if (!present(code)) continue;
            if (last >= 0) {
                judge(Op::kLessEqual, last, code, prefix.data());
                judge(Op::kGreaterEqual, code, last, known_without(prefix.data()));
            }
            add(prefix, code);
            last = code;
        }
    }

    // A label of all covered rows says nothing; a single label of the known ones separates them
    // from the missing, but no row differs from it.
    void scan_labels() {
        std::int32_t n_present = 0;
        for (std::int32_t code = 0; code < n_bins_; ++code) n_present += present(code) ? 1 : 0;
        if (n_present + (present(n_bins_) ? 1 : 0) < 2) return;
        for (std::int32_t code = 0; code < n_bins_; ++code) {
            if (!present(code)) continue;
            judge(Op::kEqual, code, -1, sums(code));
            if (n_present > 1) judge(Op::kNotEqual, code, -1, known_without(sums(code)));
        }
    }

    void scan_presence() {
        if (!present(n_bins_)) return;
        judge(Op::kMissing, n_bins_, -1, sums(n_bins_));
        judge(Op::kKnown, n_bins_, -1, known_.data());
    }

    std::size_t n_lanes_;
    std::int32_t column_, n_bins_;
    bool nominal_;
    OpenOperators operators_;
    Stat min_weight_;
    const Score& score_;
    const Stat *parent_, *all_, *histogram_;
    LaneSums<kLanes> known_, rest_;
    Candidate best_of_op_[kOps];
};

template <std::size_t kLanes, class Score>
Candidate scan_with(const Score& score, const Scan& scan, std::size_t first, std::size_t last) {
    const std::vector<Stat> parent = scan.histogram.total(first);
    Candidate best;
    for (std::size_t j = first; j < last; ++j) {
        const OpenOperators operators = scan.opening.operators(j);
        if (operators.none()) continue;
        best.improve(
            Scanner<kLanes, Score>(scan, score, j, operators, parent.data(), best.verdict.value)
                .best());
    }
    best.condition.criterion = score.criterion(best.verdict.value);
    if (Score::kGain) best.condition.criterion += scan.reached;
    return best;
}

}  // namespace

Candidate scan_columns(const ScoreChoice& choice, const Scan& scan, std::size_t first,
                       std::size_t last) {
    return with_score<Candidate>(choice, [&](const auto& score) {
        return scan.histogram.lanes() == 2 ? scan_with<2>(score, scan, first, last)
                                           : scan_with<0>(score, scan, first, last);
    });
}

}  // namespace rulewright
