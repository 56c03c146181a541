"""Audits for people: sentences for the terminal, a table, and one self-contained page."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from gnomon.audit.auditing import AuditReport
from gnomon.audit.finding import LEVEL, Finding
from gnomon.contracts import Listing
from gnomon.reports.shell import asset, page, page_file, write_page
from gnomon.reports.words import capitalised, counted, listed

ALARM, EXPLAINED, FINE, NOT_MADE = "alarm", "explained", "fine", "not made"
TEMPLATES = Path(__file__).parent / "assets"
FEW = 3  # sets that a title names
COLUMNS = ("check", "part", "value", "low", "high", "chance", "state", "says")


class CheckView(NamedTuple):
    """The findings of one check, for the page."""

    name: str
    state: str
    findings: list[Finding]


class SetView(NamedTuple):
    """One audited set, for the page."""

    name: str
    verdict: str
    worst: list[str]  # what the first alarm of each check says
    checks: list[CheckView]


def listing(report: AuditReport) -> Listing:
    """The findings as a table."""
    rows = []
    for finding in report.findings:
        figures = (finding.value, finding.low, finding.high, finding.chance)
        rows.append((finding.check, finding.part, *figures, _state([finding]), finding.says))
    return Listing(report.audited.name, COLUMNS, tuple(rows))


def summary(report: AuditReport) -> Iterator[str]:
    """What a terminal shows: every alarm with an example, what is explained, and what is fine."""
    yield f"{report.audited.name}: {verdict(report)}"
    for finding in report.findings:
        if finding.alarm or finding.explained:
            yield from _paragraph(finding)

    drawn = sum(finding.p is not None for finding in report.findings)
    if drawn:
        yield (
            f"\n  {counted(drawn, 'figures')} could be off by luck; in a sound set one of them is "
            f"an alarm in at most {LEVEL:.0%} of reports."
        )
    states = _states(report)
    quiet = [name for name, state in states.items() if state == FINE]
    if quiet:
        yield f"\n  Nothing to report: {listed(quiet)}."
    for finding in report.findings:
        if states[finding.check] == NOT_MADE:
            yield f"  {finding.check}: {finding.says}"


def _paragraph(finding: Finding) -> Iterator[str]:
    mark = "ALARM" if finding.alarm else "explained"
    yield f"\n  {mark}  {finding.check} ({finding.part})"
    yield f"    {finding.says}"
    if finding.explained:
        yield f"    {finding.explained}"
    for example in finding.examples[:1]:
        for line in example.text.splitlines():
            yield f"      {line}"


def verdict(report: AuditReport) -> str:
    """One sentence on a set."""
    parts = [counted(len(report.audited), "items")]
    if report.audited.total > len(report.audited):
        parts[0] += f" of {report.audited.total:,}, spread evenly"
    made = [finding for finding in report.findings if finding.value is not None]
    parts.append(counted(len(made), "tests"))
    parts.append(counted(len(report.alarms), "alarms").replace("0 alarms", "no alarm"))
    if report.explained:
        parts.append(f"{len(report.explained)} explained")
    return f"{', '.join(parts)}."


def _states(report: AuditReport) -> dict[str, str]:
    """For each check whether it is an alarm, explained, fine, or was not made."""
    states = {}
    for name, findings in groupby(report.findings, attrgetter("check")):
        states[name] = _state(list(findings))
    return states


def _state(findings: Sequence[Finding]) -> str:
    if any(finding.alarm for finding in findings):
        return ALARM
    if any(finding.explained for finding in findings):
        return EXPLAINED
    if all(finding.value is None for finding in findings):
        return NOT_MADE
    return FINE


def write_audit(reports: Sequence[AuditReport], output: Path, *, command: str) -> Path:
    """Write the page."""
    output = page_file(output, "audit.html")
    write_page(output, render_audit(reports, command))
    return output


def render_audit(reports: Sequence[AuditReport], command: str, about: object = None) -> str:
    """The page as text; `about` is the entry of the atlas, if the page is one of its pages."""
    views = [_view(report) for report in reports]
    audited = listed([view.name for view in views])
    if len(views) > FEW:
        audited = counted(len(views), "sets")
    return page(
        "audit.html.j2",
        asset("page.js"),
        folder=TEMPLATES,
        title=f"Audit of {audited}",
        sets=views,
        command=command,
        about=about,
    )


def _view(report: AuditReport) -> SetView:
    checks = []
    for name, findings in groupby(report.findings, attrgetter("check")):
        mine = list(findings)
        checks.append(CheckView(capitalised(name.replace("_", " ")), _state(mine), mine))
    worst: dict[str, str] = {}
    for finding in report.alarms:
        worst.setdefault(finding.check, finding.says)
    return SetView(report.audited.name, verdict(report), list(worst.values()), checks)
