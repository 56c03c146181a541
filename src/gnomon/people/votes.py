"""The votes of all people on all items of one benchmark, and captions that they chose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError, UsageError
from gnomon.items.itemfiles import ORIGIN
from gnomon.measures.agreement import Judgements
from gnomon.measures.table import Table
from gnomon.measures.units import Sharing
from gnomon.people.tasks import POINTS
from gnomon.records import Answer, Item
from gnomon.registry import known_benchmark

if TYPE_CHECKING:
    from gnomon.contracts import Benchmark
    from gnomon.runs import Run

SCHEME = "people:"
SCALE_RULE = "people/scale"  # of an answer whose reply is a point of a scale
Flags = NDArray[np.bool_]


def no_repeats() -> Judgements:
    """No item was judged twice by the same person."""
    return np.zeros((0, 3), dtype=np.int64)


class PersonVote(NamedTuple):
    """What one person said about one item: a label, and the point where it is a scale."""

    person: str
    label: str | None
    point: int = -1  # from 0 on; -1 for none


@dataclass(frozen=True)
class Votes:
    """The votes of all people on all items of one benchmark.

    >>> item = Item(id="1", form="caption", text="A cat.", choices=("false", "true"),
    ...             gold=("true",))
    >>> said = [PersonVote("ann", "true"), PersonVote("ben", "false")]
    >>> votes = Votes.of("b@fresh", [(item, said)])
    >>> votes.people, votes.said.tolist(), votes.right.tolist()
    (('ann', 'ben'), [[1, 0]], [[True, False]])
    """

    benchmark: str  # NAME@SOURCE
    items: tuple[Item, ...]
    people: tuple[str, ...]
    said: Judgements  # [items, people] codes into the labels
    table: Table  # the items alone: their labels, right labels, tags and units
    points: Judgements | None = None  # [items, people] where they stand on a scale of five points
    # [n, 3] item, person and label of each further vote
    repeats: Judgements = field(default_factory=no_repeats)
    all_count: bool = False  # whether further votes count beside the first, as votes of their own

    @classmethod
    def of(
        cls,
        benchmark: str,
        judged: Iterable[tuple[Item, Iterable[PersonVote]]],
        *,
        all_count: bool = False,
    ) -> Votes:
        """Votes from items with what people said about each; an item may come several times."""
        gathered = _Gathered()
        for item, votes in judged:
            gathered.add(item, votes)
        return gathered.done(benchmark, all_count=all_count)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the codes stand for."""
        return self.table.labels

    @property
    def made(self) -> Flags:
        """[items, people] whether the person said something."""
        return np.asarray(self.said >= 0)

    @property
    def gold(self) -> Flags:
        """[items, labels] which labels are right."""
        return self.table.gold

    @property
    def has_gold(self) -> Flags:
        """[items] whether an item names a right label at all."""
        return np.asarray(self.gold.any(axis=1))

    @property
    def right(self) -> Flags:
        """[items, people] whether the person said a right label."""
        rows = np.arange(len(self.items))[:, None]
        found: Flags = self.gold[rows, self.said] & self.made
        return found

    def counts(self) -> Judgements:
        """[items, labels] how many votes each label has."""
        found = self.first_counts()
        if self.all_count:
            np.add.at(found, (self.repeats[:, 0], self.repeats[:, 2]), 1)
        return found

    def first_counts(self) -> Judgements:
        """[items, labels] how many people gave each label first."""
        row, person = np.nonzero(self.made)
        width = len(self.labels)
        place = row * width + self.said[row, person]
        flat = np.bincount(place, minlength=len(self.items) * width)
        return flat.reshape(len(self.items), width)

    def where(self, rows: NDArray[np.int64]) -> Votes:
        """The votes on some of the items."""
        place = np.full(len(self.items), -1)
        place[rows] = np.arange(len(rows))
        repeats = self.repeats[place[self.repeats[:, 0]] >= 0]
        repeats[:, 0] = place[repeats[:, 0]]
        return replace(
            self,
            items=tuple(self.items[row] for row in rows.tolist()),
            said=self.said[rows],
            table=self.table.where(rows),
            points=None if self.points is None else self.points[rows],
            repeats=repeats,
        )

    def by(self, tag: str) -> Iterator[tuple[str, Votes]]:
        """The votes on the items that share a value of a tag."""
        numbered = replace(self.table, numbers=np.arange(len(self.items)))
        for key, part in numbered.by(tag):
            yield key, self.where(np.asarray(part.numbers))


class _Gathered:
    """Items and votes as they come, before they are a matrix."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._items: list[Item] = []
        self._columns: dict[str, int] = {}
        self._said: dict[tuple[int, int], PersonVote] = {}
        self._again: list[tuple[tuple[int, int], PersonVote]] = []

    def add(self, item: Item, votes: Iterable[PersonVote]) -> None:
        """One item, perhaps once more, with further votes."""
        row = self._rows.setdefault(item.id, len(self._items))
        if row == len(self._items):
            self._items.append(item)
        elif _asks(self._items[row]) != _asks(item):
            raise DataError(
                f"two items with the id '{item.id}' ask different things.",
                "Give runs on the same items: those of one benchmark, source, seed and options.",
            )
        for vote in votes:
            column = self._columns.setdefault(vote.person, len(self._columns))
            if (row, column) in self._said:
                self._again.append(((row, column), vote))
            else:
                self._said[row, column] = vote

    def done(self, benchmark: str, *, all_count: bool) -> Votes:
        """The matrix."""
        table = _table(benchmark, self._items)
        codes = {label: code for code, label in enumerate(table.labels)}
        shape = len(self._items), len(self._columns)
        said = np.full(shape, -1, dtype=np.int64)
        points = np.full(shape, -1, dtype=np.int64)
        for place, vote in self._said.items():
            if vote.label is not None:
                said[place] = codes.get(vote.label, -1)
            points[place] = vote.point
        on_scale = points if (points >= 0).any() else None
        again = [(*place, codes.get(vote.label or "", -1)) for place, vote in self._again]
        repeats = np.array(again, dtype=np.int64).reshape(-1, 3)
        return Votes(
            benchmark,
            tuple(self._items),
            tuple(self._columns),
            said,
            table,
            on_scale,
            repeats[repeats[:, 2] >= 0],
            all_count,
        )


def _asks(item: Item) -> tuple[str, str, frozenset[str]]:
    return item.context, item.text, frozenset(item.choices)


def _table(benchmark: str, items: Sequence[Item]) -> Table:
    rows = ((item, Answer(item=item.id)) for item in items)
    known: Benchmark | None = known_benchmark(benchmark)
    if known is None:
        return Table.of(rows, benchmark=benchmark)
    return Table.of(rows, benchmark=benchmark, sharing=Sharing.of(known))


def votes_of_runs(runs: Sequence[Run]) -> Votes:
    """The votes that runs hold, a run of any model being one voter; people's runs are by name."""
    names = list(dict.fromkeys(run.benchmark for run in runs))
    if len(names) > 1:
        raise UsageError(
            f"These runs are on {len(names)} benchmarks: {', '.join(names)}.",
            f"Give the runs on one of them at a time: gnomon people agree runs/{names[0]}*",
        )
    judged = chain.from_iterable(map(_judged, runs, _names(runs)))
    votes = Votes.of(names[0], judged)
    if not votes.people:
        raise UsageError(
            f"Nobody has answered an item of {names[0]} yet.",
            "Let people answer first, with gnomon people ask.",
        )
    return votes


def person_of(model: str) -> str:
    """The name of the person that a model is; empty for any other model.

    >>> person_of("people:ann"), person_of("random")
    ('ann', '')
    """
    return model.removeprefix(SCHEME) if model.startswith(SCHEME) else ""


def _names(runs: Sequence[Run]) -> list[str]:
    """A person's name for all their runs; other models are told apart by their settings."""
    from gnomon.measures.runlabels import labels, settings_of

    others = labels(
        [run.manifest.name or run.model for run in runs], [settings_of(run) for run in runs]
    )
    return [person_of(run.model) or other for run, other in zip(runs, others, strict=True)]


def _judged(run: Run, name: str) -> Iterator[tuple[Item, list[PersonVote]]]:
    for item, answer in run.rows():
        yield item, [] if answer is None else [vote_of(name, answer)]


def vote_of(person: str, answer: Answer) -> PersonVote:
    """An answer as a vote."""
    point = -1
    if answer.rule == SCALE_RULE and answer.reply in POINTS:
        point = POINTS.index(answer.reply)
    return PersonVote(person, answer.choice, point)


def votes_by_label(votes: Votes, row: int) -> Mapping[str, list[str]]:
    """Who gave each label to an item, the label with most votes first."""
    found: dict[str, list[str]] = {}
    for person, code in zip(votes.people, votes.said[row].tolist(), strict=True):
        if code >= 0:
            found.setdefault(votes.labels[code], []).append(person)
    return dict(sorted(found.items(), key=lambda pair: -len(pair[1])))


# From contrasts to captions: what annotators chose for two pictures becomes items to validate.
#
# A relation that is true of one picture and false of the other gives one caption and two items.


RULE = "people/contrast"
CHOICES = ("false", "true")


class ChosenContrast(msgspec.Struct, frozen=True):
    """What an annotator chose."""

    relation: str
    true_of: int  # the picture of which the caption is true: 0 or 1
    subject: str
    object: str
    caption: str = ""  # as the task words it


_decode = msgspec.json.Decoder(ChosenContrast).decode


def is_contrast(run: Run) -> bool:
    """Whether a run holds contrasts."""
    first = next((answer for _, answer in run.answers() if answer.rule), None)
    return first is not None and first.rule == RULE


def hold_contrasts(runs: Iterable[Run]) -> bool:
    """Whether runs hold contrasts; one in which nothing was answered yet does not matter."""
    begun = [run for run in runs if next(run.answers(), None) is not None]
    return bool(begun) and all(map(is_contrast, begun))


def captions_of(runs: Sequence[Run]) -> Iterator[Item]:
    """Two items for each answer; of people who made the same caption, the first is its author."""
    seen = set()
    for run in runs:
        author = person_of(run.model) or run.model
        for item, answer in run.answers():
            if answer.choice is None or answer.reply is None:
                continue
            for found in _captions(item, answer, author):
                if found.id not in seen:
                    seen.add(found.id)
                    yield found


def _captions(item: Item, answer: Answer, author: str) -> Iterator[Item]:
    try:
        chosen = _decode(answer.reply or "")
    except msgspec.MsgspecError as error:
        raise DataError(
            f"the answer of {author} to '{item.id}' is not a contrast: {error}.",
            "Give runs of the task contrast.",
        ) from None
    text = caption(item, chosen)
    names = [item.tags.get(tag, "") for tag in ("image", "image_2")]
    for place, image in enumerate(item.images):
        gold = CHOICES[place == chosen.true_of]
        tags = {
            "relation": chosen.relation,
            "subj": chosen.subject,
            "obj": chosen.object,
            "annotator": author,
            "pair": item.id,
            "image": names[place] or image.identity,
            "task": "validate",
        }
        yield Item(
            id=f"{item.id}/{place}/{text.strip(' .').replace(' ', '_')}",
            form="caption",
            text=text,
            choices=CHOICES,
            gold=(gold,),
            group=text,
            tags={**_origin(item), **tags},
            images=(image,),
        )


def caption(item: Item, chosen: ChosenContrast) -> str:
    """The caption; relations that are verbs stand without "is" (VSR, section 2.1)."""
    if chosen.caption:
        return chosen.caption
    without = item.tags.get("without_is", "").split(", ")
    verb = chosen.relation if chosen.relation in without else f"is {chosen.relation}"
    return f"The {chosen.subject} {verb} the {chosen.object}."


def _origin(item: Item) -> dict[str, str]:
    """The benchmark whose items the captions are, where the pairs say it."""
    found = item.tags.get("captions")
    return {ORIGIN: found} if found else {}
