"""The bytes and the text of a file, gzipped or not."""

import codecs
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rulewright.data.errors import DataError
from rulewright.data.readers.unzipping import unzipped

MAX_UNZIPPED_BYTES = 1 << 32
"""The size to which a gzipped file may expand, unless another limit is given: 4 GiB."""

_HEAD_BYTES = 1 << 16
_HEAD_LINES = 4  # a head with fewer lines is extended, so that it holds a long header
_LONGEST_HEAD = 1 << 24


@dataclass(frozen=True)
class OpenedFile:
    """A file of which the first bytes were read."""

    path: Path
    head: bytes  # unzipped
    zipped: bool
    whole: bool  # whether `head` is the whole file
    max_unzipped_bytes: int = MAX_UNZIPPED_BYTES

    def __str__(self) -> str:
        return str(self.path)

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
            return b"".join(self._content()).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise self._not_utf8(str(error)) from None

    @contextmanager
    def unzipped_path(self) -> Iterator[Path]:
        """Give the path of the plain file, which is a temporary one if the file is gzipped."""
        if not self.zipped:
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="rulewright-") as folder:
            path = Path(folder) / "unzipped"
            try:
                with path.open("wb") as stream:
                    stream.writelines(self._content())
            except OSError as error:
                raise DataError(
                    f"{self}: the file cannot be unzipped into {folder} ({error.strerror}). "
                    "Unzip it, or set TMPDIR to a folder with more space."
                ) from None
            yield path

    def _content(self) -> Iterator[bytes]:
        try:
            if self.zipped:
                yield from unzipped(self.path, self.max_unzipped_bytes)
            else:
                yield self.path.read_bytes()
        except OSError as error:
            raise DataError(f"{self}: the file cannot be read ({error}).") from None

    def _not_utf8(self, reason: str) -> DataError:
        return DataError(
            f"{self}: the file is not UTF-8 text ({reason}). Convert it, for example with "
            "'iconv -f latin1 -t utf-8'."
        )


def open_file(path: Path, max_unzipped_bytes: int = MAX_UNZIPPED_BYTES) -> OpenedFile:
    """Read the first bytes of a file."""
    try:
        _refuse_special(path)
        head, whole = _head(_plain_chunks(path))
        # by content: a wrong or absent .gz is no reason to fail
        zipped = head.startswith(b"\x1f\x8b")
        if zipped:
            head, whole = _head(unzipped(path, max_unzipped_bytes))
        return OpenedFile(path, head, zipped, whole, max_unzipped_bytes)
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path}: the file cannot be read ({error}). Check the path.") from None


def _refuse_special(path: Path) -> None:
    """Refuse what is no regular file before it is opened: opening a FIFO waits for a writer."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}
        kind = kinds.get(stat.S_IFMT(mode), "a device")
        raise OSError(f"it is {kind}, not a regular file")


def _plain_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(_HEAD_BYTES):
            yield chunk


def _head(chunks: Iterator[bytes]) -> tuple[bytes, bool]:
    """Return the first bytes, enough for a few lines, and whether they are all."""
    head = bytearray()
    for chunk in chunks:
        for at in range(0, len(chunk), _HEAD_BYTES):
            lines = head.count(b"\n") + head.count(b"\r")
            if len(head) >= (_HEAD_BYTES if lines >= _HEAD_LINES else _LONGEST_HEAD):
                return bytes(head), False
            head += chunk[at : at + _HEAD_BYTES]
    return bytes(head), True
