"""Where a person is while doing something with an object (spatial-commonsense paper, section 3.1).

Each object has actions that put the person in different places: two in the published set, beside it
and elsewhere; four in the fresh one. A scene is asked as a cloze ("She is [MASK] the car."), with
FORM=choice as two questions, one of them to be denied, or with FORM=both both ways; the items of a
scene share a group. `posrel-general` puts unusual people and objects, hyponyms from WordNet, into
the same scenes (section 5.2).
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from gnomon.benchmarks.posrel_scenes import (
    RELATIONS,
    Scene,
    fresh_scenes,
    generalised,
    published_scenes,
)
from gnomon.contracts import Benchmark, Listing
from gnomon.errors import DataError, MissingFileWarning, unknown
from gnomon.fetching.catalogue import locate
from gnomon.files import find, read_jsonl
from gnomon.records import MASK, Form, Item

FORMS: tuple[Form, ...] = ("cloze", "choice")
# The words of the questions. The authors ask "on" and "under"; "on the bus" may be inside it, so we
# are plainer.
ASKED_PUBLISHED = {"inside": "inside", "above": "on", "below": "under", "beside": "beside"}
ASKED_FRESH = {"inside": "inside", "above": "on top of", "below": "underneath", "beside": "beside"}


def fresh(*, seed: int = 0, form: str = "cloze") -> Iterator[Item]:
    """512 scenes of 16 objects of our own, drawn by the seed, with an action for every relation."""
    for scene in fresh_scenes(seed):
        yield from _items(scene, _chosen(form), ASKED_FRESH)


def published(*, data: str = "", form: str = "cloze") -> Iterator[Item]:
    """The authors' 224 scenes; their questions are read from data_qa.json, or rebuilt where it is
    absent."""
    folder = locate(data, "posrel")
    scenes = published_scenes(folder)
    forms = _chosen(form)
    questions = _published_questions(folder) if "choice" in forms else None
    for number, scene in enumerate(scenes):
        if "cloze" in forms:
            yield _cloze(scene)
        if questions is not None:
            yield from _as_asked(scene, number, questions)
        elif "choice" in forms:
            yield from _questions(scene, ASKED_PUBLISHED)


def general_fresh(*, seed: int = 0, per_group: int = 1, form: str = "cloze") -> Iterator[Item]:
    """The fresh scenes with PER_GROUP pairs of hyponyms for each person and object."""
    for scene in generalised(fresh_scenes(seed), seed, per_group):
        yield from _items(scene, _chosen(form), ASKED_FRESH)


def general_published(
    *, data: str = "", seed: int = 0, per_group: int = 1, form: str = "cloze"
) -> Iterator[Item]:
    """The authors' scenes with PER_GROUP pairs of hyponyms for each person and object (theirs were
    not published)."""
    warnings.warn(
        "The authors' own posrel-general was not published: it is rebuilt from their scenes with hyponyms of WordNet, "
        "so its items are not theirs.",
        MissingFileWarning,
        stacklevel=2,
    )
    scenes = published_scenes(locate(data, "posrel"))
    for scene in generalised(scenes, seed, per_group):
        yield from _items(scene, _chosen(form), ASKED_PUBLISHED)


ANSWERS = {"1": "yes", "true": "yes", "yes": "yes", "0": "no", "false": "no", "no": "no"}


class Question(msgspec.Struct):
    """A line of the authors' data_qa.json."""

    question: str
    label: bool | int | str


def _published_questions(folder: Path) -> list[tuple[Path, int, Question]] | None:
    try:
        file = find(
            folder,
            "posrel/data_qa.json",
            "data/posrel/data_qa.json",
            "posrel_qa.json",
            "data_qa.json",
        )
    except DataError:
        return None  # the questions follow from the scenes, word for word
    return [(file, line, question) for line, question in read_jsonl(file, Question)]


def _as_asked(
    scene: Scene, number: int, questions: Sequence[tuple[Path, int, Question]]
) -> Iterator[Item]:
    """Rows 2i and 2i+1 of the questions belong to row i of the scenes."""
    for place in (2 * number, 2 * number + 1):
        if place >= len(questions):
            raise DataError(
                f"there are {len(questions)} questions, not two for each scene.",
                "Fetch the file again.",
                file=questions[-1][0] if questions else "data_qa.json",
            )
        file, line, row = questions[place]
        answer = ANSWERS.get(str(row.label).lower())
        if answer is None:
            raise DataError(
                f"the field label is {row.label!r}, not yes or no.",
                "Mend the row.",
                file=file,
                line=line,
            )
        if scene.object not in row.question or scene.person not in row.question:
            raise DataError(
                f"the question is not about the {scene.person} and the {scene.object} of its scene.",
                "Is this the file that goes with data.json?",
                file=file,
                line=line,
            )
        sentence, stop, text = row.question.partition(".")
        context = f"{sentence}{stop}" if text.strip() else scene.text
        words = [
            name
            for name, word in ASKED_PUBLISHED.items()
            if re.search(rf"\b{word}\b", text or sentence)
        ]
        asked = words[0] if words else scene.relation if answer == "yes" else scene.other
        yield _question(scene._replace(text=context), asked, text.strip() or row.question, answer)


def _items(scene: Scene, forms: Sequence[Form], words: dict[str, str]) -> Iterator[Item]:
    if "cloze" in forms:
        yield _cloze(scene)
    if "choice" in forms:
        yield from _questions(scene, words)


def _cloze(scene: Scene) -> Item:
    text = f"{scene.pronoun.capitalize()} is {MASK} the {scene.object}."
    return _item(scene, "cloze", text, RELATIONS, scene.relation, "")


def _questions(scene: Scene, words: dict[str, str]) -> Iterator[Item]:
    for asked, answer in ((scene.relation, "yes"), (scene.other, "no")):
        yield _question(
            scene, asked, f"Is the {scene.person} {words[asked]} the {scene.object}?", answer
        )


def _question(scene: Scene, asked: str, text: str, answer: str) -> Item:
    return _item(scene, "choice", text, ("yes", "no"), answer, asked)


def _item(
    scene: Scene, form: Form, text: str, choices: tuple[str, ...], gold: str, asked: str
) -> Item:
    person, thing = scene.stands_for or (scene.person, scene.object)
    tags = {
        "object": thing,
        "person": person,
        "action": scene.action,
        "relation": scene.relation,
        "tense": "progressive" if " " in scene.verb else "simple",
    }
    if scene.stands_for:
        tags |= {"kind_of_object": scene.object, "kind_of_person": scene.person}
    if asked:
        tags["asked"] = asked
    if scene.meanwhile:
        tags["meanwhile"] = scene.meanwhile
    fact = "/".join(filter(None, (scene.person, scene.verb, scene.object, scene.meanwhile)))
    return Item(
        id="/".join(part for part in (form, fact, asked) if part).replace(" ", "_"),
        form=form,
        text=text,
        context=scene.text,
        choices=choices,
        gold=(gold,),
        group=fact,
        tags=tags,
    )


def _chosen(form: str) -> list[Form]:
    if form not in (*FORMS, "both"):
        raise unknown("form", form, (*FORMS, "both"))
    return [name for name in FORMS if form in (name, "both")]


def statistics(items: Sequence[Item]) -> list[Listing]:
    """The places that each object allows, and what the word of a question gives away."""
    scenes = {item.group: item.tags for item in items}
    objects = Counter((tags["object"], tags["relation"]) for tags in scenes.values())
    words = Counter((item.tags["asked"], item.gold[0]) for item in items if "asked" in item.tags)
    names = dict.fromkeys(tags["object"] for tags in scenes.values())
    tables = [
        Listing(
            "Scenes by object and relation",
            ("object", *RELATIONS),
            tuple((thing, *(objects[thing, name] for name in RELATIONS)) for thing in names),
        )
    ]
    if words:
        tables.append(
            Listing(
                "Right answers by the relation asked about",
                ("asked", "yes", "no"),
                tuple((name, words[name, "yes"], words[name, "no"]) for name in RELATIONS),
            )
        )
    return tables


POSREL = Benchmark(
    name="posrel",
    summary="where a person is while doing something with an object",
    paper="spatial commonsense",
    sources={"fresh": fresh, "published": published},
    measures=("accuracy", "macro_f1"),
    slices=("relation", "object"),
    units=("object",),
    noun="scenes",
    hold_out=(("object", "action", "kind_of_person"), ("object", "action")),
    published_results="spatial-commonsense",
    statistics=statistics,
)
GENERAL = Benchmark(
    name="posrel-general",
    summary="where an unusual person is while doing something with an unusual object",
    paper="spatial commonsense",
    sources={"fresh": general_fresh, "published": general_published},
    measures=("accuracy", "macro_f1"),
    slices=("relation", "object"),
    units=("object",),
    noun="scenes",
    hold_out=(("object", "action", "kind_of_person"), ("object", "action")),
    published_results="spatial-commonsense",
    statistics=statistics,
)
