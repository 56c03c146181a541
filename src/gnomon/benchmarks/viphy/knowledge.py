"""Items from a knowledge folder, and where its findings meet other knowledge."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gnomon.benchmarks.objects import everyday_things, is_clearly_less
from gnomon.benchmarks.viphy import files, items
from gnomon.benchmarks.viphy.files import Colours, SizeComparison, frequency_band
from gnomon.benchmarks.viphy.fresh import read_things, relation_of, rooms
from gnomon.downloads.catalogue import locate
from gnomon.errors import DataError, UsageError
from gnomon.files import package_data, read_jsonl, read_yaml
from gnomon.records import Answer, Item
from gnomon.vision.knowledge import COLOURS, PropertyFinding

# Items from a knowledge folder: what `gnomon look` found in the user's own pictures.
#
# Only what is typical is asked; pairs are asked both ways round. How often something was seen
# stands in the tags, so that scores can be sliced by it.


OPPOSITE = {">": "<", "<": ">", "=": "="}
LABELS = {"colour": frozenset(COLOURS), "size": frozenset("<>"), "elevation": frozenset("<=>")}
OBJECTS = {"colour": 1, "size": 2, "elevation": 2}
# Scenes as they stand in a sentence, where their name alone would not.
SCENES = {"": "scene", "indoors": "indoor scene", "outdoors": "outdoor scene"}
MAKE_IT = "Make the folder with `gnomon look PICTURES -o DIR`."


def own_color(*, knowledge: str, prompt: str = "cloze", least: int = 1) -> Iterator[Item]:
    """Objects with the colours that are typical of them in the user's own pictures.

    knowledge  a folder that `gnomon look` wrote
    prompt     how to ask, as in Table 2: cloze, question or finetune
    least      in how many pictures an object must have been seen
    """
    chosen = items.prompt_of("color", prompt, fresh=True)
    for finding in findings(knowledge, "colour", least):
        (name,) = finding.objects
        shares = {colour: finding.distribution.get(colour, 0.0) for colour in finding.typical}
        yield items.color_item(
            Colours(name, shares), chosen, _tags(finding), items.with_article(name)
        )


def own_size(*, knowledge: str, prompt: str = "cloze", least: int = 1) -> Iterator[Item]:
    """Pairs of objects of which one is typically larger in the user's own pictures.

    knowledge  a folder that `gnomon look` wrote
    prompt     how to ask, as in Table 2: cloze, question or finetune
    least      in how many pictures a pair must have been seen
    """
    chosen = items.prompt_of("size", prompt, fresh=True)
    for finding in findings(knowledge, "size", least):
        for row in _both_ways(finding, ""):
            yield items.pair_item("size", row, chosen, _tags(finding))


def own_spatial(
    *, knowledge: str, prompt: str = "cloze", levels: int = 3, least: int = 1
) -> Iterator[Item]:
    """Pairs of objects and which is typically higher up, by scene, in the user's own pictures.

    knowledge  a folder that `gnomon look` wrote
    prompt     how to ask, as in Table 2: cloze, question or finetune
    levels     2 drops the pairs that may be level; else 3
    least      in how many pictures a pair must have been seen
    """
    chosen = items.with_levels(items.prompt_of("spatial", prompt, fresh=True), levels)
    for finding in findings(knowledge, "elevation", least):
        scene = SCENES.get(finding.scene, finding.scene)
        for row in _both_ways(finding, scene):
            if set(row.typical) <= set(chosen.labels):
                yield items.pair_item("spatial", row, chosen, _tags(finding))


def findings(knowledge: str, property: str, least: int = 1) -> Iterator[PropertyFinding]:
    """What a knowledge folder says of a property, checked; only where something is typical.

    Where all labels are, every answer would be right.
    """
    if least < 1:
        raise UsageError(f"The option least must be 1 or more, not {least}.", "Give 1 for all.")
    folder = Path(knowledge)
    if not folder.is_dir():
        raise DataError("there is no such folder.", MAKE_IT, file=folder)
    file = folder / f"{property}.jsonl"
    if not file.exists():
        raise DataError(f"the folder has no {file.name}.", MAKE_IT, file=folder)
    for line, finding in read_jsonl(file, PropertyFinding):
        problem = _problem(finding, property)
        if problem:
            raise DataError(f"{problem}.", MAKE_IT, file=file, line=line)
        says_something = 0 < len(finding.typical) < len(LABELS[property])
        if says_something and finding.pictures >= least:
            yield finding


def _problem(finding: PropertyFinding, property: str) -> str:
    if finding.property != property:
        return f"the field property is {finding.property!r}, not {property!r}"
    objects = finding.objects
    if len(set(objects)) != OBJECTS[property] or not all(name.strip() for name in objects):
        return f"the field objects must name {OBJECTS[property]}, each another"
    labels = LABELS[property]
    if not set(finding.typical) <= labels or len(set(finding.typical)) != len(finding.typical):
        return f"the field typical must be of {' '.join(sorted(labels))}"
    return ""


def _tags(finding: PropertyFinding) -> dict[str, str]:
    return {"frequency": frequency_band(finding.pictures), "pictures": str(finding.pictures)}


def _both_ways(finding: PropertyFinding, scene: str) -> Iterator[SizeComparison]:
    first, second = finding.objects
    back = tuple(OPPOSITE[label] for label in finding.typical)
    yield SizeComparison(first, second, {}, finding.typical, scene)
    yield SizeComparison(second, first, {}, back, scene)


# Where the findings of a knowledge folder meet other knowledge: do they agree?
#
# The pictures are taken as a model that answers: each finding about an object or a pair that our
# own tables, or the published ones, know as well is an item, and what the pictures mostly show is
# the answer. So agreement is an accuracy, with the interval that any accuracy has.


# Property of a finding: the benchmark that asks about it, and its task.
BENCHMARKS = {"colour": "viphy-color", "size": "viphy-size", "elevation": "viphy-spatial"}
TASKS = {"colour": "color", "size": "size", "elevation": "spatial"}
Known = Callable[[PropertyFinding], tuple[str, ...]]


class Meeting(NamedTuple):
    """A finding that other knowledge is about, too: what is asked, and what the pictures say."""

    benchmark: str  # which asks such items
    property: str
    beside: str  # "fresh" or "published"
    item: Item
    answer: Answer


def meetings(knowledge: str, data: str = "") -> Iterator[Meeting]:
    """All findings that our own tables know, and those that the published ones do.

    The published files are those in DATA, or those that were fetched; without any, there are none.
    """
    for property in BENCHMARKS:
        yield from _met(knowledge, property, "fresh", FRESH[property])
    try:
        published = _published(data)
    except DataError:
        if data:
            raise
        return
    for property, known in published.items():
        yield from _met(knowledge, property, "published", known)


def _met(knowledge: str, property: str, beside: str, known: Known) -> Iterator[Meeting]:
    prompt = items.prompt_of(TASKS[property], "cloze", fresh=True)
    try:
        found = list(findings(knowledge, property))
    except DataError:  # this property was not looked for
        return
    for finding in found:
        labels = known(finding)
        if labels:
            yield _meeting(finding, property, beside, labels, prompt)


def _meeting(
    finding: PropertyFinding,
    property: str,
    beside: str,
    labels: tuple[str, ...],
    prompt: items.TablePrompt,
) -> Meeting:
    most = max(finding.typical, key=lambda label: finding.distribution.get(label, 0.0))
    if property == "colour":
        (name,) = finding.objects
        row = Colours(name, dict.fromkeys(labels, 1 / len(labels)))
        item = items.color_item(row, prompt, {}, items.with_article(name))
    else:
        scene = SCENES.get(finding.scene, finding.scene) if property == "elevation" else ""
        first, second = finding.objects
        pair = SizeComparison(first, second, {}, labels, scene)
        item = items.pair_item(TASKS[property], pair, prompt, {})
    answer = Answer(item=item.id, choice=prompt.labels[most])
    return Meeting(BENCHMARKS[property], property, beside, item, answer)


@cache
def _synonyms() -> Mapping[str, str]:
    found: Mapping[str, str] = read_yaml(package_data("viphy/synonyms.yaml"))
    return found


def _names(name: str) -> tuple[str, ...]:
    """A name, and what our tables call the same thing."""
    other = _synonyms().get(name)
    return (name, other) if other else (name,)


def fresh_sizes(finding: PropertyFinding) -> tuple[str, ...]:
    """What our lexicon says of a pair, if one is clearly larger."""
    things = everyday_things()
    known = []
    for name in finding.objects:
        known += [things[each] for each in _names(name) if each in things][:1]
    if len(known) < 2:
        return ()
    first, second = known
    if is_clearly_less("size", first, second):
        return ("<",)
    return (">",) if is_clearly_less("size", second, first) else ()


def fresh_colours(finding: PropertyFinding) -> tuple[str, ...]:
    """The colours of our table."""
    table = _colour_table()
    for name in _names(finding.objects[0]):
        if name in table:
            return table[name]
    return ()


@cache
def _colour_table() -> dict[str, tuple[str, ...]]:
    return {thing.name: tuple(thing.colours) for thing in read_things()}


def fresh_elevations(finding: PropertyFinding) -> tuple[str, ...]:
    """What our rooms say of a pair: the room of its scene, or any that has both things."""
    wanted = finding.scene.replace("_", " ")
    for room, things in rooms().items():
        if wanted and room != wanted:
            continue
        spans = []
        for name in finding.objects:
            spans += [things[each] for each in _names(name) if each in things][:1]
        if len(spans) == 2:
            label = relation_of(*spans)
            return (label,) if label else ()
    return ()


FRESH: dict[str, Known] = {
    "colour": fresh_colours,
    "size": fresh_sizes,
    "elevation": fresh_elevations,
}


def _published(data: str) -> dict[str, Known]:
    """What the published tables say, by the same names."""
    folder = locate(data, "viphy")
    colours = {row.object: tuple(row.shares) for _, row in files.read_colours(folder)}
    sizes = {(row.first, row.second): row.typical for _, row in files.read_sizes(folder)}
    elevations = {}
    for _, row in files.read_elevations(folder):
        scene = row.scene.replace("_", " ")
        elevations[scene, row.first, row.second] = row.typical
        elevations.setdefault(("", row.first, row.second), row.typical)

    def known_elevations(finding: PropertyFinding) -> tuple[str, ...]:
        scene = finding.scene.replace("_", " ")
        return elevations.get((scene, finding.objects[0], finding.objects[1]), ())

    return {
        "colour": lambda finding: colours.get(finding.objects[0], ()),
        "size": lambda finding: sizes.get((finding.objects[0], finding.objects[1]), ()),
        "elevation": known_elevations,
    }
