// Canonical codes of small connected graphs (Borgelt's breadth-first form): which of all ways to
// write a pattern is the one that stands for it?
//
// A code is the label of vertex 0, then the edges (source, edge label, label, target) with source <
// target, ascending; vertices are numbered by a breadth-first traversal. The canonical code is the
// smallest one. Prefixes of canonical codes are canonical.
//
// Cost: exponential in ties at worst (vertices with the same labels and other neighbours), about
// edges * vertices for patterns of molecules. A traversal is left where its code exceeds the best.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rulewright {

using Label = std::int32_t;

inline constexpr std::size_t kMostEdges = 63;  // vertices then have numbers below 64
inline constexpr std::size_t kMostVertices = kMostEdges + 1;

struct CodeEdge {
    std::int32_t source;
    Label edge_label, label;
    std::int32_t target;

    auto operator<=>(const CodeEdge&) const = default;
};

struct Code {
    Label start;
    std::vector<CodeEdge> edges;

    std::int32_t n_vertices() const;
    auto operator<=>(const Code&) const = default;
};

// A graph with the edges around each vertex, in arrays of fixed size.
class SmallGraph {
  public:
    struct Half {
        Label label;
        std::int32_t end;

        auto operator<=>(const Half&) const = default;
    };
    struct Edge {
        std::int32_t one, other;
        Label label;
    };

    explicit SmallGraph(const Code& code);
    SmallGraph(std::span<const Label> labels, std::span<const Edge> edges);

    std::int32_t size() const { return n_; }
    Label label(std::int32_t v) const { return labels_[static_cast<std::size_t>(v)]; }
    std::span<const Half> around(std::int32_t v) const {
        const std::size_t begin = begins_[static_cast<std::size_t>(v)];
        return {halves_.data() + begin, begins_[static_cast<std::size_t>(v) + 1] - begin};
    }

  private:
    void lay_out(std::span<const Edge> edges);

    std::int32_t n_ = 0;
    std::array<Label, kMostVertices> labels_{};
    std::array<std::size_t, kMostVertices + 1> begins_{};
    std::array<Half, 2 * kMostEdges> halves_{};
};

bool is_canonical(const Code& code);
Code canonical_code(const SmallGraph& graph);

// The patterns that are left when an edge is deleted, ascending and each once. Where the edge parts
// the pattern, the part with more edges stays; of equal ones that with more vertices, then that
// with the smaller code.
std::vector<Code> generalised(const Code& code);

}  // namespace rulewright
