#include "base/parallel.hpp"
#include "bind/bind.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Native kernels of rulewright; reach them through rulewright.kernels.";
    m.def("use_one_thread", [] { rulewright::threads_allowed = false; });
    rulewright::bind_encoding(m);
    rulewright::bind_search(m);
    rulewright::bind_trees(m);
    rulewright::bind_dnf(m);
    rulewright::bind_weighting(m);
    rulewright::bind_class_likelihood(m);
    rulewright::bind_rule_matrix(m);
    rulewright::bind_signed_rules(m);
    rulewright::bind_sorted_covers(m);
    rulewright::bind_elbow(m);
    rulewright::bind_points(m);
    rulewright::bind_graphs(m);
    rulewright::bind_model(m);
    rulewright::bind_nearest(m);
    rulewright::bind_scale(m);
}
