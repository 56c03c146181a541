"""Runs and downloads against servers that misbehave, and what these must not do.

    python -m hostile.servers [--most N] [--json]

What must hold: no traceback; the run ends in time; no key or password in any file or output;
nothing that steers the terminal; and a second run, against the same server grown honest, completes
the run and asks nothing again that was answered before. A download fails in a sentence or is right.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gnomon.downloads import download
from gnomon.errors import DataError, GnomonError
from gnomon.models.servers import refusals, remote
from gnomon.people.labelstudio import server as labelstudio
from gnomon.runs import survey
from hostile.arguments import parser_of
from hostile.command import Ended, command
from hostile.misbehaving import (
    BEHAVIOURS,
    BODY,
    DOWNLOADS,
    KEY,
    PASSWORD,
    SHA256,
    Behaviour,
    FileHandler,
    Server,
    bomb,
)
from hostile.readers import LONGEST_MESSAGE, UnclearError, check_message
from hostile.tally import Tally, tell, told_with_place

LONGEST_OUTPUT = 5000  # characters of all that a run prints, its table of scores included
ITEMS = 6
BOUND = 120  # seconds of a run, on a machine that has much else to do
MEMORY = 1000  # MB above the start


class LateError(BaseException):
    """It took too long. No Exception: a run counts those as failures of the model."""


def late(*_: object) -> None:
    raise LateError


@contextmanager
def bounded() -> Iterator[None]:
    """What is done here ends within its bound, or is late."""
    signal.signal(signal.SIGALRM, late)
    signal.alarm(BOUND)
    try:
        yield
    finally:
        signal.alarm(0)


def run_against(server: Server, folder: Path) -> Ended:
    """A run with few attempts, and with little patience for a server that misbehaves."""
    patience = 2 if server.behaviour else 60
    settings = []
    for setting in (f"timeout={patience}", "attempts=2", "concurrency=3"):
        settings += ["--set", setting]
    words = ["run", "scales", "-m", "openai:x", "--base-url", server.address, "--limit", str(ITEMS)]
    return bounded_command(*words, "--runs", str(folder / "runs"), "--retry-errors", *settings)


def bounded_command(*words: str) -> Ended:
    """A command that ends within its bound, or is late."""
    with bounded():
        return command(*words)


def try_server(name: str, behaviour: Behaviour, folder: Path, tally: Tally) -> None:
    """One server: misbehaving, then honest."""
    os.environ["GNOMON_CACHE"] = str(folder / "cache")
    os.environ["OPENAI_API_KEY"] = KEY
    bomb()  # packed before anyone waits for an honest answer
    runs = str(folder / "runs")
    server = Server(behaviour)
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        first = run_against(server, folder)
        answered = Counter(server.served)
        server.behaviour = None
        server.seen.clear()
        second = run_against(server, folder)
        listed = bounded_command("runs", "list", "--runs", runs)
        scored = bounded_command("score", runs)
    except LateError:
        return tally.fault("hang", f"{name}: more than {BOUND} s")
    except BaseException as error:
        return tally.fault("traceback", f"{name}: {told_with_place(error)}")
    finally:
        server.end()

    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) // 1024
    if grown > MEMORY:
        tally.fault("memory", f"{name}: {grown} MB")
    if again := [prompt for prompt in answered if server.seen[prompt]]:
        tally.fault("lost", f"{name}: {len(again)} of {len(answered)} were asked again")
    counts = [run.manifest.counts.items for run in survey(runs).runs]
    if second.code:
        told = f"the next run has exit code {second.code}: {second.said[-200:]}"
        tally.fault("failed", f"{name}: {told}")
    elif counts != [ITEMS]:
        tally.fault("lost", f"{name}: {counts} items in the runs")

    said = "".join(ended.said for ended in (first, second, listed, scored))
    if "Traceback" in said:
        tally.fault("traceback", f"{name}: {said[-300:]}")
    look_at(said, LONGEST_OUTPUT, name, tally)
    for leak in (*server.leaks, *leaks_in(folder, said)):
        tally.fault("leaked", f"{name}: {leak}")
    return None


def look_at(said: str, longest: int, name: str, tally: Tally) -> None:
    """Count what nobody can read as a fault."""
    try:
        check_message(said, longest)
    except UnclearError as error:
        tally.fault("unclear", f"{name}: {error}")


def leaks_in(folder: Path, said: str) -> Iterator[str]:
    """Where a key or a password stands that should be nowhere."""
    for canary in (KEY, PASSWORD):
        if canary in said:
            yield f"{canary} was printed"
        for file in folder.rglob("*"):
            if file.is_file() and canary.encode() in file.read_bytes():
                yield f"{canary} in {file.name}"


def try_download(name: str, behaviour: Behaviour, folder: Path, tally: Tally) -> None:
    """One download: it fails in a sentence, or the file is right; an older file stays as it was."""
    download.TIMEOUT = 1.0
    server = Server(behaviour, FileHandler)
    target = folder / "file.bin"
    target.write_bytes(b"older")
    url = f"http://127.0.0.1:{server.server_port}/file.bin"
    size = len(BODY)
    few = download.Attempts(most=2, wait=lambda seconds: None)
    try:
        with bounded():
            download.download(url, target, sha256=SHA256, size=size, limit=size, attempts=few)
    except DataError as error:
        if target.read_bytes() != b"older":
            tally.fault("lost", f"{name}: the older file was changed")
        look_at(str(error), LONGEST_MESSAGE, name, tally)
    except LateError:
        tally.fault("hang", f"{name}: more than {BOUND} s")
    except BaseException as error:
        tally.fault("traceback", f"{name}: {told_with_place(error)}")
    else:
        if target.read_bytes() != BODY:
            tally.fault("failed", f"{name}: a wrong file was kept")
    finally:
        server.end()


def try_label_studio(name: str, behaviour: Behaviour, folder: Path, tally: Tally) -> None:
    """One server that should be Label Studio: what it says is a list of projects, or refused."""
    labelstudio.TIMEOUT = 2.0
    server = Server(behaviour, FileHandler)
    try:
        with (
            bounded(),
            labelstudio.LabelStudio(f"http://127.0.0.1:{server.server_port}", KEY) as it,
        ):
            list(it.pages("/api/projects/", "results", "count", dict))
    except GnomonError as error:
        look_at(str(error), LONGEST_MESSAGE, name, tally)
        if KEY in str(error):
            tally.fault("leaked", f"{name}: the token was printed")
    except LateError:
        tally.fault("hang", f"{name}: more than {BOUND} s")
    except BaseException as error:
        tally.fault("traceback", f"{name}: {told_with_place(error)}")
    finally:
        server.end()
    for leak in server.leaks:
        tally.fault("leaked", f"{name}: {leak}")


def spread(found: dict[str, Behaviour], most: int) -> list[tuple[str, Behaviour]]:
    """At most so many, spread evenly."""
    pairs = list(found.items())
    step = max(1, -(-len(pairs) // most))
    return pairs[::step]


def tallies(most: int) -> Iterator[tuple[str, Tally]]:
    """Each kind of server with what came of it."""
    for module in (remote, refusals):
        vars(module).update(FIRST_PAUSE=0.01, LONGEST_PAUSE=0.01)
    for title, found, attempt in (
        ("hostile servers of models", BEHAVIOURS, try_server),
        ("hostile servers of files", DOWNLOADS, try_download),
        ("hostile Label Studio", BEHAVIOURS, try_label_studio),
    ):
        tally = Tally()
        for name, behaviour in spread(found, most):
            with tempfile.TemporaryDirectory() as place:
                tally.tried += 1
                attempt(name, behaviour, Path(place), tally)
        yield title, tally


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--most", type=int, default=10**6, help="servers of each kind")
    args = parser.parse_args()
    well = tell(tallies(args.most), as_json=args.json)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
