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

_HOME = {
    "ContrastOptions": "layouts",
    "Placed": "scenes",
    "Scene": "scenes",
    "SceneFact": "relations",
    "SceneOptions": "placing",
    "Viewer": "scenes",
    "contrasted": "contrasts",
    "decide": "relations",
    "describe_scene": "descriptions",
    "draw": "pictures",
    "draw_missing": "drawing",
    "explain": "relations",
    "facts": "relations",
    "from_json": "scenes",
    "opposed_pairs": "contrasts",
    "random_scene": "placing",
    "scene_of": "descriptions",
    "to_json": "scenes",
    "truth_in": "contrasts",
    "write_png": "pictures",
}

__all__ = [
    "ContrastOptions",
    "Placed",
    "Scene",
    "SceneFact",
    "SceneOptions",
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
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
