"""Which models `gnomon look` looks with: found by name, opened when they are needed."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from gnomon.cli.dispatch import tell
from gnomon.errors import GnomonError
from gnomon.look.colours import ask_colours, colours_by_pixels
from gnomon.look.modes import Mode
from gnomon.look.records import AnnotatedPicture, Sighting
from gnomon.look.sightings import LookModels, PictureSightings, Step, Subtypes
from gnomon.look.subtypes import select_subtypes

EMBEDDED_DEPTH = "fastdepth"
NONE = "none"


def eyes_of(args: Namespace, mode: Mode, *, needs_depth: bool) -> LookModels:
    """What the options ask for; without --depth, the embedded model if it can be had."""
    steps: list[tuple[str, Step]] = []
    if args.encoder != NONE:
        steps.append((f"encoder {args.encoder}", _Selecting(args.encoder, mode)))
    if args.colours != NONE:
        steps.append((f"colours {args.colours}", _colours(args.colours, mode)))
    name, opener = _depth(args.depth, needs_depth=needs_depth)
    return LookModels(
        depth=name, open_depth=opener, true_depth=args.depth is None, steps=tuple(steps)
    )


def _depth(spec: str | None, *, needs_depth: bool) -> tuple[str, Any]:
    from gnomon.models.detectors import open_depth

    if spec == NONE or (spec is None and not needs_depth):
        return "", lambda: None
    if spec is not None:
        opener = cache(partial(open_depth, spec))
        opener()  # what cannot be opened is said before anything else is done
        return spec, opener
    opener = cache(partial(open_depth, EMBEDDED_DEPTH))
    try:
        opener()
    except GnomonError as error:
        tell(f"Depth is not known, so there will be no sizes: {error}")
        return "", lambda: None
    return EMBEDDED_DEPTH, opener


def _colours(spec: str, mode: Mode) -> Step:
    if spec == "pixels":
        return _by_pixels
    return _Asking(spec, mode)


def _by_pixels(
    scene: AnnotatedPicture, sightings: Sequence[Sighting], subtypes: Subtypes
) -> PictureSightings:
    return colours_by_pixels(scene, sightings)


class _Asking:
    """Asks a model that sees for colours."""

    def __init__(self, spec: str, mode: Mode) -> None:
        from gnomon import registry

        self._spec = registry.model(spec)
        self._mode = mode
        self._model: Any = None

    def __call__(
        self, scene: AnnotatedPicture, sightings: Sequence[Sighting], subtypes: Subtypes
    ) -> PictureSightings:
        """The sightings with colours."""
        if self._model is None:
            self._model = self._spec.open()
        return ask_colours(scene, sightings, self._model, self._mode)


class _Selecting:
    """Chooses subtypes with a dual encoder."""

    def __init__(self, spec: str, mode: Mode) -> None:
        self._spec = spec
        self._mode = mode
        self._encoder: Any = None

    def __call__(
        self, scene: AnnotatedPicture, sightings: Sequence[Sighting], subtypes: Subtypes
    ) -> PictureSightings:
        """The sightings with subtypes."""
        if self._encoder is None:
            self._encoder = _encoder(self._spec)
        names = {name: list(kinds) for name, kinds in subtypes.items()}
        return select_subtypes(scene, sightings, names, self._encoder, self._mode)


def _encoder(spec: str) -> Any:
    if spec == "conse":
        from gnomon.models.similarity import Conse

        return Conse()
    from gnomon import registry
    from gnomon.models.similarity import similarities_of

    return similarities_of(registry.model(spec).open())
