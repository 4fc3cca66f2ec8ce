#include "weighting/rule_matrix.hpp"

#include "bind/bind.hpp"
#include "weighting/descent.hpp"

namespace rulewright {
namespace {

using Columns = Vector<std::int32_t>;
using Numbers = Vector<double>;
using MutableNumbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require_columns(const Columns& columns, std::size_t n_columns) {
    for (const std::int32_t column : as_span(columns)) {
        require(column >= 0 && static_cast<std::size_t>(column) < n_columns,
                "a column is out of range");
    }
}

void require_stop(double l1, double l2, double change, int max_sweeps) {
    require_penalty(l1, "l1 must be finite and not negative");
    require_penalty(l2, "l2 must be finite and not negative");
    require_penalty(change, "the change must be finite and not negative");
    require(max_sweeps >= 0, "max_sweeps is negative");
}

// Means, scales and norms of columns, and the weight of all rows.
class BoundQuadratic {
  public:
    BoundQuadratic(double weight, Numbers means, Numbers scales, Numbers norms)
        : weight_(weight),
          means_(std::move(means)),
          scales_(std::move(scales)),
          norms_(std::move(norms)) {
        require(scales_.shape(0) == size() && norms_.shape(0) == size(),
                "means, scales and norms differ in columns");
    }
    std::size_t size() const { return means_.shape(0); }
    Quadratic view() const { return {weight_, means_.data(), scales_.data(), norms_.data()}; }

  private:
    double weight_;
    Numbers means_, scales_, norms_;
};

// Packed covers and dense columns, which belong to Python.
class BoundRuleMatrix {
  public:
    BoundRuleMatrix(Matrix<std::uint64_t> covers, Matrix<double> dense)
        : covers_(std::move(covers)), dense_(std::move(dense)) {
        const std::size_t n = dense_.shape(1);
        require(covers_.shape(1) == count_words(n), "covers have the wrong number of words");
        for (std::size_t j = 0; j < covers_.shape(0); ++j) {
            require(n % 64 == 0 || covers_(j, n / 64) >> (n % 64) == 0,
                    "a cover has bits beyond the rows");
        }
        counts_ = count_covers(covers_.data(), covers_.shape(0), covers_.shape(1));
    }

    auto sums(const Columns& columns, const Numbers& values, int n_threads) const {
        check(columns, values.shape(0), "values");
        return to_numpy(without_gil(
            [&] { return column_sums(view(), as_span(columns), values.data(), n_threads); }));
    }
    void add(const Columns& columns, const Numbers& coefs, const MutableNumbers& scores) const {
        check(columns, scores.shape(0), "scores");
        require(coefs.shape(0) == columns.shape(0), "columns and coefs differ in number");
        without_gil([&] {
            add_columns(view(), as_span(columns), coefs.data(), scores.data());
            return 0;
        });
    }
    auto cross(const Columns& columns, const Columns& others, const Numbers& weights,
               int n_threads) const {
        const bool weighted = weights.shape(0) != 0;
        check(columns, weighted ? weights.shape(0) : view().n_rows, "weights");
        require_columns(others, view().n_columns());
        return to_numpy(without_gil([&] {
            return cross_products(view(), as_span(columns), as_span(others),
                                  weighted ? weights.data() : nullptr, n_threads);
        }));
    }
    int descend(const BoundQuadratic& quadratic, const Numbers& weights, const Columns& columns,
                double l1, double l2, double change, int max_sweeps, const MutableNumbers& coefs,
                const MutableNumbers& residuals) const {
        require_stop(l1, l2, change, max_sweeps);
        check(columns, weights.shape(0), "weights");
        require(residuals.shape(0) == view().n_rows, "residuals differ in rows from the matrix");
        require(quadratic.size() == view().n_columns() && coefs.shape(0) == quadratic.size(),
                "the quadratic, coefs and the matrix differ in columns");
        return without_gil([&] {
            return descend_naive(view(), quadratic.view(), weights.data(), as_span(columns),
                                 {l1, l2}, {change, max_sweeps}, coefs.data(), residuals.data());
        });
    }

  private:
    RuleMatrix view() const {
        return {dense_.shape(1), covers_.shape(0), dense_.shape(0),
                covers_.data(),  dense_.data(),    counts_.data()};
    }
    void check(const Columns& columns, std::size_t n_rows, const char* name) const {
        require_columns(columns, view().n_columns());
        if (n_rows != view().n_rows) {
            throw nb::value_error((std::string(name) + " differ in rows from the matrix").c_str());
        }
    }

    Matrix<std::uint64_t> covers_;
    Matrix<double> dense_;
    std::vector<std::uint32_t> counts_;
};

template <class Number>
int descend_products(const Matrix<Number>& products, const BoundQuadratic& quadratic,
                     const Columns& columns, double l1, double l2, double change, int max_sweeps,
                     const MutableNumbers& coefs, const MutableNumbers& sums) {
    require_stop(l1, l2, change, max_sweeps);
    const std::size_t n = quadratic.size();
    require(products.shape(0) >= n && products.shape(1) >= n, "cross-products are too few");
    require(coefs.shape(0) == n && sums.shape(0) == n,
            "the quadratic, coefs and sums differ in columns");
    require_columns(columns, n);
    return without_gil([&] {
        return descend_covariance(products.data(), products.shape(1), quadratic.view(),
                                  as_span(columns), n, {l1, l2}, {change, max_sweeps}, coefs.data(),
                                  sums.data());
    });
}

template <class Number>
void bind_descent(nb::module_& m) {
    m.def("descend_products", &descend_products<Number>, array("products"), "quadratic"_a,
          array("columns"), "l1"_a, "l2"_a, "change"_a, "max_sweeps"_a, array("coefs"),
          array("sums"));
}

}  // namespace

void bind_rule_matrix(nb::module_& m) {
    nb::class_<BoundQuadratic>(m, "Quadratic")
        .def(nb::init<double, Numbers, Numbers, Numbers>(), "weight"_a, array("means"),
             array("scales"), array("norms"));
    nb::class_<BoundRuleMatrix>(m, "RuleMatrix")
        .def(nb::init<Matrix<std::uint64_t>, Matrix<double>>(), array("covers"), array("dense"))
        .def("sums", &BoundRuleMatrix::sums, array("columns"), array("values"), "n_threads"_a)
        .def("add", &BoundRuleMatrix::add, array("columns"), array("coefs"), array("scores"))
        .def("cross", &BoundRuleMatrix::cross, array("columns"), array("others"), array("weights"),
             "n_threads"_a)
        .def("descend", &BoundRuleMatrix::descend, "quadratic"_a, array("weights"),
             array("columns"), "l1"_a, "l2"_a, "change"_a, "max_sweeps"_a, array("coefs"),
             array("residuals"));
    bind_descent<std::int32_t>(m);
    bind_descent<double>(m);
}

}  // namespace rulewright
