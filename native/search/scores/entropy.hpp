// The entropy, in bits, of the classes in a cover, with one lane per class. The rule votes for the
// heaviest class, the first of equals.
#pragma once

#include <algorithm>
#include <cmath>

#include "search/scores/score.hpp"

namespace rulewright {

struct EntropyScore {
    std::size_t n_lanes;

    explicit EntropyScore(const ScoreChoice& choice) : n_lanes(choice.n_lanes) {}
    static constexpr std::string_view kName = "entropy";
    static constexpr bool kGain = false, kWeights = true;

    static bool reads(std::size_t lanes) { return lanes > 0; }
    double empty(const Stat* all) const { return value(all); }
    static bool hopeless(const Sums&, double) { return false; }
    Verdict judge(const Sums& sums, Directions allowed) const {
        const Stat* heaviest = std::max_element(sums.cover, sums.cover + n_lanes);
        if (*heaviest <= 0 || !(allowed & kUp)) return {};
        return {value(sums.cover), 2 * static_cast<std::int32_t>(heaviest - sums.cover)};
    }
    static double criterion(double value) { return value; }

  private:
    // Terms are rounded before they are added up, so that the order of the classes is free.
    double value(const Stat* sums) const {
        double total = 0, rounded = 0;
        for (std::size_t lane = 0; lane < n_lanes; ++lane) total += static_cast<double>(sums[lane]);
        for (std::size_t lane = 0; lane < n_lanes; ++lane) {
            const double share = static_cast<double>(sums[lane]) / total;
            if (share > 0) rounded += std::nearbyint(-share * std::log2(share) * 0x1p40);
        }
        return rounded * 0x1p-40;
    }
};

}  // namespace rulewright
