"""Tasks: what people are told, the question that they see of an item, and what a response means."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from gnomon.errors import DataError, GnomonError, UsageError, unknown
from gnomon.files import package_data, read_yaml, shaped
from gnomon.forms import lists
from gnomon.forms.numbers import quantity_of, unit_of
from gnomon.forms.numbers import written as number_written
from gnomon.forms.regions import size_of, write_points
from gnomon.lexicon.quantities import converted, unit_in_words
from gnomon.lexicon.relations import lexicon
from gnomon.records import MASK, WRITTEN, Item, digest

# A task: what people are told, what they are asked of an item, and why they may skip it.
#
# Each of the five kinds has a file in data/tasks; a file of your own says `kind` and its own
# words.


Kind = Literal["choose", "scale", "validate", "contrast", "picture"]
TASKS = ("choose", "scale", "validate", "contrast", "picture")
POINTS = ("1", "2", "3", "4", "5")  # of a scale
LOW_TO_HIGH = ("contradiction", "neutral", "entailment")  # what a scale goes through
LONGEST_FIELD = 80  # characters that are written into a field
COMMAND_KEYS = frozenset("bsch")  # back, skip, comment, help: no answer may have them


class ScalePoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A point of a scale: how it is shown, and the label that it stands for."""

    label: str
    choice: str = ""
    key: str = ""


class ViewpointRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rule on points of view, the words that call for it, and the question which was used."""

    note: str
    words: tuple[str, ...] = ()
    question: str = ""
    options: dict[str, str] = {}


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the relation in a picture is asked for, by the choices of the item."""

    choices: tuple[str, ...]
    question: str


class AnnotationTask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What people are told and asked; which fields count depends on the kind."""

    kind: Kind
    title: str
    instructions: tuple[str, ...]
    skip: dict[str, str]  # reason -> how it is shown
    seconds: int = 15  # that an item takes, about
    question: str = ""
    questions: dict[str, str] = {}  # by the form of the item
    labels: dict[str, str] = {}
    keys: dict[str, str] = {}
    order: tuple[str, ...] = ()  # in which the choices are shown
    points: dict[str, ScalePoint] = {}
    frame: ViewpointRule | None = None
    ask_frame: bool = False
    orders: str = ""
    true_of: str = ""
    pictures: tuple[str, str] = ("First picture", "Second picture")
    groups: Literal["", "categories"] = ""  # by which relations are listed
    without_is: tuple[str, ...] = ()
    recognise: str = ""
    asks: tuple[Ask, ...] = ()
    unclear: str = "I cannot tell"

    @property
    def sha256(self) -> str:
        """A digest of everything that people are told and asked."""
        return digest(msgspec.json.encode(self).decode(), digits=16)


def task_named(name: str, *, ask_frame: bool = False) -> AnnotationTask:
    """The task of that name, or in a file of your own.

    >>> task_named("validate").labels["true"]
    'True'
    """
    own = name.endswith((".yaml", ".yml"))
    if not own and name not in TASKS:
        raise unknown("task", name, TASKS)
    file = Path(name) if own else package_data(f"tasks/{name}.yaml")
    task = _read_task(file)
    if not ask_frame:
        return task
    if task.frame is None or not task.frame.options:
        raise UsageError(
            f"The task {name} does not ask for a point of view.", "Leave out --set ask_frame=yes."
        )
    return msgspec.structs.replace(task, ask_frame=True)


def _read_task(file: Path) -> AnnotationTask:
    content: Any = read_yaml(file, limit=2**20)
    hint = "Take a file of gnomon/data/tasks as a pattern; docs/people.md lists the fields."
    task = shaped(content, AnnotationTask, "not a task: ", hint, file)
    wrong = _problem(task)
    if wrong:
        raise DataError(f"not a task: {wrong}.", hint, file=file)
    return task


def _problem(task: AnnotationTask) -> str:
    """What is wrong with a task, in a few words; empty if nothing is."""
    if not task.instructions or not task.skip:
        return "it needs instructions, and reasons for which an item may be skipped"
    if task.kind == "scale" and not task.points:
        return "a scale needs points"
    if task.kind == "scale" and not _rises(task.points):
        return "the points 1 to 5 must go from contradiction over neutral to entailment"
    if task.kind == "picture" and not (task.recognise and task.asks):
        return "a picture task needs `recognise` and `asks`"
    for key in task.keys.values():
        if len(key) != 1 or not key.isalnum() or key in COMMAND_KEYS:
            taken = ", ".join(sorted(COMMAND_KEYS))
            return f"the key '{key[:20]}' is not one letter or digit, or is taken ({taken})"
    return ""


def _rises(points: dict[str, ScalePoint]) -> bool:
    """Whether the points 1 to 5 go up, as `gnomon people agree` takes for granted.

    Labels other than those of entailment have no order that is known here.
    """
    choices = [points[name].choice for name in POINTS if name in points and points[name].choice]
    if not set(choices) <= set(LOW_TO_HIGH):
        return True
    heights = [LOW_TO_HIGH.index(choice) for choice in choices]
    return heights == sorted(heights)


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
    """One question with options, of which one is to be chosen; without any, a field to fill in."""

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
        if not part.options and len(value) > LONGEST_FIELD:
            raise ResponseError("That is too long for this field.", "Write the answer alone.")
        if part.options and value not in [option.value for option in part.options]:
            raise ResponseError("That is not one of the answers.", "Choose one that is shown.")
        chosen[part.name] = value
    return chosen


GAP = "_____"
WORD = re.compile(r"[a-z]+")
DIGITS = 9  # options that have a digit as their key
YES, NO = "yes", "no"
UNCLEAR = "unclear"


def question_of(task: AnnotationTask, item: Item) -> PersonQuestion:
    """What people see of an item and are asked about it.

    >>> from gnomon.people.tasks import task_named
    >>> item = Item(id="1", form="cloze", text="An ant is [MASK] than a bird.",
    ...             choices=("larger", "smaller"), gold=("smaller",))
    >>> asked = question_of(task_named("choose"), item)
    >>> asked.texts[0].words, [option.label for option in asked.parts[0].options]
    ('An ant is _____ than a bird.', ['larger', 'smaller'])
    """
    return _KINDS[task.kind].question(task, item)


def read_response(task: AnnotationTask, item: Item, response: Response) -> ReadResponse:
    """What a response to an item means.

    >>> from gnomon.people.tasks import task_named
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
    if item.form in WRITTEN:
        return PersonQuestion(_texts(item), _pictures(item), written_parts(item))
    ask = task.questions.get(item.form, task.question)
    part = QuestionPart("choice", ask, _options(task, _ordered(task, item.choices)))
    return PersonQuestion(_texts(item), _pictures(item), (part,))


def _ordered(task: AnnotationTask, choices: tuple[str, ...]) -> tuple[str, ...]:
    return task.order if set(task.order) == set(choices) else choices


def _chosen(task: AnnotationTask, item: Item, response: Response) -> ReadResponse:
    if item.form in WRITTEN:
        return read_parts(item, response)
    return ReadResponse(response["choice"], response["choice"])


def _choose_problem(task: AnnotationTask, item: Item) -> str:
    if item.form == "point" and len(item.images) != 1:
        return "it does not have one picture to point at"
    if item.form in ("number", "point"):
        return ""
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
    frame, note = task.frame, ""
    if frame is not None and not set(frame.words).isdisjoint(WORD.findall(item.text.lower())):
        note = frame.note
        if task.ask_frame:
            parts.append(QuestionPart("frame", frame.question, _numbered(frame.options)))
    return PersonQuestion(_texts(item), _pictures(item), tuple(parts), note)


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
    first, second = item.tags["thing_a"], item.tags["thing_b"]
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


# answers that are written: a field for a number or a point, yes or no for each label of a set, a
# label for each place of an order

POINT = "point"  # the part that a click on the picture fills in
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*%?\s*[,;]\s*(\d+(?:\.\d+)?)\s*%?\s*")


def written_parts(item: Item) -> tuple[QuestionPart, ...]:
    """What people are asked of an item whose answer is written."""
    if item.form == "number":
        unit = unit_of(item.gold)
        asked = f" in {unit_in_words(unit)}" if unit else ""
        return (QuestionPart("number", f"Your answer, as a number{asked}", ()),)
    if item.form == "point":
        return (QuestionPart(POINT, "Click on the place in the picture", ()),)
    if item.form == "set":
        labels = {YES: "Yes", NO: "No"}
        return tuple(
            QuestionPart(f"label{place}", f"Is this one of them: {choice}?", _numbered(labels))
            for place, choice in enumerate(item.choices)
        )
    options = _numbered(dict(zip(item.choices, item.choices, strict=True)))
    parts = []
    for place in range(len(item.choices)):
        called = PLACES[place] if place < len(PLACES) else f"number {place + 1}"
        parts.append(QuestionPart(f"place{place}", f"Which one comes {called}?", options))
    return tuple(parts)


def read_parts(item: Item, response: Response) -> ReadResponse:
    """What the parts mean together."""
    if item.form == "number":
        return _read_number(item, response["number"])
    if item.form == "point":
        return _read_point(item, response[POINT])
    if item.form == "set":
        taken = []
        for place, choice in enumerate(item.choices):
            if response[f"label{place}"] == YES:
                taken.append(choice)
        said = lists.written(taken)
        return ReadResponse(said or None, said or "none of them")
    ordered = [response[f"place{place}"] for place in range(len(item.choices))]
    if len(set(ordered)) < len(ordered):
        raise ResponseError("Each can have one place only.", "Choose another for one of them.")
    return ReadResponse(lists.written(ordered), lists.written(ordered))


def _read_number(item: Item, said: str) -> ReadResponse:
    unit = unit_of(item.gold)
    found = quantity_of(said)
    value = converted(found.middle, found.unit or unit, unit) if found else None
    if value is None:
        raise ResponseError("Please write one number.", "For example 2.5.")
    return ReadResponse(number_written(value, unit), said)


def _read_point(item: Item, said: str) -> ReadResponse:
    found = _PERCENT.fullmatch(said)
    size = size_of(item.gold) or (item.images[0].width, item.images[0].height)
    if found is None or max(float(found[1]), float(found[2])) > 100:
        raise ResponseError(
            "Please click on the picture.", "Or write how far right and down: 50 %, 25 %."
        )
    point = (float(found[1]) * size[0] / 100, float(found[2]) * size[1] / 100)
    return ReadResponse(write_points([point]), said)


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
