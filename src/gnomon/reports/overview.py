"""The overview: models by benchmarks, each cell with its score, interval, chance and marks."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose, isnan, nan, sqrt
from typing import Any, Literal, NamedTuple

from gnomon.contracts import Measure
from gnomon.errors import UsageError
from gnomon.measures.cautions import ONE_ANSWER, cautions, one_answer
from gnomon.measures.chance import verdict
from gnomon.measures.compared import comparable_pairs
from gnomon.measures.comparison import Comparison
from gnomon.measures.scoring import check_options, score
from gnomon.measures.table import Table, unknown_tag
from gnomon.records import Score
from gnomon.reports.figures import Figure
from gnomon.reports.figures.slices import headline_measure
from gnomon.reports.study import Study, row_labels
from gnomon.reports.words import listed, span
from gnomon.runs import Run
from gnomon.tabular import columns_of, frame_of

# Who is best among runs on the same items, and whom the test does not tell apart from it.


class Side(NamedTuple):
    """A run in a column: the row it has, and the items it was asked there."""

    row: str
    run: Run
    table: Table
    finished: bool


@dataclass(frozen=True)
class Contest:
    """The runs of a column that were asked the same items, and how they compare."""

    values: Mapping[str, float] = field(default_factory=dict)  # by row; empty if no two are alike
    better: Literal["higher", "lower"] = "higher"
    pairs: Sequence[Comparison] = ()

    def goodness(self, row: str) -> float:
        """A number that is higher for a better value."""
        value = self.values[row]
        return value if self.better == "higher" else -value

    @property
    def best(self) -> set[str]:
        """The rows with the best value; several if it is the same to the last digit."""
        top = max(map(self.goodness, self.values), default=nan)
        return {row for row in self.values if self.goodness(row) == top}

    @property
    def tied(self) -> set[str]:
        """The other rows that the test does not tell apart from one of the best."""
        best, found = self.best, set()
        for pair in self.pairs:
            both = {pair.first, pair.second}
            if pair.tied and both & best:
                found |= both - best
        return found


def contest_between(
    sides: Sequence[Side], figures: Mapping[str, Score], measure: Measure, alike: set[str]
) -> Contest:
    """How the rows of runs on the same items compare; nothing if fewer than two have a value."""
    values, tables = {}, []
    for side in sides:
        value = figures[side.row].value
        if side.row in alike and value is not None:
            values[side.row] = value
            tables.append(side.table)
    if len(values) < 2:
        return Contest()
    return Contest(values, measure.better, comparable_pairs(tables, measure, names=list(values)))


def mean_ranks(models: Sequence[str], contests: Mapping[str, Contest]) -> dict[str, float]:
    """The mean over columns of a model's rank by value; equal values share the mean of their ranks.

    Only models that take part in the contests of all columns are ranked, among each other: anything
    else would average over other questions for each. Nothing for a single column or a single model.
    """
    ranked = []
    for row in models:
        if all(row in contest.values for contest in contests.values()):
            ranked.append(row)
    if len(ranked) < 2 or len(contests) < 2:
        return {}
    totals = dict.fromkeys(ranked, 0.0)
    for contest in contests.values():
        here = [contest.goodness(row) for row in ranked]
        for row in ranked:
            mine = contest.goodness(row)
            ahead = sum(other > mine for other in here)
            totals[row] += ahead + (here.count(mine) + 1) / 2
    return {row: total / len(contests) for row, total in totals.items()}


def rank_errors(ranked: Iterable[str], contests: Mapping[str, Contest]) -> dict[str, float]:
    """The standard errors of mean ranks.

    In a column a model may have any of the ranks that it and those tied with it share, each with
    the same chance. Of equally good models that is how ranks vary.
    """
    among = set(ranked)
    found = {}
    for row in among:
        variance = 0.0
        for contest in contests.values():
            tied = [
                pair for pair in contest.pairs if pair.tied and row in (pair.first, pair.second)
            ]
            others = {pair.first for pair in tied} | {pair.second for pair in tied}
            ranks = len((others & among) | {row})
            variance += (ranks**2 - 1) / 12
        found[row] = sqrt(variance) / len(contests)
    return found


Verdict = Literal["above", "at", "below", "open", "constant", "unknown"]
FIELDS = ("value", "low", "high", "chance", "verdict", "best", "tied", "items", "finished")
ALL = "all"  # the column of all items, beside those of a tag's values
NONE = "(none)"  # the title of the column of items that lack the tag

IN_WORDS: dict[Verdict, str] = {
    "above": "better than chance",
    "at": "at chance",
    "below": "worse than chance",
    "open": "may be chance",
    "constant": ONE_ANSWER,
    "unknown": "",
}
# beside a figure; none has the shape of a model's marker
SIGNS: dict[Verdict, str] = {"above": "+", "below": "-", "constant": "!"}
BEST, TIED, UNFINISHED = "*", "~", "…"
NO_SIGN, LACKING = "no sign", "–"
MEANING = {
    "+": "better than chance",
    "-": "worse than chance",
    "!": "gives one answer to nearly all questions",
    NO_SIGN: "may well be guessing: not shown to be better or worse than chance",
    BEST: "the best of the models that were asked these questions and are better than chance",
    TIED: "not shown to differ from the best",
    LACKING: "was not asked",
    UNFINISHED: "not all questions were asked yet",
}
_VERDICTS = {words: verdict for verdict, words in IN_WORDS.items()}


@dataclass(frozen=True)
class OverviewCell:
    """One model on one benchmark. What is undefined is NaN."""

    value: float
    low: float
    high: float
    chance: float | None
    verdict: Verdict  # what was shown beside chance, corrected for the model's columns
    shows: float  # the difference from chance that so many items would show
    best: bool  # the best value among the runs on the same items
    tied: bool  # no significant difference from the best by the corrected paired test
    items: int  # that were asked and name a right answer
    finished: bool  # whether the run was asked all its items
    run: Run

    @property
    def marks(self) -> str:
        """What stands beside the figure: signs of which `MEANING` has the words."""
        places = {BEST: self.best, TIED: self.tied, UNFINISHED: not self.finished}
        return SIGNS.get(self.verdict, "") + "".join(filter(places.get, places))

    @property
    def told(self) -> str:
        """The marks in words, for those who do not see them."""
        parts = [IN_WORDS[self.verdict]]
        if self.best:
            parts.append("the best here")
        if self.tied:
            parts.append("does not differ significantly from the best")
        if not self.finished:
            parts.append(f"not finished: {self.items:,} items so far")
        return ", ".join(filter(None, parts))


@dataclass(frozen=True)
class OverviewColumn:
    """One benchmark, or one part of it."""

    name: str  # NAME@SOURCE, or the value of a tag
    title: str
    measure: str
    chance: float | None  # none where it is not known, or not the same for all runs
    items: int  # of the run that was asked most
    skill: str = ""  # what someone who does well knows: "sizes"


@dataclass(frozen=True)
class Overview:
    """Models by benchmarks. A model that was not asked something has no cell there."""

    models: tuple[str, ...]
    columns: tuple[OverviewColumn, ...]
    cells: Mapping[tuple[str, str], OverviewCell]  # by model and the column's name
    # over the benchmarks, of models that were asked the same items of all of them
    mean_rank: Mapping[str, float]
    pairs: Mapping[str, Sequence[Comparison]] = field(default_factory=dict)  # by the column's name
    rank_error: Mapping[str, float] = field(default_factory=dict)  # of the mean ranks
    notes: tuple[str, ...] = ()  # what is unfinished or not compared; sentences
    level: float = 0.95  # of the intervals; and of all verdicts on a model together

    def rank(self, model: str) -> str:
        """A model's mean rank with its standard error, for people; empty if it has none."""
        if model not in self.mean_rank:
            return ""
        return f"{self.mean_rank[model]:.1f} ± {self.rank_error.get(model, nan):.1f}"

    @property
    def legend(self) -> dict[str, str]:
        """What the marks mean that occur."""
        cells = [cell for cell in self.cells.values() if not isnan(cell.value)]
        used = set("".join(cell.marks for cell in cells))
        if any(cell.verdict in ("at", "open") for cell in cells):
            used.add(NO_SIGN)
        if len(cells) < len(self.models) * len(self.columns):
            used.add(LACKING)
        return {sign: meaning for sign, meaning in MEANING.items() if sign in used}

    def to_frame(self, library: str = "") -> Any:
        """A DataFrame of pandas or polars: a row for each cell, with its figures and marks."""
        names = ("model", "benchmark", "measure", *FIELDS, "mean_rank", "rank_error")
        rows = []
        for column in self.columns:
            for model in self.models:
                cell = self.cells.get((model, column.name))
                if cell is not None:
                    figures = [getattr(cell, field) for field in FIELDS]
                    ranks = self.mean_rank.get(model), self.rank_error.get(model)
                    rows.append((model, column.name, column.measure, *figures, *ranks))
        return frame_of(columns_of(names, rows), library)

    def plot(self) -> Figure:
        """Models by benchmarks as a picture, with intervals and chance: a notebook shows it.

        `.save("overview.pdf")` writes it, or .svg, .png, and .csv for the numbers.
        """
        from gnomon.reports.figures.overall import forest

        return forest(self)

    def to_latex(self) -> str:
        """The table for a paper, as `gnomon table --format latex` writes it."""
        return self._written("latex")

    def _repr_html_(self) -> str:
        return self._written("html")

    def _written(self, form: str) -> str:
        from gnomon.reports.tables.pivot import pivot, written

        return written(pivot(self, ()), form)

    def __repr__(self) -> str:
        return f"<Overview of {len(self.models)} models on {len(self.columns)} benchmarks>"

    def __str__(self) -> str:
        from gnomon.reports.tables.overviews import in_terminal

        return in_terminal(self)


def overview(
    found: Sequence[Study], *, by: str = "", minimum: int = 1, level: float = 0.95
) -> Overview:
    """The headline measure of every run, beside chance and beside the other runs.

    By a tag it is about one benchmark, with a column for each value.
    """
    if by:
        return overview_by(_only(found, by), by, minimum=minimum, level=level)
    check_options(level=level)
    rows = row_labels(found)
    titles = _titles(found)
    sides_of = {study.name: _sides(study, rows) for study in found}
    made = _Columns(level, _columns_each(sides_of.values()))
    notes = []
    for study in found:
        sides = sides_of[study.name]
        skill = study.spec.skill if study.spec else ""
        measure = headline_measure(study.spec)
        alike = _same_items(study, sides)
        contest = made.add(study.name, titles[study.name], measure, sides, alike, skill)
        notes += _notes(study, sides, contest)
    models = tuple(dict.fromkeys(rows.values()))
    return made.overview(models, mean_ranks(models, made.contests), notes)


def _only(found: Sequence[Study], tag: str) -> Study:
    if len(found) == 1:
        return found[0]
    names = ", ".join(study.name for study in found)
    raise UsageError(
        f"--by {tag} is about one benchmark, and these runs are on {len(found)}: {names}.",
        "Give the runs of one of them.",
    )


def overview_by(study: Study, tag: str, *, minimum: int = 1, level: float = 0.95) -> Overview:
    """The runs on one benchmark by the values of a tag, and on all items in the last column.

    Values with fewer than `minimum` items are left out. Categories are no benchmarks, so there is
    no mean rank.
    """
    check_options(level=level, minimum=minimum)
    rows = row_labels([study])
    sides = _sides(study, rows)
    measure = headline_measure(study.spec)
    alike = _same_items(study, sides)
    parts = _parts(sides, tag, minimum) | {ALL: sides}
    made = _Columns(level, _columns_each(parts.values()))
    for key, here in parts.items():
        made.add(key, study.words(tag, key) if key else NONE, measure, here, alike)
    notes = _notes(study, sides, Contest(dict.fromkeys(alike, nan)))
    return made.overview(tuple(dict.fromkeys(rows.values())), {}, notes)


@dataclass
class _Columns:
    """The columns of an overview, as they are made."""

    level: float
    counts: Mapping[str, int]  # by row: the columns that it will have
    columns: list[OverviewColumn] = field(default_factory=list)
    cells: dict[tuple[str, str], OverviewCell] = field(default_factory=dict)
    contests: dict[str, Contest] = field(default_factory=dict)

    def add(
        self,
        name: str,
        title: str,
        measure: Measure,
        sides: Sequence[Side],
        alike: set[str],
        skill: str = "",
    ) -> Contest:
        """Add a column; give back how its runs on the same items compare."""
        figures = {side.row: score(side.table, measure, level=self.level) for side in sides}
        contest = self.contests[name] = contest_between(sides, figures, measure, alike)
        corrected = {}
        for side in sides:
            together = 1 - (1 - self.level) / self.counts[side.row]  # one verdict is rarely wrong
            corrected[side.row] = figures[side.row]
            if self.counts[side.row] > 1:
                corrected[side.row] = score(side.table, measure, level=together)
        self.cells |= _cells(name, sides, figures, corrected, measure, contest)
        chances = [figure.chance for figure in figures.values() if figure.value is not None]
        is_one = chances and all(_same(each, chances[0]) for each in chances)
        most = max((len(side.table) for side in sides), default=0)
        chance = chances[0] if is_one else None
        self.columns.append(OverviewColumn(name, title, measure.name, chance, most, skill))
        return contest

    def overview(
        self, models: tuple[str, ...], ranks: Mapping[str, float], notes: Sequence[str]
    ) -> Overview:
        """The whole."""
        pairs = {name: contest.pairs for name, contest in self.contests.items()}
        columns = tuple(self.columns)
        errors = rank_errors(ranks, self.contests)
        made = (models, columns, self.cells, ranks, pairs, errors)
        return Overview(*made, tuple(notes), self.level)


def _columns_each(columns: Iterable[Sequence[Side]]) -> Counter[str]:
    """How many columns each row has."""
    return Counter(side.row for sides in columns for side in sides)


def in_words(found: Overview, model: str) -> str:
    """What a model knows and what not, by the verdicts alone; empty where there are none.

    "better than chance at sizes and colours; about as good as guessing at places; too few items to
    tell whether it guesses at heights (with 40 items a score must be at least 20 points from chance
    to tell)"
    """
    told: dict[Verdict, list[str]] = {}
    too_few = []
    for column, skill in zip(found.columns, skills_of(found.columns), strict=True):
        cell = found.cells.get((model, column.name))
        if cell is None:
            continue
        told.setdefault(cell.verdict, []).append(skill)
        if cell.verdict == "open":
            too_few.append(cell)

    verbs: dict[Verdict, str] = {
        "above": "better than chance at",
        "at": "about as good as guessing at",
        "below": "worse than chance at",
        "constant": "gives one answer to questions about",
        "open": "too few items to tell whether it guesses at",
    }
    parts = []
    for each, verb in verbs.items():
        if each in told:
            parts.append(f"{verb} {listed(told[each])}")
    if too_few:
        items = span([cell.items for cell in too_few])
        points = span([round(100 * cell.shows) for cell in too_few])
        parts[-1] += (
            f" (with {items} items a score must be at least {points} points from chance to tell)"
        )
    return "; ".join(parts)


def skills_of(columns: Sequence[OverviewColumn]) -> list[str]:
    """What each column is about; sources of one benchmark are told apart."""
    skills = [column.skill or _questions_of(column.name) for column in columns]
    return _told_apart(skills, [column.name for column in columns])


def _questions_of(name: str) -> str:
    """What a benchmark without a skill of its own is about: a file's questions."""
    benchmark, _, source = name.partition("@")
    return f"the questions of {source}" if benchmark == "items" else benchmark


def _titles(found: Sequence[Study]) -> dict[str, str]:
    """The title of each study by its name; sources of one benchmark are told apart."""
    names = [study.name for study in found]
    titles = _told_apart([study.title for study in found], [study.source for study in found])
    return dict(zip(names, titles, strict=True))


def _told_apart(words: Sequence[str], by: Sequence[str]) -> list[str]:
    """The words, with what tells them apart behind those that occur several times."""
    found = []
    for word, difference in zip(words, by, strict=True):
        found.append(f"{word} ({difference})" if words.count(word) > 1 else word)
    return found


def _sides(study: Study, rows: Mapping[str, str]) -> list[Side]:
    found = []
    for entrant in study.entrants:
        finished = len(entrant.table) >= entrant.total
        found.append(Side(rows[str(entrant.run.path)], entrant.run, entrant.table, finished))
    return found


def _same_items(study: Study, sides: Sequence[Side]) -> set[str]:
    """The rows of most runs on the same items (of two such sets that with more items), if any."""
    largest = max(study.item_sets(), key=len, default=[])
    if len(largest) < 2:
        return set()
    return {sides[place].row for place in largest}


def _parts(sides: Sequence[Side], tag: str, minimum: int) -> dict[str, list[Side]]:
    """The runs on the items of each value of a tag, or of form, group or gold."""
    if not any(side.table.has(tag) for side in sides):
        raise unknown_tag(tag, [side.table for side in sides])
    found: dict[str, list[Side]] = {}
    for side in sides:
        if not side.table.has(tag):
            continue
        for key, part in side.table.by(tag):
            if len(part) >= minimum:
                found.setdefault(key, []).append(side._replace(table=part))
    if ALL in found:
        raise UsageError(
            f"A value of the tag '{tag}' is called '{ALL}', as is the column of all items.",
            f"Use `gnomon score --by {tag}`.",
        )
    return found


def _cells(
    column: str,
    sides: Sequence[Side],
    figures: Mapping[str, Score],
    corrected: Mapping[str, Score],
    measure: Measure,
    contest: Contest,
) -> dict[tuple[str, str], OverviewCell]:
    wide = {row: (figure.low, figure.high) for row, figure in corrected.items()}
    verdicts: dict[str, Verdict] = {}
    for side in sides:
        figure = figures[side.row]
        told = verdict(
            figure.low,
            figure.high,
            figure.chance,
            better=measure.better,
            corrected=wide[side.row],
        )
        verdicts[side.row] = "constant" if one_answer(side.table) else _VERDICTS[told]
    # the best of those who guess is no winner, and nobody is as good as it
    best = {row for row in contest.best if verdicts[row] in ("above", "unknown")}
    tied = contest.tied if best else set()
    found = {}
    for side in sides:
        figure = figures[side.row]
        found[side.row, column] = OverviewCell(
            value=_number(figure.value),
            low=_number(figure.low),
            high=_number(figure.high),
            chance=figure.chance,
            verdict=verdicts[side.row],
            shows=(_number(wide[side.row][1]) - _number(wide[side.row][0])) / 2,
            best=side.row in best,
            tied=side.row in tied,
            items=len(side.table),
            finished=side.finished,
            run=side.run,
        )
    return found


def _number(value: float | None) -> float:
    return nan if value is None else value


def _same(one: float | None, two: float | None) -> bool:
    """Whether two chances are the same but for the last bits of a mean over other items."""
    if one is None or two is None:
        return one is two
    return isclose(one, two, abs_tol=1e-9)


def _notes(study: Study, sides: Sequence[Side], contest: Contest) -> list[str]:
    """What of a study is unfinished, or stands beside others without being compared."""
    notes = []
    for side, entrant in zip(sides, study.entrants, strict=True):
        if not side.finished:
            asked = f"{len(side.table):,} of {entrant.total:,} items"
            notes.append(f"{side.row} on {study.name} is not finished: asked {asked}.")
    notes += cautions([(side.row, side.table) for side in sides])
    apart = [side.row for side in sides if side.row not in contest.values]
    if apart and len(sides) > 1:
        verb = "was" if len(apart) == 1 else "were"
        others = "the others" if contest.values else "each other"
        notes.append(
            f"{study.name}: {listed(apart)} {verb} not asked the same items as {others}, and so "
            "not compared."
        )
    return notes
