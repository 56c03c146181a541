"""Loading models of transformers safely, and what they and the machine can take at once.

Safetensors, no remote code, a pinned revision.
"""

import copy
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from gnomon.errors import ModelError, UsageError, check_known, importing
from gnomon.fingerprint import fingerprint
from gnomon.models.machine import available_cores, patient_threads
from gnomon.models.transformers import checkpoint
from gnomon.models.transformers.processors import image_settings, load_processor, load_tokenizer

MAKERS = {
    "causal": "AutoModelForCausalLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "masked": "AutoModelForMaskedLM",
    "nli": "AutoModelForSequenceClassification",
    "vlm": "AutoModelForMultimodalLM",
}
KINDS = (*MAKERS, *dict.fromkeys(checkpoint.COMPARING.values()))
SEEING = frozenset(("vlm", "dual", "match"))  # kinds that are shown pictures, by a processor
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


class Loading(NamedTuple):
    """How a model is to be loaded; what is empty is chosen for the model and the machine."""

    kind: str = ""
    revision: str = ""
    dtype: str = ""
    device: str = ""
    allow_pickle: bool = False
    trust_remote_code: bool = False
    compile: bool = False
    quantise: str = ""
    threads: int = 0

    def source(self) -> dict[str, Any]:
        """What transformers must know to fetch any part of the model."""
        return {
            "revision": self.revision or None,
            "trust_remote_code": self.trust_remote_code,
        }

    def files(self) -> dict[str, Any]:
        """The same for its weights: only files that run no code, unless the user trusts them."""
        safe = None if self.allow_pickle else True
        return {"use_safetensors": safe, "output_loading_info": True, **self.source()}


class Loaded(NamedTuple):
    """A model with its tokenizer, and what the manifest should say about them."""

    kind: str
    model: Any
    tokenizer: Any
    about: dict[str, Any]
    processor: Any = None  # of a kind that sees, with a tokenizer of its own


def load(name: str, how: Loading) -> Loaded:
    """Load the model that a hub name or a folder names, in evaluation mode on its device."""
    torch, transformers = libraries()
    for what, value, known in (
        ("kind", how.kind, KINDS),
        ("dtype", how.dtype, DTYPES),
        ("quantise", how.quantise, ("int8",)),
    ):
        if value:
            check_known(what, value, known)
    set_threads(how.threads)
    device = how.device or best_device()
    dtype = DTYPES.get(how.dtype) or _default_dtype(device)
    checkpoint.check_device(device)
    checkpoint.check_finished(name)
    checkpoint.check_folder(name, allow_pickle=how.allow_pickle)
    with quiet(), checkpoint.explained(name, allow_pickle=how.allow_pickle):
        config = transformers.AutoConfig.from_pretrained(name, **how.source())
        kind = how.kind or kind_of(config, name)
        processor = load_processor(name, **how.source()) if _sees_pixels(kind, config) else None
        if processor is None:
            tokenizer = load_tokenizer(name, **how.source())
        else:  # which adds tokens to its own
            tokenizer = copy.deepcopy(processor.tokenizer)
        model = _weights(name, kind, config, dtype, how).to(device).eval()

    # tied weights count once; quantised ones would not count at all
    parameters = sum(each.numel() for each in model.parameters())
    if how.quantise:
        model = _quantised(model, device, name)
    if how.compile:
        getattr(model, model.base_model_prefix, model).compile(dynamic=True)
    about = {
        "kind": kind,
        "architecture": type(model).__name__,
        "parameters": parameters,
        "revision": revision_of(name, config),
        "dtype": dtype,
        "device": device,
        "quantise": how.quantise,
        "compiled": how.compile,
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
    }
    about |= checkpoint.training_of(name)
    if processor is not None:
        about["image_processor"] = image_settings(processor)
    return Loaded(kind, model, tokenizer, about, processor)


def _weights(name: str, kind: str, config: Any, dtype: str, how: Loading) -> Any:
    """The model with all its weights from its files; a missing part is refused, never made up."""
    import torch
    import transformers

    named = checkpoint.architecture_of(config)
    if kind != "masked" or named not in checkpoint.FILLING:
        named = MAKERS.get(kind) or checkpoint.class_of(kind, config, name)
    maker = getattr(transformers, named)
    if hasattr(config, "init_codebook"):  # FLAVA's: labels of its training, which nothing reads
        config.init_codebook = False
    options = {"config": config, "dtype": getattr(torch, dtype), **how.files()}
    model, report = maker.from_pretrained(name, **options)
    unexpected = report["unexpected_keys"]
    if hasattr(config, "legacy") and any(key.startswith("lm_predictions.") for key in unexpected):
        # DeBERTa as Microsoft published it: the head of its pre-training has these names
        config.legacy = False
        model, report = maker.from_pretrained(name, **options)
    checkpoint.check_complete(name, kind, model, report["missing_keys"])
    return model


def _sees_pixels(kind: str, config: Any) -> bool:
    """Whether a model of a kind needs a processor that makes pixels of pictures."""
    if kind == "masked":
        return checkpoint.FILLING.get(checkpoint.architecture_of(config)) == "pixels"
    return kind in SEEING


def kind_of(config: Any, name: str) -> str:
    """How a model is asked, from its architecture.

    Whether it sees comes first: some models that see write with a decoder of their own.
    """
    architecture = checkpoint.architecture_of(config)
    if architecture in checkpoint.COMPARING:
        return checkpoint.COMPARING[architecture]
    if sees_and_writes(config, architecture):
        return "vlm"
    if getattr(config, "is_encoder_decoder", False):
        return "seq2seq"
    for ending, kind in ENDINGS.items():
        if architecture.endswith(ending):
            return kind

    what = "does not name its architecture"
    if architecture:
        what = f"has the architecture {architecture}"
    raise UsageError(
        f"{name} {what}, so how to ask it is not known.",
        f"Say what it is with --set kind=KIND: {', '.join(KINDS)}.",
    )


def sees_and_writes(config: Any, architecture: str) -> bool:
    """Whether a model is shown pictures and replies in words.

    The text part of such a model, published by itself, has no part that sees; and of some (BLIP)
    there are also models that match pictures with texts.
    """
    from transformers.models.auto.modeling_auto import MODEL_FOR_MULTIMODAL_LM_MAPPING

    if type(config) not in MODEL_FOR_MULTIMODAL_LM_MAPPING or not _has_part_that_sees(config):
        return False
    writer = MODEL_FOR_MULTIMODAL_LM_MAPPING[type(config)].__name__
    return architecture in ("", writer)


def _has_part_that_sees(config: Any) -> bool:
    """Whether a config has a part for pictures, at any depth; Fuyu sees without a part for it."""
    if config.model_type == "fuyu":
        return True
    for name in type(config).sub_configs:
        part = getattr(config, name, None)
        if part is None or part is config:
            continue
        if name.startswith(("vision", "vq", "image")) or _has_part_that_sees(part):
            return True
    return False


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
    wanted = threads or min(torch.get_num_threads(), available_cores())
    if wanted != torch.get_num_threads():
        torch.set_num_threads(wanted)


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars or warnings of transformers while inside; its logging stays at errors."""
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


def libraries() -> tuple[Any, Any]:
    """torch and transformers, or which extra brings them."""
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")
    missing = importing("A model of transformers", "hf")
    with missing, warnings.catch_warnings(), patient_threads():
        warnings.simplefilter("ignore")
        import torch
        import transformers
    return torch, transformers


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
            "Add --set device=cpu, or leave quantise out.",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
    try:
        with torch.inference_mode():
            made(**made.dummy_inputs)
    except Exception as error:
        # Some models (Mamba) compute with the weights of their layers rather than the layers.
        raise ModelError(
            f"{name} cannot be computed in int8: {error}.", "Leave quantise out."
        ) from error
    return made


def revision_of(name: str, config: Any) -> str:
    """The commit of the hub that was loaded, or a hash of what is in the folder."""
    folder = Path(name)
    if folder.is_dir():
        return f"content:{fingerprint(folder)[:40]}"
    return str(getattr(config, "_commit_hash", None) or "")


# --- what a model and the machine can take: how long a text, how many tokens at once -------------


# as configs name them
LENGTHS = ("max_position_embeddings", "n_positions", "n_ctx")
WINDOWS = ("sliding_window", "attention_chunk_size", "window_size")
NO_LIMIT = 10**9  # tokenizers that do not know a limit name a number beyond all bounds


def longest_text(model: Any, tokenizer: Any) -> int:
    """Tokens that a text may have; 0 if the model does not say."""
    config = model.config.get_text_config()
    sizes = [getattr(config, name, None) for name in LENGTHS]
    sizes.append(getattr(tokenizer, "model_max_length", None))
    return _least(sizes)


def longest_tree(config: Any) -> int:
    """Up to how many tokens a tree is read as plain rows are, 0 if without limit.

    Within a sliding window a sliding layer sees what a full one sees. Some rotary embeddings turn
    otherwise as soon as a batch holds a long text.
    """
    text = config.get_text_config()
    sizes = [rotation_limit(config)]
    if _has_sliding_layers(text):
        sizes += [getattr(text, name, None) for name in WINDOWS]
    return _least(sizes)


def rotation_limit(config: Any) -> int | None:
    """The length beyond which rotary embeddings of the types dynamic and longrope turn otherwise.

    It is the length that the model was first trained on; none for models of other types.
    """
    text = config.get_text_config()
    rotary = getattr(text, "rope_parameters", None) or getattr(text, "rope_scaling", None) or {}
    if rotary.get("rope_type") not in ("dynamic", "longrope"):
        return None
    size = rotary.get("original_max_position_embeddings")
    size = size or getattr(text, "max_position_embeddings", None)
    return int(size) if size else None


def token_budget(model: Any) -> int:
    """Tokens of a batch: a large model on a CPU should save its answers every few seconds."""
    if not on_cpu(model):
        return 65536
    parameters = sum(each.numel() for each in model.parameters())
    return max(2048, min(65536, int(5e11 / parameters)))


def tokens_in_a_pass(model: Any) -> int:
    """Tokens that an encoder reads at once: a pass should fit a CPU's cache, and fill a GPU."""
    return 2048 if on_cpu(model) else 16384


def on_cpu(model: Any) -> bool:
    """Whether the model is computed by the processor rather than by a GPU."""
    return bool(next(model.parameters()).device.type == "cpu")


def _has_sliding_layers(text: Any) -> bool:
    """Whether some layers see a window only: those that say so, or all, as far as is known."""
    kinds = getattr(text, "layer_types", None)
    if not kinds:
        return True
    return any("sliding" in kind or "chunked" in kind for kind in kinds)


def _least(sizes: Sequence[Any]) -> int:
    """The smallest number of tokens that is named; 0 if none is."""
    known = [size for size in sizes if isinstance(size, int) and 0 < size < NO_LIMIT]
    return min(known, default=0)
