"""Check a benchmark before its users do: bad items, shortcuts, leaks, repeats, contradictions.

NAME is a benchmark of `gnomon list`, fresh or @published. FILE is any JSON, CSV, TSV or Parquet
file, a folder of a Hugging Face dataset, a sample log of lm-eval or Inspect, or what `gnomon make`
wrote. Files that are named after splits (train, dev, test) are the splits of one set. RUN is a run
folder, or a folder of runs: the items that they were asked. PATTERNS are pattern files of SpaceNLI,
folders of them, or the authors' .xml.

A file of items is validated first: what cannot be asked is listed by line (a gold that is no
choice, an empty text, a missing picture, an id that occurs twice), with the number of items, their
digest (as in a run's manifest) and whether the canary is there. --check validation does only that.

Of patterns it checks that restrictions can be satisfied, that examples can be derived, and that
labels agree; it prints the number of problems of each pattern, and the paper's tables. With --prove
it proves instead that the labels follow from what the sentences mean (docs/proofs.md). Without a
file, --check validation, --prove and --vocabulary are about the patterns that ship with Gnomon.

examples:
  gnomon audit scales
  gnomon audit vsr@published --data path/to/vsr --split random
  gnomon audit mine.jsonl --map text=question,choices=options,gold=answer,group=template
  gnomon audit train.jsonl test.jsonl --map text=caption,gold=label,labels=false+true -o audit.html
  gnomon audit mine.jsonl --map text=question,gold=answer,group=template -o clean.jsonl
  gnomon audit mine.jsonl --runs runs
  gnomon audit quiz.csv --map text=question,choices=A+B+C+D,gold=answer --check validation
  gnomon audit my_patterns.yaml --prove
  gnomon audit --atlas data -o atlas
  gnomon audit mine.csv --allow constants --allow "words:context, *" --format json

--map names what holds the question, as for `gnomon run`: id, context, text, choices, gold, group
(what belongs together), image; and beside it split, votes (or votes_true and votes_false),
relation, first and second (two things that are compared). Several columns are joined with +. What
has its usual name need not be named. --runs DIR reads which labels people marked as doubtful in
`gnomon view`, and how many runs got these items wrong. docs/audit.md says what each check does.

--atlas DIR audits every set that is known by name (`gnomon list sets`, the five papers' published
data) and whose files are in DIR, and our own: a page a set, one table, the figures as JSON, and of
each set the part that gives nothing away. Its exit code does not depend on alarms.

Exit code 0 if there is no alarm and no error, 1 if there is one (with --strict, also a warning; or
a file cannot be read), 2 for wrong usage.
--allow CHECK or CHECK:PART takes an alarm back that is explained.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.options import BETWEEN
from gnomon.cli.selection import chosen_sources
from gnomon.contracts import Listing
from gnomon.errors import UsageError, inert
from gnomon.items.lmtask import is_task_file
from gnomon.registry import asked_benchmark
from gnomon.runs import MANIFEST, open_runs, survey
from gnomon.tabular import as_json, render

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
VALIDATION = "validation"  # the check that comes first


def main(args: Namespace) -> int:
    """Validate, audit, print, and write the page."""
    if args.atlas:
        return _atlas(args)
    only_valid = args.check == [VALIDATION]
    about_patterns = args.prove or args.vocabulary
    patterns = [name for name in args.sets if _holds_patterns(name)]
    if patterns or (not args.sets and (about_patterns or only_valid)):
        return _audit_patterns(args, patterns)
    if not args.sets:
        raise UsageError(
            "audit needs a benchmark, a file or a run.", "For example: gnomon audit scales"
        )
    if about_patterns:
        raise UsageError(
            "--prove and --vocabulary are for patterns.", "Name a pattern file, or nothing else."
        )
    valid = _validate(args, only=only_valid)
    if only_valid:
        return 0 if valid else 1
    alarmed = _audit(args)
    return 0 if valid and not alarmed else 1


def _atlas(args: Namespace) -> int:
    """Audit all sets of a folder, and print their overview."""
    from gnomon.audit.atlas import COLUMNS, lines, make_atlas
    from gnomon.cli.dispatch import tell

    if args.sets or not args.output:
        raise UsageError(
            "--atlas takes a folder of authors' files and -o a folder for its pages.",
            "For example: gnomon audit --atlas data -o atlas",
        )
    entries = make_atlas(Path(args.atlas), Path(args.output), tell)
    print(render(Listing("", COLUMNS, tuple(lines(entries))), args.format))
    tell(f"{Path(args.output) / 'index.html'} holds the overview, with a page for each set.")
    return 0


def _holds_patterns(name: str) -> bool:
    """Whether a name is a file of patterns, or a folder of such files."""
    from gnomon.items.itemfiles import names_items

    path = Path(name)
    if names_items(name) or (path / MANIFEST).is_file():
        return False
    if path.is_dir():
        return any(path.glob("*.yaml")) or any(path.glob("*.yml"))
    return path.suffix.lower() in (".yaml", ".yml", ".xml")


def _audit_patterns(args: Namespace, patterns: Sequence[str]) -> int:
    from gnomon.cli.validation import validate_patterns

    others = [name for name in args.sets if name not in patterns]
    if others:
        raise UsageError(
            f"{others[0]} is no file of patterns, and cannot be checked together with one.",
            "Give each in a command of its own.",
        )
    return validate_patterns(patterns, args)


def _validate(args: Namespace, *, only: bool) -> bool:
    """Whether the files of items that are named can be asked; what is wrong is printed."""
    from gnomon.cli.validation import FEW, print_validated, validate_items
    from gnomon.items.itemfiles import names_items

    if args.check and VALIDATION not in args.check:
        return True
    files = [name for name in args.sets if names_items(name)]
    if only and len(files) < len(args.sets):
        other = next(name for name in args.sets if name not in files)
        raise UsageError(
            f"{other} is no file of items, and has nothing to validate.",
            f"The other checks: gnomon audit {other}",
        )
    if only:
        found = validate_items(files, args)
        print_validated(found, args.format)
        return not found.failed
    valid = True
    for file in files:
        found = validate_items([file], args, pictures=False)  # no check looks at them
        for line in found.lines(FEW):
            print(line, file=sys.stdout if args.format == "table" else sys.stderr)
        valid = valid and not found.failed
    return valid


def _audit(args: Namespace) -> bool:
    """Make the checks, print what they say, write the page; whether there is an alarm."""
    from gnomon.audit.auditing import allowed, audit, explanations

    checks = [check for check in args.check if check != VALIDATION]
    reasons = [*allowed(args.allow), *explanations()]
    reports = [audit(audited, checks, reasons) for audited in _sets(args)]
    _print(reports, args.format)
    if args.output:
        _write(reports, args)
    return any(report.alarms for report in reports)


def _write(reports: Sequence[AuditReport], args: Namespace) -> None:
    """Write the page or, to a file of items, the part of the set that gives nothing away."""
    from gnomon.items.itemfiles import is_item_file

    output = Path(args.output)
    if not is_item_file(output.name):
        from gnomon.audit.page import write_audit

        write_audit(reports, output, command=" ".join(["gnomon audit", *args.sets]))
        return
    from gnomon.audit.pruning import write_pruned

    if len(reports) != 1:
        raise UsageError(
            f"{output} can hold the items of one set, but {len(reports)} are audited.",
            "Name one benchmark or file.",
        )
    print(write_pruned(reports[0], output), file=sys.stderr)


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
    given = BETWEEN["map"].join(args.map or ())
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
    for option in ("seed", "data", "images", "set"):
        if getattr(args, option):
            raise UsageError(f"--{option} is an option of a benchmark.", "Leave it out for files.")


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


def _print(reports: Sequence[AuditReport], format: str) -> None:
    if format == "json":
        _print_json(reports)
        return
    from gnomon.audit.page import listing, summary

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
    print(as_json(records))
