"""Gzip files: every member is checked by its checksum and its length, and their size is limited."""

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rulewright.data.errors import DataError

_READ_BYTES = 1 << 18
_CHUNK_BYTES = 1 << 22
_GZIP = 16 + zlib.MAX_WBITS  # zlib then reads the header, and verifies checksum and length


def unzipped(path: Path, limit: int) -> Iterator[bytes]:
    """Yield the content of a gzip file; damage and more than `limit` bytes are a DataError."""
    total = 0
    with path.open("rb") as stream:
        try:
            for chunk in _members(stream):
                total += len(chunk)
                if total > limit:
                    raise DataError(
                        f"{path}: the file expands to more than the limit of {limit:,} bytes. "
                        "Unzip it, or raise the limit: max_unzipped_bytes of read_table, "
                        "--max-unzipped of learn, predict and compress."
                    )
                yield chunk
        except (EOFError, zlib.error) as error:
            raise DataError(
                f"{path}: the file cannot be read: the gzip data are damaged ({error}). "
                "Copy or download the file again."
            ) from None


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
