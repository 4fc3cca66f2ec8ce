#include "search/dnf_search.hpp"

#include <algorithm>

namespace rulewright {
namespace {

constexpr std::uint64_t kPurpose = 1;  // of the random numbers

}  // namespace

DnfRestart::DnfRestart(const DnfExamples& examples, const DnfSettings& settings,
                       std::uint64_t restart)
    : examples_(examples),
      settings_(settings),
      random_(settings.seed, kPurpose, restart),
      formula_(examples, settings.n_terms) {
    for (std::size_t t = 0; t < settings.n_terms; ++t) {
        formula_.replace(t, settings.seeded ? seeded_term() : uniform_term());
    }
    formula_.recount();
    record();
}

void DnfRestart::advance(std::uint64_t n_steps) {
    for (std::uint64_t i = 0; i < n_steps && !done_; ++i) step();
}

void DnfRestart::step() {
    expected_ = -1;
    const std::size_t place = draw_wrong(too_long());
    if (place == kNone) {
        shorten();
    } else if (place < examples_.n_positive_words() * kWordBits) {
        generalise(place);
    } else {
        specialise(place);
    }
    ++n_steps_;
    formula_.recount();
    record();
}

void DnfRestart::record() {
    const Stat score = formula_.score();
    const std::size_t n_literals = formula_.n_literals();
    const auto better = [&](const DnfImprovement& best) {
        return score < best.score || (score == best.score && n_literals < best.n_literals);
    };
    if (!too_long() && (trace_.empty() || better(trace_.back()))) {
        trace_.push_back({n_steps_, score, n_literals});
        best_ = terms();
    }
    const bool reached = !trace_.empty() && trace_.back().score <= settings_.target;
    if (settings_.check) {
        broken_ = !formula_.consistent() || (expected_ >= 0 && expected_ != score);
    }
    done_ = reached || broken_ || n_steps_ >= settings_.max_steps;
}

// A misclassified row, in proportion to its weight.
std::size_t DnfRestart::draw_wrong(bool only_positives) {
    const Stat positives = formula_.positives_wrong() * examples_.positive_unit();
    const Stat total = only_positives ? positives : formula_.score();
    if (total == 0) return kNone;
    const auto drawn = static_cast<Stat>(random_.below(static_cast<std::uint64_t>(total)));
    if (drawn < positives) {
        return examples_.locate(formula_.wrong(), 0, drawn / examples_.positive_unit());
    }
    return examples_.locate(formula_.wrong(), examples_.n_positive_words(),
                            (drawn - positives) / examples_.negative_unit());
}

std::size_t DnfRestart::pick_lowest() {
    const Stat lowest = *std::min_element(changes_.begin(), changes_.end());
    ties_.clear();
    for (std::size_t i = 0; i < changes_.size(); ++i) {
        if (changes_[i] == lowest) ties_.push_back(i);
    }
    return ties_[random_.below(ties_.size())];
}

std::size_t DnfRestart::pick_change() {
    const std::size_t picked = pick_lowest();
    expected_ = formula_.score() + changes_[picked];
    return picked;
}

// Too many literals and no positive is missed: the literal that costs least goes, of any term.
void DnfRestart::shorten() {
    changes_.clear();
    for (std::size_t t = 0; t < terms().size(); ++t) {
        formula_.judge_removals(t, terms()[t], changes_);
    }
    std::size_t place = pick_change(), t = 0;
    for (; place >= terms()[t].size(); ++t) place -= terms()[t].size();
    formula_.remove(t, terms()[t][place]);
}

void DnfRestart::generalise(std::size_t place) {
    const std::size_t t =
        random_.chance(settings_.p_g1) ? random_.below(terms().size()) : near_term(place);
    literals_.clear();
    for (const Literal literal : terms()[t]) {
        if (!settings_.focused || formula_.violates(place, literal)) literals_.push_back(literal);
    }
    formula_.remove(t, removed_literal(t));
}

// A term of which the row violates the fewest literals.
std::size_t DnfRestart::near_term(std::size_t place) {
    changes_.clear();
    for (const Term& term : terms()) {
        changes_.push_back(std::count_if(term.begin(), term.end(), [&](Literal literal) {
            return formula_.violates(place, literal);
        }));
    }
    return pick_lowest();
}

// One of `literals_`: at random, or the one whose removal gives the lowest score.
Literal DnfRestart::removed_literal(std::size_t t) {
    if (random_.chance(settings_.p_g2)) {
        return literals_[random_.below(literals_.size())];
    }
    changes_.clear();
    formula_.judge_removals(t, literals_, changes_);
    return literals_[pick_change()];
}

void DnfRestart::specialise(std::size_t place) {
    ties_.clear();
    for (std::size_t t = 0; t < terms().size(); ++t) {
        if (test_bit(formula_.covered(t), place)) ties_.push_back(t);
    }
    const std::size_t t = ties_[random_.below(ties_.size())];
    if (terms()[t].size() == examples_.n_variables()) {
        escape();
    } else {
        formula_.add(t, added_literal(t, place));
    }
}

// A literal on a variable that the term does not use: at random one that the row violates, or the
// one that gives the lowest score.
Literal DnfRestart::added_literal(std::size_t t, std::size_t place) {
    variables_.clear();
    auto used = terms()[t].begin();
    for (std::uint32_t v = 0; v < examples_.n_variables(); ++v) {
        if (used != terms()[t].end() && variable_of(*used) == v) {
            ++used;
        } else {
            variables_.push_back(v);
        }
    }
    const auto violated = [&](std::uint32_t v) -> Literal {
        return 2 * v + (test_bit(examples_.column(v), place) ? 1 : 0);
    };
    if (random_.chance(settings_.p_s)) {
        return violated(variables_[random_.below(variables_.size())]);
    }
    changes_.clear();
    formula_.judge_additions(t, variables_, changes_);
    if (!settings_.focused) {
        const std::size_t picked = pick_change();
        return 2 * variables_[picked / 2] + static_cast<Literal>(picked % 2);
    }
    for (std::size_t i = 0; i < variables_.size(); ++i) {
        changes_[i] = changes_[2 * i + (negated(violated(variables_[i])) ? 1 : 0)];
    }
    changes_.resize(variables_.size());
    return violated(variables_[pick_change()]);
}

// The term fixes every variable. If that holds for all misclassified rows, one term is drawn again.
void DnfRestart::escape() {
    ++n_stuck_;
    if (formula_.positives_wrong() > 0) return;
    for (std::size_t t = 0; t < terms().size(); ++t) {
        const Bits* cover = formula_.covered(t);
        const bool any = std::any_of(cover + examples_.n_positive_words(),
                                     cover + examples_.n_words(), [](Bits w) { return w != 0; });
        if (any && terms()[t].size() < examples_.n_variables()) return;
    }
    const std::size_t t = random_.below(terms().size());
    formula_.replace(t, seeded_term());
}

Term DnfRestart::seeded_term() {
    const Bits* everyone = examples_.everyone().data();
    const Stat all = examples_.weigh(everyone, 0, examples_.n_positive_words());
    const Stat unit = examples_.positive_unit();
    const auto drawn = static_cast<Stat>(random_.below(static_cast<std::uint64_t>(all * unit)));
    const std::size_t place = examples_.locate(everyone, 0, drawn / unit);
    Term term;
    Bits keep = 0;
    for (std::uint32_t v = 0; v < examples_.n_variables(); ++v) {
        if (v % kWordBits == 0) keep = random_.bits();
        if ((keep >> (v % kWordBits) & 1) == 0) continue;
        term.push_back(2 * v + (test_bit(examples_.column(v), place) ? 0 : 1));
    }
    return term;
}

Term DnfRestart::uniform_term() {
    Term term;
    for (std::uint32_t v = 0; v < examples_.n_variables(); ++v) {
        const auto kind = static_cast<Literal>(random_.below(3));
        if (kind > 0) term.push_back(2 * v + kind - 1);
    }
    return term;
}

}  // namespace rulewright
