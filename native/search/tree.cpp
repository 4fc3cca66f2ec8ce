#include "search/tree.hpp"

#include <initializer_list>
#include <utility>

#include "base/parallel.hpp"
#include "search/count.hpp"

namespace rulewright {
namespace {

// A node that may be split.
struct Leaf {
    std::int32_t node;
    Cover cover;
    Histogram histogram;
    Split best;
    std::vector<std::uint8_t> used;  // per column: the path uses it
    std::uint64_t groups;            // that the path leaves open
    std::int32_t depth;
};

template <class Code>
class TreeGrowth {
  public:
    TreeGrowth(const Columns<Code>& columns, const TreeShape& shape, const Limits& limits,
               int n_threads)
        : columns_(columns), shape_(shape), limits_(limits), n_threads_(n_threads) {}

    GrownTree run(std::span<const Row> rows, const Stat* stats, std::size_t n_lanes) {
        lanes_ = n_lanes;
        plant(rows, stats);
        while (n_leaves() < shape_.max_leaves) {
            // The first of equals: leaves stand in the order of their nodes.
            const auto found = std::ranges::max_element(
                leaves_, {}, [](const Leaf& leaf) { return leaf.best.score; });
            if (!(found->best.score > 0)) break;
            Leaf leaf = std::move(*found);
            leaves_.erase(found);
            split(leaf);
        }
        return std::move(tree_);
    }

  private:
    std::int32_t n_leaves() const { return static_cast<std::int32_t>(tree_.splits.size()) + 1; }
    bool grows(std::int32_t depth) const {
        return n_leaves() < shape_.max_leaves && depth != limits_.max_conditions;
    }

    void plant(std::span<const Row> rows, const Stat* stats) {
        Leaf root{0, {}, {}, {}, std::vector<std::uint8_t>(columns_.n_columns()), ~std::uint64_t{0},
                  0};
        root.cover.assign(rows);
        gather(stats, {0, lanes_, lanes_, false}, root.cover, n_threads_);
        tree_.sums.assign(lanes_, 0);
        for (std::size_t i = 0; i < root.cover.gathered().size(); ++i) {
            tree_.sums[i % lanes_] += root.cover.stats[i];
        }
        if (grows(0)) {
            root.histogram.reshape(columns_, lanes_);
            scan_parts(root.cover.n + root.histogram.size(), {&root}, [&](const Part& part) {
                count_part(columns_, part, root.cover, root.histogram);
            });
        }
        leaves_.push_back(std::move(root));
    }

    // Replaces a leaf by its children. Their rows and histograms are made only if they are needed.
    void split(Leaf& leaf) {
        const auto column = static_cast<std::size_t>(leaf.best.column);
        const auto first = static_cast<std::int32_t>(2 * tree_.splits.size() + 1);
        tree_.nodes.push_back(leaf.node);
        for (const auto* part : {&leaf.best.left, &leaf.best.right}) {
            tree_.sums.insert(tree_.sums.end(), part->begin(), part->end());
        }
        tree_.splits.push_back(std::move(leaf.best));
        leaf.used[column] = 1;
        leaf.groups &= limits_.groups[column];
        Leaf left{first, {}, {}, {}, leaf.used, leaf.groups, leaf.depth + 1};
        Leaf right{first + 1, {}, {}, {}, std::move(leaf.used), leaf.groups, leaf.depth + 1};
        if (grows(left.depth)) {
            divide(leaf.cover, tree_.splits.back(), left.cover, right.cover);
            count_children(leaf.histogram, left, right);
        }
        leaves_.push_back(std::move(left));
        leaves_.push_back(std::move(right));
    }

    // Moves the rows of a cover to the two parts, in their order; the others stay.
    void divide(const Cover& cover, const Split& split, Cover& left, Cover& right) {
        const auto column = static_cast<std::size_t>(split.column);
        const std::vector<std::uint8_t> sides = split.sides(columns_.n_bins[column]);
        const Code* codes = columns_.column(column);
        Cover* parts[] = {&stayed_, &left, &right};
        for (Cover* part : parts) {
            part->reserve(cover.n, lanes_);
            part->n = 0;
            part->reach = cover.reach;
        }
        for (std::size_t i = 0; i < cover.n; ++i) {
            Cover& part = *parts[sides[codes[std::size_t{cover.rows[i]} * kGroup]]];
            part.rows[part.n] = cover.rows[i];
            std::copy_n(cover.stats.data() + i * lanes_, lanes_,
                        part.stats.data() + part.n * lanes_);
            ++part.n;
        }
    }

    // The larger child is what is left of its parent if that takes fewer rows to count.
    void count_children(Histogram& parent, Leaf& left, Leaf& right) {
        Leaf& smaller = left.cover.n <= right.cover.n ? left : right;
        Leaf& larger = &smaller == &left ? right : left;
        const bool subtract = smaller.cover.n + stayed_.n <= larger.cover.n;
        smaller.histogram.reshape(columns_, lanes_);
        if (subtract) {
            larger.histogram = std::move(parent);
            if (stayed_.n > 0) other_.reshape(columns_, lanes_);
        } else {
            larger.histogram.reshape(columns_, lanes_);
        }
        const std::size_t work = smaller.cover.n + larger.histogram.size();
        scan_parts(work, {&left, &right}, [&](const Part& part) {
            const std::size_t begin = part.first_column(), end = part.last_column(columns_);
            count_part(columns_, part, smaller.cover, smaller.histogram);
            if (!subtract) {
                count_part(columns_, part, larger.cover, larger.histogram);
                return;
            }
            larger.histogram.subtract(smaller.histogram, begin, end);
            if (stayed_.n == 0) return;
            count_part(columns_, part, stayed_, other_);
            larger.histogram.subtract(other_, begin, end);
        });
    }

    // Counts and scans part by part, so that the histograms of a part are still in the cache when
    // they are read, and keeps the best split of each leaf.
    template <class Count>
    void scan_parts(std::size_t work, std::initializer_list<Leaf*> leaves, const Count& count) {
        const std::size_t n_parts = columns_.parts.size();
        std::vector<Split> found(n_parts * leaves.size());
        // Waking threads costs more than a little work.
        parallel_for(n_parts, work > kBlock ? n_threads_ : 1, [&](std::size_t i) {
            const Part& part = columns_.parts[i];
            count(part);
            const std::size_t first = part.first_column(), last = part.last_column(columns_);
            Split* best = found.data() + i;
            for (const Leaf* leaf : leaves) {
                *best = scan_splits(scan_of(*leaf), first, last);
                best += n_parts;
            }
        });
        Split* candidate = found.data();
        for (Leaf* leaf : leaves) {
            for (std::size_t i = 0; i < n_parts; ++i, ++candidate) {
                if (candidate->score > leaf->best.score) leaf->best = std::move(*candidate);
            }
        }
    }

    SplitScan scan_of(const Leaf& leaf) const {
        const std::span sums(tree_.sums);
        return {columns_,       limits_,
                leaf.histogram, sums.subspan(static_cast<std::size_t>(leaf.node) * lanes_, lanes_),
                leaf.used,      leaf.groups,
                shape_.reuse,   shape_.onehot};
    }

    const Columns<Code>& columns_;
    const TreeShape& shape_;
    const Limits& limits_;
    int n_threads_;
    std::size_t lanes_ = 0;
    GrownTree tree_;
    std::vector<Leaf> leaves_;
    Cover stayed_;     // rows of the last split whose value is missing
    Histogram other_;  // of those rows
};

}  // namespace

template <class Code>
GrownTree grow_tree(const Columns<Code>& columns, std::span<const Row> rows, const Stat* stats,
                    std::size_t n_lanes, const TreeShape& shape, const Limits& limits,
                    int n_threads) {
    return TreeGrowth(columns, shape, limits, n_threads).run(rows, stats, n_lanes);
}

template <class Code>
std::vector<std::int32_t> route_rows(const Columns<Code>& columns, const Routes& routes,
                                     int n_threads) {
    std::vector<std::int32_t> reached(columns.n_rows);
    parallel_blocks(columns.n_rows, n_threads, [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t row = from; row < to; ++row) {
            std::size_t node = 0;
            while (routes.children[node] > 0) {
                const auto column = static_cast<std::size_t>(routes.columns[node]);
                const auto start = static_cast<std::size_t>(routes.starts[node]);
                const unsigned side = routes.sides[start + columns.column(column)[row * kGroup]];
                if (side == 0) break;
                node = static_cast<std::size_t>(routes.children[node]) + side - 1;
            }
            reached[row] = static_cast<std::int32_t>(node);
        }
    });
    return reached;
}

template GrownTree grow_tree(const Columns<std::uint8_t>&, std::span<const Row>, const Stat*,
                             std::size_t, const TreeShape&, const Limits&, int);
template GrownTree grow_tree(const Columns<std::uint16_t>&, std::span<const Row>, const Stat*,
                             std::size_t, const TreeShape&, const Limits&, int);
template std::vector<std::int32_t> route_rows(const Columns<std::uint8_t>&, const Routes&, int);
template std::vector<std::int32_t> route_rows(const Columns<std::uint16_t>&, const Routes&, int);

}  // namespace rulewright
