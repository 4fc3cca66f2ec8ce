"""The bytes and the text of a file, gzipped or not."""

import codecs
import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

from rulewright.data.errors import DataError

_HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class OpenedFile:
    """A file of which the first bytes were read."""

    path: Path
    head: bytes  # unzipped
    zipped: bool

    def __str__(self) -> str:
        return str(self.path)

    @property
    def whole(self) -> bool:
        """Whether `head` is the whole file."""
        return len(self.head) < _HEAD_BYTES

    def text_head(self) -> str:
        """Return the first characters, or raise an error if the file is empty or not text."""
        if self.head.startswith(b"PAR1"):
            raise DataError(f"{self}: this is a Parquet file. Rename it to end in .parquet.")
        if self.head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise self._not_utf8("it is UTF-16")
        if b"\0" in self.head:
            raise DataError(f"{self}: this is a binary file, not text. Check its format.")
        try:
            decoder = codecs.getincrementaldecoder("utf-8-sig")()
            text = decoder.decode(self.head, final=self.whole)
        except UnicodeDecodeError as error:
            raise self._not_utf8(str(error)) from None
        if not text.strip():
            raise DataError(f"{self}: the file is empty.")
        return text

    def text(self) -> str:
        """Return all characters."""
        self.text_head()
        try:
            content = self.path.read_bytes()
            return (gzip.decompress(content) if self.zipped else content).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise self._not_utf8(str(error)) from None
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{self}: the file cannot be read ({error}).") from None

    def _not_utf8(self, reason: str) -> DataError:
        return DataError(
            f"{self}: the file is not UTF-8 text ({reason}). Convert it, for example with "
            "'iconv -f latin1 -t utf-8'."
        )


def open_file(path: Path) -> OpenedFile:
    """Read the first bytes of a file."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
        # by content: a wrong or absent .gz is no reason to fail
        if not head.startswith(b"\x1f\x8b"):
            return OpenedFile(path, head, False)
        with gzip.open(path) as unzipped:
            return OpenedFile(path, unzipped.read(_HEAD_BYTES), True)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"{path}: the file cannot be read ({error}). Check the path.") from None
