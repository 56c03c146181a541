"""What each stage of `gnomon look` costs in truth, on rendered scenes of which everything is known.

    python bench/looktruth.py [--scenes 40] [--json]

First with true masks and distances, then with boxes, FastDepth and SSD in their place. Then what
the modes and each of their switches make of the same pictures. A share is that of judged relations
that are true; pairs of sizes are judged where one thing is 1.3 times as large in every way.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from gnomon.files import package_data, read_yaml
from gnomon.look.colours import colours_by_pixels
from gnomon.look.depths import DepthMap
from gnomon.look.records import AnnotatedPicture, Mode, Picture, Region, mode_named, switches
from gnomon.look.relations import elevation_relations, size_relations
from gnomon.look.sightings import measure
from gnomon.scenes.bodies import Body
from gnomon.scenes.pictures import paint, survey, write_png
from gnomon.scenes.placing import SceneOptions, random_scene
from gnomon.scenes.rendering import RayGrid, cast, rays_of, windows_of
from gnomon.scenes.scenes import Scene as World
from gnomon.scenes.solids import camera_of, solids_of
from gnomon.scenes.things import palette, thing_named
from gnomon.vision.detection import Box, Detector, FastDepth
from gnomon.vision.images import decode

SIDE = 320
FIRST = 1000  # seed
CLEAR = 1.3
MAINLY = 0.6  # of a thing's pixels that must have one colour of the palette
SURE = 0.3  # of a detection
MATCH = 0.5  # overlap of a detection and the thing that it stands for


class Truth(NamedTuple):
    """What a thing really is."""

    low: float
    high: float
    sides: tuple[float, float]  # of a cube of its volume, and the longest
    colours: tuple[str, ...]  # that its colour may be called; none if it has several


class Known(NamedTuple):
    """A picture with all that is known of it, and what networks make of it."""

    scene: AnnotatedPicture
    true_depth: DepthMap
    seen_depth: DepthMap
    detected: AnnotatedPicture
    things: dict[str, Truth]  # by region


def main() -> None:
    """Print the tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with TemporaryDirectory() as folder:
        known = list(_scenes(args.scenes, Path(folder)))
        losses = [_loss(name, known, *inputs) for name, inputs in INPUTS.items()]
        modes = [_mode_row(name, known) for name in _mode_names()]
    if args.json:
        print(json.dumps({"inputs": losses, "modes": modes}))
        return
    _print("What each stage costs", losses)
    _print("What the modes make of the same pictures, with true masks and distances", modes)


def _scenes(count: int, folder: Path) -> Iterator[Known]:
    detector, network = Detector(), FastDepth()
    called = read_yaml(package_data("vision/palette-colours.yaml"))
    for seed in range(FIRST, FIRST + count):
        world = random_scene(seed, SceneOptions(things=6))
        seen = survey(world, SIDE)
        base = folder / str(seed)
        write_png(base.with_suffix(".png"), paint(world, SIDE))
        write_png(base.with_suffix(".mask.png"), seen.mask[:, :, None].repeat(3, axis=2))
        picture = Picture(id=str(seed), file=f"{base}.png", width=SIDE, height=SIDE)
        regions, things = [], {}
        colours = _colours(world)
        for number, placed in enumerate(world.things, start=1):
            corners = seen.boxes[placed.id]
            if corners is None:
                continue
            id = f"{seed}/{placed.id}"
            box = Box(*(corner / SIDE for corner in corners))
            file = f"{base}.mask.png"
            regions.append(
                Region(
                    id=id, picture=picture.id, name=placed.thing, box=box, mask=file, mark=number
                )
            )
            size = np.array(thing_named(placed.thing).size) * placed.scale
            body = Body(placed)
            sides = float(size.prod() ** (1 / 3)), float(size.max())
            accepted = tuple(called.get(colours[number], ()))
            things[id] = Truth(body.low, body.high, sides, accepted)
        scene = AnnotatedPicture(picture=picture, regions=tuple(regions))
        pixels = decode(picture.file)
        yield Known(
            scene,
            DepthMap(seen.depth, far_is_large=True),
            DepthMap(network.distances(pixels), far_is_large=True),
            _detected(scene, detector.find(pixels)),
            things,
        )


def _colours(world: World) -> dict[int, str]:
    """The colour of the palette that most of what is seen of each thing has; empty if none."""
    solids, camera = solids_of(world), camera_of(world.viewer)
    grid = RayGrid(SIDE, SIDE)
    rays = rays_of(camera, grid, 0, SIDE, np.float64)
    met = cast(solids, windows_of(solids, camera, grid), camera, rays, 0).met
    names = {tuple(value): name for name, value in palette().items()}
    counts: dict[int, Counter[str]] = {}
    for number, solid in enumerate(solids):
        pixels = int((met == number).sum())
        counts.setdefault(solid.owner, Counter())[names[tuple(solid.colour)]] += pixels
    found = {}
    for owner, each in counts.items():
        ((name, most),) = each.most_common(1)
        found[owner] = name if most >= MAINLY * max(1, each.total()) else ""
    return found


def _detected(scene: AnnotatedPicture, detections: list[Any]) -> AnnotatedPicture:
    """The scene as a detector finds it: each thing that it names and frames well enough."""
    left = list(scene.regions)
    found = []
    for label, confidence, box in detections:
        if confidence < SURE:
            continue
        for region in left:
            if region.name == label and region.box.overlap(box) >= MATCH:
                found.append(replace(region, box=box, mask="", confidence=confidence))
                left.remove(region)
                break
    return replace(scene, regions=tuple(found))


def _boxes(known: Known) -> AnnotatedPicture:
    regions = tuple(replace(region, mask="") for region in known.scene.regions)
    return replace(known.scene, regions=regions)


SceneOf = Callable[[Known], AnnotatedPicture]
DepthOf = Callable[[Known], DepthMap]
INPUTS: dict[str, tuple[SceneOf, DepthOf]] = {
    "true masks, true depth": (lambda known: known.scene, lambda known: known.true_depth),
    "true boxes, true depth": (_boxes, lambda known: known.true_depth),
    "true masks, FastDepth": (lambda known: known.scene, lambda known: known.seen_depth),
    "true boxes, FastDepth": (_boxes, lambda known: known.seen_depth),
    "SSD boxes, true depth": (lambda known: known.detected, lambda known: known.true_depth),
    "SSD boxes, FastDepth": (lambda known: known.detected, lambda known: known.seen_depth),
}


def _loss(name: str, known: list[Known], scene_of: SceneOf, depth_of: DepthOf) -> dict[str, Any]:
    mode = mode_named("right")
    row = {"inputs": name, **_judged(known, scene_of, depth_of, mode)}
    things = sum(len(each.scene.regions) for each in known)
    right = judged = seen = 0
    for each in known:
        scene = scene_of(each)
        found = colours_by_pixels(scene, measure(scene, None, mode).sightings).sightings
        seen += len(found)
        for sighting in found:
            accepted = each.things[sighting.region].colours
            if accepted:
                judged += 1
                right += sighting.colours[0] in accepted
    row["colours"], row["colour"] = judged, right / max(1, judged)
    row["things seen"] = seen / things
    return row


def _mode_names() -> list[str]:
    """The modes, and single switches; those about rows of the picture beside rows_as_heights."""
    names = ["right", "paper", "code"]
    for name, switch in switches().items():
        if switch.stage in ("measuring", "sizes") or name == "rows_as_heights":
            names.append(f"right+{name}")
        elif switch.stage == "elevations":
            names.append(f"right+rows_as_heights+{name}")
    return names


def _mode_row(name: str, known: list[Known]) -> dict[str, Any]:
    row = {"mode": name}
    inputs = INPUTS["true masks, true depth"]
    return {**row, **_judged(known, *inputs, mode_named(name))}


def _judged(known: list[Known], scene_of: SceneOf, depth_of: DepthOf, mode: Mode) -> dict[str, Any]:
    sizes: list[bool] = []
    by_area: list[bool] = []
    elevations: list[bool] = []
    for each in known:
        found = measure(scene_of(each), depth_of(each), mode).sightings
        truths = [each.things[sighting.region] for sighting in found]
        for one, other, _ in size_relations(found, mode):
            by_area.append(found[one].area >= found[other].area)
            sizes += _size_verdict(truths[one], truths[other])
        for one, other, label in elevation_relations(found, mode):
            elevations.append(label == _true_elevation(truths[one], truths[other]))
    return {
        "size pairs": len(sizes),
        "size": sum(sizes) / max(1, len(sizes)),
        "as plain area": sum(by_area) / max(1, len(by_area)),
        "elevation pairs": len(elevations),
        "elevation": sum(elevations) / max(1, len(elevations)),
    }


def _size_verdict(larger: Truth, smaller: Truth) -> list[bool]:
    """Whether it is true that one is larger; nothing if the truth is not clear."""
    ratios = [one / other for one, other in zip(larger.sides, smaller.sides, strict=True)]
    if min(ratios) >= CLEAR:
        return [True]
    return [False] if max(ratios) <= 1 / CLEAR else []


def _true_elevation(one: Truth, other: Truth) -> str:
    if one.low > (other.low + other.high) / 2:
        return ">"
    return "<" if other.low > (one.low + one.high) / 2 else "="


def _print(title: str, rows: list[dict[str, Any]]) -> None:
    print(f"**{title}**\n")
    columns = list(rows[0])
    print("| " + " | ".join(columns) + " |")
    print("|" + " --- |" * len(columns))
    for row in rows:
        cells = [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row.values()]
        print("| " + " | ".join(cells) + " |")
    print()


if __name__ == "__main__":
    main()
