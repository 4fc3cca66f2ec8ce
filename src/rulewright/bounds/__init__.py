"""Guarantees from counts, losses, margins and sizes, as pure functions that return a `Bound`.

Formulas hold with probability 1 - delta over an independent sample, for all classifiers, weights or
posteriors of the class at once; bounds from a test set hold for one classifier fixed beforehand.
"""

from rulewright.bounds.classes import (
    finite_class_bound,
    ln_dnf_class,
    occam_bound,
    srm_penalty,
    vapnik_bound,
    vc_bound,
)
from rulewright.bounds.held_out import (
    chernoff_bound,
    exact_occam_bound,
    held_out_bound,
    hoeffding_bound,
    selective_held_out_bound,
)
from rulewright.bounds.margins import (
    cantelli_bound,
    margin_to_error,
    mmv_to_error,
    pac_bayes_margin_bound,
    pac_bayes_mmv_bound,
    signed_rule_kl,
)
from rulewright.bounds.pac_bayes import (
    binary_kl,
    kl_divergence,
    kl_inverse,
    kl_to_ln_prior,
    pac_bayes_kl,
    pac_bayes_mcallester,
)
from rulewright.bounds.rademacher import (
    margin_complexity,
    mcdiarmid_tail,
    product_complexity,
    rademacher_error_bound,
    rademacher_margin_bound,
    rademacher_mmv_bound,
)
from rulewright.bounds.record import Bound
from rulewright.bounds.repository import (
    prefix_certificate,
    prefix_delta,
    prior_costs,
    prior_margin_bound,
    repository_margin_bound,
    repository_mmv_bound,
    rule_radius,
)
from rulewright.bounds.search import block_size_bound, randomsearch_success
from rulewright.bounds.votes import (
    abstaining_vote_bound,
    adaboost_bound,
    breiman_bound,
    error_given_prediction,
    single_vote_bound,
    vote_bound,
)

__all__ = [
    "Bound",
    "abstaining_vote_bound",
    "adaboost_bound",
    "binary_kl",
    "block_size_bound",
    "breiman_bound",
    "cantelli_bound",
    "chernoff_bound",
    "error_given_prediction",
    "exact_occam_bound",
    "finite_class_bound",
    "held_out_bound",
    "hoeffding_bound",
    "kl_divergence",
    "kl_inverse",
    "kl_to_ln_prior",
    "ln_dnf_class",
    "margin_complexity",
    "margin_to_error",
    "mcdiarmid_tail",
    "mmv_to_error",
    "occam_bound",
    "pac_bayes_kl",
    "pac_bayes_margin_bound",
    "pac_bayes_mcallester",
    "pac_bayes_mmv_bound",
    "prefix_certificate",
    "prefix_delta",
    "prior_costs",
    "prior_margin_bound",
    "product_complexity",
    "rademacher_error_bound",
    "rademacher_margin_bound",
    "rademacher_mmv_bound",
    "randomsearch_success",
    "repository_margin_bound",
    "repository_mmv_bound",
    "rule_radius",
    "selective_held_out_bound",
    "signed_rule_kl",
    "single_vote_bound",
    "srm_penalty",
    "vapnik_bound",
    "vc_bound",
    "vote_bound",
]
