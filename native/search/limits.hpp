// The conditions of a rule, the limits on them, and what is still open to a rule that grows.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "search/columns.hpp"
#include "search/scores/score.hpp"

namespace rulewright {

enum class Op : std::int32_t { kLessEqual, kGreaterEqual, kEqual, kNotEqual, kMissing, kKnown };
inline constexpr std::int32_t kOps = 6;

struct GrownCondition {
    std::int32_t column;
    Op op;
    std::int32_t code;
    std::int32_t beyond;                 // nearest covered code on the other side of a numeric cut
    double criterion;                    // of the rule up to this condition
    std::vector<std::int32_t> labels{};  // codes of a set, ascending, if the condition is on one
};

// How many labels a condition may name, and what is added to the h of a label when labels are
// ordered; those of a smaller h are in no set.
struct LabelSets {
    std::int32_t most;
    Stat smoothing;
};

struct Limits {
    std::int32_t max_conditions;  // negative: none
    double tolerance;             // least improvement of the criterion
    Stat min_weight;              // least sum of the last lane; 0: not asked
    // Per column: bit 1 << Op is set when a rule that votes up (down) may use the operator.
    std::span<const std::uint8_t> up_operators, down_operators;
    std::span<const std::uint8_t> required;  // per column: the rule must use it
    std::span<const std::uint64_t> groups;   // columns of one rule have a bit in common
    LabelSets sets;
};

// The operators of a column that votes up and votes down may use.
struct OpenOperators {
    std::uint8_t up, down;

    bool none() const { return up == 0 && down == 0; }
    Directions allow(Op op) const {
        const int bit = static_cast<int>(op);
        return static_cast<Directions>(((up >> bit) & 1) | (((down >> bit) & 1) << 1));
    }
};

// What the conditions so far leave open: directions of the vote, groups, required columns.
class Opening {
  public:
    Opening(const Limits& limits, Directions directions)
        : limits_(limits),
          directions_(directions),
          required_(limits.required.begin(), limits.required.end()),
          n_required_(std::ranges::count_if(required_, [](auto flag) { return flag != 0; })) {}

    bool misses_required() const { return n_required_ > 0; }

    void narrow(const GrownCondition& condition) {
        const auto column = static_cast<std::size_t>(condition.column);
        n_required_ -= required_[column] != 0 ? 1 : 0;
        required_[column] = 0;
        groups_ &= limits_.groups[column];
        const OpenOperators all{limits_.up_operators[column], limits_.down_operators[column]};
        directions_ = directions_ & all.allow(condition.op);
    }

    // While a required column is unused only required ones are open.
    OpenOperators operators(std::size_t column) const {
        const bool open =
            (limits_.groups[column] & groups_) != 0 && (n_required_ == 0 || required_[column] != 0);
        const auto of = [&](Directions side, std::span<const std::uint8_t> allowed) {
            return open && (directions_ & side) ? allowed[column] : std::uint8_t{0};
        };
        return {of(kUp, limits_.up_operators), of(kDown, limits_.down_operators)};
    }

  private:
    const Limits& limits_;
    Directions directions_;
    std::uint64_t groups_ = ~std::uint64_t{0};
    std::vector<std::uint8_t> required_;  // and not used yet
    std::ptrdiff_t n_required_;
};

}  // namespace rulewright
