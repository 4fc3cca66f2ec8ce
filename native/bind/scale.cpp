#include "bind/search.hpp"
#include "search/partition.hpp"

namespace rulewright {
namespace {

// Rows and their statistics, checked.
Gathered checked_rows(const BoundColumns& columns, const Vector<Row>& rows,
                      const Matrix<Stat>& stats) {
    require(rows.shape(0) == stats.shape(0), "rows and statistics differ in length");
    require(stats.shape(1) >= 1, "statistics have too few lanes");
    require_rows(as_span(rows), columns.n_rows());
    return {as_span(rows), stats.data(), stats.shape(1)};
}

void count(const BoundColumns& columns, const Vector<Row>& rows, const Matrix<Stat>& stats,
           const Vector<Stat>& starts, const MutableMatrix<Stat>& sums) {
    const Gathered gathered = checked_rows(columns, rows, stats);
    const std::span<const Stat> places = as_span(starts);
    require(!places.empty() && std::ranges::is_sorted(places) && places.front() >= 0 &&
                places.back() <= static_cast<Stat>(gathered.rows.size()),
            "the starts of blocks must ascend within the rows");
    std::size_t n_codes = 0;
    for (const std::int32_t n : columns.kinds().n_bins) n_codes += static_cast<std::size_t>(n) + 1;
    require(sums.shape(0) + 1 == places.size() && sums.shape(1) == n_codes * gathered.lanes,
            "the histograms must have the shape (blocks, codes x lanes)");
    columns.run([&](const auto& c) { add_counts(c, gathered, places, sums.data()); });
}

auto split(const BoundColumns& columns, const Vector<Row>& rows, const Matrix<Stat>& stats,
           const std::vector<std::int32_t>& test) {
    const Gathered gathered = checked_rows(columns, rows, stats);
    const CodeTest checked = checked_test(columns, test);
    Sides sides = columns.run([&](const auto& c) { return split_rows(c, gathered, checked); });
    return std::make_tuple(to_numpy(std::move(sides.rows[1])), to_numpy(std::move(sides.stats[1])),
                           to_numpy(std::move(sides.rows[0])), to_numpy(std::move(sides.stats[0])));
}

}  // namespace

void bind_scale(nb::module_& m) {
    m.def("add_counts", &count, "columns"_a, array("rows"), array("stats"), array("starts"),
          array("sums"));
    m.def("split_rows", &split, "columns"_a, array("rows"), array("stats"), "test"_a);
}

}  // namespace rulewright
