#include "bind/bind.hpp"
#include "encoding/encode.hpp"

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
    m.def("encode_values", &encode, array("values"), array("cuts"), "on_cut"_a, "missing"_a,
          "n_threads"_a);
    m.def("encode_columns", &encode_all, "values"_a, "cuts"_a, array("places"), array("out"),
          "n_threads"_a);
}

}  // namespace rulewright
