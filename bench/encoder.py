"""What a sentence encoder makes of a part of an item: the premise, the hypothesis, or the names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gnomon.contracts import Benchmark
from gnomon.records import Item
from rules import Rule, has_context, has_names, is_part, names


class Encoder:
    """Vectors of texts by a sentence encoder: the mean over its tokens, of length 1."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModel.from_pretrained(folder).float().eval()
        self.known: dict[str, np.ndarray] = {}

    def learn(self, texts: Sequence[str], batch: int = 64) -> None:
        """Encode texts together, which is much faster than one by one."""
        import torch

        missing = sorted(set(texts) - set(self.known), key=len)
        for start in range(0, len(missing), batch):
            part = missing[start : start + batch]
            inputs = self.tokenizer(part, padding=True, truncation=True, return_tensors="pt")
            with torch.inference_mode():
                states = self.model(**inputs).last_hidden_state
            mask = inputs["attention_mask"][..., None]
            vectors = ((states * mask).sum(1) / mask.sum(1)).numpy()
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            self.known |= dict(zip(part, vectors, strict=True))

    def rules(self) -> tuple[Rule, ...]:
        """What the encoder makes of a part of the input."""
        return (
            Rule("MiniLM of the premise", self._premise, "vectors", has_context),
            Rule("MiniLM of the hypothesis", self._hypothesis, "vectors", is_part),
            Rule("MiniLM of the names", self._names, "vectors", has_names),
        )

    def texts(self, items: Sequence[Item], about: Benchmark) -> list[str]:
        """All that its rules encode."""
        found: list[str] = []
        for item in items:
            found += names(item, about)
            if has_context(item):
                found.append(item.context)
            if is_part(item):
                found.append(item.text)
        return found

    def _premise(self, item: Item, about: Benchmark) -> np.ndarray:
        return self.known[item.context]

    def _hypothesis(self, item: Item, about: Benchmark) -> np.ndarray:
        return self.known[item.text]

    def _names(self, item: Item, about: Benchmark) -> np.ndarray:
        vectors = [self.known[name] for name in names(item, about)]
        if len(vectors) > 1:
            vectors.append(np.abs(vectors[0] - vectors[1]))
        return np.concatenate(vectors)
