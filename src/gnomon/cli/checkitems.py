"""The part of `gnomon check` that looks at files of items."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.choosing import ITEM_FLAGS
from gnomon.errors import inert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.items.checking import Checker, Finding

COLUMNS = ("file", "items", "errors", "warnings", "canary", "digest")
SHOWN = 50  # findings of a file that are printed
CLOSE = 0.005  # by how much a stated chance may differ from that of the items


def check_items(args: Namespace) -> int:
    """Read files of items; print what is wrong with rows, then what the files hold."""
    from gnomon.contracts import Listing
    from gnomon.items.checking import in_order
    from gnomon.tabular import render

    rows, failed = [], False
    findings = []
    for file in args.file:
        found = _checked(file, args)
        errors = sum(finding.level == "error" for finding in found.findings)
        warnings = len(found.findings) - errors
        failed = failed or errors > 0 or (args.strict and warnings > 0)
        findings += [(file, finding) for finding in in_order(found.findings)]
        rows.append((file, found.items, errors, warnings, _canary(found), found.digest))
    if args.format == "json":
        _print_json(rows, findings)
        return 1 if failed else 0
    for file, finding in findings[:SHOWN]:
        print(inert(f"{file}:{finding.line}: {finding.level}: {finding.message}."))
    if len(findings) > SHOWN:
        print(f"... and {len(findings) - SHOWN:,} more (--format json lists all).")
    print(render(Listing("", COLUMNS, tuple(rows)), args.format))
    return 1 if failed else 0


def _checked(file: str, args: Namespace) -> Checker:
    from gnomon.cli.dispatch import tell
    from gnomon.items.checking import Checker
    from gnomon.items.itemfiles import mapping_of, numbered_items
    from gnomon.items.mapping import write_map
    from gnomon.items.resolving import taken_in_words
    from gnomon.items.sidecar import read_sidecar

    path = Path(file)
    checker = Checker()
    given = ITEM_FLAGS["map"].between.join(args.map or ())
    split = args.split or ""
    mapping = mapping_of(path, given, split, checker.tell)
    written = "" if mapping is None else write_map(mapping)
    if written:
        tell(taken_in_words({"file": file, "map": written}))
    items = numbered_items(
        path, map=written, split=split, images=args.images or "", tell=checker.tell
    )
    for found in items:
        checker.add(found.line, found.item, canary=found.canary)
    if mapping is not None and mapping.image:
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


def _print_json(
    rows: Sequence[tuple[object, ...]], findings: Sequence[tuple[str, Finding]]
) -> None:
    import msgspec

    found = []
    for row in rows:
        mine = [finding._asdict() for file, finding in findings if file == row[0]]
        found.append({**dict(zip(COLUMNS, row, strict=True)), "findings": mine})
    print(msgspec.json.encode(found).decode())
