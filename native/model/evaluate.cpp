#include "model/evaluate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/parallel.hpp"
#include "model/code_masks.hpp"

namespace rulewright {
namespace {

constexpr std::size_t kWords = 8;
constexpr std::size_t kRows = 64 * kWords;  // rows evaluated together
using Bits = std::array<std::uint64_t, kWords>;

Bits all_rows(std::size_t n) {
    Bits bits{};
    for (std::size_t i = 0; i < n; i += 64) {
        bits[i / 64] = n - i >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (n - i)) - 1;
    }
    return bits;
}

// Eight flag bytes (0 or 1) to eight bits: the product gathers them in the top byte.
std::uint64_t pack_flags(const std::uint8_t* flags) {
    std::uint64_t bytes = 0;
    for (unsigned i = 0; i < 8; ++i) bytes |= std::uint64_t{flags[i]} << (8 * i);
    return (bytes * 0x0102040810204080ULL) >> 56;
}

void add_interval(const ValueCodes& values, const CodeInterval& interval, std::size_t begin,
                  std::size_t n, Bits& bits) {
    const ValueCode* codes =
        values.codes + static_cast<std::size_t>(interval.column) * values.n_rows + begin;
    const auto low = static_cast<ValueCode>(interval.low);
    const auto span = static_cast<ValueCode>(interval.high - interval.low);
    std::uint8_t flags[kRows] = {};
    // One unsigned comparison: codes below `low` wrap around to large numbers.
    for (std::size_t i = 0; i < n; ++i) {
        flags[i] = static_cast<ValueCode>(codes[i] - low) <= span ? 1 : 0;
    }
    for (std::size_t i = 0; i < n; i += 8) bits[i / 64] |= pack_flags(flags + i) << (i % 64);
}

bool any(const Bits& bits) {
    std::uint64_t all = 0;
    for (const std::uint64_t word : bits) all |= word;
    return all != 0;
}

Bits covered_rows(const ValueCodes& values, const CompiledRules& rules, std::size_t rule,
                  std::size_t begin, std::size_t n) {
    Bits cover = all_rows(n);
    const std::int32_t last = rules.rule_starts[rule + 1];
    for (std::int32_t c = rules.rule_starts[rule]; c < last && any(cover); ++c) {
        Bits condition{};
        for (const CodeInterval& interval : rules.condition(c)) {
            add_interval(values, interval, begin, n, condition);
        }
        for (std::size_t w = 0; w < kWords; ++w) cover[w] &= condition[w];
    }
    return cover;
}

// Calls body(first + bit) for every bit that is set.
template <std::size_t kSize, class Body>
void for_each_bit(const std::array<std::uint64_t, kSize>& bits, std::size_t first,
                  const Body& body) {
    for (std::size_t w = 0; w < kSize; ++w) {
        for (std::uint64_t word = bits[w]; word != 0; word &= word - 1) {
            body(first + 64 * w + static_cast<std::size_t>(std::countr_zero(word)));
        }
    }
}

// Calls body(begin, rule, bits) for each block of rows, which starts at `begin`, and each rule.
template <class Body>
void for_each_cover(const ValueCodes& values, const CompiledRules& rules, int n_threads,
                    const Body& body) {
    if (rules.n_rules() == 0) return;  // rows without columns may be beyond number
    const std::size_t n_blocks = (values.n_rows + kRows - 1) / kRows;
    parallel_for(n_blocks, n_threads, [&](std::size_t block) {
        const std::size_t begin = block * kRows;
        const std::size_t n = std::min(kRows, values.n_rows - begin);
        for (std::size_t rule = 0; rule < rules.n_rules(); ++rule) {
            body(begin, rule, covered_rows(values, rules, rule, begin, n));
        }
    });
}

// Calls body(row, rule) for every rule that fires, rule by rule within a block of rows.
template <class Body>
void for_each_fired(const ValueCodes& values, const CompiledRules& rules, int n_threads,
                    const Body& body) {
    const auto visit = [&](std::size_t begin, std::size_t rule, const Bits& cover) {
        for_each_bit(cover, begin, [&](std::size_t row) { body(row, rule); });
    };
    for_each_cover(values, rules, n_threads, visit);
}

constexpr std::size_t kMaskWords = 8;   // of the rules that share masks
constexpr std::size_t kFewRows = 1024;  // too few for masks to pay
constexpr std::size_t kMaskRows = 256;  // rows that go through all masks of some rules

// Calls visit(row, first, bits) for every row, with the bits of the rules [first, last) that fire.
template <std::size_t kSize, class Visit>
void fire_by_masks(const ValueCodes& values, const CompiledRules& rules, std::size_t first,
                   std::size_t last, const std::vector<std::int32_t>& tops, int n_threads,
                   const Visit& visit) {
    const CodeMasks<kSize> masks(values, rules, first, last, tops);
    const std::size_t n_blocks = (values.n_rows + kMaskRows - 1) / kMaskRows;
    parallel_for(n_blocks, n_threads, [&](std::size_t block) {
        const std::size_t begin = block * kMaskRows;
        const std::size_t n = std::min(kMaskRows, values.n_rows - begin);
        std::array<std::uint64_t, kSize> bits[kMaskRows];
        masks.covers(begin, n, bits);
        for (std::size_t i = 0; i < n; ++i) visit(begin + i, first, bits[i]);
    });
}

// The same for all rules, as many together as masks have room for; false if masks do not serve.
template <class Visit>
bool fire_all_by_masks(const ValueCodes& values, const CompiledRules& rules, int n_threads,
                       const Visit& visit) {
    if (values.n_rows < kFewRows) return false;
    std::vector<std::vector<std::int32_t>> tops;
    for (std::size_t first = 0; first < rules.n_rules(); first += 64 * kMaskWords) {
        const std::size_t last = std::min(rules.n_rules(), first + 64 * kMaskWords);
        tops.push_back(mask_tops(rules, first, last, values.n_columns));
        if (tops.back().empty()) return false;
    }
    for (std::size_t part = 0; part < tops.size(); ++part) {
        const std::size_t first = part * 64 * kMaskWords;
        const std::size_t last = std::min(rules.n_rules(), first + 64 * kMaskWords);
        const std::size_t n_words = (last - first + 63) / 64;
        // As many words as the rules need: each kind is compiled.
        [&]<std::size_t... kLess>(std::index_sequence<kLess...>) {
            ((n_words == kLess + 1 ? fire_by_masks<kLess + 1>(values, rules, first, last,
                                                              tops[part], n_threads, visit)
                                   : void()),
             ...);
        }(std::make_index_sequence<kMaskWords>{});
    }
    return true;
}

}  // namespace

void add_responses(const ValueCodes& values, const CompiledRules& rules,
                   std::span<const Head> heads, std::span<const double> responses,
                   std::size_t n_classes, double* scores, int n_threads) {
    const auto add = [&](std::size_t row, std::size_t rule) {
        const auto last = static_cast<std::size_t>(heads[rule].last);
        for (auto k = static_cast<std::size_t>(heads[rule].first); k <= last; ++k) {
            scores[row * n_classes + k] += responses[rule];
        }
    };
    const auto add_fired = [&](std::size_t row, std::size_t first, const auto& bits) {
        for_each_bit(bits, first, [&](std::size_t rule) { add(row, rule); });
    };
    // Two scores stay in registers: what a rule does not vote for gets 0.
    std::vector<std::array<double, 2>> pairs(n_classes == 2 ? rules.n_rules() : 0);
    for (std::size_t rule = 0; rule < pairs.size(); ++rule) {
        if (heads[rule].first == 0) pairs[rule][0] = responses[rule];
        if (heads[rule].last == 1) pairs[rule][1] = responses[rule];
    }
    const auto add_pairs = [&](std::size_t row, std::size_t first, const auto& bits) {
        double sums[2] = {scores[2 * row], scores[2 * row + 1]};
        for_each_bit(bits, first, [&](std::size_t rule) {
            sums[0] += pairs[rule][0];
            sums[1] += pairs[rule][1];
        });
        scores[2 * row] = sums[0];
        scores[2 * row + 1] = sums[1];
    };
    const bool done = n_classes == 2 ? fire_all_by_masks(values, rules, n_threads, add_pairs)
                                     : fire_all_by_masks(values, rules, n_threads, add_fired);
    if (!done) for_each_fired(values, rules, n_threads, add);
}

void rule_covers(const ValueCodes& values, const CompiledRules& rules, bool* covers,
                 int n_threads) {
    for_each_fired(values, rules, n_threads, [&](std::size_t row, std::size_t rule) {
        covers[row * rules.n_rules() + rule] = true;
    });
}

void rule_bits(const ValueCodes& values, const CompiledRules& rules, std::uint64_t* bits,
               int n_threads) {
    const std::size_t n_words = (values.n_rows + 63) / 64;
    const auto write = [&](std::size_t begin, std::size_t rule, const Bits& cover) {
        const std::size_t first = begin / 64;
        std::copy_n(cover.begin(), std::min(kWords, n_words - first),
                    bits + rule * n_words + first);
    };
    for_each_cover(values, rules, n_threads, write);
}

}  // namespace rulewright
