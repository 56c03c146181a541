"""One pass over rows laid out as one line: what rows begin with alike stands in it once, unpadded.

Nearly all of a pass is computed for each token by itself, and that is computed for the line. Only
attention, which looks from one token to others, is given rows. Without examples, that is a ninth
less work for SmolLM2 on short questions that often begin with the same words.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from gnomon.models.planner import PassTask
from gnomon.models.transformers.limits import on_cpu
from gnomon.models.transformers.lines import TokenLine, line_up
from gnomon.models.transformers.passes import Layers, forward, logits_at, mask_of
from gnomon.models.transformers.rows import TokenRow

ATTENTION = "sdpa"  # the kind of attention that is given rows


class _Layout(NamedTuple):
    """How attention finds its rows in a line, and the line its tokens in rows."""

    rows: int
    length: int
    places: torch.Tensor  # for each place of the rows, its token in the line
    homes: torch.Tensor  # for each token of the line, one of its places
    mask: torch.Tensor | None  # None: each token sees those before it

    def in_rows(self, states: torch.Tensor) -> torch.Tensor:
        """States of a line (1, heads, tokens, size) as those of rows."""
        found = states.transpose(1, 2)[0].index_select(0, self.places)
        return found.unflatten(0, (self.rows, self.length)).transpose(1, 2)

    def in_line(self, states: torch.Tensor) -> torch.Tensor:
        """States of rows (rows, tokens, heads, size) as those of a line."""
        return states.flatten(0, 1).index_select(0, self.homes).unsqueeze(0)


def may_be_packed(model: Any) -> bool:
    """Whether packing is worth a trial: it was measured on processors only.

    A compiled model would be compiled again for every layout.
    """
    inner = getattr(model, model.base_model_prefix, model)
    compiled = getattr(inner, "_compiled_call_impl", None) is not None
    kind = getattr(model.config.get_text_config(), "_attn_implementation", None)
    return on_cpu(model) and kind == ATTENTION and not compiled


def compute_logits(model: Any, task: PassTask, prefix: Layers | None) -> torch.Tensor:
    """Float32 logits at the places that a task names, by one pass, packed or padded."""
    places = torch.as_tensor(task.places, device=next(model.parameters()).device)
    if not task.packed:
        return forward(model, task.batch, prefix, places)

    line = line_up(task.batch)
    layout = _layout(line, task.batch, prefix, model.dtype, places.device)
    inputs = {
        "input_ids": torch.tensor([line.tokens], device=places.device),
        "position_ids": torch.tensor([line.depths], device=places.device) + _length(prefix),
        "attention_mask": _no_mask(len(line.tokens), model.dtype, places.device),
        "use_cache": False,
    }
    with _attention_in_rows(layout, prefix):
        return logits_at(model, inputs, layout.places[places])


def _length(prefix: Layers | None) -> int:
    return 0 if prefix is None else int(prefix[0].keys.shape[-2])


def _no_mask(size: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """A mask that hides nothing and takes no memory: only so that the model makes none."""
    return torch.zeros(1, dtype=dtype, device=device).expand(1, 1, size, size)


def _layout(
    line: TokenLine,
    batch: list[TokenRow],
    prefix: Layers | None,
    dtype: torch.dtype,
    device: torch.device,
) -> _Layout:
    length = len(batch[0].tokens)
    mask = None
    if prefix is not None or not batch[0].chain:
        mask = mask_of(batch, length, _length(prefix), dtype, device)
    places = torch.tensor(line.places, device=device)
    homes = torch.tensor(line.homes, device=device)
    return _Layout(len(batch), length, places, homes, mask)


@contextmanager
def _attention_in_rows(layout: _Layout, prefix: Layers | None) -> Iterator[None]:
    """While inside, attention is given rows, each after the prefix, and gives back the line."""
    usual = ALL_ATTENTION_FUNCTIONS[ATTENTION]

    def attend(
        part: Any,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        _: torch.Tensor | None,
        **how: Any,
    ) -> tuple[torch.Tensor, None]:
        query, key, value = (layout.in_rows(states) for states in (query, key, value))
        if prefix is not None:
            key, value = prefix[part.layer_idx].update(key, value)
        if layout.mask is None:
            how["is_causal"] = True
        found, _ = usual(part, query, key, value, layout.mask, **how)
        return layout.in_line(found), None

    ALL_ATTENTION_FUNCTIONS[ATTENTION] = attend
    try:
        yield
    finally:
        ALL_ATTENTION_FUNCTIONS[ATTENTION] = usual
