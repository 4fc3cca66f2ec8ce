"""Gzip and zip files: members are checked by their checksums, and their size is limited."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rulewright.data.errors import DataError

_READ_BYTES = 1 << 18
_CHUNK_BYTES = 1 << 22
_DAMAGE = (EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, struct.error)
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"  # the first bytes
_GZIP = 16 + zlib.MAX_WBITS  # zlib then reads the header, and verifies checksum and length


def unzip(path: Path, limit: int) -> Iterator[bytes]:
    """Yield the content of a gzip or zip file; damage and more than `limit` bytes are an error."""
    total = 0
    with path.open("rb") as stream:
        try:
            for chunk in _chunks(path, stream):
                total += len(chunk)
                if total > limit:
                    raise DataError(
                        f"{path}: the file expands to more than the limit of {limit:,} bytes. "
                        "Unzip it, or raise the limit: max_unzipped_bytes of read_table, "
                        "--max-unzipped of learn, predict and compress."
                    )
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
