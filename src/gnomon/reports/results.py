"""What the Python functions give back: lists of records that a notebook shows as tables."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Self, SupportsIndex, TypeVar, overload

from gnomon.contracts import Listing
from gnomon.measures.comparison import Comparison
from gnomon.measures.scoring import Scored
from gnomon.records import Score
from gnomon.reports.tables.comparisons import pair_verdict
from gnomon.reports.tables.scores import FIELDS, shown
from gnomon.reports.words import interval, percent
from gnomon.tabular import UNCUT, Field, columns_of, frame_of, html_table, listing_of, render

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
        sliced = any(score.by for score in self)
        fields = (
            Field("benchmark", lambda score: score.benchmark),
            Field("model", self.label),
            Field("measure", lambda score: score.measure),
            Field("slice", lambda score: f"{score.by} = {score.key}" if score.by else "", sliced),
            Field("score", lambda score: percent(score.value)),
            Field("95 % interval", lambda score: interval(score.low, score.high)),
            Field("chance", lambda score: percent(score.chance)),
            Field("n", lambda score: score.n),
            Field("units", lambda score: score.units),
        )
        return listing_of("", fields, self)

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
        fields = (
            Field("benchmark", lambda pair: pair.benchmark),
            Field("measure", lambda pair: pair.measure),
            Field("first", lambda pair: pair.first),
            Field("second", lambda pair: pair.second),
            Field("difference", lambda pair: f"{100 * pair.difference:+.1f}"),
            Field("95 % interval", lambda pair: interval(pair.low, pair.high, "to")),
            Field("p (Holm)", lambda pair: f"{pair.p_adjusted:.4f}"),
            Field("verdict", pair_verdict),
            Field("n", lambda pair: pair.n),
        )
        return listing_of("", fields, self)


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
