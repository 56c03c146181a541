"""Every command where no optional part is installed: a result or a sentence, never a traceback."""

import json
import subprocess
import sys

import pytest

from gnomon.registry import COMMANDS

# Runs commands in a process that can import the core's own packages and nothing else: what `pip
# install gnomon` brings. Each line of standard input is a command; each reply is a line of JSON.
ALONE = """
import contextlib, io, json, re, sys, traceback
from importlib import metadata

def brought(name):
    packages = {name}
    for line in metadata.requires(name) or ():
        if "extra ==" not in line:
            packages |= brought(re.match(r"[\\w.-]+", line)[0])
    return packages

def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()

core = {plain(name) for name in brought("gnomon")}
optional = set()
for module, packages in metadata.packages_distributions().items():
    if not core & {plain(package) for package in packages}:
        optional.add(module)

class Hidden:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in optional and hasattr(self.finder, "find_spec"):
            return self.finder.find_spec(name, path, target)

sys.meta_path[:] = [Hidden(finder) for finder in sys.meta_path]
from gnomon.cli import main

for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(json.loads(line))
        except SystemExit as end:
            code = end.code
        except BaseException:
            code = traceback.format_exc()
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""

CALLS = [
    "demo --limit 2",
    "list",
    "list models hf",
    "show scales -n 1",
    "show scales -n 1 -m smollm2",
    "show scales -n 1 -m hf:gpt2",
    "run scales -m random --limit 20",
    "run scales -m smollm2 --limit 4",
    "run scales -m hf:gpt2 --limit 4",
    "run scales -m openai:m --base-url http://127.0.0.1:9/v1 --limit 4",
    "run scales -m probe:p --limit 4",
    "run scales -m bag-of-words --limit 20",
    "run posrel -m synth:render --limit 2",
    "run scales -m random --limit 21 --workers ray",
    "run mine.csv -m random",
    "prompts scales -m smollm2 --limit 20 --set form=choice",
    "power scales -m smollm2",
    "train probe -o probe --set items=scales",
    "train few-shot --check",
    "score runs",
    "score runs --beliefs -o beliefs.html",
    "compare runs runs",
    "table runs --format latex",
    "report runs -o page.html",
    "report runs -o page.html --figures figures",
    "view --port 0 --runs runs",
    "cite runs",
    "make scales -o items.parquet --limit 5",
    "make scales -o task --as lm-eval --limit 5",
    "audit mine.csv",
    "audit mine.csv -o page.html",
    "prove --say premises hypothesis",
    "scene --seed 1 -o scene.png --size 32",
    "scene --seed 1 -o scene.png --meshes",
    "look photos -o known",
    "people ask scales --people ann --limit 3 --port 0",
    "people ask mine.csv --label-studio http://127.0.0.1:9 --push",
    "people agree runs",
    "people list",
    "runs list",
    "runs import nothing.eval",
    "ci init -m smollm2 -o nightly.yml",
    "data list",
    "doctor",
    "completion bash",
]
QUESTIONS = "question,option1,option2,answer\nWhich is larger?,dog,house,house\nAnd?,bus,pen,bus\n"


@pytest.fixture(scope="module")
def replies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[object, str, str]]:
    folder = tmp_path_factory.mktemp("alone")
    (folder / "mine.csv").write_text(QUESTIONS)
    (folder / "photos").mkdir()
    (folder / "photos" / "a.png").write_bytes(b"no picture")
    words = [json.dumps(call.split()) for call in CALLS]
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        input="\n".join(words),
        cwd=folder,
        env={"GNOMON_CACHE": str(folder / "cache"), "PATH": "", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    said = [tuple(json.loads(line)) for line in done.stdout.splitlines()]
    return dict(zip(CALLS, said, strict=True))


def test_the_calls_are_of_every_command() -> None:
    assert {call.split()[0] for call in CALLS} == set(COMMANDS)


@pytest.mark.parametrize("call", CALLS)
def test_a_command_with_the_core_alone_gives_a_result_or_a_sentence(
    call: str, replies: dict[str, tuple[object, str, str]]
) -> None:
    code, out, err = replies[call]
    assert code in (0, 1, 2), code
    assert "Traceback" not in out + err
    assert "ModuleNotFoundError" not in out + err
    if code != 0:
        assert err.startswith("gnomon: ")
    if "optional part" in err:
        assert "pip install 'gnomon[" in err
        assert "Fetching" not in err, "what is missing is told before anything is fetched"


def test_what_people_need_is_named_by_the_command_they_gave(
    replies: dict[str, tuple[object, str, str]],
) -> None:
    assert "gnomon[demo]" in replies["demo --limit 2"][2]
    assert "gnomon[people]" in replies["people ask scales --people ann --limit 3 --port 0"][2]
    assert "gnomon[report]" in replies["view --port 0 --runs runs"][2]
    assert "gnomon[report]" in replies["report runs -o page.html"][2]
