"""Models as programs of other languages, with the same answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from rulewright.programs.parity import verify
from rulewright.programs.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.programs.parity import ExportReport
    from rulewright.programs.program import Program


class Exports(ABC):
    """What a model can be written as; all of it follows from its program."""

    @property
    @abstractmethod
    def program(self) -> Program:
        """What the model computes for one row; forms cache it."""

    def to_sql(
        self,
        table: str | Sequence[str] = "data",
        dialect: str = "duckdb",
        keep: Sequence[str] = (),
    ) -> str:
        """Write the model as one SQL SELECT of scores, probabilities, the label and flags.

        The answers are those of this model: scores to the bit, missing (NULL, and NaN too) fails
        every condition but ``is missing``. SQLite must be version 3.35 or later; additive models
        need its function ``exp``: some builds lack it, then define one with ``create_function``.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table; a sequence gives a qualified name, such as ("schema", "table").
        dialect : {"duckdb", "postgres", "sqlite"}
            For which database.
        keep : sequence of str
            Columns of the table that are passed through to the result, in front.

        Returns
        -------
        str
            A SELECT with the columns ``score_<class>``, ``probability_<class>``, ``label`` and, of
            a vote, ``abstains``.
        """
        return self.export("sql", table=table, dialect=dialect, keep=keep)

    def to_python(self, function: str = "predict_proba") -> str:
        """Write the model as the source of a Python module without dependencies.

        Parameters
        ----------
        function : str
            Name of the function, which takes a row as a dict from column names to values (missing:
            None, NaN or absent) and returns a dict from class labels to probabilities. Further
            functions, with ``_label`` and, of a vote, ``_abstains`` behind the name, return the
            label and whether the model abstains.
        """
        return self.export("python", function=function)

    def to_javascript(self, function: str = "predict") -> str:
        """Write the model as JavaScript (ES2017) without dependencies.

        Parameters
        ----------
        function : str
            Name of the function, which takes a row as an object from column names to values
            (missing: null, undefined, NaN or absent) and returns an object with ``label``,
            ``classes``, their ``scores`` and ``probabilities`` and, of a vote, ``abstains``.
        """
        return self.export("javascript", function=function)

    def export(self, target: str, **options: Any) -> str:
        """Write the model in a language by its name, with the options of that language."""
        if target not in TARGETS:
            raise ValueError(f"target must be one of {', '.join(TARGETS)}, not {target!r}")
        return TARGETS[target].write(self.program, **options)

    def verify_exports(self, targets: Sequence[str] | None = None) -> ExportReport:
        """Run the exports on adversarial rows and compare them with this model.

        Scores must be equal to the bit, probabilities within 1e-12, labels and flags equal (with
        costs or steps but for classes whose expected costs are within 1e-9 of each other).

        Parameters
        ----------
        targets : sequence of {"duckdb", "sqlite", "python", "javascript"}, optional
            Where to run the exports; when left out everywhere that is installed: JavaScript needs
            the package ``mini-racer``.

        Raises
        ------
        ParityError
            When an answer differs; the message shows the row.
        """
        return verify(self.program, targets)
