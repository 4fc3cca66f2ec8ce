// The scores that searches know: one include and one name each.
#pragma once

#include <array>

#include "search/scores/entropy.hpp"
#include "search/scores/errors.hpp"
#include "search/scores/foil.hpp"
#include "search/scores/gradient.hpp"
#include "search/scores/laplace.hpp"
#include "search/scores/newton.hpp"
#include "search/scores/slipper.hpp"
#include "search/scores/wracc.hpp"

namespace rulewright {

template <class... Score>
struct ScoreList {
    static constexpr std::array<std::string_view, sizeof...(Score)> kNames{Score::kName...};

    template <class Result, class Body>
    static Result visit(const ScoreChoice& choice, const Body& body) {
        Result result{};
        std::size_t kind = 0;
        (void)((kind++ == choice.kind && (result = body(Score(choice)), true)) || ...);
        return result;
    }
};

using Scores = ScoreList<NewtonScore, GradientScore, SlipperScore, FoilScore, WraccScore,
                         LaplaceScore, EntropyScore, ErrorsScore>;

// Calls the body with the score that was chosen.
template <class Result, class Body>
Result with_score(const ScoreChoice& choice, const Body& body) {
    return Scores::visit<Result>(choice, body);
}

}  // namespace rulewright
