"""Scores as scripts and people read them: the only place where scores are laid out.

Scripts get every field as it is, people one small table for each slice. Runs of one model are told
apart by a label: in JSON and CSV beside the run's folder and seed, in tables by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple

from msgspec.structs import astuple

from gnomon.contracts import Listing, Measure
from gnomon.errors import inert
from gnomon.grouped import grouped
from gnomon.measures.cautions import ONE_ANSWER
from gnomon.measures.chance import MEANT, verdict
from gnomon.measures.scoring import Scored
from gnomon.records import Score
from gnomon.reports.words import capitalised, interval, percent
from gnomon.tabular import UNCUT, Field, listing_of, render, room, too_wide

FIELDS = Score.__struct_fields__
PLAIN = str.maketrans("─–−·…", "----.")  # what is not ASCII in a table
LONGEST = 100  # characters of a line of prose
CHANCE_IS = "chance: what guessing gets on average; a model that guesses lies around it."
READ_AS = (
    "n questions (items) were asked; score says how well they were answered, by the measure.",
    CHANCE_IS,
    "95 % interval: 95 of 100 such intervals hold the score on all questions of the kind.",
)
UNITS = "units: what several questions share, such as an object; the fewer, the wider the interval."
FRESH = "@fresh: the questions were made anew, from a seed."


def headline(scores: Sequence[Scored], *, width: int | None = None) -> str:
    """A table for the terminal of scores over all items, and what all in it means."""
    rows = [each for each in scores if not each.score.by]
    told = [*READ_AS, *_meanings(rows)]
    if any(not each.score.units.endswith(" items") for each in rows):
        told.append(UNITS)
    if any(each.score.benchmark.endswith("@fresh") for each in rows):
        told.append(FRESH)
    told += summaries([each.score.measure for each in rows])
    return "\n".join([_fitted("", rows, 0.95, width), "", *wrapped(told, width)])


def shown(
    scores: Sequence[Scored], format: str, *, plain: bool = False, level: float = 0.95
) -> str:
    """Scores in one of the formats: all fields, or tables for people, one for each slice."""
    if format in ("json", "csv"):
        return render(_all_fields(scores), format)
    tables = []
    for by, part in grouped(scores, lambda each: each.score.by).items():
        if format == "table" and not plain:
            tables.append(_fitted(by, part, level))
        else:
            tables.append(render(_listing(by, part, level), format))
    text = "\n\n".join(tables)
    if format == "table":
        text = "\n".join([text, *wrapped(_meanings(scores))])
    return text.translate(PLAIN) if plain else text


def wrapped(sentences: Iterable[str], width: int | None = None) -> Iterator[str]:
    """Sentences below a table, each on lines of its own that fit the terminal."""
    for sentence in sentences:
        yield from wrap(inert(sentence), min(room(width), LONGEST), subsequent_indent="  ")


def _meanings(scores: Sequence[Scored]) -> list[str]:
    """A line on each verdict that occurs."""
    used = {_verdict(each.score, each.constant) for each in scores}
    return [f"{words}: {meant}." for words, meant in MEANT.items() if words in used]


def summaries(measures: Sequence[str]) -> list[str]:
    """A line on each measure."""
    from gnomon.registry import entries

    known = entries("measures")
    found = dict.fromkeys(name for name in measures if name in known)
    return [f"{name}: {known[name].summary}." for name in found]


def beside_chance(
    low: float | None, high: float | None, chance: float | None, measure: str = ""
) -> str:
    """Where a figure lies beside chance, in words; nothing where there is no interval or no chance.

    >>> beside_chance(0.42, 0.58, 0.5), beside_chance(0.7, 0.8, 0.5), beside_chance(0.7, 0.8, None)
    ('at chance', 'better than chance', '')
    """
    from gnomon.registry import known_measure

    known = known_measure(measure) if measure else None
    return verdict(low, high, chance, better=known.better if known else "higher")


def _all_fields(scores: Sequence[Scored]) -> Listing:
    rows = [(*astuple(each.score), each.label, each.seed) for each in scores]
    return Listing("", (*FIELDS, "label", "seed"), tuple(rows))


def _fitted(by: str, scores: Sequence[Scored], level: float, width: int | None = None) -> str:
    """A table that fits the terminal.

    Where that is too narrow, words on chance stand below it, then each benchmark gets a table of
    its own, before any name is cut.
    """
    whole = render(_listing(by, scores, level), width=UNCUT)
    if not too_wide(whole, width):
        return whole
    below = _words_on_chance(scores, width)
    whole = render(_listing(by, scores, level, verdicts=False), width=UNCUT)
    if not too_wide(whole, width):
        return "\n".join([whole, *below])
    parts = grouped(scores, lambda each: each.score.benchmark)
    if len(parts) > 1:
        return "\n\n".join(_fitted(by, part, level, width) for part in parts.values())
    text = render(_listing(by, scores, level, verdicts=False), width=width)
    return "\n".join([text, *below])


def _words_on_chance(scores: Sequence[Scored], width: int | None) -> list[str]:
    """Where each figure lies beside chance, for tables that have no room for the words."""
    several = len({each.score.benchmark for each in scores}) > 1
    found: dict[str, list[str]] = {}
    for each in scores:
        score = each.score
        told = _verdict(score, each.constant)
        if told:
            benchmark = score.benchmark if several else ""
            about = filter(None, (benchmark, each.label, score.measure, score.key))
            found.setdefault(told, []).append(" ".join(about))

    lines = []
    for told, which in found.items():
        lines += wrap(inert(f"{capitalised(told)}: {'; '.join(which)}."), room(width))
    return lines


def _verdict(score: Score, constant: bool) -> str:
    """Words beside a figure: that the model gives one answer says more than where chance is."""
    if constant and score.chance is not None:
        return ONE_ANSWER
    return beside_chance(score.low, score.high, score.chance, score.measure)


class _Row(NamedTuple):
    """A score, and that of its measure's twin: the share that is consistent and also right."""

    score: Score
    label: str
    twin: Score | None
    constant: bool

    @property
    def verdict(self) -> str:
        """Whether the figure is better than chance, in words."""
        return _verdict(self.score, self.constant)

    @property
    def measure(self) -> Measure | None:
        """The measure, where it is known: an accuracy that was corrected is none."""
        from gnomon.registry import known_measure

        return known_measure(self.score.measure)

    def told(self, value: float | None) -> str:
        """A figure: a share in per cent, or as it is."""
        if self.measure is None or self.measure.is_share or value is None:
            return percent(value)
        return f"{value:.3g}"

    @property
    def interval(self) -> str:
        """The interval in the same way."""
        if self.measure is None or self.measure.is_share or self.score.low is None:
            return interval(self.score.low, self.score.high)
        return f"{self.told(self.score.low)} – {self.told(self.score.high)}"

    @property
    def and_right(self) -> str:
        """The twin's figure."""
        return percent(self.twin.value) if self.twin else ""


def _listing(by: str, scores: Sequence[Scored], level: float, *, verdicts: bool = True) -> Listing:
    """One row a score, or for a measure and its twin.

    A benchmark or model that all share stands in the title.
    """
    rows = _with_twins(scores)
    benchmarks = {each.score.benchmark for each in scores}
    labels = {each.label for each in scores}
    shared = [name for names in (benchmarks, labels) for name in names if len(names) == 1]
    fields = (
        Field("benchmark", lambda row: row.score.benchmark, len(benchmarks) > 1),
        Field("model", lambda row: row.label, len(labels) > 1),
        Field("measure", lambda row: row.score.measure),
        Field(by, lambda row: row.score.key or "–", bool(by)),
        Field("score", lambda row: row.told(row.score.value)),
        Field(f"{100 * level:g} % interval", lambda row: row.interval),
        Field("chance", lambda row: row.told(row.score.chance)),
        Field("verdict", lambda row: row.verdict, verdicts and any(row.verdict for row in rows)),
        Field("and right", lambda row: row.and_right, any(row.twin for row in rows)),
        Field("n", lambda row: row.score.n),
        Field("units", lambda row: row.score.units),
    )
    return listing_of(" · ".join(shared), fields, rows)


def _with_twins(scores: Sequence[Scored]) -> list[_Row]:
    """Each score with that of its measure's twin, which then has no row of its own."""
    from gnomon.registry import known_measure

    found = {_place(each, each.score.measure): each for each in scores}
    twins: dict[int, Scored] = {}
    for each in scores:
        known = known_measure(each.score.measure)  # not so of an accuracy that was corrected
        twin = found.get(_place(each, known.twin)) if known else None
        if twin:
            twins[id(each)] = twin
    folded = {id(twin) for twin in twins.values()}
    rows = []
    for each in scores:
        if id(each) not in folded:
            twin = twins.get(id(each))
            beside = twin.score if twin else None
            rows.append(_Row(each.score, each.label, beside, each.constant))
    return rows


def _place(each: Scored, measure: str) -> tuple[str, ...]:
    """What the scores of a measure and of its twin have in common."""
    return (each.score.benchmark, each.score.run, each.label, measure, each.score.key)
