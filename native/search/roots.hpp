// The histograms of all rows, kept by blocks of consecutive rows while statistics of few rows
// change.
//
// A subsample that is a choice of blocks has the sum of their histograms; a rule that changes the
// statistics of the rows that it covers changes their histograms by the difference. Both are exact,
// so a search that starts here finds what it would find by counting its rows anew.
//
// Two lanes whose sums over any block fit in 32 bits each are kept as one: a word with the first
// lane in its upper half, to which words add up as numbers do.
// Cost: O(codes x lanes) per block chosen, O(rows changed x columns x lanes) per change.
#pragma once

#include <utility>

#include "search/cover.hpp"
#include "search/histogram.hpp"
#include "search/refine.hpp"

namespace rulewright {

// Sums over all rows never have more bits.
inline constexpr int kMostBits = 62;

class Roots {
  public:
    // Block b has the rows from starts[b] to starts[b + 1]; the starts ascend from 0. No statistic
    // of a row has ever more than `bits` bits, without the sign.
    Roots(const ColumnKinds& columns, std::vector<std::size_t> starts, std::size_t lanes, int bits)
        : starts_(std::move(starts)),
          lanes_(lanes),
          bits_(bits),
          packed_(lanes == 2 && bits < 31 && largest_block() << bits < 1ULL << 31),
          blocks_(starts_.size() - 1, Histogram(columns, packed_ ? 1 : lanes)) {}
    // Blocks of about equal size.
    Roots(const ColumnKinds& columns, std::size_t n_rows, std::size_t n_blocks, std::size_t lanes,
          int bits)
        : Roots(columns, even_starts(n_rows, n_blocks), lanes, bits) {}

    std::size_t n_rows() const { return starts_.back(); }
    std::size_t n_blocks() const { return blocks_.size(); }
    std::size_t lanes() const { return lanes_; }
    bool fits(const ColumnKinds& columns) const { return blocks_[0].fits(columns); }
    std::size_t start(std::size_t block) const { return starts_[block]; }

    // Takes note of the statistics of rows, which ascend, before they change; without statistics
    // they were not counted yet.
    void remember(std::span<const Row> rows, const Stat* stats, int n_threads);

    // Adds by how much the statistics of those rows have changed. Throws where a statistic has too
    // many bits.
    template <class Code>
    void follow(const Columns<Code>& columns, const Stat* stats, int n_threads);

    // Sets the columns [first, last) of the histogram to the sums over the chosen blocks.
    void sum(std::span<const std::uint8_t> chosen, std::size_t first, std::size_t last,
             Histogram& histogram) const;

  private:
    static std::vector<std::size_t> even_starts(std::size_t n_rows, std::size_t n_blocks) {
        std::vector<std::size_t> starts;
        for (std::size_t b = 0; b <= n_blocks; ++b) starts.push_back(b * n_rows / n_blocks);
        return starts;
    }

    std::size_t largest_block() const {
        std::size_t most = 0;
        for (std::size_t b = 0; b + 1 < starts_.size(); ++b) {
            most = std::max(most, starts_[b + 1] - starts_[b]);
        }
        return most;
    }
    void change(const Stat* stats, int n_threads);
    Reach change_block(const Stat* stats, std::size_t from, std::size_t to);
    std::size_t width() const { return packed_ ? 1 : lanes_; }

    std::vector<std::size_t> starts_;
    std::size_t lanes_;
    int bits_;
    bool packed_;
    std::vector<Histogram> blocks_;
    Cover changes_;  // the rows with what is remembered, then with what is to be added
};

// The rows that a search starts from: chosen blocks, of which the histograms are known.
struct ChosenBlocks {
    const Roots& roots;
    std::span<const std::uint8_t> chosen;

    std::vector<RowRange> ranges() const;
};

}  // namespace rulewright
