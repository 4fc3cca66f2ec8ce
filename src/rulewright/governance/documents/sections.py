"""The sections of a hand-over document, filled in from the model and rows."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.evidence import Measure, clopper_pearson, format_percent, measures, name_figure
from rulewright.governance.documents.parts import (
    Block,
    Grid,
    Heading,
    Items,
    Line,
    Place,
    Plain,
    Section,
)
from rulewright.governance.stating import has_reasons
from rulewright.html import escape_line
from rulewright.model import (
    class_shares,
    describe_edits,
    hash_model,
    library_version,
    title_of,
    write_count,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.evidence import Answers
    from rulewright.governance.groups import GroupTable
    from rulewright.governance.proving import Proofs
    from rulewright.model import RuleModel

FEW_ROWS, RARE = 30, 0.05
QUESTIONS = {
    "provider": "who provides the model, and whom to ask about it.",
    "version": "the version of the model, and how it differs from earlier ones.",
    "purpose": "what the model is used for, and which decision it supports.",
    "users": "who uses its answers, and who is affected by them.",
    "out_of_scope": "what it must not be used for.",
    "data_source": "where the data come from, over which period, and how rows were selected.",
    "population": "which people or cases the rows represent, and which they do not.",
    "labels": "how outcomes were determined, and how the data were cleaned.",
    "choices": "why this method, these columns and this size were chosen.",
    "metrics": "why these figures fit the purpose, and which values are acceptable.",
    "fairness": "which groups matter, which differences are acceptable, and why.",
    "policies": "which promises the model must keep, and who required them.",
    "risks": "foreseeable misuse, harm and other risks, and what limits them.",
    "oversight": "who may overrule the model, when, and with what training.",
    "monitoring": "who looks when, what follows an alarm, and when the model is replaced.",
    "approval": "who approved the model for use, and when.",
}
"""What a person must write, by its key in the file of notes."""


@dataclass(frozen=True)
class Known:
    """All that a document is made of."""

    model: RuleModel
    answers: Answers | None
    groups: Sequence[GroupTable]
    proofs: Proofs | None
    notes: Mapping[str, str]
    origin: str
    files: Mapping[str, str]

    def place(self, key: str) -> Place:
        """Return the place of a note."""
        return Place(key, QUESTIONS[key], self.notes.get(key, "").strip())

    def note(self, key: str) -> Any:
        """Return an entry of the summary of the model."""
        return self.model.summary.get(key)


def make_sections(known: Known) -> tuple[Section, ...]:
    """Return all sections."""
    act = "Regulation (EU) 2024/1689"
    listed: list[tuple[str, str, list[Block]]] = [
        ("Model details", "Model card: model details. Annex IV 1(a), 1(c); Article 13(3)(a)",
         _details(known)),
        ("Intended use", "Model card: intended use. Annex IV 1(a); Article 13(3)(b)(i)",
         [known.place(key) for key in ("purpose", "users", "out_of_scope")]),
        ("Data and population", "Model card: training and evaluation data. Annex IV 2(d); "
         "Article 10", _data(known)),
        ("Method", "Annex IV 2(a), 2(b)", _method(known)),
        ("Rules", "Annex IV 2(b); Article 13(3)(b)(iv)", _rules(known)),
        ("Performance", "Model card: metrics. Annex IV 2(g), 3, 4; Article 15",
         _performance(known)),
        ("Figures by group", "Model card: factors, quantitative analyses. Annex IV 2(g), 3; "
         "Articles 10(2)(f) and 13(3)(b)(v)", _groups(known)),
        ("Policies", "Annex IV 2(g), 3", _policies(known)),
        ("Changes by experts", "Annex IV 6", _edits(known)),
        ("Limits and risks", "Model card: caveats. Annex IV 3, 5; Article 9", _limits(known)),
        ("Human oversight", "Annex IV 2(e), 3; Articles 14 and 86", _oversight(known)),
        ("Monitoring plan", "Annex IV 9; Article 72", _monitoring(known)),
        ("Versions and files", "Annex IV 1(c), 2(g); Article 18", _versions(known)),
    ]  # fmt: skip
    return tuple(
        Section(title, provisions.replace("Annex IV", f"{act}, Annex IV", 1), blocks)
        for title, provisions, blocks in listed
    )


def _details(known: Known) -> list[Block]:
    model, target = known.model, known.note("target")
    rows = [
        ("model", title_of(model)),
        ("predicts", _text(target) if isinstance(target, str) else "not noted in the model"),
        ("classes", ", ".join(map(escape_line, model.head_names)) or "none: a number"),
        ("columns used", ", ".join(map(escape_line, model.columns)) or "none"),
        ("learner", _text(known.note("learner") or "not noted in the model")),
    ]
    return [Grid(("", ""), rows, (0, 1)), known.place("provider"), known.place("version")]


def _data(known: Known) -> list[Block]:
    model, shares = known.model, class_shares(known.model)
    rows = [("training rows", _count(known.note("n_rows")))]
    if shares is not None:
        names = map(escape_line, model.head_names)
        listed = (f"{n} {format_percent(p)}" for n, p in zip(names, shares, strict=True))
        rows.append(("classes in the training rows", ", ".join(listed)))
    if known.answers is not None:
        rows.append(("evaluation rows", f"{len(known.answers.weights):,} ({known.origin})"))
    return [
        Grid(("", ""), rows, (0, 1)),
        Grid(("column", "kind", "values in training", "missing in training", "used by rules"),
             [_column(known, name) for name in model.schema.names], (0, 1, 2, 3, 4)),
        *(known.place(key) for key in ("data_source", "population", "labels")),
    ]  # fmt: skip


def _column(known: Known, name: str) -> tuple[str, ...]:
    model = known.model
    schema, used = model.schema[name], name in model.columns
    training = known.note("training")
    training = training if isinstance(training, dict) else {}
    ends, gaps = training.get("whole"), training.get("missing")
    values = "not noted"
    if schema.labels:
        shown = ", ".join(map(_text, schema.labels[:8]))
        values = f"{shown}{', ...' if len(schema.labels) > 8 else ''}"
    elif isinstance(ends, dict) and isinstance(ends.get(name), list):
        values = " to ".join(f"{end:,g}" for end in ends[name])
    missing = "not noted"
    if used and isinstance(gaps, list):
        missing = "yes" if name in gaps else "no"
    return _text(name), schema.kind, values, missing, "yes" if used else "no"


def _method(known: Known) -> list[Block]:
    blocks: list[Block] = []
    for key, title in (("settings", "Settings"), ("constraints", "Constraints")):
        found = known.note(key)
        if isinstance(found, dict) and found:
            rows = [(_text(name), _text(value)) for name, value in found.items()]
            blocks += [Heading(title), Grid(("", ""), rows, (0, 1))]
    stopped = known.note("stopped_by")
    if stopped is not None:
        blocks.append(Line(f"Learning was stopped by {_text(stopped)}."))
    return [*blocks, known.place("choices")]


def _rules(known: Known) -> list[Block]:
    told = "These rules are the whole model: predictions use nothing else."
    return [Line(told), Plain("\n".join(map(escape_line, str(known.model).split("\n"))))]


def _performance(known: Known) -> list[Block]:
    origin, found = known.origin, [] if known.answers is None else measures(known.answers)
    if not found:
        origin, found = _stored(known)
    if not found:
        return [Line("No figures are known: no rows were given, and the model has none."),
                known.place("metrics")]  # fmt: skip
    rows = [
        (_text(one.name), one.text(one.value), f"{one.text(one.low)} to {one.text(one.high)}",
         one.text(one.baseline), one.meaning)
        for one in found
    ]  # fmt: skip
    titles = ("figure", "value", "95 % interval", "baseline", "meaning")
    told = f"Measured on {origin}. The baseline answers without looking at the columns."
    return [Line(told), Grid(titles, rows, (0, 4)), known.place("metrics")]


def _stored(known: Known) -> tuple[str, list[Measure]]:
    """Read the figures that the model keeps; a file may hold anything."""
    try:
        noted, n = known.note("validation"), len(known.model.head_names)
        positive = str(noted.get("positive", ""))
        found = []
        for key, one in noted["figures"].items():
            parts = ("value", "low", "high", "baseline")
            value, low, high, base = (math.nan if one[x] is None else float(one[x]) for x in parts)
            found.append(Measure(name_figure(key, n, positive), value, low, high, base, "", ""))
        return str(noted["rows"]), found
    except (TypeError, ValueError, KeyError, AttributeError):
        return "", []


def _groups(known: Known) -> list[Block]:
    blocks: list[Block] = []
    for table in known.groups:
        rows = [
            (f"{_text(line.name)}{' (few rows)' * line.is_small}", f"{line.n_rows:,}",
             *(line.write(title) for title in table.titles))
            for line in table.groups
        ]  # fmt: skip
        blocks += [Heading(f"By {table.column}"), Grid((table.column, "rows", *table.titles), rows)]
        blocks += [Items([*map(str, table.gaps), table.text])]
    if blocks:
        blocks.insert(0, Line(
            f"Measured on {known.origin}, with 95 % intervals in brackets. Intervals of "
            "differences and ratios hold for all pairs of groups of a column together."
        ))  # fmt: skip
    else:
        blocks = [Line("No groups were compared: name their columns, and give rows.")]
    return [*blocks, known.place("fairness")]


def _policies(known: Known) -> list[Block]:
    if known.proofs is None:
        return [Line("No policies were given."), known.place("policies")]
    rows = [(_text(one.policy.title), one.state, one.finding) for one in known.proofs.proofs]
    told = (
        "Proved means: it holds for every row that can occur, not only for rows in data. "
        "Certificates can be checked without rulewright."
    )
    return [Line(told), Grid(("policy", "state", ""), rows, (0, 1, 2)), known.place("policies")]


def _edits(known: Known) -> list[Block]:
    lines = describe_edits(known.model)
    return [Items(lines) if lines else Line("The rules are as they were learned.")]


def _limits(known: Known) -> list[Block]:
    model, found = known.model, []
    few = [n for n, rule in zip(model.numbers, model.rules, strict=True)
           if rule.coverage.support < FEW_ROWS]  # fmt: skip
    if few:
        listed = ", ".join(map(str, sorted(few)))
        found.append(f"Rules with fewer than {FEW_ROWS} training rows: {listed}.")
    shares = class_shares(model)
    for name, share in zip(model.head_names if shares else (), shares or (), strict=True):
        if share < RARE:
            found.append(f"Only {format_percent(share)} of the training rows are {_text(name)}.")
    found += [
        f"Group {_text(line.name)} of {table.column} has few rows: its figures are uncertain."
        for table in known.groups
        for line in table.groups
        if line.is_small
    ]
    for proof in known.proofs.proofs if known.proofs else ():
        if proof.state != "proved":
            found.append(f"The policy {_text(proof.policy.title)} is {proof.state}.")
    found += [
        "A condition on a missing value is not true, unless the rule tests for missing values.",
        "Labels that training rows did not have are treated as no known label.",
        "Beyond the values in training, predictions stay those of the outermost condition.",
        "Rules describe association in the training data, not causes.",
    ]
    return [Items(found), known.place("risks")]


def _oversight(known: Known) -> list[Block]:
    found = ["Every prediction can be explained by the rules that apply (rulewright explain)."]
    if has_reasons(known.model):
        found.append("Reasons of single decisions state what kept a row from another outcome "
                     "(rulewright predict --reasons).")  # fmt: skip
    found += [f"The model flags rows: {_text(name)}." for name in known.model.program.flags]
    return [Items(found), known.place("oversight")]


def _monitoring(known: Known) -> list[Block]:
    model, total = known.model, known.note("total_weight")
    found = [
        f"Counted in each period: scores, {write_count(len(model.columns), 'column')} and "
        f"{write_count(len(model.rules), 'rule')} (rulewright monitor, or one SQL query).",
        "Alarms of rules: at most 5 % of models without a change ever have one.",
        "Rule of thumb: a population stability index above 0.1 is worth a look, above 0.25 large.",
    ]
    blocks: list[Block] = [Items(found)]
    if isinstance(total, int | float) and total > 0:
        rows = [_expected(model, i, float(total)) for i in np.argsort(model.numbers).tolist()]
        titles = ("rule", "coverage in training", "95 % interval", "precision, 95 % interval")
        blocks += [Heading("Expected of each rule"), Grid(titles, rows)]
    return [*blocks, known.place("monitoring")]


def _expected(model: RuleModel, i: int, total: float) -> tuple[str, ...]:
    rule = model.rules[i]
    support = min(rule.coverage.support, total)
    low, high = clopper_pearson(support, total)
    ends = rule.share_interval if model.head_names else None
    share = "" if ends is None or not np.isfinite(ends).all() else _range(*ends)
    return str(model.numbers[i]), format_percent(support / total), _range(low, high), share


def _range(low: Any, high: Any) -> str:
    return f"{format_percent(float(low))} to {format_percent(float(high))}"


def _versions(known: Known) -> list[Block]:
    rows = [
        ("SHA-256 of the model without its edit log", hash_model(known.model)),
        *((_text(name), _text(value)) for name, value in known.files.items()),
        ("rulewright", library_version()),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("document made", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
    ]
    return [Grid(("", ""), rows, (0, 1)), known.place("approval")]


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_text(name)}: {_text(one)}" for name, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return escape_line(str(value))


def _count(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "not noted in the model"
