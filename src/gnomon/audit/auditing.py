"""One audit: every check on one set, with what is known to be right although it looks wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import structs

from gnomon.audit.clash import clash
from gnomon.audit.constants import constants
from gnomon.audit.disputes import disputes
from gnomon.audit.doubts import doubts
from gnomon.audit.duplicates import duplicates
from gnomon.audit.explaining import Explanation, explanation
from gnomon.audit.finding import Finding
from gnomon.audit.integrity import integrity
from gnomon.audit.lookup import flipped_lookup, lookup
from gnomon.audit.order import order
from gnomon.audit.partialinput import partial_input
from gnomon.audit.proof import proof
from gnomon.audit.sets import AuditSet
from gnomon.audit.shapes import shapes
from gnomon.audit.sharedcontext import shared_context
from gnomon.audit.subject import Subject
from gnomon.audit.wordbias import words
from gnomon.errors import check_known

Check = Callable[[Subject], Iterator[Finding]]
CHECKS: dict[str, Check] = {
    "integrity": integrity,
    "duplicates": duplicates,
    "constants": constants,
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
    findings = []
    for name, check in CHECKS.items():
        if checks and name not in checks:
            continue
        for finding in check(subject):
            findings.append(_explained(finding, reasons))
    return AuditReport(audited, tuple(findings))


def _explained(finding: Finding, reasons: Sequence[Explanation]) -> Finding:
    """The finding, without its alarm if there is a reason for what it found."""
    if not finding.alarm:
        return finding
    reason = explanation(finding, reasons)
    if not reason:
        return finding
    return structs.replace(finding, alarm=False, explained=reason)
