"""Detectors of transformers: things found in pictures, by fixed classes or by the names one gives.

DETR, RT-DETR, YOLOS and the like know the classes they were trained on. OWL-ViT, OWLv2 and
Grounding DINO look for whatever they are told to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.errors import ModelError, importing
from gnomon.models.transformers.architectures import architecture_of
from gnomon.models.transformers.faults import check_complete, check_device, check_folder, explained
from gnomon.models.transformers.loading import best_device, libraries, quiet, revision_of
from gnomon.models.transformers.processors import load_processor
from gnomon.vision.detection import Box, Detection
from gnomon.vision.images import Pixels

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
