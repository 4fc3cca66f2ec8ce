"""MLRules over partitions: reading, coding, boosting and the finished model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from rulewright.data import Schema, Target
from rulewright.estimators import (
    Boosting,
    BoostingSettings,
    MLRulesClassifier,
    are_counts,
    note_figures,
    ordered_target,
    progress_bar,
    warn_of_scaling,
)
from rulewright.model import AdditiveRules, note_training
from rulewright.scale.boosting import ClassWeights, PartedRows
from rulewright.scale.coding import Coding, choose_bins, code_parts
from rulewright.scale.questions import weights_by_class

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray
    from rulewright.scale.coding import Keep
    from rulewright.scale.parts import KeptObjects, Parts
    from rulewright.scale.survey import DataOverview, PartReading


@dataclass(frozen=True, eq=False)
class AllRows:
    """Facts about rows that are stored elsewhere."""

    schema: Schema
    classes: NDArray[Any]
    n_rows: int
    total_weight: float


class PartedMLRules(MLRulesClassifier):
    """`MLRulesClassifier` with its settings adapted to partitions."""

    def learn_parts(
        self, parts: Parts, reading: PartReading, found: DataOverview, keep: Keep
    ) -> AdditiveRules:
        """Learn the model of all parts."""
        self._refuse_others()
        known = Target(np.asarray(found.classes), np.empty(0, dtype=np.int32))
        self.classes_ = ordered_target(known, self.ordinal).classes
        rows = AllRows(found.schema, self.classes_, found.n_rows, math.nan)
        constraints = self._checked_constraints(rows, self._is_ordinal)
        self.trace_, self.stopped_by_ = {}, "one_class"
        settings = self._settings(rows, constraints)
        random = check_random_state(self.random_state)
        digits = constraints.digits_by_column(found.schema)
        coding = Coding(
            found.schema,
            self.classes_,
            choose_bins(found, settings.max_bins, digits),
            int.from_bytes(random.bytes(8), "little") >> 1,
            settings.stopping.kept_aside,
        )
        coded = parts.become(code_parts, reading, coding, keep)
        try:
            prune = "prefix" if settings.prune == "prefix" else None  # has sums that can be added
            rule = replace(settings.rule, other_classes=False)
            settings = replace(settings, prune=prune, rule=rule)
            return self._learn_coded(coded, coding, settings, found, random)
        finally:
            coded.close()

    def _learn_coded(
        self,
        coded: KeptObjects,
        coding: Coding,
        settings: BoostingSettings,
        found: DataOverview,
        random: np.random.RandomState,
    ) -> AdditiveRules:
        weighed, factors = self._weigh_classes(coded, found)
        rows = AllRows(found.schema, self.classes_, found.n_rows, float(weighed.train.sum()))
        summary = self._summary(rows, settings.constraints)
        if len(self.classes_) == 1:
            only = AdditiveRules(found.schema, self.classes_, (0.0,), (), summary)
            self.stages_ = self._with_decision(only, weighed.train + weighed.aside)
            return self.stages_
        if settings.stopping.kept_aside and not weighed.aside.any():
            raise ValueError(
                f"stopping='validation': {found.n_rows} rows are too few to hold out "
                f"{settings.stopping.kept_aside:g} of them; choose another stopping or a larger "
                "validation_fraction"
            )
        given = settings, coding, coded, weighed, factors, found.n_rows, random
        boosting = Boosting(settings, PartedRows(*given), random)
        n_rules = self._most_rules(rows)
        with progress_bar("learning rules", n_rules, bool(self.verbose)) as advance:
            boosting.run(n_rules, advance)
        return self._finish(boosting, summary, found)

    def _finish(
        self, boosting: Boosting[PartedRows], summary: dict[str, Any], found: DataOverview
    ) -> AdditiveRules:
        """Convert the rules to a model with its figures."""
        rows, monitor = boosting.rows, boosting.monitor
        log_loss, figures = rows.measure(monitor.n_kept)
        self.stopped_by_, self.trace_ = monitor.stopped_by or "max_rules", monitor.trace()
        bins = rows.grower.binned.describe()
        if found.is_sampled:
            bins += f", chosen on {found.sample.n_rows} rows"
        summary = {
            **summary,
            "bins": bins,
            "log_loss": log_loss,
            "stopped_by": self.stopped_by_,
        }
        intercepts, rules = tuple(rows.intercepts.tolist()), boosting.kept_rules()
        model = AdditiveRules(found.schema, self.classes_, intercepts, rules, summary)
        columns = {name: found.notes[name] for name in model.columns}
        held_out = bool(rows.weighed.aside.any())
        notes = note_training(columns, weighted=found.weighted, held_out=held_out)
        model = model.with_summary({**model.summary, **notes})
        model = self._with_decision(model, rows.weighed.train + rows.weighed.aside)
        self.stages_ = note_figures(model, rows="training", **figures)
        return self.stages_.merge_rules()

    def _weigh_classes(
        self, coded: KeptObjects, found: DataOverview
    ) -> tuple[ClassWeights, tuple[float, ...]]:
        """Return the weighted class weights, and the factors; these also scale weights."""
        unit, n_classes = found.weight_unit, len(self.classes_)
        sums, n_train = coded.total(weights_by_class, unit, n_classes).arrays
        factors = self._factors(sums.sum(axis=0) * unit)
        total = float((sums * unit * factors).sum())
        if not are_counts(found.n_rows, total):
            warn_of_scaling(found.n_rows, total, "MLRulesClassifier")
            factors = factors * (found.n_rows / total)
        train, aside = sums * unit * factors
        return ClassWeights(train, aside, int(n_train)), tuple(factors.tolist())

    def _factors(self, weights: FloatArray) -> FloatArray:
        """Return the factor of each class, given by `class_weight`."""
        if self.class_weight is None:
            return np.ones(len(weights))
        if self.class_weight == "balanced":
            present = np.maximum(weights, 1e-300)
            return np.where(weights > 0, weights.sum() / ((weights > 0).sum() * present), 1.0)
        given = dict(self.class_weight)
        factors = np.array([float(given.get(label, 1.0)) for label in self.classes_.tolist()])
        if not (np.isfinite(factors) & (factors > 0)).all():
            raise ValueError(
                f"class_weight={self.class_weight!r}: on partitions class weights must be finite "
                "and above 0; drop the rows of a class that should not count"
            )
        return factors

    def _refuse_others(self) -> None:
        """Reject settings that need all rows in one place."""
        for name, allowed, instead in (
            ("calibration", None, "calibrate the fitted model on other rows: rulewright.calibrate"),
            ("warm_start", False, "raise max_rules instead"),
            ("linear", False, "CompactRulesClassifier fits lines to a sample of the rows"),
        ):
            if getattr(self, name) != allowed:
                value = getattr(self, name)
                raise ValueError(f"{name}={value!r} is not supported on partitions; {instead}")
        if self._growth.other_classes is True:
            raise ValueError(
                "growth with other_classes=True is not supported on partitions, where each class "
                "would cost another pass; set other_classes='auto'"
            )
        if self._growth.prune is True:
            raise ValueError(
                "growth with prune=True is not supported on partitions, where only the last "
                "conditions of a rule can be pruned; set prune='prefix' or 'auto'"
            )

    def _summary(self, *args: Any) -> dict[str, Any]:
        return {**super()._summary(*args), "learner": "MLRulesClassifier"}
