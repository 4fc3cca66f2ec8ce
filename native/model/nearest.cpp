#include "model/nearest.hpp"

#include <vector>

#include "base/parallel.hpp"

namespace rulewright {

void nearest_rules(const double* values, std::size_t n_rows, const DistanceColumns& columns,
                   const Boxes& boxes, std::int32_t* places, double* distances, int n_threads) {
    std::vector<Gap> gaps;
    gaps.reserve(boxes.columns.size());
    for (std::size_t i = 0; i < boxes.columns.size(); ++i) {
        gaps.emplace_back(columns, static_cast<std::size_t>(boxes.columns[i]), boxes.lows[i],
                          boxes.highs[i]);
    }
    const std::span<const Gap> all(gaps);
    parallel_blocks(n_rows, n_threads, [&](std::size_t, std::size_t first, std::size_t end) {
        for (std::size_t row = first; row < end; ++row) {
            const double* x = values + row * columns.size();
            double best = std::numeric_limits<double>::infinity();
            std::int32_t place = 0;
            for (std::size_t rule = 0; rule < boxes.n_rules(); ++rule) {
                const auto start = static_cast<std::size_t>(boxes.starts[rule]);
                const auto size = static_cast<std::size_t>(boxes.starts[rule + 1]) - start;
                const double found = distance(all.subspan(start, size), x, best);
                if (found < best) {
                    best = found;
                    place = static_cast<std::int32_t>(rule);
                }
            }
            places[row] = place;
            distances[row] = best;
        }
    });
}

}  // namespace rulewright
