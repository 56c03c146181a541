"""From a painter to a model: every factory of painters gets the options of judging, and opens both.

`synth:render --set rule=visor` opens the renderer and the judge by boxes. With `painted`, which is
what `gnomon run --judge-again` gives, no painter is opened: the pictures of an earlier run are
looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from gnomon.errors import RunError, UsageError
from gnomon.options import explained, neutral_options
from gnomon.paint.model import Synth
from gnomon.paint.records import Judge, Making, Painter, PaintRequest, PaintTrouble
from gnomon.runs import Manifest, Run

MOST_PICTURES = 64  # of an item
NO_JUDGE = "none"
OF_BOXES = ("detector", "depth", "distance", "rule", "least")  # options of the judge by boxes


def judged(
    *,
    judge: str = "boxes",
    detector: str = "ssd",
    depth: str = "fastdepth",
    distance: str = "middle",
    rule: str = "",
    least: float = 0.4,
    trial: int = 20,
    pictures: int = 1,
    paint_seed: int = 0,
    painted: str = "",
) -> None:
    """The options that every painter shares.

    judge      boxes, vqa:MODEL (a model that sees is asked), people:FILE, or none (only paint)
    detector   what finds the things: ssd, hf:NAME, or true (of rendered scenes)
    depth      what says how far away they are: fastdepth, hf:NAME, true or none
    distance   of a box: middle (the median of its middle half) or mean (of all of it: the paper's)
    rule       how boxes become an answer (default: the paper's, right way up)
    least      how sure the detector must be of a thing, from 0 to 1
    trial      on drawn scenes of how many items the judge is tried first; 0 for none
    pictures   how many are painted for each item, and vote
    paint_seed  with the item's id and the picture's number, the seed of each picture
    painted    the folder of a run whose pictures are judged; none is painted
    """


def as_model(
    open_painter: Callable[..., Painter], *, settings: type[Any] | None = None
) -> Callable[..., Synth]:
    """A factory of models out of a factory of painters: its options, and those of judging.

    The fields of `settings`, a dataclass, are options that the factory takes as `**settings`.
    """
    own = signature(open_painter)
    if settings is not None:
        named = [each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        own = own.replace(parameters=[*named, *signature(settings).parameters.values()])
        vars(open_painter)["__signature__"] = own
    shared = signature(judged)

    def factory(name: str, **options: Any) -> Synth:
        how = {}
        for option, parameter in shared.parameters.items():
            how[option] = options.pop(option, parameter.default)
        _check(how)
        painter: Painter
        if how["painted"]:
            painter = finished_painter(Path(how["painted"]).expanduser())
        else:
            painter = open_painter(name, **options)
        return Synth(
            painter,
            open_judge(how["judge"], {name: how[name] for name in OF_BOXES if how[name] != ""}),
            pictures=how["pictures"],
            seed=how["paint_seed"],
            trial=how["trial"],
        )

    mine = [*own.parameters.values(), *shared.parameters.values()]
    merged: Any = factory
    merged.__signature__ = own.replace(parameters=mine, return_annotation=Synth)
    merged.__name__ = merged.__qualname__ = open_painter.__name__
    merged.__module__ = open_painter.__module__
    merged.__doc__ = _joined(open_painter)
    merged.neutral = neutral_options(open_painter) | {"painted", "trial"}
    return factory


def open_judge(judge: str, of_boxes: Mapping[str, Any]) -> Judge | None:
    """The judge that options name; none if pictures are only painted."""
    kind, _, name = judge.partition(":")
    if judge == NO_JUDGE:
        return None
    if judge == "boxes":
        from gnomon.paint.judges.boxes import boxes_judge

        return boxes_judge(**of_boxes)
    if kind == "vqa" and name:
        from gnomon.paint.judges.answers import vqa_judge

        return vqa_judge(name)
    if kind == "people" and name:
        from gnomon.paint.judges.answers import people_judge

        return people_judge(name)
    raise UsageError(
        f"There is no judge '{judge[:60]}'.",
        "Choose boxes, vqa:MODEL with a model that sees, people:FILE, or none.",
    )


class Finished:
    """The painter of an earlier run, of whom nothing but the pictures is left."""

    batch = 64

    def __init__(self, manifest: Manifest, folder: Path) -> None:
        self.spec = manifest.model
        self.folder = folder
        self._about = manifest.model_description.get("painter", {})

    def describe(self) -> dict[str, Any]:
        """What the painter said of itself."""
        return dict(self._about)

    def paint(self, requests: Sequence[PaintRequest]) -> Making:
        """Nothing: what the run does not have is not painted."""
        trouble = PaintTrouble("the earlier run has no such picture")
        return [(request, trouble) for request in requests]


def finished_painter(folder: Path) -> Finished:
    """The painter of a run whose pictures are to be judged again."""
    manifest = Run.open(folder).manifest
    if "painter" not in manifest.model_description:
        raise RunError(
            f"{folder} has no pictures: {manifest.model} does not paint.",
            "Give the run of a model that does: synth:NAME or images:DIR.",
        )
    return Finished(manifest, folder)


def _check(how: dict[str, Any]) -> None:
    if not 0 <= how["pictures"] <= MOST_PICTURES:
        raise UsageError(
            f"{how['pictures']} pictures an item cannot be painted.",
            f"Give --set pictures=1 to {MOST_PICTURES}, or 0 for all that there are.",
        )
    if how["trial"] < 0:
        raise UsageError("A judge cannot be tried on fewer than no scenes.", "Give --set trial=20.")


def _joined(open_painter: Callable[..., Painter]) -> str:
    """What a painter's factory says of itself and of its options, and what judging says of its."""
    lines = [explained(open_painter).prose, ""]
    for function in (open_painter, judged):
        for option, text in explained(function).options.items():
            lines.append(f"{option}  {text}")
    return "\n".join(lines)
