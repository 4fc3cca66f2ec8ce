// Random partitions of the positives for a consistent k-term DNF formula: every part is
// generalised to the conjunction of all literals that its rows share, which must cover no negative.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bits.hpp"

namespace rulewright {

struct BooleanRows {
    const Bits* bits;  // a line of words per row
    std::size_t n_rows, n_words;

    const Bits* row(std::size_t i) const { return bits + i * n_words; }
};

struct PartitionTask {
    BooleanRows positives, negatives;
    std::size_t n_parts;
    bool one_new;  // of the parts without a row only the first is open; no bound is known for this
    std::uint64_t seed;
};

struct FoundPartition {
    std::int64_t restart = -1;        // the first one that works
    std::vector<std::int32_t> parts;  // of each positive
};

FoundPartition find_partition(const PartitionTask& task, std::uint64_t first_restart,
                              std::uint64_t n_restarts, int n_threads);

}  // namespace rulewright
