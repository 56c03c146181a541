"""The pictures of docs/views.md: one question of each kind, its pictures beside one another.

python scripts/views.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from gnomon.scenes.views import KINDS, ViewWorld

IMAGES = Path(__file__).parent.parent / "docs" / "images"
SEEDS = {"motion": 2, "person": 7, "distance": 3, "plan": 2, "sight": 1, "joint": 1}
SIZE, EDGE, QUALITY = 256, 3, 82  # pixels, pixels, of WebP


def strip(kind: str) -> Image.Image:
    """The pictures of the first question of a kind; of a kind with one picture, of two questions."""
    made = ViewWorld(SEEDS.get(kind, 0), size=SIZE).ask(kind)
    pictures = made[0].pictures()
    shown = {image.path for image in made[0].item.images}
    for other in made[1:]:
        if len(pictures) > 1:
            break
        if not shown & {image.path for image in other.item.images}:
            pictures += other.pictures()
    framed = [
        np.pad(each, ((0, 0), (EDGE, EDGE), (0, 0)), constant_values=255) for each in pictures
    ]
    return Image.fromarray(np.concatenate(framed, axis=1))


def main() -> None:
    """Write them all, and print what is asked."""
    for kind in KINDS:
        file = IMAGES / f"views-{kind}.webp"
        strip(kind).save(file, quality=QUALITY, method=6)
        first = ViewWorld(SEEDS.get(kind, 0), size=SIZE).ask(kind)[0].item
        print(f"{kind}: {first.text} {first.choices} -> {first.gold[0]} ({file.stat().st_size} B)")


if __name__ == "__main__":
    main()
