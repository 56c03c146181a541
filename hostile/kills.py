"""Kills every command that writes at every system call that changes a file, and looks at what is left.

    python -m hostile.kills [--most N] [--part 1/2] [--only COMMAND] [--training] [--json]

It starts itself again under a small library (killer.c) that counts such calls and kills the process
before, amid or after the n-th. Each kill happens in a fork, so that a thousand of them take minutes.
What must hold after each is in `scenarios`.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from hostile.arguments import WHOLE, Part, add_part, parser_of
from hostile.scenarios import ASKED, Scenario, file_server, in_fork, register, scenarios
from hostile.tally import Tally, tell

HERE = Path(__file__).parent
MOMENTS = {"before": 0, "amid": 1, "after": 2}
NEVER = 10**9


def killed(work: Callable[[], int], n: int, moment: int) -> bool:
    """Do the work in a process that is killed at its n-th call; whether it was."""
    child = os.fork()
    if child == 0:
        try:
            killer().gnomon_kill_at(n, moment)
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def calls(work: Callable[[], int]) -> int:
    """How many calls the work takes."""

    def counted() -> int:
        killer().gnomon_kill_at(NEVER, 0)
        assert work() == 0
        return int(killer().gnomon_calls())

    found = in_fork(counted)
    assert isinstance(found, int), "the command fails even if nobody kills it"
    return found


def load_modules_of(work: Callable[[], int]) -> None:
    """Import what the work imports, so that not every fork has to."""

    def imported() -> list[str]:
        work()
        return list(sys.modules)

    found = in_fork(imported)
    assert isinstance(found, list), "the command fails even if nobody kills it"
    for name in found:
        with suppress(ImportError):  # some are made in passing
            importlib.import_module(name)


def killer() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.gnomon_kill_at.argtypes = [ctypes.c_long, ctypes.c_int]
    library.gnomon_calls.restype = ctypes.c_long
    return library


def kill_everywhere(scenario: Scenario, folder: Path, most: int, part: Part = WHOLE) -> Tally:
    """Kill the command at its calls: at all of them, or at `most` spread evenly, or a part of these."""
    tally = Tally()
    start = folder / "start"
    start.mkdir(parents=True)
    os.chdir(start)
    in_fork(scenario.prepare)
    trial = folder / "trial"
    _fresh(start, trial)
    load_modules_of(scenario.attempt)
    _fresh(start, trial)
    points = [(n, moment) for n in range(calls(scenario.attempt)) for moment in MOMENTS]
    step = max(1, len(points) // most)
    chosen = points[::step][:most]
    for n, moment in (chosen[number] for number in part.numbers(len(chosen))):
        _fresh(start, trial)
        ASKED.clear()
        if not killed(scenario.attempt, n, MOMENTS[moment]):
            continue
        tally.tried += 1
        scenario.check(tally, f"killed {moment} call {n}")
    return tally


def _fresh(start: Path, trial: Path) -> None:
    os.chdir("/")
    shutil.rmtree(trial, ignore_errors=True)
    shutil.copytree(start, trial)
    os.chdir(trial)


def compiled(folder: Path) -> Path | None:
    """The killing library; none where there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    target = folder / "killer.so"
    source = str(HERE / "killer.c")
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O2", "-o", str(target), source, "-ldl"], check=True
    )
    return target


def tallies(
    most: int, part: Part, only: str, *, training: bool = False
) -> Iterator[tuple[str, Tally]]:
    """Each command with what its kills left; a part of the commands, or of a training's kills."""
    register()
    with tempfile.TemporaryDirectory() as place, file_server() as address:
        if training:
            from hostile.trainings import TRAINING  # it needs torch, and so seconds to begin with

            yield TRAINING.name, kill_everywhere(TRAINING, Path(place) / "0", most, part)
            os.chdir("/")
            return
        found = scenarios(address)
        for number in part.numbers(len(found)):
            scenario = found[number]
            if only and scenario.name != only:
                continue
            yield scenario.name, kill_everywhere(scenario, Path(place) / str(number), most)
            os.chdir("/")


def main() -> int:
    parser = parser_of(__doc__)
    add_part(parser)
    parser.add_argument("--most", type=int, default=NEVER, help="kills of each command")
    parser.add_argument("--only", default="", help="the name of one command of the table")
    parser.add_argument("--training", action="store_true", help="kill `gnomon train`, and no other")
    args = parser.parse_args()
    if "killer" not in os.environ.get("LD_PRELOAD", ""):
        with tempfile.TemporaryDirectory() as place:
            library = compiled(Path(place))
            if library is None:
                print("{}" if args.json else "skipped: there is no C compiler here")
                return 0
            again = [sys.executable, "-m", "hostile.kills", *sys.argv[1:]]
            # threads that wait for work of a small model would take the cores from other jobs
            more = {"LD_PRELOAD": str(library), "OMP_WAIT_POLICY": "PASSIVE"}
            return subprocess.run(again, env={**os.environ, **more}).returncode
    well = tell(tallies(args.most, args.part, args.only, training=args.training), as_json=args.json)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
