#include "encoding/encode.hpp"

#include <cmath>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

constexpr std::size_t kAtOnce = 16;

// The number of cuts below each of kAtOnce values. All searches halve in step: their loads overlap,
// and a comparison is multiplied in, not branched on.
void count_below(std::span<const double> cuts, const double* x, std::size_t* below) {
    for (std::size_t v = 0; v < kAtOnce; ++v) below[v] = 0;
    if (cuts.empty()) return;
    std::size_t n = cuts.size();
    while (n > 1) {
        const std::size_t half = n / 2;
        for (std::size_t v = 0; v < kAtOnce; ++v) {
            below[v] += half * static_cast<std::size_t>(cuts[below[v] + half - 1] < x[v]);
        }
        n -= half;
    }
    for (std::size_t v = 0; v < kAtOnce; ++v) {
        below[v] += static_cast<std::size_t>(cuts[below[v]] < x[v]);
    }
}

}  // namespace

void encode_values(const Values& values, std::span<const double> cuts, bool on_cut,
                   ValueCode missing, ValueCode* codes, int n_threads) {
    parallel_blocks(values.n, n_threads, [&](std::size_t, std::size_t begin, std::size_t end) {
        double x[kAtOnce] = {};
        std::size_t below[kAtOnce];
        for (std::size_t i = begin; i < end; i += kAtOnce) {
            const std::size_t n = std::min(kAtOnce, end - i);
            for (std::size_t v = 0; v < n; ++v) {
                x[v] = values.first[static_cast<std::ptrdiff_t>(i + v) * values.stride];
            }
            count_below(cuts, x, below);
            for (std::size_t v = 0; v < n; ++v) {
                const bool equal = on_cut && below[v] < cuts.size() && cuts[below[v]] == x[v];
                const std::size_t code = on_cut ? 2 * below[v] + (equal ? 1 : 0) : below[v];
                codes[i + v] = std::isnan(x[v]) ? missing : static_cast<ValueCode>(code);
            }
        }
    });
}

}  // namespace rulewright
