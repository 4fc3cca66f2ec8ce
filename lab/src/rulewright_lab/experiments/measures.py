"""What the papers measure of one fit beyond scores: curves over stages, abstention, averages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.comparison import Cost, OurWorker, score
from rulewright.estimators import RuleCombiner
from rulewright.trust import certificate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.comparison import Figures, Worker
    from rulewright.data import Table


def stages(worker: Worker, train: Table, test: Table, at: Sequence[int]) -> Figures:
    """Return the test error of the model's first rules, for each number of rules in `at`."""
    model, fit = _fit_learner(worker, train, "stages_")
    truth = test.known_target.codes
    wrong = [float(np.mean(model[:n].decide(model[:n].scores(test)) != truth)) for n in at]
    return {"at": list(at), "errors": wrong, "fit_seconds": fit.cpu, "rules": len(model.rules)}


def posterior(worker: Worker, train: Table, test: Table) -> Figures:
    """Return what `score` gives, and how concentrated the weights of an average are."""
    found = score(worker, train, test)
    report = _own(worker).model_.summary["posterior"]
    return found | {name: report[name] for name in ("n_models", "perplexity", "w_max", "kish")}


def combiners(worker: Worker, train: Table, test: Table, kinds: Sequence[str]) -> Figures:
    """Return the error of a model as it is and with its rules combined in each of some ways.

    Errors are by kind, "native" as it is; perplexities are means over the test rows that two rules
    or more cover, divided by the number of those, of kinds with weights.
    """
    model, fit = _fit_learner(worker, train)
    truth = test.known_target.codes
    errors = {"native": float(np.mean(model.decide(model.scores(test)) != truth))}
    spreads: dict[str, float | None] = {}
    for kind in kinds:
        combiner = RuleCombiner(kind, random_state=0).fit(model, train)
        combined = combiner.model_
        errors[kind] = float(np.mean(combined.decide(combined.scores(test)) != truth))
        if combiner.log_weights_ is not None:
            rows = combiner.row_diagnostics(test)
            several = rows["n_rules"] > 1
            ratios = rows["perplexity"][several] / rows["n_rules"][several]
            spreads[kind] = float(np.mean(ratios)) if several.any() else None
    size = {"fit_seconds": fit.cpu, "rules": float(len(model.rules))}
    return {"errors": errors, "perplexities": spreads, "error": errors["native"], **size}


def abstention(
    worker: Worker,
    train: Table,
    test: Table,
    thetas: Sequence[float],
    priors: Sequence[str],
) -> Figures:
    """Give errors, coverage and PAC-Bayes bounds of an ensemble of rule sets that may abstain.

    A bound of the abstaining vote is that of the vote divided by 1 + theta / 2.
    """
    model, fit = _fit_learner(worker, train)
    wrong = model.decide(model.scores(test)) != test.known_target.codes
    lead = model.margins(test)
    stated = {prior: certificate(model, prior) for prior in priors}
    return {
        "error": float(np.mean(wrong)),
        "thetas": list(thetas),
        "coverages": [float(np.mean(lead >= theta)) for theta in thetas],
        "joint_errors": [float(np.mean(wrong & (lead >= theta))) for theta in thetas],
        "bounds": {prior: bounds.vote.raw for prior, bounds in stated.items()},
        "bounds_mcallester": {p: bounds.vote_mcallester.raw for p, bounds in stated.items()},
        "divergences": {prior: sum(bounds.divergences) for prior, bounds in stated.items()},
        "training_loss": sum(stated[priors[0]].losses),
        "fit_seconds": fit.cpu,
    }


def _fit_learner(worker: Worker, train: Table, name: str = "model_") -> tuple[Any, Cost]:
    """Fit one of our own learners and return its model; stages may have more rules than that."""
    estimator = _own(worker)
    with Cost() as fit:
        worker.fit(worker.prepare(train))
    return getattr(estimator, name, estimator.model_), fit


def _own(worker: Worker) -> Any:
    """Return the estimator of a learner of this package."""
    if not isinstance(worker, OurWorker):
        raise ValueError("this measure looks into the model: take a learner of this package")
    return worker.estimator
