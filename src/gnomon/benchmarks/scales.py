"""Which of two everyday objects is larger, or taller (spatial-commonsense paper, section 3.1).

Every pair is asked both ways round, as a cloze and as a yes/no question, or as a prompt to paint.
The published set has five levels of five objects, and its comparative word alone answers the
questions; the fresh one draws from our lexicon in bands of difficulty, and balances yes and no
within the word.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec

from gnomon.benchmarks.contrasts import BandedPair, balanced_pairs
from gnomon.benchmarks.descriptions import described
from gnomon.benchmarks.objects import Range, SizedThing, everyday_namesakes, everyday_things
from gnomon.benchmarks.viphy.items import types, with_article
from gnomon.contracts import Listing
from gnomon.downloads.catalogue import expected, locate
from gnomon.errors import DataError, MissingFileWarning, unknown
from gnomon.files import find, package_data, read_jsonl, read_yaml
from gnomon.grouped import GOLD, tally
from gnomon.lexicon.quantities import converted, unit_in_words
from gnomon.records import MASK, Form, Item

SCALES_OF = {"size": ("larger", "smaller"), "height": ("taller", "shorter")}
UNITS = ("cm", "m", "mm", "in", "ft")  # in which numbers are asked for
FORMS: tuple[Form, ...] = ("cloze", "choice")  # that are asked unless one is chosen
Levels = Sequence[Sequence[str]]  # the objects of each level, the least first
LevelOf = Mapping[str, int]
Name = TypeVar("Name", bound=str)


def fresh(
    *, seed: int = 0, scale: str = "", form: str = "", pairs: int = 240, bands: str = ""
) -> Iterator[Item]:
    """Pairs of everyday objects, as many close ones as distant ones, both ways in two forms.

    seed   draws the pairs
    scale  size or height; else both
    form   cloze, choice or scene (a prompt for image synthesis); else cloze and choice
    pairs  how many at most for each scale; each makes two items in each form. -1 for the full set
    bands  how far apart, such as 1.5-3,3-10; else also 10-100 and 100+
    """
    forms = _forms(form)
    for chosen in _chosen(scale, SCALES_OF):
        drawn = balanced_pairs(chosen, pairs, bands, Random(f"{seed}/{chosen}"))
        for number, contrast in enumerate(drawn):
            word = SCALES_OF[chosen][number % 2]  # twins are asked with the two words
            yield from _fresh_forms(chosen, contrast, word, forms)


def numbers(
    *, seed: int = 0, scale: str = "", unit: str = "cm", objects: int = 300
) -> Iterator[Item]:
    """How large or tall everyday objects are, asked for in numbers: right within their range.

    seed     draws the objects
    scale    size (the longest side) or height; else both
    unit     in which the answer is asked for: cm, m, mm, in, ft
    objects  how many for each scale; -1 for all
    """
    if unit not in UNITS:
        raise unknown("unit", unit, UNITS)
    for chosen in _chosen(scale, SCALES_OF):
        ranges = {name: range_of(thing, chosen) for name, thing in everyday_things().items()}
        names = sorted(name for name, found in ranges.items() if found)
        Random(f"{seed}/{chosen}/numbers").shuffle(names)
        for name in names if objects < 0 else names[:objects]:
            found = ranges[name]
            if found:
                yield _number(chosen, name, found, unit)


def range_of(thing: SizedThing, scale: str) -> Range | None:
    """How large an object may be across, or how tall; none for what has no height."""
    return thing.longest if scale == "size" else thing.height


def _number(scale: str, name: str, found: Range, unit: str) -> Item:
    ends = [converted(end, "cm", unit) or 0.0 for end in found]
    asked = {
        "size": f"About how long is the longest side of {with_article(name)}",
        "height": f"About how tall is {with_article(name)}",
    }
    return Item(
        id=f"{scale}/number/{unit}/{name}".replace(" ", "_"),
        form="number",
        text=f"{asked[scale]}, in {unit_in_words(unit)}?",
        gold=(f"{ends[0]:.6g} to {ends[1]:.6g} {unit}",),
        group=name,
        tags={"scale": scale, "object": name, "kind": everyday_things()[name].kind},
    )


def published(*, data: str = "", scale: str = "", form: str = "") -> Iterator[Item]:
    """The authors' size and height sets, or the one of them that is there.

    data   the authors' repository, or a folder with its files; else what was fetched
    scale  size or height; else both
    form   cloze, choice or scene (a prompt for image synthesis); else cloze and choice
    """
    folder = locate(data, "scales")
    table = read_yaml(package_data("scales.yaml"))
    forms = _forms(form)
    for chosen, file in _found_sets(folder, _chosen(scale, SCALES_OF)).items():
        level_of = levels_by_name(table[chosen])
        for line, row in read_jsonl(file, _Row):
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


class _Row(msgspec.Struct):
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


def _fresh_forms(
    scale: str, contrast: BandedPair, word: str, forms: Sequence[Form]
) -> Iterator[Item]:
    """A pair both ways round; the questions ask with the word, so that one is to be denied."""
    greater, lesser = SCALES_OF[scale]
    kin = everyday_namesakes()
    ways = (
        (contrast.lesser, contrast.greater, lesser),
        (contrast.greater, contrast.lesser, greater),
    )
    for a, b, relation in ways:
        a_first, a_second = with_article(a), with_article(b)
        tags = {"band": contrast.band, **types(a, b, kin)}
        opening = f"{a_first[0].upper()}{a_first[1:]}"
        scene = f"{opening} and {a_second}."
        for form in forms:
            if form == "scene":
                yield _scene(scale, scene, (a, b), relation, tags)
            elif form == "cloze":
                text = f"{opening} is {MASK} than {a_second}."
                yield _item(scale, form, text, (a, b), relation, tags)
            else:
                text = f"Is {a_first} {word} than {a_second}?"
                yield _item(scale, form, text, (a, b), relation, tags | {"scene": scene}, word)


def _problem(row: _Row, scale: str, level_of: LevelOf) -> str:
    """The objects must be those of the set, and the label must follow from their levels."""
    for name in (row.obj_a, row.obj_b):
        if name not in level_of:
            return f"{name!r} is not an object of the {scale} set."
    is_greater = level_of[row.obj_a] > level_of[row.obj_b]
    if is_greater != (row.label == 1):
        return f"the label does not follow from the levels of {row.obj_a} and {row.obj_b}."
    return ""


def _published_forms(
    scale: str, row: _Row, level_of: LevelOf, forms: Sequence[Form]
) -> Iterator[Item]:
    """Cloze from the authors' phrases; question as they ask it.

    That is about (b, a), with the lesser word, if a is greater.
    """
    first, _, second = row.text.rstrip(" .").partition(" and ")
    greater, lesser = SCALES_OF[scale]
    tags = {"gap": str(abs(level_of[row.obj_a] - level_of[row.obj_b]))}
    pair, swapped = (row.obj_a, row.obj_b), (row.obj_b, row.obj_a)
    relation = greater if row.label else lesser
    painted = tags | {"scene": row.text}  # from which a question is answered by a picture
    for form in forms:
        if form == "scene":
            yield _scene(scale, row.text, pair, relation, tags)
        elif form == "cloze":
            text = f"{first} is {MASK} than {second}."
            yield _item(scale, form, text, pair, relation, tags)
        elif row.label == 0:
            yield _item(scale, form, row.question, pair, lesser, painted, greater)
        else:
            yield _item(scale, form, row.question, swapped, lesser, painted, lesser)


def _scene(
    scale: str, text: str, pair: tuple[str, str], relation: str, more: Mapping[str, str]
) -> Item:
    """A prompt that names both objects and says nothing about them; either comes first once."""
    a, b = pair
    return _item(scale, "scene", text, pair, relation, {**more, "thing_a": a, "thing_b": b})


def _item(
    scale: str,
    form: Form,
    text: str,
    pair: tuple[str, str],
    relation: str,
    more: Mapping[str, str],
    word: str = "",
) -> Item:
    """An item about the relation of the first object to the second; a question asks with a word."""
    greater = SCALES_OF[scale][0]
    a, b = pair
    rising = (b, a) if relation == greater else (a, b)
    tags = {"scale": scale, "obj_a": a, "obj_b": b, "relation": relation, **more}
    name = [scale, form, a, b]
    choices, gold = SCALES_OF[scale], relation
    if word:
        tags["comparative"] = word
        name.insert(3, word)
        choices, gold = ("yes", "no"), ("yes" if word == relation else "no")
    return Item(
        id="/".join(name).replace(" ", "_"),
        form=form,
        text=text,
        choices=choices,
        gold=(gold,),
        group=f"{scale}: {' / '.join(rising)}",
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


def _forms(wanted: str) -> list[Form]:
    if wanted == "scene":
        return ["scene"]
    return _chosen(wanted, FORMS)


def _chosen(wanted: str, known: Iterable[Name]) -> list[Name]:
    """The one that was asked for by name, or all."""
    names = list(known)
    if wanted and wanted not in names:
        raise unknown("scale or form", wanted, names)
    return [name for name in names if wanted in ("", name)]


SCALES = described(
    "scales",
    "scales",
    sources={"fresh": fresh, "published": published, "numbers": numbers},
    statistics=statistics,
)
