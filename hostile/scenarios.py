"""The commands that are killed, and what must hold afterwards.

- run: the same command completes the run; an answer that was logged is never asked again (doubled),
  an item is never left without an answer (lost), and every answer is the model's (else wrong);
- run --restart: afterwards there are the old answers or the new ones, never both;
- make, report: the file is whole or absent; nothing half written stays after the next try;
- rm, recover, merge: the next try completes them;
- data get: a file is whole or absent, and the next try completes it;
- look: every file of the folder is whole or absent, and has the same bytes after the next try.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import shutil
import signal
import sqlite3
from ast import literal_eval
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeVar, cast

from gnomon import Answer, Benchmark, Item, registry
from gnomon.downloads.catalogue import Source, SourceFile, fetch_files
from gnomon.errors import GnomonError
from gnomon.runs import RunLog, runs_in
from gnomon.runs import running as driving
from hostile import samples
from hostile.command import command
from hostile.tally import Tally

ITEMS = 88
T = TypeVar("T")


class Asked:
    """How often each item was asked, seen by all forks."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, ITEMS)

    def count(self, place: int) -> None:
        self._shared[place] = min(255, self._shared[place] + 1)

    def clear(self) -> None:
        self._shared[:] = bytes(ITEMS)

    def places(self) -> list[int]:
        return list(self._shared[:])


ASKED = Asked()


class Witness:
    """A model that remembers what it was asked, outside of any file."""

    scale = "none"
    batch = 4
    spec = "witness"

    def __init__(self, say: str) -> None:
        self.say = say

    def describe(self) -> dict[str, object]:
        return {}

    def answer(self, items: list[Item]) -> list[Answer]:
        for item in items:
            ASKED.count(int(item.id))
        return [Answer(item=item.id, choice=self.say) for item in items]


def witness(name: str) -> Witness:
    return Witness(os.environ.get("WITNESS", "yes"))


def questions(*, seed: int = 0) -> Iterator[Item]:
    for n in range(ITEMS):
        yield Item(
            id=str(n),
            form="choice",
            text=f"Question {n}?",
            choices=("no", "yes"),
            gold=("yes",),
            group=str(n // 2),
        )


QUESTIONS = Benchmark(name="questions", summary="made for killing", sources={"fresh": questions})


def register() -> None:
    """Make the questions and the model above known by name, and every batch a commit of its own."""
    driving.QUICK = 0.0
    summary = "remembers what it was asked"
    registry.MODELS["witness"] = registry.Entry(f"{__name__}:witness", summary)
    registry.BENCHMARKS["questions"] = registry.Entry(f"{__name__}:QUESTIONS", QUESTIONS.summary)


@dataclass(frozen=True)
class Scenario:
    """A command that is killed: what is there before, the command, and what must hold after it."""

    name: str
    prepare: Callable[[], None]
    attempt: Callable[[], int]
    check: Callable[[Tally, str], None]


def logged() -> dict[int, str | None]:
    """The answers on disk, by item."""
    try:
        runs = runs_in("runs")
    except GnomonError:
        return {}
    found: dict[int, str | None] = {}
    for run in runs:
        for item, answer in run.rows():
            if answer is not None:
                found[int(item.id)] = answer.choice
    return found


def asking(*more: str) -> int:
    return command("run", "questions", "-m", "witness", "--quiet", *more).code


def nothing() -> None:
    """Nothing is there before."""


def finished() -> None:
    assert asking() == 0
    ASKED.clear()


def finished_with_no() -> None:
    os.environ["WITNESS"] = "no"
    finished()
    os.environ["WITNESS"] = "yes"


def half() -> None:
    """A run that was stopped half way."""
    finished()
    (run,) = runs_in("runs")
    with sqlite3.connect(run.path / "answers.sqlite") as db:
        db.execute(f"DELETE FROM answers WHERE n >= {ITEMS // 2}")
    with RunLog(run.path) as log:
        manifest = run.manifest
        manifest.finished = None
        manifest.counts = log.counts()
        log.write_manifest(manifest)


def in_fork(work: Callable[[], T]) -> T | None:
    """What `work` gives, computed in a process of its own; none if it ended in a traceback."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(read)
            result = repr(work())
            with os.fdopen(write, "w") as out:
                out.write(result)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as source:
        text = source.read()
    _, status = os.waitpid(child, 0)
    return cast(T, literal_eval(text)) if status == 0 else None


def check_run(tally: Tally, where: str) -> None:
    before = in_fork(logged)
    ASKED.clear()
    code = in_fork(asking)
    after = in_fork(logged)
    again = [place for place, count in enumerate(ASKED.places()) if count]
    if code != 0:
        return tally.fault("failed", f"{where}: exit code {code}")
    if before is None or after is None:
        return tally.fault("failed", f"{where}: the log cannot be read")
    if set(after) != set(range(ITEMS)):
        tally.fault("lost", f"{where}: {sorted(set(range(ITEMS)) - set(after))}")
    if set(again) & set(before):
        tally.fault("doubled", f"{where}: {sorted(set(again) & set(before))}")
    if set(after.values()) - {"yes"}:
        tally.fault("wrong", f"{where}: {after}")
    return None


def check_restart(tally: Tally, where: str) -> None:
    code = in_fork(asking)
    after = in_fork(logged)
    if code != 0 or after is None:
        tally.fault("failed", f"{where}: exit code {code}")
    elif set(after) != set(range(ITEMS)):
        tally.fault("lost", f"{where}: {len(after)} of {ITEMS}")
    elif len(set(after.values())) != 1:
        tally.fault("wrong", f"{where}: old and new answers together")


def check_restart_again(tally: Tally, where: str) -> None:
    code = in_fork(lambda: asking("--restart"))
    after = in_fork(logged)
    if code != 0 or after is None:
        tally.fault("failed", f"{where}: exit code {code}")
    elif after != dict.fromkeys(range(ITEMS), "yes"):
        tally.fault("wrong", f"{where}: {after}")


def whole_file(name: str, attempt: Callable[[], int]) -> Callable[[Tally, str], None]:
    """A check that a file is whole or absent after a kill, and whole and alone after the next try."""

    def check(tally: Tally, where: str) -> None:
        target = Path(name)
        reference = Path("reference") / name
        if target.exists() and not same(target, reference):
            tally.fault("wrong", f"{where}: {name} is half written")
        if in_fork(attempt) != 0:
            return tally.fault("failed", f"{where}: the next try failed")
        if not same(target, reference):
            tally.fault("wrong", f"{where}: {name} is wrong after the next try")
        left = [str(file) for file in (*Path().rglob("*.part*"), *Path().rglob("*.lines"))]
        if left:
            tally.fault("wrong", f"{where}: left behind: {left[:3]}")
        return None

    return check


def same(one: Path, two: Path) -> bool:
    if one.is_dir():
        mine = {path.relative_to(one): path for path in one.rglob("*") if path.is_file()}
        theirs = {path.relative_to(two): path for path in two.rglob("*") if path.is_file()}
        finished = {name: path for name, path in mine.items() if ".part" not in name.name}
        return all(
            name in theirs and path.read_bytes() == theirs[name].read_bytes()
            for name, path in finished.items()
        )
    return one.read_bytes() == two.read_bytes()


def made(name: str, attempt: Callable[[], int], before: Callable[[], None]) -> Callable[[], None]:
    """Prepare, and make the file once as it should be, for comparison."""

    def prepare() -> None:
        before()
        assert attempt() == 0
        Path("reference").mkdir()
        Path(name).rename(Path("reference") / name)

    return prepare


def make_items() -> int:
    return command("make", "questions", "-o", "items.jsonl").code


def write_page() -> int:
    return command("report", "runs", "-o", "page.html").code


def write_figures() -> int:
    return command("report", "runs", "-o", "page.html", "--figures", "figures").code


def remove_run() -> int:
    names = [str(run.path) for run in runs_in("runs")]
    return command("runs", "rm", "--yes", *names).code if names else 0


def check_removed(tally: Tally, where: str) -> None:
    if in_fork(remove_run) != 0:
        tally.fault("failed", f"{where}: the next try failed")
    left = in_fork(logged)
    if left:
        tally.fault("wrong", f"{where}: {len(left)} answers are still there")


def recover_run() -> int:
    (run,) = runs_in("runs")
    return command("runs", "recover", str(run.path), "-o", "recovered").code


def check_recovered(tally: Tally, where: str) -> None:
    if in_fork(lambda: len(logged())) != ITEMS:
        tally.fault("lost", f"{where}: the run itself was touched")
    shutil.rmtree("recovered", ignore_errors=True)
    if in_fork(recover_run) != 0:
        tally.fault("failed", f"{where}: the next try failed")


def in_shards() -> None:
    """Two shards of a run."""
    assert asking("--shard", "1/2") == 0
    assert asking("--shard", "2/2") == 0


def merge_shards() -> int:
    if len(runs_in("runs")) == 3:  # it was done
        return 0
    return command("runs", "merge", *[str(run.path) for run in runs_in("runs")]).code


def check_merged(tally: Tally, where: str) -> None:
    if in_fork(merge_shards) != 0:
        tally.fault("failed", f"{where}: the next try failed")
    shards, whole = in_fork(sizes_of_runs) or (0, 0)
    if shards != ITEMS:
        tally.fault("lost", f"{where}: the shards themselves were touched")
    if whole != ITEMS:
        tally.fault("lost", f"{where}: {whole} answers in the merged run")


def sizes_of_runs() -> tuple[int, int]:
    """Answers in shards, and in whole runs."""
    found = [0, 0]
    for run in runs_in("runs"):
        found[not run.manifest.shard] += run.counts().asked
    return found[0], found[1]


KNOWLEDGE = ("names", "subtypes", "colour", "size", "elevation", "regions", "troubles")


def annotated() -> None:
    """Annotations, and what becomes of them."""
    Path("coco.json").write_bytes(samples.COCO)
    assert look() == 0
    Path("knowledge").rename("reference")


def look() -> int:
    return command("look", "coco.json", "--quiet", "-o", "knowledge").code


def check_look(tally: Tally, where: str) -> None:
    names = [*(f"{name}.jsonl" for name in KNOWLEDGE), "manifest.json", "page.html"]
    for name in names:
        file = Path("knowledge") / name
        if file.exists() and not same(file, Path("reference") / name):
            tally.fault("wrong", f"{where}: {name} is half written")
    if in_fork(look) != 0:
        return tally.fault("failed", f"{where}: the next try failed")
    for name in names:
        if not same(Path("knowledge") / name, Path("reference") / name):
            tally.fault("wrong", f"{where}: {name} is wrong after the next try")
    left = [str(file) for file in Path("knowledge").rglob("*.part*")]
    if left:
        tally.fault("wrong", f"{where}: left behind: {left[:3]}")
    return None


FILES = {"a/one.bin": bytes(range(256)) * 2000, "two.txt": b"two\n"}


class FileHandler(BaseHTTPRequestHandler):
    """Serves FILES, whole or from a place on."""

    def do_GET(self) -> None:
        content = FILES[self.path.lstrip("/")]
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        rest = content[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)

    def log_message(self, *_: object) -> None:
        """Quietly."""


@contextmanager
def file_server() -> Iterator[str]:
    """The address of a server of FILES, in a process of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), FileHandler)
    child = os.fork()
    if child == 0:
        try:
            server.serve_forever()
        finally:
            os._exit(0)
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        server.server_close()


def get_data(address: str) -> int:
    files = []
    for path, content in FILES.items():
        files.append(SourceFile(path, hashlib.sha256(content).hexdigest(), len(content)))
    root = Path("cache")
    root.mkdir(exist_ok=True)
    fetch_files(root, Source("files", "none"), files, mirror=address)
    return 0


def check_data(address: str) -> Callable[[Tally, str], None]:
    def check(tally: Tally, where: str) -> None:
        for path, content in FILES.items():
            file = Path("cache") / path
            if file.exists() and file.read_bytes() != content:
                tally.fault("wrong", f"{where}: {path} is half written")
        if in_fork(lambda: get_data(address)) != 0:
            return tally.fault("failed", f"{where}: the next try failed")
        for path, content in FILES.items():
            if (Path("cache") / path).read_bytes() != content:
                tally.fault("wrong", f"{where}: {path} is wrong after the next try")
        if left := [path.name for path in Path("cache").rglob("*.part")]:
            tally.fault("wrong", f"{where}: left behind: {left}")
        return None

    return check


def scenarios(address: str) -> list[Scenario]:
    return [
        Scenario("run", nothing, asking, check_run),
        Scenario("run, gone on with", half, asking, check_run),
        Scenario(
            "run --restart, then without",
            finished_with_no,
            lambda: asking("--restart"),
            check_restart,
        ),
        Scenario(
            "run --restart, twice",
            finished_with_no,
            lambda: asking("--restart"),
            check_restart_again,
        ),
        Scenario(
            "make",
            made("items.jsonl", make_items, nothing),
            make_items,
            whole_file("items.jsonl", make_items),
        ),
        Scenario(
            "report",
            made("page.html", write_page, finished),
            write_page,
            whole_file("page.html", write_page),
        ),
        Scenario(
            "report --figures",
            made("figures", write_figures, finished),
            write_figures,
            whole_file("figures", write_figures),
        ),
        Scenario("rm", finished, remove_run, check_removed),
        Scenario("recover", finished, recover_run, check_recovered),
        Scenario("merge", in_shards, merge_shards, check_merged),
        Scenario("look", annotated, look, check_look),
        Scenario("data get", nothing, lambda: get_data(address), check_data(address)),
    ]
