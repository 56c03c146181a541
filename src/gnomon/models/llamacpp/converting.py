"""Files of llama.cpp for transformers: read once, kept as safetensors in the cache, loaded from
there ever after.

transformers reads weights and vocabulary, but not whether texts begin with a special token: that is
read here, since a model that was trained with one (Gemma, Llama) is lost without it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from gnomon.errors import MissingExtraError, ModelError

EDITION = 2  # of how files are converted: what an earlier one left in the cache is not used
# Tokenizers whose texts begin with a special token where the file does not say: as llama.cpp takes
# them to.
BEGUN = frozenset(("llama", "bert"))  # tokenizer.ggml.model
BEGUN_BPE = frozenset(
    (
        "llama3",
        "llama-v3",
        "llama-bpe",
        "falcon3",
        "falcon-h1",
        "pixtral",
        "midm-2.0",
        "lfm2",
        "tekken",
        "chameleon",
    )
)  # tokenizer.ggml.pre


def converted(file: Path) -> Path:
    """The folder with a .gguf file's weights as float32 safetensors, made on first use (half a
    minute)."""
    from filelock import FileLock

    from gnomon.fetching.catalogue import cache_folder, sha256_of

    if not file.is_file():
        raise ModelError(
            f"{file}: there is no such file.", "Give the path of a .gguf file, or another model."
        )
    home = cache_folder() / "models"
    try:
        home.mkdir(parents=True, exist_ok=True)
        target = home / f"{file.stem}-{sha256_of(file)[:12]}-{EDITION}"
        with FileLock(home / f"{target.name}.lock"):
            if not (target / "config.json").is_file():
                part = Path(mkdtemp(dir=home))
                _convert(file, part)
                os.replace(part, target)
    except OSError as error:
        raise ModelError(
            f"{file} cannot be converted: {error}.",
            "Give another cache folder in the environment variable GNOMON_CACHE.",
        ) from None
    return target


def _convert(file: Path, folder: Path) -> None:
    from gnomon.models.transformers.loading import libraries, quiet

    torch, transformers = libraries()
    try:
        import accelerate  # type: ignore[import-untyped]  # noqa: F401
        import gguf  # noqa: F401
    except ImportError:
        raise MissingExtraError("A .gguf file in transformers", "hf") from None
    where: dict[str, Any] = {
        "pretrained_model_name_or_path": str(file.parent),
        "gguf_file": file.name,
    }
    print(f"Converting {file.name} for transformers, once ...", file=sys.stderr, flush=True)
    with (
        quiet(),
        redirect_stderr(StringIO()),
        _reading_once() as read,
    ):  # its progress bar cannot be switched off
        model = transformers.AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
        for owner in (model, model.config):  # the weights are plain numbers from here on
            for name in ("quantization_config", "hf_quantizer", "is_quantized"):
                vars(owner).pop(name, None)
        model.save_pretrained(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
        fields = {
            name: field.contents()
            for name, field in read(str(file)).fields.items()
            if name in _ASKED
        }
        if begins(fields) and tokenizer.bos_token_id is not None:
            tokenizer.add_bos_token = True
        tokenizer.save_pretrained(folder)


def begins(metadata: Mapping[str, Any]) -> bool:
    """Whether texts begin with a special token: as the file says, else as llama.cpp takes its
    tokenizer to want it.

    >>> begins({"tokenizer.ggml.model": "llama"})
    True
    >>> begins({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm"})
    False
    """
    model, pre, said = (metadata.get(name) for name in _ASKED)
    return (
        bool(said) if said is not None else model in BEGUN or (model == "gpt2" and pre in BEGUN_BPE)
    )


_ASKED = ("tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.ggml.add_bos_token")


@contextmanager
def _reading_once() -> Iterator[Callable[[str], Any]]:
    """Let transformers, which opens the file for config, weights and tokenizer, parse it once: a
    third of the time."""
    import gguf

    reader = gguf.GGUFReader
    read: Callable[[str], Any] = cache(reader)
    gguf.GGUFReader = read  # type: ignore[assignment,misc]
    try:
        yield read
    finally:
        gguf.GGUFReader = reader  # type: ignore[misc]
