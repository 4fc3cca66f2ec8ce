// What the binding files share: array types as they come from Python, checks, results.
// Arguments are checked here, once; kernels trust them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/types.hpp"

namespace rulewright {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using MutableVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using MutableMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> as_span(const Vector<T>& array) {
    return {array.data(), array.shape(0)};
}

inline void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

// NaN is refused by every one of these.
inline void require_within(double value, double low, double high, const char* message) {
    require(value >= low && value <= high, message);
}
inline void require_positive(double value, const char* message) {
    require(value > 0 && std::isfinite(value), message);
}
inline void require_penalty(double value, const char* message) {
    require(value >= 0 && std::isfinite(value), message);
}

// Weights whose fixed-point sum, `scale` steps per unit, has room in a Stat.
inline constexpr double kLargestSum = 0x1p62;

inline void require_weights(std::span<const double> weights, double scale) {
    double sum = 0;
    for (const double weight : weights) {
        require_penalty(weight, "a weight is negative or not finite");
        sum += weight;
    }
    require(sum * scale <= kLargestSum, "the weights are too large for the scale");
}

inline void require_rows(std::span<const Row> rows, std::size_t n_rows) {
    Row largest = 0;  // a plain loop, which the compiler turns into vector instructions
    for (const Row row : rows) largest = std::max(largest, row);
    require(rows.empty() || largest < n_rows, "a row index is out of range");
}

inline void require_ascending(std::span<const Row> rows, std::size_t n_rows) {
    require_rows(rows, n_rows);
    require(std::ranges::is_sorted(rows), "rows must ascend");
}

// An array argument whose type must be right as it is: kernels read Python's memory in place.
inline auto array(const char* name) { return nb::arg(name).noconvert(); }

// Runs a kernel while other Python threads go on.
template <class Kernel>
auto without_gil(const Kernel& kernel) {
    nb::gil_scoped_release release;
    return kernel();
}

// Lets one thread at a time change what an object holds; a second one is refused, not kept waiting.
class InUse {
  public:
    explicit InUse(std::mutex& mutex) : lock_(mutex, std::try_to_lock) {
        if (!lock_) throw std::runtime_error("another thread is using this object");
    }

  private:
    std::unique_lock<std::mutex> lock_;
};

// Hands a vector over to NumPy without a copy.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

void bind_encoding(nb::module_& m);
void bind_search(nb::module_& m);
void bind_trees(nb::module_& m);
void bind_dnf(nb::module_& m);
void bind_weighting(nb::module_& m);
void bind_class_likelihood(nb::module_& m);
void bind_rule_matrix(nb::module_& m);
void bind_signed_rules(nb::module_& m);
void bind_sorted_covers(nb::module_& m);
void bind_elbow(nb::module_& m);
void bind_points(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_model(nb::module_& m);
void bind_nearest(nb::module_& m);
void bind_scale(nb::module_& m);

}  // namespace rulewright
