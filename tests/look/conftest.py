"""Rendered scenes of which everything is known: masks, distances, colours, sizes and heights."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest

from gnomon.look.depths import DepthMap
from gnomon.look.records import AnnotatedPicture, Picture, Region
from gnomon.scenes.bodies import Body
from gnomon.scenes.pictures import paint, survey, write_png
from gnomon.scenes.placing import SceneOptions, random_scene
from gnomon.scenes.rendering import RayGrid, cast, rays_of, windows_of
from gnomon.scenes.scenes import Scene as World
from gnomon.scenes.solids import camera_of, solids_of
from gnomon.scenes.things import palette, thing_named
from gnomon.vision.detection import Box

SIDE = 192
SEEDS = range(1000, 1022)
MAINLY = 0.6  # of a thing's pixels that have one colour of the palette


class Truth(NamedTuple):
    """What a thing really is."""

    low: float
    high: float
    side: float  # of a cube with the volume of its box
    longest: float
    colour: str  # of the palette, empty if it has several


class Known(NamedTuple):
    """A picture with all that is known of it."""

    scene: AnnotatedPicture
    depth: DepthMap
    things: dict[str, Truth]  # by region


def colours_of(world: World) -> dict[int, str]:
    """The colour of the palette that most of what is seen of each thing has."""
    solids, camera = solids_of(world), camera_of(world.viewer)
    grid = RayGrid(SIDE, SIDE)
    rays = rays_of(camera, grid, 0, SIDE, np.float64)
    met = cast(solids, windows_of(solids, camera, grid), camera, rays, 0).met
    names = {tuple(value): name for name, value in palette().items()}
    counts: dict[int, Counter[str]] = {}
    for number, solid in enumerate(solids):
        seen = int((met == number).sum())
        counts.setdefault(solid.owner, Counter())[names[tuple(solid.colour)]] += seen
    found = {}
    for owner, each in counts.items():
        (name, most), *_ = each.most_common(1)
        found[owner] = name if most >= MAINLY * max(1, each.total()) else ""
    return found


@pytest.fixture(scope="session")
def rendered(tmp_path_factory) -> list[Known]:
    """Scenes of five things."""
    folder = tmp_path_factory.mktemp("rendered")
    found = []
    for seed in SEEDS:
        world = random_scene(seed, SceneOptions(things=5))
        seen = survey(world, SIDE)
        base = folder / str(seed)
        write_png(base.with_suffix(".png"), paint(world, SIDE))
        write_png(base.with_suffix(".mask.png"), seen.mask[:, :, None].repeat(3, axis=2))
        colours = colours_of(world)
        regions, things = [], {}
        for number, placed in enumerate(world.things, start=1):
            corners = seen.boxes[placed.id]
            if corners is None:
                continue
            id = f"{seed}/{placed.id}"
            regions.append(
                Region(
                    id=id,
                    picture=str(seed),
                    name=placed.thing,
                    box=Box(*(corner / SIDE for corner in corners)),
                    mask=f"{base}.mask.png",
                    mark=number,
                )
            )
            size = np.array(thing_named(placed.thing).size) * placed.scale
            body = Body(placed)
            side, longest = float(size.prod() ** (1 / 3)), float(size.max())
            things[id] = Truth(body.low, body.high, side, longest, colours[number])
        picture = Picture(id=str(seed), file=f"{base}.png", width=SIDE, height=SIDE)
        scene = AnnotatedPicture(picture=picture, regions=tuple(regions))
        found.append(Known(scene, DepthMap(seen.depth, far_is_large=True), things))
    return found
