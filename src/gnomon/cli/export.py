"""Export items for other programs: an lm-eval task, an Inspect task, or a dataset folder.

An lm-eval task asks in Gnomon's own words, so that its accuracy is Gnomon's with the same --prompt.
An Inspect task lists the choices and reads a letter. A dataset folder has a card (README.md) and
can be asked again: gnomon run FOLDER. Pictures are copied, and the canary is kept.

examples:
  gnomon export scales --to lm-eval -o scales-task
  gnomon export scales --to lm-eval --prompt multiple-choice --limit 500 -o letters-task
  gnomon export spatialqa --to inspect -o inspect-task --limit 50
  gnomon export spatialqa --seed 3 --to dataset -o spatialqa-3
  gnomon export quiz.csv --map text=question,choices=A+B+C+D,gold=answer --to lm-eval -o my-task
"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.choosing import chosen_sources, item_arguments
from gnomon.errors import UsageError, inert
from gnomon.redaction import redact_command

if TYPE_CHECKING:
    from gnomon.items.export.job import Exported, Job
    from gnomon.items.source import ItemSource

TARGETS = ("lm-eval", "inspect", "dataset")
OWN_LICENCE = "Apache-2.0"  # of what Gnomon makes


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "benchmark",
        metavar="BENCHMARK",
        help="NAME, NAME@fresh or NAME@published; or your own file",
    )
    parser.add_argument("--to", required=True, choices=TARGETS, help="for which program")
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="the folder to write, new or empty"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="at most N items, spread evenly")
    parser.add_argument(
        "--prompt",
        metavar="PROMPT",
        help="lm-eval: the prompt (default: that of the items, or plain)",
    )
    parser.add_argument(
        "--wording", type=int, metavar="N", help="lm-eval: which wording of the prompt (default: 1)"
    )
    parser.add_argument(
        "--shots", type=int, metavar="N", help="lm-eval: examples before a question"
    )
    parser.add_argument(
        "--parquet", action="store_true", help="dataset: write Parquet instead of JSON lines"
    )
    parser.add_argument("--quiet", action="store_true", help="print nothing but errors")
    item_arguments(parser)


def main(args: Namespace) -> int:
    """Export, and say how to go on."""
    from gnomon.items.export.job import new_folder

    _check(args)
    source = chosen_sources(args, [args.benchmark])[0].limited(args.limit)
    job = _job(args, source.remembered())  # some take seconds to make, and are read twice
    with new_folder(job.folder):
        found = _write(args.to, job)
    if not args.quiet:
        files = ", ".join(str(file) for file in found.files)
        print(inert(f"{found.items:,} items of {source.name} in {files}"), file=sys.stderr)
        print(inert(found.command))
    return 0


def _check(args: Namespace) -> None:
    """Refuse options that the target has no use for."""
    belongs = {"prompt": "lm-eval", "wording": "lm-eval", "shots": "lm-eval", "parquet": "dataset"}
    for option, target in belongs.items():
        given = getattr(args, option)
        if given is None or given is False:
            continue
        if args.to != target:
            raise UsageError(f"--{option} is for --to {target}.", "Leave it out.")


def _write(target: str, job: Job) -> Exported:
    if target == "lm-eval":
        from gnomon.items.export.lmeval import write_lmeval

        return write_lmeval(job)
    if target == "inspect":
        from gnomon.items.export.inspect import write_inspect

        return write_inspect(job)
    from gnomon.items.export.dataset import write_dataset

    return write_dataset(job)


def _job(args: Namespace, source: ItemSource) -> Job:
    from gnomon.items.export.job import Job
    from gnomon.items.itemfiles import names_items
    from gnomon.items.sidecar import read_sidecar
    from gnomon.reports import citations

    works = citations.papers_of([source.name])
    citation = "\n\n".join(citations.bibtex(citations.citations()[work]) for work in works)
    licence = "as its authors say: ask them before you pass it on"
    if source.source == "fresh":
        licence = OWN_LICENCE
    if names_items(args.benchmark):
        mine = read_sidecar(Path(args.benchmark))
        citation, licence = mine.citation, mine.licence or "not stated"
    return Job(
        source=source,
        folder=Path(args.output),
        prompt=args.prompt or source.benchmark.prompt,
        wording=1 if args.wording is None else args.wording,
        shots=args.shots,
        citation=citation,
        licence=licence,
        command=redact_command(shlex.join(["gnomon", *sys.argv[1:]])),
        parquet=args.parquet,
    )
