"""Members of a zip archive, one after the other and bounded, also those packed with zstd.

Inspect packs with zstd (zip method 93), which Python's zipfile cannot read before 3.14.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from gnomon.errors import DataError, importing

MEMBER_LIMIT = 64 * 2**20  # bytes of one member, unpacked
ARCHIVE_LIMIT = 4 * 2**30  # bytes of all of them together
ZSTD = 93
WINDOW = 2**26  # bytes that unpacking may look back, and so hold
LOCAL_HEADER = struct.Struct("<4s22xHH")  # signature ... lengths of name and extra field
SIGNATURE = b"PK\x03\x04"


def unpacked(file: Path, start: str, end: str) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every member whose name starts and ends so, in the archive's order."""
    total = 0
    try:
        with file.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            for member in archive.infolist():
                if not (member.filename.startswith(start) and member.filename.endswith(end)):
                    continue
                if max(member.file_size, member.compress_size) > MEMBER_LIMIT:
                    raise _too_much(file, member)
                raw = _unpack(archive, member, stream)  # a header may claim less than there is
                total += len(raw)
                if len(raw) > MEMBER_LIMIT or total > ARCHIVE_LIMIT:
                    raise _too_much(file, member)
                yield member.filename, raw
    except (zipfile.BadZipFile, EOFError, zlib.error, struct.error, OSError) as error:
        raise _damaged(file, error) from None
    except (NotImplementedError, RuntimeError) as error:  # another method; a password
        raise DataError(
            f"the archive cannot be unpacked: {error}.",
            "Convert it with `inspect log convert --to json`, and give the .json file.",
            file=file,
        ) from None


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, stream: IO[bytes]) -> bytes:
    """At most one byte more than the limit allows."""
    if member.compress_type == ZSTD:
        return _unpack_zstd(member, stream)
    with archive.open(member) as packed:
        return packed.read(MEMBER_LIMIT + 1)


def _unpack_zstd(member: zipfile.ZipInfo, stream: IO[bytes]) -> bytes:
    with importing("Reading Inspect's .eval logs", "inspect"):
        import zstandard

    stream.seek(member.header_offset)
    signature, name, extra = LOCAL_HEADER.unpack(stream.read(LOCAL_HEADER.size))
    if signature != SIGNATURE:
        raise zipfile.BadZipFile(f"{member.filename} has no header")
    stream.seek(name + extra, 1)
    packed = stream.read(member.compress_size)
    unpacker = zstandard.ZstdDecompressor(max_window_size=WINDOW)
    try:
        with unpacker.stream_reader(packed, read_across_frames=True) as reader:
            raw = reader.read(MEMBER_LIMIT + 1)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(f"{member.filename}: {error}") from None
    if len(raw) <= MEMBER_LIMIT and zlib.crc32(raw) != member.CRC:
        raise zipfile.BadZipFile(f"bad checksum of {member.filename}")
    return raw


def _too_much(file: Path, member: zipfile.ZipInfo) -> DataError:
    return DataError(
        f"{member.filename} unpacks to too much (at most {MEMBER_LIMIT // 2**20} MB a sample, "
        f"{ARCHIVE_LIMIT // 2**30} GB in all).",
        "Log fewer samples in one file, or score them in parts.",
        file=file,
    )


def _damaged(file: Path, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError("there is no such file.", "Check the path.", file=file)
    return DataError(f"the archive is damaged: {error}.", "Copy or write the log again.", file=file)
