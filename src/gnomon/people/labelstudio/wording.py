"""A question in the words of Label Studio: a labelling configuration, data of a task, a result.

A configuration is for all items of a project. What differs between items (texts, pictures, the
question, often the choices) is data of a task, to which the configuration refers by `$name`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import fromstring, indent, tostring

from gnomon.errors import DataError
from gnomon.people.tasks import AnnotationTask, Option, PersonQuestion, QuestionPart
from gnomon.reports.shell import environment

KEY = "gnomon"  # the field of a task's data by which its item is found again
COMMENT, SKIP = "comment", "skip"
AS_VALUE = "="  # begins an alias: Label Studio would read a bare "true" or "1" as no text
NO_TEXT = frozenset({"true", "false", "null", "undefined", "nan", "infinity"})
LONG = 12  # options beyond which a list can be searched
TEMPLATES = Path(__file__).parent / "assets"


class Heard(NamedTuple):
    """What an annotation says: values by part, the reason for which it was skipped, a comment."""

    values: dict[str, str]
    reason: str
    comment: str


class LabellingForm(NamedTuple):
    """What the questions of a project have in common."""

    task: AnnotationTask
    texts: tuple[str, ...]  # roles that have words in some item
    pictures: int
    noted: bool  # whether a rule holds for some items
    parts: dict[str, QuestionPart]  # the first of each name
    written: frozenset[str]  # parts whose options are the same for all items


def form_of(task: AnnotationTask, questions: Sequence[PersonQuestion]) -> LabellingForm:
    """The form that shows all these questions."""
    counts = {len(question.pictures) for question in questions}
    if len(counts) > 1:
        raise DataError(
            "Some items have more pictures than others, which one project cannot show.",
            "Push them from separate files, each with a project of its own.",
        )
    if not all(part.options for question in questions for part in question.parts):
        raise DataError(
            "Answers that are typed or clicked, numbers and points, are not asked in Label Studio.",
            "Ask them on Gnomon's own page: gnomon people ask FILE.",
        )
    roles = {text.role for question in questions for text in question.texts if text.words}
    by_name: dict[str, list[QuestionPart]] = {}
    for question in questions:
        for part in question.parts:
            by_name.setdefault(part.name, []).append(part)
    return LabellingForm(
        task=task,
        texts=tuple(role for role in ("context", "text") if role in roles),
        pictures=counts.pop(),
        noted=any(question.note for question in questions),
        parts={name: parts[0] for name, parts in by_name.items()},
        written=frozenset(name for name, parts in by_name.items() if _can_be_written(parts)),
    )


def configuration(form: LabellingForm) -> str:
    """The labelling configuration of a project, as XML.

    >>> from gnomon.people.tasks import task_named
    >>> from gnomon.people.tasks import QuestionText
    >>> part = QuestionPart("choice", "Is it so?", (Option("a<b", "A < B"), Option("b", "B & C")))
    >>> question = PersonQuestion((QuestionText("text", "?"),), (), (part,))
    >>> found = configuration(form_of(task_named("choose"), [question]))
    >>> '<Choice value="A &lt; B" alias="=a&lt;b" />' in found
    True
    """
    shown = [*form.texts, *(f"picture{place}" for place in range(1, form.pictures + 1))]
    template = environment(TEMPLATES).get_template("configuration.xml.j2")
    text = template.render(
        form=form, about=shown[0], reasons=_reasons(form.task), long=LONG, alias_of=alias_of
    )
    root = fromstring(text)  # noqa: S314 - our own template
    indent(root)
    return tostring(root, encoding="unicode")


def task_data(
    form: LabellingForm, key: str, question: PersonQuestion, pictures: Sequence[str]
) -> dict[str, Any]:
    """What a task of Label Studio holds of an item: the question, and nothing else."""
    data: dict[str, Any] = {KEY: key}
    if form.noted:
        data["note"] = question.note
    words = {text.role: text.words for text in question.texts}
    for role in form.texts:
        data[role] = words.get(role, "")
    for place, (name, address) in enumerate(zip(question.pictures, pictures, strict=True), 1):
        data[f"picture{place}"] = address
        data[f"picture{place}_name"] = name
    own = {part.name: part for part in question.parts}
    for name, usual in form.parts.items():
        part = own.get(name, usual)  # what an item need not be asked is asked, and not read
        data[f"ask_{name}"] = part.ask
        if name not in form.written:
            options = []
            for option in part.options:
                options.append({"value": option.label, "alias": alias_of(option.value)})
            data[f"options_{name}"] = options
    return data


def hear(task: AnnotationTask, question: PersonQuestion, result: Iterable[Any]) -> Heard:
    """What the result of an annotation says, as far as it can be read."""
    chosen: dict[str, str] = {}
    comment = ""
    for region in result:
        name, value = _named_value(region)
        if name == COMMENT:
            text = value.get("text") or ""
            comment = "\n".join(map(str, text)) if isinstance(text, list) else str(text)
            continue
        choices = value.get("choices")
        if isinstance(choices, list) and len(choices) == 1:
            chosen[name] = str(choices[0])
    reason = _value_of(chosen.pop(SKIP, ""), _reasons(task))
    values = {}
    for part in question.parts:
        if part.name in chosen:
            values[part.name] = _value_of(chosen[part.name], part.options)
    return Heard(values, reason, comment)


def _named_value(region: Any) -> tuple[str, Mapping[str, Any]]:
    """The part that a region of a result is about, and what it holds."""
    if not isinstance(region, dict) or not isinstance(region.get("value"), dict):
        return "", {}
    return str(region.get("from_name", "")), region["value"]


def alias_of(value: str) -> str:
    """What stands for a value in results."""
    return AS_VALUE + value


def _value_of(said: str, options: Sequence[Option]) -> str:
    """The value of the option that was chosen, which results name by its alias or its label."""
    for option in options:
        if said in (alias_of(option.value), option.label):
            return option.value
    return ""


def _reasons(task: AnnotationTask) -> tuple[Option, ...]:
    return tuple(Option(reason, label) for reason, label in task.skip.items())


def _can_be_written(parts: Sequence[QuestionPart]) -> bool:
    """Whether all items have the same options, in words that a configuration can hold."""
    options = parts[0].options
    if any(part.options != options for part in parts):
        return False
    for option in options:
        words = option.label + option.value
        if "$" in words or not words.isprintable():  # $ would refer to data
            return False
        if not _is_text(option.label):
            return False
    return True


def _is_text(label: str) -> bool:
    """Whether Label Studio takes a label in a configuration for text, and not for a value."""
    has_letter = any(sign.isalpha() for sign in label)
    return has_letter and label.strip().lower() not in NO_TEXT
