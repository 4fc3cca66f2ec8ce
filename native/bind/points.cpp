#include "weighting/points.hpp"

#include "bind/bind.hpp"

namespace rulewright {
namespace {

constexpr std::int32_t kMostPoints = 100'000;

ItemGroups checked_groups(const Matrix<std::uint8_t>& covers, const Vector<double>& positives,
                          const Vector<double>& negatives) {
    const std::size_t n_groups = covers.shape(0);
    require(n_groups == positives.shape(0) && n_groups == negatives.shape(0),
            "covers, positives and negatives differ in groups");
    const std::span<const std::uint8_t> flags(covers.data(), n_groups * covers.shape(1));
    require(std::ranges::all_of(flags, [](std::uint8_t flag) { return flag <= 1; }),
            "a cover is neither 0 nor 1");
    for (const auto& weights : {as_span(positives), as_span(negatives)}) {
        double sum = 0;
        for (const double weight : weights) {
            require_penalty(weight, "a weight is negative or not finite");
            sum += weight;
        }
        require(sum > 0 && std::isfinite(sum), "positives and negatives need weight");
    }
    return {flags, covers.shape(1), as_span(positives), as_span(negatives)};
}

struct BoundPointLimits : PointLimits {
    BoundPointLimits(const Vector<std::int32_t>& low, const Vector<std::int32_t>& high,
                     std::int32_t items, std::int32_t range, double ridge, double value,
                     std::int64_t nodes, double dearest)
        : PointLimits{{low.data(), low.data() + low.shape(0)},
                      {high.data(), high.data() + high.shape(0)},
                      items,
                      range,
                      ridge,
                      value,
                      nodes,
                      dearest} {
        require(lowest.size() == highest.size(), "lowest and highest differ in items");
        for (std::size_t j = 0; j < lowest.size(); ++j) {
            require(
                -kMostPoints <= lowest[j] && lowest[j] <= highest[j] && highest[j] <= kMostPoints,
                "the lowest points are above the highest, or beyond 100,000");
        }
        require(items >= 0 && range >= -1 && nodes >= 0, "a limit is out of range");
        require_penalty(ridge, "l2 must not be negative, and finite");
        require_penalty(value, "the unit must not be negative, and finite");
        require(!std::isnan(dearest), "the cutoff is not a number");
    }
};

auto fit(const Matrix<std::uint8_t>& covers, const Vector<double>& positives,
         const Vector<double>& negatives, double l2, const Vector<double>& start) {
    const ItemGroups groups = checked_groups(covers, positives, negatives);
    require_penalty(l2, "l2 must not be negative, and finite");
    require(start.shape(0) == groups.n_items + 1, "the start has another number of responses");
    FittedScores found = without_gil([&] { return fit_scores(groups, l2, as_span(start)); });
    return std::make_tuple(to_numpy(std::move(found.responses)), found.loss);
}

auto solve(const Matrix<std::uint8_t>& covers, const Vector<double>& positives,
           const Vector<double>& negatives, const BoundPointLimits& limits) {
    const ItemGroups groups = checked_groups(covers, positives, negatives);
    require(limits.lowest.size() == groups.n_items, "the limits have another number of items");
    FoundPoints found = without_gil([&] { return solve_points(groups, limits); });
    return std::make_tuple(to_numpy(std::move(found.points)), found.unit, found.intercept,
                           found.loss, found.bound, found.n_nodes);
}

}  // namespace

void bind_points(nb::module_& m) {
    nb::class_<BoundPointLimits>(m, "PointLimits")
        .def(nb::init<const Vector<std::int32_t>&, const Vector<std::int32_t>&, std::int32_t,
                      std::int32_t, double, double, std::int64_t, double>(),
             nb::kw_only(), array("lowest"), array("highest"), "max_items"_a, "max_range"_a, "l2"_a,
             "unit"_a, "max_nodes"_a, "cutoff"_a);
    m.def("fit_scores", &fit, array("covers"), array("positives"), array("negatives"), "l2"_a,
          array("start"));
    m.def("solve_points", &solve, array("covers"), array("positives"), array("negatives"),
          "limits"_a);
}

}  // namespace rulewright
