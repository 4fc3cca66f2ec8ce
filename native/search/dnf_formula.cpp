#include "search/dnf_formula.hpp"

#include <algorithm>
#include <utility>

namespace rulewright {
namespace {

// Rows that violate the literal are column ^ flip; spare bits are cleared later.
Bits flip_of(Literal literal) { return negated(literal) ? 0 : ~Bits{0}; }

// Takes in one more literal: rows that violate one, and rows that violate two.
RULEWRIGHT_CLONES
void miss(const Bits* column, Bits flip, Bits* ones, Bits* twos, std::size_t n) {
    for (std::size_t w = 0; w < n; ++w) {
        const Bits missed = column[w] ^ flip;
        twos[w] |= ones[w] & missed;
        ones[w] |= missed;
    }
}

RULEWRIGHT_CLONES
void finish_sweep(const Bits* everyone, Bits* ones, Bits* twos, std::size_t n) {
    for (std::size_t w = 0; w < n; ++w) {
        const Bits missed = ones[w];
        ones[w] = ~missed & everyone[w];
        twos[w] = missed & ~twos[w] & everyone[w];
    }
}

RULEWRIGHT_CLONES
void join(const Bits* cover, Bits* once, Bits* twice, std::size_t n) {
    for (std::size_t w = 0; w < n; ++w) {
        twice[w] |= once[w] & cover[w];
        once[w] |= cover[w];
    }
}

}  // namespace

DnfFormula::DnfFormula(const DnfExamples& examples, std::size_t n_terms)
    : examples_(examples),
      terms_(n_terms),
      once_(examples.n_words()),
      twice_(examples.n_words()),
      wrong_(examples.n_words()),
      covered_(n_terms * examples.n_words()),
      missed_once_(n_terms * examples.n_words()),
      set_(examples.n_words()) {
    for (std::size_t t = 0; t < n_terms; ++t) sweep(t);
    recount();
}

bool DnfFormula::violates(std::size_t place, Literal literal) const {
    return test_bit(examples_.column(variable_of(literal)), place) == negated(literal);
}

void DnfFormula::add(std::size_t t, Literal literal) {
    Term& term = terms_[t];
    term.insert(std::lower_bound(term.begin(), term.end(), literal), literal);
    ++n_literals_;
    const Bits* column = examples_.column(variable_of(literal));
    const Bits flip = flip_of(literal);
    Bits* cover = cover_of(t);
    Bits* once = missed_once(t);
    for (std::size_t w = 0; w < once_.size(); ++w) {
        const Bits missed = column[w] ^ flip;
        once[w] = (once[w] & ~missed) | (cover[w] & missed);
        cover[w] &= ~missed;
    }
}

void DnfFormula::remove(std::size_t t, Literal literal) {
    Term& term = terms_[t];
    term.erase(std::lower_bound(term.begin(), term.end(), literal));
    --n_literals_;
    sweep(t);
}

void DnfFormula::replace(std::size_t t, Term term) {
    n_literals_ += term.size() - terms_[t].size();
    terms_[t] = std::move(term);
    sweep(t);
}

void DnfFormula::sweep(std::size_t t) {
    Bits* ones = cover_of(t);
    Bits* twos = missed_once(t);
    const std::size_t n = once_.size();
    std::fill_n(ones, n, 0);
    std::fill_n(twos, n, 0);
    for (const Literal literal : terms_[t]) {
        miss(examples_.column(variable_of(literal)), flip_of(literal), ones, twos, n);
    }
    finish_sweep(examples_.everyone().data(), ones, twos, n);
}

void DnfFormula::recount() {
    const std::size_t n = once_.size(), half = examples_.n_positive_words();
    std::fill(once_.begin(), once_.end(), 0);
    std::fill(twice_.begin(), twice_.end(), 0);
    for (std::size_t t = 0; t < terms_.size(); ++t) {
        join(covered(t), once_.data(), twice_.data(), n);
    }
    for (std::size_t w = 0; w < half; ++w) wrong_[w] = examples_.everyone()[w] & ~once_[w];
    for (std::size_t w = half; w < n; ++w) wrong_[w] = once_[w];
    positives_wrong_ = examples_.weigh(wrong_.data(), 0, half);
    score_ = examples_.positive_unit() * positives_wrong_ +
             examples_.negative_unit() * examples_.weigh(wrong_.data(), half, n);
}

// Rows that no term covers and that violate this literal of the term alone become covered.
void DnfFormula::judge_removals(std::size_t t, std::span<const Literal> literals,
                                std::vector<Stat>& changes) {
    const Bits* missed = missed_once(t);
    for (std::size_t w = 0; w < set_.size(); ++w) set_[w] = missed[w] & ~once_[w];
    examples_.split(set_.data(), weighed_);
    const Stat all = examples_.balance(set_.data());
    variables_.clear();
    for (const Literal literal : literals) variables_.push_back(variable_of(literal));
    examples_.tally(weighed_, variables_, balances_);
    for (std::size_t i = 0; i < literals.size(); ++i) {
        changes.push_back(negated(literals[i]) ? -balances_[i] : balances_[i] - all);
    }
}

// Rows that only this term covers and that violate the literal become uncovered.
void DnfFormula::judge_additions(std::size_t t, std::span<const std::uint32_t> variables,
                                 std::vector<Stat>& changes) {
    for (std::size_t w = 0; w < set_.size(); ++w) set_[w] = covered(t)[w] & ~twice_[w];
    examples_.split(set_.data(), weighed_);
    const Stat all = examples_.balance(set_.data());
    examples_.tally(weighed_, variables, balances_);
    for (const Stat balance : balances_) {
        changes.push_back(all - balance);
        changes.push_back(balance);
    }
}

bool DnfFormula::consistent() const {
    std::vector<Bits> once(once_.size()), wrong(once_.size());
    std::size_t n_literals = 0;
    for (const Term& term : terms_) n_literals += term.size();
    for (std::size_t place = 0; place < once.size() * kWordBits; ++place) {
        if (!test_bit(examples_.everyone().data(), place)) continue;
        const bool covers = std::any_of(terms_.begin(), terms_.end(), [&](const Term& term) {
            return std::none_of(term.begin(), term.end(),
                                [&](Literal literal) { return violates(place, literal); });
        });
        if (covers) set_bit(once.data(), place);
        if (covers != (place < examples_.n_positive_words() * kWordBits)) {
            set_bit(wrong.data(), place);
        }
    }
    return once == once_ && wrong == wrong_ && n_literals == n_literals_;
}

}  // namespace rulewright
