"""Detectors and depth maps by name: the embedded ones, or any of transformers.

DETR, RT-DETR, YOLOS and the like know the classes they were trained on. OWL-ViT, OWLv2 and
Grounding DINO look for whatever they are told to. Of depth maps some give distances and some their
inverse, and nothing in their output tells which: a family that is not known is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gnomon.errors import ModelError, UsageError, importing
from gnomon.models.transformers import loading
from gnomon.models.transformers.checkpoint import (
    architecture_of,
    check_complete,
    check_folder,
    explained,
)
from gnomon.models.transformers.processors import load_processor
from gnomon.vision.detection import Box, Detection, Detector
from gnomon.vision.images import Pixels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EMBEDDED_DETECTOR, EMBEDDED_DEPTH = "ssd", "fastdepth"
NAMED = ("OwlViTForObjectDetection", "Owlv2ForObjectDetection")  # that look for many names at once
GROUNDING = ("GroundingDinoForObjectDetection", "MMGroundingDinoForObjectDetection")
LEAST = 0.05  # how sure of what it lists; whoever asks wants more
# Whether large figures are far. Depth Anything's metric models say so in their config.
FAR_IS_LARGE = {
    "DepthAnythingForDepthEstimation": False,
    "DPTForDepthEstimation": False,
    "GLPNForDepthEstimation": True,
    "ZoeDepthForDepthEstimation": True,
    "DepthProForDepthEstimation": True,
}


def open_detector(spec: str) -> Any:
    """A detector: ssd, or hf:NAME for one of transformers."""
    if spec == EMBEDDED_DETECTOR:
        return Detector()
    name = _name_in(spec, "detector", "ssd")
    model, processor, about = _opened(name, "detector", _detector_parts)
    if about["architecture"] in (*NAMED, *GROUNDING):
        return NamedDetector(model, processor, about)
    return FixedDetector(model, processor, about)


def open_depth(spec: str) -> Any:
    """A depth map: fastdepth, hf:NAME for one of transformers, or none."""
    if spec == "none":
        return None
    if spec == EMBEDDED_DEPTH:
        from gnomon.vision.detection import FastDepth

        return FastDepth()
    name = _name_in(spec, "depth map", "fastdepth, none")
    model, processor, about = _opened(name, "depth", _depth_parts)
    return HfDepth(model, processor, {**about, "far_is_large": _direction(name, model.config)})


def _name_in(spec: str, what: str, others: str) -> str:
    kind, _, name = spec.partition(":")
    if kind != "hf" or not name:
        raise UsageError(
            f"There is no {what} '{spec}'.", f"Choose {others}, or hf:NAME for one of transformers."
        )
    return name


class _VisionModel:
    """A model of transformers that is shown one picture at a time."""

    def __init__(self, model: Any, processor: Any, about: dict[str, Any]) -> None:
        self.model, self.processor, self.about = model, processor, about

    def describe(self) -> dict[str, Any]:
        """What determines what it gives."""
        return self.about

    def look(self, picture: Pixels, **more: Any) -> tuple[Any, Any]:
        """What the processor makes of a picture, and the model of that."""
        import torch

        given = self.processor(images=picture, return_tensors="pt", **more).to(self.model.device)
        with torch.inference_mode():
            return given, self.model(**given)


class FixedDetector(_VisionModel):
    """A detector that knows its classes."""

    @property
    def labels(self) -> list[str]:
        """The names of its classes."""
        classes = self.model.config.id2label
        return [_plain(classes[number]) for number in sorted(classes)]

    def find(self, picture: Pixels, names: Sequence[str] = ()) -> list[Detection]:
        """All that may be in a picture, the surest first."""
        _, found = self.look(picture)
        (boxes,) = self.processor.post_process_object_detection(
            found, threshold=LEAST, target_sizes=[(picture.height, picture.width)]
        )
        labels = [_plain(self.model.config.id2label[number]) for number in boxes["labels"].tolist()]
        return _detections(boxes, labels, picture)


class NamedDetector(_VisionModel):
    """A detector that looks for names."""

    labels: Sequence[str] | None = None  # any

    def find(self, picture: Pixels, names: Sequence[str] = ()) -> list[Detection]:
        """Where each of the names may be in a picture, the surest first."""
        if type(self.model).__name__ in NAMED:
            return self._together(picture, list(names)) if names else []
        # A phrase of a grounded text may spill into the next one, so each name is a text.
        found = []
        for name in dict.fromkeys(names):
            found += self._grounded(picture, name)
        return _sorted(found)

    def _together(self, picture: Pixels, names: list[str]) -> list[Detection]:
        _, found = self.look(picture, text=[[f"a photo of {name}" for name in names]])
        (boxes,) = self.processor.post_process_grounded_object_detection(
            found, threshold=LEAST, target_sizes=[(picture.height, picture.width)]
        )
        return _detections(boxes, [names[number] for number in boxes["labels"].tolist()], picture)

    def _grounded(self, picture: Pixels, name: str) -> list[Detection]:
        given, found = self.look(picture, text=f"{name}.")
        (boxes,) = self.processor.post_process_grounded_object_detection(
            found,
            given["input_ids"],
            threshold=LEAST,
            text_threshold=LEAST,
            target_sizes=[(picture.height, picture.width)],
        )
        return _detections(boxes, [name] * len(boxes["scores"]), picture)


class HfDepth(_VisionModel):
    """A depth map of transformers."""

    @property
    def far_is_large(self) -> bool:
        """Whether large figures are far."""
        return bool(self.about["far_is_large"])

    def distances(self, picture: Pixels) -> NDArray[np.float32]:
        """The model's figures over the whole picture, in the resolution that it gives them."""
        _, found = self.look(picture)
        figures: NDArray[np.float32] = found.predicted_depth[0].float().cpu().numpy()
        return figures


Parts = Callable[[str, Any, dict[str, Any]], tuple[Any, Any]]  # what makes the model; its processor


def _opened(name: str, kind: str, parts: Parts) -> tuple[Any, Any, dict[str, Any]]:
    """The model that a hub name or a folder names, its processor, and what describes it."""
    _, transformers = loading.libraries()
    device = loading.best_device()
    check_folder(name, allow_pickle=False)
    how = loading.Loading()
    with loading.quiet(), explained(name, allow_pickle=False):
        config = transformers.AutoConfig.from_pretrained(name, **how.source())
        maker, processor = parts(name, config, how.source())
        model, report = maker.from_pretrained(name, config=config, **how.files())
        check_complete(name, kind, model, report["missing_keys"])
        model = model.to(device).eval()
    about = {
        kind: name,
        "architecture": architecture_of(config) or type(model).__name__,
        "revision": loading.revision_of(name, config),
    }
    return model, processor, about


def _detector_parts(name: str, config: Any, source: dict[str, Any]) -> tuple[Any, Any]:
    import transformers

    architecture = architecture_of(config)
    if architecture in (*NAMED, *GROUNDING):
        processor = load_processor(name, **source)
        return transformers.AutoModelForZeroShotObjectDetection, processor
    with importing("A detector", "vision"):
        import PIL  # noqa: F401
    processor = transformers.AutoImageProcessor.from_pretrained(name, **source)
    if not hasattr(processor, "post_process_object_detection"):
        raise ModelError(
            f"{name} ({architecture or 'no architecture named'}) is not a detector.",
            "Give a detector, such as facebook/detr-resnet-50 or google/owlv2-base-patch16.",
        )
    return transformers.AutoModelForObjectDetection, processor


def _depth_parts(name: str, config: Any, source: dict[str, Any]) -> tuple[Any, Any]:
    import transformers

    _direction(name, config)  # or it is refused before its weights are fetched
    processor = transformers.AutoImageProcessor.from_pretrained(name, **source)
    return transformers.AutoModelForDepthEstimation, processor


def _direction(name: str, config: Any) -> bool:
    """Whether large figures are far."""
    architecture = architecture_of(config)
    if getattr(config, "depth_estimation_type", "") == "metric":
        return True
    if architecture in FAR_IS_LARGE:
        return FAR_IS_LARGE[architecture]
    raise ModelError(
        f"{name} ({architecture or 'no architecture named'}) does not say whether its figures are "
        "distances or their inverse.",
        f"Give a model of one of these: {', '.join(FAR_IS_LARGE)}.",
    )


def _detections(boxes: Any, labels: Sequence[str], picture: Pixels) -> list[Detection]:
    """What a detector found as shares of the picture; boxes without an area are none."""
    found = []
    rows = zip(boxes["scores"].tolist(), labels, boxes["boxes"].tolist(), strict=True)
    for confidence, label, edges in rows:
        sides = zip(edges, (picture.width, picture.height) * 2, strict=True)
        box = Box(*(min(1.0, max(0.0, edge / side)) for edge, side in sides))
        if box.width > 0 and box.height > 0:
            found.append(Detection(label, confidence, box))
    return _sorted(found)


def _sorted(found: list[Detection]) -> list[Detection]:
    return sorted(found, key=lambda each: each.confidence, reverse=True)


def _plain(label: str) -> str:
    return label.strip().lower().replace("_", " ")
