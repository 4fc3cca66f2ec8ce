// The histograms of all rows, kept by blocks of consecutive rows while statistics of few rows
// change.
//
// A subsample that is a choice of blocks has the sum of their histograms; a rule that changes the
// statistics of the rows that it covers changes their histograms by the difference. Both are exact,
// so a search that starts here finds what it would find by counting its rows anew.
// Cost: O(codes x lanes) per block chosen, O(rows changed x columns x lanes) per change.
#pragma once

#include <utility>

#include "search/cover.hpp"
#include "search/histogram.hpp"
#include "search/refine.hpp"

namespace rulewright {

class Roots {
  public:
    // Block b has the rows from starts[b] to starts[b + 1]; the starts ascend from 0.
    Roots(const ColumnKinds& columns, std::vector<std::size_t> starts, std::size_t lanes)
        : starts_(std::move(starts)),
          lanes_(lanes),
          blocks_(starts_.size() - 1, Histogram(columns, lanes)) {}
    // Blocks of about equal size.
    Roots(const ColumnKinds& columns, std::size_t n_rows, std::size_t n_blocks, std::size_t lanes)
        : Roots(columns, even_starts(n_rows, n_blocks), lanes) {}

    std::size_t n_rows() const { return starts_.back(); }
    std::size_t n_blocks() const { return blocks_.size(); }
    std::size_t lanes() const { return lanes_; }
    bool fits(const ColumnKinds& columns) const { return blocks_[0].fits(columns); }
    std::size_t start(std::size_t block) const { return starts_[block]; }

    // Adds by how much the statistics of the rows, which ascend, are no longer what they were
    // `before`; without it, what they are.
    template <class Code>
    void follow(const Columns<Code>& columns, std::span<const Row> rows, const Stat* before,
                const Stat* stats, int n_threads);

    // Sets the columns [first, last) of the histogram to the sums over the chosen blocks.
    void sum(std::span<const std::uint8_t> chosen, std::size_t first, std::size_t last,
             Histogram& histogram) const;

  private:
    static std::vector<std::size_t> even_starts(std::size_t n_rows, std::size_t n_blocks) {
        std::vector<std::size_t> starts;
        for (std::size_t b = 0; b <= n_blocks; ++b) starts.push_back(b * n_rows / n_blocks);
        return starts;
    }

    std::vector<std::size_t> starts_;
    std::size_t lanes_;
    std::vector<Histogram> blocks_;
    Cover changes_;
};

// The rows that a search starts from: chosen blocks, of which the histograms are known.
struct ChosenBlocks {
    const Roots& roots;
    std::span<const std::uint8_t> chosen;

    std::vector<RowRange> ranges() const;
};

}  // namespace rulewright
