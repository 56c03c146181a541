"""One world and several eyes: questions with exact truth, in matched sets.

Each kind of question is made in sets in which nothing but the asked fact differs
(gnomon.scenes.views); a fact can be asked with pictures, in words, or with a plan.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gnomon.benchmarks.descriptions import described
from gnomon.benchmarks.illustrating import draw_pictures, draw_plans
from gnomon.contracts import Listing
from gnomon.errors import UsageError
from gnomon.grouped import grouped
from gnomon.options import several
from gnomon.records import Item
from gnomon.scenes.pictures import check_size
from gnomon.scenes.scenes import Scene
from gnomon.scenes.views import KINDS, WAYS, ViewItem, check_dials, matched_set, set_items
from gnomon.scenes.worlds import PlanView, ViewDials, view_words

FACTS = 600
PROBED = "person"  # the kind whose frame can be left open


def fresh(
    *,
    seed: int = 0,
    facts: int = FACTS,
    kinds: str = "",
    ways: str = "picture",
    things: int = 0,
    angle: int = 0,
    ratio: float = 0.0,
    frames: str = "stated",
    size: int = 384,
) -> Iterator[Item]:
    """Matched sets of questions about worlds with several cameras.

    seed     draws worlds, cameras and questions
    facts    about how many; every kind gets as many
    kinds    motion, person, stand, distance, far-up, same, plan, sight, route, count, joint, with
             commas between them; else all
    ways     picture, words, plan, with commas between them: how each fact is shown, as far as that
             makes sense; a fact has the same tag `fact` in all of them
    things   how many things stand in a world, 3 to 8; else it varies
    angle    degrees between two cameras, or by which a shape is turned, 10 to 180; else it varies
    ratio    of two distances that are compared, 1.25 to 3; else it varies
    frames   stated (the question says whose left and right), or probe: the kind person alone, once
             with the frame left open and once with each frame
    size     pixels of a picture's side
    """
    for each in asked_sets(**locals()):
        yield from (made.item for made in each)


def asked_sets(
    *,
    seed: int,
    facts: int,
    kinds: str,
    ways: str,
    things: int,
    angle: int,
    ratio: float,
    frames: str,
    size: int,
    **_: Any,
) -> Iterator[list[ViewItem]]:
    """Matched sets, the kinds in turn, each until it has its share of the facts."""
    dials = ViewDials(things, angle, ratio, frames)
    check_dials(dials)
    check_size(size)
    if facts < 1:
        raise UsageError(f"There must be 1 fact or more, not {facts}.", "Give --set facts=600.")
    chosen = several(kinds, KINDS, "kind of question")
    if frames == "probe":
        chosen = several(kinds or PROBED, (PROBED,), "kind with several frames")
    shown = several(ways, WAYS, "way of asking")
    sizes = {kind: int(view_words()["kinds"][kind]["items"]) for kind in chosen}
    wanted = {kind: max(1, round(facts / len(chosen) / sizes[kind])) for kind in chosen}
    for number in range(max(wanted.values())):
        for kind in chosen:
            if number >= wanted[kind]:
                continue
            questions = matched_set(seed, kind, number, dials)
            found: list[ViewItem] = []
            for way in shown:
                found += set_items(kind, questions, way, size)
            yield found


def illustrate(items: Iterable[Item], **options: Any) -> Iterator[Item]:
    """Draw the pictures and plans of items, if they have any."""
    chosen = list(items)
    missing = {image.path for item in chosen for image in item.images}
    if not missing:
        yield from chosen
        return
    plans: dict[str, Scene] = {}
    scenes: dict[str, Scene] = {}
    for each in asked_sets(**options):
        for made in each:
            for name, shown in made.shows.items():
                if isinstance(shown, PlanView):
                    plans[name] = shown.scene
                scenes[name] = shown.scene if isinstance(shown, PlanView) else shown
        missing -= scenes.keys()
        if not missing:
            break
    draw_plans(chosen, plans, size=options["size"], folder=options.get("folder"))
    yield from draw_pictures(chosen, scenes, **options)


def statistics(items: Sequence[Item]) -> list[Listing]:
    """How often each answer is right, by kind."""
    rows: list[tuple[str, str, int]] = []
    for kind, mine in grouped(items, lambda item: item.tags["kind"]).items():
        for gold, some in grouped(mine, lambda item: item.gold[0]).items():
            if mine[0].choices and len(rows) < 200:
                rows.append((kind, gold, len(some)))
    return [Listing("Right answers by kind of question", ("kind", "answer", "items"), tuple(rows))]


VIEWS = described(
    "views",
    "views",
    sources={"fresh": fresh},
    statistics=statistics,
    illustrators={"fresh": illustrate},
)
