"""Ask people: a page on this machine with one item at a time, and a personal link for each person.

examples:
  gnomon people ask scales --people ann,ben --limit 40
  gnomon people ask spacenli --task scale --people ann,ben,cleo --limit 60 --repeat 6 --catch 4
  gnomon people ask captions.jsonl --task validate --people ann,ben --ask-frame
  gnomon people ask pairs.jsonl --task contrast --people ann
  gnomon people ask runs/posrel-fresh--synth-render--0123456789abcdef --task picture
    --people ann,ben
  gnomon people ask scales --panel PROLIFIC_PID --most 30 --limit 40 --address https://lab.example
    --completion-link https://app.prolific.com/submissions/complete?cc=CODE
  gnomon people ask captions.jsonl --task validate --label-studio https://label.example --push
    --overlap 3
  gnomon people ask captions.jsonl --task validate --label-studio https://label.example --pull
    --people ann=3,ben=5

Tasks: choose (one of the choices), scale (five points from contradiction to entailment), validate
(a caption, true or false), contrast (a relation that is true in one of two pictures), picture (what
a painted picture shows); or a file of your own. docs/people.md says what to tell people.

People's answers are ordinary runs (people:NAME), on disk before the next item shows. Stop with
Ctrl-C; the same command continues, and links stay valid. Names are pseudonyms that you choose.

With --label-studio people answer there: --push sends what is not there yet, and --pull brings
answers back, each as often as you like. The token comes from LABEL_STUDIO_API_KEY or --token-file.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli.options import item_arguments
from gnomon.errors import UsageError, inert

if TYPE_CHECKING:
    from gnomon.people.answering import AskedItems, PersonSettings
    from gnomon.people.labelstudio.pulling import Pulled, PulledPerson
    from gnomon.people.labelstudio.server import LabelStudio
    from gnomon.people.page.study import AnnotationStudy
    from gnomon.people.tasks import AnnotationTask
    from gnomon.records import Item


PAGE_ONLY = ("repeat", "catch", "panel", "address", "completion_link", "new_links", "order_seed")
PANEL = ""  # stands for the name of the panel among those of people
PANEL_IDS = {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}  # what a panel puts in the place of the id


def arguments(parser: ArgumentParser) -> None:
    """Add the options of `gnomon people ask`."""
    parser.add_argument(
        "what",
        metavar="BENCHMARK|ITEMS|RUN",
        help="NAME, NAME@fresh or NAME@published; a file of items; a run with painted pictures",
    )
    parser.add_argument(
        "--task",
        default="choose",
        metavar="TASK",
        help="choose, scale, validate, contrast, picture, or a YAML file (default: choose)",
    )
    parser.add_argument(
        "--people",
        default="",
        metavar="A,B",
        help="who is asked: pseudonyms with commas between; with --pull, NAME=ID for users by id",
    )
    parser.add_argument(
        "--limit", type=int, metavar="N", help="at most N items, spread evenly over all"
    )
    parser.add_argument(
        "--runs", default="runs", metavar="DIR", help="where runs are kept (default: runs)"
    )
    _add_order_arguments(parser)
    _add_page_arguments(parser)
    _add_label_studio_arguments(parser)
    item_arguments(parser)


def _add_order_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("what each person meets")
    group.add_argument(
        "--repeat",
        type=int,
        default=0,
        metavar="N",
        help="show N items a second time, to measure self-agreement",
    )
    group.add_argument(
        "--catch",
        default="",
        metavar="FILE|N",
        help="mix in items with known answers, or N that say what to choose, to measure attention",
    )
    group.add_argument(
        "--order-seed", type=int, default=0, metavar="S", help="another order for everybody"
    )
    group.add_argument(
        "--ask-frame",
        action="store_true",
        help="validate: also ask from which point of view left, right and front were judged",
    )


def _add_page_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("the page")
    group.add_argument(
        "--port",
        type=int,
        default=8766,
        metavar="P",
        help="the port (default: 8766; 0 takes a free one)",
    )
    group.add_argument(
        "--host", default="127.0.0.1", help="the address to listen at (default: 127.0.0.1)"
    )
    group.add_argument(
        "--allow-remote", action="store_true", help="listen beyond this machine, with --host"
    )
    group.add_argument(
        "--address",
        default="",
        metavar="URL",
        help="the address that people use, if a server with TLS stands before this one",
    )
    group.add_argument(
        "--new-links", action="store_true", help="make new links; the old ones stop working"
    )
    group.add_argument(
        "--panel",
        default="",
        metavar="PARAMETER",
        help="one link for a panel, whose address holds each participant's id: PROLIFIC_PID",
    )
    group.add_argument(
        "--most", type=int, default=100, metavar="N", help="people of the panel (default: 100)"
    )
    group.add_argument(
        "--completion-link", default="", metavar="URL", help="where people go when all is done"
    )


def _add_label_studio_arguments(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("Label Studio instead of the page")
    group.add_argument(
        "--label-studio", default="", metavar="URL", help="the server, as a browser shows it"
    )
    way = group.add_mutually_exclusive_group()
    way.add_argument("--push", action="store_true", help="send the items that are not there yet")
    way.add_argument("--pull", action="store_true", help="bring people's answers into runs")
    group.add_argument(
        "--overlap",
        type=int,
        metavar="N",
        help="with --push: how many people see each item (default: 1, or as it is there)",
    )
    group.add_argument(
        "--project", default="", metavar="TITLE", help="the project (default: items and task)"
    )
    group.add_argument(
        "--token-file",
        default="",
        metavar="FILE",
        help="the file with the token (default: the variable LABEL_STUDIO_API_KEY)",
    )


def ask(args: Namespace) -> int:
    """Serve until interrupted, or exchange with Label Studio."""
    if args.label_studio or args.push or args.pull:
        return _exchange(args, *_settings(args))
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
    from gnomon.people.answering import check_name

    names = [name.strip() for name in args.people.split(",") if name.strip()]
    if not names and not args.panel:
        raise UsageError("Nobody is named.", "Give pseudonyms: --people ann,ben")
    for name in names:
        check_name(name)
    if len(set(names)) < len(names):
        raise UsageError("Two people have the same name.", "Give each a pseudonym of their own.")
    return names


def _settings(args: Namespace) -> tuple[PersonSettings, AskedItems]:
    from gnomon.people.answering import PersonSettings
    from gnomon.people.order import most_repeats
    from gnomon.people.tasks import check_items, task_named

    if args.repeat < 0:
        raise UsageError("--repeat must be 0 or more.", "Give how many items come twice.")
    task = task_named(args.task, ask_frame=args.ask_frame)
    asked = _asked(args)
    check_items(task, asked.items)
    total = len(asked.items)
    most = most_repeats(total)
    if args.repeat > most:
        raise UsageError(
            f"--repeat {args.repeat} is too many: of {total} items {most} can come twice.",
            "A repeat comes at least half the set after its item. Give fewer, or more items.",
        )
    catch = _catch_items(args.catch, task, asked)
    return PersonSettings(task, args.order_seed, args.repeat, catch), asked


def _asked(args: Namespace) -> AskedItems:
    """The items: of a benchmark, of a file, or the painted pictures of a run."""
    from gnomon.cli.options import chosen_sources
    from gnomon.people.answering import asked_from_painted, asked_from_source
    from gnomon.runs import MANIFEST, Run

    if args.limit is not None and args.limit < 1:
        raise UsageError("--limit must be 1 or more.", "Leave it out for all items.")
    if (Path(args.what) / MANIFEST).is_file():
        return asked_from_painted(Run.open(args.what), args.limit)
    source = chosen_sources(args, [args.what])[0]
    return asked_from_source(source.limited(args.limit))


def _catch_items(given: str, task: AnnotationTask, asked: AskedItems) -> tuple[Item, ...]:
    from gnomon.items.source import load
    from gnomon.people.answering import asked_from_source
    from gnomon.people.order import instructed
    from gnomon.people.tasks import check_items

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
    from gnomon.people.answering import person_folder
    from gnomon.runs import Run

    for person in people:
        folder = person_folder(study.asked, person, study.settings.task, study.folder)
        counts = Run.open(folder).counts()
        answered = f"{counts.answered + counts.unread} of {counts.items} answered"
        print(f"  {person}  {answered}, {counts.errors} skipped")


def _link(address: str, token: str, more: str = "") -> str:
    if not token:
        return "the link is known already (--new-links makes new ones)"
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


def _check_exchange(args: Namespace) -> None:
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
