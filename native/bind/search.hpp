// The bound structs that every search on codes takes.
#pragma once

#include <utility>

#include "bind/bind.hpp"
#include "search/joint.hpp"
#include "search/limits.hpp"

namespace rulewright {

using Codes = nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Binned columns, checked once at construction, so that no kernel has to look for bad codes.
class BoundColumns {
  public:
    template <class Body>
    auto visit(const Body& body) const {
        if (codes_.dtype() == nb::dtype<std::uint8_t>()) return body(view<std::uint8_t>());
        return body(view<std::uint16_t>());
    }

    template <class Kernel>
    auto run(const Kernel& kernel) const {
        return without_gil([&] { return visit(kernel); });
    }

    BoundColumns(Codes codes, Vector<std::int32_t> n_bins, Vector<std::uint8_t> nominal)
        : codes_(std::move(codes)), n_bins_(std::move(n_bins)), nominal_(std::move(nominal)) {
        const std::size_t n_groups = (n_bins_.shape(0) + kGroup - 1) / kGroup;
        require(codes_.shape(0) == n_groups && codes_.shape(2) == kGroup,
                "codes must have the shape (groups, rows, 8)");
        require(n_bins_.shape(0) > 0, "at least one column is needed");
        require(codes_.shape(1) < 0xFFFFFFFFULL, "there are too many rows");
        require(nominal_.shape(0) == n_bins_.shape(0), "n_bins and nominal differ in length");
        require(codes_.dtype() == nb::dtype<std::uint8_t>() ||
                    codes_.dtype() == nb::dtype<std::uint16_t>(),
                "codes must be uint8 or uint16");
        for (const std::int32_t n : as_span(n_bins_)) {
            require(n >= 0 && n <= 65535, "a column has too many bins");
        }
        visit([this](const auto& columns) { parts_ = checked_parts(columns); });
    }

    std::size_t n_rows() const { return codes_.shape(1); }
    std::size_t n_columns() const { return n_bins_.shape(0); }
    ColumnKinds kinds() const { return {as_span(n_bins_), as_span(nominal_)}; }

  private:
    template <class Code>
    Columns<Code> view() const {
        return {kinds(), static_cast<const Code*>(codes_.data()), n_rows(), parts_};
    }

    template <class Code>
    static std::vector<Part> checked_parts(const Columns<Code>& columns) {
        std::vector<Code> largest(columns.n_groups() * kGroup);
        for (std::size_t group = 0; group < columns.n_groups(); ++group) {
            const Code* codes = columns.group(group);
            Code seen[kGroup] = {};
            for (std::size_t i = 0; i < columns.n_rows * kGroup; i += kGroup) {
                for (std::size_t j = 0; j < kGroup; ++j) {  // becomes vector instructions
                    seen[j] = codes[i + j] > seen[j] ? codes[i + j] : seen[j];
                }
            }
            std::copy_n(seen, kGroup,
                        largest.begin() + static_cast<std::ptrdiff_t>(group * kGroup));
        }
        largest.resize(columns.n_columns());
        for (std::size_t j = 0; j < columns.n_columns(); ++j) {
            require(largest[j] <= columns.n_bins[j], "a code is beyond the bins of its column");
        }
        return parts_of(columns, std::span<const Code>(largest));
    }

    Codes codes_;
    Vector<std::int32_t> n_bins_;
    Vector<std::uint8_t> nominal_;
    std::vector<Part> parts_;
};

// A test as Python gives it: column, low, high and the codes to skip.
inline CodeTest checked_test(const BoundColumns& columns, std::span<const std::int32_t> test) {
    require(test.size() >= 4, "a test has four numbers or more: column, low, high, skip, ...");
    require(test[0] >= 0 && static_cast<std::size_t>(test[0]) < columns.n_columns(),
            "a column index is out of range");
    return {test[0], test[1], test[2], {test.begin() + 3, test.end()}};
}

// Limits whose arrays belong to Python.
struct BoundLimits {
    std::int32_t max_conditions;
    double tolerance;
    Stat min_weight;
    Vector<std::uint8_t> up_operators, down_operators, required;
    Vector<std::uint64_t> groups;
    LabelSets sets;

    BoundLimits(std::int32_t most, double least_gain, Stat least_weight, Vector<std::uint8_t> up,
                Vector<std::uint8_t> down, Vector<std::uint8_t> must, Vector<std::uint64_t> bits,
                std::int32_t most_labels, Stat smoothing)
        : max_conditions(most),
          tolerance(least_gain),
          min_weight(least_weight),
          up_operators(std::move(up)),
          down_operators(std::move(down)),
          required(std::move(must)),
          groups(std::move(bits)),
          sets{most_labels, smoothing} {
        require(max_conditions >= -1, "max_conditions is -1 or more");
        require_penalty(tolerance, "the tolerance must be finite and not negative");
        require(min_weight >= 0, "min_weight is negative");
        require(sets.most >= 1, "max_labels is 1 or more");
        require(sets.smoothing >= 1 && sets.smoothing <= Stat{1} << 62,
                "label_smoothing is 1 to 2^62 steps");
    }

    Limits of(const ColumnKinds& columns) const {
        const Limits limits{
            max_conditions,          tolerance,         min_weight,      as_span(up_operators),
            as_span(down_operators), as_span(required), as_span(groups), sets};
        for (const std::size_t size : {limits.up_operators.size(), limits.down_operators.size(),
                                       limits.required.size(), limits.groups.size()}) {
            require(size == columns.n_columns(), "limits need one entry per column");
        }
        return limits;
    }
};

}  // namespace rulewright
