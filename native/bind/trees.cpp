#include <cmath>

#include "bind/search.hpp"
#include "search/branching.hpp"
#include "search/tree.hpp"

namespace rulewright {
namespace {

struct BoundShape : TreeShape {
    BoundShape(std::int32_t max_leaves, double reuse, bool onehot)
        : TreeShape{max_leaves, reuse, onehot} {
        require(max_leaves >= 1, "a tree has at least one leaf");
        require(reuse >= 1 && reuse <= 1e6, "reuse lies between 1 and 1e6");
    }
};

// Weights above 0 and sums that fit into 62 bits: no division by 0, no overflow.
void check_lanes(std::span<const Row> rows, const Matrix<Stat>& stats) {
    const std::size_t n_lanes = stats.shape(1);
    std::vector<double> totals(n_lanes);
    for (const Row row : rows) {
        const Stat* lanes = stats.data() + std::size_t{row} * n_lanes;
        require(lanes[0] > 0, "a row has no weight");
        for (std::size_t lane = 0; lane < n_lanes; ++lane) {
            totals[lane] += std::abs(static_cast<double>(lanes[lane]));
        }
    }
    require(std::ranges::all_of(totals, [](double total) { return total < 0x1.1p62; }),
            "statistics are too large to be summed");
}

using BoundSplit = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::vector<std::int32_t>>;

auto grow(const BoundColumns& columns, const Vector<Row>& rows, const Matrix<Stat>& stats,
          const BoundShape& shape, const BoundLimits& bound, int n_threads) {
    require(stats.shape(0) == columns.n_rows(), "statistics and codes differ in rows");
    require(stats.shape(1) >= 2, "statistics have too few lanes");
    const Limits limits = bound.of(columns.kinds());
    require(limits.tolerance >= 0, "the tolerance is at least 0");
    require_rows(as_span(rows), columns.n_rows());
    check_lanes(as_span(rows), stats);
    GrownTree tree = columns.run([&](const auto& c) {
        return grow_tree(c, as_span(rows), stats.data(), stats.shape(1), shape, limits, n_threads);
    });
    std::vector<BoundSplit> splits;
    for (std::size_t i = 0; i < tree.splits.size(); ++i) {
        Split& split = tree.splits[i];
        splits.emplace_back(tree.nodes[i], split.column, static_cast<std::int32_t>(split.op),
                            std::move(split.codes));
    }
    return std::make_tuple(std::move(splits), to_numpy(std::move(tree.sums)));
}

// Children come after their parents, so every walk ends; every code has a side.
Routes checked_routes(const Routes& routes, const ColumnKinds& kinds) {
    const std::size_t n_nodes = routes.children.size();
    require(n_nodes > 0, "a tree has at least one node");
    require(routes.columns.size() == n_nodes && routes.starts.size() == n_nodes,
            "children, columns and starts differ in length");
    for (std::size_t node = 0; node < n_nodes; ++node) {
        const std::int32_t child = routes.children[node], column = routes.columns[node];
        if (child == 0) continue;
        require(child > 0 && static_cast<std::size_t>(child) > node &&
                    static_cast<std::size_t>(child) + 1 < n_nodes,
                "a child is out of range");
        require(column >= 0 && static_cast<std::size_t>(column) < kinds.n_columns(),
                "a column index is out of range");
        const auto n_codes =
            static_cast<std::size_t>(kinds.n_bins[static_cast<std::size_t>(column)]) + 1;
        require(routes.starts[node] >= 0 && n_codes <= routes.sides.size() &&
                    static_cast<std::size_t>(routes.starts[node]) <= routes.sides.size() - n_codes,
                "a code has no side");
    }
    require(std::ranges::all_of(routes.sides, [](auto side) { return side <= 2; }),
            "a side is 0, 1 or 2");
    return routes;
}

auto route(const BoundColumns& columns, const Vector<std::int32_t>& children,
           const Vector<std::int32_t>& looked_at, const Vector<std::int32_t>& starts,
           const Vector<std::uint8_t>& sides, int n_threads) {
    const Routes routes = checked_routes(
        {as_span(children), as_span(looked_at), as_span(starts), as_span(sides)}, columns.kinds());
    return to_numpy(columns.run([&](const auto& c) { return route_rows(c, routes, n_threads); }));
}

// Limits whose array belongs to Python.
struct BoundBranchLimits {
    std::int32_t n_classes;
    double unit, min_cases;
    Vector<std::uint8_t> many;

    BoundBranchLimits(std::int32_t classes, double step, double cases, Vector<std::uint8_t> flags)
        : n_classes(classes), unit(step), min_cases(cases), many(std::move(flags)) {
        require(n_classes >= 1 && n_classes <= (1 << 24), "too few or too many classes");
        require_positive(unit, "the unit of the weights must be positive and finite");
        require_penalty(min_cases, "min_cases must be finite and not negative");
    }
};

// Rows and classes in range, weights above 0 whose sum fits into 62 bits.
BranchRows checked_node(const BoundColumns& columns, const BranchRows& node, int n_classes) {
    require(node.weights.size() == node.rows.size(), "rows and weights differ in length");
    require(node.labels.size() == columns.n_rows(), "classes and codes differ in rows");
    require_rows(node.rows, columns.n_rows());
    double total = 0;
    for (std::size_t i = 0; i < node.rows.size(); ++i) {
        const std::int32_t label = node.labels[node.rows[i]];
        require(label >= 0 && label < n_classes, "a class is out of range");
        require(node.weights[i] > 0, "a row has no weight");
        total += static_cast<double>(node.weights[i]);
    }
    require(total <= kLargestSum, "the weights are too large");
    return node;
}

auto branch(const BoundColumns& columns, const Vector<Row>& rows, const Vector<Stat>& weights,
            const Vector<std::int32_t>& labels, const BoundBranchLimits& bound, int n_threads) {
    require(bound.many.shape(0) == columns.n_columns(), "limits need one entry per column");
    const BranchLimits limits{bound.n_classes, bound.unit, bound.min_cases, as_span(bound.many)};
    const BranchRows node =
        checked_node(columns, {as_span(rows), as_span(weights), as_span(labels)}, limits.n_classes);
    const Branching found =
        columns.run([&](const auto& c) { return choose_branching(c, node, limits, n_threads); });
    return std::make_tuple(found.column, found.code, found.beyond, found.gain, found.ratio);
}

}  // namespace

void bind_trees(nb::module_& m) {
    nb::class_<BoundShape>(m, "TreeShape")
        .def(nb::init<std::int32_t, double, bool>(), nb::kw_only(), "max_leaves"_a, "reuse"_a,
             "onehot"_a);
    m.def("grow_tree", &grow, "columns"_a, array("rows"), array("stats"), "shape"_a, "limits"_a,
          "n_threads"_a);
    nb::class_<BoundBranchLimits>(m, "BranchLimits")
        .def(nb::init<std::int32_t, double, double, Vector<std::uint8_t>>(), nb::kw_only(),
             "n_classes"_a, "unit"_a, "min_cases"_a, array("many"));
    m.def("choose_branching", &branch, "columns"_a, array("rows"), array("weights"),
          array("labels"), "limits"_a, "n_threads"_a);
    m.def("route_rows", &route, "columns"_a, array("children"), array("looked_at"), array("starts"),
          array("sides"), "n_threads"_a);
}

}  // namespace rulewright
