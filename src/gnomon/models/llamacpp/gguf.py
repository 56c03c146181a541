"""`gguf:PATH`: a model file of llama.cpp, with the options that it takes."""

from __future__ import annotations

from pathlib import Path

from gnomon.errors import UsageError
from gnomon.models.llamacpp.model import Ask, Gguf, Normalise
from gnomon.options import neutral


@neutral("threads")
def gguf(
    name: str,
    *,
    mmproj: str = "",
    prompt: str = "",
    wording: int = 1,
    shots: int | None = None,
    examples: str = "",
    normalise: Normalise = "sum",
    ask: Ask = "score",
    new_tokens: int | None = None,
    chat: bool | None = None,
    context: int = 4096,
    threads: int = 0,
) -> Gguf:
    """A GGUF file by its path.

    mmproj       a GGUF file with the model's projector, through which it sees pictures
    prompt       a prompt's name or file (default: chat with a chat template, else plain)
    wording      which of the prompt's wordings, where it has several
    shots        how many worked examples are shown: the prompt's own, or drawn from the benchmark
                 (default: all of the prompt's)
    examples     the worked examples that --shots has drawn, as JSON
    normalise    how choices of different length are compared: sum, mean (per token), byte (per
                 byte) or pmi (less the choice's log-probability after nothing)
    ask          score (the likelihood of each choice) or generate (a reply, which is read)
    new_tokens   how many tokens a reply may have (default: 32; 2048 for a model that thinks)
    chat         put items through the model's chat template (default: if it has one)
    context      tokens that fit at most; less if the model was trained with less
    threads      processor threads (default: all cores)
    """
    if not name:
        raise UsageError(
            "gguf needs a file.", "Write gguf:PATH, for instance gguf:models/llama-3.2-1b.gguf"
        )
    return Gguf(
        f"gguf:{name}",
        Path(name).expanduser(),
        mmproj=Path(mmproj).expanduser() if mmproj else None,
        prompt=prompt,
        wording=wording,
        shots=shots,
        examples=examples,
        normalise=normalise,
        ask=ask,
        new_tokens=new_tokens,
        chat=chat,
        context=context,
        threads=threads,
    )
