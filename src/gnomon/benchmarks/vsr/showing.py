"""How a quad is shown: as a picture, or as the scene in words."""

from __future__ import annotations

from msgspec.structs import replace

from gnomon.benchmarks.vsr import wording
from gnomon.benchmarks.vsr.quads import Quad
from gnomon.records import Image, Item
from gnomon.scenes.descriptions import describe_scene
from gnomon.scenes.drawing import picture_name


def shown(item: Item, quad: Quad, picture: int, form: str, size: int) -> Item:
    """The item with its picture, or with a description in place of it."""
    scene = quad.scenes[picture]
    if form == "caption":
        image = Image(path=picture_name(scene, size), width=size, height=size)
        return replace(item, images=(image,))
    return replace(
        item,
        id=f"{item.id}/text",
        form="choice",
        text=wording.question(item.text),
        context=describe_scene(scene, int(quad.id, 16)),
    )


def several_role(quad: Quad) -> str:
    """The role of which there are several: subject, ground or, if there is none, nothing."""
    if len(quad.subjects) > 1:
        return "subject"
    return "ground" if len(quad.grounds) > 1 else ""


def truth_word(true: bool) -> str:
    """The label of a statement that is true or false."""
    return "true" if true else "false"
