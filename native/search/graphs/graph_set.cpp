#include "search/graphs/graph_set.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rulewright {

GraphSet::GraphSet(std::span<const std::int32_t> starts, std::span<const Label> labels,
                   std::span<const std::int32_t> edge_starts, std::span<const std::int32_t> ends,
                   std::span<const Label> edge_labels)
    : starts_(starts.begin(), starts.end()),
      labels_(labels.begin(), labels.end()),
      edge_starts_(edge_starts.begin(), edge_starts.end()),
      graph_of_(labels.size()) {
    for (std::size_t g = 0; g + 1 < starts.size(); ++g) {
        std::fill(graph_of_.begin() + starts[g], graph_of_.begin() + starts[g + 1],
                  static_cast<std::int32_t>(g));
    }
    halves_.reserve(ends.size());
    for (std::size_t e = 0; e < ends.size(); ++e) halves_.push_back({edge_labels[e], ends[e]});
}

template <class Visit>
bool GraphSet::lay(const Code& code, std::size_t g, std::uint64_t steps, const Visit& visit) const {
    std::array<std::int32_t, kMostVertices> places;
    for (std::int32_t v = starts_[g]; v < starts_[g + 1]; ++v) {
        if (label(v) != code.start) continue;
        places[0] = v;
        if (lay_from(code, 0, places.data(), 1, steps, visit)) return true;
    }
    return false;
}

template <class Visit>
bool GraphSet::lay_from(const Code& code, std::size_t at, std::int32_t* places, std::int32_t n,
                        std::uint64_t& steps, const Visit& visit) const {
    if (steps-- == 0) throw std::length_error("a pattern takes too many steps in one graph");
    if (at == code.edges.size()) {
        return visit(std::span<const std::int32_t>(places, static_cast<std::size_t>(n)));
    }
    const CodeEdge& edge = code.edges[at];
    const std::int32_t from = places[edge.source];
    if (edge.target < n) {
        return has_edge(from, places[edge.target], edge.edge_label) &&
               lay_from(code, at + 1, places, n, steps, visit);
    }
    for (const Half& half : around(from)) {
        if (half.label != edge.edge_label || label(half.end) != edge.label) continue;
        if (std::find(places, places + n, half.end) != places + n) continue;
        places[n] = half.end;
        if (lay_from(code, at + 1, places, n + 1, steps, visit)) return true;
    }
    return false;
}

bool GraphSet::has_edge(std::int32_t one, std::int32_t other, Label label) const {
    const auto halves = around(one);
    return std::any_of(halves.begin(), halves.end(),
                       [&](const Half& half) { return half.end == other && half.label == label; });
}

void GraphSet::match(const Code& code, Bits* words) const {
    std::fill(words, words + n_words(), Bits{0});
    for (std::size_t g = 0; g < n_graphs(); ++g) {
        if (starts_[g + 1] - starts_[g] < code.n_vertices()) continue;
        if (lay(code, g, kMostSteps, [](auto) { return true; })) set_bit(words, g);
    }
}

std::map<Code, std::vector<Bits>> GraphSet::neighbours(const Code& code, std::size_t max_edges,
                                                       bool allow_cycles) const {
    std::map<CodeEdge, std::vector<Bits>> added;
    if (code.edges.size() < max_edges) {
        const auto used = joined_pairs(code);
        for (std::size_t g = 0; g < n_graphs(); ++g) {
            lay(code, g, UINT64_MAX, [&](std::span<const std::int32_t> places) {
                for_each_extension(*this, places, used, 0, allow_cycles,
                                   [&](const CodeEdge& edge, std::int32_t) {
                                       auto& words = added[edge];
                                       words.resize(n_words());
                                       set_bit(words.data(), g);
                                   });
                return false;
            });
        }
    }
    std::map<Code, std::vector<Bits>> found;
    Code longer = code;
    for (const auto& [edge, words] : added) {
        longer.edges.push_back(edge);
        auto& all = found[canonical_code(SmallGraph(longer))];
        all.resize(n_words());
        for (std::size_t w = 0; w < words.size(); ++w) all[w] |= words[w];
        longer.edges.pop_back();
    }
    for (const Code& shorter : generalised(code)) {
        auto& words = found[shorter];
        words.resize(n_words());
        match(shorter, words.data());
    }
    return found;
}

std::array<std::uint64_t, kMostVertices> joined_pairs(const Code& code) {
    std::array<std::uint64_t, kMostVertices> used{};
    for (const CodeEdge& edge : code.edges) {
        used[static_cast<std::size_t>(edge.source)] |= std::uint64_t{1} << edge.target;
    }
    return used;
}

}  // namespace rulewright
