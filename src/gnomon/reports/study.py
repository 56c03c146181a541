"""A study: the items of one benchmark, once, and every model's answers side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gnomon.contracts import Benchmark
from gnomon.grouped import grouped
from gnomon.measures.entries import on_items_of
from gnomon.measures.pairing import same_items
from gnomon.measures.runlabels import labels, settings_of, with_shard
from gnomon.measures.table import Table
from gnomon.records import Item
from gnomon.registry import asked_benchmark, role
from gnomon.reports.words import clip, counted
from gnomon.runs import Counts, Run

NOT_ASKED, NO_ANSWER = -2, -1
WROTE = -3  # an answer that is written, and none of the choices
REPLY = 300  # characters of a reply that are kept
SHORTEST = 0.01  # seconds that are told of an answer
LEFT_OUT = -1  # the place of an item that is not in the study
Places = NDArray[np.int64]  # positions of items in the study
# of an item of a run whose choices are in another order than the study's: where each of them stands
Turned = dict[int, list[int]]
Index = dict[tuple[str, str, str], int]


@dataclass
class Entrant:
    """One run in a study: its table of answers, and the same for each item of the study.

    The table holds the items that were asked: what a run that is going on has not come to yet is no
    mistake.
    """

    run: Run
    label: str
    table: Table
    total: int  # items of the run that name a right answer, asked or not
    places: Places  # for each row of the table, the position of its item in the study
    choice: NDArray[np.int32]  # index into the item's choices, NO_ANSWER, NOT_ASKED or WROTE
    right: NDArray[np.bool_]
    # probabilities of the picked choice and of the right choices together; NaN without scores
    sure: NDArray[np.float64]
    gold: NDArray[np.float64]
    series: int = 0  # its colour and shape: the same for a model all through a page
    # what models that talk said, and why others failed, by the item's position
    replies: dict[int, str] = field(default_factory=dict)
    rules: dict[int, str] = field(default_factory=dict)  # by which each reply was read
    costs: dict[int, str] = field(default_factory=dict)  # the tokens and seconds of each answer
    written: dict[int, str] = field(default_factory=dict)  # answers that are none of the choices

    @property
    def asked(self) -> NDArray[np.bool_]:
        """Which items of the study the model was asked."""
        return np.asarray(self.choice != NOT_ASKED)

    @property
    def scored(self) -> bool:
        """Whether the model gave scores."""
        return bool(np.isfinite(self.gold).any())

    @property
    def counts(self) -> Counts:
        """The run's progress, from its answers: a manifest is not rewritten for each batch."""
        answered = int(self.table.answered.sum())
        failed = int((self.table.failed & ~self.table.answered).sum())
        unread = len(self.table) - answered - failed
        return Counts(items=self.total, answered=answered, errors=failed, unread=unread)

    @property
    def is_baseline(self) -> bool:
        """Whether the model is a guess or a shortcut, to measure others by."""
        return bool(role(self.run.model))

    def said(self, item: Item, place: int) -> str:
        """What the model answered to an item of the study."""
        choice = int(self.choice[place])
        if choice == NO_ANSWER:
            return "no answer"
        if choice == NOT_ASKED:
            return "not asked"
        if choice == WROTE:
            return self.written[place]
        return item.choices[choice]

    @property
    def blind(self) -> bool:
        """Whether the items have pictures that the model was not shown."""
        return self.run.manifest.blind


@dataclass
class Study:
    """All runs on one benchmark."""

    name: str  # NAME@SOURCE
    spec: Benchmark | None  # none if this installation does not know the benchmark
    items: list[Item]  # those that name a right answer: a scene to be painted is not among them
    entrants: list[Entrant]

    @property
    def title(self) -> str:
        """The benchmark as people call it; where it has no title, its name."""
        return (self.spec.title if self.spec else "") or self.name

    @property
    def source(self) -> str:
        """The source of the items, such as fresh or published."""
        return self.name.partition("@")[2]

    def words(self, tag: str, value: str = "") -> str:
        """A tag, or one of its values, as people read it."""
        if self.spec:
            return self.spec.title_of(tag, value)
        return value or tag.replace("_", " ").replace("-", " ")

    @property
    def noun(self) -> str:
        """What the groups of the benchmark are called."""
        return self.spec.noun if self.spec else "groups"

    @property
    def slices(self) -> tuple[str, ...]:
        """The tags that the benchmark declares worth a table of their own."""
        return self.spec.slices if self.spec else ()

    @property
    def labels(self) -> list[str]:
        """The entrants' names."""
        return [entrant.label for entrant in self.entrants]

    @property
    def drawn_names(self) -> dict[int, str]:
        """The entrants' names by the series in which they are drawn."""
        return {entrant.series: entrant.label for entrant in self.entrants}

    def item_sets(self) -> list[list[int]]:
        """The entrants (as positions) that were asked the same items; most items first."""
        return same_items([entrant.table for entrant in self.entrants])

    def on_items_of(self, others: Sequence[Table]) -> Study:
        """The study on the items to which each of some other runs has an answer."""
        entrants = []
        for entrant in self.entrants:
            table = on_items_of(entrant.table, others)
            places = entrant.places[np.isin(entrant.table.ids, table.ids)]
            choice = np.full_like(entrant.choice, NOT_ASKED)
            choice[places] = entrant.choice[places]
            entrants.append(
                replace(entrant, table=table, total=table.total, places=places, choice=choice)
            )
        return replace(self, entrants=entrants)

    def groups(self) -> dict[str, Places]:
        """Positions of the items of each group that has a name."""
        found: dict[str, list[int]] = {}
        for i, item in enumerate(self.items):
            if item.group:
                found.setdefault(item.group, []).append(i)
        return {name: np.array(where) for name, where in found.items()}


def studies(runs: Sequence[Run]) -> list[Study]:
    """The runs by benchmark, in the order given.

    Within each, models stand in the order in which they first occur, so that a model keeps its
    colour on the page.
    """
    models = list(dict.fromkeys(run.model for run in runs))
    in_turn = sorted(runs, key=lambda run: models.index(run.model))
    by_name = grouped(in_turn, lambda run: run.benchmark)
    return [_study(name, members) for name, members in by_name.items()]


def draw_alike(found: Sequence[Study], rows: Mapping[str, str]) -> None:
    """Give each row one series in all studies; `rows` names that of each run, by its folder."""
    series: dict[str, int] = {}
    for study in found:
        for entrant in study.entrants:
            entrant.series = series.setdefault(rows[str(entrant.run.path)], len(series))


def all_runs(found: Sequence[Study]) -> list[Run]:
    """The runs of several studies."""
    return [entrant.run for study in found for entrant in study.entrants]


def labels_of(runs: Sequence[Run]) -> list[str]:
    """A short name for each run: the model's, with the options that tell its runs apart."""
    return labels(list(map(name_of, runs)), list(map(settings_of, runs)))


def name_of(run: Run) -> str:
    """What a run's model is called, with what must never be left unsaid."""
    name = run.name
    if run.manifest.blind:
        name = f"{name} (blind)"
    return with_shard(name, run.manifest.shard)


def _study(name: str, runs: list[Run]) -> Study:
    items, found = _shared_items(runs)
    spec = asked_benchmark(name, runs[0].manifest.about)
    entrants: list[Entrant] = []
    for run, label, (where, turned) in zip(runs, labels_of(runs), found, strict=True):
        entrant = _entrant(run, label, Table.of_run(run, spec), where, len(items))
        _turn(entrant, turned)
        entrant.replies = _replies(run, where)
        entrant.costs = _costs(run, where)
        entrant.rules = {int(where[n]): rule for n, rule in run.rules() if n < len(where)}
        entrant.series = len(entrants)
        entrants.append(entrant)
    return Study(name, spec, items, entrants)


def _turn(entrant: Entrant, turned: Turned) -> None:
    """Name what was chosen by its place among the choices as the study lists them."""
    numbers = np.asarray(entrant.table.numbers).tolist()
    for number, place in zip(numbers, entrant.places.tolist(), strict=True):
        picked = entrant.choice[place]
        if number in turned and picked >= 0:
            entrant.choice[place] = turned[number][picked]


def _shared_items(runs: list[Run]) -> tuple[list[Item], list[tuple[Places, Turned]]]:
    """The items of all runs, each once, and where in that list each run's are."""
    items: list[Item] = []
    index: Index = {}
    known: dict[str, tuple[Places, Turned]] = {}  # by the digest of a run's items
    found = []
    for run in runs:
        digest = run.manifest.items_sha256
        where = known.get(digest) or _places(run, items, index)
        if digest:
            known[digest] = where
        found.append(where)
    return items, found


def _places(run: Run, items: list[Item], index: Index) -> tuple[Places, Turned]:
    """Where the items of a run are in the list, to which new ones are added.

    LEFT_OUT for items that name no right answer.
    """
    where = []
    turned: Turned = {}
    for number, item in enumerate(run.items()):
        if not item.gold:
            where.append(LEFT_OUT)
            continue
        place = index.setdefault((item.id, item.context, item.text), len(items))
        if place == len(items):
            items.append(item)
        where.append(place)
        known = items[place].choices
        if item.choices != known and set(item.choices) == set(known):
            turned[number] = [known.index(choice) for choice in item.choices]
    return np.array(where, dtype=np.int64), turned


def _entrant(run: Run, label: str, table: Table, places: Places, count: int) -> Entrant:
    numbers = np.asarray(table.numbers)
    table = table.where(numbers < len(places)).judged  # a run may have grown between two looks
    asked = places[np.asarray(table.numbers)]
    picked = table.picked

    choice = np.full(count, NOT_ASKED, dtype=np.int32)
    choice[asked] = np.where(picked >= 0, picked, NO_ANSWER)
    written = _written(table, asked)
    choice[list(written)] = WROTE
    right = np.zeros(count, dtype=bool)
    right[asked] = table.right
    sure, gold = np.full(count, np.nan), np.full(count, np.nan)
    if table.scores is not None and table.scale != "none":
        chances = table.probabilities
        sure[asked] = np.where(picked >= 0, chances[np.arange(len(table)), picked], np.nan)
        gold[asked] = np.where(table.gold_at, chances, 0.0).sum(axis=1)
    total = int((places != LEFT_OUT).sum())
    return Entrant(run, label, table, total, asked, choice, right, sure, gold, written=written)


def _written(table: Table, places: Places) -> dict[int, str]:
    """The answers that are written, by the item's position."""
    if table.marks is None:
        return {}
    rows = np.flatnonzero(table.marks.judged & table.answered & (table.picked < 0))
    return {int(places[row]): table.labels[table.choice[row]] for row in rows.tolist()}


def _placed(places: Places, numbered: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """What a log has by an item's number, by the item's position; without items left out."""
    for number, *rest in numbered:
        if number < len(places) and places[number] != LEFT_OUT:
            yield int(places[number]), *rest


def _costs(run: Run, places: Places) -> dict[int, str]:
    """What each answer took, in words, by the item's position."""
    found = {}
    for place, tokens, seconds in _placed(places, run.costs()):
        parts = []
        if tokens is not None:
            parts.append(counted(tokens, "tokens"))
        if seconds is not None and seconds >= SHORTEST:
            parts.append(f"{seconds:.2f} s")
        if parts:
            found[place] = ", ".join(parts)
    return found


def _replies(run: Run, places: Places) -> dict[int, str]:
    """How the replies of models that talk begin, by the item's position.

    A failure's reason where there is no reply.
    """
    found = {}
    for place, reply, error in _placed(places, run.replies(REPLY + 1)):
        found[place] = clip(f"error: {error}" if reply is None else reply, REPLY)
    return found


# The rows of an overview: one name for a model in all columns.
#
# A row is a model with the settings in which its runs on any one benchmark differ, so that a
# prompt or a limit has the same row everywhere. Different models that were given one name are
# told apart. Runs that differ in nothing are numbered.


Settings = Mapping[str, Any]
MODEL = "model"  # a setting, where two models have one name


def row_labels(found: Sequence[Study]) -> dict[str, str]:
    """The row of each run, by its folder."""
    names: dict[str, str] = {}
    settings: dict[str, Settings] = {}
    for run in all_runs(found):
        folder = str(run.path)
        names[folder] = labels_of([run])[0]
        settings[folder] = {MODEL: run.model, **settings_of(run)}

    telling = _telling_apart(found, names, settings)
    kinds: dict[str, tuple[str, str]] = {}
    distinct: dict[tuple[str, str], Settings] = {}
    for folder, name in names.items():
        mine = {key: settings[folder].get(key) for key in telling[name]}
        kinds[folder] = name, repr(mine)
        distinct[kinds[folder]] = mine
    called = labels([name for name, _ in distinct], list(distinct.values()))
    label_of = dict(zip(distinct, called, strict=True))

    rows = {}
    for study in found:
        seen: dict[str, int] = {}
        for entrant in study.entrants:
            folder = str(entrant.run.path)
            label = label_of[kinds[folder]]
            seen[label] = seen.get(label, 0) + 1
            rows[folder] = label if seen[label] == 1 else f"{label} #{seen[label]}"
    return rows


def _telling_apart(
    found: Sequence[Study], names: Mapping[str, str], settings: Mapping[str, Settings]
) -> dict[str, dict[str, None]]:
    """For each name, the settings in which two of its runs on one benchmark differ.

    The model tells runs apart wherever they are.
    """
    telling: dict[str, dict[str, None]] = {name: {} for name in names.values()}
    for name, folders in grouped(names, names.__getitem__).items():
        if len({settings[folder][MODEL] for folder in folders}) > 1:
            telling[name][MODEL] = None
    for study in found:
        here = [str(entrant.run.path) for entrant in study.entrants]
        for name, folders in grouped(here, names.__getitem__).items():
            telling[name] |= dict.fromkeys(_differing([settings[folder] for folder in folders]))
    return telling


def _differing(several: Sequence[Settings]) -> list[str]:
    """The settings in which any two differ."""
    every = dict.fromkeys(key for each in several for key in each)
    first = several[0]
    return [key for key in every if any(each.get(key) != first.get(key) for each in several)]
