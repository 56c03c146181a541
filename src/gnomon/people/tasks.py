"""Tasks: the question that people see of an item, and what their response means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec

from gnomon.errors import DataError, GnomonError
from gnomon.lexicon.relations import lexicon
from gnomon.people.taskfile import AnnotationTask, Ask
from gnomon.records import MASK, Item

# What people see of an item, part by part, and what a response to it may be.


Response = Mapping[str, str]  # part -> value


class ResponseError(GnomonError):
    """What was sent is no answer to the question."""


class QuestionText(NamedTuple):
    """Some words of an item, and what they are: `context` or `text`."""

    role: str
    words: str


class Option(NamedTuple):
    """One of the values that a part can have, as it is shown, and the key that chooses it."""

    value: str
    label: str
    key: str = ""
    group: str = ""  # the heading below which it stands, in a long list
    said: str = ""  # the words that it puts into a sentence


class QuestionPart(NamedTuple):
    """One question with options, of which one is to be chosen."""

    name: str
    ask: str
    options: tuple[Option, ...]
    needs: tuple[tuple[str, str], ...] = ()  # asked only if other parts have these values
    optional: bool = False


class PersonQuestion(NamedTuple):
    """All that people see of an item."""

    texts: tuple[QuestionText, ...]
    pictures: tuple[str, ...]  # how each picture is called, in order
    parts: tuple[QuestionPart, ...]
    note: str = ""  # a rule that holds for this item


class ReadResponse(NamedTuple):
    """What a response means: the choice, if it is one, and the raw response as a short text."""

    choice: str | None
    reply: str


def checked_response(question: PersonQuestion, response: Response) -> dict[str, str]:
    """The response, each part with one of its options; parts that are not asked are left out."""
    chosen: dict[str, str] = {}
    for part in question.parts:
        if any(chosen.get(name) != value for name, value in part.needs):
            continue
        value = response.get(part.name, "")
        if not value and part.optional:
            continue
        if not value:
            raise ResponseError(f"Please answer: {part.ask}")
        if value not in [option.value for option in part.options]:
            raise ResponseError("That is not one of the answers.", "Choose one that is shown.")
        chosen[part.name] = value
    return chosen


GAP = "_____"
DIGITS = 9  # options that have a digit as their key
YES, NO = "yes", "no"
UNCLEAR = "unclear"


def question_of(task: AnnotationTask, item: Item) -> PersonQuestion:
    """What people see of an item and are asked about it.

    >>> from gnomon.people.taskfile import task_named
    >>> item = Item(id="1", form="cloze", text="An ant is [MASK] than a bird.",
    ...             choices=("larger", "smaller"), gold=("smaller",))
    >>> asked = question_of(task_named("choose"), item)
    >>> asked.texts[0].words, [option.label for option in asked.parts[0].options]
    ('An ant is _____ than a bird.', ['larger', 'smaller'])
    """
    return _KINDS[task.kind].question(task, item)


def read_response(task: AnnotationTask, item: Item, response: Response) -> ReadResponse:
    """What a response to an item means.

    >>> from gnomon.people.taskfile import task_named
    >>> item = Item(id="1", form="entailment", text="Ann is in.", context="Ann came in.",
    ...             choices=("entailment", "neutral", "contradiction"), gold=("entailment",))
    >>> read_response(task_named("scale"), item, {"scale": "4"})
    ReadResponse(choice='entailment', reply='4')
    """
    chosen = checked_response(question_of(task, item), response)
    return _KINDS[task.kind].read(task, item, chosen)


def check_items(task: AnnotationTask, items: Iterable[Item]) -> None:
    """Refuse items that the task cannot ask."""
    problem = _KINDS[task.kind].problem
    for place, item in enumerate(items):
        wrong = problem(task, item)
        if wrong:
            raise DataError(
                f"The task {task.kind} cannot ask item '{item.id}': {wrong}.",
                "Choose another --task, or other items.",
            )
        if place == 0:
            question_of(task, item)  # reads what the task needs


def _options(task: AnnotationTask, values: Iterable[str]) -> tuple[Option, ...]:
    """Values with their labels and keys: those of the task, else digits in order."""
    found = []
    for place, value in enumerate(values, 1):
        digit = str(place) if place <= DIGITS else ""
        found.append(Option(value, task.labels.get(value, value), task.keys.get(value, digit)))
    return tuple(found)


def _texts(item: Item) -> tuple[QuestionText, ...]:
    shown = QuestionText("text", item.text.replace(MASK, GAP))
    if not item.context:
        return (shown,)
    return QuestionText("context", item.context.replace(MASK, GAP)), shown


def _pictures(item: Item) -> tuple[str, ...]:
    if len(item.images) == 1:
        return ("The picture",)
    return tuple(f"Picture {place}" for place in range(1, len(item.images) + 1))


# choose: one of the item's choices


def _choose(task: AnnotationTask, item: Item) -> PersonQuestion:
    ask = task.questions.get(item.form, task.question)
    part = QuestionPart("choice", ask, _options(task, _ordered(task, item.choices)))
    return PersonQuestion(_texts(item), _pictures(item), (part,))


def _ordered(task: AnnotationTask, choices: tuple[str, ...]) -> tuple[str, ...]:
    return task.order if set(task.order) == set(choices) else choices


def _chosen(task: AnnotationTask, item: Item, response: Response) -> ReadResponse:
    return ReadResponse(response["choice"], response["choice"])


def _choose_problem(task: AnnotationTask, item: Item) -> str:
    return "" if len(item.choices) > 1 else "it has no choices"


# scale: how far one text follows from another


def _scale(task: AnnotationTask, item: Item) -> PersonQuestion:
    options = []
    for value, point in task.points.items():
        options.append(Option(value, point.label, point.key or value))
    return PersonQuestion(
        _texts(item), _pictures(item), (QuestionPart("scale", task.question, tuple(options)),)
    )


def _on_scale(task: AnnotationTask, item: Item, response: Response) -> ReadResponse:
    value = response["scale"]
    choice = task.points[value].choice
    return ReadResponse(choice or None, value)


def _scale_problem(task: AnnotationTask, item: Item) -> str:
    labels = [point.choice for point in task.points.values() if point.choice]
    lacking = sorted(set(labels) - set(item.choices))
    return f"'{lacking[0]}' is not one of its choices" if lacking else ""


# validate: a caption and its picture, with the label hidden


def _validate(task: AnnotationTask, item: Item) -> PersonQuestion:
    parts = [QuestionPart("choice", task.question, _options(task, _ordered(task, item.choices)))]
    framed = task.frame is not None and _speaks_of(task.frame.words, item.text)
    if not framed or task.frame is None:
        return PersonQuestion(_texts(item), _pictures(item), tuple(parts))
    if task.ask_frame:
        parts.append(QuestionPart("frame", task.frame.question, _numbered(task.frame.options)))
    return PersonQuestion(_texts(item), _pictures(item), tuple(parts), task.frame.note)


def _speaks_of(words: tuple[str, ...], text: str) -> bool:
    return not set(words).isdisjoint(re.findall(r"[a-z]+", text.lower()))


def _numbered(labels: Mapping[str, str]) -> tuple[Option, ...]:
    pairs = enumerate(labels.items(), 1)
    return tuple(Option(value, label, str(place)) for place, (value, label) in pairs)


def _validate_problem(task: AnnotationTask, item: Item) -> str:
    if not item.images:
        return "it has no picture"
    return "" if len(item.choices) == 2 else "it does not have two choices, such as true and false"


# contrast: a relation that is true in one of two pictures


def _contrast(task: AnnotationTask, item: Item) -> PersonQuestion:
    subject, other = item.tags["subj"], item.tags["obj"]
    sentences = {
        "ab": f"The {subject} … the {other}",
        "ba": f"The {other} … the {subject}",
    }
    pictures = dict(zip(("0", "1"), task.pictures, strict=True))
    parts = (
        QuestionPart("order", task.orders, _numbered(sentences)),
        QuestionPart("relation", task.question, _relations(task, item.choices)),
        QuestionPart("true_of", task.true_of, _numbered(pictures)),
    )
    note = task.frame.note if task.frame else ""
    return PersonQuestion((), task.pictures, parts, note)


def _relations(task: AnnotationTask, relations: tuple[str, ...]) -> tuple[Option, ...]:
    """The relations by group, those of no group last."""
    groups = _groups(task.groups)
    known = list(groups)
    places = {relation: known.index(relation) for relation in relations if relation in groups}
    listed = sorted(relations, key=lambda relation: places.get(relation, len(known)))
    options = []
    for place, relation in enumerate(listed, 1):
        key = str(place) if len(listed) <= DIGITS else ""  # a long list is searched instead
        group, said = groups.get(relation, "Other"), _with_is(task, relation)
        options.append(Option(relation, relation, key, group, said))
    return tuple(options)


def _groups(name: str) -> dict[str, str]:
    """The group of each relation: its category in the lexicon, if it has one."""
    if not name:
        return {}
    in_categories = [each for each in lexicon().relations.values() if each.category[:1].isupper()]
    by_category = sorted(in_categories, key=lambda each: each.category)
    return {each.name: each.category for each in by_category}


def _with_is(task: AnnotationTask, relation: str) -> str:
    return relation if relation in task.without_is else f"is {relation}"


def _contrasted(task: AnnotationTask, item: Item, response: Response) -> ReadResponse:
    things = item.tags["subj"], item.tags["obj"]
    subject, other = things if response["order"] == "ab" else things[::-1]
    relation = response["relation"]
    reply = {
        "relation": relation,
        "true_of": int(response["true_of"]),
        "subject": subject,
        "object": other,
        "caption": f"The {subject} {_with_is(task, relation)} the {other}.",
    }
    return ReadResponse(relation, msgspec.json.encode(reply).decode())


def _contrast_problem(task: AnnotationTask, item: Item) -> str:
    if len(item.images) != 2:
        return "it does not have two pictures"
    if not (item.tags.get("subj") and item.tags.get("obj")):
        return "its tags `subj` and `obj` do not name two things"
    return _choose_problem(task, item)


# picture: what a painted picture shows


def _picture(task: AnnotationTask, item: Item) -> PersonQuestion:
    first, second = _things(item)
    labels = {value: task.labels.get(value, value) for value in (YES, NO)}
    parts = []
    for name, thing in (("a", first), ("b", second)):
        ask = _filled(task.recognise, thing=f"the {thing}")
        parts.append(QuestionPart(name, ask, _numbered(labels)))
    relations = {choice: task.labels.get(choice, choice) for choice in item.choices}
    relations[UNCLEAR] = task.unclear
    ask = _filled(_ask(task, item).question, first=f"the {first}", second=f"the {second}")
    parts.append(QuestionPart("relation", ask, _numbered(relations), (("a", YES), ("b", YES))))
    return PersonQuestion((), _pictures(item), tuple(parts))


def _filled(text: str, **words: str) -> str:
    """A text of a task with the names of things in their places, and no other meaning of braces."""
    for place, word in words.items():
        text = text.replace(f"{{{place}}}", word)
    return text


def _things(item: Item) -> tuple[str, str]:
    return item.tags["thing_a"], item.tags["thing_b"]


def _ask(task: AnnotationTask, item: Item) -> Ask:
    """How the relation is asked for; the last of the task's questions fits all choices."""
    for ask in task.asks:
        if set(ask.choices) == set(item.choices):
            return ask
    return task.asks[-1]


def _pictured(task: AnnotationTask, item: Item, response: Response) -> ReadResponse:
    recognised = {name: response[name] == YES for name in ("a", "b")}
    relation = response.get("relation", "")
    reply = {"recognised": recognised, "relation": relation}
    choice = relation if relation in item.choices else None
    return ReadResponse(choice, msgspec.json.encode(reply).decode())


def _picture_problem(task: AnnotationTask, item: Item) -> str:
    if len(item.images) != 1:
        return "it does not have one picture"
    if not (item.tags.get("thing_a") and item.tags.get("thing_b")):
        return "its tags `thing_a` and `thing_b` do not name two things"
    if UNCLEAR in item.choices:
        return f"'{UNCLEAR}' is one of its choices"
    return _choose_problem(task, item)


class _Kind(NamedTuple):
    question: Callable[[AnnotationTask, Item], PersonQuestion]
    read: Callable[[AnnotationTask, Item, Response], ReadResponse]
    problem: Callable[[AnnotationTask, Item], str]  # why an item cannot be asked; empty if it can


_KINDS = {
    "choose": _Kind(_choose, _chosen, _choose_problem),
    "scale": _Kind(_scale, _on_scale, _scale_problem),
    "validate": _Kind(_validate, _chosen, _validate_problem),
    "contrast": _Kind(_contrast, _contrasted, _contrast_problem),
    "picture": _Kind(_picture, _pictured, _picture_problem),
}
