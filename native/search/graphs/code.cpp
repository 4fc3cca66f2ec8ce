#include "search/graphs/code.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rulewright {
namespace {

std::size_t place(std::int32_t v) { return static_cast<std::size_t>(v); }

// Breadth-first traversals, as far as their codes are not larger than the best one.
class Traversals {
  public:
    Traversals(const SmallGraph& graph, const Code* given) : graph_(graph), given_(given) {
        number_.fill(kNone);
        if (given_ != nullptr) best_ = given_->edges;
        known_ = given_ != nullptr;
    }

    void run() {
        least_ = graph_.label(0);
        for (std::int32_t v = 1; v < graph_.size(); ++v) least_ = std::min(least_, graph_.label(v));
        if (given_ != nullptr && given_->start > least_) beaten_ = true;
        for (std::int32_t v = 0; v < graph_.size() && !beaten_; ++v) {
            if (graph_.label(v) != least_) continue;
            visit(v);
            go_on(0);
            leave();
        }
    }
    bool beaten() const { return beaten_; }
    Code best() && { return {least_, std::move(best_)}; }

  private:
    static constexpr std::int32_t kNone = -1;

    struct Opening {
        Label edge_label, label;
        std::int32_t vertex;
    };
    using Openings = std::array<Opening, kMostEdges>;

    void visit(std::int32_t v) {
        number_[place(v)] = n_;
        order_[place(n_++)] = v;
    }
    void leave() { number_[place(order_[place(--n_)])] = kNone; }

    // Writes the edges of vertex i to later ones; they do not depend on the order of new vertices
    // with the same labels, which is what is tried next.
    void go_on(std::int32_t i) {
        if (i == n_) {
            best_ = code_;
            known_ = true;
            return;
        }
        Openings fresh;
        const std::size_t before = code_.size(), n_fresh = write(i, fresh);
        const std::strong_ordering order = compared(before);
        if (order < 0 && given_ != nullptr) beaten_ = true;
        if (order < 0) known_ = false;
        if (order <= 0 && !beaten_) arrange(i, fresh, n_fresh, 0);
        code_.resize(before);
    }

    std::size_t write(std::int32_t i, Openings& fresh) {
        const std::size_t before = code_.size();
        std::size_t n_fresh = 0;
        for (const SmallGraph::Half& half : graph_.around(order_[place(i)])) {
            const std::int32_t target = number_[place(half.end)];
            const Label label = graph_.label(half.end);
            if (target == kNone) fresh[n_fresh++] = {half.label, label, half.end};
            if (target > i) code_.push_back({i, half.label, label, target});
        }
        std::sort(fresh.begin(), fresh.begin() + static_cast<std::ptrdiff_t>(n_fresh),
                  [](const Opening& a, const Opening& b) {
                      return std::pair(a.edge_label, a.label) < std::pair(b.edge_label, b.label);
                  });
        for (std::size_t k = 0; k < n_fresh; ++k) {
            const auto target = n_ + static_cast<std::int32_t>(k);
            code_.push_back({i, fresh[k].edge_label, fresh[k].label, target});
        }
        std::sort(code_.begin() + static_cast<std::ptrdiff_t>(before), code_.end());
        return n_fresh;
    }

    // Compares the edges from `before` on with those of the best code.
    std::strong_ordering compared(std::size_t before) const {
        if (!known_) return std::strong_ordering::equal;
        for (std::size_t k = before; k < code_.size(); ++k) {
            if (const auto order = code_[k] <=> best_[k]; order != 0) return order;
        }
        return std::strong_ordering::equal;
    }

    // Gives number k to each vertex that differs from those tried before, and goes on.
    void arrange(std::int32_t i, const Openings& fresh, std::size_t n_fresh, std::size_t k) {
        if (k == n_fresh) return go_on(i + 1);
        std::array<std::int32_t, kMostEdges> tried;
        std::size_t n_tried = 0;
        for (std::size_t other = 0; other < n_fresh && !beaten_; ++other) {
            const std::int32_t v = fresh[other].vertex;
            if (fresh[other].edge_label != fresh[k].edge_label) continue;
            if (fresh[other].label != fresh[k].label || number_[place(v)] != kNone) continue;
            const std::span<const std::int32_t> before(tried.data(), n_tried);
            const auto is_twin = [&](std::int32_t t) { return twins(v, t); };
            if (std::any_of(before.begin(), before.end(), is_twin)) continue;
            tried[n_tried++] = v;
            visit(v);
            arrange(i, fresh, n_fresh, k + 1);
            leave();
        }
    }

    bool twins(std::int32_t v, std::int32_t w) const {
        return std::ranges::equal(graph_.around(v), graph_.around(w));
    }

    const SmallGraph& graph_;
    const Code* given_;
    std::array<std::int32_t, kMostVertices> number_, order_{};
    std::int32_t n_ = 0;
    std::vector<CodeEdge> code_, best_;
    Label least_ = 0;
    bool known_, beaten_ = false;
};

// The code of the part with some vertices, given by their new numbers (-1: not in the part).
Code part_code(const SmallGraph& graph, std::span<const SmallGraph::Edge> edges,
               std::span<const std::int32_t> part, std::int32_t name) {
    std::array<std::int32_t, kMostVertices> renumbered{};
    std::vector<Label> labels;
    std::vector<SmallGraph::Edge> kept;
    for (std::int32_t v = 0; v < graph.size(); ++v) {
        if (part[place(v)] != name) continue;
        renumbered[place(v)] = static_cast<std::int32_t>(labels.size());
        labels.push_back(graph.label(v));
    }
    for (const SmallGraph::Edge& edge : edges) {
        if (part[place(edge.one)] != name) continue;
        kept.push_back({renumbered[place(edge.one)], renumbered[place(edge.other)], edge.label});
    }
    return canonical_code(SmallGraph(labels, kept));
}

bool is_larger(const Code& one, const Code& other) {
    if (one.edges.size() != other.edges.size()) return one.edges.size() > other.edges.size();
    if (one.n_vertices() != other.n_vertices()) return one.n_vertices() > other.n_vertices();
    return one < other;
}

Code largest_part(const SmallGraph& graph, std::span<const SmallGraph::Edge> edges) {
    std::array<std::int32_t, kMostVertices> part;
    std::iota(part.begin(), part.end(), 0);
    for (const SmallGraph::Edge& edge : edges) {
        const std::int32_t from = part[place(edge.other)], to = part[place(edge.one)];
        std::replace(part.begin(), part.end(), from, to);
    }
    Code best{0, {}};
    bool found = false;
    for (std::int32_t name = 0; name < graph.size(); ++name) {
        if (std::find(part.begin(), part.begin() + graph.size(), name) ==
            part.begin() + graph.size()) {
            continue;
        }
        Code code = part_code(graph, edges, part, name);
        if (!found || is_larger(code, best)) best = std::move(code);
        found = true;
    }
    return best;
}

}  // namespace

std::int32_t Code::n_vertices() const {
    std::int32_t last = 0;
    for (const CodeEdge& edge : edges) last = std::max(last, edge.target);
    return last + 1;
}

SmallGraph::SmallGraph(const Code& code) {
    labels_[0] = code.start;
    n_ = 1;
    std::vector<Edge> edges;
    edges.reserve(code.edges.size());
    for (const CodeEdge& edge : code.edges) {
        if (edge.target == n_) labels_[place(n_++)] = edge.label;
        edges.push_back({edge.source, edge.target, edge.edge_label});
    }
    lay_out(edges);
}

SmallGraph::SmallGraph(std::span<const Label> labels, std::span<const Edge> edges)
    : n_(static_cast<std::int32_t>(labels.size())) {
    std::copy(labels.begin(), labels.end(), labels_.begin());
    lay_out(edges);
}

void SmallGraph::lay_out(std::span<const Edge> edges) {
    for (const Edge& edge : edges) {
        ++begins_[place(edge.one) + 1];
        ++begins_[place(edge.other) + 1];
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::array<std::size_t, kMostVertices + 1> next = begins_;
    for (const Edge& edge : edges) {
        halves_[next[place(edge.one)]++] = {edge.label, edge.other};
        halves_[next[place(edge.other)]++] = {edge.label, edge.one};
    }
    for (std::size_t v = 0; v < place(n_); ++v) {
        std::sort(halves_.data() + begins_[v], halves_.data() + begins_[v + 1]);
    }
}

bool is_canonical(const Code& code) {
    const SmallGraph graph(code);
    Traversals search(graph, &code);
    search.run();
    return !search.beaten();
}

Code canonical_code(const SmallGraph& graph) {
    Traversals search(graph, nullptr);
    search.run();
    return std::move(search).best();
}

std::vector<Code> generalised(const Code& code) {
    const SmallGraph graph(code);
    std::vector<Code> found;
    for (std::size_t gone = 0; gone < code.edges.size(); ++gone) {
        std::vector<SmallGraph::Edge> kept;
        for (std::size_t k = 0; k < code.edges.size(); ++k) {
            const CodeEdge& edge = code.edges[k];
            if (k != gone) kept.push_back({edge.source, edge.target, edge.edge_label});
        }
        found.push_back(largest_part(graph, kept));
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

}  // namespace rulewright
