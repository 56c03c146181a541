"""Where the findings of a knowledge folder meet other knowledge: do they agree?

The pictures are taken as a model that answers: each finding about an object or a pair that our own
tables, or the published ones, know as well is an item, and what the pictures mostly show is the
answer. So agreement is an accuracy, with the interval that any accuracy has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from gnomon.benchmarks.objects import everyday_things, is_clearly_less
from gnomon.benchmarks.viphy import files
from gnomon.benchmarks.viphy.colour import read_things
from gnomon.benchmarks.viphy.elevation import relation_of, rooms
from gnomon.benchmarks.viphy.files import Colours, Comparison
from gnomon.benchmarks.viphy.items import Prompt, color_item, pair_item, prompt_of, with_article
from gnomon.benchmarks.viphy.own import SCENES, findings
from gnomon.downloads.catalogue import locate
from gnomon.errors import DataError
from gnomon.files import package_data, read_yaml
from gnomon.records import Answer, Item
from gnomon.vision.knowledge import PropertyFinding

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
    prompt = prompt_of(TASKS[property], "cloze", fresh=True)
    try:
        found = list(findings(knowledge, property))
    except DataError:  # this property was not looked for
        return
    for finding in found:
        labels = known(finding)
        if labels:
            yield _meeting(finding, property, beside, labels, prompt)


def _meeting(
    finding: PropertyFinding, property: str, beside: str, labels: tuple[str, ...], prompt: Prompt
) -> Meeting:
    most = max(finding.typical, key=lambda label: finding.distribution.get(label, 0.0))
    if property == "colour":
        (name,) = finding.objects
        row = Colours(name, dict.fromkeys(labels, 1 / len(labels)))
        item = color_item(row, prompt, {}, with_article(name))
    else:
        scene = SCENES.get(finding.scene, finding.scene) if property == "elevation" else ""
        first, second = finding.objects
        pair = Comparison(first, second, {}, labels, scene)
        item = pair_item(TASKS[property], pair, prompt, {})
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
