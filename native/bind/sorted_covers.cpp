#include "weighting/sorted_covers.hpp"

#include "bind/bind.hpp"

namespace rulewright {
namespace {

using Words = Matrix<std::uint64_t>;

Covers as_covers(const Words& words) { return {words.data(), words.shape(0), words.shape(1)}; }

auto bound_take_rows(const Words& covers, const Vector<Row>& rows, int n_threads) {
    require_rows(as_span(rows), covers.shape(1) * kWordBits);
    return to_numpy(
        without_gil([&] { return take_rows(as_covers(covers), as_span(rows), n_threads); }));
}

auto bound_count_shared(const Words& covers, const Words& others, const Vector<double>& weights,
                        std::size_t block, int n_threads) {
    const std::size_t n_words = covers.shape(1);
    require(n_words > 0, "covers have no words");
    require(others.shape(1) == n_words, "covers and others differ in words");
    require(block > 0, "a block has no words");
    require(weights.shape(0) == n_words / block + (n_words % block != 0),
            "there must be one weight for each block");
    return to_numpy(without_gil([&] {
        return count_shared(as_covers(covers), as_covers(others), {as_span(weights), block},
                            n_threads);
    }));
}

}  // namespace

void bind_sorted_covers(nb::module_& m) {
    m.def("take_rows", &bound_take_rows, array("covers"), array("rows"), "n_threads"_a);
    m.def("count_shared", &bound_count_shared, array("covers"), array("others"), array("weights"),
          "block"_a, "n_threads"_a);
}

}  // namespace rulewright
