#include "search/rise.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int32_t kNone = -1, kUnknown = -2;
constexpr std::size_t kRows = 32;                        // that are compared with a rule at a time
constexpr std::size_t kMostKept = std::size_t{1} << 23;  // rows of all attempts that are kept

}  // namespace

RiseSearch::RiseSearch(const RiseRows& rows)
    : rows_(rows),
      n_columns_(rows.columns.size()),
      lows_(rows.values, rows.values + rows.size() * n_columns_),
      highs_(lows_),
      gaps_(rows.size()),
      makers_(rows.size()),
      covered_(rows.size(), 0),
      correct_(rows.size(), 0),
      laplace_(rows.size(), 0),
      alive_(rows.size(), 1),
      nearest_(rows.size(), kUnknown),
      winners_(rows.size(), kNone),
      distances_(rows.size(), kInfinity),
      attempts_(rows.size()),
      tried_{std::vector<double>(n_columns_), std::vector<double>(n_columns_), {}, {}, 0, 0, 0},
      done_(rows.size() == 0) {
    for (std::size_t i = 0; i < lows_.size(); ++i) {
        if (lows_[i] == lows_[i]) continue;
        lows_[i] = -kInfinity;  // a missing number makes no condition
        highs_[i] = kInfinity;
    }
    for (std::size_t rule = 0; rule < rows_.size(); ++rule) {
        gaps_[rule] = gaps(lows(rule), highs(rule));
        if (rows_.alone[rule] != 0) makers_[rule] = {{static_cast<Row>(rule), {}, {}, kInfinity}};
    }
}

bool RiseSearch::advance(std::uint64_t n_steps, int n_threads) {
    const std::size_t n = rows_.size();
    while (n_steps > 0 && n_started_ < 2 * n) n_steps -= start(n_steps, n_threads);
    for (; n_steps > 0 && !done_; --n_steps) {
        generalise(next_rule_);
        if (++next_rule_ == n) end_pass();
    }
    return !done_;
}

// Finds what some rules cover or, once that is known of all, the winners of some rows.
std::size_t RiseSearch::start(std::uint64_t n_steps, int n_threads) {
    const std::size_t n = rows_.size(), first = n_started_ % n;
    const bool covers = n_started_ < n;
    std::vector<Win> found(static_cast<std::size_t>(std::min<std::uint64_t>(n_steps, n - first)));
    for (std::size_t i = 0; i < found.size(); ++i) {
        found[i] = {static_cast<Row>(first + i), kNone, kInfinity};
    }
    const std::size_t n_blocks = (found.size() + kRows - 1) / kRows;
    parallel_for(n_blocks, n_threads, [&](std::size_t block) {
        const std::size_t begin = block * kRows, size = std::min(kRows, found.size() - begin);
        if (covers) {
            for (std::size_t i = begin; i < begin + size; ++i) measure(first + i);
        } else {
            choose(std::span(found).subspan(begin, size));
        }
    });
    for (std::size_t i = 0; i < found.size() && !covers; ++i) {
        accuracy_ += change(found[i]);
        winners_[first + i] = found[i].rule;
        distances_[first + i] = found[i].distance;
    }
    n_started_ += found.size();
    if (n_started_ == 2 * n) {
        first_ = before_ = accuracy_;
        done_ = rows_.max_passes == 0;
    }
    return found.size();
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

double RiseRows::laplace(Stat correct, Stat covered) const {
    return (static_cast<double>(correct) + unit) /
           (static_cast<double>(covered) + static_cast<double>(ranks.size()) * unit);
}

// Counts what a rule covers.
void RiseSearch::measure(std::size_t rule) {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        if (distance(gaps_[rule], rows_.row(row), 0) != 0) continue;
        covered_[rule] += rows_.weights[row];
        if (rows_.labels[row] == rows_.labels[rule]) correct_[rule] += rows_.weights[row];
    }
    laplace_[rule] = rows_.laplace(correct_[rule], covered_[rule]);
}

// Finds the rules that classify rows left out, among those that are as near as the given ones. A
// rule meets all of the rows before the next one is looked at, which is kinder to the caches than
// the other way round.
void RiseSearch::choose(std::span<Win> wins) const {
    for (std::size_t rule = 0; rule < rows_.size(); ++rule) {
        if (alive_[rule] == 0) continue;
        for (Win& win : wins) {
            double found = distance(gaps_[rule], rows_.row(win.row), win.distance);
            if (found > win.distance) continue;
            if (const Maker* made = maker(rule, win.row)) found = made->distance;
            if (found < win.distance || (found == win.distance && beats(rule, win.rule))) {
                win = {win.row, static_cast<std::int32_t>(rule), found};
            }
        }
    }
}

const RiseSearch::Maker* RiseSearch::maker(std::size_t rule, Row row) const {
    for (const Maker& maker : makers_[rule]) {
        if (maker.row == row) return &maker;
    }
    return nullptr;
}

// Tells whether a rule wins a tie; without a winner there is none.
bool RiseSearch::beats(std::size_t rule, std::int32_t other) const {
    if (other == kNone) return false;
    const auto winner = static_cast<std::size_t>(other);
    if (laplace_[rule] != laplace_[winner]) return laplace_[rule] > laplace_[winner];
    return std::pair(rows_.rank(rule), rule) < std::pair(rows_.rank(winner), winner);
}

void RiseSearch::generalise(std::size_t rule) {
    if (alive_[rule] == 0 || nearest_[rule] == kNone) return;
    if (nearest_[rule] == kUnknown) nearest_[rule] = nearest_uncovered(rule);
    if (nearest_[rule] == kNone) return;
    Attempt& attempt = attempts_[rule];
    const bool again = attempt.known;
    if (!again) {
        make(rule);
        survey(rule);
    }
    look(rule, rows_.laplace(attempt.correct, attempt.covered));
    Stat gain = 0, hope = 0;
    for (const Win& win : taken_) gain += change(win);
    for (const Win& win : lost_) hope += is_right(win.row, win.rule) ? 0 : rows_.weights[win.row];
    if (gain + hope < 0) return keep(attempt);
    if (again) make(rule);
    swap_tried(rule);
    gain += claim();
    if (gain < 0) {
        swap_tried(rule);
        return keep(attempt);
    }
    accuracy_ += gain;
    nearest_[rule] = kUnknown;
    forget(attempt);
    for (const std::vector<Win>* wins : {&taken_, &lost_}) {
        for (const Win& win : *wins) {
            winners_[win.row] = win.rule;
            distances_[win.row] = win.distance;
        }
    }
    merge(rule);
}

std::int32_t RiseSearch::nearest_uncovered(std::size_t rule) const {
    const std::vector<Gap>& own = gaps_[rule];
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

// Stretches bounds just as far as it takes to cover a row.
void RiseSearch::stretch(double* low, double* high, const double* row) const {
    for (std::size_t j = 0; j < n_columns_; ++j) {
        if (rows_.columns.is_nominal(j)) {
            if (row[j] != low[j]) low[j] = high[j] = -1;
        } else if (row[j] != row[j]) {
            low[j] = -kInfinity;
            high[j] = kInfinity;
        } else {
            low[j] = std::min(low[j], row[j]);
            high[j] = std::max(high[j], row[j]);
        }
    }
}

// Stretches what a rule is without each of its makers to a row, which becomes one.
void RiseSearch::stretch_makers(std::size_t rule, std::size_t row) {
    tried_.makers = makers_[rule];
    for (Maker& maker : tried_.makers) {
        if (maker.low.empty()) {
            maker.low.assign(rows_.row(row), rows_.row(row) + n_columns_);
            maker.high = maker.low;
        }
        stretch(maker.low.data(), maker.high.data(), rows_.row(row));
        const std::vector<Gap> others = gaps(maker.low.data(), maker.high.data());
        maker.distance = distance(others, rows_.row(maker.row), kInfinity);
    }
    if (rows_.alone[row] == 0) return;
    tried_.makers.push_back({static_cast<Row>(row),
                             {lows(rule), lows(rule) + n_columns_},
                             {highs(rule), highs(rule) + n_columns_},
                             distance(gaps_[rule], rows_.row(row), kInfinity)});
}

// Makes the most specific generalisation of a rule that covers the nearest row.
void RiseSearch::make(std::size_t rule) {
    const auto row = static_cast<std::size_t>(nearest_[rule]);
    std::copy(lows(rule), lows(rule) + n_columns_, tried_.low.begin());
    std::copy(highs(rule), highs(rule) + n_columns_, tried_.high.begin());
    stretch(tried_.low.data(), tried_.high.data(), rows_.row(row));
    stretch_makers(rule, row);
    tried_.gaps = gaps(tried_.low.data(), tried_.high.data());
    tried_.covered = attempts_[rule].covered;
    tried_.correct = attempts_[rule].correct;
    tried_.laplace = rows_.laplace(tried_.correct, tried_.covered);
}

// Finds what the tried rule covers and comes near to.
void RiseSearch::survey(std::size_t rule) {
    tried_.covered = tried_.correct = 0;
    Attempt& attempt = attempts_[rule];
    for (std::size_t row = 0; row < rows_.size(); ++row) {
        double found = distance(tried_.gaps, rows_.row(row), distances_[row]);
        if (found > distances_[row]) continue;
        if (found == 0) {
            tried_.covered += rows_.weights[row];
            if (rows_.labels[row] == rows_.labels[rule]) tried_.correct += rows_.weights[row];
        }
        for (const Maker& maker : tried_.makers) {
            if (maker.row == row) found = maker.distance;
        }
        if (found <= distances_[row]) attempt.near.push_back({static_cast<Row>(row), found});
    }
    tried_.laplace = rows_.laplace(tried_.correct, tried_.covered);
    attempt.covered = tried_.covered;
    attempt.correct = tried_.correct;
}

// Keeps what is known of a rule that was refused, while there is room.
void RiseSearch::keep(Attempt& attempt) {
    if (attempt.known) return;
    attempt.known = n_kept_ + attempt.near.size() <= kMostKept;
    if (!attempt.known) return forget(attempt);
    attempt.near.shrink_to_fit();
    n_kept_ += attempt.near.size();
}

void RiseSearch::forget(Attempt& attempt) {
    if (attempt.known) n_kept_ -= attempt.near.size();
    attempt = {};
}

// Puts the tried rule in its place, or back.
void RiseSearch::swap_tried(std::size_t rule) {
    const auto first = static_cast<std::ptrdiff_t>(rule * n_columns_);
    std::swap_ranges(tried_.low.begin(), tried_.low.end(), lows_.begin() + first);
    std::swap_ranges(tried_.high.begin(), tried_.high.end(), highs_.begin() + first);
    std::swap(tried_.gaps, gaps_[rule]);
    std::swap(tried_.makers, makers_[rule]);
    std::swap(tried_.covered, covered_[rule]);
    std::swap(tried_.correct, correct_[rule]);
    std::swap(tried_.laplace, laplace_[rule]);
}

// Finds the rows whose winner or distance would change with a generalised rule of this accuracy:
// those that it takes, and those that it may lose.
void RiseSearch::look(std::size_t rule, double laplace) {
    const auto own = static_cast<std::int32_t>(rule);
    const double before = std::exchange(laplace_[rule], laplace);
    taken_.clear();
    lost_.clear();
    for (const Near& near : attempts_[rule].near) {
        const Win win{near.row, own, near.distance};
        const bool nearer = near.distance < distances_[near.row];
        const std::int32_t winner = winners_[near.row];
        if (winner == own) {
            if (nearer) taken_.push_back(win);
            if (!nearer && laplace < before) lost_.push_back(win);
        } else if (nearer || (near.distance == distances_[near.row] && beats(rule, winner))) {
            taken_.push_back(win);
        }
    }
    laplace_[rule] = before;
}

// Finds the new winners of the rows that may be lost; returns how the accuracy changes with them.
Stat RiseSearch::claim() {
    choose(lost_);
    Stat gain = 0;
    for (const Win& win : lost_) gain += change(win);
    return gain;
}

bool RiseSearch::is_right(std::size_t row, std::int32_t rule) const {
    return rule != kNone && rows_.labels[static_cast<std::size_t>(rule)] == rows_.labels[row];
}

// How the accuracy changes if a row gets another winner.
Stat RiseSearch::change(const Win& win) const {
    return rows_.weights[win.row] *
           (is_right(win.row, win.rule) - is_right(win.row, winners_[win.row]));
}

bool RiseSearch::same(std::size_t one, std::size_t other) const {
    return rows_.labels[one] == rows_.labels[other] &&
           std::equal(lows(one), lows(one) + n_columns_, lows(other)) &&
           std::equal(highs(one), highs(one) + n_columns_, highs(other));
}

// Deletes the younger of two equal rules; to a maker the older is as near as the nearer of them.
void RiseSearch::merge(std::size_t rule) {
    std::size_t other = 0;
    while (other < rows_.size() && (other == rule || alive_[other] == 0 || !same(rule, other))) {
        ++other;
    }
    if (other == rows_.size()) return;
    const std::size_t kept = std::min(rule, other), gone = std::max(rule, other);
    alive_[gone] = 0;
    std::replace(winners_.begin(), winners_.end(), static_cast<std::int32_t>(gone),
                 static_cast<std::int32_t>(kept));
    std::vector<Maker> makers;
    for (Maker& own : makers_[kept]) {
        const Maker* other_own = maker(gone, own.row);
        const double found = other_own != nullptr
                                 ? std::min(own.distance, other_own->distance)
                                 : distance(gaps_[kept], rows_.row(own.row), kInfinity);
        if (found == distances_[own.row] && beats(kept, winners_[own.row])) {
            winners_[own.row] = static_cast<std::int32_t>(kept);
        }
        if (other_own == nullptr) continue;
        makers.push_back(other_own->distance < own.distance ? *other_own : std::move(own));
    }
    makers_[kept] = std::move(makers);
    forget(attempts_[kept]);
    forget(attempts_[gone]);
}

std::vector<std::int32_t> RiseSearch::alive() const {
    std::vector<std::int32_t> found;
    for (std::size_t rule = 0; rule < alive_.size(); ++rule) {
        if (alive_[rule] != 0) found.push_back(static_cast<std::int32_t>(rule));
    }
    return found;
}

}  // namespace rulewright
