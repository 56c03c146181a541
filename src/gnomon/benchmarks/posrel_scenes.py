"""People doing things with objects: the scenes of `posrel`, of our own, of the authors, and with
unusual fillers.

The actions with an object put the person in different places, so that the object does not give the
place away; in ours all scenes of an object have the same words but for the verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import DataError, UsageError
from gnomon.files import find, package_data, read_jsonl, read_yaml
from gnomon.language.sampling import draws
from gnomon.language.surface import indefinite_article
from gnomon.language.world import Entity

RELATIONS = ("inside", "above", "below", "beside")  # in the order of the authors' labels 0 to 3
SENTENCE = re.compile(r"An? (?P<person>[^.]+?) (?P<verb>\w+|is \w+ing) the (?P<object>[^.]+)\. ?")


class Scene(NamedTuple):
    """A person does something with an object; `other` is where another action with it puts the
    person."""

    text: str
    person: str
    verb: str  # as in the sentence: "drives", "is driving"
    action: str  # the same in both tenses: "drives"
    object: str
    relation: str
    other: str
    pronoun: str
    meanwhile: str = ""  # what else goes on, in fresh scenes
    stands_for: tuple[str, str] | None = None  # the person and object that hyponyms replace


def fresh_scenes(seed: int) -> Iterator[Scene]:
    """Four people, two tenses and four actions, one for each relation, for each of the objects that
    the seed draws."""
    table: dict[str, Any] = read_yaml(package_data("posrel/scenes.yaml"))
    random = Random(seed)
    things = sorted(random.sample(sorted(table["objects"]), table["draw"]))
    for thing, meanwhile in zip(
        things, random.sample(table["meanwhile"], len(things)), strict=True
    ):
        shift = random.randrange(
            1, len(RELATIONS)
        )  # which wrong place is asked about: each is, once for each object
        for number, relation in enumerate(RELATIONS):
            simple, participle = random.choice(table["objects"][thing][relation])
            other = RELATIONS[(number + shift) % len(RELATIONS)]
            for person, pronoun in table["people"].items():
                for verb in (simple, f"is {participle}"):
                    scene = Scene(
                        "", person, verb, simple, thing, relation, other, pronoun, meanwhile
                    )
                    yield scene._replace(text=_sentence(scene))


class Row(msgspec.Struct):
    """A line of the authors' data.json."""

    text: str
    label: int
    obj_a: str
    obj_b: str


def published_scenes(folder: str | Path) -> list[Scene]:
    """The scenes of the authors' data.json, with their sentences as they are (a space at the
    end)."""
    file = find(
        folder,
        "posrel/data.json",
        "posrel.json",
        "data/posrel/data.json",
        "data.json",
        what="the positional set",
    )
    rows = list(read_jsonl(file, Row))
    pronouns: dict[str, str] = read_yaml(package_data("posrel/scenes.yaml"))["people"]
    verbs = [_verb(row, file, line, pronouns) for line, row in rows]
    actions = {
        (row.obj_b, row.label): verb
        for (_, row), verb in zip(rows, verbs, strict=True)
        if " " not in verb
    }
    labels: dict[str, set[int]] = {}
    for _, row in rows:
        labels.setdefault(row.obj_b, set()).add(row.label)
    scenes = []
    for (line, row), verb in zip(rows, verbs, strict=True):
        if len(labels[row.obj_b]) != 2:
            raise DataError(
                f"the object {row.obj_b!r} has {len(labels[row.obj_b])} relations, not 2.",
                "Is this the file of positional relations?",
                file=file,
                line=line,
            )
        other = next(label for label in labels[row.obj_b] if label != row.label)
        scenes.append(
            Scene(
                row.text,
                row.obj_a,
                verb,
                actions.get((row.obj_b, row.label), verb),
                row.obj_b,
                RELATIONS[row.label],
                RELATIONS[other],
                pronouns[row.obj_a],
            )
        )
    return scenes


def _verb(row: Row, file: Path, line: int, pronouns: Iterable[str]) -> str:
    found = SENTENCE.fullmatch(row.text)
    if not 0 <= row.label < len(RELATIONS):
        raise DataError(
            f"the field label is {row.label}, not 0 to 3.",
            "Is this the right file?",
            file=file,
            line=line,
        )
    if (
        row.obj_a not in pronouns
        or found is None
        or (found["person"], found["object"]) != (row.obj_a, row.obj_b)
    ):
        raise DataError(
            f"the sentence {row.text[:60]!r} is not 'A {row.obj_a[:20]} does something with the {row.obj_b[:20]}.'",
            "Is this the file of positional relations?",
            file=file,
            line=line,
        )
    return found["verb"]


def generalised(scenes: Iterable[Scene], seed: int, per_group: int) -> Iterator[Scene]:
    """The scenes with hyponyms for person and object. Both actions and tenses get the same, so
    balance is kept."""
    if per_group < 1:
        raise UsageError(
            f"There must be 1 pair of hyponyms or more for each person and object, not {per_group}."
        )
    kinds: dict[str, list[str]] = read_yaml(package_data("posrel/hyponyms.yaml"))
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    used: set[tuple[str, str]] = set()
    for scene in scenes:
        key = (scene.person, scene.object)
        if key not in pairs:
            for name in key:
                if name not in kinds:
                    raise DataError(
                        f"there is no list of hyponyms for {name!r}.",
                        "Add it to scripts/hyponyms.yaml.",
                    )
            pairs[key] = _pairs(
                kinds[key[0]], kinds[key[1]], Random(f"{seed}/{'/'.join(key)}"), per_group, used
            )
        for person, thing in pairs[key]:
            made = scene._replace(person=person, object=thing, stands_for=key)
            yield made._replace(text=_sentence(made))


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
    done = f"{article} {scene.person} {scene.verb} the {scene.object}"
    if not scene.meanwhile:
        return f"{done}."
    if scene.relation == "below":
        return f"{done} overhead as {scene.meanwhile}."
    return f"{done} as {scene.meanwhile} overhead."
