#include "bind/search.hpp"

#include <numeric>

#include "base/parallel.hpp"
#include "search/beam.hpp"
#include "search/count.hpp"
#include "search/grow.hpp"
#include "search/prune.hpp"
#include "search/rows.hpp"
#include "search/scan.hpp"
#include "search/scores/registry.hpp"

namespace rulewright {
namespace {

auto draw(std::size_t n, std::size_t size, std::uint64_t seed) {
    require(size <= n && n < 0xFFFFFFFFULL, "cannot draw that many rows");
    Draw draw = without_gil([&] { return draw_rows(n, size, seed); });
    return std::make_tuple(to_numpy(std::move(draw.rows)), to_numpy(std::move(draw.drawn)));
}

auto split(const Vector<Stat>& weights, const Vector<std::int32_t>& strata, double share,
           std::uint64_t seed) {
    require(weights.shape(0) == strata.shape(0), "weights and strata differ in length");
    require_within(share, 0, 1, "a share lies between 0 and 1");
    // Plain loops, which the compiler turns into vector instructions. Halves of words cannot
    // overflow.
    Stat least = 0, high = 0, low = 0;
    for (const Stat weight : as_span(weights)) {
        least = std::min(least, weight);
        high += weight >> 32;
        low += weight & 0xFFFFFFFF;
    }
    require(least >= 0, "a weight is negative");
    require(static_cast<double>(high) * 0x1p32 + static_cast<double>(low) <= kLargestSum,
            "the weights are too large");
    std::int32_t smallest = 0, largest = -1;
    for (const std::int32_t stratum : as_span(strata)) {
        smallest = std::min(smallest, stratum);
        largest = std::max(largest, stratum);
    }
    require(smallest >= 0 && largest < 65536, "a stratum is out of range");
    const Strata rows{as_span(weights), as_span(strata), static_cast<std::size_t>(largest + 1)};
    return to_numpy(without_gil([&] { return split_by_weight(rows, share, seed); }));
}

std::vector<CodeTest> checked_tests(const BoundColumns& columns,
                                    const Matrix<std::int32_t>& tests) {
    const std::size_t width = tests.shape(1);
    require(width >= 4, "a test has four numbers or more: column, low, high, skip, ...");
    std::vector<CodeTest> parsed;
    for (std::size_t i = 0; i < tests.shape(0); ++i) {
        parsed.push_back(checked_test(columns, {tests.data() + i * width, width}));
    }
    return parsed;
}

auto cover(const BoundColumns& columns, const Matrix<std::int32_t>& tests, int n_threads) {
    const std::vector<CodeTest> parsed = checked_tests(columns, tests);
    return to_numpy(columns.run([&](const auto& c) { return cover_rows(c, parsed, n_threads); }));
}

// The two lanes of a split, checked.
SplitPairs checked_pairs(const BoundColumns& columns, const Matrix<Stat>& stats,
                         std::size_t first_lane, const Vector<std::uint8_t>& side) {
    const std::size_t n_lanes = stats.shape(1);
    require(stats.shape(0) == columns.n_rows() && side.shape(0) == columns.n_rows(),
            "statistics, sides and codes differ in rows");
    require(n_lanes >= 2 && first_lane <= n_lanes - 2, "statistics have too few lanes");
    std::uint8_t largest = 0;  // a plain loop, which the compiler turns into vector instructions
    for (const std::uint8_t s : as_span(side)) largest = std::max(largest, s);
    require(largest <= 1, "a side is 0 or 1");
    return {stats.data() + first_lane, n_lanes, side.data()};
}

auto prefixes(const BoundColumns& columns, const Matrix<std::int32_t>& tests,
              const Matrix<Stat>& stats, std::size_t first_lane, const Vector<std::uint8_t>& side,
              int n_threads) {
    const std::vector<CodeTest> parsed = checked_tests(columns, tests);
    const SplitPairs pairs = checked_pairs(columns, stats, first_lane, side);
    return to_numpy(
        columns.run([&](const auto& c) { return prefix_sums(c, parsed, pairs, n_threads); }));
}

auto judged(const BoundColumns& columns, const Matrix<std::int32_t>& tests,
            const Matrix<Stat>& stats, std::size_t first_lane, const Vector<std::uint8_t>& side,
            int n_threads) {
    const std::vector<CodeTest> parsed = checked_tests(columns, tests);
    const SplitPairs pairs = checked_pairs(columns, stats, first_lane, side);
    return to_numpy(
        columns.run([&](const auto& c) { return judged_sums(c, parsed, pairs, n_threads); }));
}

auto failures(const BoundColumns& columns, const Matrix<std::int32_t>& tests,
              const Matrix<Stat>& stats, std::size_t first_lane, const Vector<std::uint8_t>& side,
              int n_threads) {
    require(tests.shape(0) <= kMostTests, "there are too many tests");
    const std::vector<CodeTest> parsed = checked_tests(columns, tests);
    const SplitPairs pairs = checked_pairs(columns, stats, first_lane, side);
    return to_numpy(
        columns.run([&](const auto& c) { return failure_sums(c, parsed, pairs, n_threads); }));
}

auto prune(const BoundColumns& columns, const Matrix<std::int32_t>& tests,
           const Matrix<Stat>& stats, std::size_t first_lane, const Vector<std::uint8_t>& side,
           double unit, bool down, double l2, const MutableVector<double>& worth,
           const Vector<std::uint8_t>& required, double least, int n_threads) {
    const std::vector<CodeTest> parsed = checked_tests(columns, tests);
    const SplitPairs pairs = checked_pairs(columns, stats, first_lane, side);
    require_positive(unit, "the unit of the statistics must be positive and finite");
    require_penalty(l2, "l2 must be finite and not negative");
    require(worth.shape(0) == columns.n_columns() && required.shape(0) == columns.n_columns(),
            "worths, required columns and codes differ in columns");
    const EvidenceUnit evidence{unit, down ? -1.0 : 1.0, l2};
    const ColumnWorth by_column{{worth.data(), worth.shape(0)}, as_span(required), least};
    return to_numpy(columns.run([&](const auto& c) {
        return prune_tests(c, parsed, pairs, evidence, by_column, n_threads);
    }));
}

// A score by its name; checked_lanes compares it with the statistics.
struct BoundScore : ScoreChoice {
    BoundScore(const std::string& kind, double unit, std::size_t n_lanes, std::size_t first_lane,
               double l2, double k, bool up, bool down)
        : ScoreChoice{place(kind), unit, n_lanes, first_lane, l2, k, sides(up, down)} {
        require_positive(unit, "the unit of a score must be positive and finite");
        require_penalty(l2, "l2 must be finite and not negative");
        require_positive(k, "k must be positive and finite");
        require(with_score<bool>(*this, [&](const auto& s) { return s.reads(n_lanes); }),
                "the score reads another number of lanes");
    }

    static Directions sides(bool up, bool down) {
        return static_cast<Directions>((up ? kUp : 0) | (down ? kDown : 0));
    }
    static std::size_t place(const std::string& kind) {
        const auto found = std::ranges::find(Scores::kNames, kind);
        if (found != Scores::kNames.end()) {
            return static_cast<std::size_t>(found - Scores::kNames.begin());
        }
        std::string known;
        for (const std::string_view name : Scores::kNames) known.append(" ").append(name);
        throw nb::value_error(("unknown score '" + kind + "'; known are" + known).c_str());
    }
};

Lanes checked_lanes(std::size_t stride, const BoundScore& score, const BoundLimits& limits) {
    require(score.n_lanes <= stride && score.first_lane <= stride - score.n_lanes,
            "statistics have too few lanes");
    return {score.first_lane, score.n_lanes, stride, limits.min_weight > 0};
}

struct BoundWorkspace : Workspace {
    std::mutex mutex;
};

using BoundCondition = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, double,
                                  std::vector<std::int32_t>>;
using BoundRule = std::tuple<std::vector<BoundCondition>, std::int32_t>;

BoundRule bound_rule(const GrownRule& rule) {
    std::vector<BoundCondition> conditions;
    for (const GrownCondition& c : rule.conditions) {
        conditions.emplace_back(c.column, static_cast<std::int32_t>(c.op), c.code, c.beyond,
                                c.criterion, c.labels);
    }
    return {conditions, rule.vote};
}

BoundRule grow(const BoundColumns& columns, const Vector<Row>& rows, const Matrix<Stat>& stats,
               const BoundScore& score, const BoundLimits& bound, BoundWorkspace& workspace,
               int n_threads) {
    const InUse in_use(workspace.mutex);
    require(stats.shape(0) == columns.n_rows(), "statistics and codes differ in rows");
    const Lanes lanes = checked_lanes(stats.shape(1), score, bound);
    const Limits limits = bound.of(columns.kinds());
    require_rows(as_span(rows), columns.n_rows());
    return bound_rule(columns.run([&](const auto& c) {
        return grow_rule(c, as_span(rows), stats.data(), lanes, score, limits, workspace,
                         n_threads);
    }));
}

// Root histograms of the statistics of all rows, which belong to Python and change under `follow`.
class BoundRoots {
  public:
    BoundRoots(const BoundColumns& columns, const Matrix<Stat>& stats, std::size_t n_blocks,
               int bits, int n_threads)
        : roots_(columns.kinds(), columns.n_rows(), checked(columns, stats, n_blocks),
                 stats.shape(1), std::clamp(bits, 0, kMostBits)) {
        columns.run([&](const auto& c) {
            for (std::size_t b = 0; b < roots_.n_blocks(); ++b) {  // needs the memory of one block
                std::vector<Row> rows(roots_.start(b + 1) - roots_.start(b));
                std::iota(rows.begin(), rows.end(), static_cast<Row>(roots_.start(b)));
                roots_.remember(rows, nullptr, n_threads);
                roots_.follow(c, stats.data(), n_threads);
            }
        });
    }

    void remember(const BoundColumns& columns, const Vector<Row>& rows, const Matrix<Stat>& stats,
                  int n_threads) {
        const InUse in_use(mutex_);
        require_same(columns, stats);
        require_ascending(as_span(rows), columns.n_rows());
        without_gil([&] { roots_.remember(as_span(rows), stats.data(), n_threads); });
    }

    void follow(const BoundColumns& columns, const Matrix<Stat>& stats, int n_threads) {
        const InUse in_use(mutex_);
        require_same(columns, stats);
        columns.run([&](const auto& c) { roots_.follow(c, stats.data(), n_threads); });
    }

    BoundRule grow(const BoundColumns& columns, const Vector<std::uint8_t>& chosen,
                   const Matrix<Stat>& stats, const BoundScore& score, const BoundLimits& bound,
                   BoundWorkspace& workspace, int n_threads) {
        const InUse in_use(workspace.mutex), roots_in_use(mutex_);
        require_same(columns, stats);
        require(chosen.shape(0) == roots_.n_blocks(), "there are more or fewer blocks");
        const Lanes lanes = checked_lanes(stats.shape(1), score, bound);
        require(lanes.first == 0 && lanes.used() == lanes.stride, "the score must read all lanes");
        const Limits limits = bound.of(columns.kinds());
        const ChosenBlocks blocks{roots_, as_span(chosen)};
        return bound_rule(columns.run([&](const auto& c) {
            return grow_rule(c, blocks, stats.data(), score, limits, workspace, n_threads);
        }));
    }

  private:
    static std::size_t checked(const BoundColumns& columns, const Matrix<Stat>& stats,
                               std::size_t n_blocks) {
        require(stats.shape(0) == columns.n_rows(), "statistics and codes differ in rows");
        require(stats.shape(1) >= 1, "statistics have too few lanes");
        require(n_blocks >= 1 && n_blocks <= 65536, "blocks are 1 to 65,536");
        return n_blocks;
    }
    void require_same(const BoundColumns& columns, const Matrix<Stat>& stats) const {
        const ColumnKinds kinds = columns.kinds();
        require(columns.n_rows() == roots_.n_rows() && stats.shape(0) == roots_.n_rows() &&
                    stats.shape(1) == roots_.lanes() && roots_.fits(kinds),
                "these are not the rows that were counted");
    }

    Roots roots_;
    std::mutex mutex_;
};

struct BoundBeam : Beam {
    BoundBeam(std::int32_t most, double least) : Beam{static_cast<std::size_t>(most), least} {
        require(most >= 1 && most <= 1'000'000, "the width of a beam lies between 1 and 1,000,000");
        require_penalty(least, "the significance must be finite and not negative");
    }
};

BoundRule beam(const BoundColumns& columns, const Vector<Row>& rows, const Matrix<Stat>& stats,
               const Vector<Stat>& totals, const BoundScore& score, const BoundLimits& bound,
               const BoundBeam& shape, int n_threads) {
    require(stats.shape(0) == columns.n_rows(), "statistics and codes differ in rows");
    const Lanes lanes = checked_lanes(stats.shape(1), score, bound);
    const Limits limits = bound.of(columns.kinds());
    require(with_score<bool>(score, [](const auto& s) { return s.kWeights && !s.kGain; }),
            "a beam needs a score of weights that is no gain");
    require(totals.shape(0) == lanes.stride, "totals and statistics differ in lanes");
    require_rows(as_span(rows), columns.n_rows());
    return bound_rule(columns.run([&](const auto& c) {
        return grow_beam(c, as_span(rows), stats.data(), lanes, totals.data(), score, limits, shape,
                         n_threads);
    }));
}

auto count(const BoundColumns& columns, const Vector<Row>& rows, const Matrix<Stat>& stats,
           int n_threads) {
    require(stats.shape(0) == columns.n_rows(), "statistics and codes differ in rows");
    require(stats.shape(1) >= 1, "statistics have too few lanes");
    require_rows(as_span(rows), columns.n_rows());
    const std::size_t n_lanes = stats.shape(1);
    return to_numpy(columns.run([&](const auto& c) {
        Cover cover;
        Histogram histogram(c, n_lanes);
        cover.assign(as_span(rows));
        gather(stats.data(), {0, n_lanes, n_lanes, false}, cover, n_threads);
        parallel_for(c.parts.size(), n_threads,
                     [&](std::size_t i) { count_part(c, c.parts[i], cover, histogram); });
        return std::move(histogram.sums());
    }));
}

BoundRule scan(const BoundColumns& bound_columns, const Matrix<Stat>& sums, const Vector<Stat>& all,
               const BoundScore& score, const BoundLimits& bound) {
    const ColumnKinds columns = bound_columns.kinds();
    const Lanes lanes = checked_lanes(sums.shape(1), score, bound);
    const Limits limits = bound.of(columns);
    Histogram histogram(columns, lanes.used());
    require(sums.shape(0) * lanes.used() == histogram.size(), "the histogram has too few codes");
    require(all.shape(0) == lanes.stride, "totals and histogram differ in lanes");
    const Candidate best = without_gil([&] {
        std::vector<Stat> totals(lanes.used());
        lanes.pick(all.data(), totals.data());
        for (std::size_t code = 0; code < sums.shape(0); ++code) {
            lanes.pick(sums.data() + code * lanes.stride,
                       histogram.sums().data() + code * lanes.used());
        }
        const Opening opening(limits, score.directions);
        const Scan scan{columns, histogram, opening, limits.min_weight, limits.sets, totals, 0};
        return scan_columns(score, scan, 0, columns.n_columns());
    });
    if (best.verdict.vote < 0) return bound_rule({});
    return bound_rule({{best.condition}, best.verdict.vote});
}

}  // namespace

void bind_search(nb::module_& m) {
    nb::class_<BoundColumns>(m, "Columns")
        .def(nb::init<Codes, Vector<std::int32_t>, Vector<std::uint8_t>>(), array("codes"),
             array("n_bins"), array("nominal"));
    nb::class_<BoundWorkspace>(m, "Workspace").def(nb::init<>());
    nb::class_<BoundRoots>(m, "Roots")
        .def(nb::init<const BoundColumns&, const Matrix<Stat>&, std::size_t, int, int>(),
             "columns"_a, array("stats"), "n_blocks"_a, "bits"_a, "n_threads"_a)
        .def("remember", &BoundRoots::remember, "columns"_a, array("rows"), array("stats"),
             "n_threads"_a)
        .def("follow", &BoundRoots::follow, "columns"_a, array("stats"), "n_threads"_a)
        .def("grow", &BoundRoots::grow, "columns"_a, array("chosen"), array("stats"), "score"_a,
             "limits"_a, "workspace"_a, "n_threads"_a);
    m.def("draw_rows", &draw, "n"_a, "size"_a, "seed"_a);
    m.def("split_by_weight", &split, array("weights"), array("strata"), "share"_a, "seed"_a);
    m.def("cover_rows", &cover, "columns"_a, array("tests"), "n_threads"_a);
    nb::class_<BoundScore>(m, "Score")
        .def(nb::init<const std::string&, double, std::size_t, std::size_t, double, double, bool,
                      bool>(),
             nb::kw_only(), "kind"_a, "unit"_a, "n_lanes"_a, "first_lane"_a, "l2"_a, "k"_a, "up"_a,
             "down"_a);
    nb::class_<BoundLimits>(m, "Limits")
        .def(nb::init<std::int32_t, double, Stat, Vector<std::uint8_t>, Vector<std::uint8_t>,
                      Vector<std::uint8_t>, Vector<std::uint64_t>, std::int32_t, Stat>(),
             nb::kw_only(), "max_conditions"_a, "tolerance"_a, "min_weight"_a,
             array("up_operators"), array("down_operators"), array("required"), array("groups"),
             "max_labels"_a, "label_smoothing"_a);
    nb::class_<BoundBeam>(m, "Beam").def(nb::init<std::int32_t, double>(), nb::kw_only(), "width"_a,
                                         "significance"_a);
    nb::list names;
    for (const std::string_view name : Scores::kNames) names.append(std::string(name));
    m.attr("score_names") = nb::tuple(names);
    m.def("grow_rule", &grow, "columns"_a, array("rows"), array("stats"), "score"_a, "limits"_a,
          "workspace"_a, "n_threads"_a);
    m.def("grow_beam", &beam, "columns"_a, array("rows"), array("stats"), array("totals"),
          "score"_a, "limits"_a, "beam"_a, "n_threads"_a);
    m.def("count_histogram", &count, "columns"_a, array("rows"), array("stats"), "n_threads"_a);
    m.def("scan_histogram", &scan, "columns"_a, array("histogram"), array("totals"), "score"_a,
          "limits"_a);
    m.def("prefix_sums", &prefixes, "columns"_a, array("tests"), array("stats"), "first_lane"_a,
          array("side"), "n_threads"_a);
    m.def("judged_sums", &judged, "columns"_a, array("tests"), array("stats"), "first_lane"_a,
          array("side"), "n_threads"_a);
    m.def("failure_sums", &failures, "columns"_a, array("tests"), array("stats"), "first_lane"_a,
          array("side"), "n_threads"_a);
    m.def("prune_tests", &prune, "columns"_a, array("tests"), array("stats"), "first_lane"_a,
          array("side"), "unit"_a, "down"_a, "l2"_a, array("worth"), array("required"), "least"_a,
          "n_threads"_a);
}

}  // namespace rulewright
