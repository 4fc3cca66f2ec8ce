#include "search/scan.hpp"

#include <type_traits>

#include "base/portable.hpp"
#include "search/scores/registry.hpp"
#include "search/walk.hpp"

namespace rulewright {
namespace {

// Judges the conditions on one column.
template <std::size_t kLanes, class Score>
class Scanner : public ColumnWalk<kLanes, Scanner<kLanes, Score>> {
  public:
    // Only what is below `floor` is looked for.
    Scanner(const Scan& scan, const Score& score, std::size_t column, OpenOperators operators,
            const Stat* parent, double floor)
        : ColumnWalk<kLanes, Scanner>(scan.columns, scan.sums(column), scan.histogram.lanes(),
                                      column, parent),
          column_(static_cast<std::int32_t>(column)),
          operators_(operators),
          min_weight_(scan.min_weight),
          sets_(scan.sets),
          score_(score),
          parent_(parent),
          all_(scan.all.empty() ? parent : scan.all.data()) {
        for (Found& best : best_of_op_) best.verdict.value = floor;
        best_set_.verdict.value = floor;
    }

    Candidate best() {
        this->walk();
        Candidate best;
        for (std::int32_t op = 0; op < kOps; ++op) {
            const auto& [verdict, code, beyond] = best_of_op_[op];
            best.improve({verdict, {column_, static_cast<Op>(op), code, beyond, 0}});
        }
        best.condition.criterion = score_.criterion(best.verdict.value);
        if constexpr (std::is_base_of_v<PairScore, Score>) {
            const bool asked = this->nominal() && sets_.most > 1 && score_.n_pairs == 1;
            if (asked) best.improve(best_set(best));
        }
        return best;
    }

    static bool cuts(std::int32_t, std::int32_t) { return true; }

    // Nearly all candidates end here, so this is kept small enough to be inlined.
    void judge(Op op, std::int32_t code, std::int32_t beyond, const Stat* cover) {
        const Found& best = best_of_op_[static_cast<std::size_t>(op)];
        if (!score_.hopeless({cover, parent_, all_}, best.verdict.value)) {
            judge_closely(op, code, beyond, cover);
        }
    }

    void judge_set(Op op, const LabelSet& set, Stat* cover, Stat excess) {
        cover[0] -= excess;
        const bool hopeless = score_.hopeless({cover, parent_, all_}, best_set_.verdict.value);
        const Verdict verdict = hopeless ? Verdict{} : verdict_on(op, cover);
        cover[0] += excess;
        if (verdict.vote < 0 || verdict.value >= best_set_.verdict.value) return;
        const Verdict whole = verdict_on(op, cover);
        if (whole.vote == verdict.vote) best_set_ = {verdict, whole.value, op, set};
    }

  private:
    struct Found {
        Verdict verdict;
        std::int32_t code, beyond;
    };
    struct FoundSet {
        Verdict verdict;
        double whole = 0;  // the value of the set as it is
        Op op = Op::kEqual;
        LabelSet set{};
    };

    RULEWRIGHT_NOINLINE void judge_closely(Op op, std::int32_t code, std::int32_t beyond,
                                           const Stat* cover) {
        const Verdict verdict = verdict_on(op, cover);
        Found& best = best_of_op_[static_cast<std::size_t>(op)];
        if (verdict.vote >= 0 && verdict.value < best.verdict.value) best = {verdict, code, beyond};
    }

    Verdict verdict_on(Op op, const Stat* cover) const {
        const Directions allowed = operators_.allow(op);
        if (allowed == kNeither) return {};
        if (min_weight_ > 0 && cover[this->lanes() - 1] < min_weight_) return {};
        return score_.judge({cover, parent_, all_}, allowed);
    }

    // The best set of labels, if one is better than the best condition on a single code.
    Candidate best_set(const Candidate& single) {
        best_set_.verdict.value = std::min(best_set_.verdict.value, single.verdict.value);
        this->walk_sets(sets_);
        const auto& [verdict, whole, op, set] = best_set_;
        if (verdict.vote < 0) return {};
        return {verdict, {column_, op, -1, -1, score_.criterion(whole), this->labels(set)}};
    }

    std::int32_t column_;
    OpenOperators operators_;
    Stat min_weight_;
    LabelSets sets_;
    const Score& score_;
    const Stat *parent_, *all_;
    Found best_of_op_[kOps];
    FoundSet best_set_;
};

template <std::size_t kLanes, class Score>
Candidate scan_with(const Score& score, const Scan& scan, std::size_t first, std::size_t last) {
    const std::vector<Stat> parent = scan.total(first);
    Candidate best;
    for (std::size_t j = first; j < last; ++j) {
        const OpenOperators operators = scan.opening.operators(j);
        if (operators.none()) continue;
        best.improve(
            Scanner<kLanes, Score>(scan, score, j, operators, parent.data(), best.verdict.value)
                .best());
    }
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
