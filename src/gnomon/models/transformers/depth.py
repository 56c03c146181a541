"""Depth maps of transformers: Depth Anything, DPT, ZoeDepth, GLPN and the like.

Some give distances and some their inverse, and nothing in their output tells which. So the family
says it: a family that is not known is refused rather than guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.errors import ModelError
from gnomon.models.transformers.architectures import architecture_of
from gnomon.models.transformers.faults import check_complete, check_device, check_folder, explained
from gnomon.models.transformers.loading import best_device, libraries, quiet, revision_of
from gnomon.vision.images import Pixels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
