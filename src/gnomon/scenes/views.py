"""Fresh worlds and the questions that can be asked of them: `ViewWorld(seed).ask(kind)`.

A kind is a function that tries to make one matched set of questions; what is not clear to every eye
is given up, and another world is tried.
"""

from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError, UsageError, check_known
from gnomon.records import Image, Item, digest
from gnomon.scenes import depth, matching, perspective
from gnomon.scenes.drawing import EDITION, picture_name
from gnomon.scenes.pictures import paint
from gnomon.scenes.scenes import Scene, to_json
from gnomon.scenes.sight import sight
from gnomon.scenes.sketches import plan_pixels
from gnomon.scenes.worlds import (
    PlanView,
    Shown,
    ViewDials,
    ViewQuestion,
    in_words,
    plan_legend,
    view_words,
)

MOST_TRIES = 400  # worlds that are tried for a set of questions
SIZE = 384  # pixels of a picture's side
WAYS = ("picture", "words", "plan")
FRAMES = ("stated", "probe")
WITHOUT_PLAN = ("far-up", "sight", "count")  # what a plan would give away, or cannot show

Make = Callable[[Random, ViewDials, int], list[ViewQuestion] | None]
KINDS: dict[str, Make] = {
    "motion": depth.motion,
    "person": perspective.person,
    "stand": perspective.stand,
    "distance": depth.distance,
    "far-up": depth.far_up,
    "same": matching.same,
    "plan": matching.plan,
    "sight": sight,
    "route": perspective.route,
    "count": depth.count,
    "joint": matching.joint,
}


class ViewItem(NamedTuple):
    """An item, and what its pictures show, by their names."""

    item: Item
    shows: dict[str, Shown]

    def pictures(self) -> list[NDArray[np.uint8]]:
        """The pixels of its pictures and plans, in the order in which they are shown."""
        found = []
        for image in self.item.images:
            shown = self.shows[image.path]
            if isinstance(shown, PlanView):
                found.append(plan_pixels(shown.scene, image.width))
            else:
                found.append(paint(shown, image.width))
        return found


class ViewWorld:
    """A fresh world: the same seed gives the same questions in every process.

    >>> asked = ViewWorld(7).ask("person")
    >>> len(asked), asked[0].item.choices
    (8, ('left', 'right'))
    """

    def __init__(self, seed: int, dials: ViewDials | None = None, *, size: int = SIZE) -> None:
        self.seed, self.dials, self.size = seed, dials or ViewDials(), size
        check_dials(self.dials)

    def ask(self, kind: str, way: str = "picture") -> list[ViewItem]:
        """A matched set of questions of a kind: with pictures, in words, or with a plan."""
        check_known("kind of question", kind, KINDS)
        check_known("way of asking", way, WAYS)
        questions = matched_set(0, kind, self.seed, self.dials)
        return set_items(kind, questions, way, self.size)


def check_dials(dials: ViewDials) -> None:
    """Refuse what no world can have."""
    check_known("choice of frames", dials.frames, FRAMES)
    if dials.things and not 3 <= dials.things <= 8:
        raise UsageError(f"A world of {dials.things} things.", "Give --set things=3 to 8.")
    if dials.angle and not 10 <= dials.angle <= 180:
        raise UsageError(f"An angle of {dials.angle} degrees.", "Give --set angle=10 to 180.")
    if dials.ratio and not 1.25 <= dials.ratio <= 3:
        raise UsageError(f"A ratio of {dials.ratio:g}.", "Give --set ratio=1.25 to 3.")


@lru_cache(maxsize=4096)
def matched_set(seed: int, kind: str, number: int, dials: ViewDials) -> tuple[ViewQuestion, ...]:
    """The questions of one set, in a random order; the same for the same numbers."""
    for attempt in range(MOST_TRIES):
        rng = Random(f"{seed}/{kind}/{number}/{attempt}")
        questions = KINDS[kind](rng, dials, number)
        if questions:
            rng.shuffle(questions)
            return tuple(questions)
    raise DataError(
        f"no world was found for the kind '{kind}'.", "Ask for fewer things, or leave dials out."
    )


def set_items(
    kind: str, questions: tuple[ViewQuestion, ...], way: str, size: int
) -> list[ViewItem]:
    """The items of a matched set, asked in one way; empty if it cannot be asked so."""
    names = []
    for question in questions:
        names += [shown_name(shown, size) for shown in question.shows]
    group = f"{kind}/{digest(*sorted(set(names)))}"
    found = []
    for question in questions:
        item = _item(kind, question, way, size, group)
        if item is not None:
            found.append(item)
    return found


def _item(kind: str, question: ViewQuestion, way: str, size: int, group: str) -> ViewItem | None:
    if way == "plan" and (question.scene is None or kind in WITHOUT_PLAN):
        return None
    if way == "words" and question.scene is None and not question.context:
        return None
    shows = question.shows
    text, context = question.text, ""
    if way == "plan" and question.scene is not None:
        shows = (PlanView(question.scene),)
        context = f"The picture is a plan of a place from above. {plan_legend(question.scene)}"
    names = [shown_name(shown, size) for shown in shows]
    fact = f"{kind}/{digest(question.text, *(shown_name(shown, size) for shown in question.shows))}"
    if way == "words":
        names, shows = [], ()
        text = question.text_in_words or text
        context = question.context or _described(question.scene, fact)
    item = Item(
        id=fact if way == "picture" else f"{fact}/{way}",
        form="choice" if question.choices else "number",
        text=text,
        context=context,
        choices=question.choices,
        gold=(question.gold,),
        group=group,
        tags=_tags(kind, question, way, fact),
        images=tuple(Image(path=name, width=size, height=size) for name in names),
    )
    return ViewItem(item, dict(zip(names, shows, strict=True)))


def _described(scene: Scene | None, fact: str) -> str:
    if scene is None:
        return ""
    return in_words(scene, int(digest(fact), 16))


def _tags(kind: str, question: ViewQuestion, way: str, fact: str) -> dict[str, str]:
    shown = question.shows[0]
    scene = shown.scene if isinstance(shown, PlanView) else shown
    rule = {"rule": view_words()["rules"][kind]} if "cue" in question.tags else {}
    return {
        "kind": kind,
        "capability": view_words()["kinds"][kind]["capability"],
        "way": way,
        "fact": fact,
        "things": str(len(scene.things)),
        **question.tags,
        **rule,
    }


def shown_name(shown: Shown, size: int) -> str:
    """The name of a picture's file, or of a plan's."""
    if isinstance(shown, PlanView):
        return f"{digest('plan', EDITION, to_json(shown.scene), str(size), digits=20)}.png"
    return picture_name(shown, size)
