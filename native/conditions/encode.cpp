#include "conditions/encode.hpp"

#include <cmath>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

// The number of cuts below x; the branch is a conditional move.
inline std::size_t count_below(std::span<const double> cuts, double x) {
    const double* first = cuts.data();
    std::size_t n = cuts.size();
    while (n > 1) {
        const std::size_t half = n / 2;
        first += (first[half - 1] < x) ? half : 0;
        n -= half;
    }
    const auto below = static_cast<std::size_t>(first - cuts.data());
    return below + ((n == 1 && *first < x) ? 1 : 0);
}

inline std::size_t code_of(std::span<const double> cuts, double x, bool on_cut) {
    const std::size_t below = count_below(cuts, x);
    if (!on_cut) return below;
    const bool equal = below < cuts.size() && cuts[below] == x;
    return 2 * below + (equal ? 1 : 0);
}

}  // namespace

void encode_values(const Values& values, std::span<const double> cuts, bool on_cut,
                   ValueCode missing, ValueCode* codes, int n_threads) {
    parallel_blocks(values.n, n_threads, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const double x = values.first[static_cast<std::ptrdiff_t>(i) * values.stride];
            const std::size_t code = code_of(cuts, x, on_cut);
            codes[i] = std::isnan(x) ? missing : static_cast<ValueCode>(code);
        }
    });
}

}  // namespace rulewright
