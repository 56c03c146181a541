"""Kills workers, a machine, the driver and the whole cluster under a run on Ray, and looks what is left.

    python -m hostile.workers [--items 20000] [--kills 20] [--json]

Needs the extras `ray` and `hf`. Two nodes of Ray on this machine, a small model of transformers that is
made on the spot, one run for each number of workers, and one under fire. It takes about twenty minutes
on two cores and is started by hand.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gnomon.runs import LOG, Run, runs_in
from gnomon.runs.pace import read_pace
from gnomon.runs.ray import lock_doors
from hostile.arguments import parser_of
from hostile.tally import Tally, tell

SEED = 20220523
TOLERANCE = 1e-5  # of scores, whoever computed them
PATIENCE = 1800.0  # seconds for one run
GONE = "is gone"  # what the driver must say of a cluster that is

Row = tuple[int, int, str | None, str | None, float | None]


class Clusters:
    """A cluster of two nodes on this machine: a head, and a second raylet."""

    def __init__(self, folder: Path) -> None:
        from ray.cluster_utils import Cluster

        store = 100 * 2**20
        head = {"num_cpus": 2, "object_store_memory": store, "include_dashboard": False}
        self.cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self.second: Any = self.cluster.add_node(num_cpus=2, object_store_memory=store)

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def kill_second_raylet(self) -> None:
        _kill_process_of(self.second, "raylet")

    def kill_head(self) -> None:
        """The service that knows of everything; without it there is no cluster."""
        _kill_process_of(self.cluster.head_node, "gcs_server")

    def close(self) -> None:
        self.cluster.shutdown()


def _kill_process_of(node: Any, kind: str) -> None:
    (found,) = node.all_processes[kind]
    os.kill(found.process.pid, signal.SIGKILL)


@contextmanager
def cluster_at(folder: Path) -> Iterator[Clusters]:
    made = Clusters(folder)
    try:
        yield made
    finally:
        made.close()


def make_model(folder: Path, texts: list[str]) -> None:
    """A small Llama with random weights and a tokenizer of the items' own words."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "</s>"]
    trainer = trainers.BpeTrainer(
        vocab_size=1000, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>"
    )
    fast.save_pretrained(folder)
    torch.manual_seed(SEED)
    config = transformers.LlamaConfig(
        vocab_size=1000,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=512,
        bos_token_id=0,
        eos_token_id=1,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)


class Command:
    """`gnomon run` on the items, as a process of its own."""

    def __init__(self, folder: Path, runs: str, workers: str, items: int, address: str) -> None:
        words = [
            "run",
            "spacenli",
            "--set",
            "per_group=20",
            "--limit",
            str(items),
            "-m",
            "hf:model",
        ]
        words += ["--set", "threads=1", "--runs", runs, "--workers", workers, "--quiet"]
        environment = {**os.environ, "RAY_ADDRESS": address, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "gnomon", *words]
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
        )

    def wait(self) -> tuple[int, str]:
        """Its exit code and what it said."""
        try:
            _, said = self.process.communicate(timeout=PATIENCE)
        finally:
            self.process.kill()
            self.process.wait()
        return self.process.returncode, said

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def rows_of(folder: Path) -> dict[tuple[int, int], Row]:
    """What the log holds, by number of item and sample; it is read as it lies there."""
    if not (folder / LOG).exists():
        return {}
    with closing(sqlite3.connect(f"file:{folder / LOG}?mode=ro", uri=True)) as db:
        found = db.execute("SELECT n, sample, scores, error, seconds FROM answers").fetchall()
    assert len({row[:2] for row in found}) == len(found), "an answer stands there twice"
    return {row[:2]: row for row in found}


def scores_of(run: Run) -> dict[str, tuple[float, ...]]:
    return {item.id: answer.scores or () for item, answer in run.answers()}


def largest_difference(one: Run, two: Run) -> float:
    """Between the scores of the same items; infinite if they are not the same items."""
    first, second = scores_of(one), scores_of(two)
    if first.keys() != second.keys():
        return float("inf")
    worst = 0.0
    for name, scores in first.items():
        for a, b in zip(scores, second[name], strict=True):
            worst = max(worst, abs(a - b))
    return worst


def said_on_stderr(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def compare(tally: Tally, first: Run, other: Run, what: str) -> None:
    difference = largest_difference(first, other)
    said_on_stderr(f"{what}: largest difference of scores {difference:.1e}")
    if difference > TOLERANCE:
        tally.fault("wrong", f"{what}: scores differ by {difference}")


def by_workers(folder: Path, items: int, address: str) -> tuple[Tally, Run]:
    """The same run with one process and on 1, 2 and 4 workers."""
    tally = Tally()
    first: Run | None = None
    for workers in ("1", "ray:1", "ray:2", "ray:4"):
        began = time.monotonic()
        name = f"runs-{workers.replace(':', '-')}"
        code, said = Command(folder, name, workers, items, address).wait()
        tally.tried += 1
        said_on_stderr(f"--workers {workers}: exit code {code}, {time.monotonic() - began:.0f} s")
        if code != 0:
            tally.fault("failed", f"{workers}: {said[-300:]}")
            continue
        (run,) = runs_in(folder / name)
        check_complete(tally, run, items, workers)
        if first is None:
            first = run
        compare(tally, first, run, f"--workers {workers}")
    assert first is not None, tally.notes
    return tally, first


def check_complete(tally: Tally, run: Run, items: int, what: str) -> None:
    """Every item has one answer, and none failed."""
    rows = rows_of(run.path)
    counts = run.counts()
    if len(rows) != items or counts.items != items:
        tally.fault("lost", f"{what}: {len(rows)} answers to {counts.items} of {items} items")
    if counts.errors or counts.answered != items:
        tally.fault("failed", f"{what}: {counts}")


class Fire:
    """Kills during one run, and what must hold after each."""

    def __init__(self, folder: Path, items: int, kills: int, cluster: Clusters) -> None:
        self.folder, self.items, self.kills, self.cluster = folder, items, kills, cluster
        self.tally = Tally()
        self.draw = random.Random(SEED)
        self.kept: dict[tuple[int, int], Row] = {}

    @property
    def run_folder(self) -> Path | None:
        found = list((self.folder / "runs-fire").glob("*/run.json"))
        return found[0].parent if found else None

    def start(self) -> Command:
        return Command(self.folder, "runs-fire", "ray:4", self.items, self.cluster.address)

    def answered(self) -> int:
        return len(rows_of(self.run_folder)) if self.run_folder else 0

    def wait_for(self, command: Command, answers: int) -> bool:
        """Wait until so many answers are logged; false if the command ended before."""
        deadline = time.monotonic() + PATIENCE
        while command.process.poll() is None and time.monotonic() < deadline:
            if self.answered() >= answers:
                return True
            time.sleep(0.2)
        return False

    def kill_a_worker(self) -> bool:
        """End one of the workers that the run says it has."""
        pace = read_pace(self.run_folder) if self.run_folder else None
        if pace is None or not pace.workers:
            return False
        worker = self.draw.choice(pace.workers)
        try:
            os.kill(int(worker.name.rpartition(" ")[2]), signal.SIGKILL)
        except ProcessLookupError:  # it was killed before
            return False
        return True

    def check_kept(self, where: str) -> None:
        """What was logged before is still there, to the byte: it was not asked again."""
        assert self.run_folder is not None
        rows = rows_of(self.run_folder)
        changed = [key for key, row in self.kept.items() if rows.get(key) != row]
        if changed:
            self.tally.fault("doubled", f"{where}: {len(changed)} answers are gone or changed")
        self.kept = rows

    def events(self) -> list[str]:
        """What happens, evenly over the run: kills of workers, of the driver, of a machine."""
        found = ["worker"] * self.kills
        found.insert(len(found) // 3, "driver")
        found.insert(len(found) // 2, "raylet")
        found.insert(3 * len(found) // 4, "driver")
        return found

    def go(self) -> Run | None:
        events = self.events()
        step = self.items * 9 // 10 // len(events)
        command = self.start()
        for place, event in enumerate(events):
            reached = self.wait_for(command, place * step + 1)
            if not reached:
                self.tally.fault("failed", f"before event {place}: {command.wait()}")
                return None
            command = self.happen(event, command)
            self.tally.tried += 1
            self.check_kept(f"{event} {place}")
            said_on_stderr(f"killed: {event}, {len(self.kept):,} answers are there")
        code, said = command.wait()
        if code != 0:
            self.tally.fault("failed", f"exit code {code}: {said[-300:]}")
            return None
        self.check_kept("the end")
        (run,) = runs_in(self.folder / "runs-fire")
        check_complete(self.tally, run, self.items, "under fire")
        return run

    def happen(self, event: str, command: Command) -> Command:
        if event == "raylet":
            self.cluster.kill_second_raylet()
        elif event == "driver":
            command.kill()
            return self.start()
        else:
            while command.process.poll() is None and not self.kill_a_worker():
                time.sleep(0.2)
        return command


def without_cluster(folder: Path, items: int) -> Tally:
    """The cluster goes away midway: one sentence, and the same command goes on with another."""
    tally = Tally(tried=1)
    runs = folder / "runs-gone"
    with cluster_at(folder) as cluster:
        command = Command(folder, "runs-gone", "ray:2", items, cluster.address)
        while command.process.poll() is None and not _has_answers(runs):
            time.sleep(0.2)
        cluster.kill_head()
        began = time.monotonic()
        code, said = command.wait()
    said_on_stderr(f"head killed: exit code {code} after {time.monotonic() - began:.0f} s: {said}")
    told = code == 1 and GONE in said and "Traceback" not in said
    if not told and code != 0:  # a short run is done before anyone can notice
        tally.fault("unclear", f"exit code {code}: {said[-300:]}")
    (run,) = runs_in(runs)
    before = rows_of(run.path)
    with cluster_at(folder) as cluster:
        code, said = Command(folder, "runs-gone", "ray:2", items, cluster.address).wait()
    if code != 0:
        tally.fault("failed", said[-300:])
        return tally
    after = rows_of(run.path)
    if any(after.get(key) != row for key, row in before.items()):
        tally.fault("doubled", "answers changed after the cluster came back")
    check_complete(tally, run, items, "after the cluster came back")
    return tally


def _has_answers(runs: Path) -> bool:
    return any(rows_of(file.parent) for file in runs.glob("*/run.json"))


def tallies(items: int, kills: int) -> Iterator[tuple[str, Tally]]:
    from gnomon import load

    lock_doors()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        texts = [f"{item.context} {item.text}" for item in load("spacenli", per_group=2).items()]
        make_model(folder / "model", texts)
        with cluster_at(folder) as cluster:
            found, first = by_workers(folder, items, cluster.address)
            yield "run on 1, 2 and 4 workers of Ray", found
            fire = Fire(folder, items, kills, cluster)
            run = fire.go()
            if run is not None:
                compare(fire.tally, first, run, "under fire")
            yield "killed: workers, raylet and driver of a run on Ray", fire.tally
        yield "killed: a whole Ray cluster", without_cluster(folder, items // 4)


def main() -> int:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=20, help="workers that are killed")
    args = parser.parse_args()
    if not all(map(find_spec, ("ray", "transformers"))):
        print("{}" if args.json else "skipped: the extras ray and hf are not installed")
        return 0
    well = tell(tallies(args.items, args.kills), as_json=args.json)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
