"""Fresh sets through Gnomon and, exported, through lm-eval with the same small model: is accuracy the same?

    python bench/roundtrip.py                 # scales, spacenli and spatialqa (a minute of one core)
    python bench/roundtrip.py --items 60 --json

Needs lm-eval and datasets. The model has random weights; its answers are as good as any for the comparison.
Then the exported task is imported again, and asked by Gnomon: three accuracies of one model must be one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
BENCHMARKS = ("scales", "spacenli", "spatialqa")
CLOSE = 1e-4


def ran(folder: Path, *command: str) -> str:
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
        [sys.executable, *command],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    return done.stdout


def by_gnomon(folder: Path, *what: str) -> float:
    """The accuracy of Gnomon's own run."""
    out = ran(folder, "-m", "gnomon", "run", *what, "-m", "hf:tiny", "--json", "--restart")
    scores = json.loads(out.splitlines()[-1])["scores"]
    return next(score["value"] for score in scores if score["measure"] == "accuracy")


def by_lmeval(folder: Path, exported: Path) -> float:
    """The accuracy that lm-eval's command line reports for the exported task."""
    task = next(exported.glob("*.yaml")).stem
    results = folder / f"results-{task}"
    ran(
        folder,
        *("-m", "lm_eval", "run", "--model", "hf", "--model_args", "pretrained=tiny,dtype=float32"),
        *("--tasks", task, "--include_path", str(exported), "--device", "cpu"),
        *("--batch_size", "16", "--output_path", str(results)),
    )
    (found,) = results.rglob("results_*.json")
    return json.loads(found.read_text())["results"][task]["acc,none"]


def compare(folder: Path, benchmark: str, items: int) -> dict:
    limit = ("--limit", str(items))
    exported = folder / f"{benchmark}-task"
    ran(
        folder,
        *("-m", "gnomon", "make", benchmark, *limit, "--as", "lm-eval", "-o", str(exported)),
        "--quiet",
    )
    ours = by_gnomon(folder, benchmark, *limit, "--prompt", "plain")
    theirs = by_lmeval(folder, exported)
    again = by_gnomon(folder, str(next(exported.glob("*.yaml"))))
    return {
        "benchmark": benchmark,
        "items": items,
        "gnomon": ours,
        "lm_eval": theirs,
        "imported": again,
        "same": abs(ours - theirs) <= CLOSE and abs(ours - again) <= CLOSE,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=200, help="of each benchmark (default 200)")
    parser.add_argument("--benchmarks", default=",".join(BENCHMARKS))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        ran(folder, str(Path(__file__).with_name("lmeval.py")), "--child", "models", place, "tiny")
        rows = []
        for benchmark in args.benchmarks.split(","):
            rows.append(compare(folder, benchmark, args.items))
            if not args.json:
                print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    if args.json:
        print(json.dumps(rows))
    return 0 if all(row["same"] for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
