// Labelled graphs that patterns are looked for in.
//
// A pattern occurs in a graph if its vertices can be laid on different vertices of the graph so
// that labels and edges fit (the graph may have more edges: monomorphism). `match` costs about the
// number of ways to lay prefixes of the code, summed over the graphs, and stops at the first whole
// one; `neighbours` visits all of them. Nothing is kept between calls.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/bits.hpp"
#include "search/graphs/code.hpp"

namespace rulewright {

inline constexpr Label kMostEdgeLabels = 1 << 20;  // an edge of a code fits into 64 bits

inline constexpr std::uint64_t kMostSteps = 10'000'000;  // patterns of molecules take thousands

class GraphSet {
  public:
    struct Half {
        Label label;
        std::int32_t end;
    };

    // Graph g has the vertices from starts[g] on, vertex v the edges from edge_starts[v] on.
    GraphSet(std::span<const std::int32_t> starts, std::span<const Label> labels,
             std::span<const std::int32_t> edge_starts, std::span<const std::int32_t> ends,
             std::span<const Label> edge_labels);

    std::size_t n_graphs() const { return starts_.size() - 1; }
    std::size_t n_words() const { return count_words(n_graphs()); }
    std::int32_t n_vertices() const { return starts_.back(); }
    Label label(std::int32_t v) const { return labels_[static_cast<std::size_t>(v)]; }
    std::int32_t graph_of(std::int32_t v) const { return graph_of_[static_cast<std::size_t>(v)]; }
    std::span<const Half> around(std::int32_t v) const {
        const auto at = static_cast<std::size_t>(v);
        const auto begin = static_cast<std::size_t>(edge_starts_[at]);
        return {halves_.data() + begin, static_cast<std::size_t>(edge_starts_[at + 1]) - begin};
    }

    // OUT words (n_words): the graphs that the pattern occurs in; at most kMostSteps in each.
    void match(const Code& code, Bits* words) const;

    // The patterns with an edge more that occur, and those with an edge less, with their graphs.
    std::map<Code, std::vector<Bits>> neighbours(const Code& code, std::size_t max_edges,
                                                 bool allow_cycles) const;

  private:
    // Calls visit(places) for each way to lay the pattern on graph g, until it returns true; throws
    // std::length_error after so many steps.
    template <class Visit>
    bool lay(const Code& code, std::size_t g, std::uint64_t steps, const Visit& visit) const;
    template <class Visit>
    bool lay_from(const Code& code, std::size_t at, std::int32_t* places, std::int32_t n,
                  std::uint64_t& steps, const Visit& visit) const;
    bool has_edge(std::int32_t one, std::int32_t other, Label label) const;

    std::vector<std::int32_t> starts_, labels_, edge_starts_, graph_of_;
    std::vector<Half> halves_;
};

// Calls found(edge, vertex) for each edge that can be added to a pattern that lies on `places`,
// from vertices with a number of `first_source` or more: to a vertex outside, whose number is then
// n, or, with vertex = -1, closing a cycle. `used` has a bit per target for each source
// (`joined_pairs`).
template <class Found>
void for_each_extension(const GraphSet& graphs, std::span<const std::int32_t> places,
                        std::span<const std::uint64_t> used, std::int32_t first_source,
                        bool allow_cycles, const Found& found) {
    const auto n = static_cast<std::int32_t>(places.size());
    for (std::int32_t source = first_source; source < n; ++source) {
        for (const GraphSet::Half& half : graphs.around(places[static_cast<std::size_t>(source)])) {
            std::int32_t target = 0;
            while (target < n && places[static_cast<std::size_t>(target)] != half.end) ++target;
            const Label label = graphs.label(half.end);
            if (label < 0 || half.label < 0) continue;  // no pattern has such a label
            if (target == n) {
                found(CodeEdge{source, half.label, label, n}, half.end);
            } else if (allow_cycles && target > source &&
                       (used[static_cast<std::size_t>(source)] >> target & 1) == 0) {
                found(CodeEdge{source, half.label, label, target}, std::int32_t{-1});
            }
        }
    }
}

// The pairs of vertices that a code joins: a bit per target for each source.
std::array<std::uint64_t, kMostVertices> joined_pairs(const Code& code);

}  // namespace rulewright
