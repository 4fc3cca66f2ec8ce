#include "bind/bind.hpp"
#include "model/evaluate.hpp"

namespace rulewright {
namespace {

using Codes = Matrix<ValueCode>;
using Starts = Vector<std::int32_t>;

// Starts must ascend from 0 to `n`, so that every slice lies inside its array.
void require_starts(const Starts& starts, std::size_t n) {
    require(starts.shape(0) >= 1 && starts(0) == 0, "starts must begin with 0");
    for (std::size_t i = 1; i < starts.shape(0); ++i) {
        require(starts(i) >= starts(i - 1), "starts must ascend");
    }
    require(static_cast<std::size_t>(starts(starts.shape(0) - 1)) == n, "starts must end at n");
}

CompiledRules checked_rules(const Codes& codes, const Matrix<std::int32_t>& intervals,
                            const Starts& condition_starts, const Starts& rule_starts) {
    require(intervals.shape(1) == 3, "an interval has three numbers: column, low, high");
    for (std::size_t i = 0; i < intervals.shape(0); ++i) {
        const std::int32_t column = intervals(i, 0);
        require(column >= 0 && static_cast<std::size_t>(column) < codes.shape(0),
                "a column index is out of range");
        require(intervals(i, 1) >= 0 && intervals(i, 1) <= intervals(i, 2) &&
                    intervals(i, 2) <= kMissing,
                "an interval of codes is out of range");
    }
    require_starts(condition_starts, intervals.shape(0));
    require_starts(rule_starts, condition_starts.shape(0) - 1);
    static_assert(sizeof(CodeInterval) == 3 * sizeof(std::int32_t));
    return {{reinterpret_cast<const CodeInterval*>(intervals.data()), intervals.shape(0)},
            as_span(condition_starts),
            as_span(rule_starts)};
}

std::span<const Head> checked_heads(const Matrix<std::int32_t>& heads, std::size_t n_classes) {
    require(heads.shape(1) == 2, "a head has two numbers: first and last class");
    for (std::size_t i = 0; i < heads.shape(0); ++i) {
        require(heads(i, 0) >= 0 && heads(i, 0) <= heads(i, 1) &&
                    static_cast<std::size_t>(heads(i, 1)) < n_classes,
                "a head is no class");
    }
    static_assert(sizeof(Head) == 2 * sizeof(std::int32_t));
    return {reinterpret_cast<const Head*>(heads.data()), heads.shape(0)};
}

void scores(const Codes& codes, const Matrix<std::int32_t>& intervals,
            const Starts& condition_starts, const Starts& rule_starts,
            const Matrix<std::int32_t>& heads, const Vector<double>& responses,
            const MutableMatrix<double>& out, int n_threads) {
    const CompiledRules rules = checked_rules(codes, intervals, condition_starts, rule_starts);
    const std::span<const Head> votes = checked_heads(heads, out.shape(1));
    require(votes.size() == rules.n_rules() && responses.shape(0) == rules.n_rules(),
            "heads and responses need one entry per rule");
    require(out.shape(0) == codes.shape(1), "scores and codes differ in rows");
    nb::gil_scoped_release release;
    add_responses({codes.data(), codes.shape(0), codes.shape(1)}, rules, votes, as_span(responses),
                  out.shape(1), out.data(), n_threads);
}

void covers(const Codes& codes, const Matrix<std::int32_t>& intervals,
            const Starts& condition_starts, const Starts& rule_starts,
            const MutableMatrix<bool>& out, int n_threads) {
    const CompiledRules rules = checked_rules(codes, intervals, condition_starts, rule_starts);
    require(out.shape(0) == codes.shape(1) && out.shape(1) == rules.n_rules(),
            "covers must have the shape (rows, rules)");
    nb::gil_scoped_release release;
    rule_covers({codes.data(), codes.shape(0), codes.shape(1)}, rules, out.data(), n_threads);
}

void bits(const Codes& codes, const Matrix<std::int32_t>& intervals, const Starts& condition_starts,
          const Starts& rule_starts, const MutableMatrix<std::uint64_t>& out, int n_threads) {
    const CompiledRules rules = checked_rules(codes, intervals, condition_starts, rule_starts);
    require(out.shape(0) == rules.n_rules() && out.shape(1) == (codes.shape(1) + 63) / 64,
            "bits must have the shape (rules, words of 64 rows)");
    nb::gil_scoped_release release;
    rule_bits({codes.data(), codes.shape(0), codes.shape(1)}, rules, out.data(), n_threads);
}

}  // namespace

void bind_model(nb::module_& m) {
    m.def("add_responses", &scores, array("codes"), array("intervals"), array("condition_starts"),
          array("rule_starts"), array("heads"), array("responses"), array("out"), "n_threads"_a);
    m.def("rule_covers", &covers, array("codes"), array("intervals"), array("condition_starts"),
          array("rule_starts"), array("out"), "n_threads"_a);
    m.def("rule_bits", &bits, array("codes"), array("intervals"), array("condition_starts"),
          array("rule_starts"), array("out"), "n_threads"_a);
}

}  // namespace rulewright
