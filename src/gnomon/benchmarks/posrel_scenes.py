"""People doing things with objects: the authors' scenes of `posrel`, and the same with hyponyms.

The actions with an object put the person in two places; see posrel_fresh.py for our own scenes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, NoReturn

import msgspec

from gnomon.downloads.catalogue import expected
from gnomon.errors import DataError, UsageError
from gnomon.files import find, package_data, read_jsonl, read_yaml
from gnomon.language.sampling import draws
from gnomon.language.surface import indefinite_article
from gnomon.language.world import Entity

RELATIONS = ("inside", "above", "below", "beside")  # in the order of the authors' labels 0 to 3
SCENES = ("data/posrel/data.json", "posrel/data.json", "posrel.json", "data.json")
SENTENCE = re.compile(r"An? (?P<person>[^.]+?) (?P<verb>\w+|is \w+ing) the (?P<object>[^.]+)\. ?")


class Scene(NamedTuple):
    """A person does something with an object.

    `other` is where another action with it puts the person.
    """

    text: str
    person: str
    verb: str  # as in the sentence: "drives", "is driving"
    action: str  # the same in both tenses: "drives"
    object: str
    relation: str
    other: str
    pronoun: str
    stands_for: tuple[str, str] | None = None  # the person and object that hyponyms replace
    group: str = ""  # the action and object of a fresh scene, of which this may be one variant
    wording: str = ""  # which wording of a fresh scene's action


class Row(msgspec.Struct):
    """A line of the authors' data.json."""

    text: str
    label: int
    obj_a: str
    obj_b: str


def published_scenes(folder: str | Path) -> list[Scene]:
    """The scenes of the authors' data.json. Their sentences end in a space, and are kept so."""
    file = find(folder, *SCENES, what="the positional set")
    pronouns: dict[str, str] = read_yaml(package_data("posrel/scenes.yaml"))["pronouns"]
    rows: list[tuple[int, Row, str]] = []
    actions: dict[tuple[str, int], str] = {}
    labels: dict[str, set[int]] = {}
    for line, row in read_jsonl(file, Row):
        verb = _verb(row, pronouns)
        if not verb:
            _refuse(f"the sentence {row.text[:60]!r} is not '{_shape(row)}'", file, line)
        if not 0 <= row.label < len(RELATIONS):
            _refuse(f"the field label is {row.label}, not 0 to 3", file, line)
        rows.append((line, row, verb))
        labels.setdefault(row.obj_b, set()).add(row.label)
        if " " not in verb:
            actions[row.obj_b, row.label] = verb

    scenes = []
    for line, row, verb in rows:
        others = labels[row.obj_b] - {row.label}
        if len(others) != 1:
            _refuse(f"the object {row.obj_b!r} has {len(others) + 1} relations, not 2", file, line)
        scene = Scene(
            text=row.text,
            person=row.obj_a,
            verb=verb,
            action=actions.get((row.obj_b, row.label), verb),
            object=row.obj_b,
            relation=RELATIONS[row.label],
            other=RELATIONS[others.pop()],
            pronoun=pronouns[row.obj_a],
        )
        scenes.append(scene)
    return scenes


def _refuse(problem: str, file: Path, line: int) -> NoReturn:
    hint = expected("spatial-commonsense", SCENES[0])
    raise DataError(f"{problem}.", hint, file=file, line=line)


def _shape(row: Row) -> str:
    return f"A {row.obj_a[:20]} does something with the {row.obj_b[:20]}."


def _verb(row: Row, people: Collection[str]) -> str:
    """What the person does, or nothing if the sentence is not of the known shape."""
    found = SENTENCE.fullmatch(row.text)
    if found is None or row.obj_a not in people:
        return ""
    if (found["person"], found["object"]) != (row.obj_a, row.obj_b):
        return ""
    return found["verb"]


def generalised(scenes: Iterable[Scene], seed: int, per_group: int) -> Iterator[Scene]:
    """The scenes with hyponyms for person and object.

    All actions and tenses get the same ones, so balance is kept.
    """
    if per_group < 1:
        raise UsageError(
            f"There must be 1 pair of hyponyms or more for each person and object, "
            f"not {per_group}.",
            "Give --set per_group=1.",
        )
    kinds: dict[str, list[str]] = read_yaml(package_data("posrel/hyponyms.yaml"))
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    used: set[tuple[str, str]] = set()
    for scene in scenes:
        key = (scene.person, scene.object)
        if key not in pairs:
            people, things = _hyponyms(kinds, scene.person), _hyponyms(kinds, scene.object)
            random = Random(f"{seed}/{scene.person}/{scene.object}")
            pairs[key] = _pairs(people, things, random, per_group, used)
        for person, thing in pairs[key]:
            made = scene._replace(person=person, object=thing, stands_for=key)
            yield made._replace(text=_sentence(made))


def _hyponyms(kinds: Mapping[str, Sequence[str]], name: str) -> Sequence[str]:
    if name not in kinds:
        hint = expected("spatial-commonsense", SCENES[0])
        raise DataError(f"there is no list of hyponyms for {name!r}.", hint)
    return kinds[name]


def _pairs(
    people: Sequence[str],
    things: Sequence[str],
    random: Random,
    count: int,
    used: set[tuple[str, str]],
) -> list[tuple[str, str]]:
    """Different pairs, as many as there are, none of them used before."""
    total = len(people) * len(things)
    chosen: list[tuple[str, str]] = []
    for rank in draws(total, total, random):
        pair = people[rank % len(people)], things[rank // len(people)]
        if pair not in used and len(chosen) < count:
            chosen.append(pair)
    used.update(chosen)
    return chosen


def _sentence(scene: Scene) -> str:
    article = indefinite_article(Entity(scene.person)).capitalize()
    return f"{article} {scene.person} {scene.verb} the {scene.object}."
