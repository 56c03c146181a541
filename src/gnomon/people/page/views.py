"""What the pages show, as plain data."""

from typing import Any

from gnomon.grouped import grouped
from gnomon.people.answering import LONGEST_COMMENT, SentResponse
from gnomon.people.page.study import AnnotationStudy, PersonDesk
from gnomon.people.tasks import Option, QuestionPart, question_of

LONG_LIST = 12  # options beyond which a list can be searched
WIDE = 34  # characters of labels that still fit side by side


def page_view(study: AnnotationStudy, desk: PersonDesk | None, **more: Any) -> dict[str, Any]:
    """What every page may show: the task, how far somebody is, and how long the rest takes.

    There is no desk yet where a panel sends somebody.
    """
    settings = study.settings
    everything = len(study.asked.items) + settings.repeat + len(settings.catch)
    left = desk.total - desk.done if desk else everything
    return {
        "title": settings.task.title,
        "task": settings.task,
        "desk": desk,
        "minutes": max(1, round(left * settings.task.seconds / 60)),
        "token": "",  # of a link that was not taken up yet
        "participant": "",
        **more,
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
    said = desk.said_at(place)
    return page_view(
        study,
        desk,
        place=place,
        question=question_of(study.settings.task, desk.slot_at(place).item),
        given=sent or said or SentResponse({}),
        saved=said is not None,
        form=token,
        problem=problem,
        longest=LONGEST_COMMENT,
        long_list=LONG_LIST,
        fits_a_row=_fits_a_row,
        by_group=_by_group,
    )


def _by_group(part: QuestionPart) -> dict[str, list[Option]]:
    return grouped(part.options, lambda option: option.group)


def _fits_a_row(part: QuestionPart) -> bool:
    longest = max((len(option.label) for option in part.options), default=0)
    return longest * len(part.options) <= WIDE * 3 and len(part.options) <= 6
