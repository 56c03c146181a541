"""A translation model of transformers: several translations of a text, with their likelihoods."""

from collections.abc import Sequence
from typing import Any

import torch

from gnomon.errors import UsageError
from gnomon.grouped import chunks
from gnomon.models.transformers.loading import Loading, load
from gnomon.train.backtranslation import Rendering

BATCH = 16
LONGER = 2  # a translation may have so many times the tokens of its text, and some more


class Translating:
    """An encoder-decoder in one direction, such as Marian or FSMT; T5 with a prefix.

    `sample` draws the translations, always the same for a seed; else they are those of a beam.
    """

    def __init__(self, name: str, *, sample: bool = False, seed: int = 0, device: str = "") -> None:
        place, _, self.prefix = name.partition("=")
        self.loaded = load(place, Loading(kind="seq2seq", device=device))
        self.sample, self.seed = sample, seed

    def __call__(self, texts: Sequence[str], count: int) -> list[list[Rendering]]:
        """At most `count` translations of each text, the likeliest first."""
        found: list[list[Rendering]] = []
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(self.seed)
            for some in chunks(texts, BATCH):
                found += self._translate(some, count)
        return found

    def _translate(self, texts: Sequence[str], count: int) -> list[list[Rendering]]:
        model, tokenizer = self.loaded.model, self.loaded.tokenizer
        prefixed = [self.prefix + text for text in texts]
        inputs = tokenizer(prefixed, return_tensors="pt", padding=True).to(model.device)
        inputs.pop("token_type_ids", None)
        made = model.generate(
            **inputs,
            num_beams=count,
            num_return_sequences=count,
            do_sample=self.sample,
            max_new_tokens=LONGER * inputs["input_ids"].shape[1] + 10,
            return_dict_in_generate=True,
            output_scores=True,
        )
        said = tokenizer.batch_decode(made.sequences, skip_special_tokens=True)
        scores = _scores(made, len(said))
        renderings = [Rendering(*each) for each in zip(said, scores, strict=True)]
        rows = []
        for start in range(0, len(renderings), count):
            rows.append(_different(renderings[start : start + count]))
        return rows


def translators(pair: str, *, sample: bool, seed: int) -> tuple[Translating, Translating]:
    """The two models that "FORWARD,BACKWARD" names."""
    names = [name for name in pair.split(",") if name.strip()]
    if len(names) != 2:
        raise UsageError(
            f"'{pair}' does not name two translation models.",
            "Write FORWARD,BACKWARD: Helsinki-NLP/opus-mt-en-de,Helsinki-NLP/opus-mt-de-en",
        )
    there, back = names
    return (
        Translating(there.lstrip(), sample=sample, seed=seed),
        Translating(back.lstrip(), sample=sample, seed=seed + 1),
    )


def _scores(made: Any, count: int) -> list[float]:
    """The log-likelihood of each text; a single beam does not give one."""
    scores = getattr(made, "sequences_scores", None)
    if scores is None:
        return [0.0] * count
    found: list[float] = scores.tolist()
    return found


def _different(renderings: Sequence[Rendering]) -> list[Rendering]:
    """The translations without repetitions, the likeliest first."""
    found: dict[str, Rendering] = {}
    for each in sorted(renderings, key=lambda each: -each.score):
        found.setdefault(each.text, each)
    return list(found.values())
