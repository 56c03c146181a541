"""Every reader of files, each with a sample and a way to read it.

Benchmarks and answer formats come from the registry, so that a new one is tried without anyone
adding it here; it only needs a sample.
"""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import gnomon
from gnomon import registry
from gnomon.errors import GnomonError
from gnomon.items.answers.logs import READERS as LOG_READERS
from gnomon.items.rows import ENDINGS, raw_rows
from gnomon.items.shapes import log_shape
from gnomon.records import Answer, Item
from hostile import samples
from hostile.command import command
from hostile.samples import ITEMS, Sample, wrong_answer

NO_SAMPLE = "give it a sample in hostile/samples.py"
# One change to a file touches one answer, or two that changed places. If more become right and
# nothing is said, they were read from the wrong place.
MOST_CHANGED = 2
STEERING = frozenset("\x1b\x07\x08\x9b\u202a\u202b\u202d\u202e\u2066\u2067\u2068")
LONGEST_MESSAGE = 3000
OFTEN = 4.0  # the share of what reads items and logs of strangers: together 50,000 inputs
NOT_HERE = (".arrow",)  # it needs pyarrow, which Gnomon does not bring


class WrongError(Exception):
    """A file was read wrongly, and nothing was said."""


class UnclearError(Exception):
    """What was said steers the terminal, or is too long to be read."""


class LeakedError(Exception):
    """Code ran, a secret got out, or something changed where nothing may."""


@dataclass(frozen=True)
class Reader:
    """Something that reads strangers' files: it gives something, or raises a GnomonError."""

    name: str
    sample: Sample
    read: Callable[[Path], object]
    share: float = 1.0  # of the inputs that others get: less for slow ones
    judged: bool = False  # whether a wrong reading can be told
    limited: bool = True  # whether it works in this process, which is limited then
    # Writes the number-th input where inputs are made, not damaged; the first is harmless.
    make: Callable[[Random, int, Path], str] | None = None


def all_readers() -> list[Reader]:
    """Every reader there is, in a fixed order."""
    from hostile.replies import replies

    found = [*published_sources(), *answer_formats(), *own_files(), *run_folders(), *replies()]
    return sorted(found, key=lambda reader: reader.name)


def without_sample() -> list[str]:
    """Readers of the registry that have no sample."""
    missing = [name for name in _sources_of_files() if name not in samples.BENCHMARKS]
    known = samples.ANSWER_FORMATS
    missing += [name for name in registry.entries("answer_formats") if name not in known]
    names = [*samples.OF_STRANGERS, *samples.LOGS]
    for ending in ENDINGS:
        if ending not in NOT_HERE and not any(name.endswith(ending) for name in names):
            missing.append(f"items of *{ending}")
    with TemporaryDirectory() as place:
        shapes = {_shape(Path(place) / name, content) for name, content in samples.LOGS.items()}
    return missing + [f"logs of {shape}" for shape in LOG_READERS if shape not in shapes]


def _shape(file: Path, content: bytes) -> str:
    """Whose log a sample is; empty if it is a table of anybody's."""
    file.write_bytes(content)
    return log_shape(next(raw_rows(file))[1])


def _sources_of_files() -> Iterator[str]:
    for name in registry.entries("benchmarks"):
        for source, function in registry.benchmark(name).sources.items():
            if "data" in inspect.signature(function).parameters:
                yield f"{name}@{source}"


def published_sources() -> Iterator[Reader]:
    """Every source of a benchmark that reads a folder of files."""
    for name in _sources_of_files():
        if name in samples.BENCHMARKS:
            yield Reader(name, samples.BENCHMARKS[name], _benchmark_reader(name))


def _benchmark_reader(name: str) -> Callable[[Path], object]:
    options = samples.BENCHMARKS[name].options

    def read(folder: Path) -> int:
        source = gnomon.load(name, data=str(folder), **options)
        items = list(source.items())
        if source.benchmark.statistics and items:  # what `gnomon show` prints
            with suppress(GnomonError):  # it may need files that were never fetched
                source.benchmark.statistics(items)
        return len(items)

    return read


def answer_formats() -> Iterator[Reader]:
    """Every format of answer files, by the one reader that tells them apart."""
    for name, found in samples.ANSWER_FORMATS.items():
        for sample in found:
            (path,) = sample.files
            yield Reader(f"answers {name}: {path}", sample, _answers_reader(sample), judged=True)


def _answers_reader(sample: Sample) -> Callable[[Path], object]:
    from gnomon.items.answers.joining import read_predictions

    (path,) = sample.files
    items = _items_of(sample)
    before = [0]

    def read(folder: Path) -> int:
        joined = read_predictions(folder / path, items)
        right = sum(answer.choice in item.gold for item, answer in joined.rows)
        if right > before[0] + MOST_CHANGED and not joined.notes:
            raise WrongError(f"{right} answers became right")
        return right

    with TemporaryDirectory() as place:
        (Path(place) / path).write_bytes(sample.files[path])
        before[0] = read(Path(place))
    return read


def _items_of(sample: Sample) -> tuple[Item, ...]:
    """The items that the file has answers to: of a benchmark where the sample names one."""
    name = sample.options.get("benchmark")
    if name is None:
        return ITEMS
    source = samples.BENCHMARKS[str(name)]
    with TemporaryDirectory() as place:
        write(source, Path(place))
        return tuple(gnomon.load(str(name), data=place, **source.options).items())


def own_files() -> Iterator[Reader]:
    """What people write for Gnomon, and what it keeps for itself."""
    from gnomon.downloads import catalogue

    yield Reader("prompt", Sample({"p.yaml": samples.PROMPT}), _prompt)
    yield Reader("prompt like another", Sample({"p.yaml": samples.VARIATION}), _prompt)
    yield Reader("patterns", Sample({"p.yaml": samples.PATTERNS}), _patterns, share=0.3)
    world = Sample({"p.yaml": samples.OWN_PATTERNS, "w.yaml": samples.OWN_WORLD})
    yield Reader("patterns with a world", world, _patterns_and_world)
    yield Reader("families", Sample({"f.yaml": samples.FAMILIES}), _families)
    yield Reader(
        "catalogue",
        Sample({"c.yaml": samples.CATALOGUE}),
        lambda folder: catalogue.sources(folder / "c.yaml"),
    )
    record = Sample({catalogue.RECORD: samples.FETCHED})
    yield Reader("record of downloads", record, catalogue._record)
    yield Reader("cache of replies", Sample({"replies.sqlite": _kept_replies()}), _reply_cache)
    yield Reader("chat template", Sample({"t.jinja": samples.TEMPLATE}), _template)
    yield from _annotations()
    for name, content in samples.AUDITED.items():
        yield Reader(f"audit of {name}", Sample({name: content}), _audit(name))
    for name, content in samples.OF_STRANGERS.items():
        yield Reader(f"items of {name}", Sample({name: content}), _items(name), OFTEN, True)
    for name, content in samples.LOGS.items():
        yield Reader(f"log {name}", Sample({name: content}), _log(name), OFTEN, True)
    for name, content in {"a.jpg": samples.jpeg(640, 480), "a.png": samples.png(640, 480)}.items():
        yield Reader(f"picture {name}", Sample({name: content}), _picture(name), share=2)


def _annotations() -> Iterator[Reader]:
    """Annotations of pictures, in every format that `gnomon look` reads."""
    sizes = {"sizes.json": samples.PICTURE_SIZES}
    fixed = dict.fromkeys(sizes, "fixed")
    for name, content in {
        "region_descriptions.json": samples.CAPTIONED,
        "objects.json": samples.VISUAL_GENOME,
    }.items():
        sample = Sample({name: content, **sizes}, kinds=fixed)
        yield Reader(f"look: {name}", sample, _scenes(name, "sizes.json"))
    yield Reader("look: coco.json", Sample({"coco.json": samples.COCO}), _scenes("coco.json"))
    ade = Sample({"ade/kitchen/a.json": samples.ADE20K})
    yield Reader("look: ade20k", ade, _scenes("ade"))
    yolo = Sample({"yolo/a.txt": samples.YOLO, "yolo/classes.txt": b"cup\ndog\n"})
    yield Reader("look: yolo", yolo, _scenes("yolo"))


def _scenes(*names: str) -> Callable[[Path], object]:
    """All scenes and troubles of some files or folders."""

    def read(folder: Path) -> int:
        from gnomon.keep import Keep
        from gnomon.look.readers import open_sources

        with TemporaryDirectory() as work:
            store = Keep(Path(work), needed=True)
            paths = [folder / name for name in names]
            found = open_sources(paths, None, store, "none", lambda: _blind())
            count = len(found.troubles)
            for reader in found.readers:
                count += sum(1 for _ in reader.scenes())
            return count

    return read


def _items(name: str) -> Callable[[Path], object]:
    """The items of a file, with what is said of it before they are asked."""

    def answers(folder: Path) -> tuple[object, dict[object, object]]:
        from gnomon.items.understanding import understood

        source = gnomon.load(str(folder / name))
        found: dict[object, object] = {}
        for item in source.items():
            found[item.context, item.text, frozenset(item.choices)] = item.gold
        said = [line.replace(str(folder), "") for line in understood(source.options)[:1]]
        return said, found

    return _as_before(answers, name, samples.OF_STRANGERS[name])


def _log(name: str) -> Callable[[Path], object]:
    """The runs that a log holds: which of the answers are right."""

    def answers(folder: Path) -> tuple[object, dict[object, object]]:
        from gnomon.items.answers.logs import import_log

        found: dict[object, object] = {}
        said = []
        for run in import_log(folder / name, folder / "runs"):
            said.append(run.manifest.about.get("summary"))
            for item, answer in run.answers():
                if answer.choice is not None:  # what cannot be read is told wherever it counts
                    found[run.model, item.id, item.text] = answer.choice in item.gold
        return said, found

    return _as_before(answers, name, samples.LOGS[name])


def _as_before(
    answers: Callable[[Path], tuple[object, dict[object, object]]], name: str, content: bytes
) -> Callable[[Path], object]:
    """Reads a file and refuses other answers to the questions of before, if nothing else is said.

    One change to a file touches one question, or two that changed places.
    """
    with TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (Path(place) / name).write_bytes(content)
        said, before = answers(Path(place))

    def read(folder: Path) -> int:
        now_said, now = answers(folder)
        changed = [key for key, value in now.items() if before.get(key, value) != value]
        if len(changed) > MOST_CHANGED and now_said == said:
            raise WrongError(f"{len(changed)} of {len(before)} answers became others")
        return len(now)

    return read


def _audit(name: str) -> Callable[[Path], object]:
    """Every check that needs no solver, on what a file holds."""

    def read(folder: Path) -> object:
        from gnomon.audit.auditing import CHECKS, audit
        from gnomon.audit.sources import of_files

        quick = [check for check in CHECKS if check not in ("clash", "proof")]
        return audit(of_files(name, [folder / name]), quick)

    return read


def _blind() -> Any:
    raise AssertionError("no photos are looked at here")


CLOZE = Item(
    id="1", form="cloze", text="An ant is [MASK].", choices=("large", "small"), gold=("small",)
)


def _prompt(folder: Path) -> object:
    from gnomon.models.prompts.library import load_prompt

    prompt = load_prompt(folder / "p.yaml")
    for item in (CLOZE, ITEMS[0]):
        if item.form in prompt.forms:
            prompt.context(item)
            prompt.words(item)
    return prompt


def _patterns(folder: Path) -> object:
    return list(gnomon.load("spacenli", patterns=str(folder / "p.yaml"), per_group=2).items())


def _patterns_and_world(folder: Path) -> object:
    files = {"patterns": str(folder / "p.yaml"), "world": str(folder / "w.yaml")}
    return list(gnomon.load("spacenli", per_group=2, **files).items())


def _families(folder: Path) -> object:
    return list(gnomon.load("spatialqa", patterns=str(folder / "f.yaml"), per_group=2).items())


def _template(folder: Path) -> object:
    from gnomon.files import read_text
    from gnomon.models.prompts.chat import chat_template, conversation

    turns = [{"role": "user", "content": "Is an ant large?"}]
    source = read_text(folder / "t.jinja")
    return conversation(chat_template(source, {"eos_token": "</s>"}), turns)


def _picture(name: str) -> Callable[[Path], object]:
    def read(folder: Path) -> object:
        from gnomon.vision.images import describe

        return describe(folder / name)

    return read


def _at_another_time(files: dict[str, bytes], path: str) -> bytes:
    """A file of the run as if it had been asked on another day: a plain copy would count once."""
    content = files[path]
    if not path.endswith("run.json"):
        return content
    manifest = {**json.loads(content), "started": "2020-01-01T00:00:00Z"}
    return json.dumps(manifest).encode()


def run_folders() -> Iterator[Reader]:
    """A finished run of which every answer is wrong, read by the commands that read runs."""
    name, files = finished_run()
    run = f"runs/{name}"
    sample = Sample(files)
    score = _score(run)
    again = ("run", "hostile-questions", "-m", "wrong", "--quiet")
    yield Reader("run: score", sample, score, judged=True)
    yield Reader("run: gnomon score", sample, _command("score", run), share=0.2)
    yield Reader("run: gnomon runs list", sample, _command("runs", "list"), share=0.5)
    yield Reader("run: gnomon report", sample, _command("report", "runs"), share=0.1)
    other = {path.replace("runs/", "others/"): _at_another_time(files, path) for path in files}
    both = Sample({**files, **other}, kinds=dict.fromkeys(other, "fixed"))
    compare = _command("compare", run, f"others/{name}")
    yield Reader("run: gnomon compare", both, compare, share=0.2)
    yield Reader("run: viewer", sample, _viewer(name), share=0.1)
    yield Reader(
        "run: gnomon runs recover", sample, _command("runs", "recover", run, "-o", "s"), share=0.2
    )
    merge = _command("runs", "merge", run, "-o", "s")
    yield Reader("run: gnomon runs merge", Sample(as_shard(files)), merge, share=0.2)
    yield Reader("run: gnomon run", sample, _command(*again), share=0.2)
    rest = {path: "fixed" for path in files if not path.endswith("run.json")}
    manifest = Sample(files, kinds=rest)
    yield Reader("run.json: gnomon runs list", manifest, _command("runs", "list"), share=0.5)
    yield Reader("run.json: score", manifest, score, judged=True)


def questions(*, seed: int = 0) -> Iterator[Item]:
    yield from ITEMS


class AlwaysWrong:
    """A model that knows the answers and gives the others."""

    spec = "wrong"
    scale = "none"
    batch = 100

    def describe(self) -> dict[str, object]:
        return {}

    def answer(self, items: list[Item]) -> list[Answer]:
        return [Answer(item=item.id, choice=wrong_answer(item)) for item in items]


def always_wrong(name: str) -> AlwaysWrong:
    return AlwaysWrong()


QUESTIONS = gnomon.Benchmark(
    name="hostile-questions", summary="made for damage", sources={"fresh": questions}
)


def register() -> None:
    """Make the questions and the model above known by name."""
    entry = registry.Entry(f"{__name__}:QUESTIONS", QUESTIONS.summary)
    registry.BENCHMARKS["hostile-questions"] = entry
    registry.MODELS["wrong"] = registry.Entry(f"{__name__}:always_wrong", "always wrong")


def finished_run() -> tuple[str, dict[str, bytes]]:
    """The name and the files of a run of which every answer is wrong."""
    register()
    with TemporaryDirectory() as place:
        run = gnomon.run("hostile-questions", "wrong", runs=place)
        found = {}
        for file in sorted(run.path.iterdir()):
            if file.is_file() and file.stat().st_size:
                found[f"runs/{run.path.name}/{file.name}"] = file.read_bytes()
        return run.path.name, found


def as_shard(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files of a run that says it is the only shard of another."""
    found = dict(files)
    for path, content in files.items():
        if path.endswith("run.json"):
            fields = json.loads(content)
            whole = {"shard_of": "whole", "whole_items": len(ITEMS), "whole_sha256": "0"}
            found[path] = json.dumps({**fields, "shard": "1/1", **whole}).encode()
    return found


def _score(run: str) -> Callable[[Path], object]:
    """What is right, by the log; every answer was wrong."""

    def read(folder: Path) -> object:
        scores = gnomon.score(folder / run, measures=["accuracy"])
        value = scores[0].value or 0.0
        if value * len(ITEMS) > MOST_CHANGED:
            raise WrongError(f"the accuracy became {value:.2f}")
        return value

    return read


def _command(*words: str) -> Callable[[Path], object]:
    """A command as a person gives it; an exit code other than 0 is a refusal."""

    def read(folder: Path) -> object:
        os.chdir(folder)
        code, out, told = command(*words)
        check_message(out, longest=10**6)
        check_message(told)
        if code:
            raise GnomonError(told)
        return code

    return read


def _viewer(name: str) -> Callable[[Path], object]:
    """The pages of the viewer about a run; a page that fails is a traceback."""

    def read(folder: Path) -> object:
        from starlette.testclient import TestClient

        from gnomon.reports.viewer.app import make_app

        client = TestClient(make_app(str(folder / "runs")), base_url="http://localhost")
        for page in ("/", f"/run/{name}", f"/run/{name}/items", f"/run/{name}/progress"):
            found = client.get(page)
            if found.status_code >= 500:
                raise RuntimeError(f"{page} answers {found.status_code}")
        return found.status_code

    return read


REQUEST = {"model": "x", "messages": [{"role": "user", "content": "Is it so?"}]}


def _kept_replies() -> bytes:
    """A cache of one reply."""
    from gnomon.models.servers.protocol import Completion, Tokens
    from gnomon.models.servers.replycache import Replies

    with TemporaryDirectory() as place:
        file = Path(place) / "replies.sqlite"
        replies = Replies(file)
        replies.keep("http://localhost/v1", REQUEST, Completion("yes", Tokens(9, 1)))
        replies.close()
        return file.read_bytes()


def _reply_cache(folder: Path) -> object:
    from gnomon.models.servers.replycache import Replies

    replies = Replies(folder / "replies.sqlite")
    try:
        return replies.find("http://localhost/v1", REQUEST)
    finally:
        replies.close()


def check_message(text: str, longest: int = LONGEST_MESSAGE) -> None:
    """Refuse what steers a terminal, and what nobody can read."""
    if found := STEERING & set(text):
        raise UnclearError(f"{sorted(found)} in {text[:200]!r}")
    if len(text) > longest:
        raise UnclearError(f"{len(text):,} characters: {text[:200]!r}")


def write(sample: Sample, folder: Path) -> None:
    """The files of a sample, below a folder."""
    for path, content in sample.files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def read_quietly(reader: Reader, folder: Path) -> None:
    """Read; our own warnings are words for people, and so no fault."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader.read(folder)
