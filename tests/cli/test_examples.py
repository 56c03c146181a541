"""The examples that help texts and the first pages show do work: each is run, in a folder that has
what it names.

What needs weights is asked of `majority` instead; what needs a server, the network or a terminal is
only parsed (tests/test_docs.py).
"""

import glob
import gzip
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.files import package_data
from gnomon.items.writing import write_items
from gnomon.models import functions as baselines
from gnomon.registry import COMMANDS, MODELS, Entry
from gnomon.registry import command as command_module
from tests.look import samples
from tests.people.voting import items_of, people_runs

ROOT = Path(__file__).parent.parent.parent
WEIGHTS = re.compile(r'-m "?(?:\w+=)?(?:smollm2|hf:[^\s"]+)"?')
OUT_OF_REACH = {  # what a test cannot do -> how a command that needs it looks
    "a server of models": r" openai:",
    "a cluster with GPUs": r"gpus_per_worker=",
    "a server that goes on": r"^gnomon (?:people ask|view)",
    "weights of its own": r"^gnomon (?:demo|train|look photos)|--back-translate|hf:trained|probe:p|\./my-model",
    "the network": r"^gnomon data get",
    "files that were fetched": r"@published(?!.* --data)",
    "hundreds of photographs": r"vsr-pairs",  # tests/benchmarks/test_imagepairs.py has a few
    "a real command": r"^gnomon COMMAND",
    "minutes of trainings": r"^gnomon run paper-00",  # tests/cli/test_suites.py has small ones
    "pictures that were recognised": r"--on-items-of",  # tests/cli/test_scoring.py has some
    # tests/items/answers/test_logs.py has some
    "logs of other programs": r"^gnomon (?:runs import|power results)",
    "replies of a model that talks": r"--read-with",  # tests/runs/test_secondreader.py has some
    "a set that people made": r"divide=",  # tests/train/looking/test_own_set.py has one
    "all patterns": r"--by class\+expression=between",  # the few here lack the word
    "pictures that were painted": r"^gnomon run .*--judge-again",  # tests/cli/test_judge.py has some
    "runs of other models": r"--with runs/",  # tests/measures/test_stopping.py has some
    "runs of the demo": r"runs/demo",  # which asks a model with weights
    "files of the authors of sets": r"--atlas",  # tests/audit/test_atlas.py has some
    "a person who agrees": r"^gnomon (?:runs rm|people forget) (?!.*--yes)",
}
AUTHORS = re.compile(r"path/to|SpaceNLI/")  # the example is about the authors' files


def command(line):
    """A line as the shell would start it: without a comment or redirection."""
    return re.split(r"\s+(?:#|>|\|)", line.strip())[0]


def in_help():
    texts = [command_module(name).__doc__ or "" for name in COMMANDS]
    return list(
        dict.fromkeys(
            command(line)
            for text in texts
            for line in text.splitlines()
            if line.startswith("  gnomon ")
        )
    )


def reason(line):
    return next((why for why, look in OUT_OF_REACH.items() if re.search(look, line)), "")


def run(line, code=0):
    """Run a command as a shell would: names with a star become the files that match.

    RUN stands for the name of a run.
    """
    if "runs/RUN" in line:
        line = line.replace("RUN", sorted(Path("runs").iterdir())[0].name)
    if line.endswith(".parquet") or ".parquet " in line:
        pytest.importorskip("duckdb")
    guess = "majority"
    if line.startswith("gnomon prompts"):
        guess = "asked"
    elif line.startswith("gnomon show"):  # which sends nothing, but wants a prompt
        guess = "openai:none"
    words = [
        match
        for word in shlex.split(WEIGHTS.sub(f"-m {guess}", line))[1:]
        for match in sorted(glob.glob(word)) or [word]
    ]
    if "--fail-if-worse" in line:
        code = 3  # so few items show nothing
    assert main(words) == code, line


def asked(name, *, prompt: str = "", wording: int = 1):
    """A model that is asked by a prompt, in one of its wordings."""
    return baselines.random("", model_seed=wording)


def furnish_audits(folder):
    """A few questions of one's own, without a fault, as the examples of `gnomon audit` name them."""
    rows, captions = [], {"train": [], "test": []}
    for number in range(12):
        label = ("yes", "no")[number % 2]
        row = {"question": f"Is {number} up?", "options": ["yes", "no"], "answer": label}
        rows.append({**row, "template": f"t{number // 2}"})
        for part, lines in captions.items():
            text = f"A {part} cat on {number}."
            lines.append({"caption": text, "label": number % 2, "image": f"{part}{number}.jpg"})
    for name, lines in (("mine", rows), *captions.items()):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    table = [f"{row['question']},{row['answer']}\n" for row in rows]
    (folder / "mine.csv").write_text("question,answer\n" + "".join(table))
    quiz = [f"Where is {number}?,in,on,at,by,{'ABCD'[number % 4]}\n" for number in range(8)]
    (folder / "quiz.csv").write_text("question,A,B,C,D,answer\n" + "".join(quiz))


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    """A folder with a few runs, items, answers to 40 of them, patterns and a world of one's own."""
    folder = tmp_path_factory.mktemp("examples")
    own = package_data("patterns")
    bank = sorted((own / "bank").glob("*.yaml"))
    shutil.copy(bank[0], folder / "my_patterns.yaml")
    shutil.copy(own / "world.yaml", folder / "my_world.yaml")
    (folder / "my_candidates.yaml").write_text(
        'templates: ["{tag:obj_a} is {answer} than {tag:obj_b}.", "So {tag:obj_a} is {answer}, not {tag:obj_b}."]'
    )
    (folder / "my_patterns").mkdir()
    for file in bank[:2]:
        shutil.copy(file, folder / "my_patterns")

    pairs = gnomon.load("spacenli", patterns=str(folder / "my_patterns.yaml"))
    positions = [gnomon.load("posrel", seed=seed) for seed in (0, 1)]
    for source in (gnomon.load("scales"), pairs, *positions):
        for model in ("random", "majority"):
            gnomon.run(source, model, limit=40, runs=folder / "runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(MODELS, "asked", Entry(f"{__name__}:asked", "for tests"))
        for wording in (1, 2):
            spec = gnomon.model("asked", wording=wording)
            gnomon.run(pairs, spec, limit=40, runs=folder / "runs")
    write_items(folder / "scales.jsonl", gnomon.load("scales").limited(40).items())
    (folder / "experiment.yaml").write_text("benchmarks: [scales]\nmodels: [random]\nlimit: 20\n")
    furnish_audits(folder)
    shutil.copytree(folder / "runs", folder / "results")
    for night in ("nights/monday", "nights/tuesday", "baseline", "tonight"):
        gnomon.run("scales", "majority", limit=40, runs=folder / night)
    items = gnomon.load("scales", seed=3).limited(40).items()
    (folder / "predictions.csv").write_text(
        "id,label\n" + "".join(f"{item.id},{item.gold[0]}\n" for item in items)
    )
    _annotate(folder)
    _divide(folder)
    _ask_people(folder / "study")
    return folder


def _divide(folder):
    """A run in eight shards, and in two on two machines."""
    source = gnomon.load("scales", pairs=20).limited(40)
    for number in range(1, 9):
        gnomon.run(source, "random", shard=f"{number}/8", runs=folder / "shards")
    for number in (1, 2):
        gnomon.run(source, "random", shard=f"{number}/2", runs=folder / f"node{number}" / "runs")


def _ask_people(folder):
    """Runs of three people on items with a relation."""
    folder.mkdir()
    items = items_of(6, ("false", "true"), [0, 1] * 3)
    said = {}
    for place, name in enumerate(("ann", "ben", "cas")):
        said[name] = {item.id: item.choices[int(item.id) % (place + 2) > 0] for item in items}
    people_runs(folder, items, said)


def _annotate(folder):
    """Annotations of pictures, and two of the pictures."""
    from PIL import Image

    for name, content in (
        ("instances.json", samples.COCO),
        ("region_descriptions.json", samples.DESCRIPTIONS),
        ("image_data.json", samples.IMAGE_DATA),
    ):
        (folder / name).write_bytes(samples.as_json(content))
    (folder / "photos").mkdir()
    Image.new("RGB", (640, 480), "red").save(folder / "photos" / "000007.jpg")
    Image.new("RGB", (4, 3), "blue").save(folder / "photos" / "000008.jpg")


@pytest.fixture
def room(furnished, tmp_path, monkeypatch):
    """A copy of that folder, to work in."""
    monkeypatch.setitem(MODELS, "asked", Entry(f"{__name__}:asked", "for tests"))
    shutil.copytree(furnished, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_most_examples_are_within_reach():
    lines = in_help()
    assert len(lines) > 30
    assert sum(not reason(line) for line in lines) > 0.6 * len(lines)


@pytest.mark.parametrize(
    "line", [line for line in in_help() if not reason(line) and not AUTHORS.search(line)]
)
def test_an_example_of_a_help_text_works(line, room, capsys):
    run(line)


@pytest.mark.published
@pytest.mark.parametrize(
    "line", [line for line in in_help() if not reason(line) and AUTHORS.search(line)]
)
def test_an_example_about_the_authors_files_works(line, room, shared, capsys):
    (room / "path").mkdir()
    (room / "path" / "to").symlink_to(shared / "data")
    (room / "SpaceNLI").mkdir()
    (room / "SpaceNLI" / "dataset").symlink_to(shared / "data" / "spacenli")
    with gzip.open(shared / "data" / "spatialqa" / "results-ada.tsv.gz", "rb") as packed:
        (room / "results-ada.tsv").write_bytes(packed.read())
    # of the authors' patterns one has a fault, and their splits leak
    faulty = line.startswith(("gnomon audit", "gnomon audit"))
    run(line, code=1 if faulty else 0)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_walk_of_a_page_works_from_beginning_to_end(page, capsys):
    blocks = re.findall(
        r"^```(?:sh|console)\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S
    )
    lines = [line.lstrip("$ ") for block in blocks for line in block.splitlines()]
    walk = []
    for line in lines:
        if line.startswith("printf "):  # a file of one's own
            subprocess.run(["sh", "-c", line], check=True)
        elif line.startswith("gnomon "):
            walk.append(command(line))
    within = [line for line in walk if not reason(line) and not AUTHORS.search(line)]
    assert len(within) > 3
    for line in within:
        run(line)
