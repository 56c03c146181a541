"""A question in the words of Label Studio: a labelling configuration, data of a task, a result.

A configuration is for all items of a project. What differs between items (texts, pictures, the
question, often the choices) is data of a task, to which the configuration refers by `$name`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from gnomon.errors import DataError
from gnomon.people.taskfile import AnnotationTask
from gnomon.people.tasks import Option, PersonQuestion, QuestionPart

KEY = "gnomon"  # the field of a task's data by which its item is found again
COMMENT, SKIP = "comment", "skip"
AS_VALUE = "="  # begins an alias: Label Studio would read a bare "true" or "1" as no text
NO_TEXT = frozenset({"true", "false", "null", "undefined", "nan", "infinity"})
LONG = 12  # options beyond which a list can be searched
SIDE_BY_SIDE = "display: flex; flex-wrap: wrap; gap: 1em"


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

    >>> from gnomon.people.taskfile import task_named
    >>> from gnomon.people.tasks import QuestionText
    >>> part = QuestionPart("choice", "Is it so?", (Option("a<b", "A < B"), Option("b", "B & C")))
    >>> question = PersonQuestion((QuestionText("text", "?"),), (), (part,))
    >>> found = configuration(form_of(task_named("choose"), [question]))
    >>> '<Choice value="A &lt; B" alias="=a&lt;b" />' in found
    True
    """
    root = Element("View")
    if form.noted:
        SubElement(root, "Header", value="$note", size="5")
    shown = _add_texts(root, form) + _add_pictures(root, form)
    for part in form.parts.values():
        _add_part(root, form, part, shown[0])
    _add_remarks(root, form.task, shown[0])
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
            data[f"options_{name}"] = _listed(part.options)
    return data


def hear(task: AnnotationTask, question: PersonQuestion, result: Iterable[Any]) -> Heard:
    """What the result of an annotation says, as far as it can be read."""
    chosen: dict[str, str] = {}
    comment = ""
    for region in result:
        name, value = _named_value(region)
        if name == COMMENT:
            comment = _joined(value.get("text"))
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


def _joined(text: Any) -> str:
    if isinstance(text, list):
        return "\n".join(str(line) for line in text)
    return str(text or "")


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


# the configuration, from top to bottom


def _add_texts(root: Element, form: LabellingForm) -> list[str]:
    """The texts of the items; gives the names of what was added."""
    for role in form.texts:
        SubElement(root, "Text", name=role, value=f"${role}")
    return list(form.texts)


def _add_pictures(root: Element, form: LabellingForm) -> list[str]:
    names = []
    row = SubElement(root, "View", style=SIDE_BY_SIDE)
    for place in range(1, form.pictures + 1):
        name = f"picture{place}"
        box = SubElement(row, "View", style="flex: 1 1 20em")
        SubElement(box, "Header", value=f"${name}_name", size="5")
        SubElement(box, "Image", name=name, value=f"${name}", zoom="false", zoomControl="false")
        names.append(name)
    return names


def _add_part(root: Element, form: LabellingForm, part: QuestionPart, about: str) -> None:
    inner = root
    for name, value in part.needs:
        inner = SubElement(
            inner,
            "View",
            visibleWhen="choice-selected",
            whenTagName=name,
            whenChoiceValue=alias_of(value),
        )
    SubElement(inner, "Header", value=f"$ask_{part.name}", size="4")
    if len(part.options) > LONG:
        SubElement(inner, "Filter", name=f"find_{part.name}", toName=part.name, minlength="0")
    required = not part.optional and not part.needs
    choices = _add_choices(inner, part.name, about, required=required)
    if part.name in form.written:
        _add_options(choices, part.options)
    else:
        choices.set("value", f"$options_{part.name}")


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


def _add_choices(root: Element, name: str, about: str, *, required: bool) -> Element:
    choices = SubElement(root, "Choices", name=name, toName=about, choice="single")
    if required:
        choices.set("required", "true")
        choices.set("requiredMessage", "Please answer every question, or skip the item.")
    return choices


def _add_options(choices: Element, options: Sequence[Option]) -> None:
    for option in options:
        SubElement(choices, "Choice", value=option.label, alias=alias_of(option.value))


def _add_remarks(root: Element, task: AnnotationTask, about: str) -> None:
    """A comment, and why an item is skipped: Label Studio's own button does not ask."""
    SubElement(root, "Header", value="If you press Skip: why?", size="6")
    choices = _add_choices(root, SKIP, about, required=False)
    choices.set("showInline", "true")
    _add_options(choices, _reasons(task))
    SubElement(
        root,
        "TextArea",
        name=COMMENT,
        toName=about,
        placeholder="A comment, if you like",
        rows="2",
        maxSubmissions="1",
        editable="true",
    )


def _listed(options: Sequence[Option]) -> list[dict[str, str]]:
    return [{"value": option.label, "alias": alias_of(option.value)} for option in options]
