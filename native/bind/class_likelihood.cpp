#include "weighting/class_likelihood.hpp"

#include "bind/bind.hpp"

namespace rulewright {
namespace {

// Far beyond what a fit takes; exponentials of larger steps overflow.
constexpr double kLargestStep = 200;

// The state of a fit whose rules have their class chosen before; its arrays belong to Python and
// are changed in place.
class BoundClassLikelihood {
  public:
    BoundClassLikelihood(Vector<std::int32_t> labels, Vector<double> weights,
                         MutableMatrix<double> exp_scores, MutableMatrix<Stat> stats, double scale)
        : labels_(std::move(labels)),
          weights_(std::move(weights)),
          exp_scores_(std::move(exp_scores)),
          stats_(std::move(stats)),
          scale_(scale),
          totals_(labels_.shape(0)) {
        const std::size_t n = labels_.shape(0), n_classes = exp_scores_.shape(0);
        require(weights_.shape(0) == n && exp_scores_.shape(1) == n && stats_.shape(0) == n,
                "labels, weights, scores and statistics differ in rows");
        require(n_classes >= 2, "at least two classes are needed");
        require(stats_.shape(1) >= 2, "statistics have too few lanes");
        for (const std::int32_t label : as_span(labels_)) {
            require(label >= 0 && static_cast<std::size_t>(label) < n_classes,
                    "a label is out of range");
        }
        require_positive(scale, "the scale must be positive and finite");
        require_weights(as_span(weights_), scale);
        for (const double weight : as_span(weights_)) total_weight_ += weight;
        for (std::size_t i = 0; i < n * n_classes; ++i) {
            require(exp_scores_.data()[i] >= 0, "exponentials of scores must not be negative");
            totals_[i % n] += exp_scores_.data()[i];
        }
        for (const double total : totals_) {
            require_positive(total, "exponentials of scores must be positive and finite");
        }
    }

    void write_stats(std::size_t k, int n_threads) {
        require_class(k);
        without_gil([&] { write_class_stats(view(), k, n_threads); });
    }
    auto write_telling_rows(const Vector<Row>& rows, std::size_t k, double least) {
        require_class(k);
        require_within(least, 0, 1, "the least probability is out of range");
        return to_numpy(run(
            rows, [&] { return rulewright::write_telling_rows(view(), as_span(rows), k, least); }));
    }
    auto sum_stats(const Vector<Row>& rows, std::size_t k, double scale, int n_threads) {
        require_class(k);
        require_positive(scale, "the scale must be positive and finite");
        require(total_weight_ * scale <= kLargestSum, "the weights are too large for the scale");
        return to_numpy(
            run(rows, [&] { return sum_class_stats(view(), as_span(rows), k, scale, n_threads); }));
    }
    double loss_change(const Vector<Row>& rows, std::size_t k, double size, int n_threads) {
        require_step(k, size);
        return run(rows,
                   [&] { return class_loss_change(view(), as_span(rows), k, size, n_threads); });
    }
    double add_step(const Vector<Row>& rows, std::size_t k, double size, int n_threads) {
        require_step(k, size);
        return run(rows, [&] { return add_class_step(view(), as_span(rows), k, size, n_threads); });
    }
    auto residuals(const Vector<Row>& rows, int n_threads) {
        return to_numpy(run(rows, [&] { return sum_residuals(view(), as_span(rows), n_threads); }));
    }
    auto class_weights(const Vector<Row>& rows, const Vector<std::uint8_t>& side, int n_threads) {
        require(side.shape(0) == labels_.shape(0), "sides and labels differ in rows");
        return to_numpy(run(rows, [&] {
            return rulewright::class_weights(view(), as_span(rows), side.data(), n_threads);
        }));
    }

  private:
    ClassLikelihood view() {
        return {labels_.shape(0), exp_scores_.shape(0), stats_.shape(1),    scale_,
                labels_.data(),   weights_.data(),      exp_scores_.data(), totals_.data(),
                stats_.data()};
    }
    void require_class(std::size_t k) const {
        require(k < exp_scores_.shape(0), "there is no such class");
    }
    void require_step(std::size_t k, double size) const {
        require_class(k);
        require_within(size, 0, kLargestStep, "the step is out of range");
    }
    template <class Body>
    std::invoke_result_t<Body> run(const Vector<Row>& rows, const Body& body) const {
        require_rows(as_span(rows), labels_.shape(0));
        return without_gil(body);
    }

    Vector<std::int32_t> labels_;
    Vector<double> weights_;
    MutableMatrix<double> exp_scores_;
    MutableMatrix<Stat> stats_;
    double scale_, total_weight_ = 0;
    std::vector<double> totals_;
};

}  // namespace

void bind_class_likelihood(nb::module_& m) {
    using Bound = BoundClassLikelihood;
    nb::class_<Bound>(m, "ClassLikelihood")
        .def(nb::init<Vector<std::int32_t>, Vector<double>, MutableMatrix<double>,
                      MutableMatrix<Stat>, double>(),
             array("labels"), array("weights"), array("exp_scores"), array("stats"), "scale"_a)
        .def("write_stats", &Bound::write_stats, "k"_a, "n_threads"_a)
        .def("write_telling_rows", &Bound::write_telling_rows, array("rows"), "k"_a, "least"_a)
        .def("sum_stats", &Bound::sum_stats, array("rows"), "k"_a, "scale"_a, "n_threads"_a)
        .def("loss_change", &Bound::loss_change, array("rows"), "k"_a, "size"_a, "n_threads"_a)
        .def("add_step", &Bound::add_step, array("rows"), "k"_a, "size"_a, "n_threads"_a)
        .def("residuals", &Bound::residuals, array("rows"), "n_threads"_a)
        .def("class_weights", &Bound::class_weights, array("rows"), array("side"), "n_threads"_a);
}

}  // namespace rulewright
