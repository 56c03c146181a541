"""Fresh sets through Gnomon and, exported, through lm-eval with the same small model, there and back: is all the same?

    python bench/roundtrip.py                 # five sets of four papers (four minutes of one core)
    python bench/roundtrip.py --items 60 --json --lm-eval path/to/venv/bin/python

Needs lm-eval and datasets, here or in the virtualenv of --lm-eval. The model has random weights; its answers are as good as
any for the comparison. Three ways must agree: accuracy as Gnomon, as lm-eval and as the imported task have it. And lm-eval's
log of samples, scored as the benchmark, must give what Gnomon's own run gives: every measure, value, interval, n and units,
over all items and by every tag. VSR has pictures, which lm-eval's multiple-choice tasks do not show: it is not exported.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
BENCHMARKS = ("scales", "posrel", "spacenli", "viphy-color", "spatialqa")
CLOSE = 1e-4
MOST_KEYS = 60  # slices of a tag that are compared
SAME = ("n", "clusters", "units", "chance")  # to the digit; values and intervals within CLOSE
NEAR = ("value", "low", "high")


def ran(folder: Path, *command: str, python: str = sys.executable) -> str:
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_DATASETS_CACHE": str(folder / "cache"),
        "HF_HOME": str(folder / "cache"),
        "TOKENIZERS_PARALLELISM": "false",
    }
    done = subprocess.run(
        [python, *command],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    return done.stdout


def by_gnomon(folder: Path, *what: str) -> dict:
    """Gnomon's own run: its folder and its scores."""
    out = ran(folder, "-m", "gnomon", "run", *what, "-m", "hf:tiny", "--json", "--restart")
    return json.loads(out.splitlines()[-1])


def accuracy_of(run: dict) -> float:
    return next(score["value"] for score in run["scores"] if score["measure"] == "accuracy")


def by_lmeval(folder: Path, exported: Path, python: str) -> tuple[float, Path]:
    """The accuracy that lm-eval's command line reports for the exported task, and its log."""
    task = next(exported.glob("*.yaml")).stem
    results = folder / f"results-{task}"
    ran(
        folder,
        *("-m", "lm_eval", "run", "--model", "hf", "--model_args", "pretrained=tiny,dtype=float32"),
        *("--tasks", task, "--include_path", str(exported), "--device", "cpu"),
        *("--batch_size", "16", "--output_path", str(results), "--log_samples"),
        python=python,
    )
    (found,) = results.rglob("results_*.json")
    (log,) = results.rglob("samples_*.jsonl")
    return json.loads(found.read_text())["results"][task]["acc,none"], log


def tags_of(benchmark: str, items: int) -> list[str]:
    """The tags that divide the items into slices which can be looked at."""
    from gnomon.items.source import load

    values: dict[str, set[str]] = {}
    for item in load(benchmark).limited(items):
        for tag, value in item.tags.items():
            values.setdefault(tag, set()).add(value)
    return sorted(tag for tag, keys in values.items() if len(keys) <= MOST_KEYS)


def scored(folder: Path, *what: str) -> dict[tuple, dict]:
    """Every score of a run or a log, by what it is a score of."""
    from gnomon.cli import main as gnomon

    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(io.StringIO()), chdir(folder):
        if gnomon(["score", *what, "--format", "json"]):
            raise SystemExit(f"gnomon score {' '.join(what)} failed.")
    rows = json.loads(printed.getvalue())
    return {(row["measure"], row["by"], row["key"]): row for row in rows}


def differences(ours: dict[tuple, dict], theirs: dict[tuple, dict]) -> list[str]:
    """Where two lists of scores differ."""
    found = [f"only in one: {place}" for place in ours.keys() ^ theirs.keys()]
    for place in ours.keys() & theirs.keys():
        one, other = ours[place], theirs[place]
        for name in SAME:
            if one.get(name) != other.get(name):
                found.append(f"{place} {name}: {one.get(name)} and {other.get(name)}")
        for name in NEAR:
            if not is_near(one[name], other[name]):
                found.append(f"{place} {name}: {one[name]} and {other[name]}")
    return found


def is_near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= CLOSE


def compare(folder: Path, benchmark: str, items: int, python: str) -> dict:
    limit = ("--limit", str(items))
    exported = folder / f"{benchmark}-task"
    ran(
        folder,
        *("-m", "gnomon", "make", benchmark, *limit, "--as", "lm-eval", "-o", str(exported)),
        "--quiet",
    )
    ours = by_gnomon(folder, benchmark, *limit, "--prompt", "plain")
    accuracy, log = by_lmeval(folder, exported, python)
    again = by_gnomon(folder, str(next(exported.glob("*.yaml"))))
    tags = tags_of(benchmark, items)
    compared, unlike = 0, []
    for by in ((), *(("--by", tag) for tag in tags)):
        mine = scored(folder, str(ours["run"]), *by)
        read = ("--answers", str(log), "--benchmark", benchmark, *limit)
        unlike += differences(mine, scored(folder, *read, *by))
        compared += len(mine)
    own = accuracy_of(ours)
    close = abs(own - accuracy) <= CLOSE and abs(own - accuracy_of(again)) <= CLOSE
    return {
        "benchmark": benchmark,
        "items": items,
        "gnomon": own,
        "lm_eval": accuracy,
        "imported": accuracy_of(again),
        "tags": len(tags),
        "scores": compared,
        "differences": unlike,
        "same": close and not unlike,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=200, help="of each benchmark (default 200)")
    parser.add_argument("--benchmarks", default=",".join(BENCHMARKS))
    parser.add_argument("--lm-eval", default=sys.executable, help="the python that has lm-eval")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        ran(folder, str(Path(__file__).with_name("lmeval.py")), "--child", "models", place, "tiny")
        rows = []
        for benchmark in args.benchmarks.split(","):
            rows.append(compare(folder, benchmark, args.items, args.lm_eval))
            if not args.json:
                print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    if args.json:
        print(json.dumps(rows))
    return 0 if all(row["same"] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
