"""Projects on a Label Studio server: worded, found, made, and filled with tasks."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import fromstring, indent, tostring

import msgspec

from gnomon.errors import DataError, RunError, UsageError
from gnomon.grouped import chunks
from gnomon.people.answering import AskedItems, shown_picture
from gnomon.people.labelstudio.server import LabelStudio, ServerError
from gnomon.people.tasks import AnnotationTask, Option, PersonQuestion, QuestionPart, question_of
from gnomon.records import Image, Item, digest
from gnomon.reports.shell import environment
from gnomon.vision.images import describe

# A question in the words of Label Studio: a labelling configuration, data of a task, a result.
#
# A configuration is for all items of a project. What differs between items (texts, pictures, the
# question, often the choices) is data of a task, to which the configuration refers by `$name`.


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


MARK = re.compile(r"\[gnomon ([0-9a-f]+) ([0-9a-f]+)\]")
PICTURES = ": pictures"  # what the title of a project with pictures ends with
LONGEST_TITLE = 50 - len(PICTURES)  # characters; Label Studio allows 50
PROJECTS = "/api/projects/"
LONG_AGO = datetime.fromtimestamp(0, UTC)
SAMPLING = "Uniform sampling"  # each person meets the tasks in an order of their own


class Project(msgspec.Struct, frozen=True):
    """A project as the server shows it, as far as we need to know it."""

    id: int
    title: str
    description: str | None = None
    maximum_annotations: int | None = None

    @property
    def overlap(self) -> int:
        """How many people see each item."""
        return self.maximum_annotations or 1

    @property
    def marks(self) -> tuple[str, str]:
        """Digests of the task that is asked and of the form; empty if the project is not ours."""
        mark = MARK.search(self.description or "")
        return (mark[1], mark[2]) if mark else ("", "")


class Annotation(msgspec.Struct, frozen=True):
    """An annotation as the server gives it; what is not named here is not read."""

    completed_by: Any = None  # a user's id, or some facts about the user
    result: list[Any] | None = None
    was_cancelled: bool = False
    lead_time: float | None = None  # seconds
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def user(self) -> int:
        """The id of whoever made it; 0 if the server has forgotten."""
        found = self.completed_by
        if isinstance(found, dict):
            found = found.get("id")
        return found if isinstance(found, int) else 0

    @property
    def at(self) -> datetime:
        """When it was last changed."""
        found = self.updated_at or self.created_at or LONG_AGO
        return found if found.tzinfo else found.replace(tzinfo=UTC)


class ServerTask(msgspec.Struct, frozen=True):
    """A task as the server gives it."""

    data: dict[str, Any] = {}
    annotations: list[Annotation] | None = None

    @property
    def key(self) -> str:
        """The key of the item that it asks about; empty if it is not ours."""
        return str(self.data.get(KEY, ""))


def find_project(server: LabelStudio, title: str) -> Project | None:
    """The project of that title; none if there is none."""
    for project in server.pages(PROJECTS, "results", "count", Project, title=title):
        if project.title == title:
            return project
    return None


def _make(server: LabelStudio, content: Mapping[str, Any]) -> Project:
    return server.shaped(PROJECTS, server.post(PROJECTS, content), Project)


def make_project(server: LabelStudio, title: str, form: LabellingForm) -> Project:
    """A new project, with instructions and a labelling configuration."""
    config = configuration(form)
    task = form.task
    content = {
        "title": title,
        "description": f"{task.title} [gnomon {task.sha256} {_form_digest(form)}]",
        "label_config": config,
        "expert_instruction": _instructions(task),
        "show_instruction": True,
        "sampling": SAMPLING,
        "show_skip_button": True,
        "enable_empty_annotation": False,
        "show_collab_predictions": False,
        "evaluate_predictions_automatically": False,
    }
    return _make(server, content)


def picture_project(server: LabelStudio, project: Project) -> Project:
    """Where the pictures of a project are: Label Studio takes no files into one with a form."""
    title = project.title + PICTURES
    found = find_project(server, title)
    if found is not None:
        return found
    content = {"title": title, "description": f"The pictures of '{project.title}'. Keep it."}
    return _make(server, content)


def check_project(
    project: Project, task: AnnotationTask, form: LabellingForm | None = None
) -> None:
    """Refuse a project that is not ours, or asks something else."""
    hint = "Give another title: --set project=TITLE"
    asked, made_for = project.marks
    if not asked:
        raise RunError(
            f"The project '{project.title}' was not made by Gnomon, or its mark was removed.", hint
        )
    if asked != task.sha256:
        raise RunError(
            f"The project '{project.title}' asks another task, or in other words.",
            "Give the --task that it was made with, or another title: --set project=TITLE",
        )
    if form is not None and made_for != _form_digest(form):
        raise RunError(
            f"The project '{project.title}' has a labelling configuration for other items.", hint
        )


def set_overlap(server: LabelStudio, project: Project, overlap: int) -> Project:
    """Say how many people see each item."""
    if project.overlap != overlap:
        server.patch(f"/api/projects/{project.id}/", {"maximum_annotations": overlap})
    return msgspec.structs.replace(project, maximum_annotations=overlap)


def tasks_of(server: LabelStudio, project: Project, *, annotated: bool) -> Iterator[ServerTask]:
    """All tasks of a project; with annotations if asked."""
    query = {"fields": "all"} if annotated else {}
    return server.pages("/api/tasks/", "tasks", "total", ServerTask, project=project.id, **query)


def _form_digest(form: LabellingForm) -> str:
    return digest(configuration(form), digits=16)


def _instructions(task: AnnotationTask) -> str:
    """What people are told, as HTML: no word of it is markup."""
    paragraphs = [f"<p>{escape(words)}</p>" for words in task.instructions]
    if task.frame is not None:
        paragraphs.append(f"<p>{escape(task.frame.note)}</p>")
    return "\n".join(paragraphs)


# From items to tasks of a Label Studio project, each sent once.
#
# What is sent is made from the question alone, so nothing about right answers, ids, tags or files
# is in it. An item is known again by a key, a digest of what people see of it.


FILES = 20  # pictures in one request
TASKS = 100  # tasks in one request
NAME = 32  # hexadecimal digits in the name of a picture


class Pushed(NamedTuple):
    """What a push did."""

    project: Project
    total: int  # items that the project has now
    new: int  # tasks that were sent
    pictures: int  # that were sent


def push(
    server: LabelStudio, asked: AskedItems, task: AnnotationTask, title: str, overlap: int | None
) -> Pushed:
    """See to it that the project has a task for each item; what it has is not sent again."""
    if overlap is not None and overlap < 1:
        raise UsageError("overlap must be 1 or more.", "Give how many people see each item.")
    keyed = keyed_items(task, asked.items)
    questions = {key: question_of(task, item) for key, item in keyed.items()}
    form = form_of(task, list(questions.values()))

    project = find_project(server, title) or make_project(server, title, form)
    check_project(project, task, form)
    project = set_overlap(server, project, overlap or project.overlap)
    there = _keys_in(server, project)
    lacking = sorted(key for key in keyed if key not in there)  # no order that tells anything

    wanted = [image for key in lacking for image in keyed[key].images]
    addresses, sent = _upload(server, project, wanted)
    for batch in chunks(lacking, TASKS):
        tasks = []
        for key in batch:
            pictures = [addresses[image.path] for image in keyed[key].images]
            tasks.append({"data": task_data(form, key, questions[key], pictures)})
        server.post(f"/api/projects/{project.id}/import", tasks)
    if lacking:
        _check_arrived(_keys_in(server, project), keyed, project)
    return Pushed(project, len(keyed), len(lacking), sent)


def keyed_items(task: AnnotationTask, items: Sequence[Item]) -> dict[str, Item]:
    """The items by keys, which say nothing about them but what people see.

    An id may name the right answer, and a digest of it could be guessed back, so the key is of the
    question and the pictures; items that look the same are numbered.
    """
    seen: Counter[str] = Counter()
    found = {}
    for item in items:
        looks = [image.sha256 or describe(image.path).sha256 for image in item.images]
        content = msgspec.json.encode([question_of(task, item), looks]).decode()
        number = seen[content]
        seen[content] += 1
        found[digest(content, str(number), digits=NAME)] = item
    return found


def _keys_in(server: LabelStudio, project: Project) -> set[str]:
    return {entry.key for entry in tasks_of(server, project, annotated=False)}


def _check_arrived(there: set[str], keyed: Mapping[str, Item], project: Project) -> None:
    lost = [key for key in keyed if key not in there]
    if lost:
        raise ServerError(
            f"{len(lost)} of {len(keyed)} tasks are not in the project '{project.title}' yet.",
            "The server may still import them: give the same command again in a minute.",
        )


# pictures


def _upload(
    server: LabelStudio, project: Project, images: Sequence[Image]
) -> tuple[dict[str, str], int]:
    """The addresses of pictures on the server, by their paths here, and how many were sent."""
    if not images:
        return {}, 0
    project = picture_project(server, project)
    names = {}  # path -> name on the server, by what is seen, so the same picture is sent once
    contents = {}
    for image in images:
        content = shown_picture(image)
        names[image.path] = f"{sha256(content).hexdigest()[:NAME]}.jpg"
        contents[names[image.path]] = image
    there = _uploaded(server, project)
    lacking = sorted(name for name in contents if name not in there)
    for batch in chunks(lacking, FILES):
        files = [(name, shown_picture(contents[name]), "image/jpeg") for name in batch]
        # pictures alone, without tasks of their own
        server.upload(f"/api/projects/{project.id}/import", files, commit_to_project="false")
    if lacking:
        there = _uploaded(server, project)
    lost = [name for name in contents if name not in there]
    if lost:
        raise ServerError(
            f"{len(lost)} of {len(contents)} pictures did not arrive at {server.url}.",
            "Give the same command again: what arrived is not sent twice.",
        )
    return {path: there[name] for path, name in names.items()}, len(lacking)


class _Upload(msgspec.Struct):
    file: str  # upload/PROJECT/abcdef12-NAME


def _uploaded(server: LabelStudio, project: Project) -> dict[str, str]:
    """Where the project's pictures are, by the names that we gave them."""
    found = {}
    path = f"/api/projects/{project.id}/file-uploads"
    for entry in server.shaped(path, server.get(path, all="true"), list[_Upload]):
        name = entry.file.rpartition("/")[2].partition("-")[2]
        found[name] = f"/data/{entry.file}"
    return found
