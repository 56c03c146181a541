"""Where a person is while doing something with an object (spatial-commonsense paper, section 3.1).

In the published set an object has two actions, one of them beside it; in the fresh one actions and
objects are crossed. A scene is asked as a cloze ("She is [MASK] the car."), with FORM=choice as two
questions, one of them to be denied, or with FORM=both both ways; FORM=scene is a prompt to paint.
`posrel-general` has other people and kinds of the objects (section 5.2): hyponyms from WordNet, or
ordinary words in the fresh set.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from gnomon.benchmarks import posrel_scenes
from gnomon.benchmarks.descriptions import described
from gnomon.benchmarks.offering import offered
from gnomon.contracts import Listing
from gnomon.downloads.catalogue import expected, locate
from gnomon.errors import DataError, RebuiltItemsWarning, unknown
from gnomon.files import find_optional, read_jsonl
from gnomon.grouped import GOLD, tally
from gnomon.records import MASK, Form, Item

FORMS: tuple[Form, ...] = ("cloze", "choice")
SCENES = 240  # that a seed draws
# The words of the questions. The authors ask "on" and "under"; "on the bus" may be inside it, so
# ours are plainer.
ASKED_PUBLISHED = {"inside": "inside", "above": "on", "below": "under", "beside": "beside"}
ASKED_FRESH = {"inside": "inside", "above": "on top of", "below": "underneath", "beside": "beside"}


def fresh(
    *,
    seed: int = 0,
    scenes: int = SCENES,
    per_group: int = 1,
    form: str = "cloze",
    options: str = "",
) -> Iterator[Item]:
    """Scenes of our own: actions and objects of which neither says where the person is.

    seed       draws the scenes, and the people and wordings
    scenes     how many are drawn, as many of each relation; 0 takes all, which are not balanced
    per_group  variants of each scene: another person or wording, so no more than copies
    form       cloze, choice (two questions a scene), both, or scene (a prompt to be painted)
    options    2 to 4, or a range such as 2-4: offer so many of the words, one item for each number
    """
    for scene in posrel_scenes.fresh_scenes(seed, scenes, per_group):
        yield from offered(_items(scene, _chosen(form), ASKED_FRESH), options)


def published(*, data: str = "", form: str = "cloze") -> Iterator[Item]:
    """The authors' 224 scenes; questions are read from data_qa.json, or rebuilt where it is absent.

    data  the authors' repository, or a folder with its files; else what was fetched
    form  cloze, choice (two questions a scene), both, or scene (a prompt to be painted)
    """
    folder = locate(data, "posrel")
    scenes = posrel_scenes.published_scenes(folder)
    forms = _chosen(form)
    questions = _published_questions(folder) if "choice" in forms else None
    if questions is not None:
        forms.remove("choice")
    for number, scene in enumerate(scenes):
        yield from _items(scene, forms, ASKED_PUBLISHED)
        if questions is not None:
            yield from _as_asked(scene, number, questions)


def general_fresh(
    *, seed: int = 0, scenes: int = SCENES, per_group: int = 1, form: str = "cloze"
) -> Iterator[Item]:
    """The fresh scenes with a person by occupation or age, and a kind of each object.

    seed       draws the scenes, and the people, kinds and wordings
    scenes     how many are drawn, as many of each relation; 0 takes all, which are not balanced
    per_group  variants of each scene: another person, kind or wording
    form       cloze, choice (two questions a scene), both, or scene (a prompt to be painted)
    """
    for scene in posrel_scenes.general_scenes(seed, scenes, per_group):
        yield from _items(scene, _chosen(form), ASKED_FRESH)


def general_published(
    *, data: str = "", seed: int = 0, per_group: int = 1, form: str = "cloze"
) -> Iterator[Item]:
    """The authors' scenes with hyponyms for each person and object (theirs were not published).

    data       the authors' repository, or a folder with its files; else what was fetched
    seed       draws the hyponyms
    per_group  pairs of hyponyms for each person and object
    form       cloze, choice (two questions a scene), both, or scene (a prompt to be painted)
    """
    warnings.warn(
        "The authors' own posrel-general was not published: it is rebuilt from their scenes with "
        "hyponyms of WordNet, so its items are not theirs.",
        RebuiltItemsWarning,
        stacklevel=2,
    )
    scenes = posrel_scenes.published_scenes(locate(data, "posrel"))
    for scene in posrel_scenes.generalised(scenes, seed, per_group):
        yield from _items(scene, _chosen(form), ASKED_PUBLISHED)


QUESTIONS = (
    "data/posrel/data_qa.json",
    "posrel/data_qa.json",
    "posrel_qa.json",
    "data_qa.json",
)
ANSWERS = {"1": "yes", "true": "yes", "yes": "yes", "0": "no", "false": "no", "no": "no"}


class _Question(msgspec.Struct):
    """A line of the authors' data_qa.json."""

    question: str
    label: bool | int | str


class _Asked(NamedTuple):
    """A question, and where it stands."""

    file: Path
    line: int
    row: _Question

    def error(self, problem: str) -> DataError:
        hint = expected("spatial-commonsense", QUESTIONS[0])
        return DataError(f"{problem}.", hint, file=self.file, line=self.line)


def _published_questions(folder: Path) -> list[_Asked] | None:
    file = find_optional(folder, *QUESTIONS)
    if file is None:
        return None  # the questions follow from the scenes, word for word
    return [_Asked(file, line, row) for line, row in read_jsonl(file, _Question)]


def _as_asked(
    scene: posrel_scenes.ActionScene, number: int, questions: Sequence[_Asked]
) -> Iterator[Item]:
    """Rows 2i and 2i+1 of the questions belong to row i of the scenes."""
    own = questions[2 * number : 2 * number + 2]
    if len(own) < 2:
        raise DataError(
            f"there are {len(questions)} questions, not two for each scene.",
            expected("spatial-commonsense", QUESTIONS[0]),
            file=questions[0].file if questions else QUESTIONS[0],
        )
    for asked in own:
        yield _as_read(scene, asked)


def _as_read(scene: posrel_scenes.ActionScene, asked: _Asked) -> Item:
    question = asked.row.question
    answer = ANSWERS.get(str(asked.row.label).lower())
    if answer is None:
        raise asked.error(f"the field label is {asked.row.label!r}, not yes or no")
    if scene.object not in question or scene.person not in question:
        names = f"the {scene.person} and the {scene.object}"
        raise asked.error(f"the question is not about {names} of its scene")
    sentence, stop, text = question.partition(".")
    if text.strip():
        scene = scene._replace(text=f"{sentence}{stop}")
    else:
        text = question
    return _question(scene, _relation_in(text, scene, answer), text.strip(), answer)


def _relation_in(text: str, scene: posrel_scenes.ActionScene, answer: str) -> str:
    """The relation that a question asks about, by its word, else by its answer."""
    for name, word in ASKED_PUBLISHED.items():
        if re.search(rf"\b{word}\b", text):
            return name
    return scene.relation if answer == "yes" else scene.other


def _items(
    scene: posrel_scenes.ActionScene, forms: Sequence[Form], words: dict[str, str]
) -> Iterator[Item]:
    if "cloze" in forms:
        yield _cloze(scene)
    if "scene" in forms:
        yield _prompt(scene)
    if "choice" in forms:
        yield from _questions(scene, words)


def _cloze(scene: posrel_scenes.ActionScene) -> Item:
    text = f"{scene.pronoun.capitalize()} is {MASK} the {scene.object}."
    return _item(scene, "cloze", text, posrel_scenes.RELATIONS, scene.relation, "")


def _prompt(scene: posrel_scenes.ActionScene) -> Item:
    """The sentence as it is: what is painted must show where the person is."""
    item = _item(scene, "scene", scene.text, posrel_scenes.RELATIONS, scene.relation, "")
    things = {"thing_a": scene.person, "thing_b": scene.object}
    return msgspec.structs.replace(item, context="", tags=item.tags | things)


def _questions(scene: posrel_scenes.ActionScene, words: dict[str, str]) -> Iterator[Item]:
    for asked, answer in ((scene.relation, "yes"), (scene.other, "no")):
        yield _question(
            scene, asked, f"Is the {scene.person} {words[asked]} the {scene.object}?", answer
        )


def _question(scene: posrel_scenes.ActionScene, asked: str, text: str, answer: str) -> Item:
    # The authors' sentences end in a space, their questions' first sentences do not.
    scene = scene._replace(text=scene.text.rstrip())
    return _item(scene, "choice", text, ("yes", "no"), answer, asked)


def _item(
    scene: posrel_scenes.ActionScene,
    form: Form,
    text: str,
    choices: tuple[str, ...],
    gold: str,
    asked: str,
) -> Item:
    person, thing = scene.stands_for or (scene.person, scene.object)
    tags = {
        "object": thing,
        "person": person,
        "action": scene.action,
        "relation": scene.relation,
    }
    if scene.wording:
        tags["wording"] = scene.wording
    else:
        tags["tense"] = "progressive" if " " in scene.verb else "simple"
    if scene.stands_for:
        tags |= {"kind_of_object": scene.object, "kind_of_person": scene.person}
    if asked:
        tags["asked"] = asked
    fact = "/".join(filter(None, (scene.person, scene.verb, scene.object, scene.wording)))
    return Item(
        id="/".join(part for part in (form, fact, asked) if part).replace(" ", "_"),
        form=form,
        text=text,
        context=scene.text,
        choices=choices,
        gold=(gold,),
        group=scene.group or fact,
        tags=tags,
    )


def _chosen(form: str) -> list[Form]:
    if form == "scene":
        return ["scene"]
    if form not in (*FORMS, "both"):
        raise unknown("form", form, (*FORMS, "both", "scene"))
    return [name for name in FORMS if form in (name, "both")]


def statistics(items: Sequence[Item]) -> list[Listing]:
    """The places that each object allows, and what the word of a question gives away."""
    scenes = {item.group: item for item in items}
    objects = tally(scenes.values(), "object", "relation")
    words = tally(items, "asked", GOLD)

    places = []
    for thing in dict.fromkeys(thing for thing, _ in objects):
        places.append((thing, *(objects[thing, name] for name in posrel_scenes.RELATIONS)))
    columns = ("object", *posrel_scenes.RELATIONS)
    tables = [Listing("Scenes by object and relation", columns, tuple(places))]
    if words:
        answers = [
            (name, words[name, "yes"], words[name, "no"]) for name in posrel_scenes.RELATIONS
        ]
        title = "Right answers by the relation asked about"
        tables.append(Listing(title, ("asked", "yes", "no"), tuple(answers)))
    return tables


POSREL = described(
    "posrel", "posrel", sources={"fresh": fresh, "published": published}, statistics=statistics
)
GENERAL = described(
    "posrel",
    "posrel-general",
    sources={"fresh": general_fresh, "published": general_published},
    statistics=statistics,
)
