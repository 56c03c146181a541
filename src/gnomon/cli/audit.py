"""Check a benchmark before its users do: shortcuts, leaks, repeats, contradictions.

NAME is a benchmark of `gnomon list`, fresh or @published. FILE is any JSON, CSV, TSV or Parquet
file, a folder of a Hugging Face dataset, a sample log of lm-eval or Inspect, or what `gnomon make`
wrote. Files that are named after splits (train, dev, test) are the splits of one set. RUN is a run
folder, or a folder of runs: the items that they were asked.

examples:
  gnomon audit scales
  gnomon audit vsr@published --data path/to/vsr --split random
  gnomon audit mine.jsonl --map text=question,choices=options,gold=answer,group=template
  gnomon audit train.jsonl test.jsonl --map text=caption,gold=label,labels=false+true -o audit.html
  gnomon audit mine.jsonl --runs runs
  gnomon audit mine.csv --allow constants --allow "words:context, *" --format json

--map names what holds the question, as for `gnomon run`: id, context, text, choices, gold, group
(what belongs together), image; and beside it split, votes (or votes_true and votes_false),
relation, first and second (two things that are compared). Several columns are joined with +. What
has its usual name need not be named. --runs DIR reads which labels people marked as doubtful in
`gnomon view`, and how many runs got these items wrong. docs/audit.md says what each check does.

Exit code 0 if there is no alarm, 1 if there is one (or a file cannot be read), 2 for wrong usage.
--allow CHECK or CHECK:PART takes an alarm back that is explained.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.choosing import ITEM_FLAGS, chosen_sources, item_arguments
from gnomon.errors import UsageError, inert
from gnomon.items.lmtask import is_task_file
from gnomon.runs import MANIFEST, open_runs, survey

if TYPE_CHECKING:
    from gnomon.audit.auditing import AuditReport
    from gnomon.audit.sets import AuditSet
    from gnomon.runs import Run

ENDINGS = (
    ".jsonl",
    ".ndjson",
    ".json",
    ".csv",
    ".tsv",
    ".txt",
    ".parquet",
    ".arrow",
    ".eval",
    ".gz",
)
FORMATS = ("table", "json", "csv", "markdown")


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "sets", nargs="+", metavar="NAME|FILE|RUN", help="benchmarks, files or run folders"
    )
    parser.add_argument(
        "--check", action="append", default=[], metavar="CHECK", help="only this check"
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="CHECK[:PART]",
        help="what is no alarm, since it is explained",
    )
    parser.add_argument(
        "--claim",
        action="append",
        default=[],
        metavar="[SPLIT=]N",
        help="how many items there should be, in all or of a split",
    )
    parser.add_argument(
        "--runs",
        metavar="DIR",
        help="list what people marked as doubtful in the viewer beside these runs",
    )
    parser.add_argument("-o", "--output", metavar="PAGE.html", help="also write a page")
    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="output format (default: table)"
    )
    item_arguments(parser)


def main(args: Namespace) -> int:
    """Audit, print, and write the page."""
    from gnomon.audit.auditing import allowed, audit, explanations_of

    mine = allowed(args.allow)
    reports = []
    for audited in _sets(args):
        reasons = [*mine, *explanations_of(audited.benchmark)]
        reports.append(audit(audited, args.check, reasons))
    _print(reports, args.format)
    if args.output:
        from gnomon.audit.page import write_audit

        write_audit(reports, Path(args.output), command=_command(args))
    return 1 if any(report.alarms for report in reports) else 0


def _sets(args: Namespace) -> Iterator[AuditSet]:
    """The sets that were named; files of splits are one set."""
    from dataclasses import replace

    from gnomon.audit.doubts import with_marks

    claimed = _claims(args.claim)
    folders = [name for name in args.sets if _holds_runs(name)]
    others = [name for name in args.sets if name not in folders]
    files = [name for name in others if _is_file(name)]
    names = [name for name in others if not _is_file(name)]
    if args.map and not files:
        raise UsageError("--map is for files.", "A benchmark knows its own fields: leave it out.")
    beside = [args.runs] if args.runs else []
    for audited in (*_of_names(args, names), *_of_files(args, files, alone=not names)):
        if beside:
            audited = with_marks(audited, open_runs(beside))
        yield replace(audited, claimed=claimed)
    for audited, own in _of_runs(folders):
        yield replace(with_marks(audited, open_runs([*own, *beside])), claimed=claimed)


def _holds_runs(name: str) -> bool:
    """Whether a name is a run's folder, or a folder of runs."""
    folder = Path(name)
    return (folder / MANIFEST).is_file() or bool(folder.is_dir() and survey(folder).runs)


def _of_runs(folders: Sequence[str]) -> Iterator[tuple[AuditSet, list[Path]]]:
    """What runs were asked, with the folders of those runs; each benchmark and seed is a set."""
    from gnomon.audit.sources import of_runs
    from gnomon.registry import asked_benchmark

    sets: dict[tuple[str, str], list[Run]] = {}
    for run in open_runs(folders):
        options = sorted(run.manifest.options.items())  # with others, an id is of another item
        sets.setdefault((run.benchmark, repr(options)), []).append(run)
    for (benchmark, _), runs in sets.items():
        about = asked_benchmark(benchmark, runs[0].manifest.about)
        yield of_runs(runs, about), [run.path for run in runs]


def _of_names(args: Namespace, names: Sequence[str]) -> Iterator[AuditSet]:
    from gnomon.audit.sources import of_source

    if names:
        for source in chosen_sources(args, names):
            yield of_source(source)


def _of_files(args: Namespace, files: Sequence[str], *, alone: bool) -> Iterator[AuditSet]:
    from gnomon.audit.sources import of_files
    from gnomon.items.rows import split_of

    if files and alone:
        _check_no_benchmark_options(args)
    given = ITEM_FLAGS["map"].between.join(args.map or ())
    split = args.split or ""
    paths = [Path(name) for name in files]
    parts = [path for path in paths if not path.is_dir() and split_of(path)]
    if len(parts) > 1:
        name = " + ".join(path.name for path in parts)
        yield of_files(name, parts, given, split)
        paths = [path for path in paths if path not in parts]
    for path in paths:
        yield of_files(path.name or str(path), [path], given, split)


def _is_file(name: str) -> bool:
    if is_task_file(name):  # which says itself what its fields are
        return False
    return Path(name).exists() or name.endswith(ENDINGS)


def _check_no_benchmark_options(args: Namespace) -> None:
    for option in ("seed", "per_group", "form", "data", "images", "patterns"):
        if getattr(args, option) is not None:
            flag = option.replace("_", "-")
            raise UsageError(f"--{flag} is an option of a benchmark.", "Leave it out for files.")


def _claims(texts: Sequence[str]) -> dict[str, int]:
    found = {}
    for text in texts:
        split, _, number = text.rpartition("=")
        if not number.replace(",", "").isdigit():
            raise UsageError(
                f"'{text}' is not a number of items.", "For example: --claim test=1222"
            )
        found[split] = int(number.replace(",", ""))
    return found


def _command(args: Namespace) -> str:
    return " ".join(["gnomon audit", *args.sets])


def _print(reports: Sequence[AuditReport], format: str) -> None:
    if format == "json":
        _print_json(reports)
        return
    from gnomon.audit.page import listing, summary
    from gnomon.tabular import render

    if format != "table":
        for report in reports:
            print(render(listing(report), format))
        return
    for report in reports:
        for line in summary(report):
            print(inert(line))


def _print_json(reports: Sequence[AuditReport]) -> None:
    import msgspec

    records = []
    for report in reports:
        for finding in report.findings:
            fields = msgspec.to_builtins(finding)
            records.append({"set": report.audited.name, **fields})
    print(msgspec.json.format(msgspec.json.encode(records), indent=2).decode())
