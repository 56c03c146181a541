"""A task: what people are told, what they are asked of an item, and why they may skip it.

Each of the five kinds has a file in data/tasks; a file of your own says `kind` and its own words.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from gnomon.errors import DataError, UsageError, unknown
from gnomon.files import package_data, read_yaml, shape_problem
from gnomon.records import digest

Kind = Literal["choose", "scale", "validate", "contrast", "picture"]
TASKS = ("choose", "scale", "validate", "contrast", "picture")
POINTS = ("1", "2", "3", "4", "5")  # of a scale
LOW_TO_HIGH = ("contradiction", "neutral", "entailment")  # what a scale goes through
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
    try:
        task = msgspec.convert(content, AnnotationTask)
    except msgspec.ValidationError as error:
        wrong = shape_problem(error, AnnotationTask.__struct_fields__)
        raise DataError(f"not a task: {wrong}.", hint, file=file) from None
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
