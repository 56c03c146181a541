"""How large things are in drawn pictures: with the words of a relation it must tell nothing.

A near thing and a far one that are drawn in different sizes, or fill another share of the picture,
give an answer away to one who does not look where they are.
"""

from functools import lru_cache
from math import log2

from gnomon.audit.sets import AuditItem
from gnomon.scenes.pictures import PictureSurvey, scene_in, survey

SIDE = 96  # pixels of a survey
STEPS = 2  # signs for each doubling of a size


def sizes_by_relation(question: AuditItem) -> list[str]:
    """The relation with each size: of what is asked about, of all things, and what they fill.

    Empty for a picture beside which no scene lies, and for one without a relation.
    """
    tags = question.item.tags
    relation, asked = tags.get("relation"), (tags.get("subj"), tags.get("obj"))
    if not relation or not question.item.images or not all(asked):
        return []
    found = []
    for name, size in _sizes(question.item.images[0].path, *asked):
        found.append(f"{relation}, {name} {round(STEPS * log2(size))}")
    return found


@lru_cache(maxsize=10_000)
def _sizes(picture: str, *asked: str) -> list[tuple[str, float]]:
    """Sizes in pixels, by what they are of."""
    scene = scene_in(picture)
    if scene is None:
        return []
    seen = survey(scene, SIDE)
    found = [("filled", float((seen.mask > 0).sum()) + 1)]
    every = [placed.id for placed in scene.things]
    groups = {"all things": every}
    for role, name in zip(("subject", "object"), asked, strict=True):
        groups[role] = [placed.id for placed in scene.things if placed.thing == name]
    for name, ids in groups.items():
        found += _sides(seen, name, ids)
    return found


def _sides(seen: PictureSurvey, name: str, ids: list[str]) -> list[tuple[str, float]]:
    boxes = [box for id in ids if (box := seen.boxes[id])]
    if not boxes:
        return []
    left, top, right, bottom = zip(*boxes, strict=True)
    width, height = max(right) - min(left), max(bottom) - min(top)
    return [(f"width of {name}", width), (f"height of {name}", height)]
