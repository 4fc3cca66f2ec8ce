"""Posterior weights of models and of rules, in log space, and what keeps them from one model."""

from rulewright.weighting.posterior.combination import combination_weights
from rulewright.weighting.posterior.evidence import (
    ESTIMATORS,
    Estimator,
    log_evidence,
    log_marginal,
)
from rulewright.weighting.posterior.normalising import (
    LEAST_WEIGHT,
    checked_densities,
    log_posterior,
    weights_from_logs,
)
from rulewright.weighting.posterior.pseudo_bma import pseudo_bma_weights
from rulewright.weighting.posterior.report import PosteriorReport, perplexity
from rulewright.weighting.posterior.rule_sets import (
    PRIORS,
    WEIGHTS,
    Posterior,
    Weight,
    alpha_of,
    ln_inverse_prior,
    posterior_weights,
)
from rulewright.weighting.posterior.schemes import (
    SCHEMES,
    log_rule_weights,
    normalise_by_coverage,
)
from rulewright.weighting.posterior.stacking import stacking_weights
from rulewright.weighting.posterior.tempering import (
    BETAS,
    beta_by_log_loss,
    beta_for_perplexity,
    log_loss_of,
)

__all__ = [
    "BETAS",
    "ESTIMATORS",
    "LEAST_WEIGHT",
    "PRIORS",
    "SCHEMES",
    "WEIGHTS",
    "Estimator",
    "Posterior",
    "PosteriorReport",
    "Weight",
    "alpha_of",
    "beta_by_log_loss",
    "beta_for_perplexity",
    "checked_densities",
    "combination_weights",
    "ln_inverse_prior",
    "log_evidence",
    "log_loss_of",
    "log_marginal",
    "log_posterior",
    "log_rule_weights",
    "normalise_by_coverage",
    "perplexity",
    "posterior_weights",
    "pseudo_bma_weights",
    "stacking_weights",
    "weights_from_logs",
]
