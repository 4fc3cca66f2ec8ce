#include <mutex>

#include "bind/search.hpp"
#include "search/partition.hpp"

namespace rulewright {
namespace {

auto sums(Histogram histogram) { return to_numpy(std::move(histogram.sums())); }

// The search among the rows of a partition, whose statistics belong to Python.
class BoundBlockSearch {
  public:
    BoundBlockSearch(const BoundColumns& columns, const Matrix<Stat>& stats,
                     const Vector<Stat>& starts, bool keeps_roots)
        : search_(columns.kinds(), checked(columns, stats, starts), stats.shape(1), keeps_roots) {
        columns.run([&](const auto& c) { search_.count(c, stats.data()); });
    }

    void remember(const BoundColumns& columns, const Vector<Row>& rows, const Matrix<Stat>& stats) {
        const InUse in_use(mutex_);
        require_same(columns, stats);
        require_ascending(as_span(rows), columns.n_rows());
        without_gil([&] { search_.remember(as_span(rows), stats.data()); });
    }

    void follow(const BoundColumns& columns, const Matrix<Stat>& stats) {
        const InUse in_use(mutex_);
        require_same(columns, stats);
        columns.run([&](const auto& c) { search_.follow(c, stats.data()); });
    }

    auto start(const BoundColumns& columns, const Matrix<Stat>& stats,
               const Vector<std::uint8_t>& chosen, std::size_t first, std::size_t n,
               bool weighted) {
        const InUse in_use(mutex_);
        require_same(columns, stats);
        require(chosen.shape(0) == search_.n_blocks(), "there are more or fewer blocks");
        const std::size_t stride = search_.n_lanes();
        require(n >= 1 && n <= stride && first <= stride - n, "statistics have too few lanes");
        require(!weighted || first + n < stride, "no lane is left for the weights");
        const Lanes lanes{first, n, stride, weighted};
        return sums(columns.run(
            [&](const auto& c) { return search_.start(c, stats.data(), as_span(chosen), lanes); }));
    }

    auto narrow(const BoundColumns& columns, const Matrix<Stat>& stats,
                const std::vector<std::int32_t>& test) {
        const InUse in_use(mutex_);
        require_same(columns, stats);
        const CodeTest checked = checked_test(columns, test);
        return sums(
            columns.run([&](const auto& c) { return search_.narrow(c, stats.data(), checked); }));
    }

  private:
    static std::vector<std::size_t> checked(const BoundColumns& columns, const Matrix<Stat>& stats,
                                            const Vector<Stat>& starts) {
        const std::span<const Stat> given = as_span(starts);
        require(stats.shape(0) == columns.n_rows(), "statistics and codes differ in rows");
        require(stats.shape(1) >= 1, "statistics have too few lanes");
        require(given.size() >= 2 && given.size() <= 65537, "blocks are 1 to 65,536");
        require(std::ranges::is_sorted(given) && given.front() == 0 &&
                    given.back() == static_cast<Stat>(columns.n_rows()),
                "the starts of blocks must ascend from 0 to the number of rows");
        return {given.begin(), given.end()};
    }
    void require_same(const BoundColumns& columns, const Matrix<Stat>& stats) const {
        require(columns.n_rows() == search_.n_rows() && stats.shape(0) == search_.n_rows() &&
                    stats.shape(1) == search_.n_lanes() && search_.fits(columns.kinds()),
                "these are not the rows that were counted");
    }

    BlockSearch search_;
    std::mutex mutex_;
};

}  // namespace

void bind_scale(nb::module_& m) {
    nb::class_<BoundBlockSearch>(m, "BlockSearch")
        .def(nb::init<const BoundColumns&, const Matrix<Stat>&, const Vector<Stat>&, bool>(),
             "columns"_a, array("stats"), array("starts"), "keeps_roots"_a)
        .def("remember", &BoundBlockSearch::remember, "columns"_a, array("rows"), array("stats"))
        .def("follow", &BoundBlockSearch::follow, "columns"_a, array("stats"))
        .def("start", &BoundBlockSearch::start, "columns"_a, array("stats"), array("chosen"),
             "first"_a, "n"_a, "weighted"_a)
        .def("narrow", &BoundBlockSearch::narrow, "columns"_a, array("stats"), "test"_a);
}

}  // namespace rulewright
