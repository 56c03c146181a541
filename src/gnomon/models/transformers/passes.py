"""One pass of a model over rows: a prefix that they share, and logits only where they are wanted.

A row attends along its tree by a 4-D mask; the prefix is a key-value cache that is the same for all
rows; and the head, with the last layer's feed-forward part, is given only the places whose logits
are asked for. Rows may be packed into one line in which what they begin with alike stands once,
unpadded: only attention, which looks from one token to others, is given rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer
from transformers.integrations import sdpa_attention
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from gnomon.models.planner import PassTask
from gnomon.models.rows import TokenLine, TokenRow, ancestors, filled, line_up
from gnomon.models.transformers.loading import on_cpu

SPREAD = 256 * 2**20  # bytes that one layer's prefix may take, spread over the rows of a batch
ROOM = 64 * 2**20  # bytes that a prefix may take, spread over the rows of a batch


class SharedLayer(DynamicLayer):  # type: ignore[misc]
    """A cache layer whose keys and values are the same for all rows, and stay as they are.

    Where they are small (`room` bytes) they stay spread over the rows, and a pass writes only its
    own after them.
    """

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, room: int) -> None:
        super().__init__()
        self.keys, self.values, self.room = keys, values, room
        self.dtype, self.device = keys.dtype, keys.device
        self.is_initialized = True
        self._spread: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The shared keys and values followed by the new ones, for each row."""
        rows, heads, new, size = key_states.shape
        offset = self.keys.shape[-2]
        length = offset + new
        if 2 * rows * heads * length * size * key_states.element_size() > self.room:
            keys = torch.cat([self.keys.expand(rows, -1, -1, -1), key_states], dim=-2)
            values = torch.cat([self.values.expand(rows, -1, -1, -1), value_states], dim=-2)
            return keys, values

        spread = self._spread
        if spread is None or spread[0].shape[0] < rows or spread[0].shape[2] < length:
            keys = self._spread_out(self.keys, rows, new)
            values = self._spread_out(self.values, rows, new)
            spread = self._spread = (keys, values)
        keys, values = spread
        keys, values = keys[:rows, :, :length], values[:rows, :, :length]
        keys[:, :, offset:] = key_states
        values[:, :, offset:] = value_states
        return keys, values

    def first(self, tokens: int) -> SharedLayer:
        """The layer of the first tokens only."""
        return SharedLayer(self.keys[:, :, :tokens], self.values[:, :, :tokens], self.room)

    def _spread_out(self, shared: torch.Tensor, rows: int, new: int) -> torch.Tensor:
        _, heads, offset, size = shared.shape
        whole = shared.new_empty(rows, heads, offset + new, size)
        whole[:, :, :offset] = shared
        return whole


Layers = list[SharedLayer]  # of a prefix


def forward(
    model: Any, batch: list[TokenRow], prefix: Layers | None, places: torch.Tensor
) -> torch.Tensor:
    """One pass over rows of a batch: float32 logits at the given places.

    A place is counted through the batch: row times length plus token.
    """
    device = places.device
    length = len(batch[0].tokens)
    ids = [filled(row.tokens, length) for row in batch]
    inputs: dict[str, Any] = {"input_ids": torch.tensor(ids, device=device), "use_cache": False}
    offset = 0
    if prefix is not None:
        offset = prefix[0].keys.shape[-2]
        inputs |= {"past_key_values": Cache(layers=prefix), "use_cache": True}
    if prefix is not None or not batch[0].chain:
        depths = [filled(row.depths, length) for row in batch]
        inputs["position_ids"] = torch.as_tensor(np.array(depths) + offset, device=device)
        inputs["attention_mask"] = mask_of(batch, length, offset, model.dtype, device)
    return logits_at(model, inputs, places)


def logits_at(model: Any, inputs: dict[str, Any], places: torch.Tensor) -> torch.Tensor:
    """Float32 logits at the given places of a batch, and nowhere else if possible."""
    with torch.inference_mode(), _uncopied_keys(places.device), only_at(model, places) as seen:
        output = model(**inputs)
        logits: torch.Tensor = output["logits" if "logits" in output else "prediction_logits"]
        logits = logits.reshape(-1, logits.shape[-1])
        if not seen:  # the head is not where the model says it is: it was given all places
            logits = logits[places]
        return logits.float()


def padded(
    rows: Sequence[Sequence[int]], filler: int, device: torch.device, *, left: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows filled up to one length, on the right or the left, and which of their tokens count."""
    size = max(map(len, rows))
    ids, seen = [], []
    for row in rows:
        gap = size - len(row)
        before, after = (gap, 0) if left else (0, gap)
        ids.append([*[filler] * before, *row, *[filler] * after])
        seen.append([0] * before + [1] * len(row) + [0] * after)
    return torch.tensor(ids, device=device), torch.tensor(seen, device=device)


def rows_that_fit(keys: torch.Tensor, longest: int) -> int:
    """How many rows of so many tokens may follow a prefix in one pass.

    `keys` are those of a layer of the prefix: attention takes a copy of them for each row.
    """
    _, heads, offset, size = keys.shape
    row_bytes = 2 * keys.element_size() * heads * size * (offset + longest)
    return max(1, int(SPREAD // row_bytes))


def wanted_logs(logits: torch.Tensor, task: PassTask) -> list[float]:
    """The log-probabilities that a task wants, from the logits at its places."""
    which = torch.as_tensor(task.which, device=logits.device)
    tokens = torch.tensor(task.tokens, device=logits.device)
    found: list[float] = (logits[which, tokens] - log_sums(logits)[which]).tolist()
    return found


def log_sums(logits: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of each row's exponentials; a CPU's cache holds a few rows."""
    rows = 8 if logits.device.type == "cpu" else len(logits)
    return torch.cat([part.logsumexp(-1) for part in logits.split(rows)])


def read_prefix(model: Any, tokens: Sequence[int]) -> Layers:
    """Keys and values of a text, layer by layer."""
    device = next(model.parameters()).device
    ids = torch.tensor([list(tokens)], device=device)
    # Without the config every layer keeps every token: sliding windows are the mask's matter.
    cache = DynamicCache()
    with torch.inference_mode(), only_at(model, torch.tensor([len(tokens) - 1], device=device)):
        model(input_ids=ids, past_key_values=cache, use_cache=True)
    if not cache.layers:
        raise ValueError("the model keeps no keys and values")
    room = ROOM // len(cache.layers)
    return [SharedLayer(layer.keys, layer.values, room) for layer in cache.layers]


@contextmanager
def _uncopied_keys(device: torch.device) -> Iterator[None]:
    """While inside, heads that share keys and values are given them as they are, on a CPU.

    Where there is a mask, transformers copies keys and values for each head, since a kernel of CUDA
    wants it so. A CPU's kernel does not, and the copies took a twelfth of a pass with examples.
    """
    usual = getattr(sdpa_attention, "use_gqa_in_sdpa", None)
    if usual is None or device.type != "cpu":
        yield
        return
    sdpa_attention.use_gqa_in_sdpa = lambda *_, **__: True
    try:
        yield
    finally:
        sdpa_attention.use_gqa_in_sdpa = usual


@contextmanager
def only_at(model: Any, places: torch.Tensor) -> Iterator[list[torch.Tensor]]:
    """While inside, the model's head is given the states at `places`, as one row, and no other.

    The feed-forward part of the last layer, which nothing but the head sees, is computed only
    there, too. Hooks rather than calls past the model: scaling and capping of logits stay the
    model's own.
    """
    seen: list[torch.Tensor] = []
    shapes: list[torch.Size] = []

    def keep(_: Any, args: tuple[Any, ...]) -> tuple[torch.Tensor]:
        seen.append(args[0].reshape(-1, args[0].shape[-1])[places].unsqueeze(0))
        return (seen[-1],)

    def narrow(_: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(args) != 1 or args[0].dim() != 3:
            return args
        shapes.append(args[0].shape)
        return (args[0].reshape(-1, args[0].shape[-1])[places].unsqueeze(0),)

    def widen(_: Any, __: Any, output: Any) -> Any:
        if not shapes:
            return output
        # some give what their router said, too
        states, *rest = output if isinstance(output, tuple) else (output,)
        rows, length, size = shapes.pop()
        wide = states.new_zeros(rows * length, size)
        wide[places] = states.view(-1, size)
        wide = wide.view(rows, length, size)
        return (wide, *rest) if isinstance(output, tuple) else wide

    head, last = model.get_output_embeddings(), _last_feed_forward(model)
    hooks = []
    if head is not None:
        hooks.append(head.register_forward_pre_hook(keep))
    if head is not None and last is not None:
        hooks += [last.register_forward_pre_hook(narrow), last.register_forward_hook(widen)]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _last_feed_forward(model: Any) -> Any:
    """The feed-forward part of the last layer, if it is one that works on each token by itself."""
    layers = getattr(model.config.get_text_config(), "num_hidden_layers", 0)
    last = f".{layers - 1}.mlp"
    found = [part for name, part in model.named_modules() if name.endswith(last)]
    if len(found) == 1 and type(found[0]).__name__.endswith("MLP"):
        return found[0]
    return None


def mask_of(
    batch: list[TokenRow], length: int, offset: int, dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """What a token sees: 0 for the prefix, its ancestors and itself, the least number elsewhere."""
    sees = ancestors(batch, length)
    mask = torch.full((len(sees), 1, length, offset + length), torch.finfo(dtype).min, dtype=dtype)
    mask[..., :offset] = 0
    mask[:, 0, :, offset:][torch.from_numpy(sees)] = 0
    return mask.to(device).expand(len(batch), -1, -1, -1)


# --- rows packed into one line -------------------------------------------------------------------


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
    size = len(line.tokens)
    # hides nothing and takes no memory: only so that the model makes none
    no_mask = torch.zeros(1, dtype=model.dtype, device=places.device).expand(1, 1, size, size)
    layout = _layout(line, task.batch, prefix, model.dtype, places.device)
    inputs = {
        "input_ids": torch.tensor([line.tokens], device=places.device),
        "position_ids": torch.tensor([line.depths], device=places.device) + _length(prefix),
        "attention_mask": no_mask,
        "use_cache": False,
    }
    with _attention_in_rows(layout, prefix):
        return logits_at(model, inputs, layout.places[places])


def _length(prefix: Layers | None) -> int:
    return 0 if prefix is None else int(prefix[0].keys.shape[-2])


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
