"""The atlas: every set of a folder audited alike, one page a set, one table, one file of figures.

Sets are those of the catalogue whose files are in the folder, the published sets of the papers
whose data are there, and our own, drawn afresh. Each has the figures that its users should know:
what a guess, a constant answer, a prior and a blind rule get, what is there twice, what cannot be
so, what is left once all that gives itself away is taken out, and what published scores mean.
"""

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from warnings import catch_warnings, simplefilter

import msgspec

from gnomon.audit.auditing import AuditReport, audit, explanations
from gnomon.audit.finding import Finding
from gnomon.audit.order import AGAINST
from gnomon.audit.page import render_audit
from gnomon.audit.proof import ANYHOW, NO_READING, UNDECIDED
from gnomon.audit.pruning import prune
from gnomon.audit.publishedscores import (
    FROM_ANSWERS,
    PublishedScore,
    fewest_units,
    known_beside,
    published_scores,
)
from gnomon.audit.sets import AuditSet
from gnomon.audit.sources import of_files, of_source
from gnomon.audit.subject import Subject
from gnomon.errors import GnomonError, MissingFileWarning, RebuiltItemsWarning, UsageError
from gnomon.files import find_optional
from gnomon.items.mapping import map_of, write_map
from gnomon.items.sets import NamedSet, named_sets
from gnomon.items.source import load
from gnomon.items.writing import write_items
from gnomon.registry import benchmark, entries
from gnomon.reports.charts.axes import WIDTH
from gnomon.reports.charts.plots import Estimate, bars
from gnomon.reports.charts.svg import drawing
from gnomon.reports.papers import paper_items
from gnomon.reports.shell import asset, make_folder, page, write_page
from gnomon.reports.words import capitalised, percent
from gnomon.tabular import as_json

TEMPLATES = Path(__file__).parent / "assets"
OTHERS, PAPERS, OURS = "Sets of others", "Sets of the papers", "Our own sets"
ORIGINS = (OTHERS, PAPERS, OURS)
LEAST_KEPT = 40  # items of a part that are audited in turn
LEAKS = ("constants", "priors", "rows", "lookup", "flipped_lookup", "partial_input", "words")
# faults that can be counted, as names of files are matched: items that are there twice, and items
# whose label is wrong or cannot be found out
TWICE = ("duplicates: repeats", "duplicates: across splits")
WRONG = (
    "integrity: *",
    "duplicates: conflicts",
    "clash: stories",
    f"clash: {ANYHOW}",
    f"order: {AGAINST}",
    f"proof: {NO_READING}",
    f"proof: {UNDECIDED}",
)
MOST_OPEN = (
    0.05  # of the items; if more are left open, the readings rather than the set lack something
)
PART, WHOLE, FILE = "a part", "all words", "place or tag"  # what a rule sees of an item
TRAINING, KIN, OTHERS_OF = "the training part", "other items of its group", "other items"
MOST_OF = 0.9  # of the items of a score: as many must a rule be asked to be set beside it
Tell = Callable[[str], None]


class BlindRule(msgspec.Struct, frozen=True, kw_only=True):
    """What one rule gets that does not see the whole question."""

    rule: str
    value: float
    low: float | None
    high: float | None
    without: float  # what one gets without it
    alarm: bool
    n: int  # items that it was asked
    sees: str  # a part, all words, or what who is asked one item does not see
    learnt: str  # from what; empty if from nothing
    explained: str = ""  # why it is no alarm although it would be one

    @property
    def weight(self) -> tuple[bool, float]:
        """An alarm first; then how many items the rule wins."""
        return self.alarm, (self.value - self.without) * self.n

    @property
    def is_blind(self) -> bool:
        """Whether it may be set beside any model: it sees a part, and has not seen the group."""
        return self.sees == PART and self.learnt != KIN


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
    twice: dict[str, int]  # by check and part: how many items are there twice
    wrong: dict[str, int]  # the same of items whose label is wrong or cannot be found out
    proofs: tuple[str, ...]
    shared: tuple[str, ...]  # what the test part shares with others
    alarms: int
    kept: int | None  # items of the part that blind rules cannot answer
    kept_alarms: int | None  # of the leak kinds, in the audit of that part
    scores: tuple[PublishedScore, ...] = ()
    about_scores: str = ""  # what to know of the models that were published
    note: str = ""
    redrawn: bool = False  # whether the items are not the authors' own
    reply: str = ""  # what the authors answer

    @property
    def best(self) -> BlindRule | None:
        """Of the blind rules the one that gains most."""
        return next((rule for rule in self.blind if rule.is_blind), None)

    @property
    def best_by_words(self) -> BlindRule | None:
        """Of the classifiers that read all words, the best that has not seen the group."""
        known = (rule for rule in self.blind if rule.sees == WHOLE and rule.learnt != KIN)
        return next(known, None)

    @property
    def by_others(self) -> bool:
        """Whether it has authors who may want to reply."""
        return self.origin != OURS

    @property
    def by_answers(self) -> bool:
        """Whether its scores are from published answers, item by item."""
        return any(score.source == FROM_ANSWERS for score in self.scores)


class SetToAudit(msgspec.Struct, frozen=True, kw_only=True):
    """A set that can be audited, and what is known of it."""

    name: str
    origin: str
    about: NamedSet
    command: str
    open: Callable[[], AuditSet]
    place: Path | None = None  # the folder of its files, which may hold published answers


class SetAsRead(msgspec.Struct, frozen=True):
    """A set as it was read, and what the reader warned of."""

    audited: AuditSet
    warned: tuple[str, ...]
    rebuilt: bool  # the items are not the authors' own


def make_atlas(folder: Path, output: Path, tell: Tell, *, own: bool = True) -> list[AtlasEntry]:
    """Audit every set of a folder; write the overview, a page a set, the parts and the figures."""
    chosen = list(sets_in(folder, own=own))
    if all(one.origin == OURS for one in chosen):
        raise UsageError(
            f"{folder} holds no file of a set that is known.",
            "`gnomon list sets` names the files of each.",
        )
    make_folder(output)
    made = []
    left_out = _without_files(chosen)
    for number, one in enumerate(chosen, 1):
        try:
            opened = _open(one)
            tell(f"{number} of {len(chosen)}: {one.name}, {len(opened.audited):,} items")
            made.append(_entry(one, opened, output))
        except GnomonError as error:  # another file of the same name, or one that is cut
            tell(f"{one.name} is left out: {error.message}")
            reason = "A file that is needed is not there, or cannot be read"
            left_out.setdefault(reason, []).append(one.name)
    write_page(output / "index.html", _overview(made, left_out, str(folder)))
    (output / "atlas.json").write_text(as_json(made) + "\n", encoding="utf-8")
    return made


def _without_files(chosen: Sequence[SetToAudit]) -> dict[str, list[str]]:
    """The sets of the catalogue that are not audited, by the reason."""
    audited = {one.name for one in chosen}
    reasons: dict[str, list[str]] = {}
    for name, known in named_sets().items():
        if name in audited:
            continue
        reason = "Their files are not in the folder"
        if known.opened != "file":
            reason = "Gnomon was never tried on the authors' own files"
        told = f"{name} ({known.note})" if known.opened == "form" and known.note else name
        reasons.setdefault(reason, []).append(told)
    return reasons


def _open(one: SetToAudit) -> SetAsRead:
    with catch_warnings(record=True) as warned:
        simplefilter("always", MissingFileWarning)
        audited = one.open()
    told = dict.fromkeys(str(each.message) for each in warned)
    rebuilt = any(issubclass(each.category, RebuiltItemsWarning) for each in warned)
    return SetAsRead(audited, tuple(told), rebuilt)


def sets_in(folder: Path, *, own: bool) -> Iterator[SetToAudit]:
    """Sets of others and of the papers with files in a folder or its folders, and our own."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder.", "Name the folder with the authors' files.")
    folders = [folder, *sorted(one for one in folder.iterdir() if one.is_dir())]
    owners = Counter(file for known in named_sets().values() for file in set(known.files))
    for name, known in named_sets().items():
        for place in folders:
            # "test.jsonl" is anybody's: it is this set's in a folder of its name
            mine = [file for file in known.files if owners[file] == 1 or name in place.name.lower()]
            file = find_optional(place, *mine)
            if file is not None and known.opened == "file":
                yield _of_others(name, known, file, folder)
                break
    for name in entries("benchmarks"):
        yield from _of_paper(name, folders)
    for name in entries("benchmarks") if own else ():
        if "fresh" in benchmark(name).sources:
            yield SetToAudit(
                name=f"{name}@fresh",
                origin=OURS,
                about=_about_ours(name),
                command=f"gnomon audit {name}",
                open=partial(_loaded, name),
            )


def _of_others(name: str, known: NamedSet, file: Path, folder: Path) -> SetToAudit:
    given = write_map(map_of(known.map)) if known.map else ""
    words = ["gnomon", "audit", file.relative_to(folder).as_posix()]
    if given:
        words += ["--map", given]
    return SetToAudit(
        name=name,
        origin=OTHERS,
        about=known,
        command=shlex.join(words),
        open=partial(of_files, name, [file], given),
        place=file.parent,
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
            origin=PAPERS,
            about=_about_ours(name),
            command=f"gnomon audit {name}@published --data {place.name}",
            open=partial(_loaded, f"{name}@published", data=str(place)),
            place=place,
        )


def _loaded(spec: str, **options: str) -> AuditSet:
    return of_source(load(spec, **options))


def _about_ours(name: str) -> NamedSet:
    return NamedSet(asks=benchmark(name).summary, files=(), where="", licence="", opened="file")


# The figures of one set.


def _entry(one: SetToAudit, opened: SetAsRead, output: Path) -> AtlasEntry:
    audited = opened.audited
    report = audit(audited, explanations=explanations())
    subject = Subject(audited)
    answered = len(subject.answers)
    units, unit = fewest_units(audited)
    blind = best_rules(report)
    faults = _faults(report)
    kept, kept_alarms = _part_without_leaks(report, output / f"{_file_name(one.name)}.jsonl")
    scores: list[PublishedScore] = []
    if not opened.rebuilt:  # published models answered other items
        most = partial(_most_by_blind_rules, whole=audited, known=blind)
        scores = published_scores(one.name, audited, one.place, most)
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
        twice=_of_kinds(faults, TWICE),
        wrong=_of_kinds(faults, WRONG),
        proofs=_says(report, "proof"),
        shared=_says(report, "shared_context"),
        alarms=len(report.alarms),
        kept=kept,
        kept_alarms=kept_alarms,
        scores=tuple(scores),
        about_scores=paper_items(one.name).models if scores else "",
        note=_note(one, opened),
        redrawn=opened.rebuilt,
        reply=known_beside().replies.get(one.name, ""),
    )
    text = render_audit([report], one.command, about=entry)
    write_page(output / f"{_file_name(one.name)}.html", text)
    return entry


def _note(one: SetToAudit, opened: SetAsRead) -> str:
    """What to know of a set, and what was not there, in sentences."""
    known = one.about.note or known_beside().notes.get(one.name, "")
    said = [f"{capitalised(known).removesuffix('.')}."] if known else []
    for warning in opened.warned:
        plain = warning.rpartition(f"{one.place}: ")[2]  # without this machine's folders
        said.append(capitalised(plain))
    if opened.rebuilt:
        said.append("Published scores are on the authors' own items, and so not shown here.")
    return " ".join(said)


def _file_name(name: str) -> str:
    return name.replace("@", "-")


def best_rules(report: AuditReport) -> tuple[BlindRule, ...]:
    """The best finding of each check, by what a rule sees and from what it has learnt."""
    best: dict[tuple[str, ...], BlindRule] = {}
    for finding in report.findings:
        if finding.check not in LEAKS or finding.check == "words":
            continue
        if finding.value is None or finding.chance is None:
            continue
        mine = _blind_of(finding, finding.value, finding.chance, report.audited)
        kind = finding.check, mine.sees, mine.learnt
        if kind not in best or mine.weight > best[kind].weight:
            best[kind] = mine
    return tuple(sorted(best.values(), key=_order, reverse=True))


def _order(rule: BlindRule) -> tuple[bool, bool, float]:
    return rule.is_blind, rule.alarm, rule.value - rule.without


def _blind_of(finding: Finding, value: float, chance: float, audited: AuditSet) -> BlindRule:
    sees = WHOLE if finding.whole else PART
    if finding.check == "rows" or (finding.check == "priors" and finding.part != "labels"):
        sees = FILE
    return BlindRule(
        rule=f"{finding.check.replace('_', ' ')}: {finding.part}",
        value=value,
        low=finding.low,
        high=finding.high,
        without=chance,
        alarm=finding.alarm,
        n=finding.n,
        sees=sees,
        learnt=_learnt_from(finding, audited),
        explained=finding.explained,
    )


def _learnt_from(finding: Finding, audited: AuditSet) -> str:
    if finding.check == "constants":
        return ""
    if finding.check.endswith("lookup") or finding.part.endswith("by split"):
        return TRAINING
    if not audited.has_groups:
        return OTHERS_OF
    return KIN if finding.part.endswith("at random") else "other groups"


def _most_by_blind_rules(
    part: AuditSet, scored: int, trained: bool, *, whole: AuditSet, known: Sequence[BlindRule]
) -> float:
    """The most that a blind rule is shown to get on items of a form, of which some are scored.

    A model that was not trained on the set is not held against what is learnt from its training.
    """
    rules = known if len(part) == len(whole) else best_rules(audit(part, LEAKS))
    most = 0.0
    for rule in rules:
        fair = rule.is_blind and (trained or rule.learnt != TRAINING)
        if fair and rule.n >= MOST_OF * scored:
            most = max(most, rule.value if rule.alarm else rule.without)
    return most


def _faults(report: AuditReport) -> dict[str, int]:
    """How many items are behind each alarm, and how many no reading decides."""
    faults = {}
    for finding in report.findings:
        few_open = finding.part == UNDECIDED and 0 < (finding.value or 0) <= MOST_OPEN
        if finding.alarm or few_open:
            faults[f"{finding.check}: {finding.part}"] = finding.behind or finding.n
    return faults


def _of_kinds(faults: dict[str, int], kinds: Sequence[str]) -> dict[str, int]:
    found = {}
    for name, count in faults.items():
        if any(fnmatchcase(name, kind) for kind in kinds):
            found[name] = count
    return found


def _says(report: AuditReport, check: str) -> tuple[str, ...]:
    made = [one for one in report.findings if one.check == check and one.value is not None]
    return tuple(finding.says for finding in made)


def _part_without_leaks(report: AuditReport, file: Path) -> tuple[int | None, int | None]:
    """Write the part that blind rules cannot answer; its size, and the leaks that it still has."""
    if len(Subject(report.audited).answers) < LEAST_KEPT:
        return None, None
    pruned = prune(report.audited)
    write_items(file, [one.item for one in pruned.kept])
    if len(pruned.kept) < LEAST_KEPT:
        return len(pruned.kept), None
    part = replace(report.audited, questions=pruned.kept, total=0)
    again = audit(part, LEAKS, explanations())
    return len(pruned.kept), len(again.alarms)


# The overview.


def _overview(entries: Sequence[AtlasEntry], left_out: dict[str, list[str]], folder: str) -> str:
    from markupsafe import Markup

    shown = [entry for entry in entries if entry.best is not None]
    estimates = []
    for entry in shown:
        best = entry.best
        assert best is not None
        name = _label(entry)
        estimates.append(Estimate(name, 0, best.value, best.low, best.high, f", {best.rule}"))
        estimates.append(Estimate(name, 1, best.without))
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
        left_out=left_out,
        command=f"gnomon audit --atlas {shlex.quote(Path(folder).resolve().name)} -o atlas",
    )


def _label(entry: AtlasEntry) -> str:
    """The name of a set, marked where its items are not the authors' own."""
    return f"{entry.name} (drawn again)" if entry.redrawn else entry.name


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
            _label(entry),
            entry.items,
            f"{entry.units:,} {entry.unit}",
            "" if entry.guess is None else percent(entry.guess),
            "" if best is None else f"{percent(best.value)} ({best.rule})",
            sum(entry.twice.values()),
            sum(entry.wrong.values()),
            entry.alarms,
            "" if entry.kept is None else entry.kept,
        )


COLUMNS = (
    *("set", "items", "units", "guess", "best blind rule"),
    *("twice", "wrong or open", "alarms", "kept"),
)
