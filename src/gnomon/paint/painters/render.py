"""Our own renderer as a painter: exact pictures of what is right, with all that is known of them.

It reads the right answer of an item, and so measures judges, not painters: whoever misjudges its
pictures would misjudge those of a real one.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np
from msgspec.structs import replace

from gnomon.errors import check_known, check_no_name
from gnomon.files import package_data
from gnomon.paint.factory import as_model
from gnomon.paint.painters.stages import FIRST, SECOND, stage
from gnomon.paint.records import (
    Made,
    OneByOne,
    PaintedPicture,
    PaintRequest,
    PaintTrouble,
    TrueThing,
    Truth,
    asked_of,
)
from gnomon.records import Item, digest
from gnomon.scenes import drawing
from gnomon.scenes.bodies import Body
from gnomon.scenes.pictures import PictureSurvey, check_size, paint, png, survey
from gnomon.scenes.scenes import Scene
from gnomon.vision.detection import Box

EDITION = "3"  # to be raised when the same item is drawn as another scene
LOOKS = ("shapes", "meshes")
LEAST_SEEN = 4  # pixels of a thing that counts as in the picture


@as_model
def render(name: str, *, size: int = 256, look: str = "shapes") -> Renderer:
    """Scenes of everyday things in which the item's right answer is true.

    size       pixels of a picture's side
    look       shapes, or meshes: things with models, where there are any (gnomon data get things)
    """
    check_no_name("synth:render", name)
    check_size(size)
    check_known("look", look, LOOKS)
    return Renderer(size, meshes=look == "meshes")


class Renderer(OneByOne):
    """Paints what is right."""

    spec = "synth:render"
    batch = 16

    def __init__(self, size: int, *, meshes: bool = False) -> None:
        self.size, self.meshes = size, meshes

    def describe(self) -> dict[str, Any]:
        """What determines the pictures."""
        look = "meshes" if self.meshes else "shapes"
        return {"size": self.size, "look": look, "edition": edition()}

    def paint_one(self, request: PaintRequest) -> Made:
        """The picture of a request, or why there is none."""
        if len(request.item.gold) != 1:
            return PaintTrouble("the renderer needs an item with one right answer")
        gold = request.item.gold[0]
        return picture_of(request.item, gold, request.seed, self.size, meshes=self.meshes)


@cache
def edition() -> str:
    """What determines how items are drawn: data of things, their sizes, the code's edition."""
    sizes = package_data("synthesis/sizes.yaml").read_text(encoding="utf-8")
    return digest(drawing.EDITION, EDITION, sizes)


def picture_of(
    item: Item, choice: str, seed: int, size: int = 256, *, meshes: bool = False
) -> Made:
    """A picture that shows one of an item's choices, the right one or another."""
    asked = asked_of(item)
    if asked is None or choice not in item.choices:
        return PaintTrouble("the renderer needs an item with two things and choices")
    staged = stage(asked, choice, seed)
    if staged.scene is None:
        return PaintTrouble(staged.trouble)
    together = survey(staged.scene, size, meshes=meshes)
    first = standing(staged.scene, FIRST, asked.first, together, meshes=meshes)
    second = standing(staged.scene, SECOND, asked.second, together, meshes=meshes)
    if first is None or second is None:
        return PaintTrouble("out of the renderer's reach: one of the things would be out of sight")
    content = png(paint(staged.scene, size, meshes=meshes))
    return PaintedPicture(content, Truth(first=first, second=second))


def standing(
    scene: Scene, id: str, name: str, together: PictureSurvey, *, meshes: bool = False
) -> TrueThing | None:
    """What is known of one thing of a scene; none if it is not in the picture."""
    size = len(together.mask)
    alone = survey(replace(scene, things=(scene.placed(id),), links=()), size, meshes=meshes)
    own = alone.mask > 0
    box = alone.boxes[id]
    if box is None or int(own.sum()) < LEAST_SEEN:
        return None
    body = Body(scene.placed(id))
    return TrueThing(
        name=name,
        box=Box(box[0] / size, box[1] / size, box[2] / size, box[3] / size),
        visible=together.visible[id],
        distance=float(np.median(alone.depth[own])),
        size=prod((body.width, body.depth, body.height)) ** (1 / 3),
        height=body.height,
    )
