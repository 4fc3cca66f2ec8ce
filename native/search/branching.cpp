#include "search/branching.hpp"

#include <bit>
#include <cmath>
#include <vector>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

constexpr double kLeastGain = 1e-3, kLeastInfo = 1e-3, kTie = 1e-9, kMostNeeded = 25;

// What the rows of one class with one code weigh.
struct Cell {
    std::int32_t code, label;
    Stat weight;
};

struct Test {
    double gain = -1, info = 0;  // a gain below 0: no test
    std::int32_t code = -1, beyond = -1;
};

double h(double x) { return x > 0 ? x * std::log2(x) : 0; }

// The cells of a column that are not empty, by code and class.
template <class Code>
std::vector<Cell> count_cells(const Columns<Code>& columns, std::size_t column,
                              const BranchRows& node, std::size_t n_classes) {
    const Code* codes = columns.column(column);
    const std::size_t n_cells = (static_cast<std::size_t>(columns.n_bins[column]) + 1) * n_classes;
    const auto cell = [&](std::size_t key, Stat weight) {
        return Cell{static_cast<std::int32_t>(key / n_classes),
                    static_cast<std::int32_t>(key % n_classes), weight};
    };
    const auto key = [&](Row row) {
        return std::size_t{codes[std::size_t{row} * kGroup]} * n_classes +
               static_cast<std::size_t>(node.labels[row]);
    };
    std::vector<Cell> cells;
    if (n_cells <= 4 * node.rows.size()) {
        std::vector<Stat> sums(n_cells);
        for (std::size_t i = 0; i < node.rows.size(); ++i) {
            sums[key(node.rows[i])] += node.weights[i];
        }
        for (std::size_t k = 0; k < n_cells; ++k) {
            if (sums[k] > 0) cells.push_back(cell(k, sums[k]));
        }
        return cells;
    }
    // One number for the key and, below it, the place among the rows: quickly compared.
    std::vector<std::uint64_t> sorted(node.rows.size());
    const auto shift = static_cast<std::size_t>(std::bit_width(sorted.size()));
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = key(node.rows[i]) << shift | i;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size();) {
        Stat sum = 0;
        const std::size_t k = sorted[i] >> shift;
        for (; i < sorted.size() && sorted[i] >> shift == k; ++i) {
            sum += node.weights[sorted[i] - (k << shift)];
        }
        cells.push_back(cell(k, sum));
    }
    return cells;
}

// One column of a node: the known cells and what they weigh.
struct Counted {
    std::span<const Cell> cells;
    std::vector<Stat> by_class;
    Stat known = 0;
    double missing, total;  // in units of weight
    const BranchLimits& limits;

    Counted(std::span<const Cell> all, std::int32_t n_bins, const BranchLimits& given)
        : limits(given) {
        Stat absent = 0;
        by_class.resize(static_cast<std::size_t>(limits.n_classes));
        std::size_t n_known = 0;
        for (const Cell& cell : all) {
            if (cell.code == n_bins) {
                absent += cell.weight;
                continue;
            }
            ++n_known;
            known += cell.weight;
            by_class[static_cast<std::size_t>(cell.label)] += cell.weight;
        }
        cells = all.first(n_known);
        missing = weight(absent);
        total = weight(known + absent);
    }

    double weight(Stat steps) const { return static_cast<double>(steps) * limits.unit; }
    double class_sum() const {
        double sum = 0;
        for (const Stat steps : by_class) sum += h(weight(steps));
        return sum;
    }
};

Test judge_labels(const Counted& column) {
    double info = 0, split = h(column.total) - h(column.missing);
    int n_heavy = 0;
    for (std::size_t i = 0; i < column.cells.size();) {
        const std::int32_t code = column.cells[i].code;
        Stat steps = 0;
        for (; i < column.cells.size() && column.cells[i].code == code; ++i) {
            steps += column.cells[i].weight;
            info -= h(column.weight(column.cells[i].weight));
        }
        info += h(column.weight(steps));
        split -= h(column.weight(steps));
        n_heavy += column.weight(steps) >= column.limits.min_cases ? 1 : 0;
    }
    if (n_heavy < 2) return {};
    const double base = h(column.weight(column.known)) - column.class_sum();
    return {(base - info) / column.total, split / column.total, -1, -1};
}

// Walks over the cuts from low to high; the sums of h follow the classes that move.
Test judge_cuts(const Counted& column) {
    const double known = column.weight(column.known);
    const double needed = std::min(
        kMostNeeded, std::max(column.limits.min_cases, 0.1 * known / column.limits.n_classes));
    const double class_sum = column.class_sum(), base = h(known) - class_sum;
    // What each class weighs below the cut, and its h below and above it.
    struct Side {
        Stat below = 0;
        double h_below = 0, h_above;
    };
    std::vector<Side> sides;
    for (const Stat steps : column.by_class) sides.push_back({0, 0, h(column.weight(steps))});
    double below_sum = 0, above_sum = class_sum;
    Stat left = 0;
    int n_tried = 0;
    Test best;
    for (std::size_t i = 0; i < column.cells.size();) {
        const std::int32_t code = column.cells[i].code;
        for (; i < column.cells.size() && column.cells[i].code == code; ++i) {
            const auto label = static_cast<std::size_t>(column.cells[i].label);
            Side& side = sides[label];
            side.below += column.cells[i].weight;
            const double h_below = h(column.weight(side.below));
            const double h_above = h(column.weight(column.by_class[label] - side.below));
            below_sum += h_below - side.h_below;
            above_sum += h_above - side.h_above;
            side.h_below = h_below;
            side.h_above = h_above;
            left += column.cells[i].weight;
        }
        const double low = column.weight(left), high = column.weight(column.known - left);
        if (i == column.cells.size() || low < needed || high < needed) continue;
        ++n_tried;
        const double info = (h(low) - below_sum) + (h(high) - above_sum);
        const double gain = (base - info) / column.total;
        if (best.code >= 0 && !(gain > best.gain + kTie)) continue;
        const double split = h(column.total) - h(column.missing) - h(low) - h(high);
        best = {gain, split / column.total, code, column.cells[i].code};
    }
    if (n_tried > 0) best.gain -= std::log2(static_cast<double>(n_tried)) / column.total;
    return best;
}

Branching choose(std::span<const Test> tests, std::span<const std::uint8_t> many) {
    const bool all_many = std::ranges::all_of(many, [](auto flag) { return flag != 0; });
    double sum = 0;
    int n = 0;
    for (std::size_t j = 0; j < tests.size(); ++j) {
        if (tests[j].gain < kLeastGain || (many[j] != 0 && !all_many)) continue;
        sum += tests[j].gain;
        ++n;
    }
    Branching best;
    if (n == 0) return best;
    const double average = sum / n;
    for (std::size_t j = 0; j < tests.size(); ++j) {
        const Test& test = tests[j];
        if (test.gain < kLeastGain || test.gain < average - kTie || test.info <= kLeastInfo) {
            continue;
        }
        const double ratio = test.gain / test.info;
        if (best.column >= 0 && !(ratio > best.ratio + kTie)) continue;
        best = {static_cast<std::int32_t>(j), test.code, test.beyond, test.gain, ratio};
    }
    return best;
}

}  // namespace

template <class Code>
Branching choose_branching(const Columns<Code>& columns, const BranchRows& node,
                           const BranchLimits& limits, int n_threads) {
    std::vector<Test> tests(columns.n_columns());
    const bool large = node.rows.size() > kBlock;  // waking threads costs more than a little work
    parallel_for(tests.size(), large ? n_threads : 1, [&](std::size_t j) {
        const std::vector<Cell> cells =
            count_cells(columns, j, node, static_cast<std::size_t>(limits.n_classes));
        const Counted column(cells, columns.n_bins[j], limits);
        tests[j] = columns.nominal[j] != 0 ? judge_labels(column) : judge_cuts(column);
    });
    return choose(tests, limits.many);
}

template Branching choose_branching(const Columns<std::uint8_t>&, const BranchRows&,
                                    const BranchLimits&, int);
template Branching choose_branching(const Columns<std::uint16_t>&, const BranchRows&,
                                    const BranchLimits&, int);

}  // namespace rulewright
