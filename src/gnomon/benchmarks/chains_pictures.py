"""Chains as pictures: the things of a story stand on a floor, and a caption says what follows.

A story of left, right, behind and in front is arranged at random such that every fact holds and no
two things are level; a caption is true of the arrangement of one story and false of that of its
twin. What is hidden, or not clear to the viewer, is arranged again.
"""

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

from gnomon.errors import UsageError
from gnomon.files import package_data, read_yaml
from gnomon.proofs.chainfacts import ChainFact, Story
from gnomon.proofs.chains import Trio, make_trio
from gnomon.records import Image, Item, digest
from gnomon.scenes.drawing import picture_name
from gnomon.scenes.pictures import check_size, is_seen, viewer_of
from gnomon.scenes.relations import decide
from gnomon.scenes.scenes import Placed, Scene

MOST_HOPS, MOST_DISTRACTORS = 4, 2  # more things hide one another
WORDS = {"left": "left of", "right": "right of", "above": "behind", "below": "in front of"}
AXES = {"left": (0, -1), "right": (0, 1), "above": (1, 1), "below": (1, -1)}  # axis, direction
SPACING = 0.75  # metres between two ranks
ARRANGEMENTS = 60  # that are tried for a story
TRIOS = 40  # that are tried for a pair of pictures
MOST_HIDDEN, LEAST_PIXELS = 0.4, 20  # of a thing: share that others hide; of the survey's picture


def pictured(
    *, seed: int, stories: int, hops: list[int], distractors: list[int], size: int
) -> Iterator[tuple[Item, Scene]]:
    """Pairs of pictures with the same caption, true of one and false of the other."""
    check_size(size)
    if hops[-1] > MOST_HOPS or distractors[-1] > MOST_DISTRACTORS:
        raise UsageError(
            f"A picture has at most {MOST_HOPS} hops and {MOST_DISTRACTORS} distractors.",
            f"Give --set hops=1-{MOST_HOPS} --set distractors={MOST_DISTRACTORS}.",
        )
    if hops[0] == 1 and not distractors[0]:
        raise UsageError(
            "Chains of 1 hop need a distractor.", "Give --set hops=2 or --set distractors=1."
        )
    for number in range(stories):
        random = Random(f"{seed}/{number}/pictures")
        steps = hops[number % len(hops)]
        others = distractors[number // len(hops) % len(distractors)]
        yield from _pair(steps, others, size, random)


@cache
def pictured_things() -> list[str]:
    """What has no front, so that everybody's left and right are the viewer's."""
    things: list[str] = read_yaml(package_data("chains.yaml"))["pictured"]
    return things


def _pair(hops: int, distractors: int, size: int, random: Random) -> Iterator[tuple[Item, Scene]]:
    for _ in range(TRIOS):
        trio = make_trio("four", hops, distractors, random)
        assert trio is not None
        things = random.sample(pictured_things(), hops + distractors + 1)
        look = random.randrange(1000)
        shown = []
        for truth in (True, False):
            story = trio.stories["yes" if truth else "no"]
            scene = _scene(story, trio.question, truth, things, look, random)
            if scene is not None:
                shown.append((truth, scene))
        if len(shown) == 2:
            yield from _items(trio, things, size, shown)
            return
    raise UsageError(
        f"No picture was found for a chain of {hops} hops.", "Ask for fewer hops or distractors."
    )


def _items(
    trio: Trio, things: list[str], size: int, shown: list[tuple[bool, Scene]]
) -> Iterator[tuple[Item, Scene]]:
    relation = WORDS[trio.question.relation]
    subject, ground = things[trio.question.first], things[trio.question.second]
    names = [picture_name(scene, size) for _, scene in shown]
    group = f"picture/{trio.hops}/{digest(*names)}"
    for name, (truth, scene) in zip(names, shown, strict=True):
        tags = {
            "hops": str(trio.hops),
            "distractors": str(len(trio.stories["yes"]) - trio.hops),
            "directions": "four",
            "relation": relation,
            "person": "third",
            "naming": "things",
            "subj": subject,
            "obj": ground,
        }
        item = Item(
            id=f"picture/{trio.hops}/{digest(name, relation, subject, ground)}",
            form="caption",
            text=f"The {subject} is {relation} the {ground}.",
            choices=("true", "false"),
            gold=("true" if truth else "false",),
            group=group,
            tags=tags,
            images=(Image(path=name, width=size, height=size),),
        )
        yield item, scene


def _scene(
    story: Story, question: ChainFact, truth: bool, things: list[str], look: int, random: Random
) -> Scene | None:
    """A floor with the things, on which the story holds and the caption is clear."""
    for _ in range(ARRANGEMENTS):
        ranks = _ranked(story, 0, len(things), random), _ranked(story, 1, len(things), random)
        placed = []
        for thing, name in enumerate(things):
            spot = (SPACING * ranks[0][thing], SPACING * ranks[1][thing], 0.0)
            placed.append(Placed(id=name, thing=name, at=spot))
        viewer = viewer_of(placed, above=random.uniform(24, 34))
        scene = Scene(things=tuple(placed), viewer=viewer, look=look)
        clear = _is_clear(scene, question, truth, things)
        if clear and is_seen(scene, MOST_HIDDEN, LEAST_PIXELS):
            return scene
    return None


def _ranked(story: Story, axis: int, count: int, random: Random) -> list[int]:
    """A place for each thing on one axis, all different, in an order that the story allows."""
    before: dict[int, set[int]] = {thing: set() for thing in range(count)}
    for fact in story:
        along, direction = AXES[fact.relation]
        if along == axis:
            first, second = fact.first, fact.second
            if direction > 0:
                first, second = second, first
            before[second].add(first)
    ranks = [0] * count
    for rank in range(count):
        free = [thing for thing, others in before.items() if not others]
        chosen = random.choice(free)
        ranks[chosen] = rank
        del before[chosen]
        for others in before.values():
            others.discard(chosen)
    return ranks


def _is_clear(scene: Scene, question: ChainFact, truth: bool, things: list[str]) -> bool:
    subject, ground = things[question.first], things[question.second]
    return decide(scene, subject, WORDS[question.relation], ground).truth is truth


def scenes_of(**options: Any) -> dict[str, Scene]:
    """The scenes of pictures, by the names of their files."""
    return {item.images[0].path: scene for item, scene in pictured(**options)}
