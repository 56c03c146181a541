"""Detectors and depth maps by name: the embedded ones, or any of transformers.

DETR, RT-DETR, YOLOS and the like know the classes they were trained on. OWL-ViT, OWLv2 and
Grounding DINO look for whatever they are told to. Of depth maps some give distances and some their
inverse, and nothing in their output tells which: a family that is not known is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gnomon.errors import ModelError, UsageError, importing
from gnomon.models.transformers.checkpoint import (
    architecture_of,
    check_complete,
    check_device,
    check_folder,
    explained,
)
from gnomon.models.transformers.loading import best_device, libraries, quiet, revision_of
from gnomon.models.transformers.processors import load_processor
from gnomon.vision.decoding import Pixels
from gnomon.vision.detecting import Box, Detection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EMBEDDED_DETECTOR, EMBEDDED_DEPTH = "ssd", "fastdepth"


def open_detector(spec: str) -> Any:
    """A detector: ssd, or hf:NAME for one of transformers."""
    if spec == EMBEDDED_DETECTOR:
        from gnomon.vision.detecting import Detector

        return Detector()
    kind, _, name = spec.partition(":")
    if kind != "hf" or not name:
        raise UsageError(
            f"There is no detector '{spec}'.", "Choose ssd, or hf:NAME for one of transformers."
        )

    return hf_detector(name)


def open_depth(spec: str) -> Any:
    """A depth map: fastdepth, hf:NAME for one of transformers, or none."""
    if spec == "none":
        return None
    if spec == EMBEDDED_DEPTH:
        from gnomon.vision.depth import FastDepth

        return FastDepth()
    kind, _, name = spec.partition(":")
    if kind != "hf" or not name:
        raise UsageError(
            f"There is no depth map '{spec}'.",
            "Choose fastdepth, none, or hf:NAME for one of transformers.",
        )

    return hf_depth(name)


# --- detectors of transformers -------------------------------------------------------------------


NAMED = ("OwlViTForObjectDetection", "Owlv2ForObjectDetection")  # that look for many names at once
GROUNDING = ("GroundingDinoForObjectDetection", "MMGroundingDinoForObjectDetection")
LEAST = 0.05  # how sure of what it lists; whoever asks wants more


class FixedDetector:
    """A detector that knows its classes. One picture at a time."""

    def __init__(self, model: Any, processor: Any, about: dict[str, Any]) -> None:
        self.model, self.processor, self.about = model, processor, about
        self.labels: Sequence[str] | None = [
            _plain(model.config.id2label[number]) for number in sorted(model.config.id2label)
        ]

    def describe(self) -> dict[str, Any]:
        """What determines the boxes."""
        return self.about

    def find(self, picture: Pixels, names: Sequence[str] = ()) -> list[Detection]:
        """All that may be in a picture, the surest first."""
        import torch

        given = self.processor(images=picture, return_tensors="pt").to(self.model.device)
        with torch.inference_mode():
            found = self.model(**given)
        (boxes,) = self.processor.post_process_object_detection(
            found, threshold=LEAST, target_sizes=[(picture.height, picture.width)]
        )
        labels = [_plain(self.model.config.id2label[number]) for number in boxes["labels"].tolist()]
        return _detections(boxes, labels, picture)


class NamedDetector:
    """A detector that looks for names. One picture at a time."""

    labels: Sequence[str] | None = None  # any

    def __init__(self, model: Any, processor: Any, about: dict[str, Any]) -> None:
        self.model, self.processor, self.about = model, processor, about
        self._together = type(model).__name__ in NAMED

    def describe(self) -> dict[str, Any]:
        """What determines the boxes."""
        return self.about

    def find(self, picture: Pixels, names: Sequence[str] = ()) -> list[Detection]:
        """Where each of the names may be in a picture, the surest first."""
        if self._together:
            return self._find(picture, list(names)) if names else []
        # A phrase of a grounded text may spill into the next one, so each name is a text.
        found = []
        for name in dict.fromkeys(names):
            found += self._find(picture, [name])
        return _sorted(found)

    def _find(self, picture: Pixels, names: list[str]) -> list[Detection]:
        import torch

        prompts = [f"a photo of {name}" if self._together else f"{name}." for name in names]
        text = [prompts] if self._together else prompts[0]
        given = self.processor(images=picture, text=text, return_tensors="pt")
        given = given.to(self.model.device)
        with torch.inference_mode():
            found = self.model(**given)
        size = [(picture.height, picture.width)]
        if self._together:
            (boxes,) = self.processor.post_process_grounded_object_detection(
                found, threshold=LEAST, target_sizes=size
            )
            labels = [names[number] for number in boxes["labels"].tolist()]
        else:
            (boxes,) = self.processor.post_process_grounded_object_detection(
                found, given["input_ids"], threshold=LEAST, text_threshold=LEAST, target_sizes=size
            )
            labels = names * len(boxes["scores"])
        return _detections(boxes, labels, picture)


def hf_detector(
    name: str, *, device: str = "", revision: str = "", allow_pickle: bool = False
) -> FixedDetector | NamedDetector:
    """The detector that a hub name or a folder names."""
    _, transformers = libraries()
    device = device or best_device()
    check_device(device)
    check_folder(name, allow_pickle=allow_pickle)
    source = {"revision": revision or None, "trust_remote_code": False}
    with quiet(), explained(name, allow_pickle=allow_pickle):
        config = transformers.AutoConfig.from_pretrained(name, **source)
        architecture = architecture_of(config)
        named = architecture in NAMED or architecture in GROUNDING
        if named:
            maker = transformers.AutoModelForZeroShotObjectDetection
            processor = load_processor(name, **source)
        else:
            maker = transformers.AutoModelForObjectDetection
            processor = _image_processor(name, architecture, **source)
        safe = None if allow_pickle else True
        model, report = maker.from_pretrained(
            name, config=config, use_safetensors=safe, output_loading_info=True, **source
        )
        check_complete(name, "detector", model, report["missing_keys"])
        model = model.to(device).eval()
    about = {"detector": name, "architecture": architecture, "revision": revision_of(name, config)}
    if named:
        return NamedDetector(model, processor, about)
    return FixedDetector(model, processor, about)


def _image_processor(name: str, architecture: str, **source: Any) -> Any:
    import transformers

    with importing("A detector", "vision"):
        import PIL  # noqa: F401
    found = transformers.AutoImageProcessor.from_pretrained(name, **source)
    if not hasattr(found, "post_process_object_detection"):
        raise ModelError(
            f"{name} ({architecture or 'no architecture named'}) is not a detector.",
            "Give a detector, such as facebook/detr-resnet-50 or google/owlv2-base-patch16.",
        )
    return found


def _detections(boxes: Any, labels: Sequence[str], picture: Pixels) -> list[Detection]:
    """What a detector found as shares of the picture; boxes without an area are none."""
    found = []
    rows = zip(boxes["scores"].tolist(), labels, boxes["boxes"].tolist(), strict=True)
    for confidence, label, (left, top, right, bottom) in rows:
        box = Box(
            _within(left / picture.width),
            _within(top / picture.height),
            _within(right / picture.width),
            _within(bottom / picture.height),
        )
        if box.width > 0 and box.height > 0:
            found.append(Detection(label, confidence, box))
    return _sorted(found)


def _sorted(found: list[Detection]) -> list[Detection]:
    return sorted(found, key=lambda each: each.confidence, reverse=True)


def _within(share: float) -> float:
    return min(1.0, max(0.0, share))


def _plain(label: str) -> str:
    return label.strip().lower().replace("_", " ")


# --- depth maps of transformers ------------------------------------------------------------------


# Whether large figures are far. Depth Anything's metric models say so in their config.
FAR_IS_LARGE = {
    "DepthAnythingForDepthEstimation": False,
    "DPTForDepthEstimation": False,
    "GLPNForDepthEstimation": True,
    "ZoeDepthForDepthEstimation": True,
    "DepthProForDepthEstimation": True,
}


class HfDepth:
    """A depth map of transformers. One picture at a time."""

    def __init__(self, model: Any, processor: Any, about: dict[str, Any]) -> None:
        self.model, self.processor, self.about = model, processor, about
        self.far_is_large: bool = about["far_is_large"]

    def describe(self) -> dict[str, Any]:
        """What determines the figures."""
        return self.about

    def distances(self, picture: Pixels) -> NDArray[np.float32]:
        """The model's figures over the whole picture, in the resolution that it gives them."""
        import torch

        given = self.processor(images=picture, return_tensors="pt").to(self.model.device)
        with torch.inference_mode():
            found = self.model(**given).predicted_depth
        figures: NDArray[np.float32] = found[0].float().cpu().numpy()
        return figures


def hf_depth(
    name: str, *, device: str = "", revision: str = "", allow_pickle: bool = False
) -> HfDepth:
    """The depth map that a hub name or a folder names."""
    _, transformers = libraries()
    device = device or best_device()
    check_device(device)
    check_folder(name, allow_pickle=allow_pickle)
    source = {"revision": revision or None, "trust_remote_code": False}
    with quiet(), explained(name, allow_pickle=allow_pickle):
        config = transformers.AutoConfig.from_pretrained(name, **source)
        far_is_large = _direction(name, config)
        processor = transformers.AutoImageProcessor.from_pretrained(name, **source)
        safe = None if allow_pickle else True
        model, report = transformers.AutoModelForDepthEstimation.from_pretrained(
            name, config=config, use_safetensors=safe, output_loading_info=True, **source
        )
        check_complete(name, "depth", model, report["missing_keys"])
        model = model.to(device).eval()
    about = {
        "depth": name,
        "architecture": type(model).__name__,
        "revision": revision_of(name, config),
        "far_is_large": far_is_large,
    }
    return HfDepth(model, processor, about)


def _direction(name: str, config: Any) -> bool:
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
