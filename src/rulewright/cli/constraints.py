"""Options of `learn` that constrain the rules, and the bias file of RUMBLE."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from rulewright.cli.options import split_at_commas
from rulewright.data import DataError
from rulewright.estimators import LEARNERS
from rulewright.search import BiasError, ConstraintError, Constraints, load_bias

Texts: TypeAlias = list[str] | None

_MONOTONE = "Higher values only raise (+) or only lower (-) the prediction."


def _option(metavar: str, text: str) -> Any:
    panel = "Constraints on the rules (may be repeated)"
    return typer.Option(metavar=metavar, help=text, rich_help_panel=panel)


_DIRECTIONS = {"+": "increasing", "-": "decreasing"}
_OPTIONS = {
    "monotone": "--monotone",
    "forbidden": "--forbid",
    "required": "--require",
    "operators": "--operators",
    "groups": "--together",
    "digits": "--digits",
}


@dataclass(frozen=True)
class ConstraintOptions:
    """Constraints on the rules, as text."""

    monotone: Annotated[Texts, _option("COL=+|-", _MONOTONE)] = None
    forbid: Annotated[Texts, _option("COL", "No rule may use this column.")] = None
    require: Annotated[Texts, _option("COL", "Every rule must use this column.")] = None
    operators: Annotated[
        Texts, _option("COL=OP,OP", "Allowed operators, as in 'age=<=,is missing'.")
    ] = None
    together: Annotated[Texts, _option("COL,COL", "Columns that may occur in the same rule.")] = (
        None
    )
    digits: Annotated[Texts, _option("N|COL=N", "Significant digits of thresholds.")] = None
    bias: Annotated[
        Path | None,
        _option("FILE", "Rules to generate, in prior order: a TOML file, for rumble."),
    ] = None

    def parse(self) -> Constraints:
        """Parse the options, except the bias file."""
        with errors_by_option():
            allowed = _by_column("operators", self.operators, "'age=<=,>='", str.partition)
            return Constraints(
                monotone={
                    name: _DIRECTIONS.get(word, word)
                    for name, word in _by_column("monotone", self.monotone, "income=+").items()
                },
                forbidden=self.forbid or (),
                required=self.require or (),
                operators={name: split_at_commas(texts) for name, texts in allowed.items()},
                groups=[split_at_commas(group) for group in self.together or ()],
                digits=_read_digits(self.digits or ()),
            )


@contextmanager
def errors_by_option() -> Iterator[None]:
    """Name the option instead of the field in errors about constraints."""
    try:
        yield
    except ConstraintError as error:
        option = _OPTIONS.get(error.field, error.field)
        raise DataError(f"{option}: {error.reason}") from None


def _by_column(
    field: str,
    texts: Sequence[str] | None,
    example: str,
    split: Callable[[str, str], tuple[str, str, str]] = str.rpartition,
) -> dict[str, str]:
    """Split texts of the form ``column=value``; each column may appear once."""
    values: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in split(text, "="))
        if not (name and equals and value):
            raise ConstraintError(
                field, f"{text!r} must have the form column=value, such as {example}"
            )
        if name in values:
            raise ConstraintError(field, f"column {name!r} is given twice; give it once")
        values[name] = value
    return values


def _read_digits(texts: Sequence[str]) -> int | Mapping[str, int] | None:
    if len(texts) == 1 and "=" not in texts[0]:
        return _whole(texts[0])
    if any("=" not in text for text in texts):
        raise ConstraintError(
            "digits", "give one number for all columns, or column=number for some"
        )
    by_column = _by_column("digits", texts, "income=2")
    return {name: _whole(number) for name, number in by_column.items()} or None


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConstraintError("digits", f"{text!r} must be a whole number, such as 2") from None


def set_bias(estimator: Any, learner: str, file: Path | None, target: str) -> None:
    """Read a bias file and pass it to the estimator; refuse a bias with another target."""
    if file is None:
        return
    if "bias" not in estimator.get_params():
        able = " and ".join(LEARNERS.with_parameter("bias"))
        raise ValueError(f"--learner {learner} takes no --bias; {able} does.")
    try:
        bias = load_bias(file)
    except BiasError as error:
        raise DataError(f"--{error}") from None
    if bias.target is not None and bias.target.column != target:
        raise DataError(
            f"--bias: {file}: its target is {bias.target.column!r}, but --target is {target!r}"
        )
    estimator.set_params(bias=bias)
