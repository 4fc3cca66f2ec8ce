#include "bind/bind.hpp"
#include "encoding/encode.hpp"

namespace rulewright {
namespace {

using AnyStride = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;

auto encode(const AnyStride& values, const Vector<double>& cuts, bool on_cut, int missing,
            int n_threads) {
    require(cuts.shape(0) * (on_cut ? 2 : 1) < kUnseen, "too many cuts for 16-bit codes");
    require(missing >= 0 && missing <= kMissing, "the code for missing values is out of range");
    std::vector<ValueCode> codes(values.shape(0));
    const Values column{values.data(), values.shape(0), values.stride(0)};
    without_gil([&] {
        encode_values(column, as_span(cuts), on_cut, static_cast<ValueCode>(missing), codes.data(),
                      n_threads);
    });
    return to_numpy(std::move(codes));
}

}  // namespace

void bind_encoding(nb::module_& m) {
    m.def("encode_values", &encode, array("values"), array("cuts"), "on_cut"_a, "missing"_a,
          "n_threads"_a);
}

}  // namespace rulewright
