#include "weighting/points.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "weighting/newton.hpp"

namespace rulewright {
namespace {

constexpr double kSame = 1e-9;
constexpr int kUnits = 20;
constexpr std::size_t kImproved = 4;

using Points = std::vector<std::int32_t>;

std::vector<std::vector<double>> columns_of(const ItemGroups& groups) {
    std::vector<std::vector<double>> columns(groups.n_items, std::vector<double>(groups.size()));
    for (std::size_t i = 0; i < groups.size(); ++i) {
        for (std::size_t j = 0; j < groups.n_items; ++j) {
            columns[j][i] = groups.covers[i * groups.n_items + j];
        }
    }
    return columns;
}

std::int32_t count_used(const Points& points) {
    return static_cast<std::int32_t>(points.size()) -
           static_cast<std::int32_t>(std::count(points.begin(), points.end(), 0));
}

std::int64_t range_of(const Points& points) {
    return std::accumulate(points.begin(), points.end(), std::int64_t{0},
                           [](std::int64_t sum, std::int32_t z) { return sum + std::abs(z); });
}

// Unit, intercept and free responses of a convex problem, its objective, and a lower bound of it.
struct Relaxed {
    double unit = 0, intercept = 0;
    std::vector<double> responses;
    double value = 0, bound = 0;
};

class PointSearch {
  public:
    PointSearch(const ItemGroups& groups, const PointLimits& limits)
        : groups_(groups),
          limits_(limits),
          columns_(columns_of(groups)),
          ones_(groups.size(), 1.0),
          fit_(groups.positives, groups.negatives) {}

    FoundPoints run();

  private:
    Relaxed relax(const Points& points, const Relaxed& start, bool has_free);
    Relaxed fit_card(const Points& points);
    double evaluate(const Points& points);
    void improve(Points points);
    std::vector<Points> round(const std::vector<double>& responses) const;
    void shrink(Points& points, const std::vector<double>& responses) const;
    bool allows(const Points& points) const;
    void branch(Points& points, const Relaxed& parent);
    void branch_any(Points& points, const Relaxed& parent, std::int32_t low, std::int32_t high);
    void branch_outward(Points& points, const Relaxed& parent, std::int32_t low, std::int32_t high);
    bool visit(Points& points, std::int32_t z, const Relaxed& parent);
    void note_open(double bound) { open_bound_ = std::min(open_bound_, bound); }
    bool is_full(const Points& points) const { return count_used(points) >= limits_.max_items; }

    ItemGroups groups_;
    PointLimits limits_;  // in the order of the search
    std::vector<std::vector<double>> columns_;
    std::vector<double> ones_, total_, offset_;
    LogisticFit fit_;
    FoundPoints best_;
    bool found_ = false;
    double loss_ = std::numeric_limits<double>::infinity();
    double open_bound_ = std::numeric_limits<double>::infinity();
};

// Fits the unit of the fixed points, the intercept and the responses of the other items.
Relaxed PointSearch::relax(const Points& points, const Relaxed& start, bool has_free) {
    const std::size_t fixed = points.size(), n = ones_.size();
    has_free = has_free && !is_full(points);
    total_.assign(n, 0.0);
    double squares = 0;
    for (std::size_t j = 0; j < fixed; ++j) {
        if (points[j] == 0) continue;
        for (std::size_t i = 0; i < n; ++i) total_[i] += points[j] * columns_[j][i];
        squares += static_cast<double>(points[j]) * points[j];
    }
    const bool has_unit = squares > 0 && limits_.unit == 0;
    offset_.assign(n, 0.0);
    if (limits_.unit > 0) {
        for (std::size_t i = 0; i < n; ++i) offset_[i] = limits_.unit * total_[i];
    }
    fit_.begin(offset_);
    if (has_unit) fit_.add_column(total_, limits_.l2 * squares, start.unit);
    fit_.add_column(ones_, 0.0, start.intercept);
    const std::size_t n_free = has_free ? columns_.size() - fixed : 0;
    for (std::size_t j = 0; j < n_free; ++j) {
        const double begin = j < start.responses.size() ? start.responses[j] : 0.0;
        fit_.add_column(columns_[fixed + j], limits_.l2, begin);
    }
    fit_.minimise();
    const std::vector<double>& theta = fit_.coefficients();
    if (has_unit && theta[0] < 0) {  // the unit is not negative, so it is 0
        Relaxed from{0, theta[1], {theta.begin() + 2, theta.end()}, 0, 0};
        Relaxed without = relax(Points(fixed, 0), from, has_free);
        without.unit = -1;
        return without;
    }
    const double paid = 0.5 * limits_.l2 * limits_.unit * limits_.unit * squares;
    const std::size_t first = has_unit ? 1 : 0;
    return {has_unit ? theta[0] : limits_.unit,
            theta[first],
            {theta.begin() + static_cast<std::ptrdiff_t>(first) + 1, theta.end()},
            fit_.value() + paid,
            fit_.bound() + paid};
}

bool PointSearch::allows(const Points& points) const {
    for (std::size_t j = 0; j < points.size(); ++j) {
        if (points[j] < limits_.lowest[j] || points[j] > limits_.highest[j]) return false;
    }
    return count_used(points) <= limits_.max_items &&
           (limits_.max_range < 0 || range_of(points) <= limits_.max_range);
}

// Clamps a wish to what is allowed; one that overflowed has no place of its own, so it is 0.
double between(double wish, double low, double high) {
    return std::clamp(std::isnan(wish) ? 0.0 : wish, low, high);
}

// Fits unit and intercept to a whole card: rows of the same total are one group.
Relaxed PointSearch::fit_card(const Points& points) {
    const std::size_t n = ones_.size();
    total_.assign(n, 0.0);
    double squares = 0;
    for (std::size_t j = 0; j < points.size(); ++j) {
        if (points[j] == 0) continue;
        for (std::size_t i = 0; i < n; ++i) total_[i] += points[j] * columns_[j][i];
        squares += static_cast<double>(points[j]) * points[j];
    }
    const auto [low, high] = std::minmax_element(total_.begin(), total_.end());
    const double first = *low;
    const auto n_totals = static_cast<std::size_t>(*high - first) + 1;
    std::vector<double> positives(n_totals, 0.0), negatives(n_totals, 0.0), values(n_totals);
    for (std::size_t i = 0; i < n; ++i) {
        const auto place = static_cast<std::size_t>(total_[i] - first);
        positives[place] += groups_.positives[i];
        negatives[place] += groups_.negatives[i];
    }
    for (std::size_t k = 0; k < n_totals; ++k) values[k] = first + static_cast<double>(k);
    LogisticFit fit(positives, negatives);
    offset_.assign(n_totals, 0.0);
    const bool has_unit = squares > 0 && limits_.unit == 0;
    for (std::size_t k = 0; k < n_totals; ++k) offset_[k] = limits_.unit * values[k];
    fit.begin(offset_);
    if (has_unit) fit.add_column(values, limits_.l2 * squares, 0.0);
    fit.add_column(std::vector<double>(n_totals, 1.0), 0.0, 0.0);
    fit.minimise();
    Relaxed fitted;
    fitted.unit = has_unit ? fit.coefficients()[0] : limits_.unit;
    fitted.intercept = fit.coefficients().back();
    fitted.value = fit.value() + 0.5 * limits_.l2 * limits_.unit * limits_.unit * squares;
    return fitted;
}

// Fits a whole card, notes the best, and returns the loss.
double PointSearch::evaluate(const Points& points) {
    Relaxed fitted = fit_card(points);
    const bool is_used = fitted.unit > 0 && count_used(points) > 0;
    const Points kept = is_used ? points : Points(points.size(), 0);
    if (!is_used) fitted = fit_card(kept);
    if (!allows(kept)) return std::numeric_limits<double>::infinity();
    if (fitted.value < loss_ * (1 - kSame) || (!found_ && fitted.value < loss_)) {
        found_ = true;
        loss_ = fitted.value;
        best_.points = kept;
        best_.unit = limits_.unit > 0 ? limits_.unit : std::max(fitted.unit, 0.0);
        best_.intercept = fitted.intercept;
    }
    return fitted.value;
}

// Changes single points by one while that lowers the loss.
void PointSearch::improve(Points points) {
    double loss = evaluate(points);
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t j = 0; j < points.size(); ++j) {
            for (const int step : {-1, 1}) {
                points[j] += step;
                const double value = allows(points) ? evaluate(points) : loss;
                if (value < loss * (1 - kSame)) {
                    loss = value;
                    moved = true;
                } else {
                    points[j] -= step;
                }
            }
        }
    }
}

// Makes rounded points respect the limits on all of them.
void PointSearch::shrink(Points& points, const std::vector<double>& responses) const {
    while (count_used(points) > limits_.max_items) {
        std::size_t least = points.size();
        for (std::size_t j = 0; j < points.size(); ++j) {
            const bool is_less =
                least == points.size() || std::abs(responses[j]) < std::abs(responses[least]);
            if (points[j] != 0 && is_less) least = j;
        }
        points[least] = 0;
    }
    while (limits_.max_range >= 0 && range_of(points) > limits_.max_range) {
        const auto largest = std::max_element(
            points.begin(), points.end(),
            [](std::int32_t a, std::int32_t b) { return std::abs(a) < std::abs(b); });
        *largest -= *largest > 0 ? 1 : -1;
    }
}

std::vector<Points> PointSearch::round(const std::vector<double>& responses) const {
    double largest = 0, most = 0;
    for (std::size_t j = 0; j < responses.size(); ++j) {
        largest = std::max(largest, std::abs(responses[j]));
        most = std::max({most, std::abs(static_cast<double>(limits_.lowest[j])),
                         std::abs(static_cast<double>(limits_.highest[j]))});
    }
    std::vector<Points> found;
    const int n_units = limits_.unit > 0 ? 1 : kUnits;
    for (int k = 1; k <= n_units && largest > 0 && most > 0; ++k) {
        const double unit = limits_.unit > 0 ? limits_.unit : largest / (most * k / kUnits);
        Points points(responses.size());
        for (std::size_t j = 0; j < points.size(); ++j) {
            const double low = limits_.lowest[j], high = limits_.highest[j];
            points[j] =
                static_cast<std::int32_t>(std::nearbyint(between(responses[j] / unit, low, high)));
        }
        shrink(points, responses);
        if (count_used(points) && std::find(found.begin(), found.end(), points) == found.end()) {
            found.push_back(points);
        }
    }
    return found;
}

FoundPoints PointSearch::run() {
    const std::size_t k = columns_.size();
    const Relaxed real = relax({}, {}, true);
    std::vector<double> sizes(k, 0.0);
    std::copy(real.responses.begin(), real.responses.end(), sizes.begin());
    std::vector<std::size_t> order(k);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(sizes[a]) > std::abs(sizes[b]);
    });
    const std::vector<std::vector<double>> columns = columns_;
    const PointLimits limits = limits_;
    Relaxed root = real;
    root.responses.resize(k);
    for (std::size_t j = 0; j < k; ++j) {
        columns_[j] = columns[order[j]];
        limits_.lowest[j] = limits.lowest[order[j]];
        limits_.highest[j] = limits.highest[order[j]];
        root.responses[j] = sizes[order[j]];
    }
    Points points(k, 0);
    evaluate(points);
    std::vector<std::pair<double, Points>> starts;
    for (const Points& rounded : round(root.responses)) {
        starts.emplace_back(evaluate(rounded), rounded);
    }
    std::stable_sort(starts.begin(), starts.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (starts.size() > kImproved) starts.resize(kImproved);
    for (const auto& [loss, rounded] : starts) improve(rounded);
    if (limits_.cutoff < loss_) {
        loss_ = limits_.cutoff;
        found_ = false;
    }
    points.clear();
    branch(points, root);
    FoundPoints result = best_;
    result.bound = std::min(loss_, open_bound_);
    result.points.assign(k, 0);
    if (found_) {
        for (std::size_t j = 0; j < k; ++j) result.points[order[j]] = best_.points[j];
        result.loss = loss_;
    } else {
        result.unit = result.intercept = 0;
    }
    return result;
}

// Tries all points of the next item, those that fit its response first.
void PointSearch::branch(Points& points, const Relaxed& parent) {
    const std::size_t next = points.size();
    if (next == columns_.size()) return;
    std::int32_t low = limits_.lowest[next], high = limits_.highest[next];
    if (is_full(points)) {
        low = std::max(low, 0);
        high = std::min(high, 0);
    }
    if (limits_.max_range >= 0) {
        const auto left = static_cast<std::int32_t>(limits_.max_range - range_of(points));
        low = std::max(low, -left);
        high = std::min(high, left);
    }
    if (low > high) return;
    const bool is_free = limits_.unit == 0 && count_used(points) == 0;
    if (is_free || parent.unit <= 0) {
        branch_any(points, parent, low, high);
    } else {
        branch_outward(points, parent, low, high);
    }
}

// Without a unit the response has no nearest point: tries all on its side, then the others.
void PointSearch::branch_any(Points& points, const Relaxed& parent, std::int32_t low,
                             std::int32_t high) {
    const bool is_negative = !parent.responses.empty() && parent.responses[0] < 0;
    for (std::int32_t k = 0; k <= high - low; ++k) {
        visit(points, is_negative ? low + k : high - k, parent);
    }
}

void PointSearch::branch_outward(Points& points, const Relaxed& parent, std::int32_t low,
                                 std::int32_t high) {
    const double response = parent.responses.empty() ? 0.0 : parent.responses[0];
    const double centre = between(response / parent.unit, low, high);
    auto below = static_cast<std::int32_t>(std::floor(centre));
    std::int32_t above = below + 1;
    bool has_zero = low > 0 || high < 0;
    while (below >= low || above <= high) {
        const bool goes_up = below < low || (above <= high && above - centre < centre - below);
        const std::int32_t z = goes_up ? above : below;
        has_zero = has_zero || z == 0;
        const bool is_pruned = visit(points, z, parent);
        if (goes_up) {
            above = is_pruned ? high + 1 : above + 1;
        } else {
            below = is_pruned ? low - 1 : below - 1;
        }
    }
    if (!has_zero) visit(points, 0, parent);  // leaves another item to be used instead
}

// Bounds the cards with this point; returns whether those with points beyond it are worse.
bool PointSearch::visit(Points& points, std::int32_t z, const Relaxed& parent) {
    if (best_.n_nodes >= limits_.max_nodes) {
        note_open(parent.bound);
        return false;
    }
    ++best_.n_nodes;
    points.push_back(z);
    Relaxed start = parent;
    if (!start.responses.empty()) start.responses.erase(start.responses.begin());
    const Relaxed found = relax(points, start, true);
    const bool is_pruned = found.bound >= loss_ * (1 - kSame);
    if (!is_pruned) {
        if (points.size() == columns_.size()) {
            evaluate(points);
        } else {
            branch(points, found);
        }
    }
    points.pop_back();
    return is_pruned;
}

}  // namespace

FittedScores fit_scores(const ItemGroups& groups, double l2, std::span<const double> start) {
    LogisticFit fit(groups.positives, groups.negatives);
    fit.begin(std::vector<double>(groups.size(), 0.0));
    const auto columns = columns_of(groups);
    for (std::size_t j = 0; j < columns.size(); ++j) fit.add_column(columns[j], l2, start[j]);
    fit.add_column(std::vector<double>(groups.size(), 1.0), 0.0, start[columns.size()]);
    fit.minimise();
    return {fit.coefficients(), fit.value()};
}

FoundPoints solve_points(const ItemGroups& groups, const PointLimits& limits) {
    return PointSearch(groups, limits).run();
}

}  // namespace rulewright
