"""Checks the packages that Gnomon needs at run time, as far as that can be done without a network.

    python scripts/audit.py            # the table of licences, and what is wrong
    python scripts/audit.py --check    # only what is wrong; exit code 1 if there is anything

Each package, and each that it needs in turn, must be pinned in constraints.txt, to a version that
whoever needs it accepts, under a licence of the list below. Known weaknesses of these versions are
not looked up: that takes `pip-audit -r constraints.txt` and a network.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
NOT_AT_RUN_TIME = ("dev", "bench")
NOT_HERE = "not installed here"
# As SPDX names them; a package may combine them.
ALLOWED = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD",  # which of its variants is not always said
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC0-1.0",
        "CNRI-Python",
        "HPND",
        "ISC",
        "MIT",
        "MIT-CMU",
        "MIT-0",
        "MPL-2.0",
        "PSF-2.0",
        "Python-2.0",
        "Unlicense",
        "Zlib",
    }
)
# How older metadata says it, by classifier or in free text.
SPELLINGS = {
    "Apache Software License": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache": "Apache-2.0",
    "BSD License": "BSD",
    "3-Clause BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "PSFL": "PSF-2.0",
}
# Packages that say nothing, or something else, in their metadata.
EXCEPTIONS = {
    "embreex": ("BSD-2-Clause", "by the text in its metadata, which name none"),
    "resvg-py": ("MIT", "by the LICENSE file in its wheel; its metadata state none"),
}


class Package(NamedTuple):
    """A package that is needed, and what is known of it."""

    name: str
    version: str  # as pinned
    licence: str
    needed_by: tuple[str, ...]
    note: str = ""


def needed(root: Path = ROOT) -> dict[str, list[tuple[str, Requirement]]]:
    """Every package that is needed at run time: who needs it, and in which versions."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting = [("gnomon", "", text) for text in project["dependencies"]]
    for extra, texts in project["optional-dependencies"].items():
        if extra not in NOT_AT_RUN_TIME:
            waiting += [("gnomon", extra, text) for text in texts]
    found: dict[str, list[tuple[str, Requirement]]] = {}
    seen = set()
    while waiting:
        by, extra, text = waiting.pop(0)
        wanted = Requirement(text)
        name = canonicalize_name(wanted.name)
        if name == "gnomon" or not _applies(wanted, extra):
            continue
        found.setdefault(name, []).append((by, wanted))
        for each in ("", *wanted.extras):
            if (name, each) not in seen:
                seen.add((name, each))
                waiting += [(name, each, more) for more in _requirements(name)]
    return dict(sorted(found.items()))


def _applies(wanted: Requirement, extra: str) -> bool:
    """Whether a requirement holds here, for the extra by which it was reached."""
    if wanted.marker is None:
        return True
    told = str(wanted.marker)
    if "extra" in told:
        return bool(extra) and wanted.marker.evaluate({"extra": extra})
    return wanted.marker.evaluate({"extra": ""})


def _requirements(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []


def pins(root: Path = ROOT) -> dict[str, str]:
    """The versions of constraints.txt."""
    found = {}
    for line in (root / "constraints.txt").read_text(encoding="utf-8").splitlines():
        name, equals, version = line.partition("#")[0].strip().partition("==")
        if equals:
            found[canonicalize_name(name.strip())] = version.partition(";")[0].strip()
    return found


def licence_of(name: str) -> str:
    """The licence as the metadata state it, in SPDX's names where we know them."""
    try:
        known = metadata(name)
    except PackageNotFoundError:
        return NOT_HERE
    expression = known.get("License-Expression")
    if expression:
        return expression
    classified = []
    for classifier in known.get_all("Classifier") or ():
        if classifier.startswith("License :: ") and classifier != "License :: OSI Approved":
            last = classifier.rpartition(" :: ")[2]
            classified.append(SPELLINGS.get(last, last))
    if classified:
        return " AND ".join(dict.fromkeys(classified))
    text = (known.get("License") or "").strip().partition("\n")[0]
    return SPELLINGS.get(text, text)


def is_allowed(licence: str) -> bool:
    """Whether every part of an expression is allowed, or one of those to choose from.

    >>> is_allowed("MIT AND (Apache-2.0 OR GPL-3.0)"), is_allowed("GPL-3.0"), is_allowed("")
    (True, False, False)
    """
    if not licence:
        return False
    for part in re.split(r"\bAND\b", licence):
        choices = [name.strip(" ()") for name in re.split(r"\bOR\b", part)]
        plain = [name.partition(" WITH ")[0].strip() for name in choices]
        if not any(name in ALLOWED for name in plain):
            return False
    return True


def packages(root: Path = ROOT) -> Iterator[Package]:
    """Every package at run time, by name."""
    pinned = pins(root)
    for name, wanted in needed(root).items():
        by = tuple(dict.fromkeys(who for who, _ in wanted))
        licence, note = licence_of(name), ""
        if name in EXCEPTIONS:
            licence, note = EXCEPTIONS[name]
        yield Package(name, pinned.get(name, ""), licence, by, note)


def problems(root: Path = ROOT) -> Iterator[str]:
    """What is wrong, a sentence each."""
    wanted = needed(root)
    for package in packages(root):
        if not package.version:
            yield f"{package.name} is not pinned in constraints.txt."
            continue
        for by, requirement in wanted[package.name]:
            if not requirement.specifier.contains(package.version, prereleases=True):
                yield (
                    f"{package.name} is pinned to {package.version}, "
                    f"but {by} needs {requirement.specifier}."
                )
        if package.licence != NOT_HERE and not is_allowed(package.licence):
            yield f"{package.name} is under '{package.licence}', which is not on the list."


def table(root: Path = ROOT) -> str:
    """The packages as a table of Markdown."""
    lines = ["| package | version | licence | needed by |", "| --- | --- | --- | --- |"]
    for package in packages(root):
        licence = package.licence
        if package.note:
            licence = f"{licence} ({package.note})"
        by = ", ".join(package.needed_by)
        lines.append(f"| {package.name} | {package.version} | {licence} | {by} |")
    return "\n".join(lines)


def main() -> int:
    """Print the table and the problems."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="print no table")
    args = parser.parse_args()
    if not args.check:
        print(table())
    found = list(problems())
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
