"""Tables, targets and their readers: data are checked once, when they are read."""

from typing import TYPE_CHECKING

from rulewright.data.choices import Choices, column_and_word
from rulewright.data.column_schema import ColumnSchema
from rulewright.data.derivation import Derivable, Derivation
from rulewright.data.errors import DataError, DataTypeError, RowError
from rulewright.data.findings import Finding, join_findings
from rulewright.data.kind import KINDS, Kind
from rulewright.data.numbers import MOST_CLASSES, Numbers, read_numbers
from rulewright.data.readers.options import MAX_UNZIPPED_BYTES, FileOptions
from rulewright.data.reading import (
    detect_task,
    open_table,
    read_columns,
    read_like,
    read_table,
    recode,
    unreadable,
)
from rulewright.data.schema import Schema, label_of
from rulewright.data.source import Source
from rulewright.data.table import MISSING_CODE, UNSEEN_CODE, Column, Table
from rulewright.data.target import Target, read_target, read_weights
from rulewright.data.training import RegressionSet, TrainingSet
from rulewright.lazy import lazy_names

if TYPE_CHECKING:
    from rulewright.data.doctor import LEFT_OUT, examine, list_left_out
    from rulewright.data.parts import read_parts

__all__ = [
    "KINDS",
    "LEFT_OUT",
    "MAX_UNZIPPED_BYTES",
    "MISSING_CODE",
    "MOST_CLASSES",
    "UNSEEN_CODE",
    "Choices",
    "Column",
    "ColumnSchema",
    "DataError",
    "DataTypeError",
    "Derivable",
    "Derivation",
    "FileOptions",
    "Finding",
    "Kind",
    "Numbers",
    "RegressionSet",
    "RowError",
    "Schema",
    "Source",
    "Table",
    "Target",
    "TrainingSet",
    "column_and_word",
    "detect_task",
    "examine",
    "join_findings",
    "label_of",
    "list_left_out",
    "open_table",
    "read_columns",
    "read_like",
    "read_numbers",
    "read_parts",
    "read_table",
    "read_target",
    "read_weights",
    "recode",
    "unreadable",
]

_PLACES = {
    "LEFT_OUT": ".doctor",
    "examine": ".doctor",
    "list_left_out": ".doctor",
    "read_parts": ".parts",
}

__getattr__, __dir__ = lazy_names(__name__, _PLACES)
