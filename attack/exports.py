"""Run every export of random models on adversarial rows and compare it with the model."""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import math
import sqlite3
from typing import TYPE_CHECKING, Any

import numpy as np

from attack import fits, postgres, randoms
from attack.attempts import Note, Outcome, told
from attack.randoms import chance, pick
from rulewright.data import DataError
from rulewright.model import ClassModel
from rulewright.programs.parity import adversarial_rows
from rulewright.programs.sql import write_sql
from rulewright.programs.sql_words import quoted_name
from rulewright.programs.target import Answer, CannotRunError, Runner
from rulewright.programs.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from attack.randoms import Rng
    from rulewright.model import RuleModel

_MODELS = 3
_SPELLED_ROWS = 40
_SQLITE_OWN = ("rowid", "oid", "_rowid_")  # every table has these
_SPELLINGS: tuple[Any, ...] = (
    *(None, math.nan, True, False, 0, 1, 1.0, 2, -1, 0.5, 7, 7.0, 34, 2**40, 1e300, math.inf),
    *("", " ", "0", "1", "1.0", "01", " 1", "1 ", "+1", "1e0", ".5", "5.", "7", "7.0", "0x1"),
    *("True", "true", "TRUE", "t", "yes", "False", "false", "inf", "-inf", "infinity", "nan"),
    *("NaN", "NA", "?", "null", "1_50", "1,5", "1e400", "٣", "\u00a01", "1\n", "a", "A", "it's"),
)
"""Values as tables of other tools spell them."""


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Compare the exports of a few models, made or learned."""
    for _ in range(_MODELS):
        model = randoms.model(rng) if chance(rng, 0.75) else _learned(rng)
        rows = adversarial_rows(model.program, int(rng.integers(2**31)))
        for name, run, write in _runners():
            yield compared(model, rows, name, run, write)
        yield _lacking(rng, model)
        for name, answer in (("python", _python(model)), ("javascript", _javascript(model))):
            if answer is not None:
                yield from _spelled(rng, model, name, answer)


def compared(model: RuleModel, rows: Any, name: str, run: Runner, write: Any) -> Outcome:
    """Run one export on rows: the answers of the model, or a ValueError that tells a limit."""
    try:
        answers, _ = run(write, model.program, rows)
    except CannotRunError as error:
        return Note(str(error))
    except ValueError:
        return None
    except Exception as error:
        return f"{name}: {told(error)}"
    found = _difference(model, rows, answers)
    return found and f"{name} {found}; the model: {model!r}, columns {model.columns}"


def _difference(model: RuleModel, rows: Any, answers: list[Answer]) -> str | None:
    """Find the first row on which an export does not say what the model says."""
    scores = model.scores(rows)
    if not isinstance(model, ClassModel):
        wrong = [i for i, answer in enumerate(answers) if answer.scores[0] != scores[i]]
        return f"gives {answers[wrong[0]]} and not {scores[wrong[0]]}" if wrong else None
    chances, chosen = model.probabilities(scores), model.decide(scores)
    costs, flags = model.expected_costs(scores), model.flags(scores)
    if len(answers) != len(scores):
        return f"answers {len(answers)} rows of {len(scores)}"
    place = {label: k for k, label in enumerate(model.classes.tolist())}
    for i, answer in enumerate(answers):
        k = place.get(answer.label, -1)
        tied = model.program.costs is not None and k >= 0
        tied = tied and costs[i, k] - costs[i, chosen[i]] <= 1e-9 * max(1.0, costs[i].max())
        slack = 0.0 if model.program.exact else 1e-12
        if not np.allclose(answer.scores, scores[i], rtol=0, atol=slack):
            what = f"scores {answer.scores} and not {scores[i]}"
        elif not np.allclose(answer.probabilities, chances[i], rtol=0, atol=1e-12):
            what = f"probabilities {answer.probabilities} and not {chances[i]}"
        elif k != chosen[i] and not tied:
            what = f"label {answer.label!r} and not {model.classes[chosen[i]]!r}"
        elif [bool(flag) for flag in answer.flags] != [bool(said[i]) for said in flags.values()]:
            what = f"flags {answer.flags}"
        else:
            continue
        return f"gives {what} on { ({name: values[i] for name, values in rows.items()})!r:.300}"
    return None


def _lacking(rng: Rng, model: RuleModel) -> Outcome:
    """Run SQL on a table that lacks a column: an error, as SQLite takes unknown names for text."""
    if not model.columns:
        return None
    absent = pick(rng, model.columns)
    if absent.lower() in _SQLITE_OWN:
        return None
    columns = [quoted_name(name) for name in model.columns if name != absent] or ["other"]
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.create_function("exp", 1, math.exp, deterministic=True)
        connection.execute(f"CREATE TABLE data ({', '.join(columns)})")
        connection.execute(f"INSERT INTO data VALUES ({', '.join('NULL' for _ in columns)})")
        try:
            connection.execute(model.to_sql(dialect="sqlite")).fetchall()
        except (sqlite3.Error, ValueError):
            return None
    return f"sqlite answers though the table lacks {absent!r} of {model.columns}"


def _learned(rng: Rng) -> RuleModel:
    X, y = fits.rows(rng, 60, int(rng.integers(2, 4)))
    with fits.quiet():
        model: RuleModel = fits.learner(rng, pick(rng, fits.LEARNERS)).fit(X, y).model_
    return model


def _runners() -> Iterator[tuple[str, Runner, Any]]:
    for target in TARGETS.values():
        for name, run in target.runners.items():
            yield name, run, target.write
    yield "postgres", postgres.run, write_sql


def _spelled(
    rng: Rng, model: RuleModel, name: str, answer: Callable[[dict[str, Any]], list[float] | None]
) -> Iterator[Outcome]:
    """Feed the same odd values to the model and its export: all must read them alike."""
    if not model.columns:
        return
    for _ in range(_SPELLED_ROWS):
        row = {column: pick(rng, _SPELLINGS) for column in model.columns}
        right, found = _model_answer(model, row), answer(row)
        same = right is found is None or (
            right is not None
            and found is not None
            and np.allclose(right, found, rtol=0, atol=1e-12, equal_nan=True)
        )
        kinds = {column: model.schema[column].label_type for column in model.columns}
        yield None if same else f"{name} answers {found} and not {right} on {row}, types {kinds}"


def _model_answer(model: RuleModel, row: dict[str, Any]) -> list[float] | None:
    """Return the probabilities of one row, None where the model refuses a value."""
    table = {name: [row[name]] for name in row}
    try:
        if not isinstance(model, ClassModel):
            return [float(model.predict(table)[0])]
        chances: list[float] = model.predict_proba(table)[0].tolist()
    except DataError:
        return None
    return chances


def _python(model: RuleModel) -> Callable[[dict[str, Any]], list[float] | None] | None:
    space: dict[str, Any] = {}
    exec(compile(model.to_python(), "export", "exec"), space)

    def answer(row: dict[str, Any]) -> list[float] | None:
        try:
            if not isinstance(model, ClassModel):
                return [space["predict"](row)]
            return list(space["predict_proba"](row).values())
        except (ValueError, TypeError, OverflowError):
            return None

    return answer


def _javascript(model: RuleModel) -> Callable[[dict[str, Any]], list[float] | None] | None:
    engine = _engine()
    if engine is None:
        return None
    racer, refused = engine
    try:
        source = model.to_javascript("predict")
    except ValueError:  # a label that no number of JavaScript holds
        return None
    racer.eval(f"globalThis.predict = (() => {{ {source}; return predict; }})()")

    of_classes = isinstance(model, ClassModel)
    said = "predict({}).probabilities" if of_classes else "[predict({}).prediction]"

    def answer(row: dict[str, Any]) -> list[float] | None:
        # computed names: "__proto__": would set the prototype
        text = "{" + ", ".join(f"[{json.dumps(k)}]: {_js(v)}" for k, v in row.items()) + "}"
        try:
            found: list[float] = json.loads(racer.eval(f"JSON.stringify({said.format(text)})"))
        except refused:
            return None
        return found

    return answer


def _js(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Infinity"
    return json.dumps(value)


@functools.cache
def _engine() -> tuple[Any, type[Exception]] | None:
    try:
        package = importlib.import_module("py_mini_racer")
    except ImportError:
        return None
    return package.MiniRacer(), package.JSEvalException
