"""Models as programs of other languages, with the same answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from rulewright.model.rule_table import rule_parts
from rulewright.model.text import strongest
from rulewright.programs import RuleNote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.model.rule_model import RuleModel
    from rulewright.programs import ExportReport, Program


class Exports(ABC):
    """Exports of models, all written from their programs."""

    @property
    @abstractmethod
    def program(self) -> Program:
        """What the model computes for one row; forms cache it."""

    @property
    def commented_program(self) -> Program:
        """The program with the rules as the text of the model shows them, for comments."""
        return replace(self.program, notes=_note_rules(cast("RuleModel", self)))

    def to_sql(
        self,
        table: str | Sequence[str] = "data",
        dialect: str = "duckdb",
        keep: Sequence[str] = (),
    ) -> str:
        """Write the model as one SQL SELECT of scores, probabilities, the label and flags.

        The first step of the statement checks the columns, the next ones are the model: each rule
        stands below a comment with its number in the printed model, its points and its condition.

        In DuckDB, PostgreSQL and SQLite the export predicts as this model does: scores to the bit,
        missing (NULL, and NaN too) fails every condition but ``is missing``. Columns are read as
        this model reads the same values; anything else is an error that names the column:

        - Numeric columns must hold finite numbers and be of a numeric type (in DuckDB also
          Booleans); text that holds numbers must be cast first, and so in SQLite must an empty
          string, which a text import leaves for a missing value.
        - Labels that are text may be text, integers or, but for SQLite, Booleans; an empty string
          is a label, not missing. Labels that are numbers must be of a numeric type, Booleans may
          also be 1, 0 and text such as ``True``.
        - A column that the table lacks is an error (in SQLite but for ``rowid`` and its synonyms,
          which every table has).

        The SQL for Snowflake, BigQuery, SQL Server and Spark is never run in tests. Its syntax is
        checked with the parser sqlglot, and a translation of it is run in DuckDB. A comment at its
        head says what the columns must hold and how exact the answers are.

        SQLite must be version 3.35 or later with its JSON functions; additive models need its
        function ``exp``: some builds lack it, then define one with ``create_function``.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table; a sequence gives a qualified name, such as ("schema", "table").
        dialect : {"duckdb", "postgres", "sqlite", "snowflake", "bigquery", "sqlserver", "spark"}
            For which database; "spark" also serves Databricks.
        keep : sequence of str
            Columns of the table that are passed through to the result, in front.

        Returns
        -------
        str
            A SELECT with the columns ``score_<class>``, ``probability_<class>``, ``label`` and, of
            a vote, ``abstains``; of regression rules ``prediction``.
        """
        text: str = self.export("sql", table=table, dialect=dialect, keep=keep)
        return text

    def to_python(self, function: str | None = None) -> str:
        """Write the model as the source of a Python module without dependencies.

        One function reads and checks the columns, another one is the rules, each below a comment
        with its number in the printed model, its points and its condition.

        Parameters
        ----------
        function : str, optional
            Name of the function, which takes a row as a dict from column names to values (missing:
            None, NaN or absent) and returns a dict from class labels to probabilities (by default
            ``predict_proba``), or the number (``predict``). Values are
            read as this model reads them; others raise a ValueError that names the column. Further
            functions, with ``_label`` and, of a vote, ``_abstains`` behind the name, return the
            label and whether the model abstains.
        """
        text: str = self.export("python", function=function)
        return text

    def to_javascript(self, function: str = "predict") -> str:
        """Write the model as JavaScript (ES2017) without dependencies.

        One function reads and checks the columns, another one is the rules, each below a comment
        with its number in the printed model, its points and its condition.

        Parameters
        ----------
        function : str
            Name of the function, which takes a row as an object from column names to values
            (missing: null, undefined, NaN or absent) and returns an object with ``label``,
            ``classes``, their ``scores`` and ``probabilities`` and, of a vote, ``abstains``; of
            regression rules with ``prediction``. Values
            are read as this model reads them; others throw a TypeError that names the column.
        """
        text: str = self.export("javascript", function=function)
        return text

    def to_onnx(self) -> bytes:
        """Write the model as the content of an ONNX file, of plain operations in double precision.

        Every column that the rules use is an input of the shape (rows, 1) under its name: doubles
        with NaN for missing (of dates milliseconds since 1970), or text with the empty text for
        missing. Numbers and Booleans as labels are text too, as the model writes them: 1, 2.5,
        true. The outputs are ``scores``, ``probabilities``, ``label`` and, for a vote,
        ``abstains``; regression rules have ``prediction``. Scores equal this model's scores to the
        bit; only the scores of averages may differ by 1e-12 (``verify_exports(["onnx"])``).

        It needs the package onnx (``pip install rulewright[onnx]``), and runs wherever operator
        sets 18 and ai.onnx.ml 3 do. Columns that are named like an output, and the empty text as
        a label, are errors.
        """
        content: bytes = self.export("onnx")
        return content

    def export(self, target: str, **options: Any) -> Any:
        """Write the model in a language by its name, with its options: text, of ONNX bytes."""
        from rulewright.programs import TARGETS  # noqa: PLC0415 - brings all languages

        if target not in TARGETS:
            raise ValueError(f"target must be one of {', '.join(TARGETS)}, not {target!r}")
        return TARGETS[target].write(self.commented_program, **options)

    def verify_exports(self, targets: Sequence[str] | None = None) -> ExportReport:
        """Run the exports on adversarial rows and compare them with this model.

        Scores must be equal to the bit, probabilities within 1e-12, labels and flags equal (with
        costs or steps but for classes whose expected costs are within 1e-9 of each other).

        Parameters
        ----------
        targets : sequence of {"duckdb", "sqlite", "python", "javascript", "onnx"}, optional
            Where to run the exports; when left out everywhere that is installed but ONNX:
            JavaScript needs the package ``mini-racer``, ONNX ``onnx`` and ``onnxruntime``.
            "snowflake", "bigquery", "sqlserver" and "spark" are not run: their SQL is parsed by
            the package ``sqlglot``, and its translation to DuckDB is run. That is a check of the
            syntax, and the report says so.

        Raises
        ------
        ParityError
            When an answer differs; the message shows the row.
        """
        from rulewright.programs import verify  # noqa: PLC0415 - brings all languages

        return verify(self.commented_program, targets)


def _note_rules(model: RuleModel) -> tuple[RuleNote, ...]:
    """Describe each rule: its printed number, what it adds, and its conditions."""
    notes, names = [], model.shown_names
    for number, i in enumerate(strongest(model, None), start=1):
        rule = model.rules[i]
        head = f" for {rule.head.text(names)}" if names and not model.decides else ""
        does = f"{model.effect_title} {model.effect(rule)}{head}"
        notes.append(RuleNote(number, f"{does}: {' '.join(rule_parts(model, rule))}", rule.body))
    return tuple(notes)
