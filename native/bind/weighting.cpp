#include <numeric>

#include "bind/bind.hpp"
#include "weighting/exponential.hpp"
#include "weighting/likelihood.hpp"
#include "weighting/response_fit.hpp"

namespace rulewright {
namespace {

// Far beyond what a fit takes; exponentials of larger steps overflow.
constexpr double kLargestStep = 200, kLargestConfidence = 700;

using MutableVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require_labels(const Vector<std::int32_t>& labels, std::size_t n_classes) {
    for (const std::int32_t label : as_span(labels)) {
        require(label >= 0 && static_cast<std::size_t>(label) < n_classes,
                "a label is out of range");
    }
}

// The state of a fit by maximum likelihood; its arrays belong to Python and are changed in place.
class BoundLikelihood {
  public:
    BoundLikelihood(Vector<std::int32_t> labels, Vector<double> weights,
                    MutableMatrix<double> exp_scores, MutableMatrix<Stat> stats, double scale,
                    bool cumulative)
        : labels_(std::move(labels)),
          weights_(std::move(weights)),
          exp_scores_(std::move(exp_scores)),
          stats_(std::move(stats)),
          scale_(scale),
          cumulative_(cumulative) {
        const std::size_t n = labels_.shape(0);
        const std::size_t n_classes = exp_scores_.shape(1);
        require(weights_.shape(0) == n && exp_scores_.shape(0) == n && stats_.shape(0) == n,
                "labels, weights, scores and statistics differ in rows");
        require(n_classes >= 2, "at least two classes are needed");
        require(stats_.shape(1) >= 2 * (n_classes - (cumulative ? 1 : 0)),
                "statistics have too few lanes");
        require_labels(labels_, n_classes);
        require_positive(scale, "the scale must be positive and finite");
        require_weights(as_span(weights_), scale);
        total_weight_ = std::accumulate(weights_.data(), weights_.data() + n, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            const double* e = exp_scores_.data() + i * n_classes;
            require_positive(std::accumulate(e, e + n_classes, 0.0),
                             "exponentials of scores must be positive and finite");
            require(*std::min_element(e, e + n_classes) >= 0,
                    "exponentials of scores must not be negative");
        }
    }

    void refresh_stats(const Vector<Row>& rows, int n_threads) {
        run(rows, [&] { rulewright::refresh_stats(view(), as_span(rows), n_threads); });
    }
    double loss_change(const Vector<Row>& rows, std::size_t first, std::size_t last, double size,
                       int n_threads) {
        return run_step(rows, {first, last, size}, n_threads, rulewright::loss_change);
    }
    double add_step(const Vector<Row>& rows, std::size_t first, std::size_t last, double size,
                    int n_threads) {
        return run_step(rows, {first, last, size}, n_threads, rulewright::add_step);
    }
    auto sum_pair(const Vector<Row>& rows, std::size_t pair, double scale, int n_threads) const {
        require(pair < exp_scores_.shape(1) - (cumulative_ ? 1 : 0), "there is no such pair");
        require_positive(scale, "the scale must be positive and finite");
        require(total_weight_ * scale <= kLargestSum, "the weights are too large for the scale");
        return to_numpy(run(rows, [&] {
            return rulewright::sum_pair(view(), as_span(rows), pair, scale, n_threads);
        }));
    }
    auto sum_stats(const Vector<Row>& rows, int n_threads) const {
        return to_numpy(
            run(rows, [&] { return rulewright::sum_stats(view(), as_span(rows), n_threads); }));
    }
    auto class_weights(const Vector<Row>& rows, const Vector<std::uint8_t>& side,
                       int n_threads) const {
        require(side.shape(0) == labels_.shape(0), "sides and labels differ in rows");
        return to_numpy(run(rows, [&] {
            return rulewright::class_weights(view(), as_span(rows), side.data(), n_threads);
        }));
    }

  private:
    Likelihood view() const {
        return {exp_scores_.shape(1), stats_.shape(1), cumulative_,        scale_,
                labels_.data(),       weights_.data(), exp_scores_.data(), stats_.data()};
    }
    template <class Body>
    std::invoke_result_t<Body> run(const Vector<Row>& rows, const Body& body) const {
        require_rows(as_span(rows), labels_.shape(0));
        return without_gil(body);
    }
    template <class Kernel>
    double run_step(const Vector<Row>& rows, Step step, int n_threads, const Kernel& kernel) const {
        require(step.first <= step.last && step.last < exp_scores_.shape(1),
                "the vote is no union of classes");
        require_within(step.size, -kLargestStep, kLargestStep, "the step is out of range");
        return run(rows, [&] { return kernel(view(), as_span(rows), step, n_threads); });
    }

    Vector<std::int32_t> labels_;
    Vector<double> weights_;
    MutableMatrix<double> exp_scores_;
    MutableMatrix<Stat> stats_;
    double scale_, total_weight_ = 0;
    bool cumulative_;
};

// Rules as packed covers and the probabilities they move, which belong to Python.
class BoundResponseFit {
  public:
    using Rules = Vector<std::int32_t>;

    BoundResponseFit(Matrix<double> shares, Vector<double> weights,
                     MutableMatrix<double> probabilities, Matrix<std::uint64_t> covers,
                     Matrix<std::int32_t> heads, Vector<std::int8_t> signs)
        : shares_(std::move(shares)),
          weights_(std::move(weights)),
          probabilities_(std::move(probabilities)),
          covers_(std::move(covers)),
          heads_(std::move(heads)),
          signs_(std::move(signs)) {
        const std::size_t n = shares_.shape(0), n_rules = covers_.shape(0);
        require(weights_.shape(0) == n && probabilities_.shape(0) == n,
                "shares, weights and probabilities differ in rows");
        require_weights(as_span(weights_), 0);
        require(shares_.shape(1) == probabilities_.shape(1),
                "shares and probabilities differ in classes");
        for (std::size_t i = 0; i < n * shares_.shape(1); ++i) {
            require(0 <= shares_.data()[i] && shares_.data()[i] <= 1, "a share is not in [0, 1]");
        }
        require(covers_.shape(1) == (n + 63) / 64, "covers have the wrong number of words");
        require(heads_.shape(0) == n_rules && heads_.shape(1) == 2 && signs_.shape(0) == n_rules,
                "covers, heads and signs differ in rules");
        for (std::size_t rule = 0; rule < n_rules; ++rule) {
            const std::int32_t* head = heads_.data() + 2 * rule;
            require(0 <= head[0] && head[0] <= head[1] &&
                        static_cast<std::size_t>(head[1]) < probabilities_.shape(1),
                    "a head is no union of classes");
            require(-1 <= signs_(rule) && signs_(rule) <= 1, "a sign is not 1, -1 or 0");
            require(n % 64 == 0 || covers_(rule, n / 64) >> (n % 64) == 0,
                    "a cover has bits beyond the rows");
        }
        hits_ = weigh_hits(view(), n_rules);
    }

    double sweep(const Rules& rules, const MutableVector& responses, double l1, double l2) const {
        require(responses.shape(0) == covers_.shape(0), "rules and responses differ in number");
        require_penalty(l1, "l1 must be finite and not negative");
        require_penalty(l2, "l2 must be finite and not negative");
        return run(rules, [&] {
            return rulewright::sweep(view(), as_span(rules), responses.data(), l1, l2);
        });
    }
    void move(const Rules& rules, const Vector<double>& steps) const {
        require(steps.shape(0) == rules.shape(0), "rules and steps differ in number");
        for (const double step : as_span(steps))
            require(std::isfinite(step), "a step is not finite");
        run(rules, [&] { rulewright::move(view(), as_span(rules), steps.data()); });
    }
    auto gradients(const Rules& rules, int n_threads) const {
        return to_numpy(
            run(rules, [&] { return rulewright::gradients(view(), as_span(rules), n_threads); }));
    }
    auto hessian(const Rules& rules, int n_threads) const {
        return to_numpy(
            run(rules, [&] { return rulewright::hessian(view(), as_span(rules), n_threads); }));
    }

  private:
    ResponseFit view() const {
        return {shares_.shape(0), probabilities_.shape(1), covers_.shape(1),
                shares_.data(),   weights_.data(),         probabilities_.data(),
                covers_.data(),   heads_.data(),           signs_.data(),
                hits_.data()};
    }
    template <class Body>
    std::invoke_result_t<Body> run(const Rules& rules, const Body& body) const {
        for (const std::int32_t rule : as_span(rules)) {
            require(rule >= 0 && static_cast<std::size_t>(rule) < covers_.shape(0),
                    "a rule is out of range");
        }
        return without_gil(body);
    }

    Matrix<double> shares_;
    Vector<double> weights_;
    MutableMatrix<double> probabilities_;
    Matrix<std::uint64_t> covers_;
    Matrix<std::int32_t> heads_;
    Vector<std::int8_t> signs_;
    std::vector<double> hits_;
};

// The weights of confidence-rated boosting; its arrays belong to Python and are changed in place.
class BoundExponential {
  public:
    BoundExponential(Vector<std::int32_t> own, MutableMatrix<double> weights,
                     MutableMatrix<double> scores, MutableMatrix<Stat> stats, bool by_cost)
        : own_(std::move(own)),
          weights_(std::move(weights)),
          scores_(std::move(scores)),
          stats_(std::move(stats)),
          by_cost_(by_cost) {
        const std::size_t n = own_.shape(0), n_heads = weights_.shape(1);
        require(weights_.shape(0) == n && scores_.shape(0) == n && stats_.shape(0) == n,
                "classes, weights, scores and statistics differ in rows");
        require(n_heads >= 1 && n_heads < 65536 && stats_.shape(1) >= 2 * n_heads,
                "statistics have too few lanes");
        require(scores_.shape(1) == n_heads, "weights and scores differ in heads");
        require_weights({weights_.data(), n * n_heads}, 1.0);
        range_ = measure_weights(view(), 1);
        for (const std::int32_t place : as_span(own_)) {
            require(place >= -1 && place < static_cast<std::int32_t>(n_heads),
                    "a class is out of range");
        }
    }

    // The sum of all weights and the largest.
    auto range() const { return std::tuple(range_.total, range_.largest); }
    void add(const Vector<Row>& rows, std::size_t place, double confidence, int n_threads) {
        require_place(place);
        require_within(confidence, -kLargestConfidence, kLargestConfidence,
                       "the confidence is out of range");
        require_rows(as_span(rows), own_.shape(0));
        nb::gil_scoped_release release;
        add_confidence(view(), as_span(rows), place, confidence, n_threads);
        range_ = measure_weights(view(), n_threads);
    }
    void scale(double factor, int n_threads) {
        require_positive(factor, "the factor must be positive and finite");
        nb::gil_scoped_release release;
        scale_weights(view(), factor, n_threads);
        range_ = measure_weights(view(), n_threads);
    }
    void write(const Vector<Row>& rows, double scale, int n_threads) {
        require_rows(as_span(rows), own_.shape(0));
        require_scale(scale);
        nb::gil_scoped_release release;
        write_lanes(view(), as_span(rows), scale, n_threads);
    }
    auto sum(const Vector<Row>& rows, std::size_t place, double scale, int n_threads) const {
        require_place(place);
        require_rows(as_span(rows), own_.shape(0));
        require_scale(scale);
        return to_numpy(without_gil(
            [&] { return sum_weights(view(), as_span(rows), place, scale, n_threads); }));
    }
    auto row_steps(int n_threads) const {
        return to_numpy(without_gil([&] { return rulewright::row_steps(view(), n_threads); }));
    }

  private:
    void require_place(std::size_t place) const {
        require(place < weights_.shape(1), "the head is out of range");
    }
    void require_scale(double scale) const {
        require_positive(scale, "the scale must be positive and finite");
        require(range_.total * scale <= kLargestSum, "the weights are too large for the scale");
    }
    ExponentialLoss view() const {
        return {own_.shape(0), weights_.shape(1), stats_.shape(1), by_cost_,
                own_.data(),   weights_.data(),   scores_.data(),  stats_.data()};
    }

    Vector<std::int32_t> own_;
    MutableMatrix<double> weights_, scores_;
    MutableMatrix<Stat> stats_;
    bool by_cost_;
    WeightRange range_;  // of the weights as they are now
};

}  // namespace

void bind_weighting(nb::module_& m) {
    nb::class_<BoundExponential>(m, "Exponential")
        .def(nb::init<Vector<std::int32_t>, MutableMatrix<double>, MutableMatrix<double>,
                      MutableMatrix<Stat>, bool>(),
             array("own"), array("weights"), array("scores"), array("stats"), "by_cost"_a)
        .def("range", &BoundExponential::range)
        .def("add", &BoundExponential::add, array("rows"), "place"_a, "confidence"_a, "n_threads"_a)
        .def("scale", &BoundExponential::scale, "factor"_a, "n_threads"_a)
        .def("write", &BoundExponential::write, array("rows"), "scale"_a, "n_threads"_a)
        .def("sum", &BoundExponential::sum, array("rows"), "place"_a, "scale"_a, "n_threads"_a)
        .def("row_steps", &BoundExponential::row_steps, "n_threads"_a);
    nb::class_<BoundLikelihood>(m, "Likelihood")
        .def(nb::init<Vector<std::int32_t>, Vector<double>, MutableMatrix<double>,
                      MutableMatrix<Stat>, double, bool>(),
             array("labels"), array("weights"), array("exp_scores"), array("stats"), "scale"_a,
             "cumulative"_a)
        .def("refresh_stats", &BoundLikelihood::refresh_stats, array("rows"), "n_threads"_a)
        .def("loss_change", &BoundLikelihood::loss_change, array("rows"), "first"_a, "last"_a,
             "size"_a, "n_threads"_a)
        .def("add_step", &BoundLikelihood::add_step, array("rows"), "first"_a, "last"_a, "size"_a,
             "n_threads"_a)
        .def("sum_pair", &BoundLikelihood::sum_pair, array("rows"), "pair"_a, "scale"_a,
             "n_threads"_a)
        .def("sum_stats", &BoundLikelihood::sum_stats, array("rows"), "n_threads"_a)
        .def("class_weights", &BoundLikelihood::class_weights, array("rows"), array("side"),
             "n_threads"_a);
    nb::class_<BoundResponseFit>(m, "ResponseFit")
        .def(nb::init<Matrix<double>, Vector<double>, MutableMatrix<double>, Matrix<std::uint64_t>,
                      Matrix<std::int32_t>, Vector<std::int8_t>>(),
             array("shares"), array("weights"), array("probabilities"), array("covers"),
             array("heads"), array("signs"))
        .def("sweep", &BoundResponseFit::sweep, array("rules"), array("responses"), "l1"_a, "l2"_a)
        .def("move", &BoundResponseFit::move, array("rules"), array("steps"))
        .def("gradients", &BoundResponseFit::gradients, array("rules"), "n_threads"_a)
        .def("hessian", &BoundResponseFit::hessian, array("rules"), "n_threads"_a);
}

}  // namespace rulewright
