// How many bits do two sets have in common? The inner question of searches on packed columns.
// Cost: O(words); processors with AVX-512 count eight words at once.
#pragma once

#include "base/bits.hpp"

namespace rulewright {

std::int64_t count_common(const Bits* a, const Bits* b, std::size_t n_words);

}  // namespace rulewright
