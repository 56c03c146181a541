"""A project of Gnomon on a Label Studio server: found by its title, known by a mark.

The mark stands in the project's description and names the task and the form, so that answers to
one question are never taken for answers to another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from html import escape
from typing import Any, NamedTuple

import msgspec

from gnomon.errors import RunError
from gnomon.people.labelstudio.server import Server
from gnomon.people.labelstudio.wording import KEY, Form, configuration
from gnomon.people.taskfile import Task
from gnomon.records import digest

MARK = re.compile(r"\[gnomon ([0-9a-f]+) ([0-9a-f]+)\]")
PICTURES = ": pictures"  # what the title of a project with pictures ends with
LONGEST_TITLE = 50 - len(PICTURES)  # characters; Label Studio allows 50
PROJECTS = "/api/projects/"
LONG_AGO = datetime.fromtimestamp(0, UTC)
SAMPLING = "Uniform sampling"  # each person meets the tasks in an order of their own


class Project(NamedTuple):
    """A project as far as we need to know it."""

    id: int
    title: str
    task: str  # the digest of the task that is asked, empty if the project is not ours
    form: str  # the digest of the labelling configuration
    overlap: int


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


def find_project(server: Server, title: str) -> Project | None:
    """The project of that title; none if there is none."""
    for entry in server.pages(PROJECTS, "results", "count", _Entry, title=title):
        if entry.title == title:
            return _project(entry)
    return None


class _Entry(msgspec.Struct):
    """A project as the server shows it."""

    id: int
    title: str
    description: str | None = None
    maximum_annotations: int | None = None


def _project(entry: _Entry) -> Project:
    mark = MARK.search(entry.description or "")
    task, form = mark.groups() if mark else ("", "")
    return Project(entry.id, entry.title, task, form, entry.maximum_annotations or 1)


def _make(server: Server, content: Mapping[str, Any]) -> Project:
    return _project(server.shaped(PROJECTS, server.post(PROJECTS, content), _Entry))


def make_project(server: Server, title: str, form: Form) -> Project:
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


def picture_project(server: Server, project: Project) -> Project:
    """Where the pictures of a project are: Label Studio takes no files into one with a form."""
    title = project.title + PICTURES
    found = find_project(server, title)
    if found is not None:
        return found
    content = {"title": title, "description": f"The pictures of '{project.title}'. Keep it."}
    return _make(server, content)


def check_project(project: Project, task: Task, form: Form | None = None) -> None:
    """Refuse a project that is not ours, or asks something else."""
    hint = "Give another title with --project."
    if not project.task:
        raise RunError(
            f"The project '{project.title}' was not made by Gnomon, or its mark was removed.", hint
        )
    if project.task != task.sha256:
        raise RunError(
            f"The project '{project.title}' asks another task, or in other words.",
            "Give the --task that it was made with, or another title with --project.",
        )
    if form is not None and project.form != _form_digest(form):
        raise RunError(
            f"The project '{project.title}' has a labelling configuration for other items.", hint
        )


def set_overlap(server: Server, project: Project, overlap: int) -> Project:
    """Say how many people see each item."""
    if project.overlap != overlap:
        server.patch(f"/api/projects/{project.id}/", {"maximum_annotations": overlap})
    return project._replace(overlap=overlap)


def tasks_of(server: Server, project: Project, *, annotated: bool) -> Iterator[ServerTask]:
    """All tasks of a project; with annotations if asked."""
    query = {"fields": "all"} if annotated else {}
    return server.pages("/api/tasks/", "tasks", "total", ServerTask, project=project.id, **query)


def _form_digest(form: Form) -> str:
    return digest(configuration(form), digits=16)


def _instructions(task: Task) -> str:
    """What people are told, as HTML: no word of it is markup."""
    paragraphs = [f"<p>{escape(words)}</p>" for words in task.instructions]
    if task.frame is not None:
        paragraphs.append(f"<p>{escape(task.frame.note)}</p>")
    return "\n".join(paragraphs)
