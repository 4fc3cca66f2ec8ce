#include "model/nearest.hpp"

#include "bind/bind.hpp"
#include "search/rise.hpp"

namespace rulewright {
namespace {

using Ints = Vector<std::int32_t>;
using Floats = Vector<double>;

void require_starts(const Ints& starts, std::size_t n, std::size_t end, const char* message) {
    require(starts.shape(0) == n + 1 && starts(0) == 0, message);
    for (std::size_t i = 0; i < n; ++i) require(starts(i) <= starts(i + 1), message);
    require(static_cast<std::size_t>(starts(n)) == end, message);
}

DistanceColumns checked_columns(const Floats& widths, const Ints& group_starts, const Ints& groups,
                                const Ints& table_starts, const Floats& tables) {
    const std::size_t n = widths.shape(0);
    require_starts(group_starts, n, groups.shape(0), "the starts of the groups are wrong");
    require_starts(table_starts, n, tables.shape(0), "the starts of the tables are wrong");
    for (const double width : as_span(widths)) require_penalty(width, "a width is not a width");
    for (const double gap : as_span(tables)) require_penalty(gap, "a distance is not a distance");
    for (std::size_t j = 0; j < n; ++j) {
        const auto size = static_cast<std::size_t>(table_starts(j + 1) - table_starts(j));
        const auto side =
            static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(size))));
        require(side * side == size, "a table of distances is not square");
        require(size == 0 || group_starts(j) < group_starts(j + 1), "a numeric column has a table");
        for (std::int32_t i = group_starts(j); i < group_starts(j + 1); ++i) {
            const std::int32_t group = groups(static_cast<std::size_t>(i));
            require(group >= 0 && static_cast<std::size_t>(group) < side, "a code has no group");
        }
    }
    return {as_span(widths), as_span(group_starts), as_span(groups), as_span(table_starts),
            as_span(tables)};
}

bool is_code(const DistanceColumns& columns, std::size_t j, double value) {
    const std::int32_t n = columns.group_starts[j + 1] - columns.group_starts[j];
    return value >= 0 && value < n && value == std::floor(value);
}

void require_shape(const Matrix<double>& values, const DistanceColumns& columns) {
    require(values.shape(1) == columns.size(), "the values have another number of columns");
    require(values.shape(0) < 0x7FFFFFFFULL, "there are too many rows");
}

void require_values(const Matrix<double>& values, const DistanceColumns& columns) {
    require_shape(values, columns);
    for (std::size_t i = 0; i < values.shape(0); ++i) {
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const double value = values(i, j);
            require(columns.is_nominal(j) ? is_code(columns, j, value) : !std::isinf(value),
                    "a value is infinite or no code of its column");
        }
    }
}

Boxes checked_boxes(const DistanceColumns& columns, const Ints& starts, const Ints& places,
                    const Floats& lows, const Floats& highs) {
    const std::size_t n = places.shape(0);
    require(lows.shape(0) == n && highs.shape(0) == n, "conditions have a column and two bounds");
    require(starts.shape(0) >= 1, "the starts of the rules are wrong");
    require_starts(starts, starts.shape(0) - 1, n, "the starts of the rules are wrong");
    for (std::size_t i = 0; i < n; ++i) {
        require(places(i) >= 0 && static_cast<std::size_t>(places(i)) < columns.size(),
                "a column index is out of range");
        const auto j = static_cast<std::size_t>(places(i));
        require(columns.is_nominal(j) ? is_code(columns, j, lows(i)) : lows(i) <= highs(i),
                "the bounds of a condition are wrong");
    }
    return {as_span(starts), as_span(places), as_span(lows), as_span(highs)};
}

auto nearest(const Matrix<double>& values, const Floats& widths, const Ints& group_starts,
             const Ints& groups, const Ints& table_starts, const Floats& tables, const Ints& starts,
             const Ints& columns, const Floats& lows, const Floats& highs, int n_threads) {
    const DistanceColumns distances =
        checked_columns(widths, group_starts, groups, table_starts, tables);
    const Boxes boxes = checked_boxes(distances, starts, columns, lows, highs);
    require_shape(values, distances);  // before memory is asked for as many rows
    std::vector<std::int32_t> places(values.shape(0));
    std::vector<double> found(values.shape(0));
    {
        nb::gil_scoped_release release;
        require_values(values, distances);
        nearest_rules(values.data(), values.shape(0), distances, boxes, places.data(), found.data(),
                      n_threads);
    }
    return std::make_tuple(to_numpy(std::move(places)), to_numpy(std::move(found)));
}

template <class T>
std::vector<T> copied(std::span<const T> values) {
    return {values.begin(), values.end()};
}

// The rows are copied: a search goes on for long, and its steps trust what was checked once.
class BoundRise {
  public:
    BoundRise(const Matrix<double>& values, const Floats& widths, const Ints& group_starts,
              const Ints& groups, const Ints& table_starts, const Floats& tables,
              const Ints& labels, const Vector<Stat>& weights, const Vector<std::uint8_t>& alone,
              const Ints& ranks, double unit, std::int64_t max_passes)
        : BoundRise(checked(values,
                            checked_columns(widths, group_starts, groups, table_starts, tables),
                            {values.data(),
                             {},
                             as_span(labels),
                             as_span(weights),
                             as_span(alone),
                             as_span(ranks),
                             unit,
                             max_passes})) {}
    BoundRise(const BoundRise&) = delete;  // the search refers to the copies
    BoundRise& operator=(const BoundRise&) = delete;

    bool advance(std::uint64_t n_steps, int n_threads) {
        const InUse in_use(mutex_);
        require(!interrupted_, "the search ran out of memory before: start a new one");
        nb::gil_scoped_release release;
        interrupted_ = true;
        const bool more = search_.advance(n_steps, n_threads);
        interrupted_ = false;
        return more;
    }
    Stat accuracy() const {
        const InUse in_use(mutex_);
        return search_.accuracy();
    }
    Stat first_accuracy() const {
        const InUse in_use(mutex_);
        return search_.first_accuracy();
    }
    std::int64_t n_passes() const {
        const InUse in_use(mutex_);
        return search_.n_passes();
    }
    auto state() const {
        const InUse in_use(mutex_);
        std::vector<std::int32_t> places = search_.alive();
        const std::size_t n_columns = widths_.size();
        std::vector<double> lows, highs;
        for (const std::int32_t place : places) {
            const auto rule = static_cast<std::size_t>(place);
            lows.insert(lows.end(), search_.lows(rule), search_.lows(rule) + n_columns);
            highs.insert(highs.end(), search_.highs(rule), search_.highs(rule) + n_columns);
        }
        return std::make_tuple(
            to_numpy(std::vector(search_.winners())), to_numpy(std::vector(search_.distances())),
            to_numpy(std::vector(search_.covered())), to_numpy(std::vector(search_.correct())),
            to_numpy(std::move(places)), to_numpy(std::move(lows)), to_numpy(std::move(highs)));
    }

  private:
    explicit BoundRise(const RiseRows& rows)
        : values_(rows.values, rows.values + rows.size() * rows.columns.size()),
          widths_(copied(rows.columns.widths)),
          tables_(copied(rows.columns.tables)),
          group_starts_(copied(rows.columns.group_starts)),
          groups_(copied(rows.columns.groups)),
          table_starts_(copied(rows.columns.table_starts)),
          labels_(copied(rows.labels)),
          ranks_(copied(rows.ranks)),
          weights_(copied(rows.weights)),
          alone_(copied(rows.alone)),
          search_({values_.data(),
                   {widths_, group_starts_, groups_, table_starts_, tables_},
                   labels_,
                   weights_,
                   alone_,
                   ranks_,
                   rows.unit,
                   rows.max_passes}) {}

    static RiseRows checked(const Matrix<double>& values, const DistanceColumns& columns,
                            RiseRows rows) {
        require_values(values, columns);
        const std::size_t n = values.shape(0);
        require(rows.labels.size() == n && rows.weights.size() == n && rows.alone.size() == n,
                "labels, weights and copies need one entry per row");
        for (const std::int32_t label : rows.labels) {
            require(label >= 0 && static_cast<std::size_t>(label) < rows.ranks.size(),
                    "a label is no class");
        }
        double sum = 0;
        for (const Stat weight : rows.weights) {
            require(weight >= 0, "a weight is negative");
            sum += static_cast<double>(weight);
        }
        require(sum < kLargestSum, "the weights are too large");
        require_positive(rows.unit, "the unit is not positive");
        require(rows.max_passes >= -1, "a limit of passes is -1 or more");
        rows.columns = columns;
        return rows;
    }

    std::vector<double> values_, widths_, tables_;
    std::vector<std::int32_t> group_starts_, groups_, table_starts_, labels_, ranks_;
    std::vector<Stat> weights_;
    std::vector<std::uint8_t> alone_;
    RiseSearch search_;
    bool interrupted_ = false;
    mutable std::mutex mutex_;
};

}  // namespace

void bind_nearest(nb::module_& m) {
    m.def("nearest_rules", &nearest, array("values"), array("widths"), array("group_starts"),
          array("groups"), array("table_starts"), array("tables"), array("starts"),
          array("columns"), array("lows"), array("highs"), "n_threads"_a);
    nb::class_<BoundRise>(m, "RiseSearch")
        .def(nb::init<Matrix<double>, Floats, Ints, Ints, Ints, Floats, Ints, Vector<Stat>,
                      Vector<std::uint8_t>, Ints, double, std::int64_t>(),
             array("values"), array("widths"), array("group_starts"), array("groups"),
             array("table_starts"), array("tables"), array("labels"), array("weights"),
             array("alone"), array("ranks"), "unit"_a, "max_passes"_a)
        .def("advance", &BoundRise::advance, "n_steps"_a, "n_threads"_a)
        .def("accuracy", &BoundRise::accuracy)
        .def("first_accuracy", &BoundRise::first_accuracy)
        .def("n_passes", &BoundRise::n_passes)
        .def("state", &BoundRise::state);
}

}  // namespace rulewright
