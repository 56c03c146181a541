"""What a benchmark, a model and a measure must be. A plug-in author needs this page and
`records.py`, no more.

Each contract is as small as it can be; what is optional has a default or may be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from gnomon.measures.table import Statistics, Table
    from gnomon.records import Answer, Item

Scale = Literal["log-probability", "probability", "none"]


class Listing(NamedTuple):
    """A small table for people: printed, or written as markdown, LaTeX, CSV or JSON by
    `report.tables`."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """What is asked. Each source is a function that takes keyword options and yields items.

    `published` reads the authors' files (it takes `data`, their folder); `fresh` makes new items
    (it takes `seed`). An option that a source's signature does not name is refused before anything
    runs.
    """

    name: str
    summary: str
    sources: Mapping[str, Callable[..., Iterable[Item]]]
    paper: str = ""
    measures: tuple[str, ...] = ("accuracy",)  # names in the registry; the first is the headline
    slices: tuple[str, ...] = ()  # tags worth a table of their own
    cluster: str = "group"  # what varies independently: "group", or the name of a tag
    figures: str = ""  # data/published/NAME.csv: the papers' own results, to stand beside
    statistics: Callable[[Sequence[Item]], list[Listing]] | None = (
        None  # the paper's own tables, for `gnomon show`
    )
    laws: Mapping[str, Any] = field(
        default_factory=dict
    )  # consistency laws, see gnomon.measures.consistency

    @property
    def default_source(self) -> str:
        """`fresh` where there is one."""
        return "fresh" if "fresh" in self.sources else next(iter(self.sources))


@runtime_checkable
class Model(Protocol):
    """Who is asked: turns a batch of items into answers, one each, in the same order.

    A class may also have
      prepare(items)    called once before the run with an iterable over all its items (majority,
      trained baselines) size(item) -> int the item's tokens, for batches by token budget (default:
      a quarter of its characters)
      budget: int       tokens a batch may hold (default 16,384)
      batch: int        items a batch may hold (default 64)
      close()           called at the end, however the run ends
    Raise `ModelError` when going on makes no sense (server gone, key refused); any other exception
    is recorded as the failure of the item that raised it, and the run goes on.
    """

    spec: str  # as the user names it: "hf:gpt2"
    scale: Scale  # what Answer.scores are

    def describe(self) -> dict[str, Any]:
        """What determines the answers, for the manifest: revision, dtype, prompt, quantisation ...
        (plain JSON).

        `parameters`, how many the model has, may stand there too: reports plot accuracy against it.
        """
        ...

    def answer(self, items: Sequence[Item]) -> Sequence[Answer]:
        """One answer for each item, in the same order."""
        ...


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What answers mean: a pure function from a table of answers to statistics that can be summed
    over clusters."""

    name: str
    summary: str
    statistics: Callable[[Table], Statistics]
    needs: str = ""  # in words, what a table must have (scores, groups, a law); empty if nothing
