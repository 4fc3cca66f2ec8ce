#include "search/rise.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int32_t kNone = -1, kUnknown = -2;

}  // namespace

RiseSearch::RiseSearch(const RiseRows& rows)
    : rows_(rows),
      n_columns_(rows.columns.size()),
      lows_(rows.values, rows.values + rows.size() * n_columns_),
      highs_(lows_),
      points_(rows.size()),
      winners_(rows.size(), kNone),
      distances_(rows.size(), kInfinity),
      won_(rows.size(), 0),
      correct_(rows.size(), 0),
      alive_(rows.size(), 1),
      nearest_(rows.size(), kUnknown),
      low_(n_columns_),
      high_(n_columns_),
      done_(rows.size() == 0) {
    for (std::size_t i = 0; i < lows_.size(); ++i) {
        if (lows_[i] == lows_[i]) continue;
        lows_[i] = -kInfinity;  // a missing number makes no condition
        highs_[i] = kInfinity;
    }
    for (std::size_t rule = 0; rule < rows_.size(); ++rule) {
        points_[rule] = gaps(lows(rule), highs(rule));
    }
}

bool RiseSearch::advance(std::uint64_t n_steps, int n_threads) {
    const std::size_t n = rows_.size();
    if (next_row_ < n && n_steps > 0) {
        const std::size_t first = next_row_;
        next_row_ += static_cast<std::size_t>(std::min<std::uint64_t>(n_steps, n - first));
        std::vector<Win> found(next_row_ - first);
        parallel_for(found.size(), n_threads,
                     [&](std::size_t i) { found[i] = first_winner(first + i); });
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i].row < n) win(first + i, found[i].row, found[i].distance);
        }
        n_steps -= found.size();
        if (next_row_ == n) {
            points_ = {};
            first_ = before_ = accuracy_;
            done_ = rows_.max_passes == 0;
        }
    }
    for (; n_steps > 0 && !done_; --n_steps) {
        generalise(next_rule_);
        if (++next_rule_ == n) end_pass();
    }
    return !done_;
}

void RiseSearch::end_pass() {
    ++n_passes_;
    done_ = accuracy_ <= before_ || n_passes_ == rows_.max_passes;
    before_ = accuracy_;
    next_rule_ = 0;
}

std::vector<Gap> RiseSearch::gaps(const double* low, const double* high) const {
    std::vector<Gap> found;
    for (std::size_t j = 0; j < n_columns_; ++j) {
        const bool has = rows_.columns.is_nominal(j) ? low[j] >= 0 : high[j] < kInfinity;
        if (has) found.emplace_back(rows_.columns, j, low[j], high[j]);
    }
    return found;
}

bool RiseSearch::covers_another(std::size_t row) const {
    for (std::size_t other = 0; other < rows_.size(); ++other) {
        if (other == row) continue;
        const auto covers = [&](const Gap& gap) { return gap.covers(rows_.row(other)); };
        if (std::all_of(points_[row].begin(), points_[row].end(), covers)) return true;
    }
    return false;
}

// The rule (as a row) that classifies a row left out; none is the number of rows.
RiseSearch::Win RiseSearch::first_winner(std::size_t row) const {
    const bool barred = rows_.alone[row] != 0 && !covers_another(row);
    std::size_t best = rows_.size();
    double least = kInfinity;
    for (std::size_t rule = 0; rule < rows_.size(); ++rule) {
        if (barred && rule == row) continue;
        const double found = distance(points_[rule], rows_.row(row), least);
        const auto rank = [&](std::size_t r) {
            return rows_.ranks[static_cast<std::size_t>(rows_.labels[r])];
        };
        if (best == rows_.size() || found < least || (found == least && rank(rule) < rank(best))) {
            best = rule;
            least = found;
        }
    }
    return {static_cast<Row>(best), least};
}

void RiseSearch::generalise(std::size_t rule) {
    if (alive_[rule] == 0 || nearest_[rule] == kNone) return;
    if (nearest_[rule] == kUnknown) nearest_[rule] = nearest_uncovered(rule);
    if (nearest_[rule] == kNone) return;
    stretch(rule, rows_.row(static_cast<std::size_t>(nearest_[rule])));
    if (claim(rule) < 0) return;
    std::copy(low_.begin(), low_.end(),
              lows_.begin() + static_cast<std::ptrdiff_t>(rule * n_columns_));
    std::copy(high_.begin(), high_.end(),
              highs_.begin() + static_cast<std::ptrdiff_t>(rule * n_columns_));
    nearest_[rule] = kUnknown;
    for (const Win& taken : taken_) win(taken.row, rule, taken.distance);
    merge(rule);
}

std::int32_t RiseSearch::nearest_uncovered(std::size_t rule) const {
    const std::vector<Gap> own = gaps(lows(rule), highs(rule));
    double least = kInfinity;
    std::int32_t nearest = kNone;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        if (rows_.labels[row] != rows_.labels[rule]) continue;
        const double* x = rows_.row(row);
        const double found = distance(own, x, least);
        if (found >= least) continue;
        if (std::all_of(own.begin(), own.end(), [&](const Gap& gap) { return gap.covers(x); }))
            continue;
        least = found;
        nearest = static_cast<std::int32_t>(row);
    }
    return nearest;
}

// Makes the most specific generalisation of a rule that covers a row.
void RiseSearch::stretch(std::size_t rule, const double* row) {
    for (std::size_t j = 0; j < n_columns_; ++j) {
        low_[j] = lows(rule)[j];
        high_[j] = highs(rule)[j];
        if (rows_.columns.is_nominal(j)) {
            if (row[j] != low_[j]) low_[j] = high_[j] = -1;
        } else if (row[j] != row[j]) {
            low_[j] = -kInfinity;
            high_[j] = kInfinity;
        } else {
            low_[j] = std::min(low_[j], row[j]);
            high_[j] = std::max(high_[j], row[j]);
        }
    }
}

// Finds the rows that the tried form of a rule wins; returns how the accuracy changes.
Stat RiseSearch::claim(std::size_t rule) {
    const std::vector<Gap> tried = gaps(low_.data(), high_.data());
    const std::int32_t own = static_cast<std::int32_t>(rule), label = rows_.labels[rule];
    taken_.clear();
    Stat change = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        const bool won = winners_[row] == own;
        const double limit = won ? kInfinity : distances_[row];
        const double found = distance(tried, rows_.row(row), limit);
        if (!won && (found > limit || (found == limit && !beats(rule, winners_[row])))) continue;
        taken_.push_back({static_cast<Row>(row), found});
        if (rows_.labels[row] == label) change += rows_.weights[row];
        if (is_right(row)) change -= rows_.weights[row];
    }
    return change;
}

double RiseSearch::laplace(std::size_t rule) const {
    return (static_cast<double>(correct_[rule]) + rows_.unit) /
           (static_cast<double>(won_[rule]) + static_cast<double>(rows_.ranks.size()) * rows_.unit);
}

bool RiseSearch::beats(std::size_t rule, std::int32_t winner) const {
    if (winner == kNone) return true;
    const auto other = static_cast<std::size_t>(winner);
    const double own = laplace(rule), theirs = laplace(other);
    if (own != theirs) return own > theirs;
    const std::int32_t rank = rows_.ranks[static_cast<std::size_t>(rows_.labels[rule])];
    const std::int32_t rival = rows_.ranks[static_cast<std::size_t>(rows_.labels[other])];
    return rank != rival ? rank < rival : rule < other;
}

bool RiseSearch::is_right(std::size_t row) const {
    return winners_[row] != kNone &&
           rows_.labels[static_cast<std::size_t>(winners_[row])] == rows_.labels[row];
}

void RiseSearch::win(std::size_t row, std::size_t rule, double distance) {
    const Stat weight = rows_.weights[row];
    if (winners_[row] != kNone) {
        const auto loser = static_cast<std::size_t>(winners_[row]);
        won_[loser] -= weight;
        if (is_right(row)) {
            correct_[loser] -= weight;
            accuracy_ -= weight;
        }
    }
    winners_[row] = static_cast<std::int32_t>(rule);
    distances_[row] = distance;
    won_[rule] += weight;
    if (is_right(row)) {
        correct_[rule] += weight;
        accuracy_ += weight;
    }
}

bool RiseSearch::same(std::size_t one, std::size_t other) const {
    return rows_.labels[one] == rows_.labels[other] &&
           std::equal(lows(one), lows(one) + n_columns_, lows(other)) &&
           std::equal(highs(one), highs(one) + n_columns_, highs(other));
}

// Deletes the younger of two equal rules; the older one gets what it won.
void RiseSearch::merge(std::size_t rule) {
    std::size_t other = 0;
    while (other < rows_.size() && (other == rule || alive_[other] == 0 || !same(rule, other))) {
        ++other;
    }
    if (other == rows_.size()) return;
    const std::size_t kept = std::min(rule, other), gone = std::max(rule, other);
    won_[kept] += std::exchange(won_[gone], 0);
    correct_[kept] += std::exchange(correct_[gone], 0);
    alive_[gone] = 0;
    std::replace(winners_.begin(), winners_.end(), static_cast<std::int32_t>(gone),
                 static_cast<std::int32_t>(kept));
}

std::vector<std::int32_t> RiseSearch::alive() const {
    std::vector<std::int32_t> found;
    for (std::size_t rule = 0; rule < alive_.size(); ++rule) {
        if (alive_[rule] != 0) found.push_back(static_cast<std::int32_t>(rule));
    }
    return found;
}

}  // namespace rulewright
