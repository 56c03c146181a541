"""What is exported for other programs is what Gnomon asks, and comes back as it was."""

import ast
import importlib.util
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

import gnomon
from gnomon.cli import main
from gnomon.contracts import Benchmark
from gnomon.items.export.dataset import write_dataset
from gnomon.items.export.inspect import write_inspect
from gnomon.items.export.job import Job
from gnomon.items.source import ItemSource
from gnomon.items.writing import GUID
from gnomon.models.prompts.library import load_prompt
from gnomon.records import Item
from tests.items.samples import PNG, questions, write_json

PAIRS = [
    {"premise": "Ann sits.", "hypothesis": "Ann stands.", "label": "contradiction", "kind": "a"},
    {"premise": "Ann sits.", "hypothesis": "Ann is there.", "label": "entailment", "kind": "b"},
    {"premise": "Ann sits.", "hypothesis": "Ben sits.", "label": "neutral", "kind": "b"},
]


def exported(target, *more, name="scales"):
    assert main(["make", name, "--limit", "12", "--as", target, "-o", "out", *more]) == 0
    return Path("out")


@pytest.mark.parametrize("prompt", ["plain", "multiple-choice", "fewshot"])
def test_the_data_for_lm_eval_hold_what_gnomon_asks(prompt):
    folder = exported("lm-eval", "--prompt", prompt)
    how = load_prompt(prompt)
    rows = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    items = list(gnomon.load("scales").limited(12).items())
    assert len(rows) == len(items) == 12
    for row, item in zip(rows, items, strict=True):
        assert row["query"] == how.context(item)
        assert [(word,) for word in row["choices"]] == list(how.words(item))
        assert item.choices[row["gold"]] == item.gold[0]
        assert GUID in row["canary"]


def test_the_task_for_lm_eval_names_fields_and_no_code():
    folder = exported("lm-eval")
    text = (folder / "gnomon_scales_fresh.yaml").read_text()
    task = yaml.safe_load(text)
    assert "!" not in text
    assert (task["output_type"], task["target_delimiter"]) == ("multiple_choice", "")
    assert Path(task["dataset_kwargs"]["data_files"]["test"]).is_file()
    assert GUID in text


def test_an_exported_task_is_imported_with_the_same_texts_and_answers_even_after_a_move():
    pytest.importorskip("jinja2")
    write_json(Path("pairs.jsonl"), PAIRS)
    exported("lm-eval", name="pairs.jsonl").rename("elsewhere")
    source = gnomon.load("elsewhere/gnomon_items_pairs.yaml")
    how, plain = load_prompt(source.benchmark.prompt), load_prompt("plain")
    items = list(gnomon.load("pairs.jsonl").items())
    for found, item in zip(source.items(), items, strict=True):
        assert how.context(found) == plain.context(item)
        assert how.words(found) == plain.words(item)
        assert found.gold == (plain.answers(item)[item.choices.index(item.gold[0])])
        assert found.tags == item.tags


def test_the_task_for_inspect_is_python_with_the_labels_as_choices():
    write_json(Path("pairs.jsonl"), PAIRS)
    folder = exported("inspect", name="pairs.jsonl")
    code = (folder / "gnomon_items_pairs.py").read_text()
    ast.parse(code)
    assert GUID not in code  # the items are not Gnomon's
    rows = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    assert [row["choices"] for row in rows] == [["entailment", "neutral", "contradiction"]] * 3
    assert [row["target"] for row in rows] == [["C"], ["A"], ["B"]]


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=40,
)
@given(st.text(max_size=60), st.text(min_size=1, max_size=40))
def test_no_title_or_name_can_put_code_into_the_file_for_inspect(tmp_path, title, name):
    item = Item(id="1", form="choice", text="?", choices=("a", "b"), gold=("a", "b"))
    asked = Benchmark(name=name, title=title, summary="", sources={"own": lambda: [item]})
    write_inspect(Job(ItemSource(asked, "own"), tmp_path))
    (file,) = tmp_path.glob("*.py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert names[:2] == ["sample", "one_of"]
    assert len(names) == 3
    assert not any(isinstance(node, ast.Expr) for node in tree.body[1:])
    file.unlink()


@pytest.mark.parametrize("more", [[], ["--set", "parquet=yes"]])
def test_a_dataset_folder_is_asked_again_with_the_same_items_and_measures(more):
    if more:
        pytest.importorskip("duckdb")
    exported("dataset", *more)
    source = gnomon.load("out")
    known = gnomon.load("scales").limited(12)
    found = [(item.id, item.text, item.gold, item.group) for item in source.items()]
    assert found == [(item.id, item.text, item.gold, item.group) for item in known.items()]
    assert source.benchmark.measures == known.benchmark.measures
    run = gnomon.run(source, "random", runs="runs")
    assert run.benchmark == "scales@out"


def test_the_card_has_a_header_the_canary_the_seed_and_an_example():
    text = (exported("dataset", "--seed", "3") / "README.md").read_text()
    _, header, body = text.split("---\n", 2)
    card = yaml.safe_load(header)
    assert card["configs"][0]["data_files"] == [{"split": "test", "path": "data/test.jsonl"}]
    assert (card["license"], card["size_categories"]) == ("apache-2.0", ["n<1K"])
    for part in (GUID, "seed 3", "| test | 12 |", "```json", "```bibtex"):
        assert part in body


def test_pictures_are_copied_with_paths_from_the_folder():
    Path("in").mkdir()
    Path("in/a.png").write_bytes(PNG)
    rows = [{**row, "image": "a.png"} for row in questions(3)]
    write_json(Path("in/mine.jsonl"), rows)
    for target in ("inspect", "dataset"):
        assert main(["make", "in/mine.jsonl", "--as", target, "-o", target]) == 0
        (picture,) = Path(target, "images").iterdir()
        assert picture.read_bytes() == PNG
    Path("in/a.png").unlink()
    Path("in").rename("gone")
    item = next(gnomon.load("dataset").items())
    assert item.images[0].path.startswith("dataset/images/")
    assert Path(item.images[0].path).is_file()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["make", "scales", "--as", "lm-eval", "-o", "full"], "not empty"),
        (
            ["make", "scales", "--as", "inspect", "--prompt", "plain", "-o", "x"],
            "for --as lm-eval",
        ),
        (["make", "in/mine.jsonl", "--as", "lm-eval", "-o", "x"], "have pictures"),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(words, told, capsys):
    Path("full").mkdir()
    Path("full/mine.txt").touch()
    Path("in").mkdir()
    Path("in/a.png").write_bytes(PNG)
    write_json(Path("in/mine.jsonl"), [{**row, "image": "a.png"} for row in questions(3)])
    assert main(words) != 0
    assert told in capsys.readouterr().err
    assert Path("full/mine.txt").exists()


def test_a_set_with_splits_is_written_by_split(tmp_path):
    items = []
    for number, split in enumerate(["train", "test", "../evil", "test"]):
        tags = {"split": split}
        items.append(
            Item(
                id=str(number), form="choice", text="?", choices=("a", "b"), gold=("a",), tags=tags
            )
        )
    asked = Benchmark(name="mine", summary="", sources={"own": lambda: items})
    found = write_dataset(Job(ItemSource(asked, "own"), tmp_path))
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == [
        "test.jsonl",
        "train.jsonl",
    ]
    assert found.items == 4


@pytest.mark.parametrize("was_there", [True, False])
def test_an_export_that_fails_leaves_nothing_behind(was_there, capsys):
    Path("photo.png").write_bytes(PNG)
    write_json(Path("mine.jsonl"), [{**row, "image": "photo.png"} for row in questions(3)])
    if was_there:
        Path("out").mkdir()
    assert main(["make", "mine.jsonl", "--as", "lm-eval", "-o", "out"]) == 2
    assert "have pictures" in capsys.readouterr().err
    assert Path("out").exists() == was_there
    assert not was_there or not list(Path("out").iterdir())


@pytest.mark.parametrize(
    ("option", "named"),
    [
        (["--set", "wording=2"], "wording"),
        (["--shots", "0"], "--shots"),
        (["--prompt", "plain"], "--prompt"),
    ],
)
def test_what_a_target_has_no_use_for_is_refused(option, named, capsys):
    assert main(["make", "scales", "--as", "dataset", "-o", "out", *option]) == 2
    assert f"{named} is for --as lm-eval" in capsys.readouterr().err


def test_no_task_is_made_of_a_prompt_for_models_that_lm_eval_does_not_have(capsys):
    command = ["make", "scales", "--limit", "12", "--as", "lm-eval", "-o", "out"]
    assert main([*command, "--prompt", "masked"]) == 2
    assert "lm-eval asks none" in capsys.readouterr().err
    assert not Path("out/items.jsonl").exists()


def picture_items(folder: Path) -> Path:
    """Questions with pictures: two of one picture, one of two, and a choice that is called None."""
    for number, name in enumerate(("a.png", "b.png")):
        Image.new("RGB", (8, 8), (number, 99, 0)).save(folder / name)
    rows = [
        {"question": "Where?", "choices": ["in", "None"], "answer": "None", "image": ["a.png"]},
        {"question": "Where now?", "choices": ["in", "on"], "answer": "in", "image": ["a.png"]},
        {"question": "Which?", "choices": ["x", "y"], "answer": "y", "image": ["a.png", "b.png"]},
    ]
    write_json(folder / "seen.jsonl", rows)
    return folder / "seen.jsonl"


def test_a_table_for_vlmevalkit_holds_each_picture_once_and_is_read_back(tmp_path):
    pandas = pytest.importorskip("pandas")
    exported("vlmevalkit", name=str(picture_items(tmp_path)))
    (file,) = Path("out").glob("*.tsv")
    table = pandas.read_csv(file, sep="\t")  # as VLMEvalKit loads it
    assert list(table.columns) == ["index", "id", "question", "A", "B", "answer", "group", "image"]
    assert list(table["answer"]) == ["B", "A", "B"]
    assert table["B"][0].strip() == "None"
    assert len(table["image"][0]) > 64
    assert table["image"][1] == "0"
    assert len(json.loads(table["image"][2])) == 2
    again = list(gnomon.load(str(file)).items())
    asked = list(gnomon.load(str(tmp_path / "seen.jsonl")).items())
    assert [item.text for item in again] == [item.text for item in asked]
    for found, item in zip(again, asked, strict=True):
        assert tuple(choice.strip() for choice in found.choices) == item.choices
        assert found.gold[0].strip() == item.gold[0]
        shown = [image.sha256 for image in found.images]
        assert shown == [image.sha256 for image in item.images]


def test_a_task_for_lmms_eval_shows_pictures_and_reads_letters(tmp_path):
    exported("lmms-eval", name=str(picture_items(tmp_path)))
    (task,) = Path("out").glob("*.yaml")
    assert f"!function {task.stem}.process_results" in task.read_text()
    spec = importlib.util.spec_from_file_location("task", task.with_suffix(".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    docs = [json.loads(line) for line in (Path("out") / "items.jsonl").read_text().splitlines()]
    assert [len(module.doc_to_visual(doc)) for doc in docs] == [1, 1, 2]
    assert module.doc_to_text(docs[0]).startswith("Where?\nA. in\nB. None\n")
    replies = {"B": 1.0, "(b)": 1.0, "B. None": 1.0, "none.": 1.0, "Answer: B": 1.0}
    replies |= {"A": 0.0, "Bears": 0.0, "": 0.0}
    for reply, right in replies.items():
        assert module.process_results(docs[0], [reply]) == {"acc": right}, reply


@pytest.mark.parametrize("target", ["lmms-eval", "vlmevalkit"])
def test_pictures_that_are_addresses_are_refused_for_programs_that_read_files(
    target, tmp_path, capsys
):
    rows = [{"question": "?", "choices": ["a", "b"], "answer": "a", "image": "https://x.org/a.png"}]
    write_json(tmp_path / "far.jsonl", rows)
    assert main(["make", str(tmp_path / "far.jsonl"), "--as", target, "-o", "out"]) != 0
    assert "are addresses" in capsys.readouterr().err
    assert not Path("out").exists()


def test_vlmevalkit_takes_one_right_choice(tmp_path, capsys):
    rows = [{"question": "?", "choices": ["a", "b", "c"], "answer": ["a", "b"]}]
    write_json(tmp_path / "two.jsonl", rows)
    assert main(["make", str(tmp_path / "two.jsonl"), "--as", "vlmevalkit", "-o", "out"]) != 0
    assert "2 of them right" in capsys.readouterr().err
