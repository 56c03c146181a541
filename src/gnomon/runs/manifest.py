"""What was asked of whom, and how: run.json, written in one step; and who is at work on the run."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec

from gnomon.durable import replace_file
from gnomon.errors import DataError, RunError
from gnomon.runs.usage import Usage
from gnomon.unknownnames import not_a_run

FORMAT = 2  # of the folder; a newer one is refused rather than misread
MANIFEST, LOG, LOCK = "run.json", "answers.sqlite", "run.lock"
PICTURES = "pictures"  # a folder with what the model painted
MERGING = ".merging"  # how the name of a folder ends in which shards are being merged
PEOPLE = ("people.jsonl", "link.json", "link.part")  # beside the answers of a person
LARGEST = 16 * 2**20  # bytes of a manifest


class Counts(msgspec.Struct, kw_only=True, gc=False):
    """How far a run has come."""

    items: int = 0
    answered: int = 0  # with a choice
    unread: int = 0  # the model replied, but no label could be read
    errors: int = 0

    @property
    def asked(self) -> int:
        """Items that have an answer of any kind."""
        return self.answered + self.unread + self.errors


class LastLook(msgspec.Struct, kw_only=True, gc=False):
    """What was known when a run that stops by itself was last looked at."""

    points: float  # the half width that is wanted, or what two runs may differ by
    against: str = ""  # the run from which this one is to be told
    helpers: list[str] = []  # runs of other models whose answers narrow the interval
    measure: str
    items: int
    verdict: str  # why it stopped; empty if more was to be asked
    # how many times as wide intervals are as those of a fixed number
    looked: Annotated[float, msgspec.Meta(ge=1)]
    value: float | None
    low: float | None
    high: float | None


class Manifest(msgspec.Struct, kw_only=True, gc=False):
    """What was asked of whom, and how: enough to repeat the run."""

    format: int = FORMAT
    id: str
    benchmark: str  # NAME@SOURCE
    options: dict[str, Any] = {}  # of the benchmark
    about: dict[str, Any] = {}  # what was known of a benchmark that no registry has
    limit: int | None = None  # the largest that was asked for; none for all items
    growing: bool = False  # the log is being filled up to this limit
    permute: int | None = None  # the seed by which the choices of each item were put in an order
    shard: str = ""  # which part of a run this is, such as 3/8; empty for a whole one
    shard_of: str = ""  # the id of the whole run
    whole_items: int = 0  # items of the whole run
    whole_sha256: str = ""  # of all its items, before pictures are made for them
    # forms of items whose choices the model was not shown as a list, so that order has no effect
    unlisted: list[str] = []
    items_sha256: str = ""  # of all items, in order; empty until they are all in the log
    model: str  # its spec, as the user gave it
    name: str = ""  # what the user calls the model; another one makes no other run
    model_options: dict[str, Any] = {}
    model_files: dict[str, str] | None = None  # files that the model's name or options give: hashes
    model_description: dict[str, Any] = {}  # what determines the answers: revision, dtype, prompt
    asking: dict[str, Any] = {}  # what shows the prompt of an item (gnomon.reports.prompts)
    scale: str = "none"  # what the scores are: log-probability, probability or none
    blind: bool = False  # the items have pictures that the model was not shown
    versions: dict[str, str] = {}
    command: str = ""
    started: datetime
    finished: datetime | None = None
    counts: Counts = msgspec.field(default_factory=Counts)
    kept_replies: dict[str, int] = {}  # of a server, used after a stop: how many, by day
    last_look: LastLook | None = None  # of a run that stops by itself
    usage: Usage | None = None  # what the answers took, when the run last ended

    @property
    def seed(self) -> Any:
        """The benchmark's seed, if its source takes one."""
        return self.options.get("seed")


def determining(description: dict[str, Any]) -> dict[str, Any]:
    """What a description says beyond what follows from weights and items: size, what was fitted."""
    following = ("parameters", "fitted", "trial", "curve")
    return {key: value for key, value in description.items() if key not in following}


def changed_keys(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The keys whose values differ, in order.

    >>> changed_keys({"dtype": "f4", "size": 2}, {"dtype": "f8", "size": 2})
    ['dtype']
    """
    return sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a run's folder."""
    file = folder / MANIFEST
    if not file.is_file():
        hint = "`gnomon runs list` shows the runs there are."
        if not folder.exists():
            raise RunError(
                f"{folder} is not a run: there is no such folder.", not_a_run(str(folder), hint)
            )
        raise RunError(f"{folder} is not a run: it has no {MANIFEST}.", hint)
    try:
        if file.stat().st_size > LARGEST:
            raise _not_a_manifest(file, "it is too large")
        raw = msgspec.json.decode(file.read_bytes())
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _not_a_manifest(file, str(error)) from None
    except OSError as error:
        raise RunError(
            f"{file} cannot be read: {error.strerror}.", "Check its permissions."
        ) from None
    _check_format(folder, raw)
    try:
        return _with_zones(msgspec.convert(raw, Manifest))
    except msgspec.MsgspecError as error:
        raise _not_a_manifest(file, str(error)) from None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace run.json in one step."""
    file = folder / MANIFEST
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    replace_file(file, text + b"\n")


def _check_format(folder: Path, raw: Any) -> None:
    format = raw.get("format") if isinstance(raw, dict) else None
    if isinstance(format, int) and format > FORMAT:
        raise RunError(
            f"{folder} was written by a newer Gnomon (run format {format}, this one reads "
            f"up to {FORMAT}).",
            "Upgrade Gnomon to read it.",
        )


def _not_a_manifest(file: Path, reason: str) -> DataError:
    return DataError(
        f"not a manifest: {reason}.",
        "Restore the file from a copy, or start the run over with --restart.",
        file=file,
    )


def _with_zones(manifest: Manifest) -> Manifest:
    """Times without a zone are taken as UTC, so that runs can be put in order."""
    if manifest.started.tzinfo is None:
        manifest.started = manifest.started.replace(tzinfo=UTC)
    if manifest.finished is not None and manifest.finished.tzinfo is None:
        manifest.finished = manifest.finished.replace(tzinfo=UTC)
    return manifest


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def is_in_use(folder: Path) -> bool:
    """Whether a process is at work on a run. Looking does not keep others from looking."""
    if fcntl is None:
        return _cannot_be_taken(folder)
    try:
        lock = os.open(folder / LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # nobody has ever worked on it, or it is a link: no lock of ours
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a disk that knows no locks
        return False
    finally:
        os.close(lock)
    return False


def _cannot_be_taken(folder: Path) -> bool:
    from filelock import FileLock, Timeout

    if not (folder / LOCK).exists():
        return False
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:  # a disk that cannot be written is in nobody's use
        return False
    lock.release()
    return False


def check_not_in_use(folder: Path) -> None:
    """Refuse a run that another process is at work on."""
    if is_in_use(folder):
        raise RunError(f"Another process is at work on {folder}.", "Wait for it, or stop it.")
