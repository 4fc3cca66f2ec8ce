#include "search/split.hpp"

#include <utility>

namespace rulewright {
namespace {

// The splits of one column.
class ColumnSplits {
  public:
    ColumnSplits(const SplitScan& scan, std::size_t column, Split& best)
        : scan_(scan),
          column_(column),
          n_bins_(scan.columns.n_bins[column]),
          lanes_(scan.histogram.lanes()),
          factor_(scan.used[column] != 0 ? scan.reuse : 1.0),
          best_(best),
          known_(lanes_),
          prefix_(lanes_),
          rest_(lanes_) {
        for (std::size_t lane = 0; lane < lanes_; ++lane) {
            known_[lane] = scan.sums[lane] - sums(n_bins_)[lane];
        }
    }

    void run() {
        if (scan_.columns.nominal[column_] == 0) {
            if (open(Op::kLessEqual, Op::kGreaterEqual)) scan_cuts();
        } else if (open(Op::kEqual, Op::kNotEqual)) {
            scan_labels();
        }
        if (open(Op::kMissing, Op::kKnown) && present(n_bins_) && known_[0] > 0 &&
            improves(sums(n_bins_), known_.data())) {
            keep(Op::kMissing, {n_bins_}, sums(n_bins_), known_.data());
        }
    }

  private:
    const Stat* sums(std::int32_t code) const {
        return scan_.histogram.column(column_) + static_cast<std::size_t>(code) * lanes_;
    }
    bool present(std::int32_t code) const { return sums(code)[0] != 0; }

    bool open(Op one, Op other) const {
        const int both = (1 << static_cast<int>(one)) | (1 << static_cast<int>(other));
        const Limits& limits = scan_.limits;
        return ((limits.up_operators[column_] | limits.down_operators[column_]) & both) == both;
    }

    // Adds a code to the prefix and sets the rest to the other known rows.
    void extend(std::int32_t code) {
        for (std::size_t lane = 0; lane < lanes_; ++lane) {
            prefix_[lane] += sums(code)[lane];
            rest_[lane] = known_[lane] - prefix_[lane];
        }
    }

    // The fall of the squared error, written so that nothing cancels.
    double gain(const Stat* left, const Stat* right) const {
        const auto w_left = static_cast<double>(left[0]), w_right = static_cast<double>(right[0]);
        const double one_left = 1 / w_left, one_right = 1 / w_right;
        double squares = 0;
        for (std::size_t lane = 1; lane < lanes_; ++lane) {
            const double difference = static_cast<double>(left[lane]) * one_left -
                                      static_cast<double>(right[lane]) * one_right;
            squares += difference * difference;
        }
        return w_left * w_right / (w_left + w_right) * squares;
    }

    // Strictly better replaces: the first of equals stays.
    bool improves(const Stat* left, const Stat* right) {
        if (std::min(left[0], right[0]) < scan_.limits.min_weight) return false;
        const double found = gain(left, right), score = found * factor_;
        if (!(found > scan_.limits.tolerance && score > best_.score)) return false;
        best_.score = score;
        return true;
    }

    void keep(Op op, std::vector<std::int32_t> codes, const Stat* left, const Stat* right) {
        best_.column = static_cast<std::int32_t>(column_);
        best_.op = op;
        best_.codes = std::move(codes);
        best_.left.assign(left, left + lanes_);
        best_.right.assign(right, right + lanes_);
    }

    void scan_cuts() {
        std::int32_t last = -1;  // the last code present so far
        for (std::int32_t code = 0; code < n_bins_; ++code) {
            if (!present(code)) continue;
            if (last >= 0 && improves(prefix_.data(), rest_.data())) {
                keep(Op::kLessEqual, {(last + code - 1) / 2}, prefix_.data(), rest_.data());
            }
            extend(code);
            last = code;
        }
    }

    void scan_labels() {
        std::vector<std::int32_t> labels;
        for (std::int32_t code = 0; code < n_bins_; ++code) {
            if (present(code)) labels.push_back(code);
        }
        if (labels.size() < 2) return;
        if (scan_.onehot) {
            scan_single(labels);
        } else {
            scan_order(ordered(std::move(labels)));
        }
    }

    void scan_single(const std::vector<std::int32_t>& labels) {
        for (const std::int32_t label : labels) {
            std::ranges::fill(prefix_, 0);
            extend(label);
            if (improves(prefix_.data(), rest_.data())) {
                keep(Op::kEqual, {label}, prefix_.data(), rest_.data());
            }
        }
    }

    void scan_order(const std::vector<std::int32_t>& order) {
        std::size_t best = 0;
        std::vector<Stat> left, right;
        for (std::size_t n = 1; n < order.size(); ++n) {
            extend(order[n - 1]);
            if (!improves(prefix_.data(), rest_.data())) continue;
            best = n;
            left = prefix_;
            right = rest_;
        }
        if (best == 0) return;
        const bool low = 2 * best <= order.size();
        const auto cut = order.begin() + static_cast<std::ptrdiff_t>(best);
        std::vector<std::int32_t> smaller(low ? order.begin() : cut, low ? cut : order.end());
        std::ranges::sort(smaller);
        if (!low) std::swap(left, right);
        keep(Op::kEqual, std::move(smaller), left.data(), right.data());
    }

    // The labels by their means of one output, equal means by their codes.
    std::vector<std::int32_t> ordered(std::vector<std::int32_t> labels) const {
        const std::size_t lane = widest_lane(labels);
        std::vector<std::pair<double, std::int32_t>> means;
        for (const std::int32_t label : labels) means.emplace_back(mean(label, lane), label);
        std::ranges::sort(means);
        std::ranges::transform(means, labels.begin(), [](const auto& m) { return m.second; });
        return labels;
    }

    double mean(std::int32_t label, std::size_t lane) const {
        return static_cast<double>(sums(label)[lane]) / static_cast<double>(sums(label)[0]);
    }

    // The output whose label means have the largest weighted spread.
    std::size_t widest_lane(const std::vector<std::int32_t>& labels) const {
        std::size_t widest = 1;
        double largest = -1;
        for (std::size_t lane = 1; lane < lanes_; ++lane) {
            const double centre =
                static_cast<double>(known_[lane]) / static_cast<double>(known_[0]);
            double spread = 0;
            for (const std::int32_t label : labels) {
                const double away = mean(label, lane) - centre;
                spread += static_cast<double>(sums(label)[0]) * away * away;
            }
            if (spread > largest) {
                largest = spread;
                widest = lane;
            }
        }
        return widest;
    }

    const SplitScan& scan_;
    std::size_t column_;
    std::int32_t n_bins_;
    std::size_t lanes_;
    double factor_;
    Split& best_;
    std::vector<Stat> known_, prefix_, rest_;
};

}  // namespace

std::vector<std::uint8_t> Split::sides(std::int32_t n_bins) const {
    std::vector<std::uint8_t> sides(static_cast<std::size_t>(n_bins) + 1, 2);
    sides.back() = 0;
    if (op == Op::kLessEqual) {
        std::fill_n(sides.begin(), codes.front() + 1, std::uint8_t{1});
    } else {
        for (const std::int32_t code : codes) sides[static_cast<std::size_t>(code)] = 1;
    }
    return sides;
}

Split scan_splits(const SplitScan& scan, std::size_t first, std::size_t last) {
    Split best;
    for (std::size_t j = first; j < last; ++j) {
        if ((scan.limits.groups[j] & scan.groups) != 0) ColumnSplits(scan, j, best).run();
    }
    return best;
}

}  // namespace rulewright
