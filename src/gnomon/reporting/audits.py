"""Audits for people: sentences for the terminal, a table, and one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from gnomon import __version__
from gnomon.audit.auditing import AuditReport
from gnomon.audit.finding import Finding
from gnomon.contracts import Listing
from gnomon.errors import UsageError
from gnomon.reporting.page.page import environment, icons, page_script, policy, style_sheet
from gnomon.reporting.words import capitalised, counted, listed

COLUMNS = ("check", "part", "value", "low", "high", "chance", "alarm", "says")


class CheckView(NamedTuple):
    """The findings of one check, for the page."""

    name: str
    state: str  # alarm, explained or fine
    findings: list[Finding]


class SetView(NamedTuple):
    """One audited set, for the page."""

    name: str
    verdict: str
    checks: list[CheckView]


def listing(report: AuditReport) -> Listing:
    """The findings as a table."""
    rows = []
    for finding in report.findings:
        alarm = "yes" if finding.alarm else "explained" if finding.explained else "no"
        cells = [finding.check, finding.part, finding.value, finding.low, finding.high]
        rows.append((*cells, finding.chance, alarm, finding.says))
    return Listing(report.audited.name, COLUMNS, tuple(rows))


def summary(report: AuditReport) -> Iterator[str]:
    """What a terminal shows: every alarm with an example, what is explained, and what is fine."""
    yield f"{report.audited.name}: {verdict(report)}"
    for finding in report.findings:
        if not finding.alarm and not finding.explained:
            continue
        mark = "ALARM" if finding.alarm else "explained"
        yield f"\n  {mark}  {_title(finding)}"
        yield f"    {finding.says}"
        if finding.explained:
            yield f"    {finding.explained}"
        for example in finding.examples[:1]:
            for line in example.text.splitlines():
                yield f"      {line}"
    quiet = [name for name, state in _states(report).items() if state == "fine"]
    if quiet:
        yield f"\n  Nothing to report: {listed(quiet)}."
    for finding in report.findings:
        if finding.value is None and finding.says:
            yield f"  {finding.check}: {finding.says}"


def verdict(report: AuditReport) -> str:
    """One sentence on a set."""
    items = counted(len(report.audited), "items")
    if report.audited.total > len(report.audited):
        items = f"{items} of {report.audited.total:,}, spread evenly"
    alarms = counted(len(report.alarms), "alarms") if report.alarms else "no alarm"
    explained = f", {len(report.explained)} explained" if report.explained else ""
    return f"{items}, {counted(len(report.findings), 'findings')}, {alarms}{explained}."


def _title(finding: Finding) -> str:
    return f"{finding.check} ({finding.part})" if finding.part else finding.check


def _states(report: AuditReport) -> dict[str, str]:
    """For each check whether it is an alarm, explained, fine, or was not made."""
    states = {}
    for name, findings in groupby(report.findings, lambda finding: finding.check):
        states[name] = _state(list(findings))
    return states


def _state(findings: Sequence[Finding]) -> str:
    if any(finding.alarm for finding in findings):
        return "alarm"
    if any(finding.explained for finding in findings):
        return "explained"
    if all(finding.value is None for finding in findings):
        return "not made"
    return "fine"


def write_audit(reports: Sequence[AuditReport], output: Path, *, command: str) -> Path:
    """Write the page."""
    from gnomon.reporting.page.page import write_page
    from gnomon.reporting.tables.export import make_folder

    if output.is_dir():
        raise UsageError(
            f"{output} is a folder.", f"Name the page's file, for instance {output / 'audit.html'}."
        )
    make_folder(output.parent)
    write_page(output, render_audit(reports, command))
    return output


def render_audit(reports: Sequence[AuditReport], command: str) -> str:
    """The page as text."""
    from markupsafe import Markup

    style, script = style_sheet(), page_script()
    views = [_view(report) for report in reports]
    names = [view.name for view in views]
    context: dict[str, Any] = {
        "title": f"Audit of {listed(names) if len(names) <= 3 else counted(len(names), 'sets')}",
        "sets": views,
        "command": command,
        "version": __version__,
        "policy": policy(style, script),
        "style": Markup(style),  # noqa: S704 - our own
        "script": Markup(script),  # noqa: S704 - our own
        **icons(),
    }
    page: str = environment().get_template("audit.html.j2").render(**context)
    return page


def _view(report: AuditReport) -> SetView:
    checks = []
    for name, findings in groupby(report.findings, lambda finding: finding.check):
        mine = list(findings)
        checks.append(CheckView(capitalised(name.replace("_", " ")), _state(mine), mine))
    return SetView(report.audited.name, verdict(report), checks)
