"""The bytes and the text of a file, zipped or not, in any encoding, as a person says."""

import codecs
import os
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rulewright.data.errors import DataError
from rulewright.data.readers.budget import MAX_UNZIPPED_BYTES, Budget

_HEAD_BYTES = 1 << 16
_HEAD_LINES = 4  # a head with fewer lines is extended, so that it holds a long header
_LONGEST_HEAD = 1 << 24


@dataclass(frozen=True)
class FileOptions:
    """Options for opening a file."""

    max_unzipped_bytes: int = MAX_UNZIPPED_BYTES
    encoding: str | None = None  # of text; by default UTF-8, or UTF-16 where a mark says so
    header: bool | None = None  # whether the first line of a delimited file names the columns
    skip_bad_rows: bool = False  # whether to skip unreadable rows, and list them
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

    def budget(self, remedy: str = "Unzip it") -> Budget:
        """Return a new budget of bytes for what is read of the file."""
        return Budget(self, self.options.max_unzipped_bytes, remedy)

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
        """Return the path of the plain file in UTF-8, which is a temporary one if need be."""
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
    """Reject special files before opening: opening a FIFO waits for a writer."""
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


_READ_BYTES = 1 << 18
_CHUNK_BYTES = 1 << 22
_DAMAGE = (EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, struct.error)
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"  # the first bytes
_GZIP = 16 + zlib.MAX_WBITS  # zlib then reads the header, and verifies checksum and length


def unzip(path: Path, limit: int) -> Iterator[bytes]:
    """Yield the content of a gzip or zip file; damage and more than `limit` bytes are an error."""
    budget = Budget(path, limit)
    with path.open("rb") as stream:
        try:
            for chunk in _chunks(path, stream):
                budget.spend(len(chunk))
                yield chunk
        except _DAMAGE as error:
            stream.seek(0)
            kind = "zip" if stream.read(len(ZIP)) == ZIP else "gzip"
            raise _damage_error(path, kind, error) from None


def _damage_error(path: Path, kind: str, error: Exception) -> DataError:
    return DataError(
        f"{path}: the file cannot be read: the {kind} data are damaged ({error}). "
        "Copy or download the file again."
    )


def zip_member(path: Path) -> str:
    """Return the name of the only file in a zip file."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
    except _DAMAGE as error:
        raise _damage_error(path, "zip", error) from None
    if any(info.flag_bits & 1 for info in members):
        raise DataError(f"{path}: the zip file has a password. Unzip it.")
    names = [i.filename for i in members if not i.filename.startswith("__MACOSX/")]
    if len(names) != 1:
        listed = ", ".join(names[:5]) or "nothing"
        raise DataError(f"{path}: the zip file must hold one file, but holds {listed}. Unzip it.")
    return names[0]


def _chunks(path: Path, stream: BinaryIO) -> Iterator[bytes]:
    start = stream.read(len(ZIP))
    stream.seek(0)
    if start != ZIP:
        yield from _members(stream)
        return
    with zipfile.ZipFile(stream) as archive, archive.open(zip_member(path)) as member:
        while chunk := member.read(_CHUNK_BYTES):
            yield chunk


def _members(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the content of the members of a gzip file, one after the other."""
    data = stream.read(_READ_BYTES)
    while data:
        decoder = zlib.decompressobj(_GZIP)
        while not decoder.eof:
            if chunk := decoder.decompress(data, _CHUNK_BYTES):
                yield chunk
            data = decoder.unconsumed_tail
            # a full chunk may have left more in the decoder
            if not (decoder.eof or data or len(chunk) == _CHUNK_BYTES):
                data = stream.read(_READ_BYTES)
                if not data:
                    raise EOFError("they end too early")
        # zeros may pad the end, other bytes are another member
        data = decoder.unused_data.lstrip(b"\0")
        while not data and (more := stream.read(_READ_BYTES)):
            data = more.lstrip(b"\0")
