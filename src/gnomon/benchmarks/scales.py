"""Which of two everyday objects is larger, or taller (spatial-commonsense paper, section 3.1).

Five levels of five objects; every ordered pair from different levels is asked as a cloze and as a
yes/no question. In the published questions the comparative word alone gives the answer; the fresh
ones balance yes and no within it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
Levels = Sequence[Sequence[str]]  # the objects of each level, the least first
LevelOf = Mapping[str, int]
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
        level_of = levels_by_name(levels)
        forms = _chosen(form, FORMS)
        for a, b in pairs:
            yield from _forms(chosen, a, b, level_of, forms, asks_greater=asks_greater[a, b])


def published(*, data: str = "", scale: str = "", form: str = "") -> Iterator[Item]:
    """The authors' size and height sets, or the one of them that is there.

    data   the authors' repository, or a folder with its files; else what was fetched
    scale  size or height; else both
    form   cloze or choice; else both
    """
    folder = locate(data, "scales")
    table = read_yaml(package_data("scales.yaml"))["published"]
    forms = _chosen(form, FORMS)
    for chosen, file in _found_sets(folder, _chosen(scale, SCALES_OF)).items():
        level_of = levels_by_name(table[chosen])
        for line, row in read_jsonl(file, Row):
            problem = _problem(row, chosen, level_of)
            if problem:
                hint = expected("spatial-commonsense", f"data/{chosen}/data.json")
                raise DataError(problem, hint, file=file, line=line)
            yield from _published_forms(chosen, row, level_of, forms)


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


def levels_by_name(levels: Levels) -> dict[str, int]:
    """On which level each object is.

    >>> levels_by_name([["pea"], ["mug", "brick"]])
    {'pea': 0, 'mug': 1, 'brick': 1}
    """
    found: dict[str, int] = {}
    for number, names in enumerate(levels):
        found |= dict.fromkeys(names, number)
    return found


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
    scale: str, a: str, b: str, level_of: LevelOf, forms: Sequence[Form], *, asks_greater: bool
) -> Iterator[Item]:
    greater, lesser = SCALES_OF[scale]
    word = greater if asks_greater else lesser
    is_greater = level_of[a] > level_of[b]
    answer = "yes" if is_greater == asks_greater else "no"
    for form in forms:
        if form == "cloze":
            text = f"{_a(a, capital=True)} is {MASK} than {_a(b)}."
            yield _item(scale, form, text, a, b, level_of, "")
        else:
            text = f"Is {_a(a)} {word} than {_a(b)}?"
            yield _item(scale, form, text, a, b, level_of, word, answer)


def _problem(row: Row, scale: str, level_of: LevelOf) -> str:
    """The objects must be those of the set, and the label must follow from their levels."""
    for name in (row.obj_a, row.obj_b):
        if name not in level_of:
            return f"{name!r} is not an object of the {scale} set."
    is_greater = level_of[row.obj_a] > level_of[row.obj_b]
    if is_greater != (row.label == 1):
        return f"the label does not follow from the levels of {row.obj_a} and {row.obj_b}."
    return ""


def _published_forms(
    scale: str, row: Row, level_of: LevelOf, forms: Sequence[Form]
) -> Iterator[Item]:
    """Cloze from the authors' phrases; question as they ask it.

    That is about (b, a), with the lesser word, if a is greater.
    """
    first, _, second = row.text.rstrip(" .").partition(" and ")
    greater, lesser = SCALES_OF[scale]
    for form in forms:
        if form == "cloze":
            text = f"{first} is {MASK} than {second}."
            yield _item(scale, form, text, row.obj_a, row.obj_b, level_of, "")
        elif row.label == 0:
            yield _item(scale, form, row.question, row.obj_a, row.obj_b, level_of, greater, "no")
        else:
            yield _item(scale, form, row.question, row.obj_b, row.obj_a, level_of, lesser, "yes")


def _item(
    scale: str,
    form: Form,
    text: str,
    a: str,
    b: str,
    level_of: LevelOf,
    word: str,
    answer: str = "",
) -> Item:
    """An item; a question has the word that it asks with, and its answer."""
    difference = level_of[a] - level_of[b]
    relation = SCALES_OF[scale][0 if difference > 0 else 1]
    pair = " / ".join(sorted((a, b), key=level_of.__getitem__))
    tags = {
        "scale": scale,
        "obj_a": a,
        "obj_b": b,
        "relation": relation,
        "gap": str(abs(difference)),
    }
    name = [scale, form, a, b]
    choices, gold = SCALES_OF[scale], relation
    if word:
        tags["comparative"] = word
        name.insert(3, word)
        choices, gold = ("yes", "no"), answer
    return Item(
        id="/".join(name).replace(" ", "_"),
        form=form,
        text=text,
        choices=choices,
        gold=(gold,),
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
    units=(("obj_a", "obj_b"),),
    unit_nouns=("objects",),
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
