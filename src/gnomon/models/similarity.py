"""How alike texts and pictures are, as the stages of vision ask: a dual encoder, or a stand-in.

The stand-in is put together from a detector and a language model (ConSE, Norouzi et al. 2014): what
a picture shows is the mean of the words for what the detector sees, each counted as it is sure of
it. It knows the detector's 90 kinds of thing and what goes with them: for where CLIP or SigLIP
cannot be had, and clearly weaker.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from gnomon.contracts import Model
from gnomon.downloads.packages import network_files
from gnomon.errors import DataError, UsageError, importing
from gnomon.lexicon.statements import question
from gnomon.models.comparison import Comparer, ComparisonModel, TextPair
from gnomon.records import Image
from gnomon.vision.detection import Detection, Detector
from gnomon.vision.images import pixels


class Similarities:
    """The similarities that a model which compares texts with pictures gives."""

    def __init__(self, comparer: Comparer) -> None:
        self._comparer = comparer

    def similarities(self, images: Sequence[Image], texts: Sequence[str]) -> list[list[float]]:
        """For each picture one number for each text, scaled as the model was trained."""
        seen = self._comparer.look(images)
        if self._comparer.asks:
            texts = list(map(question, texts))
        found = []
        for image in images:
            key = image.identity
            if seen[key].made is None:
                raise DataError(seen[key].trouble, "Check the picture.", file=image.path)
            found.append(self._comparer.odds([TextPair(text, (key,)) for text in texts], seen))
        return found


def similarities_of(model: Model) -> Similarities:
    """The similarities of a model that was opened; an error if it is none that compares."""
    if not isinstance(model, ComparisonModel) or model.comparer.pictures != 1:
        raise UsageError(
            f"{model.spec} does not compare texts with pictures.",
            "Choose a dual encoder, such as hf:openai/clip-vit-base-patch32, or conse.",
        )
    return Similarities(model.comparer)


# --- all-MiniLM-L6-v2, a small encoder of English with real weights: fetched once, 91 MB ---------


def minilm_folder() -> Path:
    """The folder with config, weights and tokenizer, in the cache."""
    return network_files("all-minilm-l6-v2")[0].parent


# --- a stand-in for dual encoders (ConSE) --------------------------------------------------------


MOST_LABELS = 10  # of what the detector sees, the surest
SCALE = 100.0  # of similarities, as CLIP's


class Conse:
    """How alike texts and pictures are, by what is seen in the pictures."""

    def __init__(self, detector: Detector | None = None) -> None:
        self.detector = detector or Detector()
        self._texts: dict[str, Any] = {}

    def similarities(self, images: Sequence[Image], texts: Sequence[str]) -> list[list[float]]:
        """For each picture one number for each text; 0 for all where nothing is seen."""
        found = []
        for image in images:
            shares = label_shares(self.detector.find(pixels(image)))
            found.append(self._compared(shares, texts))
        return found

    def _compared(self, shares: Mapping[str, float], texts: Sequence[str]) -> list[float]:
        if not shares:
            return [0.0] * len(texts)
        self._encode([*(f"a photo of a {label}" for label in shares), *texts])
        seen = sum(share * self._texts[f"a photo of a {label}"] for label, share in shares.items())
        seen = seen / seen.norm()
        return [SCALE * float(self._texts[text] @ seen) for text in texts]

    def _encode(self, texts: Sequence[str]) -> None:
        """Encode the texts that are new: means over their tokens, of length one."""
        import torch

        new = [text for text in dict.fromkeys(texts) if text not in self._texts]
        if not new:
            return
        tokenizer, model = self._language
        inputs = tokenizer(new, padding=True, return_tensors="pt")
        with torch.inference_mode():
            tokens = model(**inputs).last_hidden_state
        mask = inputs["attention_mask"].unsqueeze(-1)
        means = (tokens * mask).sum(dim=1) / mask.sum(dim=1)
        for text, row in zip(new, means.double(), strict=True):
            self._texts[text] = row / row.norm()

    @cached_property
    def _language(self) -> tuple[Any, Any]:
        """MiniLM, which is fetched once: 91 MB."""
        with importing("The encoder conse", "hf"):
            import transformers
        from gnomon.models.transformers.loading import quiet

        folder = minilm_folder()
        with quiet():
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
            model = transformers.AutoModel.from_pretrained(folder, use_safetensors=True)
        return tokenizer, model.eval()


def label_shares(seen: Sequence[Detection]) -> dict[str, float]:
    """How much of what is seen is of each kind: the surest of each, which sum to one.

    >>> from gnomon.vision.detection import Box
    >>> box = Box(0, 0, 1, 1)
    >>> label_shares([Detection("dog", 0.75, box), Detection("cat", 0.25, box)])
    {'dog': 0.75, 'cat': 0.25}
    """
    surest: dict[str, float] = {}
    for label, confidence, _ in seen:
        surest[label] = max(confidence, surest.get(label, 0.0))
    kept = sorted(surest.items(), key=lambda pair: -pair[1])[:MOST_LABELS]
    total = sum(confidence for _, confidence in kept)
    return {label: confidence / total for label, confidence in kept}
