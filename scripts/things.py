"""The contact sheet of all things in docs/scenes.md, in alphabetical order.

python scripts/things.py -o docs/images/things.png
"""

from __future__ import annotations

import argparse

import numpy as np

from gnomon.scenes.pictures import draw, viewer_of, write_png
from gnomon.scenes.scenes import Placed, Scene
from gnomon.scenes.things import things

COLUMNS, SIDE = 12, 84


def main() -> None:
    """Draw each thing alone, half turned, and write all of them as one picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", required=True)
    args = parser.parse_args()
    cells = []
    for name in sorted(things()):
        placed = Placed(id=name, thing=name, at=(0.0, 0.0, 0.0), turn=35.0)
        scene = Scene(things=(placed,), viewer=viewer_of([placed], above=22), look=5)
        cells.append(draw(scene, SIDE).rgb)
    while len(cells) % COLUMNS:
        cells.append(np.full_like(cells[0], 255))
    rows = []
    for start in range(0, len(cells), COLUMNS):
        rows.append(np.concatenate(cells[start : start + COLUMNS], axis=1))
    write_png(args.output, np.concatenate(rows, axis=0))


if __name__ == "__main__":
    main()
