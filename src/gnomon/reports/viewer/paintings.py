"""The pictures that a model made in answer to an item: only files below the run's own folder."""

from __future__ import annotations

from pathlib import Path

from gnomon.errors import GnomonError
from gnomon.records import Answer
from gnomon.runs import Run

MOST = 4  # pictures of an answer
SIDE = 480  # pixels


def painted(run: Run, answer: Answer) -> list[str]:
    """Data URIs of what was painted, without what cannot be shown."""
    from gnomon.vision.images import thumbnail

    found = []
    for name in answer.files[:MOST]:
        file = _inside(run.path, name)
        if file is None:
            continue
        try:
            found.append(thumbnail(file, SIDE))
        except (GnomonError, OSError, ValueError):  # not a picture, or not any more
            continue
    return found


def _inside(folder: Path, name: str) -> Path | None:
    """The file of that name in a run's folder; none if it leads out of it."""
    try:
        file = (folder / name).resolve()
    except (OSError, ValueError):
        return None
    return file if file.is_relative_to(folder.resolve()) else None
