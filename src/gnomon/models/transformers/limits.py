"""What a model and the machine can take: how long a text, how many tokens at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# as configs name them
LENGTHS = ("max_position_embeddings", "n_positions", "n_ctx")
WINDOWS = ("sliding_window", "attention_chunk_size", "window_size")
NO_LIMIT = 10**9  # tokenizers that do not know a limit name a number beyond all bounds


def longest_text(model: Any, tokenizer: Any) -> int:
    """Tokens that a text may have; 0 if the model does not say."""
    config = model.config.get_text_config()
    sizes = [getattr(config, name, None) for name in LENGTHS]
    sizes.append(getattr(tokenizer, "model_max_length", None))
    return _least(sizes)


def longest_tree(config: Any) -> int:
    """Up to how many tokens a tree is read as plain rows are, 0 if without limit.

    Within a sliding window a sliding layer sees what a full one sees. Some rotary embeddings turn
    otherwise as soon as a batch holds a long text.
    """
    text = config.get_text_config()
    sizes = [rotation_limit(config)]
    if _has_sliding_layers(text):
        sizes += [getattr(text, name, None) for name in WINDOWS]
    return _least(sizes)


def rotation_limit(config: Any) -> int | None:
    """The length beyond which rotary embeddings of the types dynamic and longrope turn otherwise.

    It is the length that the model was first trained on; none for models of other types.
    """
    text = config.get_text_config()
    rotary = getattr(text, "rope_parameters", None) or getattr(text, "rope_scaling", None) or {}
    if rotary.get("rope_type") not in ("dynamic", "longrope"):
        return None
    size = rotary.get("original_max_position_embeddings")
    size = size or getattr(text, "max_position_embeddings", None)
    return int(size) if size else None


def token_budget(model: Any) -> int:
    """Tokens of a batch: a large model on a CPU should save its answers every few seconds."""
    if not on_cpu(model):
        return 65536
    parameters = sum(each.numel() for each in model.parameters())
    return max(2048, min(65536, int(5e11 / parameters)))


def tokens_in_a_pass(model: Any) -> int:
    """Tokens that an encoder reads at once: a pass should fit a CPU's cache, and fill a GPU."""
    return 2048 if on_cpu(model) else 16384


def on_cpu(model: Any) -> bool:
    """Whether the model is computed by the processor rather than by a GPU."""
    return bool(next(model.parameters()).device.type == "cpu")


def _has_sliding_layers(text: Any) -> bool:
    """Whether some layers see a window only: those that say so, or all, as far as is known."""
    kinds = getattr(text, "layer_types", None)
    if not kinds:
        return True
    return any("sliding" in kind or "chunked" in kind for kind in kinds)


def _least(sizes: Sequence[Any]) -> int:
    """The smallest number of tokens that is named; 0 if none is."""
    known = [size for size in sizes if isinstance(size, int) and 0 < size < NO_LIMIT]
    return min(known, default=0)
