// Question: which of up to 64 x kWords rules hold on a row, given the codes of its columns?
//
// For every code of a column a mask tells which rules allow it; the rules that hold are the AND of
// the masks of the row's codes, one per column that the rules use. A row costs as many loads as
// there are columns, however many conditions the rules have. Codes beyond the highest end of an
// interval share a mask, missing values have their own. Rows are taken column by column, some
// hundred at a time: the masks of one column stay in the first cache.
//
// Cost: making them O(conditions x codes of their column), then O(columns x kWords) per row.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "model/evaluate.hpp"

namespace rulewright {

// The most codes, over all columns, that have masks: the tables stay in the second cache.
inline constexpr std::size_t kMostMasks = 16384;

// The highest code of each column that rules [first, last) tell from the next; -1: not used. Empty
// if masks cannot say what the rules say: too many codes, or a condition on several columns.
std::vector<std::int32_t> mask_tops(const CompiledRules& rules, std::size_t first, std::size_t last,
                                    std::size_t n_columns);

template <std::size_t kWords>
class CodeMasks {
  public:
    using Bits = std::array<std::uint64_t, kWords>;

    CodeMasks(const ValueCodes& values, const CompiledRules& rules, std::size_t first,
              std::size_t last, const std::vector<std::int32_t>& tops)
        : start_{} {
        for (std::size_t r = 0; r < last - first; ++r) set(start_, r);
        std::vector<std::size_t> places(tops.size());
        for (std::size_t j = 0; j < tops.size(); ++j) {
            if (tops[j] < 0) continue;
            places[j] = columns_.size();
            columns_.push_back({values.codes + j * values.n_rows, masks_.size(),
                                static_cast<std::uint32_t>(tops[j])});
            masks_.resize(masks_.size() + static_cast<std::size_t>(tops[j]) + 2, start_);
        }
        for (std::size_t r = 0; r < last - first; ++r) add_rule(rules, first + r, r, places);
    }

    // OUT bits: the rules that hold on each of n rows from `begin` on.
    void covers(std::size_t begin, std::size_t n, Bits* bits) const {
        std::fill_n(bits, n, start_);
        for (const Column& column : columns_) {
            const ValueCode* codes = column.codes + begin;
            const Bits* masks = masks_.data() + column.first;
            for (std::size_t i = 0; i < n; ++i) {
                const std::uint32_t code = codes[i];
                const Bits& mask = masks[std::min(code, column.top) + (code == kMissing ? 1 : 0)];
                for (std::size_t w = 0; w < kWords; ++w) bits[i][w] &= mask[w];
            }
        }
    }

  private:
    struct Column {
        const ValueCode* codes;
        std::size_t first;  // its masks: codes 0, ..., top, missing
        std::uint32_t top;
    };

    static void set(Bits& bits, std::size_t r) { bits[r / 64] |= std::uint64_t{1} << (r % 64); }
    static void clear(Bits& bits, std::size_t r) {
        bits[r / 64] &= ~(std::uint64_t{1} << (r % 64));
    }

    void add_rule(const CompiledRules& rules, std::size_t rule, std::size_t r,
                  const std::vector<std::size_t>& places) {
        for (std::int32_t c = rules.rule_starts[rule]; c < rules.rule_starts[rule + 1]; ++c) {
            const std::span<const CodeInterval> intervals = rules.condition(c);
            if (intervals.empty()) {  // no alternative holds
                clear(start_, r);
                continue;
            }
            const Column& column = columns_[places[static_cast<std::size_t>(intervals[0].column)]];
            for (std::uint32_t i = 0; i <= column.top + 1; ++i) {
                const auto code = static_cast<std::int32_t>(i <= column.top ? i : kMissing);
                const bool holds = std::any_of(
                    intervals.begin(), intervals.end(),
                    [&](const CodeInterval& v) { return v.low <= code && code <= v.high; });
                if (!holds) clear(masks_[column.first + i], r);
            }
        }
    }

    Bits start_;
    std::vector<Column> columns_;
    std::vector<Bits> masks_;
};

}  // namespace rulewright
