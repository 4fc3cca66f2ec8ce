#include "model/code_masks.hpp"

namespace rulewright {

std::vector<std::int32_t> mask_tops(const CompiledRules& rules, std::size_t first, std::size_t last,
                                    std::size_t n_columns) {
    std::vector<std::int32_t> tops(n_columns, -1);
    for (std::int32_t c = rules.rule_starts[first]; c < rules.rule_starts[last]; ++c) {
        for (const CodeInterval& v : rules.condition(c)) {
            if (v.column != rules.condition(c)[0].column) return {};
            std::int32_t& top = tops[static_cast<std::size_t>(v.column)];
            top =
                std::max({top, 0, v.low < kMissing ? v.low : 0, v.high < kUnseen ? v.high + 1 : 0});
        }
    }
    std::size_t n_masks = 0;
    for (const std::int32_t top : tops) n_masks += static_cast<std::size_t>(top + 2);
    return n_masks <= kMostMasks ? tops : std::vector<std::int32_t>{};
}

}  // namespace rulewright
