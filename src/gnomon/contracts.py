"""What a benchmark, a model and a measure must be.

A plug-in author needs this page and `records.py`, no more; for a figure, `reports/figures`. Each
contract is as small as it can be; what is optional has a default or may be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from gnomon.measures.statistics import Statistics
    from gnomon.measures.table import Table
    from gnomon.records import Answer, Item, Prediction

Scale = Literal["log-probability", "probability", "none"]
Takes = Literal["text", "image"]
# What a measure may need of a table; "laws" is a declared order, or other relations, or both.
# "pairs" are contrastive ones (the tag `pair`), "quads" two of them in a group, "truth" the choices
# true and false, or yes and no, "ways" facts that are asked in several (the tags `fact` and `way`),
# "options" facts that are asked with several numbers of options (the tags `fact`, `options`),
# "cues" items in which an easy cue is right or wrong (the tag `cue`), and "frames" such items that
# leave the frame open (the tag `frame`).
# "numbers", "sets", "points" and "orders" are answers that are written.
WrittenNeed = Literal["numbers", "sets", "points", "orders"]
Need = (
    Literal["scores", "groups", "order", "relations", "laws", "pairs", "quads", "truth", "ways"]
    | Literal["options", "cues", "frames"]
    | WrittenNeed
)
TEXT: frozenset[Takes] = frozenset({"text"})
ANYTHING: frozenset[Takes] = frozenset({"text", "image"})


class Listing(NamedTuple):
    """A small table for people: printed, or written as markdown, LaTeX, CSV or JSON.

    A column named "share" holds fractions, which people see as percentages.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, kw_only=True)
class OrderLaw:
    """A strict total order, asked of two objects: larger than, taller than, higher up than."""

    first: str  # the tags that name the two objects
    second: str
    within: tuple[str, ...] = ()  # statements are compared where these tags and the form agree
    greater: tuple[str, ...] = ()  # choices of a cloze, or words of a yes/no question
    lesser: tuple[str, ...] = ()
    word: str = "relation"  # the tag that holds the word of a yes/no question


@dataclass(frozen=True, kw_only=True)
class RelationLaw:
    """Other relations between two objects, as choices or as words of yes/no questions."""

    first: str
    second: str
    within: tuple[str, ...] = ()
    word: str = "relation"
    symmetric: tuple[str, ...] = ()  # next to: if A is, so is B
    converse: tuple[tuple[str, str], ...] = ()  # (left of, right of)
    transitive: tuple[str, ...] = ()  # inside: A in B and B in C give A in C
    negated: str = "negated"  # the tag whose value "yes" says that the item denies the relation


@dataclass(frozen=True, kw_only=True)
class Laws:
    """What must hold between the answers to different items, whatever the truth is."""

    order: OrderLaw | None = None
    relations: RelationLaw | None = None


class Illustrator(Protocol):
    """Makes the pictures of items, and gives the items with paths and digests of the pictures."""

    def __call__(
        self,
        items: Iterable[Item],
        *,
        folder: Path | None = None,
        processes: int = 0,
        watch: Callable[[int, int], None] | None = None,
        **options: Any,
    ) -> Iterator[Item]:
        """Keep the pictures in a folder, or in the cache; `options` are those of the source.

        `processes` work side by side, 0 for as many as there are cores; `watch` is told how many
        pictures are made, of how many.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """What is asked. Each source is a function that takes keyword options and yields items.

    `published` reads the authors' files (it takes `data`, their folder); `fresh` makes new items
    (it takes `seed`). An option that a source's signature does not name is refused before anything
    runs.

    `units` says what items share, and so what varies independently: kinds of unit, each by the tags
    that hold its units. (("obj_a", "obj_b"),) are pairs of objects, (("object",), ("verb",)) items
    with an object and a verb; "group" is the item's group. A kind whose tags the items of a source
    do not have is passed over, and without any the groups are the units.

    `hold_out` is for models that are trained on the benchmark's own items. It lists alternatives:
    an item is held out by the first of which it has every tag, and by its group if it has none.

    Pages and tables call the benchmark by `title` and its tags by `tag_words`, where a key is a tag
    ("gap": "distance on the scale") or a tag with its value ("gap=1": "next levels").
    """

    name: str
    summary: str
    sources: Mapping[str, Callable[..., Iterable[Item]]]
    title: str = ""  # for people: "Sizes and heights of objects"; without one, the name
    skill: str = ""  # what a model that does well knows: "sizes", as in "knows sizes"
    tag_words: Mapping[str, str] = field(default_factory=dict)
    paper: str = ""
    licence: str = ""  # of the items that it makes; unknown if it does not say
    measures: tuple[str, ...] = ("accuracy",)  # names in the registry; the first is the headline
    slices: tuple[str, ...] = ()  # tags worth a table of their own
    units: tuple[tuple[str, ...], ...] = (("group",),)
    unit_nouns: tuple[str, ...] = ()  # what the units of each kind are called, if not by their tag
    noun: str = "groups"  # what the groups are called: patterns, templates, pairs
    prompt: str = ""  # by which its items are put unless another is chosen
    # options of `fresh` that give its full set, where the default is a draw from it: --set all=yes
    full: Mapping[str, Any] = field(default_factory=dict)
    hold_out: tuple[tuple[str, ...], ...] = ()  # what must not be in training and test at once
    # models that stand in every report on the benchmark: what the words or pictures alone give away
    baselines: tuple[str, ...] = ()
    published_results: str = ""  # data/published/NAME.csv: the papers' own results
    # sources that ask something else than the paper did: its results never stand beside them
    unlike_paper: tuple[str, ...] = ()
    statistics: Callable[[Sequence[Item]], list[Listing]] | None = None  # for `gnomon show`
    laws: Laws = Laws()
    # sources whose groups are asked as a whole: a limit takes whole groups, which stand together
    whole_groups: tuple[str, ...] = ()
    # those of them whose groups come in a mixed order: a limit takes the first, and makes no others
    mixed_groups: tuple[str, ...] = ()
    # sources whose items need pictures to be made: what makes them for the items that are asked
    illustrators: Mapping[str, Illustrator] = field(default_factory=dict)
    # sources that draw from something larger: what they leave out, from their options, for people
    accounts: Mapping[str, Callable[..., Listing]] = field(default_factory=dict)

    def asks_as_paper(self, source: str) -> bool:
        """Whether a source asks what the paper did; a file of items is known to be none of them."""
        return source in self.sources and source not in self.unlike_paper

    def title_of(self, tag: str, value: str = "") -> str:
        """A tag, or one of its values, as people read it."""
        if value:
            return self.tag_words.get(f"{tag}={value}", value)
        return self.tag_words.get(tag, tag.replace("_", " ").replace("-", " "))

    @property
    def default_source(self) -> str:
        """`fresh` where there is one."""
        return "fresh" if "fresh" in self.sources else next(iter(self.sources))


@runtime_checkable
class Model(Protocol):
    """Who is asked: turns a batch of items into answers.

    A class may also have
      takes             what it can be shown, such as {"text", "image"} (default: text alone;
                        {"image"}: it is asked only items with pictures)
      prepare(items, benchmark)  called once before the run, with an iterable over all its items
      learns: bool      whether its answers depend on all the items it was prepared with, so that a
                        run that grows asks them again (default: if it has prepare)
      size(item) -> int the item's tokens, for batches by token budget
      budget: int       tokens a batch may hold (default 16,384)
      batch: int        items a batch may hold (default 64)
      lists_choices(form) -> bool  whether items of a form are shown with a list of their choices,
                        whose order may then matter (default: not known)
      keep(folder)      called before the first question with the run's folder, for a model that
                        makes files: they go into its folder `pictures`
      for_run(run)      called when it was opened for a run, which `run` names: what it keeps for
                        when this run is stopped and continues is for no other
      kept_replies: dict  how many replies it had kept and used, by day
      expected(item)    the tokens (read, written) that it would take, for a model that is not to be
                        asked in order to find out, such as one of a server
      preview(item) -> Preview  what it would read for the item, by the code that asks it
      asking() -> dict  what the manifest must keep so that prompts can be shown without the model
                        (`gnomon.models.prompts.preview`)
      alone: str        why only one process may ask it, where that is so: it counts what it spends
      code: dict        digests of code that the answers depend on, by what to call it: with other
                        code a run is not continued
      close()           called at the end, however the run ends
    Raise `ModelError` when going on makes no sense (server gone, key refused); any other exception
    is recorded as the failure of the item that raised it, and the run continues.
    """

    spec: str  # as the user names it: "hf:gpt2"
    scale: Scale  # what Answer.scores are

    def describe(self) -> dict[str, Any]:
        """What determines the answers, for the manifest: revision, dtype, prompt ... (plain JSON).

        `parameters`, how many the model has, may stand there too: reports plot accuracy against it.
        """
        ...

    def answer(self, items: Sequence[Item]) -> Sequence[Answer]:
        """One answer for each item, in the same order.

        A model that answers several times gives the samples 0, 1, 2 ... of an item one after the
        other.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What answers mean: a pure function from a table of answers to statistics over units."""

    name: str
    summary: str = ""  # that of a built-in measure is its line in the registry
    statistics: Callable[[Table], Statistics]
    better: Literal["higher", "lower"] = "higher"
    # items that a group needs before the figure says something; 0 for measures of single items
    least_group: int = 0
    guessable: bool = False  # linear in right answers, so that chance is known (measures.chance)
    chance: float | None = None  # what a guess gets, where that is the same for all items
    is_share: bool = True  # else a figure with a unit, which is printed as it is
    twin: str = ""  # the measure that also asks for right answers, shown beside this one
    needs: frozenset[Need] = frozenset()  # what a table must have, or the figure is undefined


@dataclass(frozen=True, kw_only=True)
class PairMeasure:
    """What the answers of two runs mean together, such as how often they agree.

    The tables hold the items that both runs were asked, row by row the same.
    """

    name: str
    summary: str = ""
    statistics: Callable[[Table, Table], Statistics]
    better: Literal["higher", "lower"] = "higher"


@dataclass(frozen=True, kw_only=True)
class AnswerFormat:
    """A kind of file in which another program leaves its answers.

    Options of `read` are keyword-only parameters, such as `column` and `filter`.
    """

    name: str
    recognises: Callable[[Path, Sequence[str]], bool]  # a file by its name and first lines
    read: Callable[..., Iterator[Prediction]]  # of a Path


class Judged(NamedTuple):
    """An item, and what each person said about it."""

    item: Item
    said: Sequence[tuple[str, str]]  # a person's name and a label; somebody may vote twice


@dataclass(frozen=True, kw_only=True)
class VoteFormat:
    """A kind of file that holds what several people said about each item."""

    name: str
    benchmark: str  # NAME@SOURCE that the items are of
    recognises: Callable[[Path, Sequence[str]], bool]  # a file by its name and first lines
    read: Callable[[Path], Iterator[Judged]]
