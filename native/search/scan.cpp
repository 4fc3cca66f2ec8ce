#include "search/scan.hpp"

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
          score_(score),
          parent_(parent),
          all_(scan.all.empty() ? parent : scan.all.data()) {
        for (Candidate& best : best_of_op_) best.verdict.value = floor;
    }

    Candidate best() {
        this->walk();
        Candidate best;
        for (const Candidate& candidate : best_of_op_) best.improve(candidate);
        return best;
    }

    static bool cuts(std::int32_t, std::int32_t) { return true; }

    // Nearly all candidates end here, so this is kept small enough to be inlined.
    void judge(Op op, std::int32_t code, std::int32_t beyond, const Stat* cover) {
        const Candidate& best = best_of_op_[static_cast<std::size_t>(op)];
        if (!score_.hopeless({cover, parent_, all_}, best.verdict.value)) {
            judge_closely(op, code, beyond, cover);
        }
    }

  private:
    [[gnu::noinline]] void judge_closely(Op op, std::int32_t code, std::int32_t beyond,
                                         const Stat* cover) {
        const Directions allowed = operators_.allow(op);
        if (allowed == kNeither) return;
        if (min_weight_ > 0 && cover[this->lanes() - 1] < min_weight_) return;
        const Verdict verdict = score_.judge({cover, parent_, all_}, allowed);
        Candidate& best = best_of_op_[static_cast<std::size_t>(op)];
        if (verdict.vote >= 0 && verdict.value < best.verdict.value) {
            best = {verdict, {column_, op, code, beyond, 0}};
        }
    }

    std::int32_t column_;
    OpenOperators operators_;
    Stat min_weight_;
    const Score& score_;
    const Stat *parent_, *all_;
    Candidate best_of_op_[kOps];
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
