#include "encoding/encode.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

constexpr std::size_t kAtOnce = 16;
constexpr std::size_t kFewValues = 4096;  // too few for a grid to pay
constexpr std::size_t kPart = 128;  // rows of which all columns are coded while they are in cache

// Where among sorted cuts to look for a value: an even grid of cells over them says how many cuts
// lie in the cells before that of the value, and these are below it, because the cell never falls
// as values grow. What is left to search are the cuts of one cell, `window` of them at most: one,
// if cells are as many as the first cache has room for.
class Cuts {
  public:
    Cuts(std::span<const double> cuts, std::size_t n_values)
        : window_(cuts.size()), cuts_(cuts.begin(), cuts.end()), before_(1) {
        if (n_values >= kFewValues && window_ > 1) make_grid();
        // A search may reach beyond the last cut: nothing lies above or on NaN.
        cuts_.resize(cuts_.size() + window_ + 1, std::numeric_limits<double>::quiet_NaN());
    }

    // The codes of kAtOnce values. All searches halve in step: their loads overlap, and a
    // comparison is multiplied in, not branched on.
    template <bool kOnCut>
    void encode(const double* x, ValueCode missing, ValueCode* codes) const {
        std::uint32_t below[kAtOnce];
        std::size_t cells[kAtOnce];
        for (std::size_t v = 0; v < kAtOnce; ++v) cells[v] = cell(x[v]);
        for (std::size_t v = 0; v < kAtOnce; ++v) below[v] = before_[cells[v]];
        for (std::size_t n = window_; n > 1; n -= n / 2) {
            const auto half = static_cast<std::uint32_t>(n / 2);
            for (std::size_t v = 0; v < kAtOnce; ++v) {
                below[v] += half * (cuts_[below[v] + half - 1] < x[v] ? 1u : 0u);
            }
        }
        bool any_missing = false;
        for (std::size_t v = 0; v < kAtOnce; ++v) {
            const double cut = cuts_[below[v]];
            const std::uint32_t above = cut < x[v] ? 1 : 0, not_below = cut <= x[v] ? 1 : 0;
            codes[v] = static_cast<ValueCode>(kOnCut ? 2 * below[v] + above + not_below
                                                     : below[v] + above);
            any_missing |= std::isnan(x[v]);
        }
        if (!any_missing) return;
        for (std::size_t v = 0; v < kAtOnce; ++v) {
            if (std::isnan(x[v])) codes[v] = missing;
        }
    }

  private:
    // Signed, because processors have no instruction for unsigned ones.
    std::size_t cell(double x) const {
        const double place = (x - low_) * per_unit_;
        const double above = place > 0 ? place : 0;  // NaN: any
        return static_cast<std::size_t>(static_cast<std::int32_t>(above < last_ ? above : last_));
    }

    void make_grid() {
        const std::size_t n = cuts_.size(), n_cells = std::max(4 * n, std::min(16 * n, kCells));
        const double last = static_cast<double>(n_cells - 1);
        const double per_unit = last / (cuts_.back() - cuts_.front());
        if (!(per_unit > 0) || !std::isfinite(per_unit) || !std::isfinite(cuts_.front())) return;
        low_ = cuts_.front(), per_unit_ = per_unit, last_ = last;
        before_.assign(n_cells + 1, 0);
        for (const double cut : cuts_) ++before_[cell(cut) + 1];
        window_ = *std::max_element(before_.begin(), before_.end());
        std::partial_sum(before_.begin(), before_.end(), before_.begin());
    }

    static constexpr std::size_t kCells = 4096;

    std::size_t window_;
    std::vector<double> cuts_;
    std::vector<std::uint32_t> before_;         // cuts in the cells before each
    double low_ = 0, per_unit_ = 0, last_ = 0;  // without a grid there is one cell
};

template <bool kOnCut>
void encode_part(const Values& values, const Cuts& cuts, ValueCode missing, std::size_t begin,
                 std::size_t end, ValueCode* codes) {
    double x[kAtOnce] = {};
    const auto read = [&](std::size_t i, std::size_t n) {
        const double* first = values.first + static_cast<std::ptrdiff_t>(i) * values.stride;
        for (std::size_t v = 0; v < n; ++v) {
            x[v] = first[static_cast<std::ptrdiff_t>(v) * values.stride];
        }
    };
    std::size_t i = begin;
    for (; i + kAtOnce <= end; i += kAtOnce) {
        read(i, kAtOnce);
        cuts.encode<kOnCut>(x, missing, codes + i);
    }
    if (i == end) return;
    ValueCode last[kAtOnce];
    read(i, end - i);
    cuts.encode<kOnCut>(x, missing, last);
    std::copy_n(last, end - i, codes + i);
}

}  // namespace

void encode_columns(std::span<const CodedColumn> columns, std::size_t n_rows, bool on_cut,
                    ValueCode missing, int n_threads) {
    std::vector<Cuts> cuts;
    for (const CodedColumn& column : columns) cuts.emplace_back(column.cuts, n_rows);
    const std::size_t n_parts = (n_rows + kPart - 1) / kPart;
    parallel_for(n_parts, n_threads, [&](std::size_t part) {
        const std::size_t begin = part * kPart, end = std::min(n_rows, begin + kPart);
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const CodedColumn& column = columns[j];
            (on_cut ? encode_part<true> : encode_part<false>)(column.values, cuts[j], missing,
                                                              begin, end, column.codes);
        }
    });
}

}  // namespace rulewright
