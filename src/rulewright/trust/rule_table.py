"""Results about rules on given rows: fields, a dataframe, a table to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.explain import claim_text
from rulewright.html import bold, lines, note, table, view
from rulewright.model import RuleModel, align_cells, to_frame

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray

SHOWN_RULES = 50

_SHARES = ("share", "precision")


@dataclass(frozen=True, eq=False)
class RuleStatistics:
    """Statistics of rules on given rows: one number per rule in each array.

    Parameters
    ----------
    model : RuleModel
        The model; ``model[i]`` is rule i.
    alpha, q : float
        Error probability of the intervals, and false discovery rate.
    n_rows, n_effective : int, float
        Number of rows with positive weight, and their effective number.
    less : bool array
        Whether the rule claims a lower frequency: it has a negative response.
    support, effective_support : float array
        Weight of the covered rows, and their effective number.
    share, share_low, share_high : float array
        Covered share of the total weight, with its exact interval.
    p_value, p_adjusted : float array
        P-value of the claim, and the same adjusted for all rules (Benjamini and Yekutieli).
    e_value : float array
        E-value of the claim.
    discovered_by_p, discovered_by_e : bool array
        Whether the claim is a discovery at false discovery rate q.
    """

    model: RuleModel
    alpha: float
    q: float
    n_rows: int
    n_effective: float
    less: BoolArray
    support: FloatArray
    effective_support: FloatArray
    share: FloatArray
    share_low: FloatArray
    share_high: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    e_value: FloatArray
    discovered_by_p: BoolArray
    discovered_by_e: BoolArray

    _measures: ClassVar[tuple[str, ...]] = ()
    _intervals: ClassVar[tuple[str, ...]] = ("share",)
    _evidence: ClassVar[tuple[str, ...]] = (
        "p_value",
        "p_adjusted",
        "e_value",
        "discovered_by_p",
        "discovered_by_e",
    )

    def to_table(self) -> dict[str, list[Any]]:
        """Return a dict of columns, one item per rule in the order of the model."""
        common = ("support", "effective_support", "share", "share_low", "share_high")
        return {
            "rule": list(self.model.numbers),
            "id": list(range(len(self.model))),
            "if": [str(rule.body) for rule in self.model],
            **self.model.head_columns(),
            "claim": ["less" if less else "more" for less in self.less],
            **{
                name: getattr(self, name).tolist()
                for name in (*common, *self._measures, *self._evidence)
            },
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe with a row per rule; ``backend`` as in ``rules_frame``."""
        return to_frame(self.to_table(), backend)

    def __len__(self) -> int:
        return len(self.model)

    def __str__(self) -> str:
        rows = align_cells([self._titles(), *self._rows()])
        return "\n".join([*self._preamble(), *rows, *self._list_hidden()])

    def _repr_html_(self) -> str:
        first, *more = self._preamble()
        titles = self._titles()
        rows = table([titles], self._rows(), text={len(titles) - 1})
        return view(bold(first), lines(more), rows, *map(note, self._list_hidden()))

    def _rows(self) -> list[list[str]]:
        """Return the cells of the rules to show, strongest evidence first."""
        order = np.lexsort((-self.e_value, self.p_value))[:SHOWN_RULES]
        return [self._cells(i) for i in order.tolist()]

    def _list_hidden(self) -> list[str]:
        hidden = len(self) - SHOWN_RULES
        return [f"... and {hidden} more; to_frame() has all"] if hidden > 0 else []

    def _preamble(self) -> list[str]:
        weighted = round(self.n_effective) != self.n_rows  # weights or groups
        effective = f" (effective number {self.n_effective:.6g})" if weighted else ""
        rules = "1 rule" if len(self) == 1 else f"{len(self) or 'no'} rules"
        return [
            f"{rules} on {self.n_rows} given rows{effective}, strongest evidence first; intervals "
            f"of {100 * (1 - self.alpha):g} %",
            f"discoveries at a false discovery rate of {self.q:g}: {self.discovered_by_p.sum()} "
            f"by p-values (Benjamini-Yekutieli), {self.discovered_by_e.sum()} by e-values (e-BH)",
        ]

    def _titles(self) -> list[str]:
        return ["#", "covers", *self._columns(None), "p-value", "e-value", "found", "rule"]

    def _cells(self, i: int) -> list[str]:
        found = [word for word, yes in self._flag_discovery(i).items() if yes]
        return [
            str(self.model.numbers[i]),
            f"{self.support[i]:.6g}",
            *self._columns(i),
            f"{self.p_value[i]:.2g}",
            f"{self.e_value[i]:.2g}",
            " ".join(found) or "-",
            f"IF {self.model.rules[i].body} THEN {claim_text(self.model, self.model.rules[i])}",
        ]

    def _flag_discovery(self, i: int) -> dict[str, bool]:
        return {"p": bool(self.discovered_by_p[i]), "e": bool(self.discovered_by_e[i])}

    def _columns(self, i: int | None) -> list[str]:
        """Return the titles of the measures or, for one rule, their cells."""
        return [name if i is None else self._interval(name, i) for name in self._intervals]

    def _interval(self, name: str, i: int) -> str:
        value, low, high = (getattr(self, name + end)[i] for end in ("", "_low", "_high"))
        digits = ".2f" if name in _SHARES else ".4g"
        return f"{value:{digits}} [{low:{digits}}, {high:{digits}}]"


@dataclass(frozen=True, eq=False)
class ClassRuleStatistics(RuleStatistics):
    """Statistics of rules for classification: the fields of `RuleStatistics` and these.

    Parameters
    ----------
    base_rate : float array
        Share of the head's classes in the total weight.
    outside : float array
        Their share where the rule does not apply.
    precision, precision_low, precision_high : float array
        Their share of the covered weight, with its exact interval; NaN without covered rows.
    lift : float array
        Precision divided by the base rate.
    """

    base_rate: FloatArray
    outside: FloatArray
    precision: FloatArray
    precision_low: FloatArray
    precision_high: FloatArray
    lift: FloatArray

    _measures: ClassVar[tuple[str, ...]] = (
        "base_rate",
        "outside",
        "precision",
        "precision_low",
        "precision_high",
        "lift",
    )
    _intervals: ClassVar[tuple[str, ...]] = ("share", "precision")

    def _columns(self, i: int | None) -> list[str]:
        return [*super()._columns(i), "lift" if i is None else f"{self.lift[i]:.2f}"]


@dataclass(frozen=True, eq=False)
class NumberRuleStatistics(RuleStatistics):
    """Statistics of rules for regression: the fields of `RuleStatistics` and these.

    Parameters
    ----------
    mean, mean_low, mean_high : float array
        Mean of the covered numbers, with Student's interval; NaN without covered rows.
    outside : float array
        Mean of the other numbers.
    difference, difference_low, difference_high : float array
        Mean minus mean outside, with Welch's interval.
    """

    mean: FloatArray
    mean_low: FloatArray
    mean_high: FloatArray
    outside: FloatArray
    difference: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray

    _measures: ClassVar[tuple[str, ...]] = (
        "mean",
        "mean_low",
        "mean_high",
        "outside",
        "difference",
        "difference_low",
        "difference_high",
    )
    _intervals: ClassVar[tuple[str, ...]] = ("share", "mean", "difference")
