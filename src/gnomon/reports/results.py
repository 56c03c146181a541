"""What the Python functions give back: lists of records that a notebook shows as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Self, SupportsIndex, TypeVar, overload

from gnomon.contracts import Listing
from gnomon.measures.comparison import Comparison
from gnomon.measures.scoring import Scored
from gnomon.records import Score
from gnomon.reports.tables.scores import FIELDS, shown
from gnomon.reports.words import interval, percent
from gnomon.tabular import UNCUT, columns_of, frame_of, html_table, render

Record = TypeVar("Record")
NO_LABELS: Mapping[str, str] = MappingProxyType({})


class Records(list[Record], Generic[Record]):
    """A list of records, and a table of them where it is displayed."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Record | Self:
        if isinstance(place, slice):
            return self._part(super().__getitem__(place))
        return super().__getitem__(place)

    def _part(self, records: Iterable[Record]) -> Self:
        """Some of the records: a table, too."""
        return type(self)(records)

    def listing(self) -> Listing:
        """The table that people see."""
        raise NotImplementedError

    def columns(self) -> dict[str, list[Any]]:
        """Every field of every record, by name."""
        raise NotImplementedError

    def to_frame(self, library: str = "") -> Any:
        """A DataFrame of pandas or polars: a row for each record, with every field."""
        return frame_of(self.columns(), library)

    def _repr_html_(self) -> str:
        listing = self.listing()
        return html_table(listing.columns, listing.rows, caption=listing.title)

    def __repr__(self) -> str:
        return render(self.listing(), width=UNCUT) if self else "[]"


class Scores(Records[Score]):
    """Scores; `labels` tell runs of one model apart, by their folders."""

    def __init__(self, scores: Iterable[Score] = (), labels: Mapping[str, str] = NO_LABELS) -> None:
        super().__init__(scores)
        self.labels = dict(labels)

    def _part(self, records: Iterable[Score]) -> Self:
        return type(self)(records, self.labels)

    def label(self, score: Score) -> str:
        """What to call the run of a score among the others."""
        return self.labels.get(score.run, score.model)

    def columns(self) -> dict[str, list[Any]]:
        """Every field, and the label."""
        found = {field: [getattr(score, field) for score in self] for field in FIELDS}
        return {**found, "label": list(map(self.label, self))}

    def listing(self) -> Listing:
        """The same columns as `gnomon score` prints."""
        names = ["benchmark", "model", "measure", "score", "95 % interval", "chance", "n", "units"]
        sliced = any(score.by for score in self)
        if sliced:
            names.insert(3, "slice")
        rows = []
        for score in self:
            row: list[Any] = [score.benchmark, self.label(score), score.measure]
            if sliced:
                row.append(f"{score.by} = {score.key}" if score.by else "")
            row += [percent(score.value), interval(score.low, score.high), percent(score.chance)]
            rows.append((*row, score.n, score.units))
        return Listing("", tuple(names), tuple(rows))

    def __repr__(self) -> str:
        if not self:
            return "[]"
        return shown([Scored(score, self.label(score)) for score in self], "table", plain=True)


class Comparisons(Records[Comparison]):
    """Pairs of runs on the same items."""

    def columns(self) -> dict[str, list[Any]]:
        """Every field, and whether the two differ."""
        found = columns_of(Comparison._fields, self)
        return {**found, "differ": [pair.differ for pair in self]}

    def listing(self) -> Listing:
        """Who is compared with whom, by how much they differ, and what the test says."""
        names = ("benchmark", "measure", "first", "second", "difference", "95 % interval")
        rows = []
        for pair in self:
            about = (pair.benchmark, pair.measure, pair.first, pair.second)
            points = f"{100 * pair.difference:+.1f}"
            between = interval(pair.low, pair.high, "to")
            figures = (points, between, f"{pair.p_adjusted:.4f}", _told(pair))
            rows.append((*about, *figures, pair.n))
        return Listing("", (*names, "p (Holm)", "", "n"), tuple(rows))


def _told(pair: Comparison) -> str:
    if pair.differ:
        return "differ"
    return "tied" if pair.tied else "–"


class KnownName(NamedTuple):
    """Something that can be asked for by name."""

    name: str
    summary: str


class Catalogue(Records[KnownName]):
    """What there is of a kind: benchmarks, models or prompts."""

    @property
    def names(self) -> list[str]:
        """The names alone."""
        return [each.name for each in self]

    def columns(self) -> dict[str, list[Any]]:
        """Names and summaries."""
        return columns_of(KnownName._fields, self)

    def listing(self) -> Listing:
        """A line for each."""
        return Listing("", KnownName._fields, tuple(self))
