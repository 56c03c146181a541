"""Scenes of everyday things: made, judged, drawn and described.

The names below are what docs/scenes.md promises; each is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gnomon.scenes.contrasts import contrasted, opposed_pairs, truth_in
    from gnomon.scenes.descriptions import describe_scene, scene_of
    from gnomon.scenes.drawing import draw_missing
    from gnomon.scenes.layouts import ContrastOptions
    from gnomon.scenes.pictures import draw, write_png
    from gnomon.scenes.placing import SceneOptions, random_scene
    from gnomon.scenes.relations import SceneFact, decide, explain, facts
    from gnomon.scenes.scenes import Placed, Scene, Viewer, from_json, to_json
    from gnomon.scenes.views import ViewWorld
    from gnomon.scenes.worlds import ViewDials

_NAMES = {
    "contrasts": ("contrasted", "opposed_pairs", "truth_in"),
    "descriptions": ("describe_scene", "scene_of"),
    "drawing": ("draw_missing",),
    "layouts": ("ContrastOptions",),
    "pictures": ("draw", "write_png"),
    "placing": ("SceneOptions", "random_scene"),
    "relations": ("SceneFact", "decide", "explain", "facts"),
    "scenes": ("Placed", "Scene", "Viewer", "from_json", "to_json"),
    "views": ("ViewWorld",),
    "worlds": ("ViewDials",),
}

__all__ = [
    "ContrastOptions",
    "Placed",
    "Scene",
    "SceneFact",
    "SceneOptions",
    "ViewDials",
    "ViewWorld",
    "Viewer",
    "contrasted",
    "decide",
    "describe_scene",
    "draw",
    "draw_missing",
    "explain",
    "facts",
    "from_json",
    "opposed_pairs",
    "random_scene",
    "scene_of",
    "to_json",
    "truth_in",
    "write_png",
]


def __getattr__(name: str) -> Any:
    """A public name, loaded when it is first used."""
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
