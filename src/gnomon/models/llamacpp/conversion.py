"""GGUF files for transformers: converted once, kept as safetensors in the cache, loaded from there.

transformers reads weights and vocabulary, but not whether texts begin with a special token: that is
read here, since a model that was trained with one (Gemma, Llama) is lost without it.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from gnomon.errors import GnomonError, ModelError, importing

EDITION = 2  # of how files are converted: what an earlier one left in the cache is not used
MODEL, PRE = "tokenizer.ggml.model", "tokenizer.ggml.pre"
BEGINS = "tokenizer.ggml.add_bos_token"
# Tokenizers whose texts begin with a special token where the file does not say, as in llama.cpp.
BEGUN = frozenset({"llama", "bert"})  # by MODEL
BEGUN_BPE = frozenset(  # by PRE, where MODEL is gpt2
    "chameleon falcon-h1 falcon3 lfm2 llama-bpe llama-v3 llama3 midm-2.0 pixtral tekken".split()
)


def converted(file: Path) -> Path:
    """The folder with a .gguf file's weights as float32, made on first use (half a minute)."""
    from filelock import FileLock

    from gnomon.downloads.catalogue import cache_folder
    from gnomon.fingerprint import remembered_sha256

    if not file.is_file():
        raise ModelError(
            f"{file}: there is no such file.", "Give the path of a .gguf file, or another model."
        )
    home = cache_folder() / "models"
    try:
        home.mkdir(parents=True, exist_ok=True)
        target = home / f"{file.stem}-{remembered_sha256(file)[:12]}-{EDITION}"
        with FileLock(f"{target}.lock"):
            if not (target / "config.json").is_file():
                _make(file, target)
    except OSError as error:
        raise ModelError(
            f"{file} cannot be converted: {error}.",
            "Give another cache folder in the environment variable GNOMON_CACHE.",
        ) from None
    return target


def begins(metadata: Mapping[str, Any]) -> bool:
    """Whether texts begin with a special token: as the file says, else as its tokenizer wants it.

    >>> begins({"tokenizer.ggml.model": "llama"})
    True
    >>> begins({"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm"})
    False
    """
    said = metadata.get(BEGINS)
    if said is not None:
        return bool(said)
    model = metadata.get(MODEL)
    return model in BEGUN or (model == "gpt2" and metadata.get(PRE) in BEGUN_BPE)


def _make(file: Path, target: Path) -> None:
    """Convert into a folder beside the target first: what stands there is always whole."""
    part = Path(mkdtemp(dir=target.parent))
    print(f"Converting {file.name} for transformers, once ...", file=sys.stderr, flush=True)
    try:
        _convert(file, part)
        os.replace(part, target)
    except (GnomonError, OSError):
        raise
    except Exception as error:  # a damaged file fails anywhere in two libraries
        raise ModelError(
            f"{file} cannot be converted for transformers: {error}.",
            "Fetch the file again, or ask it with llama.cpp: gguf:PATH.",
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _convert(file: Path, folder: Path) -> None:
    from gnomon.models.transformers.loading import libraries, quiet

    torch, transformers = libraries()
    with importing("A .gguf file in transformers", "hf"):
        import accelerate  # type: ignore[import-untyped]  # noqa: F401
        import gguf  # noqa: F401

    where: dict[str, Any] = {
        "pretrained_model_name_or_path": str(file.parent),
        "gguf_file": file.name,
    }
    no_progress_bar = redirect_stderr(StringIO())  # it cannot be switched off
    with quiet(), no_progress_bar, _reading_once() as read:
        model = transformers.AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
        for owner in (model, model.config):  # the weights are plain numbers from here on
            for name in ("quantization_config", "hf_quantizer", "is_quantized"):
                vars(owner).pop(name, None)
        model.save_pretrained(folder)

        tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
        fields = read(str(file)).fields
        metadata = {
            name: fields[name].contents() for name in (MODEL, PRE, BEGINS) if name in fields
        }
        if begins(metadata) and tokenizer.bos_token_id is not None:
            tokenizer.add_bos_token = True
        tokenizer.save_pretrained(folder)


@contextmanager
def _reading_once() -> Iterator[Callable[[str], Any]]:
    """Let transformers, which opens the file three times, parse it once: a third of the time."""
    import gguf

    reader = gguf.GGUFReader
    read: Callable[[str], Any] = cache(reader)
    gguf.GGUFReader = read  # type: ignore[assignment,misc]
    try:
        yield read
    finally:
        gguf.GGUFReader = reader  # type: ignore[misc]
