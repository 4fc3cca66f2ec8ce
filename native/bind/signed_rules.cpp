#include "weighting/signed_rules.hpp"

#include "bind/bind.hpp"

namespace rulewright {
namespace {

using Words = Matrix<std::uint64_t>;
using Chosen = Vector<std::int32_t>;

void require_lines(const Chosen& lines, std::size_t n_rules) {
    for (const std::int32_t line : as_span(lines)) {
        require(line >= 0 && static_cast<std::size_t>(line) < n_rules, "a line is out of range");
    }
}

SignedRules checked_rules(const Words& holds, const Words& fails) {
    require(holds.shape(0) == fails.shape(0) && holds.shape(1) == fails.shape(1),
            "holds and fails differ in shape");
    return {holds.shape(1), holds.data(), fails.data()};
}

auto products(const Words& holds, const Words& fails, const Chosen& lines, const Chosen& others,
              int n_threads) {
    const SignedRules rules = checked_rules(holds, fails);
    require_lines(lines, holds.shape(0));
    require_lines(others, holds.shape(0));
    return to_numpy(without_gil(
        [&] { return signed_products(rules, as_span(lines), as_span(others), n_threads); }));
}

auto sums(const Words& holds, const Words& fails, const Chosen& lines, const Vector<double>& values,
          int n_threads) {
    const SignedRules rules = checked_rules(holds, fails);
    require_lines(lines, holds.shape(0));
    require(rules.n_words == count_words(values.shape(0)), "values differ in rows from the rules");
    return to_numpy(without_gil(
        [&] { return signed_sums(rules, as_span(lines), as_span(values), n_threads); }));
}

}  // namespace

void bind_signed_rules(nb::module_& m) {
    m.def("signed_products", &products, array("holds"), array("fails"), array("lines"),
          array("others"), "n_threads"_a);
    m.def("signed_sums", &sums, array("holds"), array("fails"), array("lines"), array("values"),
          "n_threads"_a);
}

}  // namespace rulewright
