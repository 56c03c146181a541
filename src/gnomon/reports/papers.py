"""What the papers report: every published figure, curve and fact, read here and nowhere else."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from gnomon.contracts import Benchmark
from gnomon.errors import DataError
from gnomon.files import package_data, read_table, read_yaml

# What the papers report: every published figure, read here and nowhere else.
#
# data/published/NAME.csv holds a figure a row; sizes.csv how many parameters the papers' models
# have.


Kind = Literal["model", "human", "chance", "average"]
Record = TypeVar("Record", bound=msgspec.Struct)


class Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published figure, a fraction, with the table or section it stands in."""

    paper: str
    table: str
    model: str
    kind: Kind  # who answered: a model, people, nobody (chance), or several models on average
    variant: str  # how the row differs from others of its model: zero-shot, a part of the items
    benchmark: str
    form: str  # of the items; empty where the benchmark has only one
    measure: str
    by: str
    key: str
    value: float
    sd: float | None
    note: str


class ModelSize(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many parameters a model of a paper has."""

    paper: str
    table: str
    family: str
    size: str  # the letter by which the paper calls it
    parameters: int
    name: str  # as the authors name the file of its answers


@cache
def results(name: str) -> tuple[Result, ...]:
    """The published figures in data/published/NAME.csv; none for a benchmark from elsewhere.

    >>> results("vsr")[0].value
    0.954
    """
    file = package_data(f"published/{name}.csv")
    if not file.is_file():
        return ()
    return tuple(records(file, Result))


def results_of(benchmark: Benchmark | None) -> list[Result]:
    """The published figures on one benchmark."""
    if benchmark is None or not benchmark.published_results:
        return []
    found = results(benchmark.published_results)
    return [result for result in found if result.benchmark == benchmark.name]


@cache
def sizes() -> dict[str, ModelSize]:
    """The sizes of the papers' models, by the names of their answer files in small letters."""
    found = records(package_data("published/sizes.csv"), ModelSize)
    return {size.name.lower(): size for size in found}


def published_size(model: str) -> ModelSize | None:
    """The size of a model that a paper lists, whether it is run here or its answers are read.

    >>> published_size("answers:some/folder/results-davinci.tsv.gz").parameters
    175000000000
    >>> published_size("hf:microsoft/deberta-base-mnli").family
    'DeBERTa'
    """
    scheme, _, name = model.rpartition(":")
    if scheme == "answers":
        name = Path(name).name.partition(".tsv")[0].removeprefix("results-")
    return sizes().get(name.replace("/", "-").lower())


def records(file: Path, kind: type[Record]) -> Iterable[Record]:
    """The rows of one of these files, checked."""
    for line, row in read_table(file, kind.__struct_fields__):
        fields = {**row, "sd": row["sd"] or None} if "sd" in row else row
        try:
            yield msgspec.convert(fields, kind, strict=False)
        except msgspec.ValidationError as error:
            raise DataError(f"{error}.", "Correct this row.", file=file, line=line) from error


# The papers' own curves over the amount of training: what their texts and tables say of them.
#
# The points between are only drawn in the papers, and are not read off here.


class PublishedPoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One point of a paper's curve."""

    paper: str
    place: str  # the table or figure
    model: str
    benchmark: str
    unit: str  # what is counted: per_pattern, train_items, train_share
    amount: float
    measure: str
    value: float
    note: str


@cache
def _curve_points() -> tuple[PublishedPoint, ...]:
    return tuple(records(package_data("published/curves.csv"), PublishedPoint))


def published_curves(benchmark: str, unit: str, measure: str) -> dict[str, list[PublishedPoint]]:
    """The papers' points for a benchmark, by the name of the curve.

    >>> list(published_curves("spacenli", "per_pattern", "accuracy"))
    ['RoBERTa-L (SMFA), SpaceNLI']
    """
    found: dict[str, list[PublishedPoint]] = {}
    for point in _curve_points():
        if (point.benchmark, point.unit, point.measure) == (benchmark, unit, measure):
            found.setdefault(f"{point.model}, {point.paper}", []).append(point)
    return found


# How the items of a study relate to those that the paper's models answered.


class PaperItems(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a benchmark's items beside the paper's."""

    fresh: str = ""
    published: str = ""
    models: str = ""  # what to know of the published models, in whole sentences
    per_group: int = 0  # items of a group that the paper's models answered, rounded; 0: unknown


# said of runs on a part of the published items
WHICH = "The methods below say which of the published items these runs answered."
NEARLY = 0.95  # of the paper's items in a group, whose number is rounded, are as many


@cache
def known_items() -> dict[str, PaperItems]:
    """The facts by benchmark."""
    return msgspec.convert(read_yaml(package_data("published/items.yaml")), dict[str, PaperItems])


def paper_items(benchmark: str) -> PaperItems:
    """The facts on a benchmark, with or without its source.

    >>> paper_items("spacenli@fresh").per_group
    200
    """
    return known_items().get(benchmark.partition("@")[0], PaperItems())


def fewer_than_paper(items_each: float, benchmark: str) -> bool:
    """Whether groups have fewer items than the paper's; not where that is not known.

    >>> fewer_than_paper(199.6, "spacenli"), fewer_than_paper(20, "spacenli")
    (False, True)
    """
    return items_each < NEARLY * paper_items(benchmark).per_group


def relation(benchmark: str) -> str:
    """In which way the items of NAME@SOURCE relate to the paper's, in a sentence or two.

    >>> relation("spacenli@published")
    'The methods below say which of the published items these runs answered.'
    """
    known = paper_items(benchmark)
    source = benchmark.partition("@")[2]
    if source == "published":
        told = WHICH
        if known.published:
            told = f"{known.published[:1].upper()}{known.published[1:]}."
        return f"{told} {known.models}".rstrip()
    what = "other items"
    if source == "fresh" and known.fresh:
        what += f": {known.fresh}"
    return f"The paper's models answered the published items; these runs answered {what}."
