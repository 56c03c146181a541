"""Validate a file of patterns: restrictions that can be satisfied, examples that can be derived,
labels that agree.

Prints what is wrong, the number of problems of each pattern, and the paper's tables of expressions
and labels. Without FILE it checks the patterns that ship with gnomon. Exit code 1 if there are
errors (with --strict, also if there are warnings).

examples:
  gnomon check my_patterns.yaml
  gnomon check my_patterns/ --world my_world.yaml
  gnomon check --vocabulary
  gnomon check SpaceNLI/dataset/problem_patterns.xml --format markdown
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnomon.language.patterns import Bank


def arguments(parser: ArgumentParser) -> None:
    """Add the options of this command."""
    from gnomon.reporting.tables.render import FORMATS

    parser.add_argument(
        "file",
        nargs="*",
        metavar="FILE",
        help="pattern files or folders of them; or the authors' .xml",
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
    parser.add_argument("--strict", action="store_true", help="count warnings as errors")
    parser.add_argument("--quiet", action="store_true", help="print findings only, no tables")
    parser.add_argument(
        "--format", choices=FORMATS, default="table", help="of the tables (default: table)"
    )


def main(args: Namespace) -> int:
    """Print the findings, then the tables; json is one object with everything."""
    from gnomon.language.checking import check
    from gnomon.language.tables import vocabulary
    from gnomon.reporting.tables.render import render

    bank = _bank(args.file, args.world)
    if args.vocabulary:
        print(
            "\n\n".join(
                render(listing, args.format) for listing in vocabulary(bank.world) if listing.rows
            )
        )
        return 0
    report = check(bank)
    warnings = len(report.findings) - report.errors
    if args.format == "json":
        import msgspec

        print(
            msgspec.json.encode(
                {
                    "files": bank.files,
                    "errors": report.errors,
                    "warnings": warnings,
                    "findings": [
                        {
                            "level": f.level,
                            "pattern": f.pattern.id,
                            "file": f.pattern.file,
                            "line": f.pattern.line,
                            "message": f.message,
                        }
                        for f in report.findings
                    ],
                    "tables": [listing._asdict() for listing in report.listings],
                }
            ).decode()
        )
    else:
        for finding in report.findings:
            where = f"{finding.pattern.file}:{finding.pattern.line}"
            print(
                f"{where}: {finding.level}: '{finding.pattern.id}': {finding.message.rstrip('.')}."
            )
        for listing in () if args.quiet else report.listings:
            if listing.rows:
                print(f"\n{render(listing, args.format)}")
        total = sum(report.populations.values())
        files = bank.files[0] if len(bank.files) == 1 else f"{len(bank.files)} files"
        print("" if args.quiet else "\n", end="")
        found = f"{_count(report.errors, 'error')}, {_count(warnings, 'warning')}"
        print(f"{len(bank.patterns)} patterns with {total:,} problems in {files}: {found}.")
    return 1 if report.errors or (args.strict and warnings) else 0


def _bank(files: list[str], world: str | None) -> Bank:
    from gnomon.errors import UsageError
    from gnomon.files import package_data
    from gnomon.language.patternfile import read_bank

    if not any(file.endswith(".xml") for file in files):
        return read_bank(*(files or [str(package_data("spacenli/patterns"))]), world=world)
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
    return f"{n} {noun}{'' if n == 1 else 's'}"
