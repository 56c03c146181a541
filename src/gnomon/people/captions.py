"""From contrasts to captions: what annotators chose for two pictures becomes items to validate.

A relation that is true of one picture and false of the other gives one caption and two items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from gnomon.errors import DataError
from gnomon.items.itemfiles import ORIGIN
from gnomon.people.votes import person_of
from gnomon.records import Answer, Item

if TYPE_CHECKING:
    from gnomon.runs import Run

RULE = "people/contrast"
CHOICES = ("false", "true")


class Contrast(msgspec.Struct, frozen=True):
    """What an annotator chose."""

    relation: str
    true_of: int  # the picture of which the caption is true: 0 or 1
    subject: str
    object: str
    caption: str = ""  # as the task words it


_decode = msgspec.json.Decoder(Contrast).decode


def is_contrast(run: Run) -> bool:
    """Whether a run holds contrasts."""
    first = next((answer for _, answer in run.answers() if answer.rule), None)
    return first is not None and first.rule == RULE


def hold_contrasts(runs: Iterable[Run]) -> bool:
    """Whether runs hold contrasts; one in which nothing was answered yet does not matter."""
    begun = [run for run in runs if next(run.answers(), None) is not None]
    return bool(begun) and all(map(is_contrast, begun))


def captions_of(runs: Sequence[Run]) -> Iterator[Item]:
    """Two items for each answer; of people who made the same caption, the first is its author."""
    seen = set()
    for run in runs:
        author = person_of(run.model) or run.model
        for item, answer in run.answers():
            if answer.choice is None or answer.reply is None:
                continue
            for found in _captions(item, answer, author):
                if found.id not in seen:
                    seen.add(found.id)
                    yield found


def _captions(item: Item, answer: Answer, author: str) -> Iterator[Item]:
    try:
        chosen = _decode(answer.reply or "")
    except msgspec.MsgspecError as error:
        raise DataError(
            f"the answer of {author} to '{item.id}' is not a contrast: {error}.",
            "Give runs of the task contrast.",
        ) from None
    text = caption(item, chosen)
    names = [item.tags.get(tag, "") for tag in ("image", "image_2")]
    for place, image in enumerate(item.images):
        gold = CHOICES[place == chosen.true_of]
        tags = {
            "relation": chosen.relation,
            "subj": chosen.subject,
            "obj": chosen.object,
            "annotator": author,
            "pair": item.id,
            "image": names[place] or image.identity,
            "task": "validate",
        }
        yield Item(
            id=f"{item.id}/{place}/{text.strip(' .').replace(' ', '_')}",
            form="caption",
            text=text,
            choices=CHOICES,
            gold=(gold,),
            group=text,
            tags={**_origin(item), **tags},
            images=(image,),
        )


def caption(item: Item, chosen: Contrast) -> str:
    """The caption; relations that are verbs stand without "is" (VSR, section 2.1)."""
    if chosen.caption:
        return chosen.caption
    without = item.tags.get("without_is", "").split(", ")
    verb = chosen.relation if chosen.relation in without else f"is {chosen.relation}"
    return f"The {chosen.subject} {verb} the {chosen.object}."


def _origin(item: Item) -> dict[str, str]:
    """The benchmark whose items the captions are, where the pairs say it."""
    found = item.tags.get("captions")
    return {ORIGIN: found} if found else {}
