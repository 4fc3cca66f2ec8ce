#include "bind/bind.hpp"
#include "weighting/likelihood.hpp"

namespace rulewright {
namespace {

// The state of a fit by maximum likelihood; its arrays belong to Python and are changed in place.
class BoundLikelihood {
  public:
    BoundLikelihood(Vector<std::int32_t> labels, Vector<double> weights,
                    MutableMatrix<double> exp_scores, MutableMatrix<Stat> stats, double scale)
        : labels_(std::move(labels)),
          weights_(std::move(weights)),
          exp_scores_(std::move(exp_scores)),
          stats_(std::move(stats)),
          scale_(scale) {
        const std::size_t n = labels_.shape(0);
        const std::size_t n_classes = exp_scores_.shape(1);
        require(weights_.shape(0) == n && exp_scores_.shape(0) == n && stats_.shape(0) == n,
                "labels, weights, scores and statistics differ in rows");
        require(n_classes >= 2, "at least two classes are needed");
        require(stats_.shape(1) >= 2 * (n_classes == 2 ? 1 : n_classes),
                "statistics have too few lanes");
        for (const std::int32_t label : as_span(labels_)) {
            require(label >= 0 && static_cast<std::size_t>(label) < n_classes,
                    "a label is out of range");
        }
    }

    void refresh_stats(const Vector<Row>& rows, int n_threads) {
        run(rows, [&] { rulewright::refresh_stats(view(), as_span(rows), n_threads); });
    }
    double loss_change(const Vector<Row>& rows, std::size_t vote, double size, int n_threads) {
        return run_step(rows, vote, size, n_threads, rulewright::loss_change);
    }
    double add_step(const Vector<Row>& rows, std::size_t vote, double size, int n_threads) {
        return run_step(rows, vote, size, n_threads, rulewright::add_step);
    }
    auto sum_stats(const Vector<Row>& rows, int n_threads) const {
        std::vector<Stat> sums;
        run(rows, [&] { sums = rulewright::sum_stats(view(), as_span(rows), n_threads); });
        return to_numpy(std::move(sums));
    }
    auto class_weights(const Vector<Row>& rows, int n_threads) const {
        std::vector<double> sums;
        run(rows, [&] { sums = rulewright::class_weights(view(), as_span(rows), n_threads); });
        return to_numpy(std::move(sums));
    }

  private:
    Likelihood view() const {
        return {exp_scores_.shape(1), stats_.shape(1),    scale_,       labels_.data(),
                weights_.data(),      exp_scores_.data(), stats_.data()};
    }
    template <class Body>
    void run(const Vector<Row>& rows, const Body& body) const {
        require_rows(as_span(rows), labels_.shape(0));
        nb::gil_scoped_release release;
        body();
    }
    template <class Kernel>
    double run_step(const Vector<Row>& rows, std::size_t vote, double size, int n_threads,
                    const Kernel& kernel) const {
        require(vote < exp_scores_.shape(1), "the vote is no class");
        double change = 0;
        run(rows, [&] { change = kernel(view(), as_span(rows), Step{vote, size}, n_threads); });
        return change;
    }

    Vector<std::int32_t> labels_;
    Vector<double> weights_;
    MutableMatrix<double> exp_scores_;
    MutableMatrix<Stat> stats_;
    double scale_;
};

}  // namespace

void bind_weighting(nb::module_& m) {
    nb::class_<BoundLikelihood>(m, "Likelihood")
        .def(nb::init<Vector<std::int32_t>, Vector<double>, MutableMatrix<double>,
                      MutableMatrix<Stat>, double>(),
             nb::arg("labels").noconvert(), nb::arg("weights").noconvert(),
             nb::arg("exp_scores").noconvert(), nb::arg("stats").noconvert(), nb::arg("scale"))
        .def("refresh_stats", &BoundLikelihood::refresh_stats, nb::arg("rows").noconvert(),
             nb::arg("n_threads"))
        .def("loss_change", &BoundLikelihood::loss_change, nb::arg("rows").noconvert(),
             nb::arg("vote"), nb::arg("size"), nb::arg("n_threads"))
        .def("add_step", &BoundLikelihood::add_step, nb::arg("rows").noconvert(), nb::arg("vote"),
             nb::arg("size"), nb::arg("n_threads"))
        .def("sum_stats", &BoundLikelihood::sum_stats, nb::arg("rows").noconvert(),
             nb::arg("n_threads"))
        .def("class_weights", &BoundLikelihood::class_weights, nb::arg("rows").noconvert(),
             nb::arg("n_threads"));
}

}  // namespace rulewright
