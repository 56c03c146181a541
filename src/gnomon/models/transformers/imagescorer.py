"""Likelihoods after pictures: each is read once, with the beginning that its questions share.

Questions about pictures of one shape begin with the same tokens; only the pictures differ. That
beginning is read for several pictures in one pass, and what follows it is read as rows on the
picture's own keys and values. Plain passes, each text read whole, are the reference; a trial says
which of the two a model is asked by. No text is padded on the left, and pictures of different
shape never share a pass, so the batch has no say in the scores.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from transformers.cache_utils import DynamicCache

from gnomon.errors import ModelError, ModelWarning
from gnomon.grouped import chunks, grouped
from gnomon.models.choices import Query, read_tokens, take
from gnomon.models.planner import task_of
from gnomon.models.rows import (
    QueryFamily,
    TokenRow,
    batches,
    common_beginning,
    plain_rows,
    rows,
)
from gnomon.models.transformers.imageinputs import (
    PictureEncoder,
    PictureProcessor,
    ShownPictures,
    shape_of,
)
from gnomon.models.transformers.loading import longest_tree, on_cpu
from gnomon.models.transformers.passes import (
    SharedLayer,
    forward,
    logits_at,
    rows_that_fit,
    wanted_logs,
)
from gnomon.models.transformers.scorer import REFUSALS, ROOM_ON_CPU, ROOM_ON_GPU, first_line
from gnomon.models.transformers.tokens import TextEncoder
from gnomon.vision.images import Pixels

PREFIX_TOKENS = 2  # times the tokens of a pass: a prefix has no logits
PREFIX_BYTES = 2 * 2**30  # of keys and values that are kept at once

Result = list[list[float]]


class PictureQuery(Query):
    """A question with what is shown before it."""

    shown: ShownPictures

    @classmethod
    def of(cls, query: Query, shown: ShownPictures) -> PictureQuery:
        """The question with these pictures."""
        made = cls(*query)
        made.shown = shown
        return made


class Prefix(NamedTuple):
    """A beginning that was read for several pictures."""

    layers: list[tuple[torch.Tensor, torch.Tensor]]  # keys and values, one entry for each picture
    shifts: torch.Tensor  # how far the next position is from the number of tokens, for each


class PictureScorer:
    """Scores continuations of texts with pictures, by a model that sees and writes."""

    def __init__(self, model: Any, pictures: PictureEncoder, *, sharing: bool = True) -> None:
        self.model, self.pictures, self.sharing = model, pictures, sharing
        self.device = next(model.parameters()).device
        self.room = ROOM_ON_CPU if on_cpu(model) else ROOM_ON_GPU
        self._limit = longest_tree(model.config)
        self._mark = getattr(model.config, "image_token_id", None)  # stands for pictures
        self._most_tokens = min(
            PREFIX_TOKENS * self.room.tokens, PREFIX_BYTES // _bytes_of_a_token(model)
        )

    def score(self, queries: Sequence[PictureQuery]) -> Result:
        """For each query the log-probability of each continuation, summed over its tokens."""
        self.pictures.look([query.shown for query in queries])
        result = [[0.0] * len(query.continuations) for query in queries]
        for numbers in self._alike(queries):
            prefix = self._prefix(take(queries, numbers))
            if prefix:
                self._score_shared(queries, numbers, prefix, result)
            else:
                self._score_plainly(queries, numbers, result)
        return result

    def _alike(self, queries: Sequence[PictureQuery]) -> list[list[int]]:
        """Numbers of queries that are the same up to their pictures, which have one shape."""

        def kind(number: int) -> tuple[Any, ...]:
            query = queries[number]
            return shape_of(query.shown), tuple(query.context[: self._end_of_pictures(query)])

        return list(grouped(range(len(queries)), kind).values())

    def _end_of_pictures(self, query: PictureQuery) -> int:
        """How many tokens there are up to the last one of a picture."""
        if self._mark not in query.context:
            return 0
        return len(query.context) - query.context[::-1].index(self._mark)

    def _prefix(self, queries: Sequence[PictureQuery]) -> list[int]:
        """What queries that are alike share; nothing if they are to be read whole."""
        if not self.sharing or self._is_too_long(queries):
            return []
        prefix = common_beginning([query.context for query in queries])
        if len(prefix) < self._end_of_pictures(queries[0]):
            return []
        return prefix

    def _is_too_long(self, queries: Sequence[PictureQuery]) -> bool:
        return bool(self._limit) and max(map(read_tokens, queries)) >= self._limit

    def _score_shared(
        self,
        queries: Sequence[PictureQuery],
        numbers: Sequence[int],
        prefix: list[int],
        result: Result,
    ) -> None:
        by_picture = grouped(numbers, lambda number: queries[number].shown)
        most = max(1, self._most_tokens // len(prefix))
        for chosen in chunks(list(by_picture), most):
            read = self._read(prefix, chosen)
            made: list[TokenRow] = []
            places: dict[int, int] = {}  # query -> place of its picture
            for place, picture in enumerate(chosen):
                members = by_picture[picture]
                places.update(dict.fromkeys(members, place))
                made += rows(queries, QueryFamily(prefix, members))
            self._score_rows(made, read, places, result)

    def _score_rows(
        self, made: list[TokenRow], read: Prefix, places: dict[int, int], result: Result
    ) -> None:
        most = rows_that_fit(read.layers[0][0], max(len(row.tokens) for row in made))
        tokens, outputs = self.room
        for batch in batches(made, tokens=tokens, outputs=outputs, most=most):
            which = [places[row.wanted[0].query] for row in batch]
            own = torch.tensor(which, device=self.device)
            layers = [PictureLayer(keys, values, own) for keys, values in read.layers]
            model = Continuing(self.model, read.shifts[own])
            asked = task_of(batch)
            at = torch.as_tensor(asked.places, device=self.device)
            asked.add_to(result, wanted_logs(forward(model, batch, layers, at), asked))

    def _read(self, prefix: list[int], pictures: Sequence[ShownPictures]) -> Prefix:
        """Read a beginning with each of some pictures."""
        inputs = pictures[0].token_inputs([prefix] * len(pictures), self.device)
        inputs |= self.pictures.inputs(pictures)
        # Without the config every layer keeps every token: sliding windows are the mask's matter.
        cache = DynamicCache()
        positions: list[torch.Tensor] = []

        def note(_: Any, __: Any, given: dict[str, Any]) -> None:
            if given.get("position_ids") is not None:
                positions.append(given["position_ids"])

        hook = self.model.get_decoder().register_forward_pre_hook(note, with_kwargs=True)
        try:
            with torch.inference_mode():
                self.model(**inputs, past_key_values=cache, use_cache=True, logits_to_keep=1)
        finally:
            hook.remove()
        layers = [(layer.keys, layer.values) for layer in cache.layers]
        return Prefix(layers, self._shifts(positions, len(prefix), len(pictures)))

    def _shifts(self, positions: list[torch.Tensor], length: int, count: int) -> torch.Tensor:
        """How far the next position is from the number of tokens.

        Models that count pictures in rows and columns give three positions for each token.
        """
        if not positions:
            return torch.zeros(count, dtype=torch.long, device=self.device)
        last = positions[0][..., -1]
        if last.dim() > 1:
            last = last.amax(0)
        return last.expand(count) + 1 - length

    def _score_plainly(
        self, queries: Sequence[PictureQuery], numbers: Sequence[int], result: Result
    ) -> None:
        made = list(plain_rows(take(queries, numbers)))
        for row in made:
            row.wanted = [want._replace(query=numbers[want.query]) for want in row.wanted]

        tokens, outputs = self.room
        for alike in grouped(made, lambda row: len(row.tokens)).values():
            for batch in batches(alike, tokens=tokens, outputs=outputs):
                asked = task_of(batch)
                places = torch.as_tensor(asked.places, device=self.device)
                logits = logits_at(self.model, self._whole(queries, batch), places)
                asked.add_to(result, wanted_logs(logits, asked))

    def _whole(self, queries: Sequence[PictureQuery], batch: Sequence[TokenRow]) -> dict[str, Any]:
        """A batch of whole texts of one length, with their pictures."""
        asked = [queries[row.wanted[0].query] for row in batch]
        inputs = asked[0].shown.token_inputs([row.tokens for row in batch], self.device)
        if asked[0].shown.reads_both_ways:
            for place, query in enumerate(asked):
                inputs["token_type_ids"][place, len(query.context) :] = 1
        inputs |= self.pictures.inputs([query.shown for query in asked])
        return {**inputs, "use_cache": False}


class PictureLayer(SharedLayer):
    """A cache layer whose rows continue different pictures."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, rows: torch.Tensor) -> None:
        super().__init__(keys, values, room=0)
        self.rows = rows

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_: Any, **__: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The keys and values of each row's picture, followed by the new ones."""
        keys = torch.cat([self.keys[self.rows], key_states], dim=-2)
        values = torch.cat([self.values[self.rows], value_states], dim=-2)
        return keys, values


class Continuing:
    """A model whose rows go on from where their pictures end, which is not the number of tokens."""

    def __init__(self, model: Any, shifts: torch.Tensor) -> None:
        self._model, self._shifts = model, shifts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def named_modules(self) -> Any:
        """The parts that write: those that see have layers of the same names."""
        return self._model.get_decoder().named_modules()

    def __call__(self, **inputs: Any) -> Any:
        """A pass at the positions that follow the pictures."""
        inputs["position_ids"] = inputs["position_ids"] + self._shifts[:, None]
        return self._model(**inputs)


def _bytes_of_a_token(model: Any) -> int:
    """The bytes of a token's keys and values in all layers; 1 if the model does not say."""
    text = model.config.get_text_config()
    heads = _most(text, "num_attention_heads")
    size = _most(text, "head_dim") or _most(text, "hidden_size") // max(1, heads)
    kept = _most(text, "num_key_value_heads") or heads
    numbers = 2 * _most(text, "num_hidden_layers") * kept * size
    return max(1, numbers * int(model.dtype.itemsize))


def _most(config: Any, name: str) -> int:
    """A setting of a config; 0 if it says none, or another for each layer (Gemma 4)."""
    try:
        return int(getattr(config, name, None) or 0)
    except (TypeError, AttributeError, ValueError):
        return 0


# --- a model that sees, tried once on a picture of our own ----------------------------------------


EXACT = 1e-4  # by how much log-probabilities may differ in 32 bits
ROUGH = 0.1  # in fewer
CAPTIONS = ("The lamp is left of the red car.", "A bird stands on the bridge.")


def trial_picture() -> Pixels:
    """A small picture that is nowhere plain, and wider than high."""
    import numpy as np
    from PIL import Image

    rows, columns, _ = np.meshgrid(np.arange(96), np.arange(128), np.arange(3), indexing="ij")
    colours = np.stack([2 * columns[..., 0], rows[..., 0] * 2, (rows * columns)[..., 0] % 251], -1)
    return Image.fromarray((colours % 256).astype(np.uint8))


def try_out(
    scorer: PictureScorer,
    processor: PictureProcessor,
    encoder: TextEncoder,
    texts: Sequence[str],
    shown: ShownPictures,
    spec: str,
) -> None:
    """Find out how a model may be asked, and set the scorer so.

    `texts` are two questions about the trial's picture, `shown` is what was made of it.
    """
    queries, wanted = _reference(scorer, processor, encoder, texts, shown, spec)
    tolerance = EXACT if scorer.model.dtype == torch.float32 else ROUGH
    scorer.sharing = False
    trouble = _trouble(scorer, queries, wanted, tolerance)
    if trouble and scorer.pictures.remembers:
        scorer.pictures.remembers = False
        _say(f"{spec} looks at its pictures again for each question: else {trouble}.")
        for query in queries:  # what it made of the picture is not used
            query.shown.features = None
            query.shown.tensors = dict(shown.tensors)
        trouble = _trouble(scorer, queries, wanted, tolerance)
    if trouble:
        raise ModelError(
            f"{spec} cannot be shown pictures as its authors do: {trouble}.",
            "Choose another model that sees.",
        )

    scorer.sharing = True
    trouble = _trouble(scorer, queries, wanted, tolerance)
    if trouble:
        scorer.sharing = False
        _say(
            f"{spec} reads each question whole, which is as exact but slower: "
            f"where questions share a picture {trouble}."
        )


def _reference(
    scorer: PictureScorer,
    processor: PictureProcessor,
    encoder: TextEncoder,
    texts: Sequence[str],
    shown: ShownPictures,
    spec: str,
) -> tuple[list[PictureQuery], list[list[float]]]:
    """The questions as we ask them, and the log-probabilities of two answers by a plain pass."""
    own = ShownPictures(shown.before, shown.after, dict(shown.tensors), shown.types)
    queries, wanted = [], []
    for text in texts:
        literal = processor.literally(text, [trial_picture()])
        expanded = processor.places.expanded(text, 1, shown)
        tokens = encoder.open(expanded, encoder.raw([expanded])[0])
        if tokens != literal["input_ids"][0].tolist():
            raise ModelError(
                f"{spec} has a processor that writes its texts in a way of its own.",
                "Choose another model that sees.",
            )
        logits = _plain_pass(scorer.model, literal)
        answers = logits.topk(2).indices.tolist()
        query = Query(tokens, [[answer] for answer in answers])
        queries.append(PictureQuery.of(query, own))
        wanted.append(logits[answers].tolist())
    return queries, wanted


def _plain_pass(model: Any, inputs: dict[str, Any]) -> torch.Tensor:
    """Log-probabilities of the token after a text."""
    device = next(model.parameters()).device
    given = {}
    for name, value in inputs.items():
        given[name] = value.to(device, model.dtype if value.is_floating_point() else value.dtype)
    with torch.inference_mode():
        logits: torch.Tensor = model(**given).logits
    return logits[0, -1].float().log_softmax(-1)


def _trouble(
    scorer: PictureScorer,
    queries: Sequence[PictureQuery],
    wanted: Sequence[Sequence[float]],
    tolerance: float,
) -> str:
    """What is wrong with a way of asking; empty if it gives what it should."""
    try:
        found = torch.tensor(scorer.score(queries))
    except REFUSALS as error:
        return f"it fails ({first_line(error)})"
    worst = float((found - torch.tensor(wanted)).abs().max())
    if worst <= tolerance:
        return ""
    return f"its log-probabilities differ by {worst:.2g}"


def _say(words: str) -> None:
    warnings.warn(words, ModelWarning, stacklevel=4)
