"""Which models look at pictures: for depth, subtypes and colours; each is opened when needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gnomon.look.depths import DepthModel
from gnomon.look.extents import PictureSightings
from gnomon.look.records import AnnotatedPicture, Sighting

Subtypes = Mapping[str, Mapping[str, int]]
Step = Callable[[AnnotatedPicture, Sequence[Sighting], Subtypes], PictureSightings]


class LookModels(NamedTuple):
    """What to look with; a name that is empty stands for nothing."""

    depth: str = ""
    open_depth: Callable[[], DepthModel | None] = lambda: None
    true_depth: bool = True  # whether distances that come with a picture are used
    steps: tuple[tuple[str, Step], ...] = ()  # subtypes, then colours; each with its name

    def names(self) -> tuple[str, ...]:
        """What results depend on."""
        return (self.depth, str(self.true_depth), *(name for name, _ in self.steps))
