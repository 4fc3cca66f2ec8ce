#include "search/graphs/miner.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace rulewright {
namespace {

// An edge in 64 bits; the labels are within their limits.
std::uint64_t packed(const CodeEdge& edge) {
    return static_cast<std::uint64_t>(edge.source) << 58 |
           static_cast<std::uint64_t>(edge.edge_label) << 38 |
           static_cast<std::uint64_t>(edge.label) << 6 | static_cast<std::uint64_t>(edge.target);
}

std::int32_t vertices_after(std::int32_t n, const CodeEdge& edge) {
    return std::max(n, edge.target + 1);
}

}  // namespace

void FoundSubgraphs::add(const Code& code) {
    codes.push_back(code.start);
    for (const CodeEdge& edge : code.edges) {
        codes.insert(codes.end(), {edge.source, edge.edge_label, edge.label, edge.target});
    }
    starts.push_back(static_cast<std::int32_t>(codes.size()));
}

SubgraphMiner::SubgraphMiner(const GraphSet& graphs, const MinerLimits& limits)
    : graphs_(graphs), limits_(limits) {
    open_roots();
}

void SubgraphMiner::open_roots() {
    std::map<Label, Child> roots;
    for (std::int32_t v = 0; v < graphs_.n_vertices(); ++v) {
        if (const Label label = graphs_.label(v); label >= 0) {
            Child& root = roots[label];
            root.edge = {0, 0, label, 0};
            root.places.push_back(v);
        }
    }
    Node node;
    for (auto& [label, root] : roots) {
        n_vertices_ = 1;
        if (count_graphs(root) >= limits_.min_count) node.children.push_back(std::move(root));
    }
    if (!node.children.empty()) path_.push_back(std::move(node));
}

FoundSubgraphs SubgraphMiner::advance(std::size_t n_patterns, std::uint64_t most_work) {
    FoundSubgraphs found;
    work_ = 0;
    while (!path_.empty() && found.starts.size() <= n_patterns && work_ < most_work) {
        Node& node = path_.back();
        if (node.next == node.children.size()) {
            path_.pop_back();
            if (path_.size() > 1) code_.edges.pop_back();
            continue;
        }
        const Child child = std::move(node.children[node.next++]);
        const bool is_root = path_.size() == 1;
        if (is_root) code_ = {child.edge.label, {}};
        if (!is_root) code_.edges.push_back(child.edge);
        n_vertices_ = code_.n_vertices();
        found.add(code_);
        write_graphs(child, found.words);
        Node next;
        if (code_.edges.size() < limits_.max_edges) next = extended(child);
        path_.push_back(std::move(next));
    }
    // A path whose last nodes have no child left is finished: nothing is found there any more.
    while (!path_.empty() && path_.back().next == path_.back().children.size()) {
        path_.pop_back();
        if (path_.size() > 1) code_.edges.pop_back();
    }
    return found;
}

SubgraphMiner::Node SubgraphMiner::extended(const Child& parent) {
    const auto n = static_cast<std::size_t>(n_vertices_);
    const auto used = joined_pairs(code_);
    const CodeEdge last = code_.edges.empty() ? CodeEdge{0, -1, -1, -1} : code_.edges.back();
    std::unordered_map<std::uint64_t, std::size_t> places;
    std::vector<Child> children;
    for (std::size_t at = 0; at < parent.places.size(); at += n) {
        const std::span<const std::int32_t> lying(parent.places.data() + at, n);
        work_ += n;
        for_each_extension(graphs_, lying, used, last.source, limits_.allow_cycles,
                           [&](const CodeEdge& edge, std::int32_t vertex) {
                               if (edge <= last) return;
                               const auto [where, is_new] =
                                   places.try_emplace(packed(edge), children.size());
                               if (is_new) children.push_back({edge, {}});
                               auto& longer = children[where->second].places;
                               longer.insert(longer.end(), lying.begin(), lying.end());
                               if (vertex >= 0) longer.push_back(vertex);
                           });
    }
    std::sort(children.begin(), children.end(),
              [](const Child& a, const Child& b) { return a.edge < b.edge; });
    Node node;
    const std::int32_t before = n_vertices_;
    for (Child& child : children) {
        n_vertices_ = vertices_after(before, child.edge);
        if (count_graphs(child) < limits_.min_count) continue;
        code_.edges.push_back(child.edge);
        if (is_canonical(code_)) node.children.push_back(std::move(child));
        code_.edges.pop_back();
    }
    n_vertices_ = before;
    return node;
}

// Ways come graph after graph, so that graphs change as often as there are any.
std::size_t SubgraphMiner::count_graphs(const Child& child) const {
    std::size_t count = 0;
    std::int32_t last = -1;
    const auto stride = static_cast<std::size_t>(n_vertices_);
    for (std::size_t at = 0; at < child.places.size(); at += stride) {
        const std::int32_t g = graphs_.graph_of(child.places[at]);
        count += g != last;
        last = g;
    }
    return count;
}

void SubgraphMiner::write_graphs(const Child& child, std::vector<Bits>& words) const {
    const std::size_t before = words.size();
    words.resize(before + graphs_.n_words());
    const auto stride = static_cast<std::size_t>(n_vertices_);
    for (std::size_t at = 0; at < child.places.size(); at += stride) {
        const auto g = static_cast<std::size_t>(graphs_.graph_of(child.places[at]));
        set_bit(words.data() + before, g);
    }
}

}  // namespace rulewright
