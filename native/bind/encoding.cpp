#include "bind/bind.hpp"
#include "encoding/covers.hpp"
#include "encoding/encode.hpp"
#include "encoding/group.hpp"

namespace rulewright {
namespace {

using AnyStride = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;

void require_cuts(const Vector<double>& cuts, bool on_cut) {
    require(cuts.shape(0) * (on_cut ? 2 : 1) < kUnseen, "too many cuts for 16-bit codes");
}

CodedColumn coded(const AnyStride& values, const Vector<double>& cuts, ValueCode* codes) {
    return {{values.data(), values.stride(0)}, as_span(cuts), codes};
}

auto encode(const AnyStride& values, const Vector<double>& cuts, bool on_cut, int missing,
            int n_threads) {
    require_cuts(cuts, on_cut);
    require(missing >= 0 && missing <= kMissing, "the code for missing values is out of range");
    std::vector<ValueCode> codes(values.shape(0));
    const CodedColumn column = coded(values, cuts, codes.data());
    without_gil([&] {
        encode_columns({&column, 1}, values.shape(0), on_cut, static_cast<ValueCode>(missing),
                       n_threads);
    });
    return to_numpy(std::move(codes));
}

using Rows = Vector<Row>;

GroupedRows checked_entries(const Rows& groups, const Rows& rows, const Vector<double>& values,
                            std::size_t n_groups) {
    require_rows(as_span(groups), n_groups);
    require_rows(as_span(rows), values.shape(0));
    const std::size_t n = rows.shape(0) == 0 ? values.shape(0) : rows.shape(0);
    require(groups.shape(0) == n, "the groups are not those of the rows");
    return {as_span(groups), as_span(rows)};
}

void summarise(const Rows& groups, const Rows& rows, const Vector<double>& values, double factor,
               const MutableMatrix<double>& out) {
    require(out.shape(1) == 4, "out needs four columns");
    require_positive(factor, "the factor must be positive");
    const GroupedRows entries = checked_entries(groups, rows, values, out.shape(0));
    static_assert(sizeof(GroupSummary) == 4 * sizeof(double));
    auto* lines = reinterpret_cast<GroupSummary*>(out.data());
    without_gil([&] { summarise_groups(entries, values.data(), factor, {lines, out.shape(0)}); });
}

void at_least(const Rows& groups, const Rows& rows, const Vector<double>& values,
              const Vector<double>& cuts, const MutableMatrix<std::uint32_t>& out) {
    require(out.shape(1) == cuts.shape(0), "out needs a column for each cut");
    const GroupedRows entries = checked_entries(groups, rows, values, out.shape(0));
    without_gil([&] { count_at_least(entries, values.data(), as_span(cuts), out.data()); });
}

void last(const Rows& groups, const Rows& rows, const Vector<double>& values,
          const Vector<double>& times, const MutableVector<double>& out) {
    const GroupedRows entries = checked_entries(groups, rows, values, out.shape(0));
    require(times.shape(0) == groups.shape(0), "the times are not those of the rows");
    without_gil(
        [&] { last_values(entries, values.data(), times.data(), {out.data(), out.shape(0)}); });
}

void middle(const Rows& groups, const Rows& rows, const Vector<double>& values,
            const MutableVector<double>& out) {
    const GroupedRows entries = checked_entries(groups, rows, values, out.shape(0));
    without_gil([&] { middle_values(entries, values.data(), {out.data(), out.shape(0)}); });
}

auto facts(const Rows& rows, const Vector<double>& values, int most) {
    require_rows(as_span(rows), values.shape(0));
    require(most >= 0 && most <= 15, "the digits are out of range");
    const ValueFacts found =
        without_gil([&] { return value_facts(as_span(rows), as_span(values), most); });
    return std::make_tuple(found.size, found.least, found.digits);
}

CoverLines checked_lines(const Matrix<std::uint64_t>& words, std::size_t n_rows) {
    require(n_rows < std::size_t{1} << 31 && words.shape(1) == count_words(n_rows),
            "the words are not those of so many rows");
    const CoverLines covers{words.data(), words.shape(0), n_rows};
    Bits beyond = 0;
    for (std::size_t c = 0; c < covers.n_covers && n_rows % kWordBits != 0; ++c) {
        beyond |= covers.line(c)[covers.n_words() - 1] >> (n_rows % kWordBits);
    }
    require(beyond == 0, "a cover holds rows beyond the last");
    return covers;
}

auto count_held_rows(const Matrix<std::uint64_t>& words) {
    const CoverLines covers{words.data(), words.shape(0), words.shape(1) * kWordBits};
    return to_numpy(without_gil([&] { return count_held(covers); }));
}

auto group_held_rows(const Matrix<std::uint64_t>& words, const Vector<double>& weights,
                     const Matrix<double>& shares) {
    const CoverLines covers = checked_lines(words, weights.shape(0));
    require(shares.shape(0) == covers.n_rows, "weights and shares differ in rows");
    const std::span<const double> all{shares.data(), shares.shape(0) * shares.shape(1)};
    CoverGroups found = without_gil([&] { return group_rows(covers, as_span(weights), all); });
    return std::make_tuple(to_numpy(std::move(found.groups)), to_numpy(std::move(found.covers)),
                           to_numpy(std::move(found.weights)), to_numpy(std::move(found.sums)));
}

// Writes row places[i] of the codes from values[i].
void encode_all(const std::vector<AnyStride>& values, const std::vector<Vector<double>>& cuts,
                const Vector<std::int32_t>& places, const MutableMatrix<ValueCode>& out,
                int n_threads) {
    require(values.size() == cuts.size() && values.size() == places.shape(0),
            "values, cuts and places differ in columns");
    const std::size_t n_rows = out.shape(1);
    std::vector<CodedColumn> columns;
    for (std::size_t i = 0; i < values.size(); ++i) {
        require(values[i].shape(0) == n_rows, "values and codes differ in rows");
        require(places(i) >= 0 && static_cast<std::size_t>(places(i)) < out.shape(0),
                "a place is out of range");
        require_cuts(cuts[i], true);
        columns.push_back(
            coded(values[i], cuts[i], out.data() + static_cast<std::size_t>(places(i)) * n_rows));
    }
    without_gil([&] { encode_columns(columns, n_rows, true, kMissing, n_threads); });
}

}  // namespace

void bind_encoding(nb::module_& m) {
    m.def("summarise_groups", &summarise, array("groups"), array("rows"), array("values"),
          "factor"_a, array("out"));
    m.def("count_at_least", &at_least, array("groups"), array("rows"), array("values"),
          array("cuts"), array("out"));
    m.def("last_values", &last, array("groups"), array("rows"), array("values"), array("times"),
          array("out"));
    m.def("middle_values", &middle, array("groups"), array("rows"), array("values"), array("out"));
    m.def("value_facts", &facts, array("rows"), array("values"), "most"_a);
    m.def("count_held", &count_held_rows, array("words"));
    m.def("group_rows", &group_held_rows, array("words"), array("weights"), array("shares"));
    m.def("encode_values", &encode, array("values"), array("cuts"), "on_cut"_a, "missing"_a,
          "n_threads"_a);
    m.def("encode_columns", &encode_all, "values"_a, "cuts"_a, array("places"), array("out"),
          "n_threads"_a);
}

}  // namespace rulewright
