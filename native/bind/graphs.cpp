#include "bind/bind.hpp"
#include "search/graphs/miner.hpp"

namespace rulewright {
namespace {

using Ints = Vector<std::int32_t>;

void require_bounds(const Ints& bounds, std::size_t n, const char* message) {
    require(bounds.shape(0) >= 1 && bounds(0) == 0, message);
    for (std::size_t i = 1; i < bounds.shape(0); ++i) require(bounds(i - 1) <= bounds(i), message);
    require(static_cast<std::size_t>(bounds(bounds.shape(0) - 1)) == n, message);
}

GraphSet checked_graphs(const Ints& starts, const Ints& labels, const Ints& edge_starts,
                        const Ints& ends, const Ints& edge_labels) {
    require_bounds(starts, labels.shape(0), "starts do not part the vertices");
    require_bounds(edge_starts, ends.shape(0), "edge_starts do not part the edges");
    require(edge_starts.shape(0) == labels.shape(0) + 1, "edge_starts differ from the vertices");
    require(edge_labels.shape(0) == ends.shape(0), "edge_labels differ from the edges");
    for (const Label label : as_span(labels)) require(label >= -1, "a label is out of range");
    for (const Label label : as_span(edge_labels)) {
        require(label >= -1 && label < kMostEdgeLabels, "a label of an edge is out of range");
    }
    for (std::size_t g = 0; g + 1 < starts.shape(0); ++g) {
        for (auto v = static_cast<std::size_t>(starts(g));
             v < static_cast<std::size_t>(starts(g + 1)); ++v) {
            for (auto e = static_cast<std::size_t>(edge_starts(v));
                 e < static_cast<std::size_t>(edge_starts(v + 1)); ++e) {
                require(ends(e) >= starts(g) && ends(e) < starts(g + 1),
                        "an edge leads out of its graph");
                require(static_cast<std::size_t>(ends(e)) != v, "an edge joins a vertex to itself");
            }
        }
    }
    return {as_span(starts), as_span(labels), as_span(edge_starts), as_span(ends),
            as_span(edge_labels)};
}

Code checked_code(std::span<const std::int32_t> flat) {
    require(flat.size() % 4 == 1, "a code has the wrong length");
    require(flat.size() / 4 <= kMostEdges, "a pattern has more than 63 edges");
    require(flat[0] >= 0, "a label of a code is negative");
    Code code{flat[0], {}};
    std::int32_t n = 1;
    for (std::size_t at = 1; at < flat.size(); at += 4) {
        const CodeEdge edge{flat[at], flat[at + 1], flat[at + 2], flat[at + 3]};
        require(
            edge.source >= 0 && edge.source < n && edge.target > edge.source && edge.target <= n,
            "an edge of a code does not continue a traversal");
        require(edge.label >= 0 && edge.edge_label >= 0 && edge.edge_label < kMostEdgeLabels,
                "a label of a code is out of range");
        n = std::max(n, edge.target + 1);
        code.edges.push_back(edge);
    }
    return code;
}

auto to_tuple(FoundSubgraphs&& found) {
    return std::make_tuple(to_numpy(std::move(found.codes)), to_numpy(std::move(found.starts)),
                           to_numpy(std::move(found.words)));
}

// The graphs never change, so that threads may share them.
class BoundGraphSet {
  public:
    BoundGraphSet(const Ints& starts, const Ints& labels, const Ints& edge_starts, const Ints& ends,
                  const Ints& edge_labels)
        : graphs_(checked_graphs(starts, labels, edge_starts, ends, edge_labels)) {}

    const GraphSet& graphs() const { return graphs_; }

    auto match(const Ints& codes, const Ints& starts) const {
        require_bounds(starts, codes.shape(0), "starts do not part the codes");
        std::vector<Code> patterns;
        for (std::size_t k = 0; k + 1 < starts.shape(0); ++k) {
            const auto begin = static_cast<std::size_t>(starts(k));
            const auto end = static_cast<std::size_t>(starts(k + 1));
            patterns.push_back(checked_code({codes.data() + begin, end - begin}));
        }
        return to_numpy(without_gil([&] {
            std::vector<Bits> words(patterns.size() * graphs_.n_words());
            for (std::size_t k = 0; k < patterns.size(); ++k) {
                graphs_.match(patterns[k], words.data() + k * graphs_.n_words());
            }
            return words;
        }));
    }

    auto neighbours(const Ints& code, std::size_t max_edges, bool allow_cycles) const {
        const Code pattern = checked_code(as_span(code));
        require(max_edges <= kMostEdges, "max_edges must be at most 63");
        return to_tuple(without_gil([&] {
            FoundSubgraphs found;
            for (const auto& [other, words] :
                 graphs_.neighbours(pattern, max_edges, allow_cycles)) {
                found.add(other);
                found.words.insert(found.words.end(), words.begin(), words.end());
            }
            return found;
        }));
    }

  private:
    GraphSet graphs_;
};

class BoundMiner {
  public:
    BoundMiner(const BoundGraphSet& graphs, std::size_t min_count, std::size_t max_edges,
               bool allow_cycles)
        : miner_(graphs.graphs(), checked(min_count, max_edges, allow_cycles)) {}

    auto advance(std::size_t n_patterns, std::uint64_t most_work) {
        const InUse lock(mutex_);
        require(n_patterns >= 1 && n_patterns <= 1 << 20, "n_patterns is out of range");
        require(most_work >= 1, "there must be some work to do");
        return to_tuple(without_gil([&] { return miner_.advance(n_patterns, most_work); }));
    }
    bool done() {
        const InUse lock(mutex_);
        return miner_.done();
    }

  private:
    static MinerLimits checked(std::size_t min_count, std::size_t max_edges, bool allow_cycles) {
        require(min_count >= 1, "min_count must be 1 or more");
        require(max_edges <= kMostEdges, "max_edges must be at most 63");
        return {min_count, max_edges, allow_cycles};
    }

    SubgraphMiner miner_;
    std::mutex mutex_;
};

}  // namespace

void bind_graphs(nb::module_& m) {
    nb::class_<BoundGraphSet>(m, "GraphSet")
        .def(nb::init<const Ints&, const Ints&, const Ints&, const Ints&, const Ints&>(),
             array("starts"), array("labels"), array("edge_starts"), array("ends"),
             array("edge_labels"))
        .def("match", &BoundGraphSet::match, array("codes"), array("starts"))
        .def("neighbours", &BoundGraphSet::neighbours, array("code"), "max_edges"_a,
             "allow_cycles"_a);
    nb::class_<BoundMiner>(m, "SubgraphMiner")
        .def(nb::init<const BoundGraphSet&, std::size_t, std::size_t, bool>(), "graphs"_a,
             "min_count"_a, "max_edges"_a, "allow_cycles"_a, nb::keep_alive<1, 2>())
        .def("advance", &BoundMiner::advance, "n_patterns"_a, "most_work"_a)
        .def("done", &BoundMiner::done);
}

}  // namespace rulewright
