"""A frozen model as a reader of texts: one vector for each text, for a probe to look at.

Which vector is the kind's matter (`READINGS`). Texts are read in batches of one length, so nothing
is padded, and who else is in a batch changes a vector by float noise alone.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.errors import DataError, ModelError, UsageError, check_known
from gnomon.grouped import chunks, grouped
from gnomon.models.transformers import loading
from gnomon.models.transformers.checkpoint import check_device, check_folder, explained
from gnomon.models.transformers.hf import place_of
from gnomon.models.transformers.processors import load_tokenizer

Vectors = NDArray[np.float32]

# Which vector of a text may be read from each kind of model; the first is the default.
#   first   the state of token 0: [CLS], which reads the whole text (ViPhy's released code)
#   last    the state of the last token: the only one of a decoder that has read everything
#   mean    over all tokens: an encoder-decoder has no token for the whole (Sentence-T5, 2022)
#   pooled  what the model itself gives for the whole: CLIP's state of the end-of-text token, which
#           its training compares with pictures, before the projection (as the released code does);
#           SigLIP's head over its last token; the pooler of a BERT
READINGS: dict[str, tuple[str, ...]] = {
    "encoder": ("first", "pooled", "mean"),
    "decoder": ("last", "mean"),
    "encoder-decoder": ("mean", "first"),
    "clip": ("pooled",),
    "siglip": ("pooled",),
    "vilt": ("first", "pooled", "mean"),
    "visualbert": ("first", "pooled", "mean"),
}
SEEING = {  # as configs name them
    "clip": "clip",
    "clip_text_model": "clip",
    "siglip": "siglip",
    "siglip_text_model": "siglip",
    "vilt": "vilt",
    "visual_bert": "visualbert",
}


class Tower(NamedTuple):
    """The part of a model that reads text, and what kind of reader it is."""

    kind: str
    module: Any


class Backbone:
    """A frozen model, and which of its states stands for a text."""

    def __init__(
        self,
        tower: Tower,
        tokenizer: Any,
        reading: str,
        *,
        most_tokens: int = 0,
        about: dict[str, Any] | None = None,
    ) -> None:
        self.kind, self.module = tower
        self.tokenizer, self.reading = tokenizer, reading
        longest = loading.longest_text(self.module, tokenizer)
        self.most_tokens = min(most_tokens, longest) if most_tokens and longest else most_tokens
        self._limit = self.most_tokens or longest
        self._about = about or {}

    def describe(self) -> dict[str, Any]:
        """What determines its vectors."""
        return {**self._about, "reading": self.reading, "most_tokens": self.most_tokens}

    @property
    def mask(self) -> str:
        """What stands in a text where a word is missing; empty if it has no token for that."""
        return self.tokenizer.mask_token or ""

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The tokens of each text that are read."""
        return [len(tokens) for tokens in self._tokens(texts)]

    def vectors(self, texts: Sequence[str], watch: Callable[[int], None] | None = None) -> Vectors:
        """One row for each text; `watch` is told how many more are done."""
        tokens = self._tokens(texts)
        rows: list[Vectors | None] = [None] * len(texts)
        for numbers in self._batches(tokens):
            made = self._read([tokens[number] for number in numbers])
            for number, row in zip(numbers, made, strict=True):
                rows[number] = row
            if watch:
                watch(len(numbers))
        return np.array(rows, dtype=np.float32)

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        options: dict[str, Any] = {}
        if self._limit:
            options = {"truncation": True, "max_length": self._limit}
        if self.kind == "siglip":  # was trained on texts of full length, whose padding it reads
            options["padding"] = "max_length"
        if not texts:
            return []
        found: list[list[int]] = self.tokenizer(list(texts), **options)["input_ids"]
        for text, tokens in zip(texts, found, strict=True):
            if not tokens:
                raise DataError(
                    f"the text {text[:80]!r} has no tokens, so nothing can be read from it.",
                    "Leave out items without words.",
                )
        return found

    def _batches(self, tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """Numbers of texts that are equally long, as many as fit a pass; long texts first.

        A pass over too many texts shows at the start, not at the end.
        """
        by_length = grouped(range(len(tokens)), lambda number: len(tokens[number]))
        room = loading.tokens_in_a_pass(self.module)
        for length in sorted(by_length, reverse=True):
            yield from chunks(by_length[length], max(1, room // length))

    def _read(self, batch: list[list[int]]) -> Vectors:
        import torch

        ids = torch.tensor(batch, device=self.module.device)
        with torch.inference_mode():
            output = self.module(**self._inputs(ids))
        found: Vectors = self._chosen(output, ids.shape[1]).float().cpu().numpy()
        return found

    def _inputs(self, ids: Any) -> dict[str, Any]:
        import torch

        inputs: dict[str, Any] = {"input_ids": ids}
        if self.kind == "siglip":
            return inputs
        inputs["attention_mask"] = torch.ones_like(ids)
        if self.kind == "decoder":
            inputs["use_cache"] = False
        if self.kind == "vilt":  # VisualBERT needs none
            inputs |= unseen_patch(self.module, len(ids))
        return inputs

    def _chosen(self, output: Any, length: int) -> Any:
        if self.reading == "pooled":
            return output.pooler_output
        states = output.last_hidden_state[:, :length]  # without the blank patch
        if self.reading == "first":
            return states[:, 0]
        if self.reading == "last":
            return states[:, -1]
        return states.mean(dim=1)


def unseen_patch(model: Any, count: int) -> dict[str, Any]:
    """For so many texts without a picture one blank patch each, which no token sees (ViLT)."""
    import torch

    blank = torch.zeros((count, 1, model.config.hidden_size), dtype=model.dtype)
    mask = torch.zeros((count, 1), dtype=torch.long)
    return {"image_embeds": blank.to(model.device), "pixel_mask": mask.to(model.device)}


def open_backbone(
    spec: str,
    *,
    reading: str = "",
    most_tokens: int = 0,
    dtype: str = "float32",
    device: str = "",
    threads: int = 0,
    revision: str = "",
    allow_pickle: bool = False,
) -> Backbone:
    """The model that hf:NAME or hf:FOLDER names, without its head, in evaluation mode.

    Vectors are of 32-bit numbers everywhere, unless another dtype is given.
    """
    scheme, _, name = spec.partition(":")
    if scheme != "hf" or not name:
        raise UsageError(
            f"'{spec}' is not a model that a probe can look into.",
            "Give a model of transformers: hf:NAME or hf:FOLDER.",
        )
    torch, transformers = loading.libraries()
    loading.set_threads(threads)
    device = device or loading.best_device()
    check_device(device)
    check_known("dtype", dtype, loading.DTYPES)
    path = place_of(name).path
    check_folder(path, allow_pickle=allow_pickle)
    how = loading.Loading(revision=revision, allow_pickle=allow_pickle)
    numbers = getattr(torch, loading.DTYPES[dtype])
    with loading.quiet(), explained(name, allow_pickle=allow_pickle):
        tokenizer = load_tokenizer(path, **how.source())
        loaded = transformers.AutoModel.from_pretrained(path, dtype=numbers, **how.files())
    model, report = loaded
    tower = tower_of(model)
    known = READINGS[tower.kind]
    reading = reading or known[0]
    if reading not in known:
        raise UsageError(
            f"{name} is read as a model of kind {tower.kind}, which has no reading '{reading}'.",
            f"Choose one of: {', '.join(known)}.",
        )
    _check_weights(name, model, tower, reading, report["missing_keys"])
    tower.module.to(device).eval()
    about = {
        "kind": tower.kind,
        "architecture": type(tower.module).__name__,
        "parameters": sum(each.numel() for each in tower.module.parameters()),
        "revision": loading.revision_of(path, model.config),
        "dtype": loading.DTYPES[dtype],
        "device": device,
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
    }
    return Backbone(tower, tokenizer, reading, most_tokens=most_tokens, about=about)


def tower_of(model: Any) -> Tower:
    """The part of a model that reads text."""
    config = model.config
    seeing = SEEING.get(config.model_type, "")
    if seeing in ("vilt", "visualbert"):  # text and picture go through one encoder
        return Tower(seeing, model)
    if getattr(config, "is_encoder_decoder", False):
        return Tower("encoder-decoder", model.get_encoder())
    # CLIP, SigLIP, FLAVA and Idefics3 call it the one, LLaVA and most that write the other
    part = getattr(model, "text_model", None) or getattr(model, "language_model", None) or model
    if seeing:
        return Tower(seeing, part)
    return Tower("decoder" if _is_decoder(part.config) else "encoder", part)


def _is_decoder(config: Any) -> bool:
    """Whether a token sees only what stands before it; masked models are listed as both."""
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING,
        MODEL_FOR_MASKED_LM_MAPPING,
    )

    if getattr(config, "is_decoder", False):
        return True
    writes = type(config) in MODEL_FOR_CAUSAL_LM_MAPPING
    return writes and type(config) not in MODEL_FOR_MASKED_LM_MAPPING


def _check_weights(name: str, model: Any, tower: Tower, reading: str, missing: set[str]) -> None:
    """Refuse a part of the text's way through the model whose weights are not in its files.

    A model that was trained without a pooler lacks one; that matters only where it is read.
    """
    used = {id(weights) for weights in tower.module.parameters()}
    absent = []
    for key, weights in model.named_parameters():
        if key in missing and id(weights) in used:
            absent.append(key)
    if reading != "pooled":
        absent = [key for key in absent if "pooler." not in key]
    if not absent:
        return
    raise ModelError(
        f"{name} has no weights for {absent[0]}, so its vectors would be random"
        f"{f' ({len(absent)} parts are missing)' if len(absent) > 1 else ''}.",
        "Choose another reading: reading=first." if reading == "pooled" else "Fetch it again.",
    )
