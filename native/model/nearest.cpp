#include "model/nearest.hpp"

#include <vector>

#include "base/parallel.hpp"

namespace rulewright {
namespace {

constexpr std::size_t kRows = 64;  // that are compared with a rule at a time

}  // namespace

void nearest_rules(const double* values, std::size_t n_rows, const DistanceColumns& columns,
                   const Boxes& boxes, std::int32_t* places, double* distances, int n_threads) {
    std::vector<Gap> gaps;
    gaps.reserve(boxes.columns.size());
    for (std::size_t i = 0; i < boxes.columns.size(); ++i) {
        gaps.emplace_back(columns, static_cast<std::size_t>(boxes.columns[i]), boxes.lows[i],
                          boxes.highs[i]);
    }
    const std::span<const Gap> all(gaps);
    // A rule meets some rows before the next one is looked at: there are more rules than a cache
    // holds.
    const std::size_t n_blocks = (n_rows + kRows - 1) / kRows;
    parallel_for(n_blocks, n_rows > kBlock / 8 ? n_threads : 1, [&](std::size_t block) {
        const std::size_t first = block * kRows, end = std::min(first + kRows, n_rows);
        std::fill(places + first, places + end, 0);
        std::fill(distances + first, distances + end, std::numeric_limits<double>::infinity());
        for (std::size_t rule = 0; rule < boxes.n_rules(); ++rule) {
            const auto start = static_cast<std::size_t>(boxes.starts[rule]);
            const auto size = static_cast<std::size_t>(boxes.starts[rule + 1]) - start;
            for (std::size_t row = first; row < end; ++row) {
                const double* x = values + row * columns.size();
                const double found = distance(all.subspan(start, size), x, distances[row]);
                if (!(found < distances[row])) continue;
                distances[row] = found;
                places[row] = static_cast<std::int32_t>(rule);
            }
        }
    });
}

}  // namespace rulewright
