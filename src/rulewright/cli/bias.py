"""The file of `learn` that says which rules are generated, and in which order."""

from pathlib import Path
from typing import Any

from rulewright.data import DataError
from rulewright.estimators import LEARNERS
from rulewright.search import BiasError, load_bias


def set_bias(estimator: Any, learner: str, file: Path | None, target: str) -> None:
    """Read a bias and hand it to the estimator; one that was written for another target is refused.

    Parameters
    ----------
    estimator : estimator
        The learner; it must have the parameter `bias`.
    learner : str
        Its name.
    file : Path, optional
        The file; None changes nothing.
    target : str
        The column of the classes.
    """
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
