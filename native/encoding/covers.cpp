#include "encoding/covers.hpp"

#include <algorithm>
#include <numeric>

namespace rulewright {
namespace {

constexpr std::size_t kHalf = 32;  // covers whose bits lie in the lower half of a key

// Numbers keys in the order in which they come first.
class KeyTable {
  public:
    KeyTable() : places_(1024) {}

    std::uint32_t number(std::uint64_t key) {
        std::size_t at = slot(key);
        for (; places_[at] != 0; at = (at + 1) & (places_.size() - 1)) {
            if (keys_[places_[at] - 1] == key) return places_[at] - 1;
        }
        keys_.push_back(key);
        places_[at] = static_cast<std::uint32_t>(keys_.size());
        if (2 * keys_.size() > places_.size()) grow();
        return static_cast<std::uint32_t>(keys_.size()) - 1;
    }
    const std::vector<std::uint64_t>& keys() const { return keys_; }

  private:
    std::size_t slot(std::uint64_t key) const {
        key *= 0x9E3779B97F4A7C15ULL;
        return (key ^ key >> 32) & (places_.size() - 1);
    }
    void grow() {
        places_.assign(2 * places_.size(), 0);
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            std::size_t at = slot(keys_[i]);
            while (places_[at] != 0) at = (at + 1) & (places_.size() - 1);
            places_[at] = static_cast<std::uint32_t>(i) + 1;
        }
    }

    std::vector<std::uint32_t> places_;  // number of a key plus one; 0: free
    std::vector<std::uint64_t> keys_;
};

// Replaces keys by their ranks; returns how many differ.
std::size_t rank(std::span<std::uint64_t> keys) {
    KeyTable table;
    for (std::uint64_t& key : keys) key = table.number(key);
    const std::vector<std::uint64_t>& found = table.keys();
    std::vector<std::uint32_t> order(found.size()), ranks(found.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return found[i]; });
    for (std::uint32_t i = 0; i < order.size(); ++i) ranks[order[i]] = i;
    for (std::uint64_t& key : keys) key = ranks[key];
    return found.size();
}

void mark(const CoverLines& covers, std::size_t cover, std::uint64_t bit,
          std::span<std::uint64_t> keys) {
    const Bits* line = covers.line(cover);
    for (std::size_t w = 0; w < covers.n_words(); ++w) {
        for (Bits left = line[w]; left != 0; left &= left - 1) {
            keys[w * kWordBits + static_cast<std::size_t>(std::countr_zero(left))] |= bit;
        }
    }
}

// The covers of groups, read off one row of each.
std::vector<Bits> covers_of(const CoverLines& covers, std::span<const std::size_t> rows) {
    const std::size_t n_words = count_words(rows.size());
    std::vector<Bits> lines(covers.n_covers * n_words);
    for (std::size_t cover = 0; cover < covers.n_covers; ++cover) {
        for (std::size_t g = 0; g < rows.size(); ++g) {
            if (test_bit(covers.line(cover), rows[g])) set_bit(&lines[cover * n_words], g);
        }
    }
    return lines;
}

}  // namespace

RULEWRIGHT_CLONES
std::vector<std::int64_t> count_held(const CoverLines& covers) {
    std::vector<std::int64_t> counts(covers.n_covers);
    for (std::size_t cover = 0; cover < covers.n_covers; ++cover) {
        const Bits* line = covers.line(cover);
        for (std::size_t w = 0; w < covers.n_words(); ++w) counts[cover] += std::popcount(line[w]);
    }
    return counts;
}

CoverGroups group_rows(const CoverLines& covers, std::span<const double> weights,
                       std::span<const double> shares) {
    const std::size_t n_rows = covers.n_rows;
    std::vector<std::uint64_t> keys(n_rows);
    std::size_t n_groups = std::min<std::size_t>(n_rows, 1);
    for (std::size_t first = 0; first < covers.n_covers; first += kHalf) {
        for (std::uint64_t& key : keys) key <<= kHalf;
        const std::size_t last = std::min(first + kHalf, covers.n_covers);
        for (std::size_t c = first; c < last; ++c) mark(covers, c, Bits{1} << (c - first), keys);
        n_groups = rank(keys);
    }
    const std::size_t n_classes = n_rows == 0 ? 0 : shares.size() / n_rows;
    CoverGroups found{std::vector<std::int32_t>(n_rows),
                      {},
                      std::vector<double>(n_groups),
                      std::vector<double>(n_groups * n_classes)};
    std::vector<std::size_t> members(n_groups);
    for (std::size_t row = 0; row < n_rows; ++row) {
        const std::size_t group = keys[row];
        found.groups[row] = static_cast<std::int32_t>(group);
        found.weights[group] += weights[row];
        for (std::size_t k = 0; k < n_classes; ++k) {
            found.sums[group * n_classes + k] += weights[row] * shares[row * n_classes + k];
        }
        members[group] = row;
    }
    found.covers = covers_of(covers, members);
    return found;
}

}  // namespace rulewright
