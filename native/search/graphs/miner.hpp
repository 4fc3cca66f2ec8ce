// All connected subgraphs that occur in enough graphs, each once, in the order of their codes.
//
// Depth first over canonical codes: a code is extended by edges behind its last one (gSpan's idea,
// with breadth-first codes), found by a scan over the ways in which it lies on the graphs; what is
// too rare or not canonical is left. `advance` goes on where it stopped: callers handle signals and
// keep what they want between calls.
//
// Cost: the ways in which all frequent patterns lie on the graphs, times vertices and degrees.
// Memory: the ways of the open branches, that is of all children along one path of codes.
#pragma once

#include <cstdint>
#include <vector>

#include "search/graphs/graph_set.hpp"

namespace rulewright {

struct MinerLimits {
    std::size_t min_count, max_edges;
    bool allow_cycles;
};

// Flat codes one after the other from starts[k] on, and the graphs of each as words.
struct FoundSubgraphs {
    std::vector<std::int32_t> codes;
    std::vector<std::int32_t> starts{0};
    std::vector<Bits> words;

    void add(const Code& code);
};

class SubgraphMiner {
  public:
    SubgraphMiner(const GraphSet& graphs, const MinerLimits& limits);

    // Finds up to so many subgraphs; fewer if about `most_work` vertices were visited before.
    FoundSubgraphs advance(std::size_t n_patterns, std::uint64_t most_work);
    bool done() const { return path_.empty(); }

  private:
    // An edge, and the ways in which the code lies on the graphs once it has it.
    struct Child {
        CodeEdge edge;
        std::vector<std::int32_t> places;
    };
    struct Node {
        std::vector<Child> children;
        std::size_t next = 0;
    };

    void open_roots();
    Node extended(const Child& parent);
    std::size_t count_graphs(const Child& child) const;
    void write_graphs(const Child& child, std::vector<Bits>& words) const;

    const GraphSet& graphs_;
    MinerLimits limits_;
    Code code_{0, {}};
    std::int32_t n_vertices_ = 1;
    std::vector<Node> path_;
    std::uint64_t work_ = 0;
};

}  // namespace rulewright
