"""Models that compare texts with pictures: their class says what they are, and makes them."""

from __future__ import annotations

from typing import Any

from gnomon.errors import UsageError

COMPARING = {
    "CLIPModel": "dual",
    "SiglipModel": "dual",
    "BlipForImageTextRetrieval": "match",
    "BlipForQuestionAnswering": "match",
    "ViltForImageAndTextRetrieval": "match",
    "ViltForImagesAndTextClassification": "match",
    "ViltForQuestionAnswering": "match",
    "LxmertForPreTraining": "regions",
    "VisualBertForVisualReasoning": "regions",
}


def architecture_of(config: Any) -> str:
    """The class that a config names first; empty if it names none."""
    architectures = getattr(config, "architectures", None) or [""]
    return architectures[0] or ""


def class_of(kind: str, config: Any, name: str) -> str:
    """The class of transformers that makes a model of a kind that compares."""
    architecture = architecture_of(config)
    if COMPARING.get(architecture) == kind:
        return architecture
    known = [each for each, its_kind in COMPARING.items() if its_kind == kind]
    raise UsageError(
        f"{name} has the architecture {architecture or '(none named)'}, which is not of kind "
        f"{kind}.",
        f"Leave kind out, or give a model of one of these: {', '.join(known)}.",
    )
