"""Loading models of transformers safely: safetensors, no remote code, a pinned revision, errors
that say what to do."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from gnomon.errors import MissingExtraError, ModelError, UsageError
from gnomon.models.transformers.faults import check_complete, check_device, check_folder, explained
from gnomon.models.transformers.tokenizers import load_tokenizer

KINDS = {
    "causal": "AutoModelForCausalLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "masked": "AutoModelForMaskedLM",
    "nli": "AutoModelForSequenceClassification",
}
ENDINGS = {
    "ForCausalLM": "causal",
    "LMHeadModel": "causal",
    "ForMaskedLM": "masked",
    "ForPreTraining": "masked",
    "ForSequenceClassification": "nli",
}
DTYPES = {
    "float32": "float32",
    "fp32": "float32",
    "bfloat16": "bfloat16",
    "bf16": "bfloat16",
    "float16": "float16",
    "fp16": "float16",
}
PIECE = 2**20  # bytes of a large file that are hashed at a time
WHOLE = 256 * PIECE  # files up to this size are hashed whole


class Loaded(NamedTuple):
    """A model with its tokenizer, and what the manifest should say about them."""

    kind: str
    model: Any
    tokenizer: Any
    about: dict[str, Any]


def load(
    name: str,
    *,
    kind: str = "",
    revision: str = "",
    dtype: str = "",
    device: str = "",
    allow_pickle: bool = False,
    trust_remote_code: bool = False,
    compile: bool = False,
    quantise: str = "",
    threads: int = 0,
) -> Loaded:
    """Load the model that a hub name or a folder names, in evaluation mode on its device."""
    torch, transformers = libraries()
    _check(kind, dtype, quantise)
    set_threads(threads)
    where = device or best_device()
    number = DTYPES.get(dtype) or _default_dtype(where)
    source = {"revision": revision or None, "trust_remote_code": trust_remote_code}
    check_device(where)
    check_folder(name, allow_pickle=allow_pickle)
    with quiet(), explained(name, allow_pickle=allow_pickle):
        config = transformers.AutoConfig.from_pretrained(name, **source)
        kind = kind or kind_of(config, name)
        tokenizer = load_tokenizer(name, **source)
        weights = {
            "dtype": getattr(torch, number),
            "use_safetensors": None if allow_pickle else True,
            **source,
        }
        model = _model(getattr(transformers, KINDS[kind]), name, kind, config, weights)
        model = model.to(where).eval()
    parameters = sum(
        each.numel() for each in model.parameters()
    )  # tied weights count once; quantised ones not at all
    if quantise:
        model = _quantised(model, where, name)
    if compile:
        getattr(model, model.base_model_prefix, model).compile(dynamic=True)
    about = {
        "kind": kind,
        "architecture": type(model).__name__,
        "parameters": parameters,
        "revision": _revision(name, config),
        "dtype": number,
        "device": where,
        "quantise": quantise,
        "compiled": compile,
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
    }
    return Loaded(kind, model, tokenizer, about)


def _model(maker: Any, name: str, kind: str, config: Any, options: dict[str, Any]) -> Any:
    """The model with all its weights from its files; a part that is not there is refused, never
    made up."""
    model, report = maker.from_pretrained(name, config=config, output_loading_info=True, **options)
    if hasattr(config, "legacy") and any(
        key.startswith("lm_predictions.") for key in report["unexpected_keys"]
    ):
        config.legacy = (
            False  # DeBERTa as Microsoft published it: the head of its pre-training has these names
        )
        model, report = maker.from_pretrained(
            name, config=config, output_loading_info=True, **options
        )
    check_complete(name, kind, model, report["missing_keys"])
    return model


def kind_of(config: Any, name: str) -> str:
    """How a model is asked, from its architecture."""
    architecture = (getattr(config, "architectures", None) or [""])[0] or ""
    if getattr(config, "is_encoder_decoder", False):
        return "seq2seq"
    for ending, kind in ENDINGS.items():
        if architecture.endswith(ending):
            return kind
    what = (
        f"has the architecture {architecture}" if architecture else "does not name its architecture"
    )
    raise UsageError(
        f"{name} {what}, so how to ask it is not known.",
        f"Say what it is with --model-set kind=KIND: {', '.join(KINDS)}.",
    )


def best_device() -> str:
    """The fastest device there is: cuda, mps or cpu."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def set_threads(threads: int) -> None:
    """As many threads as asked for; else no more than the cores that this process may use."""
    import torch

    if threads < 0:
        raise UsageError(
            f"A model cannot use {threads} threads.", "Leave it out for as many as there are cores."
        )
    if not threads and os.environ.get("OMP_NUM_THREADS"):
        return
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    wanted = threads or min(torch.get_num_threads(), cores)
    if wanted != torch.get_num_threads():
        torch.set_num_threads(wanted)


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars, advice or warnings of transformers while inside; its logging stays at
    errors."""
    from huggingface_hub.utils import logging as hub_logging
    from transformers.utils import logging

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("DISABLE_SAFETENSORS_CONVERSION", "1")
    logging.set_verbosity_error()
    hub_logging.set_verbosity_error()
    logging.disable_progress_bar()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def content_hash(folder: Path) -> str:
    """A hash of what is in a model's folder; of very large files their size and evenly spaced
    pieces."""
    digest = sha256()
    for file in sorted(folder.iterdir()):
        if not file.is_file() or (
            file.suffix in (".md", ".txt") and file.name not in ("vocab.txt", "merges.txt")
        ):
            continue
        size = file.stat().st_size
        digest.update(f"{file.name}\0{size}\0".encode())
        step = max(PIECE, size // 64 // PIECE * PIECE) if size > WHOLE else PIECE
        with file.open("rb") as stream:
            for start in range(0, size, step):
                stream.seek(start)
                digest.update(stream.read(PIECE))
    return digest.hexdigest()


def libraries() -> tuple[Any, Any]:
    """torch and transformers, or which extra brings them."""
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import torch
            import transformers
    except ImportError:
        raise MissingExtraError("A model of transformers", "hf") from None
    return torch, transformers


def _check(kind: str, dtype: str, quantise: str) -> None:
    for what, value, known in (
        ("kind", kind, KINDS),
        ("dtype", dtype, DTYPES),
        ("quantise", quantise, ("int8",)),
    ):
        if value and value not in known:
            raise UsageError(f"There is no {what} '{value}'.", f"Known: {', '.join(known)}.")


def _default_dtype(device: str) -> str:
    import torch

    if device.startswith("cuda"):
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"
    return "float16" if device.startswith("mps") else "float32"


def _quantised(model: Any, device: str, name: str) -> Any:
    import torch

    if not device.startswith("cpu"):
        raise UsageError(
            "quantise=int8 needs the device cpu.",
            "Add --model-set device=cpu, or leave quantise out.",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
    try:
        with torch.inference_mode():
            made(**made.dummy_inputs)
    except Exception as error:  # some models (Mamba) compute with the weights of their layers rather than the layers
        raise ModelError(
            f"{name} cannot be computed in int8: {error}.", "Leave quantise out."
        ) from error
    return made


def _revision(name: str, config: Any) -> str:
    if Path(name).is_dir():
        return f"content:{content_hash(Path(name))[:40]}"
    return str(getattr(config, "_commit_hash", None) or "")
