"""From annotations of a Label Studio project to people's runs, as often as one likes.

A user of the server is a person here, under a pseudonym: their name and address on the server are
not read. Whatever a run holds already is not written again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from gnomon.errors import RunError, UsageError
from gnomon.people import answering
from gnomon.people.answering import AskedItems, PersonRun, PersonSettings, SentResponse
from gnomon.people.labelstudio import projects
from gnomon.people.labelstudio.projects import Annotation, Project, ServerTask
from gnomon.people.labelstudio.server import LabelStudio
from gnomon.people.labelstudio.wording import hear
from gnomon.people.order import LINK, new_link, read_link, write_link
from gnomon.people.tasks import AnnotationTask, ResponseError, checked_response, question_of
from gnomon.records import Item, digest


class PulledPerson(NamedTuple):
    """What a pull found of one person."""

    name: str
    user: int
    answers: int  # annotations that are answers, and of those skipped
    skipped: int
    new: int
    changed: int
    kept: int  # answers of the run that the server has no longer
    folder: Path


class Pulled(NamedTuple):
    """What a pull did."""

    people: tuple[PulledPerson, ...]
    incomplete: int  # annotations that do not answer every question, or name nobody
    foreign: int  # tasks of the project that are not about these items


def pull(
    server: LabelStudio,
    asked: AskedItems,
    settings: PersonSettings,
    runs: Path,
    title: str,
    names: Mapping[int, str] | None = None,
) -> Pulled:
    """Bring everybody's answers into their runs. `names` gives pseudonyms to users by their id."""
    task = settings.task
    project = projects.find_project(server, title)
    if project is None:
        raise RunError(
            f"{server.url} has no project '{title}'.",
            "Make it with --push, or give the title that it has there: --set project=TITLE",
        )
    projects.check_project(project, task)
    found = _Collection(task, projects.keyed_items(task, asked.items))
    for entry in projects.tasks_of(server, project, annotated=True):
        found.add(entry)

    people = []
    for user, given in sorted(found.given.items()):
        name = (names or {}).get(user, f"user-{user}")
        identity = _identity(server, project, user, asked, task)
        folder = answering.person_folder(asked, name, task, runs)
        _check_own(folder, name, user, identity, runs)
        run = answering.open_person_run(asked, name, settings, runs)
        try:
            new, changed, kept = _keep_all(run, given)
        finally:
            run.close()
        skips = sum(bool(one.skipped) for one in given.values())
        people.append(
            PulledPerson(name, user, len(given) - skips, skips, new, changed, kept, folder)
        )
    return Pulled(tuple(people), found.incomplete, found.foreign)


def read_names(given: str) -> dict[int, str]:
    """Pseudonyms by the ids of users.

    >>> read_names("ann=3, ben=5")
    {3: 'ann', 5: 'ben'}
    """
    found: dict[int, str] = {}
    for entry in given.split(","):
        if not entry.strip():
            continue
        name, _, user = entry.strip().partition("=")
        if not user.strip().isdecimal():
            raise UsageError(
                f"'{entry.strip()}' does not say which user of Label Studio is meant.",
                "Give pseudonyms with the ids of users: --people ann=3,ben=5",
            )
        answering.check_name(name.strip())
        found[int(user)] = name.strip()
    if len(set(found.values())) < len(found):
        raise UsageError("Two people have the same name.", "Give each a pseudonym of their own.")
    return found


class _Collection:
    """What all people said, by user and item: of several annotations the last counts."""

    def __init__(self, task: AnnotationTask, items: Mapping[str, Item]) -> None:
        self.given: dict[int, dict[str, SentResponse]] = {}
        self.incomplete = 0
        self.foreign = 0
        self._task = task
        self._items = items

    def add(self, entry: ServerTask) -> None:
        """Take in a task with its annotations."""
        item = self._items.get(entry.key)
        if item is None:
            self.foreign += 1
            return
        for annotation in sorted(entry.annotations or (), key=lambda one: one.at):
            given = self._given(item, annotation)
            if given is None or not annotation.user:
                self.incomplete += 1
                continue
            self.given.setdefault(annotation.user, {})[item.id] = given

    def _given(self, item: Item, annotation: Annotation) -> SentResponse | None:
        question = question_of(self._task, item)
        heard = hear(self._task, question, annotation.result or ())
        comment = heard.comment[: answering.LONGEST_COMMENT]
        seconds, at = annotation.lead_time, annotation.at
        if annotation.was_cancelled:
            vaguest = list(self._task.skip)[-1]
            reason = heard.reason if heard.reason in self._task.skip else vaguest
            return SentResponse({}, reason, comment, seconds, at)
        try:
            response = checked_response(question, heard.values)
        except ResponseError:
            return None
        return SentResponse(response, "", comment, seconds, at)


def _keep_all(run: PersonRun, given: Mapping[str, SentResponse]) -> tuple[int, int, int]:
    """Write down what the run lacks; how much was new, changed, and only in the run."""
    new = changed = kept = 0
    for slot in run.slots:
        before, now = run.given.get(slot.key), given.get(slot.item.id)
        if now is None:
            kept += before is not None
            continue
        said = before and (before.response, before.skipped, before.comment)
        if said == (now.response, now.skipped, now.comment):
            continue
        run.keep(slot, **now._asdict())
        new += before is None
        changed += before is not None
    return new, changed, kept


# whose run is whose


def _identity(
    server: LabelStudio, project: Project, user: int, asked: AskedItems, task: AnnotationTask
) -> str:
    """A user of a server who answers these items, as the mark of a run."""
    who = [server.url, project.id, user]
    what = [asked.name, asked.options, asked.limit, task.kind]
    return digest(msgspec.json.encode([who, what], order="sorted").decode(), digits=32)


def _check_own(folder: Path, name: str, user: int, identity: str, runs: Path) -> None:
    """See to it that a run is of this user alone, and that the user has no other."""
    for file in sorted(runs.glob(f"*/{LINK}")):
        other = file.parent
        known = read_link(other)
        if other != folder and known is not None and known.participant == identity:
            raise RunError(
                f"User {user} was pulled into {other} before, under another name.",
                "Give the name from then with --people, or remove that run: "
                f"gnomon runs rm {other}",
            )
    link = read_link(folder)
    is_of_others = link.participant != identity if link else folder.exists()
    if is_of_others:
        raise RunError(
            f"{folder} holds answers of {name} that come from elsewhere.",
            "Give the address of the server as before, another pseudonym with --people, or another "
            "folder with --runs.",
        )
    if link is None:
        folder.mkdir(parents=True)
        write_link(folder, msgspec.structs.replace(new_link(), participant=identity))
