"""Tables, targets and their readers: data are checked once, when they are read."""

from rulewright.data.choices import Choices, column_and_word
from rulewright.data.doctor import LEFT_OUT, examine, left_out
from rulewright.data.errors import DataError, DataTypeError, RowError
from rulewright.data.findings import Finding, joined
from rulewright.data.kind import KINDS, Kind
from rulewright.data.numbers import MOST_CLASSES, Numbers, read_numbers
from rulewright.data.parts import read_parts
from rulewright.data.readers.options import MAX_UNZIPPED_BYTES, FileOptions
from rulewright.data.reading import (
    detect_task,
    open_table,
    read_like,
    read_table,
    recode,
    unreadable,
)
from rulewright.data.schema import ColumnSchema, Schema, label_of
from rulewright.data.source import Source
from rulewright.data.table import MISSING_CODE, UNSEEN_CODE, Column, Table
from rulewright.data.target import Target, read_target, read_weights
from rulewright.data.training import RegressionSet, TrainingSet

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
    "joined",
    "label_of",
    "left_out",
    "open_table",
    "read_like",
    "read_numbers",
    "read_parts",
    "read_table",
    "read_target",
    "read_weights",
    "recode",
    "unreadable",
]
