"""Tables, targets and their readers: any data in, checked once, then frozen."""

from rulewright.data.errors import DataError, DataTypeError
from rulewright.data.reading import read_like, read_table
from rulewright.data.schema import ColumnSchema, Kind, LabelType, Schema, label_of
from rulewright.data.table import MISSING_CODE, UNSEEN_CODE, Column, Table
from rulewright.data.target import Target, read_target, read_weights
from rulewright.data.training import TrainingSet

__all__ = [
    "MISSING_CODE",
    "UNSEEN_CODE",
    "Column",
    "ColumnSchema",
    "DataError",
    "DataTypeError",
    "Kind",
    "LabelType",
    "Schema",
    "Table",
    "Target",
    "TrainingSet",
    "label_of",
    "read_like",
    "read_table",
    "read_target",
    "read_weights",
]
