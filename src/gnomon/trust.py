"""Trust: what a file may say, and what only the user's own command may.

Experiments, suites, recipes and logs come from strangers: what they say is not the user's word.
This is the one table of it, and every reader of such files asks here.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from gnomon.errors import DataError, UsageError
from gnomon.files import first_bytes
from gnomon.options import takes
from gnomon.redaction import redact_url
from gnomon.registry import ModelSpec, model, model_factory

# Options that no file may set, and why.
ONLY_BY_COMMAND = {
    "trust_remote_code": "it runs the code that comes with a model",
    "allow_pickle": "pickled weights can run any code",
    "key_env": "it says which secret of this machine a server is sent",
}
RUNS_CODE = ("trust_remote_code", "allow_pickle")
KEY, ADDRESS = "key_env", "base_url"
OF_MACHINE = ("device", "threads")  # where a model computes: the user's machine, not the file's
# What the command says of models that a file names: its trust, and which addresses get a key.
SAID_BY_COMMAND = (*ONLY_BY_COMMAND, ADDRESS, *OF_MACHINE)
RESULTS = ("report.html", "tables.md", "figures")  # what an experiment writes into its folder
_BETWEEN = re.compile(r"[\s,]+")  # several addresses
_PAGE = re.compile(rb"""<meta name="generator" content="gnomon """)
_HEAD = 4096  # bytes of a page in which its generator is named


def check_option(name: str, value: Any) -> None:
    """Refuse an option that a file sets and only the command may; switched off it is harmless.

    >>> check_option("trust_remote_code", False)
    """
    if name not in ONLY_BY_COMMAND or value in (False, "", None):
        return
    raise UsageError(
        f"a file may not set {name}: {ONLY_BY_COMMAND[name]}.",
        "Take the line out. If you trust the file's author in this, say it in the command: "
        f"{as_flag(name, value)}",
    )


def check_content(content: Any, file: str | Path, how: str) -> None:
    """Refuse a file that sets, at any depth, what only the command may; `how` gives a field there.

    >>> check_content({"look": {"allow_pickle": False}}, "mine.yaml", "--set {place}={value}")
    """
    waiting = [("", content)]
    while waiting:
        place, value = waiting.pop()
        if not isinstance(value, Mapping):
            continue
        for name, below in value.items():
            where = f"{place}.{name}".removeprefix(".")
            try:
                check_option(str(name), below)
            except UsageError as error:
                given = how.format(place=where, value=str(below).lower())
                hint = f"Take the field out. If you trust the file's author in this: {given}"
                raise DataError(error.message, hint, file=file) from None
            waiting.append((where, below))


def without_trust(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a log without those that only a command may give."""
    return {name: value for name, value in options.items() if name not in ONLY_BY_COMMAND}


def model_of_file(spec: str, options: Mapping[str, Any]) -> ModelSpec:
    """A model as a file names it: an address that stands there is sent no key."""
    for name, value in options.items():
        check_option(name, value)
    asked = model(spec, **options)
    if ADDRESS not in asked.options or not takes(model_factory(asked.spec), KEY):
        return asked
    return _with(asked, {KEY: ""})


def as_command_says(asked: ModelSpec, said: Mapping[str, Any]) -> ModelSpec:
    """The model of a file with what the command says of it: trust, a key, its address, a device."""
    factory = model_factory(asked.spec)
    trusted = {name: said[name] for name in (*ONLY_BY_COMMAND, *OF_MACHINE) if name in said}
    if ADDRESS in asked.options:
        _check_can_be_kept_from(asked, said, factory)
        if KEY not in trusted and _is_named(asked.options[ADDRESS], said):
            asked = asked._replace(options=without_trust(asked.options))
    elif ADDRESS in said:
        trusted[ADDRESS] = said[ADDRESS]
    return _with(asked, {name: value for name, value in trusted.items() if takes(factory, name)})


def _check_can_be_kept_from(
    asked: ModelSpec, said: Mapping[str, Any], factory: Callable[..., Any]
) -> None:
    """Refuse an address of a file where nothing keeps the key from it, unless it is named."""
    if takes(factory, KEY) or _is_named(asked.options[ADDRESS], said):
        return
    address = redact_url(str(asked.options[ADDRESS]))
    raise UsageError(
        f"The file gives {asked.spec} the address {address}, which would be sent your key.",
        "If you trust the address, name it in the command, as it stands in the file: --base-url "
        f"{address}",
    )


def check_may_be_sent(
    file: Path, asked: ModelSpec, said: Mapping[str, Any], words: Iterable[Any]
) -> None:
    """Refuse to send what lies elsewhere to an address that only the file names.

    `words` are what the file says of benchmarks, prompts and options: any of them may be a path.
    """
    if ADDRESS not in asked.options or _is_named(asked.options[ADDRESS], said):
        return
    for word in words:
        path = os.path.expanduser(word) if isinstance(word, str) and "\0" not in word else ""
        if not path or not os.path.exists(path) or is_below(file.parent, path, "."):
            continue
        address = redact_url(str(asked.options[ADDRESS]))
        raise UsageError(
            f"{file.name} would send what is in {word} to {address}.",
            "It lies outside the folder of the file. If you trust the address, name it in the "
            f"command: --base-url {address}",
        )


def is_below(folder: Path, name: str, start: str | Path = "") -> bool:
    """Whether a path stays below a folder, links followed; it is seen from there, or from `start`.

    >>> is_below(Path("mine"), "pictures/a.png"), is_below(Path("mine"), "../a.png")
    (True, False)
    """
    root = folder.resolve()
    try:
        path = (Path(start or root) / name).resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, or no path at all
        return False
    return path.is_relative_to(root)


def _is_named(address: str, said: Mapping[str, Any]) -> bool:
    """Whether the command or the user's environment names every address of the file."""
    named = f"{said.get(ADDRESS, '')} {os.environ.get('OPENAI_BASE_URL', '')}"
    return _addresses(address) <= _addresses(named)


def _addresses(text: str) -> set[str]:
    return {each.rstrip("/") for each in _BETWEEN.split(text) if each}


def _with(asked: ModelSpec, more: Mapping[str, Any]) -> ModelSpec:
    changed = model(asked.spec, **{**asked.options, **more})
    return changed._replace(name=asked.name)


def may_run_code(asked: ModelSpec) -> str:
    """The option by which loading a model may run a stranger's code; empty if none is set."""
    return next((name for name in RUNS_CODE if asked.options.get(name)), "")


def output_below(folder: Path, name: str) -> Path:
    """The path of a page that a file wants written: below a folder, in place of no other file.

    A page that Gnomon wrote may be replaced.
    """
    page = check_below(folder, name)
    if not page.parent.is_dir():
        raise UsageError(f"there is no folder for {name}.", "Make it, or name another file.")
    check_replaceable(page, name)
    return page


def check_replaceable(file: Path, name: str, is_ours: Callable[[Path], bool] | None = None) -> None:
    """Refuse to write in place of a file that Gnomon did not write; by default it is a page."""
    if not file.exists():
        return
    is_empty = file.is_file() and file.stat().st_size == 0
    if not is_empty and not (is_ours or _is_page)(file):
        raise UsageError(
            f"{name} is there, and Gnomon did not write it.", "Move it away, or name another."
        )


def check_begins(file: Path, pattern: bytes) -> None:
    """Refuse to write in place of a file whose beginning does not show that Gnomon wrote it."""

    def is_ours(found: Path) -> bool:
        return re.search(pattern, first_bytes(found, _HEAD), re.DOTALL) is not None

    if file.is_file():  # a pipe or a device is written to, and never asked
        check_replaceable(file, str(file), is_ours)


def check_below(folder: Path, name: str) -> Path:
    """The path of what a file wants written, refused if it is not below a folder."""
    path = (folder / name).resolve()
    if not is_below(folder, name):
        raise UsageError(
            f"a file may write only below its own folder, not to {name}.",
            "Name a file there, or leave it out and write the page with `gnomon report -o`.",
        )
    return path


def results_below(folder: Path, name: str) -> Path:
    """The folder for the page, tables and figures of an experiment, in place of nobody else's."""
    found = check_below(folder, name)
    page = found / RESULTS[0]
    if not _is_page(page):
        for each in RESULTS:
            check_replaceable(found / each, f"{name}/{each}", lambda _: False)
    return found


def _is_page(file: Path) -> bool:
    return file.is_file() and _PAGE.search(first_bytes(file, _HEAD)) is not None


def as_flag(name: str, value: Any) -> str:
    """How the command says it.

    >>> as_flag("trust_remote_code", True), as_flag("key_env", "MY_KEY")
    ('--set trust_remote_code=yes', '--set key_env=MY_KEY')
    """
    if name in RUNS_CODE:
        return f"--set {name}=yes"
    return f"--set {name}={value}"
