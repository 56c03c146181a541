"""What `gnomon audit` looks at first: whether every item can be asked, and every pattern used.

Of items it lists by line what cannot be asked: a gold that is no choice, an empty text, a missing
picture, an id that occurs twice. Of patterns it checks that restrictions can be satisfied, that
examples can be derived and that labels agree; and it proves labels.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gnomon.cli.dispatch import tell
from gnomon.cli.list import print_json
from gnomon.cli.options import BETWEEN
from gnomon.contracts import Listing
from gnomon.errors import UsageError, inert
from gnomon.files import find, package_data
from gnomon.items.checking import Checker, RowFinding, in_order
from gnomon.items.itemfiles import mapping_of, numbered_items
from gnomon.items.mapping import write_map
from gnomon.items.sidecar import read_sidecar
from gnomon.items.understanding import understood
from gnomon.language.checking import Report, check, vocabulary
from gnomon.language.patternfile import read_bank
from gnomon.language.patterns import Bank
from gnomon.language.problems import read_problems
from gnomon.language.restrictions import read_signature
from gnomon.proofs.solver import PatternProof, prove_patterns
from gnomon.proofs.witnesses import centres
from gnomon.tabular import render

COLUMNS = ("file", "items", "errors", "warnings", "canary", "digest")
SHOWN = 50  # findings of a file that are printed
FEW = 5  # the same before other checks, which say more of them
CLOSE = 0.005  # by how much a stated chance may differ from that of the items
MOST_ROWS = 100  # of a table in a terminal


class ValidatedItems(NamedTuple):
    """What was found in files of items, and a row of counts for each file."""

    rows: list[tuple[object, ...]]
    findings: list[tuple[str, RowFinding]]
    failed: bool

    def lines(self, most: int = SHOWN) -> list[str]:
        """The first findings, a line each."""
        lines = []
        for file, finding in self.findings[:most]:
            lines.append(inert(f"{file}:{finding.line}: {finding.level}: {finding.message}."))
        more = len(self.findings) - most
        if more > 0:
            lines.append(f"... and {more:,} more (--check validation --format json lists all).")
        return lines


def validate_items(
    files: Sequence[str], args: Namespace, *, pictures: bool = True
) -> ValidatedItems:
    """Read files of items, and say what is wrong with their rows, and with their pictures."""

    found = ValidatedItems([], [], failed=False)
    for file in files:
        checked = _checked(file, args, pictures=pictures)
        errors = sum(finding.level == "error" for finding in checked.findings)
        warnings = len(checked.findings) - errors
        failed = found.failed or errors > 0 or (args.strict and warnings > 0)
        found.findings.extend((file, finding) for finding in in_order(checked.findings))
        row = (file, checked.items, errors, warnings, _canary(checked), checked.digest)
        found.rows.append(row)
        found = found._replace(failed=failed)
    return found


def print_validated(found: ValidatedItems, format: str) -> None:
    """Print what is wrong with rows, then what the files hold."""

    if format == "json":
        print_json(_records(found))
        return
    for line in found.lines():
        print(line)
    print(render(Listing("", COLUMNS, tuple(found.rows)), format))


def _checked(file: str, args: Namespace, *, pictures: bool) -> Checker:

    path = Path(file)
    checker = Checker(pictures=pictures)
    given = BETWEEN["map"].join(args.map or ())
    split = args.split or ""
    mapping = mapping_of(path, given, split, checker.tell)
    written = "" if mapping is None else write_map(mapping)
    if written:
        for sentence in understood({"file": file, "map": written}):
            tell(sentence)
    items = numbered_items(
        path,
        map=written,
        split=split,
        images=args.images or "",
        tell=checker.tell,
        pictures=pictures,
    )
    for numbered in items:
        checker.add(numbered.line, numbered.item, canary=numbered.canary)
    if pictures and mapping is not None and mapping.image:
        checker.tell_of_missing_pictures()
    stated = read_sidecar(path).chance
    if stated is not None and abs(stated - checker.chance) > CLOSE:
        told = f"the sidecar says that chance is {stated:.3f}, by the items it is "
        checker.tell(0, f"{told}{checker.chance:.3f}")
    return checker


def _canary(found: Checker) -> str:
    if found.items and found.canaries == found.items:
        return "yes"
    return f"{found.canaries} of {found.items} items" if found.canaries else "no"


def _records(found: ValidatedItems) -> list[dict[str, Any]]:
    records = []
    for row in found.rows:
        mine = [finding._asdict() for file, finding in found.findings if file == row[0]]
        records.append({**dict(zip(COLUMNS, row, strict=True)), "findings": mine})
    return records


def validate_patterns(files: Sequence[str], args: Namespace) -> int:
    """Print the findings, then the tables; json is one object with everything."""

    for name in ("map", "split", "images"):
        if getattr(args, name):
            raise UsageError(f"--{name} is for files of items.", "Leave it out for patterns.")
    bank = _bank(files, args.world)
    if args.prove:
        return _print_proofs(bank, args.format)
    if args.vocabulary:
        print(_rendered(vocabulary(bank.world), args.format))
        return 0
    report = check(bank)
    if args.format == "json":
        print_json(_report_record(bank, report))
    else:
        _print_findings(report)
        if not args.quiet:
            print(f"\n{_rendered(report.listings, args.format)}\n")
        _print_summary(bank, report)
    failed = report.errors or (args.strict and report.findings)
    return 1 if failed else 0


def _rendered(listings: Iterable[Listing], format: str) -> str:
    """The tables; in a terminal without those that would fill several screens."""

    parts = []
    for listing in listings:
        if format == "table" and len(listing.rows) > MOST_ROWS:
            parts.append(f"{listing.title}: {len(listing.rows):,} rows (--format csv lists them)")
        elif listing.rows:
            parts.append(render(listing, format))
    return "\n\n".join(parts)


def _report_record(bank: Bank, report: Report) -> dict[str, Any]:
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
    return {
        "files": bank.files,
        "errors": report.errors,
        "warnings": len(report.findings) - report.errors,
        "findings": findings,
        "tables": [listing._asdict() for listing in report.listings],
    }


def _print_findings(report: Report) -> None:
    for finding in report.findings:
        where = f"{finding.pattern.file}:{finding.pattern.line}"
        message = finding.message.rstrip(".")
        print(inert(f"{where}: {finding.level}: '{finding.pattern.id}': {message}."))


def _print_summary(bank: Bank, report: Report) -> None:
    from gnomon.reports.words import counted

    total = sum(report.populations.values())
    files = bank.files[0] if len(bank.files) == 1 else f"{len(bank.files)} files"
    errors = counted(report.errors, "errors")
    warnings = counted(len(report.findings) - report.errors, "warnings")
    print(
        f"{len(bank.patterns)} patterns with {total:,} problems in {inert(str(files))}: "
        f"{errors}, {warnings}."
    )


def _bank(files: Sequence[str], world: str | None) -> Bank:

    if not any(file.endswith(".xml") for file in files):
        return read_bank(*(files or [str(package_data("patterns/bank"))]), world=world)

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


def _print_proofs(bank: Bank, format: str) -> int:
    """Prove every label of a bank; 1 if one is refuted."""

    in_full = format == "json"
    proofs = prove_patterns(bank.patterns, needed=in_full, witnesses=in_full)
    if format == "json":
        print_json([_proof_record(proof) for proof in proofs])
    else:
        _print_proof_findings(proofs)
        _print_proof_tables(proofs, format)
    return 1 if any(proof.refuted for proof in proofs) else 0


def _proof_record(proof: PatternProof) -> dict[str, Any]:

    ordinary = proof.ordinary
    found: dict[str, Any] = {
        "pattern": proof.pattern.id,
        "label": proof.pattern.label,
        "proved": ordinary.verdict if ordinary else "",
        "proof": proof.tag,
        "reading": proof.holds_under,
        "needed": [number + 1 for number in ordinary.needed] if ordinary else [],
        "witness": None,
        "reason": proof.reason,
    }
    if ordinary and ordinary.could:
        found["witness"] = {
            "could": centres(ordinary.could),
            "need_not": centres(ordinary.need_not),
        }
    return found


def _print_proof_findings(proofs: list[PatternProof]) -> None:
    for proof in proofs:
        pattern = proof.pattern
        where = f"{pattern.file}:{pattern.line}"
        if proof.reason:
            print(inert(f"{where}: not expressible: '{pattern.id}': {proof.reason}"))
        if proof.refuted and proof.ordinary:
            found = f"the label is {pattern.label}, but what follows is {proof.ordinary.verdict}"
            print(inert(f"{where}: refuted: '{pattern.id}': {found}."))


def _print_proof_tables(proofs: list[PatternProof], format: str) -> None:

    rows = []
    for proof in proofs:
        if proof.tag == "some readings":
            other = [name for name in proof.proofs if name not in proof.holds_under]
            rows.append((proof.pattern.id, proof.pattern.label, ", ".join(other)))
    dependent = Listing(
        "Labels that hang on a reading", ("pattern", "label", "not under"), tuple(rows)
    )
    if rows:
        print(f"\n{render(dependent, format)}")
    counts = Counter(proof.tag for proof in proofs)
    tags = ", ".join(f"{count} {tag}" for tag, count in counts.most_common())
    refuted = sum(proof.refuted for proof in proofs)
    print(f"\n{len(proofs)} labels: {tags}; {refuted} refuted under the ordinary reading.")
