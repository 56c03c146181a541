"""Projects on a Label Studio server: found, made, and filled with tasks."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from html import escape
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import RunError, UsageError
from gnomon.grouped import chunks
from gnomon.people.answering import AskedItems, shown_picture
from gnomon.people.labelstudio.server import LabelStudio, ServerError
from gnomon.people.labelstudio.wording import KEY, LabellingForm, configuration, form_of, task_data
from gnomon.people.tasks import AnnotationTask, question_of
from gnomon.records import Image, Item, digest
from gnomon.vision.images import describe

# A question in the words of Label Studio: a labelling configuration, data of a task, a result.
#


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
