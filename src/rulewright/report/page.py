"""The page: content put into the template, written whole or not at all."""

from __future__ import annotations

import base64
import glob
import hashlib
import json
import math
import os
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from rulewright import html
from rulewright.data import Finding, optional, replace_file
from rulewright.evidence import format_number, format_percent
from rulewright.governance import Policy, Proofs, group_columns, prove
from rulewright.model import RuleModel, write_count
from rulewright.report.answers import N_ROWS, read_report_rows
from rulewright.report.content import Content, content_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.evidence import Answers
    from rulewright.report.pictures import GraphPictures
    from rulewright.report.rule_lines import RuleLine


def write_report(model: Any, path: str | os.PathLike[str], X: Any = None, **options: Any) -> None:
    """Write a report as one HTML file, whole or not at all; options as in ``report_html``."""
    replace_file(path, report_html(model, X, **options).encode())


def report_html(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    title: str = "",
    origin: str = "",
    fresh: bool = True,
    answers: Answers | None = None,
    n_rows: int = N_ROWS,
    provenance: Mapping[str, str] | None = None,
    findings: Sequence[Finding] | None = None,
    positive: Any = None,
    precisions: Sequence[float] = (),
    by: str | Sequence[str] | Mapping[str, Any] = (),
    policies: Proofs | Policy | Sequence[Policy] = (),
) -> str:
    """Describe a model, how well it predicts, and the data, as one HTML page.

    The page needs no network and no other file.

    Parameters
    ----------
    model : RuleModel, GraphRules or fitted estimator
        The model, of any form. Patterns of molecules are drawn, if RDKit is installed.
    X : table, optional
        Rows to evaluate the model on: anything ``read_table`` reads, `Relations` for a model of
        related tables, graphs or SMILES texts for a model of graphs. Without rows the report has
        only the figures that the learner stored.
    y : array-like or str, optional
        Their target, or the name of its column in X; by default the target that a Table was read
        with.
    sample_weight : array-like or str, optional
        Weights of the rows, or the name of their column in X.
    groups : array-like or str, optional
        Group of each row, such as its customer, or the name of the column in X: intervals count
        groups.
    title : str
        Title of the page; by default it names the target.
    origin : str
        Name of these rows, to be read after "on".
    fresh : bool
        Whether the rows played no part in learning. If they did, rules are not evaluated on them.
    answers : ClassAnswers or NumberAnswers, optional
        Predictions to evaluate instead of the model's own on X, such as out-of-fold ones.
    n_rows : int
        Maximum number of rows of X in the page, as examples and to start the what-if panel from.
        With 0 the page holds no row of the data.
    provenance : mapping of str to str, optional
        Where model and data come from, such as names and hashes of files.
    findings : sequence of Finding, optional
        Data problems to list; by default `examine` finds them in the rows.
    positive : label, optional
        The class of interest, of two, that curves, recall and deciles are about; by default the
        rarer one.
    precisions : sequence of float, optional
        Precisions at which the recall of this class is reported, such as ``precisions=[0.8]``.
    by : str, sequence of str or mapping of str to array-like, optional
        Columns of X whose groups get figures of their own, such as ``by=["region"]``, or values of
        the rows by name. The model need not use them. Numbers with many values are divided at
        their quartiles.
    policies : Policy, sequence of Policy or Proofs, optional
        Policies to prove, or their proofs; see ``rulewright.governance.prove``.

    Returns
    -------
    str
        The page.
    """
    model = getattr(model, "model_", model)
    pictures = None
    if hasattr(model, "patterns"):  # rules over columns of patterns, which are read from graphs
        pictures = _pictures(model, X)
        model, X = model.rules, None if X is None else model.columns(X)
    if not isinstance(model, RuleModel):
        raise ValueError(
            "a report needs a model with rules, or an estimator with such a model, not "
            f"{type(model).__name__}"
        )
    noted = dict(provenance or {})
    if isinstance(X, str | os.PathLike):
        noted |= file_notes("data", X)
        origin = origin or os.path.basename(os.fspath(X))
    table = None if X is None else read_report_rows(model, X, y, sample_weight, groups)
    content = content_of(
        model,
        table,
        title=title,
        origin=origin or "the given rows",
        fresh=fresh,
        answers=answers,
        n_rows=n_rows,
        provenance=noted,
        findings=findings,
        pictures=pictures,
        positive=positive,
        precisions=precisions,
        by=group_columns(X, model, by),
        policies=policies if isinstance(policies, Proofs) else prove(model, policies),
        target=_name_of(y),
    )
    return render_page(content)


def _name_of(y: Any) -> str:
    """Return the name of a column or a series; nothing where it has none."""
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return name if isinstance(name, str) else ""


def _pictures(model: Any, X: Any) -> GraphPictures:
    from rulewright.report.pictures import GraphPictures  # noqa: PLC0415 - which loads learners

    return GraphPictures(model, X)


def file_notes(what: str, path: str | os.PathLike[str]) -> dict[str, str]:
    """Return name and hash of a file, for the provenance; wildcards stand for several files."""
    name, digest = os.fspath(path), hashlib.sha256()
    for one in [name] if os.path.lexists(name) else sorted(glob.glob(name, recursive=True)):
        with open(one, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return {what: os.path.basename(name), f"SHA-256 of the {what}": digest.hexdigest()}


def render_page(content: Content) -> str:
    """Fill the template."""
    jinja = optional("jinja2")  # which few commands need
    environment = jinja.Environment(
        loader=jinja.PackageLoader("rulewright.report"),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": format_number,
        "percent": format_percent,
        "counted": write_count,
    }
    style, script = (_template_file(f"report.{kind}") for kind in ("css", "js"))
    scripts = [part for part in (content.panel.script, script) if part]
    page: str = environment.get_template("report.html.j2").render(
        c=content,
        bar=draw_rule_bar,
        style=html.style_of("bars") + Markup(style),
        scripts=[Markup(part) for part in scripts],
        hashes=[f"'sha256-{_hash(part)}'" for part in scripts],
        data=Markup(_embed_data(page_data(content))),
        scale=bar_scale(content.rules),
    )
    return page


def page_data(content: Content) -> dict[str, Any]:
    """Return what the script of the page needs, as plain data."""
    return {
        "inOrder": content.in_order,
        "order": [line.place for line in content.rules],
        "numbers": content.numbers,
        "classes": list(content.class_names),
        "decides": content.decides,
        "columns": content.panel.columns,
        "rows": content.panel.rows,
        "evidence": list(content.rules[0].evidence) if content.rules else [],
        "rules": {str(line.place): _rule_data(line) for line in content.rules},
    }


def _rule_data(line: RuleLine) -> list[Any]:
    """Return what the table does not show of a rule; few digits, as there may be many rules."""
    learned = line.learned
    return [
        learned.rows,
        [_round(x) for x in (learned.support, learned.value, learned.low, learned.high)],
        [_round(x) for x in line.evidence.values()],
        [(name, _round(weight)) for name, weight in line.counts],
        line.examples,
    ]


def _round(value: float) -> float:
    return float(f"{value:.5g}")


def bar_scale(rules: list[RuleLine]) -> tuple[float, float]:
    """Return the ends of the bars of rules: 0 and 1 of shares, the range of means."""
    if not rules or rules[0].head:
        return 0.0, 1.0
    ends = [v for r in rules for v in (r.shown.value, r.shown.base, r.shown.low, r.shown.high)]
    values = sorted(v for v in ends if math.isfinite(v))
    cut = len(values) // 50  # rules of few rows have intervals that would hide all others
    return (values[cut], values[-1 - cut]) if values else (0.0, 1.0)


def draw_rule_bar(line: RuleLine, scale: tuple[float, float]) -> Markup:
    """Draw the precision or mean of a rule with its interval, and a mark for all rows."""
    shown = line.shown
    if not math.isfinite(shown.value):
        return Markup('<span class="none">no rows</span>')
    ends = (shown.value, shown.low, shown.high, shown.base)
    return html.draw_bar(*ends, scale=scale, point=not line.head)


def _template_file(name: str) -> str:
    return (resources.files("rulewright.report") / "templates" / name).read_text("utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _embed_data(data: object) -> str:
    """Write plain data so that no text in it can end the element that holds it."""
    text = json.dumps(_finite(data), allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
