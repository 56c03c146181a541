"""Tries damaged files on readers, in child processes with limits of time and memory.

    python -m hostile.trying [--inputs N] [--part 1/2] [--only NAME] [--seed N] [--json]

A child tries a hundred inputs, one after the other, and reports each. If it dies or hangs, the
input at which it did is counted, and another child goes on with the next. What must hold: a file
is read, or refused in a sentence a person can read; nothing else.
"""

from __future__ import annotations

import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random

from gnomon.errors import GnomonError
from hostile.arguments import Part, add_part, parser_of
from hostile.mutating import mutate
from hostile.readers import (
    LONGEST_MESSAGE,
    NO_SAMPLE,
    LeakedError,
    Reader,
    UnclearError,
    WrongError,
    all_readers,
    read_quietly,
    without_sample,
    write,
)
from hostile.tally import FAULTS, KEPT, Tally, tell, told_with_place

SECONDS = 5  # of processor time for one input
WAIT = 120  # seconds of any time: an input that waits for something, or a machine that is busy
LONG_WAIT = 240  # the same where the reader has a process of its own, with limits of its own
MEMORY = 3 * 2**29  # bytes above what the process has at the start
BATCH = 100
# In place of a file: another kind of thing, or nothing.
SPECIAL = (
    "as it is",
    "a folder",
    "a pipe",
    "a loop of links",
    "an endless device",
    "empty",
    "gone",
)


def prepare(reader: Reader, number: int, seed: int, folder: Path) -> str:
    """Write the number-th input of a reader; what was done to which file."""
    rng = Random(f"{seed}/{reader.name}/{number}")
    if reader.make is not None:
        return reader.make(rng, number, folder)
    write(reader.sample, folder)
    paths = [path for path in reader.sample.files if reader.sample.kind(path) != "fixed"]
    path = rng.choice(paths)
    if number < len(SPECIAL):
        _replace(folder / path, SPECIAL[number])
        return f"{path} is {SPECIAL[number]}"
    content = mutate(reader.sample.files[path], reader.sample.kind(path), rng)
    if not reader.judged and rng.random() < 0.1:  # once more
        content = mutate(content, "binary", rng)
    (folder / path).write_bytes(content)
    return f"{path}, input {number}"


def _replace(file: Path, what: str) -> None:
    if what == "as it is":
        return
    file.unlink()
    if what == "a folder":
        file.mkdir()
    elif what == "a pipe":
        os.mkfifo(file)
    elif what == "a loop of links":
        file.symlink_to(file.name)
    elif what == "an endless device":
        file.symlink_to("/dev/zero")
    elif what == "empty":
        file.write_bytes(b"")


def outcome_of(reader: Reader, folder: Path) -> tuple[str, str]:
    """What became of an input, and a note if that is a fault."""
    try:
        read_quietly(reader, folder)
    except GnomonError as error:
        message = str(error.message)
        if len(message) > LONGEST_MESSAGE:
            return "unclear", f"{len(message):,} characters: {message[:200]!r}"
        return "refused", str(error)
    except MemoryError:
        return "memory", "MemoryError"
    except WrongError as error:
        return "wrong", str(error)
    except LeakedError as error:
        return "leaked", str(error)
    except UnclearError as error:
        return "unclear", str(error)
    except BaseException as error:
        return "traceback", told_with_place(error)
    return "read", ""


def tried(reader: Reader, numbers: range, seed: int, kept: Path) -> Tally:
    """Try the inputs with these numbers."""
    tally = Tally()
    left = list(numbers)
    while left:
        done = 0
        with tempfile.TemporaryDirectory(prefix="gnomon-hostile-") as place:
            for number, outcome, note in _in_child(reader, left[:BATCH], seed, tally, Path(place)):
                done += 1
                if number == 0 and outcome != "read":
                    outcome, note = "wrong", f"the sample itself is not read: {note}"
                tally.tried += 1
                if outcome in FAULTS:
                    tally.fault(outcome, note)
                    _keep(reader, number, seed, kept)
                elif outcome == "read":
                    tally.read += 1
                else:
                    tally.refused += 1
        left = left[max(done, 1) :]
    return tally


def _keep(reader: Reader, number: int, seed: int, kept: Path) -> None:
    folder = kept / f"{reader.name.replace('/', '-').replace(' ', '-')}-{number}"
    if not folder.exists():
        folder.mkdir(parents=True)
        prepare(reader, number, seed, folder)


def _in_child(
    reader: Reader, numbers: list[int], seed: int, tally: Tally, place: Path
) -> Iterator[tuple[int, str, str]]:
    """The outcomes of these inputs, up to one at which the child dies."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        _try_all(reader, numbers, seed, sink, place)
    os.close(sink)
    reported = 0
    stuck = False
    with os.fdopen(source, "rb") as stream:
        while True:
            ready, _, _ = select.select([stream], [], [], WAIT if reader.limited else LONG_WAIT)
            if not ready:
                stuck = True
                os.kill(child, signal.SIGKILL)
                break
            line = stream.readline()
            if not line:
                break
            number, outcome, note, peak = json.loads(line)
            tally.peak = max(tally.peak, peak)
            reported += 1
            yield number, outcome, note
    _, status = os.waitpid(child, 0)
    if reported == len(numbers):
        return
    number = numbers[reported]
    if stuck:
        yield number, "hang", f"waits, input {number}"
    elif os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        yield number, "hang", f"more than {SECONDS} s, input {number}"
    else:
        yield number, "died", f"status {status}, input {number}"


def _try_all(reader: Reader, numbers: list[int], seed: int, sink: int, place: Path) -> None:
    """Try inputs and report each; this is the child, which ends here."""
    try:
        first = _peak()
        if reader.limited:
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (_size() + MEMORY, hard))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.environ["GNOMON_CACHE"] = str(place / "cache")
        for number in numbers:
            folder = place / str(number)
            folder.mkdir()
            os.chdir(folder)
            done = prepare(reader, number, seed, folder)
            signal.setitimer(signal.ITIMER_PROF, SECONDS if reader.limited else 0)
            outcome, note = outcome_of(reader, folder)
            signal.setitimer(signal.ITIMER_PROF, 0)
            os.chdir("/")
            shutil.rmtree(folder, ignore_errors=True)
            report = (number, outcome, f"{note} ({done})"[:400], (_peak() - first) // 1024)
            os.write(sink, json.dumps(report).encode() + b"\n")
    finally:
        os._exit(0)


def _size() -> int:
    """Bytes of address space of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def shares(readers: list[Reader], inputs: int) -> dict[str, int]:
    """How many inputs each reader gets."""
    whole = sum(reader.share for reader in readers)
    return {reader.name: round(inputs * reader.share / whole) + 1 for reader in readers}


def tallies(
    inputs: int, *, seed: int, part: Part, only: str, kept: Path
) -> Iterator[tuple[str, Tally]]:
    """Each reader with what became of its inputs; a part of the readers' inputs, if told."""
    readers = all_readers()
    wanted = shares(readers, inputs)
    for reader in readers:
        if only and only not in reader.name:
            continue
        numbers = part.numbers(wanted[reader.name])
        yield reader.name, tried(reader, numbers, seed, kept)


def tell_and_keep(found: Callable[[Path], Iterable[tuple[str, Tally]]], *, as_json: bool) -> bool:
    """Print what was found, and keep the inputs with faults; whether all is well."""
    kept = Path(tempfile.mkdtemp(prefix=KEPT))
    well = tell(found(kept), as_json=as_json)
    if well:
        shutil.rmtree(kept)
    else:
        print(f"inputs with faults: {kept}", file=sys.stderr)
    return well


def main() -> int:
    parser = parser_of(__doc__)
    add_part(parser)
    parser.add_argument("--inputs", type=int, default=1000, help="of all readers together")
    parser.add_argument("--only", default="", help="readers whose name has this in it")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    well = tell_and_keep(
        lambda kept: tallies(
            args.inputs, seed=args.seed, part=args.part, only=args.only, kept=kept
        ),
        as_json=args.json,
    )
    missing = without_sample()
    for name in missing:
        print(f"{name} has no sample: {NO_SAMPLE}", file=sys.stderr)
    return 0 if well and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
