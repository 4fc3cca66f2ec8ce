#include "bind/bind.hpp"
#include "search/grow.hpp"
#include "search/rows.hpp"

namespace rulewright {
namespace {

using Codes = nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Binned columns, checked once at construction, so that no kernel has to look for bad codes.
class BoundColumns {
  public:
    template <class Body>
    auto visit(const Body& body) const {
        if (codes_.dtype() == nb::dtype<std::uint8_t>()) return body(view<std::uint8_t>());
        return body(view<std::uint16_t>());
    }

    BoundColumns(Codes codes, Vector<std::int32_t> n_bins, Vector<std::uint8_t> nominal)
        : codes_(std::move(codes)), n_bins_(std::move(n_bins)), nominal_(std::move(nominal)) {
        const std::size_t n_groups = (n_bins_.shape(0) + kGroup - 1) / kGroup;
        require(codes_.shape(0) == n_groups && codes_.shape(2) == kGroup,
                "codes must have the shape (groups, rows, 8)");
        require(n_bins_.shape(0) > 0, "at least one column is needed");
        require(nominal_.shape(0) == n_bins_.shape(0), "n_bins and nominal differ in length");
        require(codes_.dtype() == nb::dtype<std::uint8_t>() ||
                    codes_.dtype() == nb::dtype<std::uint16_t>(),
                "codes must be uint8 or uint16");
        for (const std::int32_t n : as_span(n_bins_)) {
            require(n >= 0 && n <= 65535, "a column has too many bins");
        }
        visit([](const auto& columns) { check_codes(columns); });
    }

    std::size_t n_rows() const { return codes_.shape(1); }
    std::size_t n_columns() const { return n_bins_.shape(0); }
    std::int32_t n_bins(std::size_t column) const { return n_bins_(column); }

  private:
    template <class Code>
    Columns<Code> view() const {
        return {static_cast<const Code*>(codes_.data()), n_rows(), as_span(n_bins_),
                as_span(nominal_)};
    }

    template <class Code>
    static void check_codes(const Columns<Code>& columns) {
        for (std::size_t j = 0; j < columns.n_columns(); ++j) {
            const Code* codes = columns.column(j);
            std::int32_t largest = 0;
            for (std::size_t i = 0; i < columns.n_rows; ++i) {
                largest = std::max(largest, static_cast<std::int32_t>(codes[i * kGroup]));
            }
            require(largest <= columns.n_bins[j], "a code is beyond the bins of its column");
        }
    }

    Codes codes_;
    Vector<std::int32_t> n_bins_;
    Vector<std::uint8_t> nominal_;
};

auto draw(std::size_t n, std::size_t size, std::uint64_t seed) {
    require(size <= n && n < 0xFFFFFFFFULL, "cannot draw that many rows");
    Draw draw;
    {
        nb::gil_scoped_release release;
        draw = draw_rows(n, size, seed);
    }
    return std::make_tuple(to_numpy(std::move(draw.rows)), to_numpy(std::move(draw.drawn)));
}

auto split(const Vector<Stat>& weights, const Vector<std::int32_t>& strata, double share,
           std::uint64_t seed) {
    require(weights.shape(0) == strata.shape(0), "weights and strata differ in length");
    require(share >= 0 && share <= 1, "a share lies between 0 and 1");
    std::int32_t largest = -1;
    for (const std::int32_t stratum : as_span(strata)) {
        require(stratum >= 0 && stratum < 65536, "a stratum is out of range");
        largest = std::max(largest, stratum);
    }
    const Strata rows{as_span(weights), as_span(strata), static_cast<std::size_t>(largest + 1)};
    std::vector<std::uint8_t> taken;
    {
        nb::gil_scoped_release release;
        taken = split_by_weight(rows, share, seed);
    }
    return to_numpy(std::move(taken));
}

std::vector<CodeTest> checked_tests(const BoundColumns& columns,
                                    const Matrix<std::int32_t>& tests) {
    require(tests.shape(1) == 4, "a test has four numbers: column, low, high, skip");
    std::vector<CodeTest> parsed;
    for (std::size_t i = 0; i < tests.shape(0); ++i) {
        const std::int32_t column = tests(i, 0);
        require(column >= 0 && static_cast<std::size_t>(column) < columns.n_columns(),
                "a column index is out of range");
        parsed.push_back({column, tests(i, 1), tests(i, 2), tests(i, 3)});
    }
    return parsed;
}

auto cover(const BoundColumns& columns, const Matrix<std::int32_t>& tests, int n_threads) {
    const std::vector<CodeTest> parsed = checked_tests(columns, tests);
    std::vector<Row> rows;
    {
        nb::gil_scoped_release release;
        rows = columns.visit([&](const auto& c) { return cover_rows(c, parsed, n_threads); });
    }
    return to_numpy(std::move(rows));
}

auto prefixes(const BoundColumns& columns, const Matrix<std::int32_t>& tests,
              const Matrix<Stat>& stats, std::size_t first_lane, const Vector<std::uint8_t>& side,
              int n_threads) {
    const std::vector<CodeTest> parsed = checked_tests(columns, tests);
    const std::size_t n_lanes = stats.shape(1);
    require(stats.shape(0) == columns.n_rows() && side.shape(0) == columns.n_rows(),
            "statistics, sides and codes differ in rows");
    require(n_lanes >= 2 && first_lane <= n_lanes - 2, "statistics have too few lanes");
    require(std::ranges::all_of(as_span(side), [](auto s) { return s <= 1; }), "a side is 0 or 1");
    const SplitPairs pairs{stats.data() + first_lane, n_lanes, side.data()};
    std::vector<Stat> sums;
    {
        nb::gil_scoped_release release;
        sums =
            columns.visit([&](const auto& c) { return prefix_sums(c, parsed, pairs, n_threads); });
    }
    return to_numpy(std::move(sums));
}

ScoreKind score_kind(const std::string& name) {
    if (name == "newton") return ScoreKind::kNewton;
    if (name == "gradient") return ScoreKind::kGradient;
    if (name == "slipper") return ScoreKind::kSlipper;
    throw nb::value_error("unknown score; known are newton, gradient and slipper");
}

using BoundCondition = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, double>;

std::tuple<std::vector<BoundCondition>, std::int32_t> grow(
    const BoundColumns& columns, const Vector<Row>& rows, const Matrix<Stat>& stats,
    const std::string& score, double l2, double unit, std::size_t n_pairs, std::size_t first_lane,
    bool up, bool down, std::int32_t max_conditions, double tolerance, Stat min_weight,
    const Vector<std::uint8_t>& up_operators, const Vector<std::uint8_t>& down_operators,
    const Vector<std::uint8_t>& required, const Vector<std::uint64_t>& groups, Workspace& workspace,
    int n_threads) {
    require(stats.shape(0) == columns.n_rows(), "statistics and codes differ in rows");
    const std::size_t n_lanes = stats.shape(1);
    require(n_pairs >= 1 && n_pairs <= n_lanes && first_lane <= n_lanes &&
                first_lane + 2 * n_pairs <= n_lanes,
            "statistics have too few lanes");
    for (const std::size_t size :
         {up_operators.shape(0), down_operators.shape(0), required.shape(0), groups.shape(0)}) {
        require(size == columns.n_columns(), "limits need one entry per column");
    }
    require_rows(as_span(rows), columns.n_rows());

    const Statistics statistics{stats.data(), stats.shape(1), first_lane, n_pairs, min_weight > 0};
    const Votes votes{unit, static_cast<std::int32_t>(n_pairs)};
    const auto directions = static_cast<Directions>((up ? kUp : 0) | (down ? kDown : 0));
    const ScoreChoice choice{score_kind(score), l2, votes, directions};
    const Limits limits{
        max_conditions,          tolerance,         min_weight,     as_span(up_operators),
        as_span(down_operators), as_span(required), as_span(groups)};
    GrownRule rule;
    {
        nb::gil_scoped_release release;
        rule = columns.visit([&](const auto& c) {
            return grow_rule(c, as_span(rows), statistics, choice, limits, workspace, n_threads);
        });
    }
    std::vector<BoundCondition> conditions;
    for (const GrownCondition& c : rule.conditions) {
        conditions.emplace_back(c.column, static_cast<std::int32_t>(c.op), c.code, c.beyond,
                                c.criterion);
    }
    return {conditions, rule.vote};
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<BoundColumns>(m, "Columns")
        .def(nb::init<Codes, Vector<std::int32_t>, Vector<std::uint8_t>>(),
             nb::arg("codes").noconvert(), nb::arg("n_bins").noconvert(),
             nb::arg("nominal").noconvert());
    nb::class_<Workspace>(m, "Workspace").def(nb::init<>());
    m.def("draw_rows", &draw, nb::arg("n"), nb::arg("size"), nb::arg("seed"));
    m.def("split_by_weight", &split, nb::arg("weights").noconvert(), nb::arg("strata").noconvert(),
          nb::arg("share"), nb::arg("seed"));
    m.def("cover_rows", &cover, nb::arg("columns"), nb::arg("tests").noconvert(),
          nb::arg("n_threads"));
    m.def("grow_rule", &grow, nb::arg("columns"), nb::arg("rows").noconvert(),
          nb::arg("stats").noconvert(), nb::arg("score"), nb::arg("l2"), nb::arg("unit"),
          nb::arg("n_pairs"), nb::arg("first_lane"), nb::arg("up"), nb::arg("down"),
          nb::arg("max_conditions"), nb::arg("tolerance"), nb::arg("min_weight"),
          nb::arg("up_operators").noconvert(), nb::arg("down_operators").noconvert(),
          nb::arg("required").noconvert(), nb::arg("groups").noconvert(), nb::arg("workspace"),
          nb::arg("n_threads"));
    m.def("prefix_sums", &prefixes, nb::arg("columns"), nb::arg("tests").noconvert(),
          nb::arg("stats").noconvert(), nb::arg("first_lane"), nb::arg("side").noconvert(),
          nb::arg("n_threads"));
}

}  // namespace rulewright
