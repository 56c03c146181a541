"""One audit: every check on one set, with what is known to be right although it looks wrong."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import NamedTuple

import msgspec
from msgspec import structs

from gnomon.audit.doubts import disputes, doubts
from gnomon.audit.finding import Finding, beyond_luck
from gnomon.audit.integrity import duplicates, integrity
from gnomon.audit.order import order
from gnomon.audit.partialinput import partial_input
from gnomon.audit.proof import clash, proof
from gnomon.audit.sets import AuditSet
from gnomon.audit.shortcuts import (
    constants,
    flipped_lookup,
    in_rounds,
    lookup,
    priors,
    rows,
    shared_context,
)
from gnomon.audit.subject import Subject
from gnomon.audit.wordbias import shapes, words
from gnomon.errors import UsageError, check_known, inert
from gnomon.files import package_data, read_yaml
from gnomon.tabular import html_table

# Findings that are right although they look wrong, each with a reason (audit/explained.yaml).
#
# A reason holds for every set alike, and only while other findings of the same set are no alarm.


class Explanation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a finding of a check, in parts whose names fit, is no alarm."""

    check: str
    part: str = "*"  # as file names are matched: "context, *"
    quiet: str = ""  # parts of the same check that must not be an alarm
    in_rounds: bool = False  # whether the labels must come one after the other, round by round
    why: str


@cache
def explanations() -> tuple[Explanation, ...]:
    """What is explained in any set."""
    content = read_yaml(package_data("audit/explained.yaml"))
    return msgspec.convert(content["explained"], tuple[Explanation, ...])


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


Check = Callable[[Subject], Iterator[Finding]]
CHECKS: dict[str, Check] = {
    "integrity": integrity,
    "duplicates": duplicates,
    "constants": constants,
    "priors": priors,
    "rows": rows,
    "lookup": lookup,
    "flipped_lookup": flipped_lookup,
    "shared_context": shared_context,
    "partial_input": partial_input,
    "words": words,
    "shapes": shapes,
    "order": order,
    "disputes": disputes,
    "doubts": doubts,
    "clash": clash,
    "proof": proof,
}


class AuditReport(NamedTuple):
    """What the checks found on one set."""

    audited: AuditSet
    findings: tuple[Finding, ...]

    @property
    def alarms(self) -> list[Finding]:
        """What somebody should look at."""
        return [finding for finding in self.findings if finding.alarm]

    @property
    def explained(self) -> list[Finding]:
        """What would be an alarm, but is known to be right."""
        return [finding for finding in self.findings if finding.explained]

    def __str__(self) -> str:
        from gnomon.audit.page import summary

        return inert("\n".join(summary(self)))

    def _repr_html_(self) -> str:
        from gnomon.audit.page import listing

        shown = listing(self)
        return html_table(shown.columns, shown.rows, caption=shown.title)


def audit(
    audited: AuditSet,
    checks: Sequence[str] = (),
    explanations: Iterable[Explanation] = (),
) -> AuditReport:
    """Run some checks, or all, on a set."""
    reasons = list(explanations)
    for name in (*checks, *(reason.check for reason in reasons)):
        check_known("check", name, CHECKS)
    subject = Subject(audited)
    findings: list[Finding] = []
    for name, check in CHECKS.items():
        if checks and name not in checks:
            continue
        findings += check(subject)
    real = _beyond_luck(findings)
    rounds = in_rounds(subject.answers)
    counted = [_with_reason(finding, reasons, real, rounds=rounds) for finding in real]
    return AuditReport(audited, tuple(counted))


def _beyond_luck(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, without the alarms that luck explains: all tests of a report are one family."""
    drawn = [place for place, finding in enumerate(findings) if finding.p is not None]
    real = beyond_luck([findings[place].p or 0.0 for place in drawn])
    found = list(findings)
    for place, is_real in zip(drawn, real, strict=True):
        if not is_real:
            found[place] = structs.replace(findings[place], alarm=False)
    return found


def _with_reason(
    finding: Finding, reasons: Sequence[Explanation], findings: Sequence[Finding], *, rounds: bool
) -> Finding:
    """The finding, without its alarm if there is a reason for what it found."""
    for reason in reasons:
        fits = reason.check == finding.check and fnmatchcase(finding.part, reason.part)
        if not (finding.alarm and fits) or (reason.in_rounds and not rounds):
            continue
        if not any(_breaks(reason, other, finding) for other in findings):
            return structs.replace(finding, alarm=False, explained=reason.why)
    return finding


def _breaks(reason: Explanation, other: Finding, finding: Finding) -> bool:
    """Whether another finding is an alarm that must not be one."""
    if not other.alarm or other.check != reason.check or other.part == finding.part:
        return False
    return fnmatchcase(other.part, reason.quiet)
