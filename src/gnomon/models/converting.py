"""Files of llama.cpp for transformers: read once, kept as safetensors in the cache, loaded from there ever after."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from gnomon.errors import MissingExtraError, ModelError


def converted(file: Path) -> Path:
    """The folder with a .gguf file's weights as float32 safetensors, made on first use (half a minute)."""
    from filelock import FileLock

    from gnomon.fetching import cache_folder, sha256_of

    if not file.is_file():
        raise ModelError(f"{file}: there is no such file.", "Give the path of a .gguf file, or another model.")
    home = cache_folder() / "models"
    try:
        home.mkdir(parents=True, exist_ok=True)
        target = home / f"{file.stem}-{sha256_of(file)[:12]}"
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
    from gnomon.models.loading import libraries, quiet

    torch, transformers = libraries()
    try:
        import accelerate  # type: ignore[import-untyped]  # noqa: F401
        import gguf  # noqa: F401
    except ImportError:
        raise MissingExtraError("A .gguf file in transformers", "hf") from None
    where: dict[str, Any] = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    print(f"Converting {file.name} for transformers, once ...", file=sys.stderr, flush=True)
    with quiet(), redirect_stderr(StringIO()):  # its progress bar cannot be switched off
        model = transformers.AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32)
        for owner in (model, model.config):  # the weights are plain numbers from here on
            for name in ("quantization_config", "hf_quantizer", "is_quantized"):
                vars(owner).pop(name, None)
        model.save_pretrained(folder)
        transformers.AutoTokenizer.from_pretrained(**where).save_pretrained(folder)
