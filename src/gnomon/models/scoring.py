"""The scoring core: log-probabilities of continuations, with every token computed once and logits only where asked.

`rows` plans trees of tokens; here they become tensors. A row attends along its tree by a 4-D mask, a family's prefix is
a key-value cache that all its rows share, and the model's head sees only the places whose logits are wanted. Models
that cannot do this (checked once, by trying) are given plain rows; the scores are the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer

from gnomon.errors import ModelError
from gnomon.models.rows import Family, Query, Row, batches, families, plain_rows, portions, rows

PREFIXES_KEPT = 4
TOKENS_KEPT = 16384  # of all prefixes together
ROOM = 64 * 2**20  # bytes that a prefix may take, spread over the rows of a batch
SPREAD = 256 * 2**20  # bytes that one layer's prefix may take for a moment, spread over the rows of a batch


class SharedLayer(DynamicLayer):  # type: ignore[misc]
    """A cache layer whose keys and values are the same for all rows, and stay as they are.

    Where they are small (`room` bytes) they stay spread over the rows, and a pass writes only its own after them.
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
        if 2 * rows * heads * (offset + new) * size * key_states.element_size() > self.room:
            return (
                torch.cat([self.keys.expand(rows, -1, -1, -1), key_states], dim=-2),
                torch.cat([self.values.expand(rows, -1, -1, -1), value_states], dim=-2),
            )
        if self._spread is None or self._spread[0].shape[0] < rows or self._spread[0].shape[2] < offset + new:
            self._spread = (self._spread_out(self.keys, rows, new), self._spread_out(self.values, rows, new))
        keys, values = (whole[:rows, :, : offset + new] for whole in self._spread)
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
Part = tuple[int, int, Query]  # a query's number, the first of its choices that are asked, these choices


class Scorer:
    """Scores continuations with a decoder-only language model of transformers."""

    def __init__(self, model: Any, *, tokens: int = 0, outputs: int = 0, trees: bool | None = None) -> None:
        self.model = model
        self.device = next(model.parameters()).device
        small = self.device.type == "cpu"
        self.tokens = tokens or (1024 if small else 16384)  # a pass should fit the cache of a CPU, and fill a GPU
        self.outputs = outputs or (256 if small else 2048)
        self.trees = trees  # none: not known yet
        self.prefixes: OrderedDict[tuple[int, ...], Layers] = OrderedDict()

    def score(self, queries: Sequence[Query]) -> list[list[float]]:
        """For each query the log-probability of each of its continuations, summed over its tokens."""
        if self.trees is None:
            self.trees = takes_trees(self.model)
        result = [[0.0] * len(query.continuations) for query in queries]
        asked = list(portions(queries, self.outputs))
        limit = _limit(self.model.config)
        short = [part for part in asked if self.trees and (not limit or _length(part[2]) <= limit)]
        for prefix, made in self._planned([query for _, _, query in short]):
            for batch in batches(made, tokens=self.tokens, outputs=self.outputs, most=_most(prefix, made)):
                self._add(batch, prefix, result, short)
        taken = set(map(id, short))
        long = [part for part in asked if id(part) not in taken]
        plain = list(plain_rows([query for _, _, query in long]))
        for made in _of_one_length(plain) if _first_trained_on(self.model.config) else [plain]:
            for batch in batches(made, tokens=self.tokens, outputs=self.outputs):
                self._add(batch, None, result, long)
        return result

    def _planned(self, queries: Sequence[Query]) -> Iterator[tuple[Layers | None, list[Row]]]:
        for family in families(queries, list(self.prefixes)):
            yield self._prefix(family.prefix, keep=len(family.members) > 1), list(rows(queries, family))

    def _prefix(self, tokens: Sequence[int], *, keep: bool) -> Layers | None:
        """Keys and values of a prefix, computed once and kept; a shorter one is cut from a longer one."""
        if not tokens:
            return None
        wanted = tuple(tokens)
        for old, layers in self.prefixes.items():
            if old[: len(wanted)] == wanted:
                self.prefixes.move_to_end(old)
                return layers if len(old) == len(wanted) else [layer.first(len(wanted)) for layer in layers]
        layers = read_prefix(self.model, wanted)
        if keep:
            self.prefixes[wanted] = layers
        while len(self.prefixes) > 1 and (
            len(self.prefixes) > PREFIXES_KEPT or sum(map(len, self.prefixes)) > TOKENS_KEPT
        ):
            self.prefixes.popitem(last=False)
        return layers

    def _add(self, batch: list[Row], prefix: Layers | None, result: list[list[float]], parts: Sequence[Part]) -> None:
        wanted = [(place, want) for place, row in enumerate(batch) for want in row.wanted]
        length = len(batch[0].tokens)
        places, which = np.unique([place * length + want.node for place, want in wanted], return_inverse=True)
        logits = forward(self.model, batch, prefix, torch.as_tensor(places, device=self.device))
        at = torch.as_tensor(which, device=self.device)
        tokens = torch.tensor([want.token for _, want in wanted], device=self.device)
        found = (logits[at, tokens] - _log_sums(logits)[at]).tolist()
        for (_, want), value in zip(wanted, found, strict=True):
            number, first, _ = parts[want.query]
            result[number][first + want.choice] += value


def forward(model: Any, batch: list[Row], prefix: Layers | None, places: torch.Tensor) -> torch.Tensor:
    """One pass over rows of a batch: float32 logits at the given places (row times length plus token)."""
    device = places.device
    length = len(batch[0].tokens)
    # A row is filled up with its last token: what stands after a token never changes it, so any token will do.
    ids = torch.tensor([row.tokens + row.tokens[-1:] * (length - len(row.tokens)) for row in batch], device=device)
    inputs: dict[str, Any] = {"input_ids": ids, "use_cache": False}
    offset = 0 if prefix is None else prefix[0].keys.shape[-2]
    if prefix is not None:
        inputs |= {"past_key_values": Cache(layers=prefix), "use_cache": True}
    if prefix is not None or not batch[0].chain:
        depths = np.array([row.depths + row.depths[-1:] * (length - len(row.tokens)) for row in batch])
        inputs["position_ids"] = torch.as_tensor(depths + offset, device=device)
        inputs["attention_mask"] = _mask(batch, length, offset, model.dtype, device)
    return logits_at(model, inputs, places)


def logits_at(model: Any, inputs: dict[str, Any], places: torch.Tensor) -> torch.Tensor:
    """Float32 logits at the given places of a batch (row times length plus token), and nowhere else if possible."""
    with torch.inference_mode(), _only_at(model, places) as seen:
        logits: torch.Tensor = model(**inputs).logits
        logits = logits.reshape(-1, logits.shape[-1])
        return (logits if seen else logits[places]).float()  # unseen: the head is not where the model says it is


def read_prefix(model: Any, tokens: Sequence[int]) -> Layers:
    """Keys and values of a text, layer by layer."""
    device = next(model.parameters()).device
    cache = DynamicCache()  # without the config: every layer keeps every token, sliding windows are the mask's matter
    with torch.inference_mode(), _only_at(model, torch.tensor([len(tokens) - 1], device=device)):
        model(input_ids=torch.tensor([list(tokens)], device=device), past_key_values=cache, use_cache=True)
    return [SharedLayer(layer.keys, layer.values, ROOM // len(cache.layers)) for layer in cache.layers]


def takes_trees(model: Any) -> bool:
    """Does the model give the same hidden states in a tree with a shared prefix as in plain rows? Tried, not guessed.

    A model that ignores positions or masks (recurrent ones, some with position biases) fails and is asked plainly.
    """
    size = int(model.config.get_text_config().vocab_size)
    tokens = [(7919 * i + 13) % size for i in range(12)]
    queries = [Query(tokens[:6], [tokens[6:9], tokens[9:12]]), Query([*tokens[:4], tokens[8]], [tokens[:3]])]
    plain: dict[tuple[int, int, int], torch.Tensor] = {}
    for row in plain_rows(queries):
        plain |= _hidden(model, [row], None)
    quantised = any("quantized" in type(part).__module__ for part in model.modules())  # by what a whole batch needs
    tolerance = 0.1 if quantised or model.dtype != torch.float32 else 1e-3
    alike = _alike_states(plain[0, 0, 0], plain[0, 1, 0], tolerance)  # the same place, before texts that differ
    if not alike and not quantised:
        raise ModelError(
            "The model is no decoder: what it reads at a place depends on what stands after it.",
            "Ask it as what it is: --model-set kind=masked, seq2seq or nli.",
        )
    try:
        prefix = read_prefix(model, tokens[:3])
        tree: dict[tuple[int, int, int], torch.Tensor] = {}
        for number, query in enumerate(queries):
            for row in rows([Query(query.context[3:], query.continuations)], Family([], [0])):
                tree |= {(number, *key[1:]): value for key, value in _hidden(model, [row], prefix).items()}
    except Exception:
        return False
    return all(_alike_states(tree[key], value, tolerance) for key, value in plain.items())


def _alike_states(one: torch.Tensor, other: torch.Tensor, tolerance: float) -> bool:
    return bool(torch.norm(one - other) <= tolerance * torch.norm(other))


def _hidden(model: Any, batch: list[Row], prefix: Layers | None) -> dict[tuple[int, int, int], torch.Tensor]:
    """What the head is given at each wanted place (or says, if it is not known), by query, choice, number of token."""
    seen: list[torch.Tensor] = []
    places = torch.tensor([want.node for want in batch[0].wanted], device=next(model.parameters()).device)
    head = model.get_output_embeddings()
    hook = head.register_forward_hook(lambda _, args, __: seen.append(args[0][0])) if head is not None else None
    try:
        logits = forward(model, batch, prefix, places)
    finally:
        if hook is not None:
            hook.remove()
    states = seen[0].float() if seen else logits
    count: dict[tuple[int, int], int] = {}
    found = {}
    for want, state in zip(batch[0].wanted, states, strict=True):
        key = (want.query, want.choice)
        count[key] = count.get(key, -1) + 1
        found[(*key, count[key])] = state
    return found


@contextmanager
def _only_at(model: Any, places: torch.Tensor) -> Iterator[list[torch.Tensor]]:
    """While inside, the model's head is given only the hidden states at `places`, as one row; it yields these.

    The feed-forward part of the last layer, which nothing but the head sees, is computed only there, too. Hooks rather
    than calls past the model: scaling and capping of logits stay the model's own.
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
        states, *rest = output if isinstance(output, tuple) else (output,)  # some give what their router said, too
        rows, length, size = shapes.pop()
        wide = states.new_zeros(rows * length, size)
        wide[places] = states.view(-1, size)
        wide = wide.view(rows, length, size)
        return (wide, *rest) if isinstance(output, tuple) else wide

    head, last = model.get_output_embeddings(), _last_feed_forward(model)
    hooks = [] if head is None else [head.register_forward_pre_hook(keep)]
    if head is not None and last is not None:
        hooks += [last.register_forward_pre_hook(narrow), last.register_forward_hook(widen)]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _log_sums(logits: torch.Tensor) -> torch.Tensor:
    """The logarithm of the sum of each row's exponentials; on a CPU by a few rows, which its cache can hold."""
    rows = 8 if logits.device.type == "cpu" else len(logits)
    return torch.cat([part.logsumexp(-1) for part in logits.split(rows)])


def _last_feed_forward(model: Any) -> Any:
    """The feed-forward part of the last layer, if it is a plain one that works on each token by itself."""
    last = f".{getattr(model.config.get_text_config(), 'num_hidden_layers', 0) - 1}.mlp"
    found = [part for name, part in model.named_modules() if name.endswith(last)]
    return found[0] if len(found) == 1 and type(found[0]).__name__.endswith("MLP") else None


def _mask(batch: list[Row], length: int, offset: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Additive: 0 where a token sees another (the prefix, its ancestors, itself), the least number elsewhere."""
    if batch[0].chain:
        sees = np.tril(np.ones((1, length, length), dtype=bool))
    else:
        sees = np.zeros((len(batch), length, length), dtype=bool)
        for place, row in enumerate(batch):
            _ancestors(row, sees[place])
    mask = torch.full((len(sees), 1, length, offset + length), torch.finfo(dtype).min, dtype=dtype)
    mask[..., :offset] = 0
    mask[:, 0, :, offset:][torch.from_numpy(sees)] = 0
    return mask.to(device).expand(len(batch), -1, -1, -1)


def _ancestors(row: Row, sees: np.ndarray) -> None:
    np.fill_diagonal(sees, True)
    for place, parent in enumerate(row.parents):
        if parent >= 0:
            sees[place, : parent + 1] |= sees[parent, : parent + 1]


def _most(prefix: Layers | None, made: Sequence[Row]) -> int | None:
    """How many rows may share a prefix in one pass: attention takes a copy of it for each."""
    if prefix is None or not made:
        return None
    keys = prefix[0].keys
    row = 2 * keys.element_size() * keys.shape[1] * keys.shape[3] * (keys.shape[2] + max(len(r.tokens) for r in made))
    return max(1, int(SPREAD // row))


def _limit(config: Any) -> int:
    """Up to how many tokens any text is read alike, 0 if without limit.

    Within a sliding window a sliding layer sees what a full one sees. Rotary embeddings of the types dynamic and
    longrope turn otherwise as soon as a batch holds a text longer than those that the model was first trained on.
    """
    text = config.get_text_config()
    kinds = getattr(text, "layer_types", None)
    slides = not kinds or any("sliding" in kind or "chunked" in kind for kind in kinds)
    names = ("sliding_window", "attention_chunk_size", "window_size") if slides else ()
    sizes = [getattr(text, name, None) for name in names] + [_first_trained_on(config)]
    return min((size for size in sizes if isinstance(size, int) and size > 0), default=0)


def _first_trained_on(config: Any) -> int | None:
    """The length beyond which rotary embeddings turn otherwise, none if they do not."""
    text = config.get_text_config()
    rotary = getattr(text, "rope_parameters", None) or getattr(text, "rope_scaling", None) or {}
    if rotary.get("rope_type") not in ("dynamic", "longrope"):
        return None
    size = rotary.get("original_max_position_embeddings") or getattr(text, "max_position_embeddings", None)
    return int(size) if size else None


def _of_one_length(made: list[Row]) -> list[list[Row]]:
    groups: dict[int, list[Row]] = {}
    for row in made:
        groups.setdefault(len(row.tokens), []).append(row)
    return list(groups.values())


def _length(query: Query) -> int:
    return len(query.context) + max(len(continuation) for continuation in query.continuations)
