"""What a model and the machine can take: how long a text, how many tokens at once."""

from __future__ import annotations

from typing import Any

LENGTHS = ("max_position_embeddings", "n_positions", "n_ctx")  # as configs name them
NO_LIMIT = 10**9  # tokenizers that do not know a limit name a number beyond all bounds


def longest_text(model: Any, tokenizer: Any) -> int:
    """Tokens that a text may have; 0 if the model does not say."""
    config = model.config.get_text_config()
    sizes = [getattr(config, name, None) for name in LENGTHS]
    sizes.append(getattr(tokenizer, "model_max_length", None))
    known = [size for size in sizes if isinstance(size, int) and 0 < size < NO_LIMIT]
    return min(known, default=0)


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
