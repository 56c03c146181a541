"""`gnomon people ask`: a page on this machine with one item at a time, or Label Studio."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.options import refuse_settings
from gnomon.cli.selection import chosen_sources
from gnomon.errors import UsageError, importing, inert
from gnomon.items.source import load
from gnomon.people.answering import (
    AskedItems,
    PersonSettings,
    asked_from_painted,
    asked_from_source,
    check_name,
    person_folder,
)
from gnomon.people.order import instructed, most_repeats
from gnomon.people.tasks import AnnotationTask, check_items, task_named
from gnomon.records import Item, digest
from gnomon.runs import MANIFEST, Run

if TYPE_CHECKING:
    from gnomon.people.labelstudio.pulling import Pulled, PulledPerson
    from gnomon.people.labelstudio.server import LabelStudio
    from gnomon.people.page.study import AnnotationStudy


PAGE_ONLY = ("repeat", "catch", "panel", "address", "completion_link", "new_links", "order_seed")
PANEL = ""  # stands for the name of the panel among those of people
PANEL_IDS = {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}  # what a panel puts in the place of the id


def ask(args: Namespace) -> int:
    """Serve until interrupted, or exchange with Label Studio."""
    if args.label_studio or args.push or args.pull:
        return _exchange(args, *_settings(args))
    with importing("The page for people", "people"):
        from gnomon.people.page.app import Where, check_where, serve

    where = Where(args.host, args.port, args.allow_remote, args.address)
    check_where(where)
    people = _people(args)
    settings, asked = _settings(args)
    study = _study(args, settings, asked)
    seated: list[str] = []

    def ready(address: str) -> None:
        tokens = study.seat(people, new_links=args.new_links)
        if study.panel:
            tokens[PANEL] = study.open_panel(new_links=args.new_links)
        seated.extend(people)
        _tell(study, people, tokens, address)

    try:
        serve(study, where, ready)
    finally:
        _tell_progress(study, seated)
    return 0


def _people(args: Namespace) -> list[str]:

    names = [name.strip() for name in args.people.split(",") if name.strip()]
    if not names and not args.panel:
        raise UsageError("Nobody is named.", "Give pseudonyms: --people ann,ben")
    for name in names:
        check_name(name)
    if len(set(names)) < len(names):
        raise UsageError("Two people have the same name.", "Give each a pseudonym of their own.")
    return names


def _settings(args: Namespace) -> tuple[PersonSettings, AskedItems]:

    if args.repeat < 0:
        raise UsageError("repeat must be 0 or more.", "Give how many items come twice.")
    task = task_named(args.task, ask_frame=args.ask_frame)
    asked = _asked(args)
    check_items(task, asked.items)
    total = len(asked.items)
    most = most_repeats(total)
    if args.repeat > most:
        raise UsageError(
            f"repeat={args.repeat} is too many: of {total} items {most} can come twice.",
            "A repeat comes at least half the set after its item. Give fewer, or more items.",
        )
    catch = _catch_items(args.catch, task, asked)
    return PersonSettings(task, args.order_seed, args.repeat, catch), asked


def _asked(args: Namespace) -> AskedItems:
    """The items: of a benchmark, of a file, or the painted pictures of a run."""

    if args.limit is not None and args.limit < 1:
        raise UsageError("--limit must be 1 or more.", "Leave it out for all items.")
    if (Path(args.what) / MANIFEST).is_file():
        refuse_settings(args.set, "people ask")
        return asked_from_painted(Run.open(args.what), args.limit)
    source = chosen_sources(args, [args.what])[0]
    return asked_from_source(source.limited(args.limit))


def _catch_items(given: str, task: AnnotationTask, asked: AskedItems) -> tuple[Item, ...]:

    if not given:
        return ()
    if given.isdecimal():
        return tuple(instructed(task, asked.items, int(given)))
    items = asked_from_source(load(given)).items
    check_items(task, items)
    unknown = [item.id for item in items if not item.gold]
    if unknown:
        raise UsageError(
            f"The catch item '{unknown[0]}' has no known answer.", "Give its gold in the file."
        )
    return items


def _study(args: Namespace, settings: PersonSettings, asked: AskedItems) -> AnnotationStudy:
    from gnomon.people.page.study import AnnotationStudy, KnownPanel

    if args.completion_link and not args.completion_link.startswith(("https://", "http://")):
        raise UsageError(f"'{args.completion_link}' is not an address.", "Begin it with https://")
    panel = KnownPanel(args.panel, args.most) if args.panel else None
    return AnnotationStudy(
        asked, settings, Path(args.runs), completion=args.completion_link, panel=panel
    )


def _tell(study: AnnotationStudy, people: list[str], tokens: dict[str, str], address: str) -> None:
    """The links, for the researcher: they are not kept, so they cannot be shown again."""
    task = study.settings.task
    total = len(study.asked.items) + study.settings.repeat + len(study.settings.catch)
    minutes = max(1, round(total * task.seconds / 60))
    print(f"{task.title} ({task.kind}): {total} items, about {minutes} min for each person.")
    for person in people:
        print(f"  {person}  {_link(address, tokens.get(person, ''))}")
    if study.panel:
        name = study.panel.parameter
        more = f"&{name}={PANEL_IDS.get(name, 'ID')}"
        print(f"  panel  {_link(address, tokens[PANEL], more)}")
    print(
        inert(f"Answers go to {study.folder}. Ctrl-C ends it; the same command continues."),
        flush=True,
    )


def _tell_progress(study: AnnotationStudy, people: list[str]) -> None:
    """How far each person has come."""

    for person in people:
        folder = person_folder(study.asked, person, study.settings.task, study.folder)
        counts = Run.open(folder).counts()
        answered = f"{counts.answered + counts.unread} of {counts.items} answered"
        print(f"  {person}  {answered}, {counts.errors} skipped")


def _link(address: str, token: str, more: str = "") -> str:
    if not token:
        return "the link is known already (--set new_links=yes makes new ones)"
    return f"{address}/join?token={token}{more}"


# Label Studio instead of the page: items to a project of a server, and answers back.


def _exchange(args: Namespace, settings: PersonSettings, asked: AskedItems) -> int:
    """Push or pull."""
    from gnomon.people.labelstudio.server import LabelStudio, read_token

    _check_exchange(args)
    title = _title(args, settings, asked)
    with LabelStudio(args.label_studio, read_token(args.token_file)) as server:
        if args.push:
            _push(args, server, settings, asked, title)
        else:
            _pull(args, server, settings, asked, title)
    return 0


def _title(args: Namespace, settings: PersonSettings, asked: AskedItems) -> str:
    """The title of the project: as given, or of the items and the task."""
    from gnomon.people.labelstudio.projects import LONGEST_TITLE

    if len(args.project) > LONGEST_TITLE:
        raise UsageError(
            f"The title of a project has at most {LONGEST_TITLE} characters.", "Shorten the title."
        )
    title = args.project.strip() or f"{settings.task.kind}: {asked.name}"
    if len(title) <= LONGEST_TITLE:
        return title
    key = digest(title, digits=6)
    return f"{title[: LONGEST_TITLE - 7]} {key}"


def _check_exchange(args: Namespace) -> None:
    if not args.label_studio:
        raise UsageError("--push and --pull need a server.", "Give its address: --label-studio URL")
    if args.push and args.pull:
        raise UsageError("--push and --pull cannot be given together.", "Leave out one of them.")
    if not (args.push or args.pull):
        raise UsageError(
            "--label-studio does not say what to do.",
            "Add --push, or --pull for answers.",
        )
    if args.overlap is not None and not args.push:
        raise UsageError("overlap belongs to --push.", "Leave it out, or push again with it.")
    if args.people and args.push:
        raise UsageError(
            "--push does not choose people.", "Invite them on the server, and leave out --people."
        )
    for name in PAGE_ONLY:
        if getattr(args, name):
            raise UsageError(f"{name} belongs to the page of Gnomon.", "Leave it out.")


def _push(
    args: Namespace, server: LabelStudio, settings: PersonSettings, asked: AskedItems, title: str
) -> None:
    from gnomon.people.labelstudio.projects import push

    done = push(server, asked, settings.task, title, args.overlap)
    project = done.project
    people = f"{project.overlap} people" if project.overlap > 1 else "1 person"
    print(inert(f"{project.title}: {done.total} items, {done.new} of them new; {people} for each."))
    if done.pictures:
        print(f"{done.pictures} pictures were sent.")
    print(inert(f"People answer at {server.url}/projects/{project.id}"))
    print("The same command with --pull instead of --push brings the answers back.")


def _pull(
    args: Namespace, server: LabelStudio, settings: PersonSettings, asked: AskedItems, title: str
) -> None:
    from gnomon.people.labelstudio.pulling import pull, read_names

    names = read_names(args.people)
    done = pull(server, asked, settings, Path(args.runs), title, names)
    for person in done.people:
        print(inert(_pulled_line(person)))
    _tell_left_out(done)
    if not done.people:
        print("Nobody has answered yet.")
        return
    print(inert(f"How far they agree: gnomon people agree {args.runs}"))


def _pulled_line(person: PulledPerson) -> str:
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
