"""Packages of Debian: fetched with the system's own tool, and read without unpacking them."""

from __future__ import annotations

import lzma
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from gnomon.errors import DataError
from gnomon.fingerprint import sha256_of

SLOWEST = 1800  # seconds that a download may take
MAGIC = b"!<arch>\n"
HEADER = 60  # bytes before each member of an archive


def download_package(package: str, target: Path, *, sha256: str) -> str:
    """Fetch a package, named with its version, into a file; its sha256."""
    tool = shutil.which("apt-get")
    hint = (
        f"Put the package at {target}, or give a Debian mirror: --mirror http://.../debian. "
        "On another system, the package can be downloaded from the pages of Debian."
    )
    if tool is None:
        raise DataError(f"{package} is a package of Debian, and apt-get is not here.", hint)
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target.parent) as folder:
        complaint = _run([tool, "--quiet", "download", package], folder)
        found = sorted(Path(folder).glob("*.deb"))
        if complaint or len(found) != 1:
            raise DataError(f"{package} could not be fetched: {complaint or 'no file'}.", hint)
        digest = sha256_of(found[0])
        if digest != sha256:
            raise DataError(f"{package} is not what it should be: its sha256 differs.", hint)
        found[0].replace(target)
    return digest


def _run(command: list[str], folder: str) -> str:
    """Run a command in a folder; the last line of its complaint if it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - the system's own tool, with a name of ours
            command, cwd=folder, capture_output=True, text=True, timeout=SLOWEST, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else f"exit code {done.returncode}"


def files_in(package: Path) -> Iterator[tuple[str, bytes]]:
    """The regular files that a package installs: path and content, one after the other."""
    with package.open("rb") as stream:
        _seek_data(stream, package)
        try:
            with tarfile.open(fileobj=stream, mode="r|xz") as archive:
                for member in archive:
                    content = archive.extractfile(member) if member.isfile() else None
                    if content is not None:
                        yield member.name.removeprefix("./"), content.read()
        except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
            raise _damaged(package, error) from None


def _seek_data(stream: IO[bytes], package: Path) -> None:
    """Go to the start of data.tar.xz, the member that holds the installed files."""
    if stream.read(len(MAGIC)) != MAGIC:
        raise _damaged(package, "not an archive")
    while header := stream.read(HEADER):
        name = header[:16].decode("ascii", "replace").strip().rstrip("/")
        if name == "data.tar.xz":
            return
        size = header[48:58].strip()
        if not size.isdigit():
            break
        length = int(size)
        stream.seek(length + length % 2, 1)
    raise _damaged(package, "no data.tar.xz")


def _damaged(package: Path, reason: object) -> DataError:
    return DataError(
        f"the package is damaged: {reason}.", "Remove the file and fetch it again.", file=package
    )
