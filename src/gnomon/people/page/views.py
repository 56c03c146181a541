"""What the pages show, as plain data."""

from __future__ import annotations

from typing import Any

from gnomon.grouped import grouped
from gnomon.people.answering import LONGEST_COMMENT
from gnomon.people.page.study import AnnotationStudy, PersonDesk, SentResponse
from gnomon.people.taskfile import AnnotationTask
from gnomon.people.tasks import QuestionPart, question_of

LONG_LIST = 12  # options beyond which a list can be searched
WIDE = 34  # characters of labels that still fit side by side


def welcome_view(
    study: AnnotationStudy, desk: PersonDesk | None, token: str, participant: str = ""
) -> dict[str, Any]:
    """The page that a link opens."""
    progress = _progress(desk) if desk else {"done": 0, "total": 0}
    return {
        **_frame(study.settings.task),
        **progress,
        "minutes": _minutes(study, desk),
        "token": token,
        "participant": participant,
        "onward": "",
        "skipped": [],
    }


def start_view(study: AnnotationStudy, desk: PersonDesk) -> dict[str, Any]:
    """The page on which one pauses."""
    place = desk.next_place()
    onward = f"/p/{desk.link.key}/done"
    if place is not None:
        onward = _address(desk, place)
    return {
        **_frame(study.settings.task),
        **_progress(desk),
        "minutes": _minutes(study, desk),
        "token": "",
        "participant": "",
        "onward": onward,
        "skipped": _skipped(desk),
    }


def done_view(study: AnnotationStudy, desk: PersonDesk) -> dict[str, Any]:
    """The page at the end."""
    return {
        **_frame(study.settings.task),
        **_progress(desk),
        "completion": study.completion,
        "skipped": _skipped(desk),
        "last": _address(desk, desk.total - 1),
    }


def item_view(
    study: AnnotationStudy,
    desk: PersonDesk,
    place: int,
    token: str,
    *,
    sent: SentResponse | None = None,
    problem: str = "",
) -> dict[str, Any]:
    """One item: all of it that a browser ever gets."""
    task = study.settings.task
    slot = desk.slot_at(place)
    question = question_of(task, slot.item)
    said = desk.said_at(place)
    given = sent or said
    response = dict(given.response) if given else {}
    here = f"/p/{desk.link.key}"
    pictures = []
    for number, name in enumerate(question.pictures):
        address = f"{here}/picture/{desk.id_at(place)}/{number}"
        pictures.append({"name": name, "address": address})
    return {
        **_frame(task),
        **_progress(desk),
        "number": place + 1,
        "here": _address(desk, place),
        "pause": f"{here}/",
        "back": _address(desk, place - 1) if place else "",
        "forward": _address(desk, place + 1) if said and place + 1 < desk.total else "",
        "question": question,
        "pictures": pictures,
        "parts": [_part_view(part, response) for part in question.parts],
        "reasons": task.skip,
        "skipped": given.skipped if given else "",
        "comment": given.comment if given else "",
        "longest": LONGEST_COMMENT,
        "form": token,
        "problem": problem,
        "saved": said is not None,
    }


def _part_view(part: QuestionPart, response: dict[str, str]) -> dict[str, Any]:
    groups = grouped(part.options, lambda option: option.group)
    needs = " ".join(f"{name}={value}" for name, value in part.needs)
    return {
        "name": part.name,
        "ask": part.ask,
        "optional": part.optional,
        "groups": groups,
        "needs": needs,
        "given": response.get(part.name, ""),
        "long": len(part.options) > LONG_LIST,
        "row": _fits_a_row(part),
        "makes_sentence": any(option.said for option in part.options),
    }


def _fits_a_row(part: QuestionPart) -> bool:
    longest = max(len(option.label) for option in part.options)
    return longest * len(part.options) <= WIDE * 3 and len(part.options) <= 6


def _frame(task: AnnotationTask) -> dict[str, Any]:
    return {
        "title": task.title,
        "instructions": task.instructions,
        "rule": task.frame.note if task.frame else "",
    }


def _progress(desk: PersonDesk) -> dict[str, Any]:
    return {"done": desk.done, "total": desk.total}


def _minutes(study: AnnotationStudy, desk: PersonDesk | None) -> int:
    """About how long the rest takes."""
    settings = study.settings
    everything = len(study.asked.items) + settings.repeat + len(settings.catch)
    left = desk.total - desk.done if desk else everything
    return max(1, round(left * settings.task.seconds / 60))


def _skipped(desk: PersonDesk) -> list[dict[str, Any]]:
    found = []
    for place in desk.skipped_places():
        found.append({"number": place + 1, "address": _address(desk, place)})
    return found


def _address(desk: PersonDesk, place: int) -> str:
    return f"/p/{desk.link.key}/item/{desk.id_at(place)}"
