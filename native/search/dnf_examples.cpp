#include "search/dnf_examples.hpp"

#include <algorithm>

namespace rulewright {
namespace {

RULEWRIGHT_CLONES
Stat weigh_words(const Bits* set, const Bits* planes, std::size_t n_words, std::size_t n_planes,
                 std::size_t begin, std::size_t end) {
    Stat weight = 0;
    for (std::size_t i = 0; i < n_planes; ++i) {
        Stat count = 0;
        const Bits* plane = planes + i * n_words;
        for (std::size_t w = begin; w < end; ++w) count += std::popcount(set[w] & plane[w]);
        weight += count << i;
    }
    return weight;
}

// The inner loop of the search: one count per variable and word.
RULEWRIGHT_CLONES
void tally_columns(const Bits* bits, std::size_t n_words, const WeighedSet::Word* positives,
                   std::size_t n_positives, const WeighedSet::Word* negatives,
                   std::size_t n_negatives, Stat positive_unit, Stat negative_unit,
                   std::span<const std::uint32_t> variables, Stat* balances) {
    for (std::size_t v = 0; v < variables.size(); ++v) {
        const Bits* column = bits + variables[v] * n_words;
        Stat won = 0, lost = 0;
        for (std::size_t i = 0; i < n_positives; ++i) {
            won += static_cast<Stat>(std::popcount(column[positives[i].index] & positives[i].mask))
                   << positives[i].shift;
        }
        for (std::size_t i = 0; i < n_negatives; ++i) {
            lost += static_cast<Stat>(std::popcount(column[negatives[i].index] & negatives[i].mask))
                    << negatives[i].shift;
        }
        balances[v] = positive_unit * won - negative_unit * lost;
    }
}

}  // namespace

DnfExamples::DnfExamples(const Bits* bits, std::size_t n_variables, std::size_t n_positives,
                         std::span<const std::int32_t> weights, Stat positive_unit,
                         Stat negative_unit)
    : bits_(bits),
      n_variables_(n_variables),
      n_positive_words_(count_words(n_positives)),
      n_words_(n_positive_words_ + count_words(weights.size() - n_positives)),
      positive_unit_(positive_unit),
      negative_unit_(negative_unit),
      everyone_(n_words_),
      weights_(n_words_ * kWordBits) {
    std::uint32_t all = 0;
    for (const std::int32_t weight : weights) all |= static_cast<std::uint32_t>(weight);
    planes_.resize(static_cast<std::size_t>(std::bit_width(all)) * n_words_);
    for (std::size_t row = 0; row < weights.size(); ++row) {
        const std::size_t place =
            row < n_positives ? row : n_positive_words_ * kWordBits + row - n_positives;
        weights_[place] = weights[row];
        set_bit(everyone_.data(), place);
        for (std::size_t i = 0; i * n_words_ < planes_.size(); ++i) {
            if (weights[row] >> i & 1) set_bit(planes_.data() + i * n_words_, place);
        }
    }
}

Stat DnfExamples::weigh(const Bits* set, std::size_t begin, std::size_t end) const {
    return weigh_words(set, planes_.data(), n_words_, planes_.size() / n_words_, begin, end);
}

std::size_t DnfExamples::locate(const Bits* set, std::size_t begin, Stat below) const {
    std::size_t w = begin;
    for (Stat weight = 0; (weight = weigh(set, w, w + 1)) <= below; ++w) below -= weight;
    Bits word = set[w];
    for (;; word &= word - 1) {
        const std::size_t place = w * kWordBits + static_cast<std::size_t>(std::countr_zero(word));
        if (weights_[place] > below) return place;
        below -= weights_[place];
    }
}

void DnfExamples::split(const Bits* set, WeighedSet& into) const {
    into.positives.clear();
    into.negatives.clear();
    std::uint32_t shift = 0;
    for (std::size_t first = 0; first < planes_.size(); first += n_words_, ++shift) {
        for (std::size_t w = 0; w < n_words_; ++w) {
            const Bits mask = set[w] & planes_[first + w];
            if (mask == 0) continue;
            auto& words = w < n_positive_words_ ? into.positives : into.negatives;
            words.push_back({mask, static_cast<std::uint32_t>(w), shift});
        }
    }
}

void DnfExamples::tally(const WeighedSet& set, std::span<const std::uint32_t> variables,
                        std::vector<Stat>& balances) const {
    balances.resize(variables.size());
    tally_columns(bits_, n_words_, set.positives.data(), set.positives.size(), set.negatives.data(),
                  set.negatives.size(), positive_unit_, negative_unit_, variables, balances.data());
}

Stat DnfExamples::balance(const Bits* set) const {
    return positive_unit_ * weigh(set, 0, n_positive_words_) -
           negative_unit_ * weigh(set, n_positive_words_, n_words_);
}

}  // namespace rulewright
