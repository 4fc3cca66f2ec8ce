#include "search/dnf_examples.hpp"

#include <algorithm>

#include "base/count_bits.hpp"

namespace rulewright {
namespace {

RULEWRIGHT_CLONES
Stat count_listed(const Bits* column, const Bits* masks, const std::uint32_t* words,
                  std::size_t n) {
    Stat count = 0;
    for (std::size_t i = 0; i < n; ++i) count += std::popcount(column[words[i]] & masks[i]);
    return count;
}

constexpr std::size_t kListed = 4;  // runs with fewer than one in so many words are listed

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
    Stat weight = 0, times = 1;
    for (std::size_t first = 0; first < planes_.size(); first += n_words_, times *= 2) {
        weight += times * count_common(set + begin, planes_.data() + first + begin, end - begin);
    }
    return weight;
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
    into.runs.clear();
    into.masks.clear();
    into.words.clear();
    Stat times = 1;
    for (std::size_t first = 0; first < planes_.size(); first += n_words_, times *= 2) {
        const Bits* plane = planes_.data() + first;
        add_run(set, plane, 0, n_positive_words_, times * positive_unit_, into);
        add_run(set, plane, n_positive_words_, n_words_, -times * negative_unit_, into);
    }
}

void DnfExamples::add_run(const Bits* set, const Bits* plane, std::size_t begin, std::size_t end,
                          Stat unit, WeighedSet& into) const {
    const auto empty = [&](std::size_t w) { return (set[w] & plane[w]) == 0; };
    while (begin < end && empty(begin)) ++begin;
    while (begin < end && empty(end - 1)) --end;
    std::size_t n_full = 0;
    for (std::size_t w = begin; w < end; ++w) n_full += empty(w) ? 0 : 1;
    if (n_full == 0) return;
    const bool listed = kListed * n_full < end - begin;
    const std::size_t start = into.masks.size();
    for (std::size_t w = begin; w < end; ++w) {
        if (listed && empty(w)) continue;
        into.masks.push_back(set[w] & plane[w]);
        into.words.push_back(static_cast<std::uint32_t>(w));
    }
    into.runs.push_back({start, into.masks.size(), begin, listed, unit});
}

// The inner loop of the search: one count per variable and word.
void DnfExamples::tally(const WeighedSet& set, std::span<const std::uint32_t> variables,
                        std::vector<Stat>& balances) const {
    balances.assign(variables.size(), 0);
    for (const WeighedSet::Run& run : set.runs) {
        const Bits* masks = set.masks.data() + run.begin;
        const std::uint32_t* words = set.words.data() + run.begin;
        const std::size_t n = run.end - run.begin;
        for (std::size_t v = 0; v < variables.size(); ++v) {
            const Bits* column = this->column(variables[v]);
            balances[v] += run.unit * (run.listed ? count_listed(column, masks, words, n)
                                                  : count_common(column + run.first, masks, n));
        }
    }
}

Stat DnfExamples::balance(const Bits* set) const {
    return positive_unit_ * weigh(set, 0, n_positive_words_) -
           negative_unit_ * weigh(set, n_positive_words_, n_words_);
}

}  // namespace rulewright
