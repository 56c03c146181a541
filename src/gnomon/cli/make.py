"""Write a benchmark's items to a file (.jsonl, .csv, .parquet), or as a task of another program.

Where pictures are drawn for the items, give a folder: it gets items.jsonl and the pictures, to
which the items have paths from there. A command that was stopped continues where it was.

examples:
  gnomon make scales -o scales.jsonl --seed 7
  gnomon make spacenli -o spacenli.parquet --set per_group=50
  gnomon make spacenli -o pairs.jsonl --set patterns=my_patterns.yaml
  gnomon make vsr@published -o vsr-test.jsonl --data path/to/vsr --split test
  gnomon make vsr@fresh -o scenes --seed 7 --set quads=5
  gnomon make scales -o part-3.jsonl --shard 3/8
  gnomon make vsr-pairs --set instances=instances.json --images photos -o pairs.jsonl
  gnomon make validated.jsonl --set divide=concept -o zeroshot.jsonl
  gnomon make vsr-pairs@scenes --set scenes=scenes --set count=20 -o pairs.jsonl
  gnomon make scales --as lm-eval -o scales-task
  gnomon make scales --as lm-eval --prompt multiple-choice --limit 500 -o letters-task
  gnomon make spatialqa --as inspect -o inspect-task --limit 50
  gnomon make vsr@fresh --as lmms-eval -o vsr-task --limit 100
  gnomon make vsr@fresh --as vlmevalkit -o vsr-tsv --limit 100
  gnomon make spatialqa --seed 3 --as dataset -o spatialqa-3
  gnomon make quiz.csv --map text=question,choices=A+B+C+D,gold=answer --as lm-eval -o my-task

A file of fresh items carries a canary string beside each item (docs/formats.md), by which training
on it can be avoided and found out. `gnomon audit FILE` reads it back.

--shard I/N writes part I of N. One after the other, the parts are the whole file, byte for byte (of
JSON lines; each CSV file has its own header). Only the pictures of the part are drawn.

With --as, -o is a new or empty folder. An lm-eval task asks in Gnomon's own words, so that its
accuracy is Gnomon's with the same --prompt. Tasks of Inspect, of lmms-eval and of VLMEvalKit list
the choices and read a letter; these three show pictures. A dataset folder has a card (README.md)
and can be asked again: gnomon run FOLDER. Pictures are copied, and the canary is kept.
"""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gnomon.cli.selection import chosen_sources
from gnomon.errors import DataError, UsageError, inert
from gnomon.grouped import item_parts
from gnomon.items.source import ItemSource
from gnomon.items.writing import CANARY, write_items, write_lines
from gnomon.naming import counted
from gnomon.records import Image, Item
from gnomon.redaction import redact_command
from gnomon.tabular import render

if TYPE_CHECKING:
    from gnomon.items.export.job import Exported, Job

# What only one target has a use for.
BELONGS = {"prompt": "lm-eval", "wording": "lm-eval", "shots": "lm-eval", "parquet": "dataset"}
PICTURES = "pictures"  # the folder of the pictures, beside the file of the items


def main(args: Namespace) -> int:
    """Write the items."""
    _check(args)
    if args.target:
        return _export(args)

    if args.processes < 0:
        raise UsageError(f"There cannot be {args.processes} processes.", "Give 1 or more.")
    source = chosen_sources(args, [args.benchmark])[0].limited(args.limit).sharded(args.shard)
    canary = CANARY if source.source == "fresh" else ""
    if args.output == "-":
        write_lines(sys.stdout.buffer, source.items(), canary=canary)
        return 0
    file = Path(args.output)
    items = source.items()
    if source.makes_pictures:
        file = _items_file(file)
        items = _with_pictures(source, file.parent, args)
    if args.divide:
        items = _divided(list(items), args)
    written = write_items(file, items, canary=canary)
    if not args.quiet:
        _tell_account(source)
        part = f" (shard {source.shard})" if source.shard else ""
        print(f"{counted(written, 'items')} of {source.name}{part} in {file}", file=sys.stderr)
    return 0


def _divided(items: list[Item], args: Namespace) -> Iterator[Item]:
    """The items with the part that each is in; those that fall between two parts are left out."""

    parts = item_parts(items, args.divide, args.divide_seed)
    home = {item.id: part for part, members in parts.items() for item in members}
    for part, members in parts.items():
        if not members:
            raise UsageError(
                f"Divided by {args.divide}, the {len(items):,} items leave nothing for {part}.",
                "Divide another way, or make more items; concept needs the tags subj and obj.",
            )
    if not args.quiet:
        counts = ", ".join(f"{part} {len(members):,}" for part, members in parts.items())
        left = len(items) - len(home)
        print(f"{args.divide}: {counts}; {left:,} left out", file=sys.stderr)
    for item in items:
        if item.id in home:
            yield replace(item, tags={**item.tags, "split": home[item.id]})


def _tell_account(source: ItemSource) -> None:
    """Say what the items were drawn from, and what was left out."""

    account = source.benchmark.accounts.get(source.source)
    if account is not None:
        print(render(account(**source.options)), file=sys.stderr)


def _items_file(output: Path) -> Path:
    """The file for the items: as named, or items.jsonl in the folder that was named."""
    if output.suffix:
        return output
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{error.strerror}.", "Name another folder.", file=output) from None
    return output / "items.jsonl"


def _with_pictures(source: ItemSource, folder: Path, args: Namespace) -> Iterator[Item]:
    """The items, with pictures in a folder beside their file and paths from there."""
    from gnomon.cli.progress import staged_lines

    with staged_lines(quiet=args.quiet) as stages:
        watch = partial(stages, f"{source.name}: pictures")
        pictures = folder / PICTURES
        for item in source.illustrated(pictures, processes=args.processes, watch=watch):
            images = [_seen_from(folder, image) for image in item.images]
            yield replace(item, images=tuple(images))


def _seen_from(folder: Path, image: Image) -> Image:
    """A picture by its path from a folder that it is in; one that is elsewhere stays as it is."""
    path = Path(image.path)
    if not path.is_relative_to(folder):
        return image
    return replace(image, path=path.relative_to(folder).as_posix())


def _export(args: Namespace) -> int:
    """Write a task or a dataset, and say how to go on."""
    from gnomon.items.export.job import new_folder

    source = chosen_sources(args, [args.benchmark])[0].limited(args.limit)
    job = _job(args, source.remembered())  # some take seconds to make, and are read twice
    with new_folder(job.folder):
        found = _write(args.target, job)
    if not args.quiet:
        files = ", ".join(str(file) for file in found.files)
        print(inert(f"{found.items:,} items of {source.name} in {files}"), file=sys.stderr)
        print(inert(found.command))
    return 0


def _check(args: Namespace) -> None:
    """Refuse options that the target has no use for."""
    for option, target in BELONGS.items():
        value = getattr(args, option)
        is_given = value is not None and value is not False
        if is_given and args.target != target:
            shown = option if option in ("wording", "parquet") else f"--{option}"
            raise UsageError(f"{shown} is for --as {target}.", "Leave it out.")
    if args.target and (args.shard or args.processes or args.divide):
        option = "--shard" if args.shard else "processes or divide"
        raise UsageError(f"{option} is for files of items.", "Leave it out with --as.")


def _write(target: str, job: Job) -> Exported:
    if target == "lm-eval":
        from gnomon.items.export.lmeval import write_lmeval

        return write_lmeval(job)
    if target == "inspect":
        from gnomon.items.export.inspect import write_inspect

        return write_inspect(job)
    if target == "lmms-eval":
        from gnomon.items.export.vision import write_lmms

        return write_lmms(job)
    if target == "vlmevalkit":
        from gnomon.items.export.vision import write_vlmevalkit

        return write_vlmevalkit(job)
    from gnomon.items.export.dataset import write_dataset

    return write_dataset(job)


def _job(args: Namespace, source: ItemSource) -> Job:
    from gnomon.cli.benchmarkfacts import licence_of
    from gnomon.items.export.job import Job
    from gnomon.items.itemfiles import names_items
    from gnomon.items.sidecar import read_sidecar
    from gnomon.reports import citations

    works = citations.papers_of([source.name])
    citation = "\n\n".join(citations.bibtex(citations.citations()[work]) for work in works)
    licence = "as its authors say: ask them before you pass it on"
    if source.source == "fresh":
        licence = licence_of(source.benchmark)
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
