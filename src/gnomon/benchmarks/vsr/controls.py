"""Controls: is a thing in the picture at all? They tell not seeing from not knowing where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from gnomon.benchmarks.vsr import wording
from gnomon.benchmarks.vsr.categories import CHOICES
from gnomon.benchmarks.vsr.quads import Quad
from gnomon.benchmarks.vsr.showing import several_role, shown, truth_word
from gnomon.records import Item
from gnomon.scenes.things import things

RELATION, CATEGORY = "there is", "Recognition"  # of a control


def control_items(quad: Quad, absent: Sequence[str], form: str, size: int) -> Iterator[Item]:
    """Of each picture one statement that is true and one that is not."""
    several = several_role(quad)
    present = ((quad.subject, several == "subject"), (quad.ground, several == "ground"))
    for picture in (0, 1):
        name, many = present[picture]
        asked = ((name, many, True), (absent[picture], False, False))
        for thing, plural, true in asked:
            fact = f"{quad.id}/{picture + 1}/{thing.replace(' ', '_')}"
            item = Item(
                id=fact,
                form="caption",
                text=wording.presence(thing, several=plural),
                choices=CHOICES,
                gold=(truth_word(true),),
                group=f"{quad.id}/control",
                tags={
                    "control": "yes",
                    "relation": RELATION,
                    "category": CATEGORY,
                    "subj": thing,
                    "obj": thing,  # one thing alone is spoken of
                    "fact": fact,
                },
            )
            yield shown(item, quad, picture, form, size)


def absent_things(quads: Sequence[Quad], seed: int) -> list[tuple[str, str]]:
    """For each picture a thing that is not in it; each as often as in the true statements."""
    rng = Random(f"controls {seed}")
    names = []
    for quad in quads:
        names += [quad.subject, quad.ground]
    rng.shuffle(names)
    for slot in range(len(names)):
        if _is_absent(quads, slot, names[slot]):
            continue
        for other in range(len(names)):
            fits = _is_absent(quads, slot, names[other]) and _is_absent(quads, other, names[slot])
            if fits:
                names[slot], names[other] = names[other], names[slot]
                break
        else:  # too few quads to change with
            names[slot] = rng.choice([name for name in things() if _is_absent(quads, slot, name)])
    return list(zip(names[::2], names[1::2], strict=True))


def _is_absent(quads: Sequence[Quad], slot: int, name: str) -> bool:
    """Whether a picture, two to a quad, has no such thing and could have it."""
    scene = quads[slot // 2].scenes[slot % 2]
    if any(placed.thing == name for placed in scene.things):
        return False
    return things()[name].place in (scene.place, "both")
