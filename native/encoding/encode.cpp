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
constexpr std::size_t kFewCuts = 8;
constexpr std::size_t kPart = 512;  // rows of which all columns are coded while they are in cache

// Where among sorted cuts to look for a value: an even grid of cells over them says how many cuts
// lie in the cells before that of the value, and these are below it, because the cell never falls
// as values grow. What is left to search are the cuts of one cell, `window` of them at most.
class Cuts {
  public:
    Cuts(std::span<const double> cuts, std::size_t n_values)
        : n_(cuts.size()), window_(cuts.size()), cuts_(cuts.begin(), cuts.end()) {
        if (n_values >= kFewValues && n_ > kFewCuts) make_grid();
        // A window may reach beyond the last cut.
        cuts_.resize(n_ + window_, std::numeric_limits<double>::infinity());
    }

    std::size_t size() const { return n_; }
    double operator[](std::size_t i) const { return cuts_[i]; }

    // The number of cuts below each of kAtOnce values. All searches halve in step: their loads
    // overlap, and a comparison is multiplied in, not branched on.
    void count_below(const double* x, std::size_t* below) const {
        for (std::size_t v = 0; v < kAtOnce; ++v)
            below[v] = before_.empty() ? 0 : before_[cell(x[v])];
        if (n_ == 0) return;
        std::size_t n = window_;
        while (n > 1) {
            const std::size_t half = n / 2;
            for (std::size_t v = 0; v < kAtOnce; ++v) {
                below[v] += half * static_cast<std::size_t>(cuts_[below[v] + half - 1] < x[v]);
            }
            n -= half;
        }
        for (std::size_t v = 0; v < kAtOnce; ++v) {
            below[v] += static_cast<std::size_t>(cuts_[below[v]] < x[v]);
        }
    }

  private:
    std::size_t cell(double x) const {
        const double place = (x - low_) * per_unit_;
        return place > 0 ? static_cast<std::size_t>(std::min(place, last_)) : 0;  // NaN: any
    }

    void make_grid() {
        const std::size_t n_cells = 4 * n_;
        low_ = cuts_.front();
        last_ = static_cast<double>(n_cells - 1);
        per_unit_ = last_ / (cuts_.back() - low_);
        if (!(per_unit_ > 0) || !std::isfinite(per_unit_) || !std::isfinite(low_)) return;
        before_.assign(n_cells + 1, 0);
        for (std::size_t i = 0; i < n_; ++i) ++before_[cell(cuts_[i]) + 1];
        window_ = *std::max_element(before_.begin(), before_.end());
        std::partial_sum(before_.begin(), before_.end(), before_.begin());
    }

    std::size_t n_, window_;
    std::vector<double> cuts_;
    std::vector<std::uint32_t> before_;  // cuts in the cells before each; empty: no grid
    double low_ = 0, per_unit_ = 0, last_ = 0;
};

void encode_part(const Values& values, const Cuts& cuts, bool on_cut, ValueCode missing,
                 std::size_t begin, std::size_t end, ValueCode* codes) {
    double x[kAtOnce] = {};
    std::size_t below[kAtOnce];
    for (std::size_t i = begin; i < end; i += kAtOnce) {
        const std::size_t n = std::min(kAtOnce, end - i);
        for (std::size_t v = 0; v < n; ++v) {
            x[v] = values.first[static_cast<std::ptrdiff_t>(i + v) * values.stride];
        }
        cuts.count_below(x, below);
        for (std::size_t v = 0; v < n; ++v) {
            const bool equal = on_cut && below[v] < cuts.size() && cuts[below[v]] == x[v];
            const std::size_t code = on_cut ? 2 * below[v] + (equal ? 1 : 0) : below[v];
            codes[i + v] = std::isnan(x[v]) ? missing : static_cast<ValueCode>(code);
        }
    }
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
            encode_part(columns[j].values, cuts[j], on_cut, missing, begin, end, columns[j].codes);
        }
    });
}

}  // namespace rulewright
