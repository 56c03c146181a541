"""Models of Hugging Face transformers, by hub name or folder: the kind is read from the model's own
config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gnomon.contracts import Model
from gnomon.errors import UsageError
from gnomon.options import given, neutral
from gnomon.probing.prompts import load_prompt

PROMPTS = {"causal": "plain", "seq2seq": "t5", "masked": "masked"}
HEEDED = {  # options of some kinds only
    "causal": {"prompt", "shots", "chat", "normalise", "ask", "new_tokens"},
    "seq2seq": {"prompt", "shots", "normalise", "ask", "new_tokens"},
    "masked": {"prompt", "shots", "normalise", "top_k", "span"},
    "nli": {"labels"},
}


@neutral("threads", "allow_pickle")
def hf(
    name: str,
    *,
    kind: str = "",
    revision: str = "",
    dtype: str = "",
    device: str = "",
    prompt: str = "",
    shots: int | None = None,
    chat: bool | None = None,
    normalise: str = "sum",
    ask: str = "score",
    top_k: int = 0,
    span: str = "l2r",
    labels: str = "",
    new_tokens: int = 32,
    allow_pickle: bool = False,
    trust_remote_code: bool = False,
    compile: bool = False,
    quantise: str = "",
    threads: int = 0,
) -> Model:
    """A model of transformers: a hub name, a folder, a .gguf file, or smollm2 (the embedded
    default's weights).

    kind       causal, seq2seq, masked or nli; read from the config if not given
    prompt     a prompt's name or file; shots how many of its worked examples to show
    chat       put items as a conversation; by default where the tokenizer has a chat template
    normalise  sum, mean (per token), byte or pmi: how the likelihoods of choices are made
    comparable
    ask        score (the likelihood of each choice) or generate (a reply of new_tokens tokens,
    which is read)
    top_k      masked: an answer counts only if it is among the k likeliest words of the whole
    vocabulary
    span       masked: how a choice of several tokens is scored, l2r (left to right) or pll (one
    mask at a time)
    labels     nli: the order of the classes, "contradiction,neutral,entailment", where the config
    does not say
    """
    if not name:
        raise UsageError(
            "hf needs the name of a model.", "Write hf:NAME or hf:FOLDER, for example hf:gpt2."
        )
    if ask not in ("score", "generate"):
        raise UsageError(f"A model cannot be asked by '{ask}'.", "Known: score, generate.")
    from gnomon.models.transformers.loading import load

    loaded = load(
        _folder(name),
        kind=kind,
        revision=revision,
        dtype=dtype,
        device=device,
        allow_pickle=allow_pickle,
        trust_remote_code=trust_remote_code,
        compile=compile,
        quantise=quantise,
        threads=threads,
    )
    own = {
        "prompt": prompt,
        "shots": shots,
        "chat": chat,
        "normalise": normalise,
        "ask": ask,
        "top_k": top_k,
    }
    _check_heeded(
        name, loaded.kind, {**own, "span": span, "labels": labels, "new_tokens": new_tokens}
    )
    parts: dict[str, Any] = {
        "spec": f"hf:{name}",
        "model": loaded.model,
        "tokenizer": loaded.tokenizer,
        "about": loaded.about,
    }
    if loaded.kind == "nli":
        from gnomon.models.transformers.nli import Nli

        return Nli(**parts, name=name, labels=labels)
    talks = loaded.kind == "causal" and _talks(loaded.tokenizer, chat, name)
    chosen = load_prompt(prompt or ("chat" if talks else PROMPTS[loaded.kind])).with_shots(shots)
    if loaded.kind == "masked":
        from gnomon.models.transformers.masked import Masked

        return Masked(**parts, prompt=chosen, normalise=normalise, top_k=top_k, span=span)
    if loaded.kind == "seq2seq":
        from gnomon.models.transformers.seq2seq import Seq2seq

        return Seq2seq(**parts, prompt=chosen, normalise=normalise, ask=ask, new_tokens=new_tokens)
    from gnomon.models.transformers.causal import Causal

    return Causal(
        **parts, prompt=chosen, chat=talks, normalise=normalise, ask=ask, new_tokens=new_tokens
    )


def _check_heeded(name: str, kind: str, own: dict[str, Any]) -> None:
    if unheeded := given(hf, own).keys() - HEEDED[kind]:
        raise UsageError(
            f"{name} is a model of kind {kind}, which takes no {', '.join(sorted(unheeded))}.",
            f"Leave that out. Of the options for some kinds it takes: {', '.join(sorted(HEEDED[kind]))}.",
        )


def _talks(tokenizer: Any, chat: bool | None, name: str) -> bool:
    has = bool(getattr(tokenizer, "chat_template", None))
    if chat and not has:
        raise UsageError(f"{name} has no chat template.", "Leave out --model-set chat=true.")
    return (
        has and name != "smollm2" if chat is None else chat
    )  # smollm2: as gnomon.models.llamacpp.smollm2 asks it


def _folder(name: str) -> str:
    """What transformers can load: a hub name or folder as it is; llama.cpp's files by way of the
    cache."""
    if name != "smollm2" and not name.endswith(".gguf"):
        return str(Path(name).expanduser()) if name.startswith("~") else name
    from gnomon.models.llamacpp.converting import converted
    from gnomon.models.llamacpp.smollm2 import weights

    return str(converted(weights() if name == "smollm2" else Path(name).expanduser()))
