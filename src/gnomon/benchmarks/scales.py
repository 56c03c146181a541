"""Which of two everyday objects is larger, or taller (spatial-commonsense paper, section 3.1).

Five levels of five objects; every ordered pair from different levels is asked as a cloze and as a
yes/no question. In the published questions the comparative word alone gives the answer; the fresh
ones balance yes and no within it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec

from gnomon.benchmarks.counting import GOLD, tally
from gnomon.contracts import Benchmark, Laws, Listing, OrderLaw
from gnomon.errors import DataError, MissingFileWarning, unknown
from gnomon.fetching.catalogue import expected, locate
from gnomon.files import find, package_data, read_jsonl, read_yaml
from gnomon.records import MASK, Form, Item

SCALES_OF = {"size": ("larger", "smaller"), "height": ("taller", "shorter")}
FORMS: tuple[Form, ...] = ("cloze", "choice")
Levels = Sequence[Sequence[str]]
Name = TypeVar("Name", bound=str)


def fresh(*, seed: int = 0, scale: str = "", form: str = "") -> Iterator[Item]:
    """All ordered pairs of objects of different levels, each asked in two forms.

    seed   draws the objects
    scale  size or height; else both
    form   cloze or choice; else both
    """
    for chosen in _chosen(scale, SCALES_OF):
        pool: Levels = read_yaml(package_data("scales.yaml"))["fresh"][chosen]
        draw = Random(f"{seed}/{chosen}")
        levels = [draw.sample(sorted(level), 5) for level in pool]
        pairs = ordered_pairs(levels)
        asks_greater = _balanced(pairs, draw)
        forms = _chosen(form, FORMS)
        for a, b in pairs:
            yield from _forms(chosen, a, b, levels, forms, asks_greater=asks_greater[a, b])


def published(*, data: str = "", scale: str = "", form: str = "") -> Iterator[Item]:
    """The authors' size and height sets, or the one of them that is there.

    data   the authors' repository, or a folder with its files; else what was fetched
    scale  size or height; else both
    form   cloze or choice; else both
    """
    folder = locate(data, "scales")
    levels_of = read_yaml(package_data("scales.yaml"))["published"]
    forms = _chosen(form, FORMS)
    for chosen, file in _found_sets(folder, _chosen(scale, SCALES_OF)).items():
        for line, row in read_jsonl(file, Row):
            _check(row, chosen, levels_of[chosen], file, line)
            yield from _published_forms(chosen, row, levels_of[chosen], forms)


def _found_sets(folder: Path, scales: Sequence[str]) -> dict[str, Path]:
    """The files of the scales; one that is missing is warned of, if there is another."""
    found = {}
    missing = []
    for scale in scales:
        try:
            found[scale] = find(
                folder,
                f"{scale}/data.json",
                f"{scale}.json",
                f"data/{scale}/data.json",
                what=f"the {scale} set",
            )
        except DataError as error:
            missing.append(error)
    if not found:
        raise missing[0]
    for absent in missing:
        warnings.warn(absent.message, MissingFileWarning, stacklevel=3)
    return found


class Row(msgspec.Struct):
    """A line of the authors' files. `label` is 1 if the first object is the greater one."""

    text: str
    question: str
    obj_a: str
    obj_b: str
    label: int


def ordered_pairs(levels: Levels) -> list[tuple[str, str]]:
    """Every two objects of different levels, both ways round: first all with the smaller first.

    >>> ordered_pairs([["pea"], ["mug", "brick"]])
    [('pea', 'mug'), ('pea', 'brick'), ('mug', 'pea'), ('brick', 'pea')]
    """
    rising: list[tuple[str, str]] = []
    for low, high in combinations(levels, 2):
        rising += product(low, high)
    falling = [(b, a) for a, b in rising]
    return rising + falling


def _balanced(pairs: Sequence[tuple[str, str]], draw: Random) -> dict[tuple[str, str], bool]:
    """Which pairs are asked with the greater word: half of the rising, and half of the falling."""
    half = len(pairs) // 2
    chosen: dict[tuple[str, str], bool] = {}
    for part in (pairs[:half], pairs[half:]):
        greater = set(draw.sample(range(half), half // 2))
        chosen |= {pair: i in greater for i, pair in enumerate(part)}
    return chosen


def _forms(
    scale: str, a: str, b: str, levels: Levels, forms: Sequence[Form], *, asks_greater: bool
) -> Iterator[Item]:
    greater, lesser = SCALES_OF[scale]
    is_greater = _level(a, levels) > _level(b, levels)
    word = greater if asks_greater else lesser
    for form in forms:
        if form == "cloze":
            yield _item(
                scale, form, f"{_a(a, capital=True)} is {MASK} than {_a(b)}.", a, b, levels, ""
            )
        else:
            answer = "yes" if is_greater == asks_greater else "no"
            yield _item(scale, form, f"Is {_a(a)} {word} than {_a(b)}?", a, b, levels, word, answer)


def _check(row: Row, scale: str, levels: Levels, file: Path, line: int) -> None:
    """The objects must be those of the set, and the label must follow from their levels."""
    problem = ""
    for name in (row.obj_a, row.obj_b):
        if not any(name in level for level in levels):
            problem = f"{name!r} is not an object of the {scale} set."
    if not problem:
        is_greater = _level(row.obj_a, levels) > _level(row.obj_b, levels)
        if is_greater != (row.label == 1):
            pair = f"{row.obj_a} and {row.obj_b}"
            problem = f"the label does not follow from the levels of {pair}."
    if problem:
        hint = expected("spatial-commonsense", f"data/{scale}/data.json")
        raise DataError(problem, hint, file=file, line=line)


def _published_forms(scale: str, row: Row, levels: Levels, forms: Sequence[Form]) -> Iterator[Item]:
    """Cloze from the authors' phrases; question as they ask it.

    That is about (b, a), with the lesser word, if a is greater.
    """
    first, _, second = row.text.rstrip(" .").partition(" and ")
    greater, lesser = SCALES_OF[scale]
    for form in forms:
        if form == "cloze":
            text = f"{first} is {MASK} than {second}."
            yield _item(scale, form, text, row.obj_a, row.obj_b, levels, "")
        elif row.label == 0:
            yield _item(scale, form, row.question, row.obj_a, row.obj_b, levels, greater, "no")
        else:
            yield _item(scale, form, row.question, row.obj_b, row.obj_a, levels, lesser, "yes")


def _item(
    scale: str, form: Form, text: str, a: str, b: str, levels: Levels, word: str, answer: str = ""
) -> Item:
    low, high = _level(a, levels), _level(b, levels)
    relation = SCALES_OF[scale][0 if low > high else 1]
    pair = " / ".join(sorted((a, b), key=lambda name: _level(name, levels)))
    tags = {
        "scale": scale,
        "obj_a": a,
        "obj_b": b,
        "relation": relation,
        "gap": str(abs(low - high)),
    }
    if word:
        tags["comparative"] = word
    return Item(
        id="/".join(part for part in (scale, form, a, word, b) if part).replace(" ", "_"),
        form=form,
        text=text,
        choices=("yes", "no") if word else SCALES_OF[scale],
        gold=(answer,) if word else (relation,),
        group=f"{scale}: {pair}",
        tags=tags,
    )


def statistics(items: Sequence[Item]) -> list[Listing]:
    """What the comparative word alone gives away: yes and no for each."""
    counts = tally(items, "comparative", GOLD)
    if not counts:
        return []
    words = sorted(word for (word,) in tally(items, "comparative"))
    rows = [(word, counts[word, "yes"], counts[word, "no"]) for word in words]
    return [Listing("Right answers by comparative word", ("word", "yes", "no"), tuple(rows))]


def _level(name: str, levels: Levels) -> int:
    for number, level in enumerate(levels):
        if name in level:
            return number
    raise KeyError(name)


def _a(name: str, *, capital: bool = False) -> str:
    article = "an" if name[0] in "aeiou" else "a"
    if capital:
        article = article.capitalize()
    return f"{article} {name}"


def _chosen(wanted: str, known: Iterable[Name]) -> list[Name]:
    """The one that was asked for by name, or all."""
    names = list(known)
    if wanted and wanted not in names:
        raise unknown("scale or form", wanted, names)
    return [name for name in names if wanted in ("", name)]


SCALES = Benchmark(
    name="scales",
    summary="which of two everyday objects is larger, or taller",
    paper="spatial commonsense",
    sources={"fresh": fresh, "published": published},
    measures=(
        "accuracy",
        "macro_f1",
        "symmetry",
        "transitivity",
        "group_agreement",
        "form_agreement",
    ),
    slices=("scale", "gap"),
    noun="pairs",
    hold_out=(("obj_a", "obj_b"),),
    published_results="spatial-commonsense",
    statistics=statistics,
    laws=Laws(
        order=OrderLaw(
            first="obj_a",
            second="obj_b",
            within=("scale",),
            word="comparative",
            greater=("larger", "taller"),
            lesser=("smaller", "shorter"),
        )
    ),
)
