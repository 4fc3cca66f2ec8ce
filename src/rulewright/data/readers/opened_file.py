"""The bytes and the text of a file, zipped or not, in any encoding."""

import codecs
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rulewright.data.errors import DataError
from rulewright.data.readers.options import DEFAULT_OPTIONS, FileOptions
from rulewright.data.readers.unzipping import GZIP, ZIP, unzip

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
    options: FileOptions = DEFAULT_OPTIONS
    title: str = ""  # in messages, if it is not the path

    def __str__(self) -> str:
        return self.title or str(self.path)

    @property
    def encoding(self) -> str:
        """The encoding of the text: the one that is given or marked, else UTF-8."""
        if self.options.encoding is not None:
            name = codecs.lookup(self.options.encoding).name
            return "utf-8-sig" if name == "utf-8" else name
        marked = self.head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return "utf-16" if marked else "utf-8-sig"

    def text_head(self) -> str:
        """Return the first characters, or raise an error if the file is empty or not text."""
        if self.head.startswith(b"PAR1"):
            raise DataError(f"{self}: this is a Parquet file. Rename it to end in .parquet.")
        if b"\0" in self.head and not self.encoding.startswith(("utf-16", "utf-32")):
            raise DataError(f"{self}: this is a binary file, not text. Check its format.")
        try:
            errors = "replace" if self.options.skip_bad_rows else "strict"
            decoder = codecs.getincrementaldecoder(self.encoding)(errors)
            text = decoder.decode(self.head, final=self.whole)
        except UnicodeDecodeError as error:
            raise self._not_text(str(error)) from None
        if not text.strip():
            raise DataError(f"{self}: the file is empty.")
        return text

    def text(self) -> str:
        """Return all characters."""
        self.text_head()
        try:
            return b"".join(self._content()).decode(self.encoding)
        except UnicodeDecodeError as error:
            raise self._not_text(str(error)) from None

    def lines(self) -> Iterator[str]:
        """Yield the lines, without keeping them."""
        self.text_head()
        decoder = codecs.getincrementaldecoder(self.encoding)()
        begun: list[str] = []  # pieces of a line whose end was not read yet
        try:
            for chunk in self._content():
                *ended, rest = decoder.decode(chunk).split("\n")
                for line in ended:
                    yield "".join([*begun, line])
                    begun.clear()
                begun.append(rest)
            yield "".join([*begun, decoder.decode(b"", final=True)])
        except UnicodeDecodeError as error:
            raise self._not_text(str(error)) from None

    @contextmanager
    def plain_path(self) -> Iterator[Path]:
        """Give the path of the plain file in UTF-8, which is a temporary one if need be."""
        if not self.zipped and self.encoding == "utf-8-sig":
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="rulewright-") as folder:
            path = Path(folder) / "unzipped"
            try:
                with path.open("wb") as stream:
                    stream.writelines(self._utf8())
            except OSError as error:
                raise DataError(
                    f"{self}: the file cannot be unzipped into {folder} ({error.strerror}). "
                    "Unzip it, or set TMPDIR to a folder with more space."
                ) from None
            yield path

    def _utf8(self) -> Iterator[bytes]:
        """Yield the content in UTF-8."""
        if self.encoding == "utf-8-sig":  # the reader names the line of an error
            yield from self._content()
            return
        decoder = codecs.getincrementaldecoder(self.encoding)()
        try:
            for chunk in self._content():
                yield decoder.decode(chunk).encode()
            yield decoder.decode(b"", final=True).encode()
        except UnicodeError as error:
            raise self._not_text(str(error)) from None

    def _content(self) -> Iterator[bytes]:
        try:
            if self.zipped:
                yield from unzip(self.path, self.options.max_unzipped_bytes)
            else:
                yield from _plain_chunks(self.path)
        except OSError as error:
            raise DataError(f"{self}: the file cannot be read ({error}).") from None

    def _not_text(self, reason: str) -> DataError:
        if self.options.encoding is not None or self.encoding == "utf-16":
            return DataError(
                f"{self}: the file is not {self.encoding} text ({reason}). Give another encoding."
            )
        return DataError(
            f"{self}: the file is not UTF-8 text ({reason}). Give its encoding, such as "
            "--encoding latin-1, or convert it, for example with 'iconv -f latin1 -t utf-8'."
        )


def open_file(path: Path, options: FileOptions = DEFAULT_OPTIONS, title: str = "") -> OpenedFile:
    """Read the first bytes of a file."""
    try:
        _refuse_special(path)
        head, whole = _head(_plain_chunks(path))
        # by content: a wrong or absent .gz is no reason to fail; a workbook is a zip file too
        zipped = head.startswith((GZIP, ZIP)) and path.suffix.lower() != ".xlsx"
        if zipped:
            head, whole = _head(unzip(path, options.max_unzipped_bytes))
        return OpenedFile(path, head, zipped, whole, options, title)
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
