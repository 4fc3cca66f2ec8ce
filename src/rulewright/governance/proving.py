"""Prove that a model obeys policies, or find rows that break them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rulewright.data import label_of
from rulewright.governance.policies import PointsLimit, Policy, point_size
from rulewright.governance.proofs.prover import decide
from rulewright.governance.proofs.spaces import SLACK, Space, Value
from rulewright.html import escape_line
from rulewright.model import ClassModel, write_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.model import RuleModel

TIME_LIMIT = 10.0
"""Default time limit of a policy, in seconds."""


@dataclass(frozen=True, eq=False)
class Proof:
    """Whether a model obeys a policy.

    Parameters
    ----------
    policy : Policy
        The policy.
    state : str
        "proved", "violated" or "undecided".
    certificate : dict, optional
        What the checker needs to verify a proof, as plain data.
    rows : tuple of dict
        The row, or the pair of rows, that breaks the policy.
    predictions : tuple of dict
        What ``predict`` gives for these rows: the label and the probability, or the number.
    excess : float
        How far the policy is broken; if undecided, how far it may be broken at most.
    n_boxes : int
        Number of boxes that were looked at.
    seconds : float
        Time that it took.
    """

    policy: Policy
    state: str
    certificate: dict[str, Any] | None
    rows: tuple[dict[str, Any], ...]
    predictions: tuple[dict[str, Any], ...]
    excess: float
    n_boxes: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the proof as plain data, which the checker reads."""
        content: dict[str, Any] = {"policy": self.policy.to_json(), "state": self.state}
        if self.certificate is not None:
            return {**content, "certificate": self.certificate}
        rows = [dict(row) for row in self.rows]
        return {**content, "excess": self.excess, "rows": rows, "predictions": [*self.predictions]}

    @property
    def finding(self) -> str:
        """How the state is known: the size of the certificate, the row, or the bound."""
        if self.certificate is not None:
            return f"certificate of {write_count(self.n_boxes, 'box')}"
        return " ".join(line.strip() for line in str(self).split("\n")[1:])

    def __str__(self) -> str:
        took = f"{self.n_boxes:,} {'box' if self.n_boxes == 1 else 'boxes'}, {self.seconds:.1f} s"
        lines = [f"{self.state:9}  {escape_line(self.policy.title)} ({took})"]
        if self.state == "undecided":
            lines.append(f"           time ran out: broken by {self.excess:.6g} at most")
        if self.state == "violated":
            decides = getattr(self.policy, "outcome", None) == "decision"
            far = "" if decides else f" by {self.excess:.6g}"
            lines.append(f"           broken{far} on a row such as")
        for row, answer in zip(self.rows, self.predictions, strict=True):
            listed = ", ".join(f"{name} = {_write_exactly(value)}" for name, value in row.items())
            said = ", ".join(f"{_written(value)} ({name})" for name, value in answer.items())
            lines.append(f"           {escape_line(listed)}: {escape_line(said)}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Proofs:
    """The proofs of several policies, in their order."""

    proofs: tuple[Proof, ...]

    @property
    def proved(self) -> bool:
        """Whether all policies are proved."""
        return all(proof.state == "proved" for proof in self.proofs)

    @property
    def violated(self) -> bool:
        """Whether a policy is broken."""
        return any(proof.state == "violated" for proof in self.proofs)

    def to_json(self) -> dict[str, Any]:
        """Return the proofs as plain data, which the checker reads."""
        return {"slack": SLACK, "proofs": [proof.to_json() for proof in self.proofs]}

    def __len__(self) -> int:
        return len(self.proofs)

    def __getitem__(self, place: int) -> Proof:
        return self.proofs[place]

    def __str__(self) -> str:
        return "\n".join(map(str, self.proofs))


def prove(
    model: Any, policies: Policy | Sequence[Policy], *, time_limit: float = TIME_LIMIT
) -> Proofs:
    """Prove policies for every row that can occur, or find rows that break them.

    The rows are all combinations of values that the conditions tell apart, whether or not they
    occur in data: also missing values and unseen labels, unless a policy excludes them. A
    counterexample is confirmed by predicting its rows. Values that differ by less than 1e-9 (of
    numbers: times their largest size) count as equal.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules, DecisionList or fitted estimator
        The model.
    policies : Policy or sequence of Policy
        What to prove.
    time_limit : float
        Time limit for each policy, in seconds.

    Returns
    -------
    Proofs
        For each policy a proof with a certificate, a counterexample, or, when time ran out, how
        far the policy may be broken at most.
    """
    if not time_limit > 0:
        raise ValueError(f"time_limit={time_limit}: must be positive")
    listed = [policies] if isinstance(policies, Policy) else list(policies)
    model = getattr(model, "model_", model)
    return Proofs(tuple(_prove(model, policy, time_limit) for policy in listed))


def _prove(model: RuleModel, policy: Policy, time_limit: float) -> Proof:
    start = time.monotonic()
    space, found = decide(model, policy, time_limit)
    rows = tuple(_table_values(space, row) for row in found.rows)
    answers = _predictions(model, space, rows, found.excess) if rows else ()
    size = point_size(model) if isinstance(policy, PointsLimit) else 1.0
    excess, seconds = found.excess / size, time.monotonic() - start
    return Proof(
        policy, found.state, found.certificate, rows, answers, excess, found.n_boxes, seconds
    )


def _table_values(space: Space, stored: dict[str, Any]) -> dict[str, Any]:
    return {name: space.cells[name].to_table_value(value) for name, value in stored.items()}


def _predictions(
    model: RuleModel, space: Space, rows: Sequence[dict[str, Any]], excess: float
) -> tuple[dict[str, Any], ...]:
    """Predict the rows of a counterexample from their values in a table, which must break it."""
    names, policy = {*rows[0]} | {*model.inputs}, space.policy
    data = {name: [row.get(name) for row in rows] for name in model.schema.names if name in names}
    values = Value.of(space.model, policy).of_scores(space.model.scores(data))
    if abs(space.excess(values[-1:], values[:1])[0] - excess) > SLACK * max(1.0, abs(excess)):
        raise AssertionError(f"the counterexample {rows} is predicted differently as a table")
    if not isinstance(model, ClassModel):
        return tuple({"prediction": value} for value in model.predict(data).tolist())
    place = model.class_names.index(label_of(policy.target_class))
    labels, chances = model.predict(data).tolist(), model.predict_proba(data)[:, place].tolist()
    title = f"P({model.class_names[place]})"
    return tuple({"label": a, title: p} for a, p in zip(labels, chances, strict=True))


def _write_exactly(value: Any) -> str:
    """Write a value so that reading it gives the same one: a last digit may break a policy."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else _written(value)


def _written(value: Any) -> str:
    return (
        "missing" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    )
