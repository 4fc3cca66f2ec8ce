"""What a person says of a file before it is read."""

import codecs
from dataclasses import dataclass

from rulewright.data.errors import DataError

MAX_UNZIPPED_BYTES = 1 << 32
"""The size to which a zipped file may expand, unless another limit is given: 4 GiB."""


@dataclass(frozen=True)
class FileOptions:
    """How a file is opened."""

    max_unzipped_bytes: int = MAX_UNZIPPED_BYTES
    encoding: str | None = None  # of text; by default UTF-8, or UTF-16 where a mark says so
    header: bool | None = None  # whether the first line of a delimited file names the columns
    skip_bad_rows: bool = False  # whether rows that cannot be read are left out and told
    streamed: bool = False  # whether the rows are read in parts, because they may not fit in memory

    def __post_init__(self) -> None:
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            raise DataError(
                f"encoding={self.encoding!r}: unknown. Known are utf-8, latin-1, cp1252, utf-16 "
                "and the others of Python."
            ) from None


DEFAULT_OPTIONS = FileOptions()
