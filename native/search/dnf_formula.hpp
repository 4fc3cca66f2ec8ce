// A k-term DNF formula and the rows it covers, kept up to date as literals come and go.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/dnf_examples.hpp"

namespace rulewright {

using Literal = std::uint32_t;  // 2 * variable, plus 1 if negated
using Term = std::vector<Literal>;

inline bool negated(Literal literal) { return (literal & 1) != 0; }
inline std::uint32_t variable_of(Literal literal) { return literal / 2; }

class DnfFormula {
  public:
    DnfFormula(const DnfExamples& examples, std::size_t n_terms);

    const std::vector<Term>& terms() const { return terms_; }
    std::size_t n_literals() const { return n_literals_; }
    Stat score() const { return score_; }                      // cost of the misclassified rows
    Stat positives_wrong() const { return positives_wrong_; }  // weight of uncovered positives
    const Bits* wrong() const { return wrong_.data(); }
    const Bits* covered(std::size_t t) const { return covered_.data() + t * once_.size(); }
    bool violates(std::size_t place, Literal literal) const;

    // These leave the score as it was; `recount` brings it up to date.
    void add(std::size_t t, Literal literal);
    void remove(std::size_t t, Literal literal);
    void replace(std::size_t t, Term term);
    void recount();

    // Appends what the removal of each of these literals of a term would do to the score.
    void judge_removals(std::size_t t, std::span<const Literal> literals,
                        std::vector<Stat>& changes);
    // Appends, for each variable, what the literal and the negated literal would do to the score.
    void judge_additions(std::size_t t, std::span<const std::uint32_t> variables,
                         std::vector<Stat>& changes);

    // Whether all that is kept agrees with the terms applied row by row.
    bool consistent() const;

  private:
    void sweep(std::size_t t);
    Bits* cover_of(std::size_t t) { return covered_.data() + t * once_.size(); }
    Bits* missed_once(std::size_t t) { return missed_once_.data() + t * once_.size(); }

    const DnfExamples& examples_;
    std::vector<Term> terms_;
    std::vector<Bits> once_, twice_;  // rows that at least one term covers, at least two
    std::vector<Bits> wrong_;         // misclassified rows
    std::vector<Bits> covered_;       // by term: rows that satisfy all literals
    std::vector<Bits> missed_once_;   // by term: rows that violate exactly one literal
    std::size_t n_literals_ = 0;
    Stat positives_wrong_ = 0, score_ = 0;

    // Buffers that are used again.
    std::vector<Bits> set_;
    WeighedSet weighed_;
    std::vector<std::uint32_t> variables_;
    std::vector<Stat> balances_;
};

}  // namespace rulewright
