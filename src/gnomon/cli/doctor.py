"""Say what is installed and what is missing, what the machine has, and what is kept in the cache.

Paste what it prints into a question or an issue. Of keys it says only whether they are set.

examples:
  gnomon doctor
  gnomon doctor --format json
  gnomon doctor --servers
"""

from __future__ import annotations

import os
import platform
import subprocess
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from shlex import quote
from shutil import which
from typing import Any

from gnomon import __version__
from gnomon.errors import PARTS, GnomonError, inert
from gnomon.items.source import load
from gnomon.models.machine import available_cores
from gnomon.tabular import as_json
from gnomon.unknownnames import SERVERS

KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HF_TOKEN", "LABEL_STUDIO_API_KEY", "RAY_ADDRESS")
PATIENCE = 1.0  # seconds for a server of this machine
LARGEST_REPLY = 2**20  # bytes
MOST_FILES = 5  # of a folder that are looked into
LARGEST_LOOKED_INTO = 20_000_000  # bytes
LOGS = ("samples_*.jsonl", "*.eval")
NOTHING = """\
Nothing of Gnomon's is in this folder yet. What you could do:
  gnomon demo                                  a small model, measured in two minutes
  gnomon run scales -m random --limit 50       a first run, of a model that guesses
  gnomon run quick -m ./my-model               a model of yours: a folder or a .gguf file
  gnomon run mine.csv -m random                questions of yours"""


def main(args: Namespace) -> int:
    """Run `gnomon doctor`."""
    facts = _facts(with_servers=args.servers)
    if args.format == "json":
        print(as_json(facts))
        return 0
    print(inert("\n".join(_in_words(facts))))
    return 0


def _facts(*, with_servers: bool) -> dict[str, Any]:
    from gnomon.durable import cache_folder

    facts: dict[str, Any] = {
        "gnomon": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": available_cores(),
        "memory_gb": _memory(),
        "gpus": _gpus(),
        "parts": _parts(),
        "cache": str(cache_folder()),
        "cache_mb": _sizes(cache_folder()),
        "keys": {name: bool(os.environ.get(name)) for name in KEYS},
    }
    if with_servers:
        facts["servers"] = {name: _served(port) for name, port in SERVERS.items()}
    return facts


def _parts() -> dict[str, dict[str, str | None]]:
    """The modules of each optional part, with the version of each; none if it is not installed."""
    distributions = metadata.packages_distributions()
    parts: dict[str, dict[str, str | None]] = {}
    for module, part in sorted(PARTS.items()):
        names = distributions.get(module)
        parts.setdefault(part, {})[module] = metadata.version(names[0]) if names else None
    return dict(sorted(parts.items()))


def _memory() -> float | None:
    """Of the machine, in gigabytes, where the system says it."""
    with suppress(AttributeError, OSError, ValueError):
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    return None


def _gpus() -> list[str]:
    """As their driver lists them: torch would take seconds to load."""
    program = which("nvidia-smi")
    if program is None:
        is_apple = platform.system() == "Darwin" and platform.machine() == "arm64"
        return ["Apple (mps)"] if is_apple else []
    with suppress(OSError, subprocess.SubprocessError):
        asked = subprocess.run(  # noqa: S603 - the driver's own program
            [program, "-L"], capture_output=True, text=True, timeout=10, check=True
        )
        return [line.partition(" (UUID")[0] for line in asked.stdout.splitlines()]
    return []


def _sizes(cache: Path) -> dict[str, float]:
    """Megabytes of each folder of the cache."""
    sizes = {}
    with suppress(OSError):
        for folder in sorted(path for path in cache.iterdir() if path.is_dir()):
            files = (file for file in folder.rglob("*") if file.is_file())
            sizes[folder.name] = round(sum(file.stat().st_size for file in files) / 1e6, 1)
    return sizes


def _served(port: int) -> list[str] | None:
    """The models of an OpenAI-compatible server of this machine; none if nothing answers."""
    import json

    from gnomon.downloads.download import NO_REPLY, opener

    address = f"http://127.0.0.1:{port}/v1/models"
    with suppress(*NO_REPLY, ValueError, LookupError, TypeError, RecursionError):
        with opener(direct=True).open(address, timeout=PATIENCE) as reply:
            listed = json.loads(reply.read(LARGEST_REPLY))
        return [str(model["id"]) for model in listed["data"]]
    return None


def _in_words(facts: dict[str, Any]) -> Iterator[str]:
    memory = f"{facts['memory_gb']} GB of memory" if facts["memory_gb"] else "memory unknown"
    yield f"gnomon {facts['gnomon']}, Python {facts['python']}, {facts['system']}"
    gpus = ", ".join(facts["gpus"]) or "no GPU found"
    yield f"{facts['cores']} cores, {memory}, {gpus}"
    yield "\nOptional parts:"
    for name, packages in facts["parts"].items():
        missing = [package for package, version in packages.items() if version is None]
        said = ", ".join(f"{package} {version}" for package, version in packages.items())
        if missing:
            said = f"missing {', '.join(missing)}: pip install 'gnomon[{name}]'"
        yield f"  {name:<11}{said}"
    yield f"\nCache: {facts['cache']} (GNOMON_CACHE names another)"
    width = max(map(len, facts["cache_mb"]), default=0) + 2
    for name, size in facts["cache_mb"].items():
        yield f"  {name:<{width}}{size:,.1f} MB"
    yield "\nKeys and addresses:"
    for name, is_set in facts["keys"].items():
        yield f"  {name:<22}{'set' if is_set else 'not set'}"
    if "servers" not in facts:
        yield "\nServers of this machine: not asked; --servers asks them"
        return
    yield "\nServers of this machine:"
    for name, models in facts["servers"].items():
        address = f"--base-url http://127.0.0.1:{SERVERS[name]}/v1"
        said = "nothing answers" if models is None else "names no model"
        if models:
            first = quote(f"openai:{models[0]}")
            said = f"{', '.join(models)}: gnomon run quick -m {first} {address}"
        yield f"  {name:<11}{said}"


# What could be done in this folder: what plain `gnomon` prints.


def what_could_be_done(folder: Path) -> str:
    """A line for each thing in a folder that a command takes, with the command."""
    lines = [*_runs_and_logs(folder), *_models(folder), *_questions(folder)]
    if not lines:
        return NOTHING
    width = max(len(command) for command, _ in lines) + 2
    said = [f"  gnomon {command:<{width}}{what}" for command, what in lines]
    return "\n".join(["What you could do in this folder:", *said])


def _runs_and_logs(folder: Path) -> Iterator[tuple[str, str]]:
    from gnomon.runs.finding import survey

    for place in ("runs", "runs/demo", "."):
        count = len(survey(folder / place).runs)
        if count:
            yield f"table {place}", f"the scores of {'1 run' if count == 1 else f'{count} runs'}"
            yield f"report {place}", "the same as a page"
            yield f"view --runs {place}", "every item, in the browser"
    logs = [file for pattern in LOGS for file in sorted(folder.glob(pattern))]
    for file in logs[:MOST_FILES]:
        yield f"score {quote(file.name)}", "a log of another program"


def _models(folder: Path) -> Iterator[tuple[str, str]]:
    from gnomon.modelpaths import WEIGHTS

    folders = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    models = [path for path in folders if any((path / name).is_file() for name in WEIGHTS)]
    models += sorted(folder.glob("*.gguf"))
    for path in models[:MOST_FILES]:
        named = "." if path == folder else f"./{quote(path.name)}"
        yield f"run quick -m {named} -m random", "ask this model, beside guessing"


def _questions(folder: Path) -> Iterator[tuple[str, str]]:

    files = [file for end in ("csv", "tsv", "jsonl") for file in sorted(folder.glob(f"*.{end}"))]
    for file in [file for file in files if file.is_file()][:MOST_FILES]:
        if file.match(LOGS[0]) or file.stat().st_size > LARGEST_LOOKED_INTO:
            continue
        try:
            next(iter(load(str(file)).without_pictures()))
        except (GnomonError, StopIteration):
            yield f"audit {quote(file.name)}", "says what it lacks to be asked"
            continue
        yield f"audit {quote(file.name)}", "check these questions"
        yield f"run {quote(file.name)} -m random", "ask them"
