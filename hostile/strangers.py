"""Files of strangers that try to run code, to fetch keys and files, or to write where they may not.

    python -m hostile.strangers [--files N] [--part 1/2] [--only KIND] [--json]

Each file is made, not damaged: options come from the registry, and any of them may name a path, an
address, a key or a command. The user's home holds secrets, a server on this machine is the
stranger's. A hook of the interpreter sees every file that is opened for writing, every program that
is started and every connection; what leaves this machine is refused.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

from gnomon import registry
from gnomon.errors import GnomonError
from gnomon.files import package_data
from gnomon.options import options_of
from gnomon.trust import ONLY_BY_COMMAND
from hostile import commands, samples
from hostile.arguments import Part, add_part, parser_of
from hostile.command import command
from hostile.misbehaving import Listener
from hostile.readers import LeakedError, Reader, check_message, finished_run
from hostile.samples import ITEMS, Sample, whole_png
from hostile.tally import Tally
from hostile.trying import tell_and_keep, tried

SECRETS = {
    name: f"canary-{name.lower().replace('_', '-')}-52716"
    for name in ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "MY_PASSWORD")
}
PRIVATE = "canary-of-a-private-file-90125"
RAN = "code-ran"  # a file that only a stranger's code writes
PICTURE = whole_png(37, 91)
SENT_PICTURE = base64.b64encode(PICTURE)[:44]  # how its bytes begin in a request
HARMLESS = ("scales", "random")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_READING = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_DIRECTORY | os.O_NOFOLLOW


class Place(NamedTuple):
    """The folders of one trial, and the stranger's address."""

    root: Path
    address: str

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def stranger(self) -> Path:
        return self.root / "stranger"

    @property
    def work(self) -> Path:
        return self.root / "work"


class Kind(NamedTuple):
    """A kind of file: what writes one, and the commands that a user gives with it."""

    name: str
    write: Callable[[Random, Place, bool], list[list[str]]]


class _Code:
    """Pickled, it runs a command when it is opened."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.what,)


# -- what is around: a home with secrets, and a folder of the stranger's --------------------------


def lay_out(place: Place) -> None:
    """The user's home, the stranger's folder with a model that runs code, and a place to work."""
    private = place.home / "private"
    (place.home / ".ssh").mkdir(parents=True)
    private.mkdir()
    (place.home / ".bashrc").write_text(f"export A={PRIVATE}\n")
    (place.home / ".ssh" / "id_rsa").write_text(PRIVATE)
    question = {"id": PRIVATE, "text": f"{PRIVATE}?", "choices": ["yes", "no"], "gold": "yes"}
    (private / "questions.jsonl").write_text(json.dumps(question) + "\n")
    row = {"question": f"{PRIVATE}?", "answer": "yes"}
    (private / "rows.jsonl").write_text(json.dumps(row) + "\n")
    (private / "questions.csv").write_text(f"question,A,B,answer\n{PRIVATE}?,yes,no,A\n")
    (private / "prompt.yaml").write_bytes(samples.PROMPT.replace(b"asks", PRIVATE.encode()))
    (private / "picture.png").write_bytes(PICTURE)
    place.work.mkdir()
    (place.root / "cache").mkdir()
    place.stranger.mkdir()
    (place.stranger / "link").symlink_to(private)
    _write_evil_model(place.stranger / "evil")


def telling_code(root: Path) -> str:
    """Python that leaves a file where it is looked for, from wherever it is imported."""
    return f"open({str(root / RAN)!r}, 'w').close()\n"


def _write_evil_model(folder: Path) -> None:
    folder.mkdir()
    code = {"AutoConfig": "code.Config", "AutoModelForCausalLM": "code.Model"}
    config = {"model_type": "evil", "architectures": ["Evil"], "auto_map": code}
    tokens = {"tokenizer_class": "Evil", "auto_map": {"AutoTokenizer": ["code.Tokens", None]}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text(json.dumps(tokens))
    (folder / "probe.json").write_text(json.dumps({"model": "hf:evil"}))
    (folder / "code.py").write_text(telling_code(folder.parents[1]))
    (folder / "model.safetensors").write_bytes(len(b"{}").to_bytes(8, "little") + b"{}")
    ran = pickle.dumps(_Code(f"touch '{folder.parents[1] / RAN}'"))
    for name in ("pytorch_model.bin", "model.ckpt", "features.pt", "probe.pt"):
        (folder / name).write_bytes(ran)


# -- what a stranger writes -----------------------------------------------------------------------


def value(rng: Random, place: Place, name: str = "") -> Any:
    """What a stranger gives for an option, a field or a path."""
    paths = [
        str(place.home / "private" / "questions.jsonl"),
        "../home/private/questions.csv",
        "~/private/questions.jsonl",
        "link/questions.jsonl",
        str(place.home / "private" / "picture.png"),
        str(place.home / "private" / "prompt.yaml"),
        str(place.home / ".bashrc"),
        "../home/.ssh/id_rsa",
        str(place.home / "private"),
        "evil",
        str(place.stranger / "evil"),
        str(place.root / RAN),
    ]
    code = [
        f"$(touch {place.root / RAN})",
        f"; touch {place.root / RAN}",
        "{{ cycler.__init__.__globals__.os.system('touch ../code-ran') }}",
        "{0.__class__.__mro__}",
        "evil.code:Model",
    ]
    addresses = [
        place.address,
        f"{place.address}/$OPENAI_API_KEY",
        place.address.replace("//", "//user:$MY_PASSWORD@"),
    ]
    if "url" in name:
        return rng.choice(addresses)
    if name in ONLY_BY_COMMAND and name != "key_env":
        return rng.choice([True, "yes", 1, "on"])
    if "env" in name or "key" in name:
        return rng.choice(list(SECRETS))
    pools: list[list[Any]] = [
        paths,
        paths,
        addresses,
        code,
        list(SECRETS),
        [True, "yes", 7, None, "all"],
    ]
    return rng.choice(rng.choice(pools))


def worded(options: dict[str, Any]) -> list[str]:
    """The options that take a text: a path, an address, a name."""
    return [
        name for name, usual in options.items() if usual is ... or isinstance(usual, str | None)
    ]


def some_options(rng: Random, place: Place, known: list[str]) -> dict[str, Any]:
    """An option of a model or a benchmark; at times one that only the command may give."""
    names = [*known, *known, *ONLY_BY_COMMAND]
    chosen = rng.sample(names, rng.choice([0, 1, 1, 1, 2]))
    return {name: value(rng, place, name) for name in chosen}


def a_model(rng: Random, place: Place) -> dict[str, Any]:
    """Any kind of model of the registry, given anything."""
    kind = rng.choice([*registry.entries("models"), *["hf"] * 3])
    options = some_options(rng, place, worded(options_of(registry.model_factory(kind))))
    argument = rng.choice(["../stranger/evil", "gpt", "yes", str(value(rng, place))])
    alone = kind.startswith("synth:") or rng.random() < 0.1
    return {"name": "Nice", "model": kind if alone else f"{kind}:{argument}", "options": options}


def a_model_of_code(rng: Random, place: Place) -> dict[str, Any]:
    """The stranger's own model, which the file trusts."""
    name = rng.choice(["trust_remote_code", "trust_remote_code", "allow_pickle"])
    options = {name: value(rng, place, name)}
    return {"name": "Nice", "model": "hf:../stranger/evil", "options": options}


def a_server(rng: Random, place: Place) -> dict[str, Any]:
    """A model at the stranger's own address, which hears all that it is asked."""
    options = {"base_url": place.address, "attempts": 1}
    if rng.random() < 0.3:
        factory = registry.model_factory("openai")
        options |= some_options(rng, place, worded(options_of(factory)))
    return {"name": "Nice", "model": "openai:gpt", "options": options}


def a_training(rng: Random, place: Place) -> dict[str, Any]:
    """A model that is made before it is asked, wherever the file says."""
    folder = rng.choice([str(place.home / "trained"), "../home/.ssh", "trained", "../stranger/t"])
    recipe = rng.choice(["probe", "capbert", "../stranger/link/prompt.yaml"])
    name = rng.choice(["model", "look.allow_pickle", "data.train.file", "captions", "seeds.data"])
    return {"model": f"hf:{folder}", "train": recipe, "set": {name: value(rng, place, name)}}


def a_benchmark(rng: Random, place: Place) -> dict[str, Any]:
    """A benchmark of the registry with options, or a file: the user's, or the stranger's."""
    private = [
        str(place.home / "private" / "questions.jsonl"),
        "../home/private/questions.csv",
        "../stranger/link/questions.jsonl",
        str(place.home / "private"),
        str(value(rng, place)),
    ]
    name = rng.choice([*private, "../stranger/items.jsonl", "scales", "scales", "@", "@"])
    if name != "@":
        return {"name": name, "limit": 2}
    name = rng.choice([each for each in registry.entries("benchmarks") if each != "vsr"])
    source = rng.choice(list(registry.benchmark(name).sources))
    known = worded(options_of(registry.benchmark(name).sources[source]))
    return {"name": f"{name}@{source}", "limit": 2, "options": some_options(rng, place, known)}


def experiment(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """Benchmarks, models, prompts and a page, wherever they may be."""
    name, model = HARMLESS
    content: dict[str, Any] = {"benchmarks": [{"name": name, "limit": 2}], "models": [model]}
    if not harmless:
        content["benchmarks"] = [a_benchmark(rng, place)]
        content["models"] = [rng.choice([a_model, a_server, a_server])(rng, place)]
        if rng.random() < 0.15:
            content["prompts"] = [rng.choice([str(place.home / "private/prompt.yaml"), "plain"])]
        if rng.random() < 0.25:
            content["report"] = rng.choice([str(value(rng, place)), "page.html"])
        if rng.random() < 0.2:
            content["results"] = rng.choice([str(value(rng, place)), "../home/results"])
        if rng.random() < 0.2:
            content["benchmarks"][0]["choose_prompts"] = True
        if rng.random() < 0.2:
            content["models"] = [a_training(rng, place)]
        if rng.random() < 0.15:
            content["benchmarks"] = [{"name": name, "limit": 2}]
            content["models"] = [a_model_of_code(rng, place)]
        _write_items(rng, place)
    (place.stranger / "nice.yaml").write_text(yaml.safe_dump(content))
    extra = rng.choice([[], [], ["--dry-run"]])
    return [["run", "../stranger/nice.yaml", *extra]]


def suite(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """The same without models: the user names one, with a key."""
    benchmark = {"name": "scales"} if harmless else a_benchmark(rng, place)
    content = {"benchmarks": [benchmark], "limit": 2}
    _write_items(rng, place, harmless)
    (place.stranger / "nice.yaml").write_text(yaml.safe_dump(content))
    return [["run", "../stranger/nice.yaml", "-m", "random"]]


def with_a_leaf_changed(content: Any, rng: Random, place: Place) -> Any:
    """Data in which one value, or one more field, is the stranger's."""
    if isinstance(content, dict) and content:
        name = rng.choice(list(content))
        if rng.random() < 0.25:
            other = rng.choice([*ONLY_BY_COMMAND, "base_url", "file", "data", "model", name])
            return {**content, other: value(rng, place, other)}
        return {**content, name: with_a_leaf_changed(content[name], rng, place)}
    if isinstance(content, list) and content:
        at = rng.randrange(len(content))
        changed = with_a_leaf_changed(content[at], rng, place)
        return [*content[:at], changed, *content[at + 1 :]]
    return value(rng, place)


def recipe(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """A recipe of ours with something else in it."""
    shipped = sorted(package_data("recipes").glob("*.yaml"))
    content = yaml.safe_load(rng.choice(shipped).read_text())
    if not harmless:
        content = with_a_leaf_changed(content, rng, place)
        if rng.random() < 0.5:
            content["model"] = rng.choice(["hf:../stranger/evil", "../stranger/evil"])
    (place.stranger / "nice.yaml").write_text(yaml.safe_dump(content))
    if harmless:  # without its data there is nothing to be trained on
        return [["list", "experiments"]]
    given = rng.choice([["--check"], ["-o", "trained"]])
    return [["train", "../stranger/nice.yaml", *given]]


def _write_items(rng: Random, place: Place, harmless: bool = False) -> None:
    rows = []
    for item in ITEMS[:3]:
        row: dict[str, Any] = {
            "id": item.id,
            "form": "choice",
            "text": item.text,
            "choices": list(item.choices),
            "gold": list(item.gold),
        }
        if not harmless:
            path = rng.choice([str(value(rng, place)), str(place.home / "private/picture.png")])
            digest = rng.choice(["../../home/.ssh/new", str(place.home / "new"), "a/../../b"])
            fetched = {"path": f"{place.address}/a.png", "sha256": digest}
            row |= rng.choice(
                [{"images": [{"path": path}]}, {"images": [fetched]}, {"image": path}]
            )
            row |= rng.choice([{}, {"context": path}, {"id": path}, {"group": path}])
            if rng.random() < 0.1:
                row |= {"images": path, "tags": path}
        rows.append(row)
    if not harmless and rng.random() < 0.3:  # columns as another program names them
        rows = [{"question": row.pop("text"), **row} for row in rows]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (place.stranger / "items.jsonl").write_text(lines)


SIDECAR = {"title": "Nice", "prompt": "plain", "measures": ["accuracy"], "licence": "MIT"}


def sidecar(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """What stands beside a file of items."""
    _write_items(rng, place, harmless=True)
    content = SIDECAR if harmless else with_a_leaf_changed(SIDECAR, rng, place)
    (place.stranger / "items.yaml").write_text(yaml.safe_dump(content))
    return [
        ["run", "../stranger/items.jsonl", "-m", "random"],
        ["show", "../stranger/items.jsonl"],
    ]


def items(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """Items with pictures from elsewhere, shown to a server that the user trusts."""
    _write_items(rng, place, harmless)
    server = ["-m", "openai:x", "--base-url", place.address, "--set", "key_env="]
    return [
        ["run", "../stranger/items.jsonl", *server, "--set", "attempts=1"],
        ["audit", "../stranger/items.jsonl", "--check", "validation"],
        ["show", "../stranger/items.jsonl"],
    ]


TASK = {
    "task": "nice",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": "rows.jsonl"}},
    "output_type": "multiple_choice",
    "test_split": "test",
    "doc_to_text": "{{question}}",
    "doc_to_choice": ["yes", "no"],
    "doc_to_target": "{{answer}}",
}


def _task_of_private_rows(rng: Random, place: Place) -> dict[str, Any]:
    away = ["../home/private/rows.jsonl", "link/rows.jsonl", "~/private/rows.jsonl"]
    file = rng.choice([*away, str(place.home / "private" / "rows.jsonl")])
    return {**TASK, "dataset_kwargs": {"data_files": {"test": file}}}


def _task_with_code(rng: Random, place: Place) -> dict[str, Any]:
    field = rng.choice(["doc_to_text", "doc_to_target"])
    attack = f"{{{{ cycler.__init__.__globals__.os.system('touch {place.root / RAN}') }}}}"
    return {**TASK, field: f"{{{{question}}}}{attack}"}


TASKS = (
    partial(with_a_leaf_changed, TASK), partial(with_a_leaf_changed, TASK),
    _task_of_private_rows, _task_with_code,
)  # fmt: skip


def task(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """A task of lm-eval: templates, data files, includes, functions."""
    row = {"question": "Is it so?", "answer": "yes"}
    (place.stranger / "rows.jsonl").write_text(json.dumps(row) + "\n")
    content = TASK if harmless else rng.choice(TASKS)(rng, place)
    text = yaml.safe_dump(content)
    if not harmless and rng.random() < 0.3:
        more = ["process_docs: !function evil/code.main", "include: ../home/private/prompt.yaml"]
        text += rng.choice([*more, "class: !!python/object/apply:os.system [touch ../code-ran]"])
    (place.stranger / "task.yaml").write_text(text)
    server = ["-m", "openai:x", "--base-url", place.address, "--set", "key_env="]
    return [["run", "../stranger/task.yaml", *server, "--set", "attempts=1"]]


def patterns(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """Patterns of sentences."""
    content = yaml.safe_load(samples.PATTERNS)
    changed = content if harmless else with_a_leaf_changed(content, rng, place)
    (place.stranger / "p.yaml").write_text(yaml.safe_dump(changed))
    given = ["--set", "patterns=../stranger/p.yaml", "--set", "per_group=2"]
    return [["run", "spacenli", "-m", "random", *given, "--limit", "4"]]


def prompt(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """A prompt that a user was sent."""
    content = yaml.safe_load(samples.PROMPT)
    changed = content if harmless else with_a_leaf_changed(content, rng, place)
    (place.stranger / "p.yaml").write_text(yaml.safe_dump(changed))
    server = ["-m", "openai:x", "--base-url", place.address, "--set", "key_env="]
    given = ["--prompt", "../stranger/p.yaml", "--limit", "2", "--set", "attempts=1"]
    return [["run", "scales", *server, *given]]


def log(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """A run's folder, whose manifest says anything."""
    name, files = RUN
    for path, content in files.items():
        file = place.stranger / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith("run.json") and not harmless:
            manifest = with_a_leaf_changed(json.loads(content), rng, place)
            if rng.random() < 0.5:
                manifest["model"] = "hf:../stranger/evil"
                manifest["model_options"] = some_options(rng, place, ["prompt"])
            content = json.dumps(manifest).encode()
        file.write_bytes(content)
    run = f"../stranger/runs/{name}"
    whole = [
        ["score", run],
        ["report", run, "-o", "page.html"],
        ["table", run],
        ["runs", "list", "--runs", "../stranger/runs"],
        ["runs", "recover", run, "-o", "saved"],
    ]
    return whole[:2] if harmless else [rng.choice(whole)]


def dataset(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """A dataset folder as the hub has it: a card that names its files, and a script."""
    folder = place.stranger / "set"
    (folder / "data").mkdir(parents=True)
    row = {"question": "Is it so?", "choices": ["yes", "no"], "answer": 0}
    (folder / "data" / "test.jsonl").write_text(json.dumps(row) + "\n")
    files = [{"split": "test", "path": "data/test.jsonl"}]
    card: dict[str, Any] = {"configs": [{"config_name": "default", "data_files": files}]}
    if not harmless:
        card = with_a_leaf_changed(card, rng, place)
        (folder / "set.py").write_text(telling_code(place.root))
        if rng.random() < 0.5:
            (folder / "gnomon.yaml").write_text(
                yaml.safe_dump(with_a_leaf_changed(SIDECAR, rng, place))
            )
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump(card)}---\nNice.\n")
    server = ["-m", "openai:x", "--base-url", place.address, "--set", "key_env="]
    return [["run", "../stranger/set", *server, "--set", "attempts=1"]]


def answers(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """Answers of another program."""
    rows: list[dict[str, Any]] = [dict(row) for row in samples.OWN]
    if not harmless:
        rows[0] = with_a_leaf_changed(rows[0], rng, place)
        rows[1]["files"] = [str(value(rng, place))]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (place.stranger / "answers.jsonl").write_text(lines)
    _write_items(rng, place, harmless=True)
    given = ["--answers", "../stranger/answers.jsonl", "--benchmark", "../stranger/items.jsonl"]
    return [["score", *given]]


def any_command(rng: Random, place: Place, harmless: bool) -> list[list[str]]:
    """Any of these files, given to any command of the registry."""
    others = [writer for writer in WRITERS if writer is not any_command]
    found = []
    for words in rng.choice(others)(rng, place, harmless):
        found += [word.rpartition("=")[2] for word in words if "../stranger/" in word]
    way = ("list",) if harmless or not found else rng.choice(commands.ALL)
    return [commands.filled(way, rng.choice(found or ["../stranger"]))]


WRITERS = (
    experiment, suite, recipe, sidecar, items, task, patterns, prompt, log, dataset, answers,
    any_command,
)  # fmt: skip
KINDS = tuple(Kind(writer.__name__, writer) for writer in WRITERS)
SHARES = {"experiment": 4.0, "log": 2.0, "recipe": 1.5, "any_command": 4.0}
RUN: tuple[str, dict[str, bytes]] = ("", {})


# -- a trial --------------------------------------------------------------------------------------


def _is_ours(program: str, words: Any) -> bool:
    """Whether a program is Gnomon itself, or fetches a package that Gnomon names, unopened."""
    if program == sys.executable:
        return True
    named = package_data("vision/networks.yaml").read_text(encoding="utf-8")
    fetches = Path(program).name == "npm" and words[1] == "pack" and "--ignore-scripts" in words
    return fetches and words[2] in named


class Watch:
    """Sees what this process opens for writing, starts and reaches, once it is told where."""

    def __init__(self) -> None:
        self.place: Place | None = None
        self.seen: list[str] = []

    def __call__(self, event: str, given: tuple[Any, ...]) -> None:
        if self.place is None:
            return
        if event == "open":
            self._opened(*given)
        elif event in ("os.remove", "os.rename", "os.mkdir", "os.symlink", "os.truncate"):
            self._changed(event, given)
        elif event in ("os.system", "os.exec", "os.posix_spawn"):
            self.seen.append(f"{event} {given!r}")
        elif event == "subprocess.Popen" and not _is_ours(str(given[0]), given[1]):
            self.seen.append(f"started {given[0]} {given[1]!r}")
        elif event == "socket.connect" and isinstance(given[1], tuple):
            self._reached(str(given[1][0]))
        elif event == "socket.getaddrinfo":
            self._reached(str(given[0]))

    def _opened(self, path: Any, mode: str | None, flags: int) -> None:
        writes = bool(flags & ~_READING) if mode is None else not set(mode) <= set("rbtU")
        if writes and not isinstance(path, int):
            self._changed("open", (path,))

    def _changed(self, event: str, given: tuple[Any, ...]) -> None:
        """Nothing of the user's home or beside it may change; the stranger's folder may."""
        assert self.place is not None
        for path in given:
            if not isinstance(path, str | bytes | os.PathLike):
                continue
            file = Path(os.path.realpath(os.fsdecode(path)))
            if event == "os.mkdir" and file.is_dir():
                continue
            if file.is_relative_to(self.place.home) or file.parent == self.place.root:
                self.seen.append(f"{event} {file.name}")

    def _reached(self, host: str) -> None:
        if host not in LOOPBACK and not host.startswith("127."):
            raise ConnectionRefusedError(f"{host} is not on this machine")


WATCH = Watch()


def make(rng: Random, number: int, folder: Path, kind: Kind, address: str) -> str:
    """One trial's folders, and the commands that the user will give."""
    place = Place(folder, address)
    lay_out(place)
    given = kind.write(rng, place, number == 0)
    (folder / "commands.json").write_text(json.dumps(given))
    return json.dumps(given)[:200]


def attempt(folder: Path, address: str, heard: Path) -> int:
    """Give the commands; a secret that got out, or a change where none may be, is an error."""
    place = Place(folder, address)
    given = json.loads((folder / "commands.json").read_text())
    os.environ.update(SECRETS, HOME=str(place.home), GNOMON_CACHE=str(folder / "cache"))
    os.environ["HF_HUB_OFFLINE"] = "1"
    heard.write_bytes(b"")
    os.chdir(place.work)
    refused = ""
    told = ""
    WATCH.seen.clear()
    WATCH.place = place
    try:
        for words in given:
            ended = command(*words)
            told += ended.said
            refused = refused or (ended.told if ended.code else "")
    finally:
        WATCH.place = None
    check_message(told, longest=10**5)
    _check_nothing_got_out(place, told, heard.read_bytes())
    if refused:
        raise GnomonError(refused[:1000])
    return len(given)


def _check_nothing_got_out(place: Place, told: str, sent: bytes) -> None:
    if (place.root / RAN).exists():
        raise LeakedError("a stranger's code ran")
    if WATCH.seen:
        raise LeakedError("; ".join(WATCH.seen)[:300])
    if PRIVATE.encode() in sent or SENT_PICTURE in sent:
        raise LeakedError("a private file was sent")
    for name, secret in SECRETS.items():
        if secret.encode() in sent or secret in told:
            raise LeakedError(f"{name} was sent or printed")
        for file in place.work.rglob("*"):
            if file.is_file() and secret.encode() in file.read_bytes():
                raise LeakedError(f"{name} is in {file.name}")


def reader_of(kind: Kind, address: str, heard: Path) -> Reader:
    """The kind as a reader whose inputs are made, not damaged."""
    return Reader(
        f"stranger's {kind.name}",
        Sample({}),
        lambda folder: attempt(folder, address, heard),
        share=SHARES.get(kind.name, 1.0),
        make=lambda rng, number, folder: make(rng, number, folder, kind, address),
    )


def _warm() -> None:
    """Load once, before children are forked, what each of them would load."""
    global RUN
    import gnomon.cli.run
    import gnomon.cli.train  # noqa: F401

    RUN = finished_run()
    for name in ("httpx", "torch", "transformers", "jinja2", "sklearn"):
        try:
            __import__(name)
        except ImportError:
            continue


def tallies(
    files: int, *, seed: int, part: Part, only: str, kept: Path
) -> Iterator[tuple[str, Tally]]:
    """Each kind with what became of its files."""
    from hostile.trying import shares

    _warm()
    folder = Path(tempfile.mkdtemp(prefix="gnomon-heard-"))
    listener = Listener(folder / "heard")
    sys.addaudithook(WATCH)
    kinds = [reader_of(kind, listener.address, listener.heard) for kind in KINDS]
    wanted = shares(kinds, files)
    try:
        for reader in kinds:
            if only and only not in reader.name:
                continue
            yield reader.name, tried(reader, part.numbers(wanted[reader.name]), seed, kept)
    finally:
        listener.end()
        shutil.rmtree(folder)


def main() -> int:
    socket.setdefaulttimeout(20)
    parser = parser_of(__doc__)
    add_part(parser)
    parser.add_argument("--files", type=int, default=200, help="of all kinds together")
    parser.add_argument("--only", default="", help="kinds whose name has this in it")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    well = tell_and_keep(
        lambda kept: tallies(args.files, seed=args.seed, part=args.part, only=args.only, kept=kept),
        as_json=args.json,
    )
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
