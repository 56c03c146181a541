"""From items to tasks of a Label Studio project, each sent once.

What is sent is made from the question alone, so nothing about right answers, ids, tags or files is
in it. An item is known again by a key, a digest of what people see of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple, TypeVar

import msgspec

from gnomon.errors import UsageError
from gnomon.people.answering import Asked
from gnomon.people.labelstudio.projects import (
    Project,
    check_project,
    find_project,
    make_project,
    picture_project,
    set_overlap,
    tasks_of,
)
from gnomon.people.labelstudio.server import Server, ServerError
from gnomon.people.labelstudio.wording import form_of, task_data
from gnomon.people.page.pictures import Gallery
from gnomon.people.tasks import Task, question_of
from gnomon.records import Image, Item, digest
from gnomon.vision.images import describe

FILES = 20  # pictures in one request
TASKS = 100  # tasks in one request
NAME = 32  # hexadecimal digits in the name of a picture

T = TypeVar("T")


class Pushed(NamedTuple):
    """What a push did."""

    project: Project
    total: int  # items that the project has now
    new: int  # tasks that were sent
    pictures: int  # that were sent


def push(server: Server, asked: Asked, task: Task, title: str, overlap: int | None) -> Pushed:
    """See to it that the project has a task for each item; what it has is not sent again."""
    if overlap is not None and overlap < 1:
        raise UsageError("--overlap must be 1 or more.", "Give how many people see each item.")
    gallery = Gallery()
    keyed = keyed_items(task, asked.items)
    questions = {key: question_of(task, item) for key, item in keyed.items()}
    form = form_of(task, list(questions.values()))

    project = find_project(server, title) or make_project(server, title, form)
    check_project(project, task, form)
    project = set_overlap(server, project, overlap or project.overlap)
    there = _keys_in(server, project)
    lacking = sorted(key for key in keyed if key not in there)  # no order that tells anything

    wanted = [image for key in lacking for image in keyed[key].images]
    addresses, sent = _upload(server, project, gallery, wanted)
    for batch in _batches(lacking, TASKS):
        tasks = []
        for key in batch:
            pictures = [addresses[image.path] for image in keyed[key].images]
            tasks.append({"data": task_data(form, key, questions[key], pictures)})
        server.post(f"/api/projects/{project.id}/import", tasks)
    if lacking:
        _check_arrived(_keys_in(server, project), keyed, project)
    return Pushed(project, len(keyed), len(lacking), sent)


def keyed_items(task: Task, items: Sequence[Item]) -> dict[str, Item]:
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


def _keys_in(server: Server, project: Project) -> set[str]:
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
    server: Server, project: Project, gallery: Gallery, images: Sequence[Image]
) -> tuple[dict[str, str], int]:
    """The addresses of pictures on the server, by their paths here, and how many were sent."""
    if not images:
        return {}, 0
    project = picture_project(server, project)
    names = {}  # path -> name on the server, by what is seen, so the same picture is sent once
    contents = {}
    for image in images:
        content = gallery.shown(image)
        names[image.path] = f"{sha256(content).hexdigest()[:NAME]}.jpg"
        contents[names[image.path]] = image
    there = _uploaded(server, project)
    lacking = sorted(name for name in contents if name not in there)
    for batch in _batches(lacking, FILES):
        files = [(name, gallery.shown(contents[name]), "image/jpeg") for name in batch]
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


def _uploaded(server: Server, project: Project) -> dict[str, str]:
    """Where the project's pictures are, by the names that we gave them."""
    found = {}
    path = f"/api/projects/{project.id}/file-uploads"
    for entry in server.shaped(path, server.get(path, all="true"), list[_Upload]):
        name = entry.file.rpartition("/")[2].partition("-")[2]
        found[name] = f"/data/{entry.file}"
    return found


def _batches(entries: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(entries), size):
        yield entries[start : start + size]
