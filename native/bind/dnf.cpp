#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "search/dnf_partition.hpp"
#include "search/dnf_search.hpp"

namespace rulewright {
namespace {

using Words = Matrix<std::uint64_t>;
using BoundImprovement = std::tuple<std::uint64_t, Stat, std::size_t>;  // step, score, literals
using BoundBest =
    std::tuple<Stat, std::size_t, std::size_t, std::vector<Term>, std::vector<BoundImprovement>>;
using BoundState = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, Stat, std::vector<Term>>;

constexpr std::uint64_t kMostRestarts = std::uint64_t{1} << 32;  // of one call

// Restarts of the local search and the examples they share; the bits belong to Python.
class BoundDnfSearch {
  public:
    BoundDnfSearch(Words bits, const Vector<std::int32_t>& weights, std::size_t n_positives,
                   const DnfSettings& settings)
        : bits_(std::move(bits)),
          examples_(checked_examples(bits_, weights, n_positives, settings)),
          settings_(settings) {
        require(settings.n_terms >= 1 && settings.n_terms <= 65536,
                "the number of terms is out of range");
        require(settings.n_restarts >= 1 && settings.n_restarts <= 1 << 24,
                "the number of restarts is out of range");
        require(settings.max_literals >= -1, "a limit of literals is -1 or more");
        require(settings.target >= 0, "the target is negative");
        for (const double p : {settings.p_g1, settings.p_g2, settings.p_s}) {
            require(p >= 0 && p <= 1, "a probability lies between 0 and 1");
        }
        nb::gil_scoped_release release;
        restarts_.reserve(settings_.n_restarts);
        for (std::size_t i = 0; i < settings_.n_restarts; ++i) {
            restarts_.emplace_back(examples_, settings_, i);
        }
    }
    BoundDnfSearch(const BoundDnfSearch&) = delete;  // restarts refer to their search
    BoundDnfSearch& operator=(const BoundDnfSearch&) = delete;

    std::size_t advance(std::uint64_t n_steps, int n_threads) {
        const InUse in_use(mutex_);
        require(!interrupted_, "the search ran out of memory before: start a new one");
        std::size_t n_running = 0;
        bool broken = false;
        {
            nb::gil_scoped_release release;
            interrupted_ = true;  // a restart that threw stands in the middle of a step
            parallel_for(restarts_.size(), n_threads,
                         [&](std::size_t i) { restarts_[i].advance(n_steps); });
            interrupted_ = false;
            for (const DnfRestart& restart : restarts_) {
                n_running += restart.done() ? 0 : 1;
                broken = broken || restart.broken();
            }
        }
        if (broken) throw std::runtime_error("a counted score differs from the formula's score");
        return n_running;
    }

    std::uint64_t n_steps() const {
        const InUse in_use(mutex_);
        std::uint64_t n = 0;
        for (const DnfRestart& restart : restarts_) n += restart.n_steps();
        return n;
    }

    BoundState state(std::size_t restart) const {
        const InUse in_use(mutex_);
        require(restart < restarts_.size(), "there is no such restart");
        const DnfRestart& run = restarts_[restart];
        return {run.n_steps(), run.n_drawn(), run.n_stuck(), run.formula().score(),
                run.formula().terms()};
    }

    // The lowest (score, literals, restart); nothing when all formulas were too long.
    std::vector<BoundBest> best() const {
        const InUse in_use(mutex_);
        const DnfRestart* best = nullptr;
        for (const DnfRestart& run : restarts_) {
            if (!run.trace().empty() && (best == nullptr || key(run) < key(*best))) best = &run;
        }
        if (best == nullptr) return {};
        std::vector<BoundImprovement> trace;
        for (const DnfImprovement& i : best->trace()) {
            trace.emplace_back(i.step, i.score, i.n_literals);
        }
        const auto [score, n_literals] = key(*best);
        const auto restart = static_cast<std::size_t>(best - restarts_.data());
        return {{score, n_literals, restart, best->best(), trace}};
    }

  private:
    static std::pair<Stat, std::size_t> key(const DnfRestart& run) {
        return {run.trace().back().score, run.trace().back().n_literals};
    }

    static DnfExamples checked_examples(const Words& bits, const Vector<std::int32_t>& weights,
                                        std::size_t n_positives, const DnfSettings& settings) {
        const std::size_t n = weights.shape(0);
        require(n_positives >= 1 && n_positives < n && n < 0xFFFFFFFFULL,
                "both classes need examples");
        const std::size_t half = count_words(n_positives), n_words = bits.shape(1);
        require(n_words == half + count_words(n - n_positives),
                "the bits have the wrong number of words");
        require(bits.shape(0) >= 1 && bits.shape(0) < 1 << 30,
                "the number of variables is out of range");
        for (std::size_t v = 0; v < bits.shape(0); ++v) {
            require(no_spare_bits(bits(v, half - 1), n_positives) &&
                        no_spare_bits(bits(v, n_words - 1), n - n_positives),
                    "a column has bits beyond the examples");
        }
        const auto [smaller, larger] = std::minmax(settings.positive_unit, settings.negative_unit);
        require(smaller >= 1, "a unit is not positive");
        const auto unit = static_cast<double>(larger);
        double largest = 0;
        for (const std::int32_t weight : as_span(weights)) {
            require(weight >= 1, "a weight is not positive");
            largest += unit * weight;
        }
        require(largest < kLargestSum, "the weights are too large");
        return {bits.data(),      bits.shape(0),          n_positives,
                as_span(weights), settings.positive_unit, settings.negative_unit};
    }
    static bool no_spare_bits(std::uint64_t last_word, std::size_t n) {
        return n % kWordBits == 0 || last_word >> (n % kWordBits) == 0;
    }

    Words bits_;
    DnfExamples examples_;
    DnfSettings settings_;
    std::vector<DnfRestart> restarts_;
    bool interrupted_ = false;
    mutable std::mutex mutex_;
};

auto partition(const Words& positives, const Words& negatives, std::size_t n_parts, bool one_new,
               std::uint64_t seed, std::uint64_t first_restart, std::uint64_t n_restarts,
               int n_threads) {
    require(positives.shape(0) >= 1 && positives.shape(1) >= 1, "there are no positives");
    require(negatives.shape(1) == positives.shape(1), "positives and negatives differ in words");
    require(n_parts >= 1 && n_parts <= 65536, "the number of parts is out of range");
    require(first_restart < 1ULL << 62 && n_restarts < kMostRestarts,
            "there are too many restarts");
    const PartitionTask task{{positives.data(), positives.shape(0), positives.shape(1)},
                             {negatives.data(), negatives.shape(0), negatives.shape(1)},
                             n_parts,
                             one_new,
                             seed};
    FoundPartition found =
        without_gil([&] { return find_partition(task, first_restart, n_restarts, n_threads); });
    return std::make_tuple(found.restart, to_numpy(std::move(found.parts)));
}

}  // namespace

void bind_dnf(nb::module_& m) {
    nb::class_<DnfSettings>(m, "DnfSettings")
        .def(nb::init<std::size_t, std::uint64_t, std::uint64_t, std::int64_t, double, double,
                      double, bool, bool, Stat, Stat, Stat, std::size_t, bool>(),
             nb::kw_only(), "n_terms"_a, "max_steps"_a, "seed"_a, "max_literals"_a, "p_g1"_a,
             "p_g2"_a, "p_s"_a, "seeded"_a, "focused"_a, "positive_unit"_a, "negative_unit"_a,
             "target"_a, "n_restarts"_a, "check"_a);
    nb::class_<BoundDnfSearch>(m, "DnfSearch")
        .def(nb::init<Words, Vector<std::int32_t>, std::size_t, const DnfSettings&>(),
             array("bits"), array("weights"), "n_positives"_a, "settings"_a)
        .def("advance", &BoundDnfSearch::advance, "n_steps"_a, "n_threads"_a)
        .def("n_steps", &BoundDnfSearch::n_steps)
        .def("state", &BoundDnfSearch::state, "restart"_a)
        .def("best", &BoundDnfSearch::best);
    m.def("find_partition", &partition, array("positives"), array("negatives"), "n_parts"_a,
          "one_new"_a, "seed"_a, "first_restart"_a, "n_restarts"_a, "n_threads"_a);
}

}  // namespace rulewright
