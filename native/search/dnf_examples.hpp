// Boolean examples as columns of bits, positives first. Negatives start at a word of their own, so
// every word belongs to one class and one count per word tells what a literal wins and loses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.hpp"
#include "base/types.hpp"

namespace rulewright {

// A weighted set of examples as runs of words, each of one class and one bit of the weights. A run
// without its empty words lists which words it has; one with few of them is a plain range.
struct WeighedSet {
    struct Run {
        std::size_t begin, end;  // of the masks
        std::size_t first;       // word of the first mask, of a range
        bool listed;
        Stat unit;  // what an example counts, negatives below 0
    };
    std::vector<Run> runs;
    std::vector<Bits> masks;
    std::vector<std::uint32_t> words;  // of each mask
};

class DnfExamples {
  public:
    // `bits` has a line of words per variable; it must outlive the examples. Weights, of positives
    // and then of negatives, are at least 1, like the units by which a class multiplies them.
    DnfExamples(const Bits* bits, std::size_t n_variables, std::size_t n_positives,
                std::span<const std::int32_t> weights, Stat positive_unit, Stat negative_unit);

    std::size_t n_variables() const { return n_variables_; }
    std::size_t n_words() const { return n_words_; }
    std::size_t n_positive_words() const { return n_positive_words_; }
    Stat positive_unit() const { return positive_unit_; }
    Stat negative_unit() const { return negative_unit_; }
    const std::vector<Bits>& everyone() const { return everyone_; }
    const Bits* column(std::size_t variable) const { return bits_ + variable * n_words_; }

    // The weight of the rows in words [begin, end) of a set.
    Stat weigh(const Bits* set, std::size_t begin, std::size_t end) const;
    // The row at which the weights of a set, summed from word `begin` on, go beyond `below`.
    std::size_t locate(const Bits* set, std::size_t begin, Stat below) const;
    void split(const Bits* set, WeighedSet& into) const;
    // For each variable: positives minus negatives of the set on which it is true.
    void tally(const WeighedSet& set, std::span<const std::uint32_t> variables,
               std::vector<Stat>& balances) const;
    Stat balance(const Bits* set) const;

  private:
    void add_run(const Bits* set, const Bits* plane, std::size_t begin, std::size_t end, Stat unit,
                 WeighedSet& into) const;

    const Bits* bits_;
    std::size_t n_variables_, n_positive_words_, n_words_;
    Stat positive_unit_, negative_unit_;
    std::vector<Bits> everyone_;
    std::vector<Bits> planes_;           // plane i holds bit i of every row's weight
    std::vector<std::int32_t> weights_;  // by place of the row in the words
};

}  // namespace rulewright
