"""Validate a file of patterns, or a file of items.

Of patterns it checks that restrictions can be satisfied, that examples can be derived, and that
labels agree. It prints what is wrong, the number of problems of each pattern, and the paper's
tables of expressions and labels. Without FILE it checks the patterns that ship with gnomon. Exit
code 1 if there are errors (with --strict, also if there are warnings).

Of items, yours or such as `gnomon make` wrote (.jsonl, .csv, .tsv, .parquet, a dataset folder, an
lm-eval task), it lists by line what cannot be asked: a gold that is no choice, an empty text, a
missing picture, an id that occurs twice; and it warns of questions that occur twice. It says how
many items there are, their digest (as in a run's manifest) and whether the canary is there.

With --prove it proves instead that the labels follow from what the sentences mean (docs/proofs.md):
for each pattern what was proved, under which readings, and which premises it takes. Exit code 1 if
a label is refuted.

examples:
  gnomon check my_patterns.yaml
  gnomon check my_patterns.yaml --prove
  gnomon check my_patterns/ --world my_world.yaml
  gnomon check --vocabulary
  gnomon check scales.jsonl
  gnomon check quiz.csv --map text=question,choices=A+B+C+D,gold=answer
  gnomon check SpaceNLI/dataset/problem_patterns.xml --format markdown
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.choosing import ITEM_FLAGS
from gnomon.errors import UsageError, inert

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gnomon.contracts import Listing
    from gnomon.language.checking import Report
    from gnomon.language.patterns import Bank


MOST_ROWS = 100  # of a table in a terminal


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from gnomon.tabular import FORMATS

    parser.add_argument(
        "file",
        nargs="*",
        metavar="FILE",
        help="pattern files or folders of them; the authors' .xml; or files of items",
    )
    parser.add_argument(
        "--world",
        metavar="FILE",
        help="a mini world of your own (for .xml: selection_restriction.yaml)",
    )
    parser.add_argument(
        "--vocabulary",
        action="store_true",
        help="only list the mini world: classes, scales, relations",
    )
    parser.add_argument(
        "--prove", action="store_true", help="prove the labels instead (needs gnomon[prove])"
    )
    for name in ("map", "split", "images"):
        flag = ITEM_FLAGS[name]
        action = "append" if flag.repeated else "store"
        parser.add_argument(f"--{name}", action=action, metavar=flag.value, help=flag.text)
    parser.add_argument("--strict", action="store_true", help="count warnings as errors")
    parser.add_argument("--quiet", action="store_true", help="print findings only, no tables")
    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="format of the tables (default: table)"
    )


def main(args: Namespace) -> int:
    """Print the findings, then the tables; json is one object with everything."""
    from gnomon.items.itemfiles import names_items

    if args.file and all(map(names_items, args.file)):
        from gnomon.cli.checkitems import check_items

        return check_items(args)
    for name in ("map", "split", "images"):
        if getattr(args, name):
            raise UsageError(f"--{name} is for files of items.", "Leave it out for patterns.")

    from gnomon.language.checking import check
    from gnomon.language.tables import vocabulary

    _check_no_benchmark(args.file)
    bank = _bank(args.file, args.world)
    if args.prove:
        from gnomon.cli.proofs import print_proofs

        return print_proofs(bank, args.format)
    if args.vocabulary:
        print(_rendered(vocabulary(bank.world), args.format))
        return 0
    report = check(bank)
    if args.format == "json":
        _print_json(bank, report)
    else:
        _print_findings(report)
        if not args.quiet:
            print(f"\n{_rendered(report.listings, args.format)}\n")
        _print_summary(bank, report)
    failed = report.errors or (args.strict and report.findings)
    return 1 if failed else 0


def _check_no_benchmark(names: list[str]) -> None:
    """Say where benchmarks are checked, if one is named."""
    from gnomon.errors import UsageError
    from gnomon.registry import known_benchmark

    for name in names:
        if not Path(name).exists() and known_benchmark(name) is not None:
            raise UsageError(
                f"{name} is a benchmark, not a file.", f"To check it: gnomon audit {name}"
            )


def _rendered(listings: Iterable[Listing], format: str) -> str:
    """The tables; in a terminal without those that would fill several screens."""
    from gnomon.tabular import render

    parts = []
    for listing in listings:
        if format == "table" and len(listing.rows) > MOST_ROWS:
            parts.append(f"{listing.title}: {len(listing.rows):,} rows (--format csv lists them)")
        elif listing.rows:
            parts.append(render(listing, format))
    return "\n\n".join(parts)


def _print_json(bank: Bank, report: Report) -> None:
    import msgspec

    findings = []
    for finding in report.findings:
        findings.append(
            {
                "level": finding.level,
                "pattern": finding.pattern.id,
                "file": finding.pattern.file,
                "line": finding.pattern.line,
                "message": finding.message,
            }
        )
    found = {
        "files": bank.files,
        "errors": report.errors,
        "warnings": len(report.findings) - report.errors,
        "findings": findings,
        "tables": [listing._asdict() for listing in report.listings],
    }
    print(msgspec.json.encode(found).decode())


def _print_findings(report: Report) -> None:
    for finding in report.findings:
        where = f"{finding.pattern.file}:{finding.pattern.line}"
        message = finding.message.rstrip(".")
        print(inert(f"{where}: {finding.level}: '{finding.pattern.id}': {message}."))


def _print_summary(bank: Bank, report: Report) -> None:
    total = sum(report.populations.values())
    files = bank.files[0] if len(bank.files) == 1 else f"{len(bank.files)} files"
    errors = _count(report.errors, "error")
    warnings = _count(len(report.findings) - report.errors, "warning")
    print(
        f"{len(bank.patterns)} patterns with {total:,} problems in {inert(str(files))}: "
        f"{errors}, {warnings}."
    )


def _bank(files: list[str], world: str | None) -> Bank:
    from gnomon.files import package_data
    from gnomon.language.patternfile import read_bank

    if not any(file.endswith(".xml") for file in files):
        return read_bank(*(files or [str(package_data("patterns/bank"))]), world=world)
    from gnomon.files import find
    from gnomon.language.problems import read_problems
    from gnomon.language.restrictions import read_signature

    if len(files) > 1:
        raise UsageError(
            "The authors' .xml cannot be checked together with other files.", "Give one file."
        )
    folder = Path(files[0]).parent
    found = world or find(
        folder,
        "selection_restriction.yaml",
        "../config/selection_restriction.yaml",
        what="the mini world of the patterns (give it with --world)",
    )
    return read_problems(files[0], read_signature(found))


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
