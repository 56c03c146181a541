"""What is refused before llama.cpp computes with it: senseless sizes, and files that crash it.

A model file is tried in a child process first: native code that meets a bad file may crash. A crash
ends the child, not the command, and is reported in plain words. A file that passed is remembered in
the cache, so that the trial costs once.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from gnomon.downloads.catalogue import cache_folder
from gnomon.errors import GnomonError, ModelError, UsageError
from gnomon.fingerprint import fingerprint
from gnomon.models.llamacpp.library import library_file
from gnomon.models.llamacpp.llama import Llama
from gnomon.models.llamacpp.projector import Projector, UnshowableError
from gnomon.records import digest

MAGIC = b"GGUF"


def check_sizes(context: int, new_tokens: int, threads: int) -> None:
    """Refuse numbers with which nothing could be asked."""
    for name, value, least in (
        ("context", context, 1),
        ("new_tokens", new_tokens, 1),
        ("threads", threads, 0),
    ):
        if value < least:
            raise UsageError(
                f"The option {name} must be at least {least}, not {value}.", "Give a larger number."
            )


def check_file(file: Path, give_one: str = "Give the path of a .gguf file: gguf:PATH.") -> None:
    """Refuse a file that is missing or not a GGUF file, before llama.cpp sees it."""
    if not file.exists():
        raise ModelError(f"{file}: there is no such file.", give_one)
    if not file.is_file():  # a pipe would be waited for without end
        raise ModelError(f"{file} is not an ordinary file.", give_one)
    try:
        with file.open("rb") as stream:
            head = stream.read(8)
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror}.", give_one) from None
    if head[:4] != MAGIC or len(head) < 8:
        raise ModelError(
            f"{file} is not a GGUF file: it does not begin as one.",
            "Models in other formats load with hf:PATH.",
        )


PATIENCE = 120  # seconds, and as many more as the file takes at BYTES_A_SECOND
BYTES_A_SECOND = 10_000_000
REFUSED = 3  # the child's exit code if the file is refused in an orderly way
TEXT = "An ant, 0.5 cm: «é» 漢字 🐜\n"  # letters, digits, signs and bytes of every length

_FETCH = "The file may be damaged or too new: fetch it again, or update xllamacpp."
_OTHER_BUILD = "Install a build of xllamacpp for this processor."
_MEMORY = "Free some memory, or take a smaller file."
CRASHES = {
    "SIGABRT": ("it stopped itself", _FETCH),
    "SIGBUS": ("it read past the end of the file", _FETCH),
    "SIGFPE": ("it divided by zero", _FETCH),
    "SIGILL": ("this processor lacks an instruction that it uses", _OTHER_BUILD),
    "SIGKILL": ("the system stopped it, most likely for want of memory", _MEMORY),
    "SIGSEGV": ("it used memory that is not its own", _FETCH),
}


def check_loads(file: Path, *, context: int, threads: int, mmproj: Path | None = None) -> None:
    """Refuse a file that llama.cpp cannot load and compute one token with.

    With a projector, the model must also see a picture; what goes wrong then is the projector's.
    """
    library_file()  # without it, there is nothing to try
    mark = _mark(file, context, mmproj)
    if mark.exists():
        return
    _try(file, context, threads, mmproj)
    with suppress(OSError):  # a cache that cannot be written makes it slower, no more
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def crash(file: Path, code: int) -> ModelError:
    """The error for a child that ended with this code: below zero, the number of a signal.

    >>> print(crash(Path("a.gguf"), -6).message)
    a.gguf: llama.cpp crashed when it tried this file: it stopped itself (SIGABRT).
    """
    name = f"exit code {code}"
    with suppress(ValueError):
        name = signal.Signals(-code).name
    meaning, hint = CRASHES.get(name, ("it ended before it was done", _FETCH))
    return ModelError(
        f"{file}: llama.cpp crashed when it tried this file: {meaning} ({name}).", hint
    )


def _mark(file: Path, context: int, mmproj: Path | None) -> Path:
    """An empty file in the cache that stands for a trial that went well."""
    about = [fingerprint(file), str(context), version("xllamacpp")]
    if mmproj:
        about.append(fingerprint(mmproj))
    return cache_folder() / "loadable" / digest(*about, digits=32)


def _try(file: Path, context: int, threads: int, mmproj: Path | None) -> None:
    module = ["-P", "-m", __name__]  # -P: modules in the current folder are strangers
    command = [sys.executable, *module, str(file), str(context), str(threads)]
    suspect = file
    if mmproj:
        command.append(str(mmproj))
        suspect = mmproj
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "GGML_NO_BACKTRACE": "1",  # else a crash starts a debugger, if there is one
    }
    size = sum(each.stat().st_size for each in {file, suspect})
    patience = PATIENCE + size // BYTES_A_SECOND
    try:
        done = subprocess.run(  # noqa: S603 - our own module, no shell
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ModelError(
            f"{suspect}: llama.cpp did not load this file within {patience:,} seconds.", _FETCH
        ) from None
    if done.returncode == REFUSED:
        raise ModelError(*json.loads(done.stdout))
    if done.returncode:
        raise crash(suspect, done.returncode)


def _main(file: str, context: str, threads: str, mmproj: str = "") -> int:
    """What the child does: load the file, read a text, compute and say one token."""
    _limit_itself()
    try:
        llama = Llama(Path(file), context=int(context), threads=int(threads))
        if mmproj:
            _look(Path(mmproj), llama, int(threads))
    except GnomonError as error:
        print(json.dumps([error.message, error.hint]))
        return REFUSED
    llama.chat_template()
    llama.token_text(llama.bos)
    llama.token_text(llama.eos)
    tokens = llama.tokenize(TEXT, special=True)
    said = llama.reply(tokens[: llama.window - 1] or [0], 1)
    llama.text(said)
    llama.close()
    return 0


def _look(mmproj: Path, llama: Llama, threads: int) -> None:
    """Show the model a small picture, if it has room for one."""
    from PIL import Image

    eyes = Projector(mmproj, llama, threads=threads)
    try:
        with eyes.showing([Image.new("RGB", (48, 32), "teal")]) as (picture,):
            if len(picture.path) + picture.more < llama.window:
                llama.look(picture.path, 0)
    except (UnshowableError, RuntimeError) as error:
        raise ModelError(f"{mmproj} cannot show this model a picture: {error}.", _FETCH) from None
    llama.forget()


def _limit_itself() -> None:
    """No more memory than the machine has, whatever the file claims; and no core dump."""
    with suppress(ImportError, OSError, ValueError, AttributeError):  # not on every system
        import resource

        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


if __name__ == "__main__":
    raise SystemExit(_main(*sys.argv[1:]))
