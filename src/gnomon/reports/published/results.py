"""What the papers report: every published figure, read here and nowhere else.

data/published/NAME.csv holds a figure a row; sizes.csv how many parameters the papers' models have.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from gnomon.contracts import Benchmark
from gnomon.errors import DataError
from gnomon.files import package_data, read_table

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


class Size(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
def sizes() -> dict[str, Size]:
    """The sizes of the papers' models, by the names of their answer files in small letters."""
    found = records(package_data("published/sizes.csv"), Size)
    return {size.name.lower(): size for size in found}


def published_size(model: str) -> Size | None:
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
