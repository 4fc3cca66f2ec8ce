"""Dataframes of pandas, polars or pyarrow from plain columns and label columns."""

from collections.abc import Callable, Mapping
from importlib import util
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rulewright.data.late_imports import optional
from rulewright.data.schema import label_of

BACKENDS = ("pandas", "polars", "pyarrow")


class LabelColumn(NamedTuple):
    """A column of labels, as codes with -1 for missing."""

    codes: NDArray[np.integer]
    labels: tuple[Any, ...]
    ordered: bool = False


def to_frame(
    columns: Mapping[str, Any],
    backend: str | None = None,
    *,
    instead: str = "rules_table(), which is a dict of columns",
) -> Any:
    """
    Create a dataframe with the requested library, or the first installed one.

    Parameters
    ----------
    columns : mapping of str to list, array or LabelColumn
        The columns; NaN, NaT and None are missing values.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library.
    instead : str
        The alternative without any of these libraries.
    """
    if backend is not None and backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
    wanted = BACKENDS if backend is None else (backend,)
    found = next((name for name in wanted if util.find_spec(name) is not None), None)
    if found is None:
        raise ImportError(
            f"a dataframe needs {' or '.join(wanted)}: install one of them with "
            f"'pip install {wanted[0]}', or use {instead}"
        )
    made, library = _MAKERS[found], optional(found)
    native = {name: made(library, values) for name, values in columns.items()}
    return optional("narwhals").from_dict(native, backend=found).to_native()


def _pandas(pd: Any, values: Any) -> Any:
    if isinstance(values, LabelColumn):
        return pd.Categorical.from_codes(values.codes, values.labels, ordered=values.ordered)
    return pd.array(values, dtype="boolean") if _incomplete_booleans(values) else values


def _polars(pl: Any, values: Any) -> Any:
    if isinstance(values, LabelColumn):
        texts = list(map(label_of, values.labels))  # only text can be declared
        codes = pl.Series(values.codes.tolist(), dtype=pl.Int64).replace(-1, None)
        dtype = pl.Enum(texts) if values.ordered else pl.Categorical  # an Enum has an order
        return pl.Series(texts, dtype=dtype).gather(codes)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return pl.Series(values, nan_to_null=True)
    return values.tolist() if _incomplete_booleans(values) else values


def _pyarrow(pa: Any, values: Any) -> Any:
    if isinstance(values, LabelColumn):
        codes = pa.array(values.codes, mask=values.codes < 0)
        # Numbers would be read back as numbers; only text is always a label.
        labels = pa.array(list(map(label_of, values.labels)))
        return pa.DictionaryArray.from_arrays(codes, labels, ordered=values.ordered)
    return pa.array(values, from_pandas=isinstance(values, np.ndarray))


def _incomplete_booleans(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.dtype.kind == "O"


_MAKERS: dict[str, Callable[[Any, Any], Any]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
}
