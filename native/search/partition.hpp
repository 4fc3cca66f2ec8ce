// The search of a rule among the rows of a partition, step by step: which rows pass the tests so
// far, and what do their statistics sum to per code? Whoever asks adds up the histograms of all
// partitions and decides on the next test.
//
// Rows lie block after block; a search starts from the rows of chosen blocks. Where the histograms
// of blocks are kept (`Roots`), these are not counted anew. Cost: O(codes) per block chosen to
// start, O(rows x columns x lanes) of the smaller side per test.
#pragma once

#include <optional>

#include "search/roots.hpp"

namespace rulewright {

class BlockSearch {
  public:
    // Block b has the rows from starts[b] to starts[b + 1]; the starts ascend from 0.
    BlockSearch(const ColumnKinds& columns, std::vector<std::size_t> starts, std::size_t lanes,
                bool keeps_roots);

    std::size_t n_rows() const { return starts_.back(); }
    std::size_t n_blocks() const { return starts_.size() - 1; }
    std::size_t n_lanes() const { return stride_; }
    bool keeps_roots() const { return roots_.has_value(); }
    bool fits(const ColumnKinds& columns) const { return histogram_.fits(columns); }

    // Takes note of the statistics of all rows.
    template <class Code>
    void count(const Columns<Code>& columns, const Stat* stats);

    // Takes note of the statistics of rows, which ascend, before they change.
    void remember(std::span<const Row> rows, const Stat* stats);

    // Takes note that they have changed. A search has to start anew.
    template <class Code>
    void follow(const Columns<Code>& columns, const Stat* stats);

    // Starts a search among the rows of the chosen blocks that reads some lanes.
    template <class Code>
    const Histogram& start(const Columns<Code>& columns, const Stat* stats,
                           std::span<const std::uint8_t> chosen, const Lanes& lanes);

    // Leaves the rows that pass the test.
    template <class Code>
    const Histogram& narrow(const Columns<Code>& columns, const Stat* stats, const CodeTest& test);

  private:
    template <class Code>
    void set(const Columns<Code>& columns, const Cover& counted, Histogram& histogram) const;
    void read_roots(const ColumnKinds& columns, std::span<const std::uint8_t> chosen);

    std::vector<std::size_t> starts_;
    std::size_t stride_;
    std::optional<Roots> roots_;
    Lanes lanes_;
    std::vector<RowRange> ranges_;  // chosen, as long as there is no test
    Cover cover_, dropped_;
    Histogram histogram_, other_;
};

}  // namespace rulewright
