"""Findings that are right although they look wrong, each with a reason (audit/explained.yaml).

A reason also has the largest value that it covers, so that a set that gets worse is an alarm again.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache

import msgspec

from gnomon.audit.finding import Finding
from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml


class Explanation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a finding of a check, in parts whose names fit, is no alarm."""

    check: str
    part: str = "*"  # as file names are matched: "context, *"
    most: float = 1.0  # the largest value that is explained
    why: str


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    explained: dict[str, tuple[Explanation, ...]]


@cache
def _explained() -> dict[str, tuple[Explanation, ...]]:
    return msgspec.convert(read_yaml(package_data("audit/explained.yaml")), _File).explained


def explanations_of(benchmark: str) -> tuple[Explanation, ...]:
    """What is explained of a benchmark, NAME@SOURCE."""
    return _explained().get(benchmark, ())


def allowed(texts: Iterable[str]) -> list[Explanation]:
    """What a user allows: CHECK or CHECK:PART.

    >>> allowed(["words:context, *"])[0].part
    'context, *'
    """
    found = []
    for text in texts:
        check, colon, part = text.partition(":")
        if not check or (colon and not part):
            raise UsageError(
                f"'{text}' is not CHECK or CHECK:PART.", "For example: --allow words:context"
            )
        found.append(Explanation(check=check, part=part or "*", why="Allowed with --allow."))
    return found


def explanation(finding: Finding, reasons: Iterable[Explanation]) -> str:
    """Why a finding is no alarm; empty if nobody says."""
    for reason in reasons:
        fits = reason.check == finding.check and fnmatchcase(finding.part, reason.part)
        if fits and (finding.value is None or finding.value <= reason.most):
            return reason.why
    return ""
