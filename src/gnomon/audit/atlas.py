"""The atlas: every set of a folder audited alike, one page a set, one table, one file of figures.

Sets are those of the catalogue whose files are in the folder, the published sets of the papers
whose data are there, and our own, drawn afresh. Each has the figures that its users should know:
what a guess, a constant answer, a prior and a blind rule get, what is there twice, what cannot be
so, what is left once all that gives itself away is taken out, and what published scores mean.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from math import sqrt
from pathlib import Path

import msgspec

from gnomon.audit.auditing import AuditReport, audit, explanations_of
from gnomon.audit.finding import Finding
from gnomon.audit.page import render_audit
from gnomon.audit.pruning import prune
from gnomon.audit.sets import AuditSet
from gnomon.audit.sources import of_files, of_source
from gnomon.audit.subject import Subject
from gnomon.errors import DataError, UsageError
from gnomon.files import find_optional, package_data, read_yaml
from gnomon.items.mapping import map_of, write_map
from gnomon.items.sets import NamedSet, named_sets
from gnomon.items.source import load
from gnomon.items.writing import write_items
from gnomon.measures.intervals import wilson
from gnomon.registry import benchmark, entries
from gnomon.reports.charts.axes import WIDTH
from gnomon.reports.charts.plots import Estimate, bars
from gnomon.reports.charts.svg import drawing
from gnomon.reports.papers import results_of
from gnomon.reports.shell import asset, make_folder, page, write_page
from gnomon.reports.words import percent
from gnomon.tabular import as_json

TEMPLATES = Path(__file__).parent / "assets"
ORIGINS = ("Sets of others", "Sets of the papers", "Our own sets")
LEAST_KEPT = 40  # items of a part that are audited in turn
NORMAL = 1.96  # standard errors of a 95 % interval
LEAKS = ("constants", "priors", "rows", "lookup", "flipped_lookup", "partial_input", "words")
Tell = Callable[[str], None]


class BlindRule(msgspec.Struct, frozen=True, kw_only=True):
    """What one rule gets that does not see the whole question."""

    rule: str
    value: float
    low: float | None
    high: float | None
    without: float  # what one gets without it
    alarm: bool


class PublishedScore(msgspec.Struct, frozen=True, kw_only=True):
    """A published score, with how far it can be trusted."""

    model: str
    value: float
    source: str
    low: float  # 95 %, if items that share a unit go together
    high: float
    above_blind: bool  # whether the interval lies above the best blind rule


class AtlasEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one set."""

    name: str
    origin: str
    asks: str
    licence: str
    where: str
    command: str
    items: int
    units: int
    unit: str
    guess: float | None
    blind: tuple[BlindRule, ...]  # the best of each check, the largest gain first
    faults: dict[str, int]  # by check and part: how many items
    proofs: tuple[str, ...]
    alarms: int
    kept: int | None  # items of the part that blind rules cannot answer
    kept_alarms: int | None  # of the leak kinds, in the audit of that part
    scores: tuple[PublishedScore, ...] = ()
    note: str = ""
    reply: str = ""  # what the authors answer

    @property
    def best(self) -> BlindRule | None:
        """The rule that gains most."""
        return self.blind[0] if self.blind else None

    @property
    def faulty(self) -> int:
        """Items that are there twice, clash or cannot be asked, each kind counted."""
        return sum(self.faults.values())


class KnownScore(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published score of a set (data/audit/scores.yaml)."""

    model: str
    value: float
    source: str


class SetToAudit(msgspec.Struct, frozen=True, kw_only=True):
    """A set that can be audited, and what is known of it."""

    name: str
    origin: str
    about: NamedSet
    command: str
    open: Callable[[], AuditSet]


def make_atlas(folder: Path, output: Path, tell: Tell, *, own: bool = True) -> list[AtlasEntry]:
    """Audit every set of a folder; write the overview, a page a set, the parts and the figures."""
    chosen = list(sets_in(folder, own=own))
    if all(one.origin == ORIGINS[2] for one in chosen):
        raise UsageError(
            f"{folder} holds no file of a set that is known.",
            "`gnomon list sets` names the files of each.",
        )
    make_folder(output)
    made = []
    for number, one in enumerate(chosen, 1):
        try:
            audited = one.open()
        except DataError as error:  # another file of the same name, or one that is cut
            tell(f"{one.name} is left out: {error.message}")
            continue
        tell(f"{number} of {len(chosen)}: {one.name}, {len(audited):,} items")
        made.append(_entry(one, audited, output))
    write_page(output / "index.html", _overview(made, str(folder)))
    (output / "atlas.json").write_text(as_json(made) + "\n", encoding="utf-8")
    return made


def sets_in(folder: Path, *, own: bool) -> Iterator[SetToAudit]:
    """Sets of others and of the papers with files in a folder or its folders, and our own."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder.", "Name the folder with the authors' files.")
    folders = [folder, *sorted(one for one in folder.iterdir() if one.is_dir())]
    for name, known in named_sets().items():
        for place in folders:
            file = find_optional(place, *known.files)
            if file is not None and known.opened == "file":
                yield _of_others(name, known, file)
                break
    for name in entries("benchmarks"):
        yield from _of_paper(name, folders)
    for name in entries("benchmarks") if own else ():
        if "fresh" in benchmark(name).sources:
            yield SetToAudit(
                name=f"{name}@fresh",
                origin=ORIGINS[2],
                about=_about_ours(name),
                command=f"gnomon audit {name}",
                open=partial(_opened, name),
            )


def _of_others(name: str, known: NamedSet, file: Path) -> SetToAudit:
    given = write_map(map_of(known.map)) if known.map else ""
    command = f"gnomon audit {file.name}"
    if given:
        command += f" --map {given}"
    return SetToAudit(
        name=name,
        origin=ORIGINS[0],
        about=known,
        command=command,
        open=partial(of_files, name, [file], given),
    )


def _of_paper(name: str, folders: Sequence[Path]) -> Iterator[SetToAudit]:
    """A benchmark as its authors published it, if its files are in one of the folders."""
    known = benchmark(name)
    if "published" not in known.sources:
        return
    wanted = known.published_results or name
    for place in folders:
        if place.name != wanted:
            continue
        yield SetToAudit(
            name=f"{name}@published",
            origin=ORIGINS[1],
            about=_about_ours(name),
            command=f"gnomon audit {name}@published --data {place.name}",
            open=partial(_opened, f"{name}@published", data=str(place)),
        )


def _opened(spec: str, **options: str) -> AuditSet:
    return of_source(load(spec, **options))


def _about_ours(name: str) -> NamedSet:
    return NamedSet(asks=benchmark(name).summary, files=(), where="", licence="", opened="file")


# The figures of one set.


def _entry(one: SetToAudit, audited: AuditSet, output: Path) -> AtlasEntry:
    report = audit(audited, explanations=explanations_of(audited.benchmark))
    subject = Subject(audited)
    answered = len(subject.answers)
    units, unit = _fewest(audited)
    blind = _blind(report)
    kept, kept_alarms = _part_without_leaks(report, output / f"{_file_name(one.name)}.jsonl")
    entry = AtlasEntry(
        name=one.name,
        origin=one.origin,
        asks=one.about.asks,
        licence=one.about.licence,
        where=one.about.where,
        command=one.command,
        items=len(audited),
        units=units,
        unit=unit,
        guess=float(subject.answers.chance.mean()) if answered else None,
        blind=blind,
        faults=_faults(report),
        proofs=_proofs(report),
        alarms=len(report.alarms),
        kept=kept,
        kept_alarms=kept_alarms,
        scores=tuple(_scores(one.name, units, blind)),
        note=one.about.note,
        reply=_replies().get(one.name, ""),
    )
    text = render_audit([report], one.command, about=entry)
    write_page(output / f"{_file_name(one.name)}.html", text)
    return entry


def _file_name(name: str) -> str:
    return name.replace("@", "-")


def _fewest(audited: AuditSet) -> tuple[int, str]:
    """How many units there are of the kind that there are fewest of, and what they are called."""
    counts = []
    kinds = audited.units.kinds
    first = 0
    for width, noun in zip(kinds, audited.units.nouns, strict=True):
        codes = audited.units.codes[:, first : first + width]
        first += width
        known = set(codes[codes >= 0].tolist())
        alone = int((codes < 0).all(axis=1).sum())
        counts.append((len(known) + alone, noun))
    return min(counts)


def _blind(report: AuditReport) -> tuple[BlindRule, ...]:
    """The best finding of each check that tells what a blind rule gets."""
    best: dict[str, BlindRule] = {}
    for finding in report.findings:
        if finding.check not in LEAKS or finding.check == "words":
            continue
        if finding.value is None or finding.chance is None:
            continue
        mine = _blind_of(finding, finding.value, finding.chance)
        known = best.get(finding.check)
        if known is None or _gain(mine, finding.n) > _gain(known, finding.n):
            best[finding.check] = mine
    return tuple(sorted(best.values(), key=lambda rule: rule.without - rule.value))


def _blind_of(finding: Finding, value: float, chance: float) -> BlindRule:
    return BlindRule(
        rule=f"{finding.check.replace('_', ' ')}: {finding.part}",
        value=value,
        low=finding.low,
        high=finding.high,
        without=chance,
        alarm=finding.alarm,
    )


def _gain(rule: BlindRule, items: int) -> float:
    """How many items a rule wins; alarms come first."""
    return (rule.value - rule.without) * items + items * rule.alarm


def _faults(report: AuditReport) -> dict[str, int]:
    """How many items are behind each fault that can be counted."""
    faults = {}
    for finding in report.findings:
        counted = finding.check in ("integrity", "duplicates", "clash", "order")
        if counted and finding.alarm:
            faults[f"{finding.check}: {finding.part}"] = finding.behind or finding.n
    return faults


def _proofs(report: AuditReport) -> tuple[str, ...]:
    says = []
    for finding in report.findings:
        if finding.check == "proof" and finding.value is not None:
            says.append(finding.says)
    return tuple(says)


def _part_without_leaks(report: AuditReport, file: Path) -> tuple[int | None, int | None]:
    """Write the part that blind rules cannot answer; its size, and the leaks that it still has."""
    pruned = prune(report.audited)
    if len(Subject(report.audited).answers) < LEAST_KEPT:
        return None, None
    write_items(file, [one.item for one in pruned.kept])
    if len(pruned.kept) < LEAST_KEPT:
        return len(pruned.kept), None
    again = audit(replace(report.audited, questions=pruned.kept, total=0), LEAKS)
    return len(pruned.kept), len(again.alarms)


# What published scores mean.


@cache
def _known_scores() -> dict[str, list[KnownScore]]:
    content = read_yaml(package_data("audit/scores.yaml"))
    return msgspec.convert(content["scores"], dict[str, list[KnownScore]])


@cache
def _replies() -> dict[str, str]:
    """What authors answered, by the name of the set."""
    content = read_yaml(package_data("audit/scores.yaml"))
    return msgspec.convert(content["replies"], dict[str, str])


def _scores(name: str, units: int, blind: Sequence[BlindRule]) -> Iterator[PublishedScore]:
    """The published scores, each with an interval as wide as the units of the set make it."""
    highest = max((rule.value for rule in blind if rule.alarm), default=0.0)
    for known in _published(name):
        error = sqrt(known.value * (1 - known.value) / max(units, 1))
        low, high = wilson(known.value, error, units, NORMAL)
        yield PublishedScore(
            model=known.model,
            value=known.value,
            source=known.source,
            low=low,
            high=high,
            above_blind=low > highest,
        )


def _published(name: str) -> Iterator[KnownScore]:
    yield from _known_scores().get(name, ())
    plain, _, origin = name.partition("@")
    if origin != "published":
        return
    for result in results_of(benchmark(plain)):
        whole = not result.by and not result.form and not result.variant
        if whole and result.measure == "accuracy" and result.kind in ("model", "human"):
            source = f"{result.paper}, {result.table}"
            yield KnownScore(model=result.model, value=result.value, source=source)


# The overview.


def _overview(entries: Sequence[AtlasEntry], folder: str) -> str:
    from markupsafe import Markup

    shown = [entry for entry in entries if entry.best is not None]
    estimates = []
    for entry in shown:
        best = entry.best
        assert best is not None
        estimates.append(Estimate(entry.name, 0, best.value, best.low, best.high, f", {best.rule}"))
        estimates.append(Estimate(entry.name, 1, best.without))
    chart = ""
    if estimates:
        body = bars(estimates, ("best blind rule", "without it"), "share of items right")
        chart = drawing(
            WIDTH, body.height, [body.markup], "What blind rules get", _described(shown), "atlas"
        )
    return page(
        "atlas.html.j2",
        asset("page.js"),
        folder=TEMPLATES,
        title="Atlas of spatial benchmarks",
        entries=[(entry, f"{_file_name(entry.name)}.html") for entry in entries],
        origins=[origin for origin in ORIGINS if origin in {one.origin for one in entries}],
        alarmed=sum(entry.alarms > 0 for entry in entries),
        chart=Markup(chart),  # noqa: S704 - drawn here
        command=f"gnomon audit --atlas {Path(folder).name}",
    )


def _described(entries: Sequence[AtlasEntry]) -> str:
    told = []
    for entry in entries:
        best = entry.best
        assert best is not None
        told.append(f"{entry.name} {percent(best.value)} (without it {percent(best.without)})")
    return "; ".join(told)


def lines(entries: Sequence[AtlasEntry]) -> Iterator[tuple[object, ...]]:
    """The overview as rows, for a terminal."""
    for entry in entries:
        best = entry.best
        yield (
            entry.name,
            entry.items,
            f"{entry.units:,} {entry.unit}",
            "" if entry.guess is None else percent(entry.guess),
            "" if best is None else f"{percent(best.value)} ({best.rule})",
            entry.faulty,
            entry.alarms,
            "" if entry.kept is None else entry.kept,
        )


COLUMNS = ("set", "items", "units", "guess", "best blind rule", "faults", "alarms", "kept")
