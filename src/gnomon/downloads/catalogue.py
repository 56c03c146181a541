"""The authors' published files, fetched into a cache on request and verified.

Nothing is downloaded unless asked for. What can be fetched is a table (data/catalogue.yaml). Every
file is checked against its sha256 before it takes its place, so the cache never holds half a file.
Where the table has no hash, the first download's is recorded and later ones must equal it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

import msgspec

from gnomon.downloads.download import Attempts, Progress, download
from gnomon.downloads.packages import download_package
from gnomon.durable import cache_folder as cache_folder
from gnomon.errors import DataError, UsageError, unknown
from gnomon.files import package_data, read_lines, read_yaml
from gnomon.fingerprint import sha256_of as sha256_of  # model files are checked with it too

FILE_LIMIT = 512 * 2**20  # bytes in one published file whose size the table does not know
RECORD = "fetched.jsonl"  # in each source's folder: what was downloaded, and its hash
RAW = "https://raw.githubusercontent.com"


class SourceFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a source: its path in the authors' repository, and what it must be."""

    path: str
    sha256: str = ""  # empty: trust the first download, hold later ones to it
    bytes: int = 0  # 0: not known
    commit: str = ""  # where it differs from the source's
    url: str = ""  # where it is not in the source's repository
    debian: str = ""  # the package of Debian that it is, with its version


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Files that belong together, where they are, and on what terms."""

    what: str
    licence: str
    repository: str = ""
    commit: str = ""
    benchmarks: tuple[str, ...] = ()  # whose `published` reads them
    images_of: str = ""  # instead of files: the images that this source's captions name
    files: tuple[SourceFile, ...] = ()


class Fetched(msgspec.Struct, frozen=True):
    """One line of the record: a file that was downloaded and verified."""

    path: str
    sha256: str
    bytes: int
    url: str


def sources(table: str | Path = "") -> dict[str, Source]:
    """What can be fetched, by name.

    >>> sources()["vsr"].licence
    'Apache-2.0'
    """
    file = Path(table) if table else package_data("catalogue.yaml")
    try:
        return msgspec.convert(read_yaml(file), dict[str, Source])
    except msgspec.ValidationError as error:
        hint = "Correct the entry; data/catalogue.yaml explains the fields."
        raise DataError(f"not a table of sources: {error}.", hint, file=file) from None


def source_name(name: str) -> str:
    """The source of that name, or the one that a benchmark's `published` reads.

    >>> source_name("viphy-color")
    'viphy'
    """
    table = sources()
    if name in table:
        return name
    for key, source in table.items():
        if name in source.benchmarks:
            return key
    raise unknown("source", name, table)


def expected(name: str, path: str) -> str:
    """Which file of a source should be there, and where it comes from: a hint for error messages.

    >>> expected("viphy", "results/size.csv")
    'Expected is results/size.csv of github.com/Axe--/ViPhy: fetch it with `gnomon data get viphy`.'
    """
    source = sources()[name]
    repository = f"github.com/{source.repository}"
    return f"Expected is {path} of {repository}: fetch it with `gnomon data get {name}`."


def folder(name: str) -> Path:
    """The folder of a source in the cache, whether it is there yet or not."""
    return cache_folder() / "data" / name


def cached(name: str) -> Path | None:
    """The folder of a source (or of a benchmark's source) if all its files are there, else none."""
    name = source_name(name)
    root = folder(name)
    record = _record(root)
    if not record:
        return None
    wanted = [file.path for file in sources()[name].files] or list(record)
    for path in wanted:
        fetched = record.get(path)
        if fetched is None:
            return None
        file = place(root, fetched.path)
        if not file.is_file() or file.stat().st_size != fetched.bytes:
            return None
    return root


def locate(data: str | Path, name: str) -> Path:
    """The folder with a source's files: the one the user gave, else the cache.

    If they are in neither, the error says how to get them.
    """
    if data:
        return Path(data).expanduser()
    found = cached(name)
    if found is None:
        raise DataError(
            f"the published files of {name} are not here.",
            f"Fetch them with `gnomon data get {source_name(name)}`, or give the authors' folder "
            "with --data DIR.",
        )
    return found


def fetch(
    name: str,
    *,
    files: Sequence[SourceFile] = (),
    mirror: str = "",
    progress: Progress | None = None,
    attempts: Attempts | None = None,
) -> Path:
    """Bring all files of a source into the cache and return its folder.

    What is there and right is left alone. `files` replaces the table's (for images, which the data
    name); `mirror` is a base address that serves the same paths in place of the authors'
    repository.
    """
    name = source_name(name)
    source = sources()[name]
    root = folder(name)
    root.mkdir(parents=True, exist_ok=True)
    if mirror and not mirror.startswith(("http://", "https://")):
        raise UsageError(
            f"'{mirror}' is not a web address.", "Write --mirror http://... or https://..."
        )
    with _alone(root):
        fetch_files(
            root, source, files or source.files, mirror=mirror, progress=progress, attempts=attempts
        )
    return root


def fetch_files(
    root: Path,
    source: Source,
    files: Sequence[SourceFile],
    *,
    mirror: str = "",
    progress: Progress | None = None,
    attempts: Attempts | None = None,
) -> None:
    """Bring files into a folder, one by one; each is recorded before the next begins."""
    record = _record(root)
    for file in files:
        target = place(root, file.path)
        known = record.get(file.path)
        expected = file.sha256 or (known.sha256 if known else "")
        if expected and target.is_file() and sha256_of(target) == expected:
            if known is None:  # put there by hand
                _add(root, Fetched(file.path, expected, target.stat().st_size, ""))
            continue
        if file.debian and not mirror:
            digest = download_package(file.debian, target, sha256=file.sha256)
            _add(root, Fetched(file.path, digest, target.stat().st_size, file.debian))
            continue
        url = address(source, file, mirror)
        digest = download(
            url,
            target,
            sha256=expected,
            size=file.bytes,
            limit=file.bytes or FILE_LIMIT,
            progress=progress,
            attempts=attempts,
        )
        _add(root, Fetched(file.path, digest, target.stat().st_size, url))


def address(source: Source, file: SourceFile, mirror: str = "") -> str:
    """Where a file can be fetched."""
    from urllib.parse import quote

    if mirror:
        return f"{mirror.rstrip('/')}/{quote(file.path)}"
    if file.url:
        return file.url
    commit = file.commit or source.commit
    return f"{RAW}/{source.repository}/{commit}/{quote(file.path)}"


def place(root: Path, path: str) -> Path:
    """Where a file belongs below a folder; a path that would lead out of it is refused.

    >>> place(Path("cache"), "../evil")
    Traceback (most recent call last):
        ...
    gnomon.errors.DataError: the path '../evil' leads out of its folder.
    Correct the entry.
    """
    problem = f"the path '{path}' leads out of its folder."
    pure = PurePosixPath(path)
    leaves = not path or pure.is_absolute() or ".." in pure.parts
    foreign = "\\" in path or ":" in path  # on Windows these lead elsewhere
    if leaves or foreign or path == RECORD:
        raise DataError(problem, "Correct the entry.")
    target = root / pure
    if not target.resolve().is_relative_to(root.resolve()):  # a symbolic link on the way
        raise DataError(problem, f"Remove the link in {root}.")
    return target


def _record(root: Path) -> dict[str, Fetched]:
    """What was fetched before, by path; the last line on a path counts."""
    file = root / RECORD
    if not file.is_file():
        return {}
    found = {}
    for _, line in read_lines(file):
        with suppress(msgspec.MsgspecError):  # a line that was cut short when the power went
            fetched = msgspec.json.decode(line, type=Fetched)
            found[fetched.path] = fetched
    return found


def _add(root: Path, fetched: Fetched) -> None:
    line = msgspec.json.encode(fetched)
    with (root / RECORD).open("ab") as out:
        out.write(b"\n" + line + b"\n")  # first an end to a line that may have been cut short


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    lock = FileLock(root.with_name(root.name + ".lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise DataError(
            "another process is fetching into this folder.", "Wait for it to end.", file=root
        ) from None
    try:
        yield
    finally:
        lock.release()
