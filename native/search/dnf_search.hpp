// Stochastic local search for a k-term DNF formula with few errors. A step takes a random
// misclassified row and adds or removes one literal; all candidates are judged by counting bits.
// The twin (tests/reference/dnf.py) draws the same random numbers and takes the same decisions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "search/dnf_examples.hpp"
#include "search/dnf_formula.hpp"

namespace rulewright {

struct DnfSettings {
    std::size_t n_terms;
    std::uint64_t max_steps, seed;
    std::int64_t max_literals;          // -1: no limit
    double p_g1, p_g2, p_s;             // of a random term, a random removal, a random addition
    bool seeded;                        // first terms are halves of random positives, else uniform
    bool focused;                       // only literals that the row violates are removed or added
    Stat positive_unit, negative_unit;  // cost of a wrong row of weight 1
    Stat target;                        // the search ends at a score this low
    std::size_t n_restarts;
    bool check;  // recount every score
};

struct DnfImprovement {
    std::uint64_t step;
    Stat score;
    std::size_t n_literals;
};

class DnfRestart {
  public:
    DnfRestart(const DnfExamples& examples, const DnfSettings& settings, std::uint64_t restart);

    void advance(std::uint64_t n_steps);
    bool done() const { return done_; }
    bool broken() const { return broken_; }  // a check failed
    std::uint64_t n_steps() const { return n_steps_; }
    std::uint64_t n_drawn() const { return random_.drawn(); }
    std::uint64_t n_stuck() const { return n_stuck_; }
    const DnfFormula& formula() const { return formula_; }
    const std::vector<Term>& best() const { return best_; }
    const std::vector<DnfImprovement>& trace() const { return trace_; }

  private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    void step();
    void record();
    void shorten();
    void generalise(std::size_t place);
    void specialise(std::size_t place);
    void escape();
    std::size_t draw_wrong(bool only_positives);
    std::size_t near_term(std::size_t place);
    Literal removed_literal(std::size_t t);
    Literal added_literal(std::size_t t, std::size_t place);
    std::size_t pick_lowest();
    std::size_t pick_change();
    Term seeded_term();
    Term uniform_term();
    bool too_long() const {
        return formula_.n_literals() > static_cast<std::uint64_t>(settings_.max_literals);
    }
    const std::vector<Term>& terms() const { return formula_.terms(); }

    const DnfExamples& examples_;
    const DnfSettings& settings_;
    RandomStream random_;
    DnfFormula formula_;
    std::vector<Term> best_;
    std::vector<DnfImprovement> trace_;
    std::uint64_t n_steps_ = 0, n_stuck_ = 0;
    bool done_ = false, broken_ = false;
    Stat expected_ = -1;  // the score that the last decision was made for, -1: not known

    // Buffers that are used again.
    std::vector<std::uint32_t> variables_;
    std::vector<Literal> literals_;
    std::vector<Stat> changes_;
    std::vector<std::size_t> ties_;
};

}  // namespace rulewright
