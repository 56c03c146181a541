"""`gnomon annotate --label-studio`: items to a project of a server, and answers back."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import UsageError, inert

if TYPE_CHECKING:
    from gnomon.people.answering import Asked, Settings
    from gnomon.people.labelstudio.pulling import Pulled, PulledPerson
    from gnomon.people.labelstudio.server import Server

PAGE_ONLY = ("repeat", "catch", "panel", "address", "completion_link", "new_links", "order_seed")


def exchange(args: Namespace, settings: Settings, asked: Asked) -> int:
    """Push or pull."""
    from gnomon.people.labelstudio.server import Server, read_token

    _check(args)
    title = _title(args, settings, asked)
    with Server(args.label_studio, read_token(args.token_file)) as server:
        if args.push:
            _push(args, server, settings, asked, title)
        else:
            _pull(args, server, settings, asked, title)
    return 0


def _title(args: Namespace, settings: Settings, asked: Asked) -> str:
    """The title of the project: as given, or of the items and the task."""
    from gnomon.people.labelstudio.projects import LONGEST_TITLE
    from gnomon.records import digest

    if len(args.project) > LONGEST_TITLE:
        raise UsageError(
            f"The title of a project has at most {LONGEST_TITLE} characters.", "Shorten --project."
        )
    title = args.project.strip() or f"{settings.task.kind}: {asked.name}"
    if len(title) <= LONGEST_TITLE:
        return title
    key = digest(title, digits=6)
    return f"{title[: LONGEST_TITLE - 7]} {key}"


def _check(args: Namespace) -> None:
    if not args.label_studio:
        raise UsageError("--push and --pull need a server.", "Give its address: --label-studio URL")
    if not (args.push or args.pull):
        raise UsageError(
            "--label-studio does not say what to do.",
            "Add --push, or --pull for answers.",
        )
    if args.overlap is not None and not args.push:
        raise UsageError("--overlap belongs to --push.", "Leave it out, or push again with it.")
    if args.people and args.push:
        raise UsageError(
            "--push does not choose people.", "Invite them on the server, and leave out --people."
        )
    for name in PAGE_ONLY:
        if getattr(args, name):
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} belongs to the page of Gnomon.", "Leave it out.")


def _push(args: Namespace, server: Server, settings: Settings, asked: Asked, title: str) -> None:
    from gnomon.people.labelstudio.pushing import push

    done = push(server, asked, settings.task, title, args.overlap)
    project = done.project
    people = f"{project.overlap} people" if project.overlap > 1 else "1 person"
    print(inert(f"{project.title}: {done.total} items, {done.new} of them new; {people} for each."))
    if done.pictures:
        print(f"{done.pictures} pictures were sent.")
    print(inert(f"People answer at {server.url}/projects/{project.id}"))
    print("The same command with --pull instead of --push brings the answers back.")


def _pull(args: Namespace, server: Server, settings: Settings, asked: Asked, title: str) -> None:
    from gnomon.people.labelstudio.pulling import pull, read_names

    names = read_names(args.people)
    done = pull(server, asked, settings, Path(args.runs), title, names)
    for person in done.people:
        print(inert(_line(person)))
    _tell_left_out(done)
    if not done.people:
        print("Nobody has answered yet.")
        return
    print(inert(f"How far they agree: gnomon agree {args.runs}"))


def _line(person: PulledPerson) -> str:
    told = f"  {person.name} (user {person.user}): {person.answers} answers"
    if person.skipped:
        told += f", {person.skipped} skipped"
    told += f"; {person.new} new, {person.changed} changed"
    if person.kept:
        told += f"; {person.kept} that the server has no longer are kept"
    return told + "."


def _tell_left_out(done: Pulled) -> None:
    if done.incomplete:
        print(
            f"{done.incomplete} annotations were left out: a question is open, or nobody is named."
        )
    if done.foreign:
        print(f"{done.foreign} tasks of the project are not about these items and were left out.")
