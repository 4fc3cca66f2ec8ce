#include "weighting/elbow.hpp"

#include "bind/bind.hpp"

namespace rulewright {
namespace {

using Numbers = Vector<double>;

// One vertex of a program at a time; a second thread is refused.
class BoundElbow {
  public:
    BoundElbow(const Numbers& shares, const Numbers& targets, double budget)
        : elbow_(as_span(shares), as_span(targets), budget) {
        require(shares.shape(0) == targets.shape(0), "shares and targets differ in rows");
        require_positive(budget, "the budget must be above 0 and finite");
    }

    void reset() {
        const InUse lock(mutex_);
        elbow_.reset();
    }
    int settle(int most_steps) {
        const InUse lock(mutex_);
        return without_gil([&] { return elbow_.settle(most_steps); });
    }
    void enter(std::int32_t atom, double sign, const Numbers& column, double gain) {
        const InUse lock(mutex_);
        require(atom >= Elbow::kNothing, "an atom is out of range");
        require(column.shape(0) == elbow_.n_rows(), "the column differs in rows");
        without_gil([&] {
            elbow_.enter(atom, sign, as_span(column), gain);
            return 0;
        });
    }
    void remove(std::int32_t atom) {
        const InUse lock(mutex_);
        require(atom >= 0, "an atom is out of range");
        without_gil([&] {
            elbow_.remove(atom);
            return 0;
        });
    }
    double level() {
        const InUse lock(mutex_);
        return elbow_.level();
    }
    auto prices() {
        const InUse lock(mutex_);
        return to_numpy(without_gil([&] { return elbow_.prices(); }));
    }
    auto support() {
        const InUse lock(mutex_);
        std::vector<std::int32_t> atoms;
        std::vector<double> weights;
        for (std::size_t a = 0; a < elbow_.atoms().size(); ++a) {
            if (elbow_.atoms()[a] == Elbow::kNothing) continue;
            atoms.push_back(elbow_.atoms()[a]);
            weights.push_back(elbow_.signs()[a] * std::max(elbow_.weights()[a], 0.0));
        }
        return std::make_tuple(to_numpy(std::move(atoms)), to_numpy(std::move(weights)));
    }

  private:
    Elbow elbow_;
    std::mutex mutex_;
};

}  // namespace

void bind_elbow(nb::module_& m) {
    nb::class_<BoundElbow>(m, "Elbow")
        .def(nb::init<const Numbers&, const Numbers&, double>(), array("shares"), array("targets"),
             "budget"_a)
        .def("reset", &BoundElbow::reset)
        .def("settle", &BoundElbow::settle, "most_steps"_a)
        .def("enter", &BoundElbow::enter, "atom"_a, "sign"_a, array("column"), "gain"_a)
        .def("remove", &BoundElbow::remove, "atom"_a)
        .def("level", &BoundElbow::level)
        .def("prices", &BoundElbow::prices)
        .def("support", &BoundElbow::support);
}

}  // namespace rulewright
