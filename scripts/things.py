"""Two pictures of docs/scenes.md: every thing in alphabetical order, and a gallery of scenes.

python scripts/things.py -o docs/images
"""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gnomon.scenes.descriptions import scene_of
from gnomon.scenes.pictures import paint, viewer_of
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.things import things

COLUMNS, SIDE = 12, 96
WIDE, LARGE = 4, 290
QUALITY = 82  # of JPEG: noise makes PNG files large
# A caption, its seed, and a look in place of its own.
GALLERY: tuple[tuple[str, int, int | None], ...] = (
    ("a cat on a couch, a dog in front of it", 3, None),
    ("a laptop on a table, a chair in front of it, a cup on the table", 4, None),
    ("a teddy bear on a bed, a suitcase left of it", 5, None),
    ("a bicycle next to a bench, a person behind the bench", 2, 3),
    ("a bowl on a table, an apple in the bowl, a bottle behind it", 6, None),
    ("a horse right of a tree, a sheep in front of it", 2, 3),
    ("a vase on a cabinet, a chair right of the cabinet", 9, None),
    ("a potted plant left of a tv, a dog in front of it", 7, None),
)


def main() -> None:
    """Draw each thing alone, half turned, and some scenes, and write both as pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    cells = []
    for number, name in enumerate(sorted(things())):
        thing = things()[name]
        placed = Placed(id=name, thing=name, at=(0.0, 0.0, 0.0), turn=35.0)
        place = "outdoors" if thing.place == "outdoors" else "indoors"
        viewer = viewer_of([placed], above=22, distance=1.15)
        cells.append(paint(Scene(things=(placed,), viewer=viewer, place=place, look=number), SIDE))
    write(args.output / "things.jpg", cells, COLUMNS)

    shown = []
    for caption, seed, look in GALLERY:
        scene = scene_of(caption, seed)
        if look is not None:
            scene = msgspec.structs.replace(scene, look=look)
        shown.append(paint(scene, LARGE))
    write(args.output / "scenes.jpg", shown, WIDE)


def write(file: Path, cells: list[NDArray[np.uint8]], columns: int) -> None:
    """Write pictures of one size side by side."""
    while len(cells) % columns:
        cells.append(np.full_like(cells[0], 255))
    rows = []
    for start in range(0, len(cells), columns):
        rows.append(np.concatenate(cells[start : start + columns], axis=1))
    Image.fromarray(np.concatenate(rows, axis=0)).save(file, quality=QUALITY, optimize=True)


if __name__ == "__main__":
    main()
