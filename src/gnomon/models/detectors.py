"""Detectors and depth maps by name: the embedded ones, or any of transformers."""

from __future__ import annotations

from typing import Any

from gnomon.errors import UsageError

EMBEDDED_DETECTOR, EMBEDDED_DEPTH = "ssd", "fastdepth"


def open_detector(spec: str) -> Any:
    """A detector: ssd, or hf:NAME for one of transformers."""
    if spec == EMBEDDED_DETECTOR:
        from gnomon.vision.detection import Detector

        return Detector()
    kind, _, name = spec.partition(":")
    if kind != "hf" or not name:
        raise UsageError(
            f"There is no detector '{spec}'.", "Choose ssd, or hf:NAME for one of transformers."
        )
    from gnomon.models.transformers.detecting import hf_detector

    return hf_detector(name)


def open_depth(spec: str) -> Any:
    """A depth map: fastdepth, hf:NAME for one of transformers, or none."""
    if spec == "none":
        return None
    if spec == EMBEDDED_DEPTH:
        from gnomon.vision.detection import FastDepth

        return FastDepth()
    kind, _, name = spec.partition(":")
    if kind != "hf" or not name:
        raise UsageError(
            f"There is no depth map '{spec}'.",
            "Choose fastdepth, none, or hf:NAME for one of transformers.",
        )
    from gnomon.models.transformers.depth import hf_depth

    return hf_depth(name)
