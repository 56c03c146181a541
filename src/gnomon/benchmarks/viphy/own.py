"""Items from a knowledge folder: what `gnomon look` found in the user's own pictures.

Only what is typical is asked; pairs are asked both ways round. How often something was seen stands
in the tags, so that scores can be sliced by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gnomon.benchmarks.viphy.files import Colours, Comparison, frequency_band
from gnomon.benchmarks.viphy.items import (
    color_item,
    pair_item,
    prompt_of,
    with_article,
    with_levels,
)
from gnomon.errors import DataError, UsageError
from gnomon.files import read_jsonl
from gnomon.records import Item
from gnomon.vision.knowledge import COLOURS, PropertyFinding

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
    chosen = prompt_of("color", prompt, fresh=True)
    for finding in findings(knowledge, "colour", least):
        (name,) = finding.objects
        shares = {colour: finding.distribution.get(colour, 0.0) for colour in finding.typical}
        yield color_item(Colours(name, shares), chosen, _tags(finding), with_article(name))


def own_size(*, knowledge: str, prompt: str = "cloze", least: int = 1) -> Iterator[Item]:
    """Pairs of objects of which one is typically larger in the user's own pictures.

    knowledge  a folder that `gnomon look` wrote
    prompt     how to ask, as in Table 2: cloze, question or finetune
    least      in how many pictures a pair must have been seen
    """
    chosen = prompt_of("size", prompt, fresh=True)
    for finding in findings(knowledge, "size", least):
        for row in _both_ways(finding, ""):
            yield pair_item("size", row, chosen, _tags(finding))


def own_spatial(
    *, knowledge: str, prompt: str = "cloze", levels: int = 3, least: int = 1
) -> Iterator[Item]:
    """Pairs of objects and which is typically higher up, by scene, in the user's own pictures.

    knowledge  a folder that `gnomon look` wrote
    prompt     how to ask, as in Table 2: cloze, question or finetune
    levels     2 drops the pairs that may be level; else 3
    least      in how many pictures a pair must have been seen
    """
    chosen = with_levels(prompt_of("spatial", prompt, fresh=True), levels)
    for finding in findings(knowledge, "elevation", least):
        scene = SCENES.get(finding.scene, finding.scene)
        for row in _both_ways(finding, scene):
            if set(row.typical) <= set(chosen.labels):
                yield pair_item("spatial", row, chosen, _tags(finding))


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


def _both_ways(finding: PropertyFinding, scene: str) -> Iterator[Comparison]:
    first, second = finding.objects
    back = tuple(OPPOSITE[label] for label in finding.typical)
    yield Comparison(first, second, {}, finding.typical, scene)
    yield Comparison(second, first, {}, back, scene)
