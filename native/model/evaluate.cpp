#include "model/evaluate.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/parallel.hpp"

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
    const auto first = static_cast<std::size_t>(rules.rule_starts[rule]);
    const auto last = static_cast<std::size_t>(rules.rule_starts[rule + 1]);
    for (std::size_t c = first; c < last && any(cover); ++c) {
        Bits condition{};
        const auto from = static_cast<std::size_t>(rules.condition_starts[c]);
        const auto to = static_cast<std::size_t>(rules.condition_starts[c + 1]);
        for (std::size_t i = from; i < to; ++i) {
            add_interval(values, rules.intervals[i], begin, n, condition);
        }
        for (std::size_t w = 0; w < kWords; ++w) cover[w] &= condition[w];
    }
    return cover;
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
        for (std::size_t w = 0; w < kWords; ++w) {
            for (std::uint64_t word = cover[w]; word != 0; word &= word - 1) {
                const auto bit = static_cast<std::size_t>(std::countr_zero(word));
                body(begin + 64 * w + bit, rule);
            }
        }
    };
    for_each_cover(values, rules, n_threads, visit);
}

}  // namespace

void add_responses(const ValueCodes& values, const CompiledRules& rules,
                   std::span<const Head> heads, std::span<const double> responses,
                   std::size_t n_classes, double* scores, int n_threads) {
    for_each_fired(values, rules, n_threads, [&](std::size_t row, std::size_t rule) {
        const auto last = static_cast<std::size_t>(heads[rule].last);
        for (auto k = static_cast<std::size_t>(heads[rule].first); k <= last; ++k) {
            scores[row * n_classes + k] += responses[rule];
        }
    });
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
