"""A model that sees, tried once on a picture of our own, against what its authors' processor gives.

The reference is the processor, called for a whole text, and one plain pass. A model that does not
give the same by our way of showing pictures is refused. One that gives something else when
questions share a picture's keys and values (PaliGemma reads a question in both directions) is asked
by plain passes; one that cannot be given what it made of a picture is shown the pixels each time.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import torch

from gnomon.errors import ModelError, ModelWarning
from gnomon.models.choices import Query
from gnomon.models.transformers.imageprefix import PictureQuery, PictureScorer
from gnomon.models.transformers.showing import Shower, ShownPictures
from gnomon.models.transformers.tokens import TextEncoder
from gnomon.models.transformers.trees import REFUSALS
from gnomon.vision.decoding import Pixels

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
    shower: Shower,
    encoder: TextEncoder,
    texts: Sequence[str],
    shown: ShownPictures,
    spec: str,
) -> None:
    """Find out how a model may be asked, and set the scorer so.

    `texts` are two questions about the trial's picture, `shown` is what was made of it.
    """
    queries, wanted = _reference(scorer, shower, encoder, texts, shown, spec)
    tolerance = EXACT if scorer.model.dtype == torch.float32 else ROUGH
    scorer.sharing = False
    trouble = _trouble(scorer, queries, wanted, tolerance)
    if trouble and scorer.looking.remembers:
        scorer.looking.remembers = False
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
    shower: Shower,
    encoder: TextEncoder,
    texts: Sequence[str],
    shown: ShownPictures,
    spec: str,
) -> tuple[list[PictureQuery], list[list[float]]]:
    """The questions as we ask them, and the log-probabilities of two answers by a plain pass."""
    own = ShownPictures(shown.before, shown.after, dict(shown.tensors), shown.types)
    queries, wanted = [], []
    for text in texts:
        literal = shower.literally(text, [trial_picture()])
        expanded = shower.placing.expanded(text, 1, shown)
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
        lines = str(error).splitlines() or [type(error).__name__]
        return f"it fails ({lines[0][:100].rstrip('.')})"
    worst = float((found - torch.tensor(wanted)).abs().max())
    if worst <= tolerance:
        return ""
    return f"its log-probabilities differ by {worst:.2g}"


def _say(words: str) -> None:
    warnings.warn(words, ModelWarning, stacklevel=4)
