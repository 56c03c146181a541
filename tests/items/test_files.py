"""Files, folders and sidecars: what is read, what is refused, and with which sentence."""

import csv
import json
import zipfile
from pathlib import Path

import pytest

import gnomon
from gnomon.cli import main
from gnomon.errors import DataError, GnomonError, UsageError
from gnomon.items.experiments import experiment_of
from gnomon.items.sidecar import read_sidecar
from gnomon.runs import runs_in
from tests.items.samples import PNG, questions, write_json


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_every_kind_of_file_gives_the_same_items(ending):
    rows = questions(6)
    file = Path(f"mine.{ending}")
    columns = ["question", "A", "B", "C", "answer"]
    flat = [
        dict(zip(columns, [row["question"], *row["options"], row["answer"]], strict=True))
        for row in rows
    ]
    if ending in ("csv", "tsv"):
        between = "," if ending == "csv" else "\t"
        lines = [between.join(columns), *(between.join(row.values()) for row in flat)]
        file.write_text("\n".join(lines))
    elif ending == "json":
        file.write_text(json.dumps({"data": flat}))
    else:
        write_json(Path("mine.jsonl"), flat)
    if ending == "parquet":
        duckdb = pytest.importorskip("duckdb")
        duckdb.sql("COPY (FROM 'mine.jsonl') TO 'mine.parquet'")
    found = [(item.text, item.choices, item.gold) for item in gnomon.load(str(file)).items()]
    wanted = [
        (row["question"], tuple(row["options"]), (row["options"]["ABC".index(row["answer"])],))
        for row in rows
    ]
    assert found == wanted


def test_a_dataset_folder_is_asked_by_its_test_split():
    folder = Path("set/data")
    folder.mkdir(parents=True)
    (folder / "loader.py").write_text("raise SystemExit('code was run')")
    write_json(folder / "train-00000-of-00001.jsonl", questions(3))
    write_json(folder / "test-00000-of-00002.jsonl", questions(2))
    write_json(folder / "test-00001-of-00002.jsonl", questions(5)[2:])
    source = gnomon.load("set")
    assert source.options["split"] == "test"
    items = list(source.items())
    assert len(items) == 5
    assert {item.tags["split"] for item in items} == {"test"}
    assert len(list(gnomon.load("set", split="train").items())) == 3
    with pytest.raises(UsageError, match=r"no split 'dev'.*\n.*test, train|no split 'dev'"):
        gnomon.load("set", split="dev")


@pytest.mark.parametrize("where", ["column", "tag"])
def test_a_split_is_told_by_a_column_or_by_the_tag_of_an_item(where):
    rows = []
    for number, split in enumerate(["dev", "test", "test"]):
        row = {"id": str(number), "form": "choice", "text": "?", "choices": ["a", "b"]}
        row["gold"] = ["a"]
        row |= {"split": split} if where == "column" else {"tags": {"split": split}}
        rows.append(row)
    write_json(Path("mine.jsonl"), rows)
    mapping = "text=text,choices=choices,gold=gold" if where == "column" else ""
    items = list(gnomon.load("mine.jsonl", split="test", map=mapping).items())
    assert [item.id for item in items] == ["1", "2"]
    with pytest.raises(UsageError, match="no rows of the split 'train'"):
        gnomon.load("mine.jsonl", split="train", map=mapping)


def test_a_file_that_names_no_split_has_none():
    write_json(Path("mine.jsonl"), questions(3))
    with pytest.raises(UsageError, match="leave out --split"):
        gnomon.load("mine.jsonl", split="test")


def test_a_dataset_folder_can_be_checked_with_a_map(capsys):
    folder = Path("set")
    folder.mkdir()
    write_json(folder / "test.jsonl", questions(3))
    assert (
        main(
            [
                "audit",
                "set",
                "--map",
                "text=question,gold=answer",
                "--format",
                "json",
                "--check",
                "validation",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)[0]["items"] == 3


def test_a_folder_that_is_called_like_a_source_is_not_taken_for_it():
    assert main(["make", "scales", "--as", "dataset", "-o", "fresh", "--limit", "4"]) == 0
    run = gnomon.run("fresh", "random")
    assert run.benchmark == "scales@fresh/"
    Path("again.yaml").write_text(experiment_of([run]))
    assert main(["run", "again.yaml", "--runs", "again", "--quiet"]) == 0
    assert [each.benchmark for each in runs_in("again")] == ["scales@fresh/"]


def test_a_link_out_of_a_dataset_folder_is_not_followed():
    folder = Path("set")
    folder.mkdir()
    write_json(Path("secret.jsonl"), questions(1))
    (folder / "test.jsonl").symlink_to(Path("secret.jsonl").resolve())
    with pytest.raises(DataError, match="link out of the folder"):
        gnomon.load("set")


def test_names_of_numbered_labels_are_taken_from_the_parquet_of_hugging_face():
    duckdb = pytest.importorskip("duckdb")
    features = {
        "info": {"features": {"label": {"names": ["entailment", "neutral", "contradiction"]}}}
    }
    rows = "SELECT * FROM (VALUES ('p', 'h', 2), ('p', 'g', 0)) AS t(premise, hypothesis, label)"
    duckdb.sql(
        f"COPY ({rows}) TO 'nli.parquet' (FORMAT parquet, KV_METADATA {{huggingface: '{json.dumps(features)}'}})"
    )
    one, two = gnomon.load("nli.parquet").items()
    assert (one.gold, two.gold) == (("contradiction",), ("entailment",))


def test_pictures_within_a_parquet_file_are_shown(monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.setenv("GNOMON_CACHE", "cache")
    escaped = "".join(f"\\x{byte:02X}" for byte in PNG)
    picture = f"{{'bytes': '{escaped}'::BLOB, 'path': NULL}}"
    rows = f"SELECT 'A cup.' AS caption, {picture} AS image, 'true' AS label UNION ALL SELECT 'B', {picture}, 'false'"
    duckdb.sql(f"COPY ({rows}) TO 'seen.parquet'")
    first, _ = gnomon.load("seen.parquet").items()
    assert first.form == "caption"
    assert Path(first.images[0].path).read_bytes() == PNG
    assert (first.images[0].width, first.images[0].height) == (1, 1)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("../secret.png", "outside the folder"),
        ("/etc/hostname", "outside the folder"),
        ("no.png", "no picture 'no.png'"),
        ("notes.png", "not a complete JPEG or PNG"),
        ("a\u0000b", "zero byte"),
        (["a.png", "../secret.png"], "outside the folder"),
    ],
)
def test_a_picture_elsewhere_or_none_at_all_is_one_sentence(path, told):
    Path("in").mkdir()
    Path("secret.png").write_bytes(PNG)
    Path("in/a.png").write_bytes(PNG)
    Path("in/notes.png").write_text("my notes")
    rows = [{"question": "?", "options": ["x", "y"], "answer": "B", "image": path}]
    write_json(Path("in/mine.jsonl"), rows)
    with pytest.raises(DataError, match=told):
        list(gnomon.load("in/mine.jsonl").items())


def test_pictures_are_found_beside_the_file_or_in_a_folder_that_is_named():
    Path("in").mkdir()
    Path("photos").mkdir()
    Path("photos/a.png").write_bytes(PNG)
    rows = [{"question": "?", "options": ["x", "y"], "answer": "B", "image": "a.png"}]
    write_json(Path("in/mine.jsonl"), rows)
    (item,) = gnomon.load("in/mine.jsonl", images="photos").items()
    assert item.images[0].path == "photos/a.png"


def test_a_sidecar_says_what_the_items_are_and_a_run_keeps_it():
    write_json(
        Path("mine.jsonl"), [{**row, "kind": "ab"[n % 2]} for n, row in enumerate(questions(8))]
    )
    Path("mine.yaml").write_text(
        "title: Where things are\nmeasures: [macro_f1, accuracy]\nunits: kind\nunit_nouns: kinds\n"
        "groups: templates\nslices: [kind]\nchance: 0.3333\n"
    )
    source = gnomon.load("mine.jsonl")
    assert (source.benchmark.title, source.benchmark.noun) == ("Where things are", "templates")
    run = gnomon.run(source, "random", runs="runs")
    Path("mine.yaml").unlink()
    Path("mine.jsonl").unlink()
    scores = gnomon.score(run)
    assert [score.measure for score in scores] == ["macro_f1", "accuracy"]
    assert scores[0].units == "2 kinds"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("titel: x", r"mine\.yaml:1: There is no field of a sidecar named 'titel'"),
        ("title: x\nmeasures: acuracy", r"mine\.yaml:2: There is no measure named 'acuracy'"),
        ("title: [1]", r"mine\.yaml:1: title must be a text, not a list"),
        ("form: choise", r"mine\.yaml:1: There is no form named 'choise'"),
        ("\nchance: 25", r"mine\.yaml:2: a chance of 25"),
        ("units: [a, b]\nunit_nouns: x", r"mine\.yaml:2: there are 2 kinds"),
        ("like: scalse", r"mine\.yaml:1: There is no benchmark named 'scalse'"),
        ("prompt: mine-too.yaml", r"mine\.yaml:1: there is no prompt file"),
        ("\nmap: {gold_is: []}", r"mine\.yaml:2: gold_is cannot be ''"),
        ("map: {text: a, question: b}", r"mine\.yaml:1: 'text' is mapped twice"),
        ("map: {qestion: x}", "field of an item named 'qestion'"),
        ("- a", "not a list of fields"),
        ("a: [", "not YAML"),
    ],
)
def test_what_is_wrong_with_a_sidecar_is_said_with_its_line(text, told):
    Path("mine.yaml").write_text(text)
    with pytest.raises(GnomonError, match=told):
        read_sidecar(Path("mine.jsonl"))


def test_a_sidecar_may_name_the_columns():
    write_json(Path("mine.jsonl"), [{"frage": "Wo?", "a": "da", "b": "dort", "richtig": 2}])
    Path("mine.yaml").write_text(
        "map: {text: frage, choices: [a, b], gold: richtig, gold_is: index1}\n"
    )
    (item,) = gnomon.load("mine.jsonl").items()
    assert item.gold == ("dort",)


def test_a_prompt_of_the_sidecar_is_used_unless_another_is_chosen(capsys):
    from gnomon.registry import model, with_prompt

    write_json(Path("mine.jsonl"), questions(2))
    Path("mine.yaml").write_text("prompt: multiple-choice\n")
    prompt = gnomon.load("mine.jsonl").benchmark.prompt
    assert with_prompt(model("smollm2"), prompt).options["prompt"] == "multiple-choice"
    assert with_prompt(model("smollm2", prompt="t5"), prompt).options["prompt"] == "t5"
    assert with_prompt(model("random"), prompt).options == {}


def test_check_lists_every_row_that_cannot_be_asked(capsys):
    good = {"question": "Where?", "options": ["x", "y"], "answer": "A"}
    rows = [
        good,
        {**good, "answer": "Z"},
        {**good, "question": " "},
        {**good, "answer": "B"},
        good,
        {**good, "options": ["x", "x"], "question": "Why?"},
    ]
    write_json(Path("mine.jsonl"), rows)
    assert main(["audit", "mine.jsonl", "--check", "validation"]) == 1
    lines = capsys.readouterr().out.splitlines()
    told = {line.split(": ")[0]: line for line in lines if line.startswith("mine.jsonl:")}
    assert list(told) == [f"mine.jsonl:{number}" for number in (2, 3, 4, 5, 6)]
    assert "gold 'Z'" in told["mine.jsonl:2"]
    assert "text is empty" in told["mine.jsonl:3"]
    assert "another right answer in line 1" in told["mine.jsonl:4"]
    assert "warning" in told["mine.jsonl:5"]
    assert "different labels" in told["mine.jsonl:6"]


def test_check_finds_missing_pictures_and_ids_that_occur_twice(capsys):
    good = {"id": "1", "form": "choice", "text": "?", "choices": ["x", "y"], "gold": ["x"]}
    write_json(Path("mine.jsonl"), [good, {**good, "text": "!", "images": [{"path": "no.png"}]}])
    assert main(["audit", "mine.jsonl", "--format", "json", "--check", "validation"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert [finding["line"] for finding in found["findings"]] == [2]
    assert "picture" in found["findings"][0]["message"]


def test_every_command_that_takes_a_benchmark_takes_a_file(capsys):
    write_json(Path("mine.jsonl"), questions(40))
    first = next(gnomon.load("mine.jsonl").items())
    Path("said.csv").write_text(f"id,label\n{first.id},away\n")
    for words in (
        ["run", "mine.jsonl", "-m", "majority"],
        ["show", "mine.jsonl"],
        ["audit", "mine.jsonl", "--check", "validation"],
        ["power", "mine.jsonl"],
        ["make", "mine.jsonl", "-o", "again.jsonl"],
        ["score", "--answers", "said.csv", "--benchmark", "mine.jsonl"],
    ):
        assert main(words) == 0, words
        told = capsys.readouterr()
        assert "Traceback" not in told.err
    assert main(["run", "again.jsonl", "-m", "majority", "--quiet"]) == 0
    asked = gnomon.load("mine.jsonl").items()
    assert list(asked) == list(gnomon.load("again.jsonl").items())


def test_a_command_says_what_it_took_for_what(capsys):
    write_json(Path("mine.jsonl"), questions(3))
    assert main(["show", "mine.jsonl"]) == 0
    assert (
        "text is question; choices are options; gold, what is right, is answer (the letter of a choice)."
        in capsys.readouterr().err
    )


def test_a_parquet_file_that_unpacks_to_gigabytes_is_one_sentence(monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    rows = "SELECT repeat('x', 100000) AS question, ['a', 'b'] AS options, 'A' AS answer FROM range(500)"
    duckdb.sql(f"COPY ({rows}) TO 'bomb.parquet' (COMPRESSION zstd)")
    assert Path("bomb.parquet").stat().st_size < 10**6
    monkeypatch.setattr("gnomon.items.rows.FILE_LIMIT", 2**16)
    with pytest.raises(DataError, match="unpacks to more than"):
        gnomon.load("bomb.parquet")


@pytest.mark.parametrize("name", ["odd.parquet", "odd.jsonl", "odd.csv", "odd.json", "odd.tsv"])
def test_a_file_that_is_something_else_is_one_sentence(name, capsys):
    Path(name).write_bytes(b"PAR1\x00\xff\xfe{[\n" + bytes(range(256)) * 4)
    for command in (
        ["run", name, "-m", "random"],
        ["audit", name, "--check", "validation"],
        ["show", name],
    ):
        if name.endswith("parquet"):
            pytest.importorskip("duckdb")
        assert main(command) in (1, 2)
        told = capsys.readouterr().err
        assert name in told
        assert "Traceback" not in told


def test_a_line_without_end_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr("gnomon.files.LINE_LIMIT", 1000)
    Path("long.jsonl").write_text('{"question": "' + "a" * 5000)
    with pytest.raises(DataError, match="longer than"):
        gnomon.load("long.jsonl")


def test_a_spreadsheet_that_writes_semicolons_is_read(capsys):
    """Where the comma is a decimal point, a CSV file has semicolons between its columns."""
    lines = ["question;A;B;answer", 'Where is it, now?;here;"there; or not";B']
    Path("mine.csv").write_text("\n".join(lines), encoding="utf-8-sig")
    (item,) = gnomon.load("mine.csv").items()
    assert item.text == "Where is it, now?"
    assert item.gold == ("there; or not",)


def test_a_cell_keeps_its_paragraphs_and_blank_lines_between_rows_are_none():
    text = 'question,A,B,answer\n\n"One.\n\nTwo?",here,there,A\n\nThree?,here,there,B\n'
    Path("mine.csv").write_text(text)
    assert [item.text for item in gnomon.load("mine.csv").items()] == ["One.\n\nTwo?", "Three?"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_file_that_is_not_there_is_said_to_be_missing(ending):
    with pytest.raises(DataError, match="there is no such file"):
        gnomon.load(f"absent.{ending}")


def test_a_task_that_is_not_there_is_said_to_be_missing(capsys):
    assert main(["show", "absent/task.yaml"]) == 2
    assert "There is no folder absent" in capsys.readouterr().err
    assert main(["show", "task.yaml"]) == 2
    assert "no such file" in capsys.readouterr().err


def test_items_without_groups_are_counted_as_items(capsys):
    """Nobody who has not named groups should be told of them."""
    write_json(Path("mine.jsonl"), questions(6))
    assert main(["run", "mine.jsonl", "-m", "random"]) == 0
    out = capsys.readouterr().out
    assert "6 items" in out
    assert "group" not in out
    assert main(["show", "mine.jsonl", "-n", "1"]) == 0
    out = capsys.readouterr().out
    assert "6 items." in out
    assert "group" not in out


@pytest.mark.parametrize("column", ["choices", "tags"])
def test_a_cell_of_lists_without_end_is_one_sentence_and_no_crash(column):
    cells = {"choices": '["in", "on"]', "tags": "{}", column: "[" * 100_000}
    with Path("deep.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "form", "text", "choices", "gold", "tags"])
        table.writerow(["1", "choice", "?", cells["choices"], '["in"]', cells["tags"]])
    with pytest.raises(DataError, match="a list is not JSON"):
        list(gnomon.load("deep.csv").items())


def test_a_picture_that_is_a_link_to_itself_is_an_error_of_its_row(capsys):
    Path("a.png").symlink_to("b.png")
    Path("b.png").symlink_to("a.png")
    row = {"question": "?", "options": ["x", "y"], "answer": "B", "image": "a.png"}
    write_json(Path("mine.jsonl"), [row])
    assert main(["audit", "mine.jsonl", "--check", "validation"]) == 1
    assert "mine.jsonl:1: error: the picture 'a.png' is a link to itself" in capsys.readouterr().out
    assert main(["run", "mine.jsonl", "-m", "random"]) == 1


def test_rows_without_a_picture_are_listed_where_others_have_one(capsys):
    Path("a.png").write_bytes(PNG)
    row = {"question": "?", "options": ["x", "y"], "answer": "B", "image": "a.png"}
    write_json(Path("mine.jsonl"), [row, {**row, "question": "!", "image": ""}])
    assert main(["audit", "mine.jsonl", "--check", "validation"]) == 0
    assert "mine.jsonl:2: warning: it has no picture, as 1 of the 2 items have." in (
        capsys.readouterr().out
    )
    assert main(["audit", "mine.jsonl", "--check", "validation", "--strict"]) == 1


def sheet(file: str, rows: list[list[object]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(file)
    return Path(file)


def with_rows(file: Path, more: bytes) -> Path:
    """The same sheet with more XML at the end of its rows."""
    changed = file.with_stem("changed")
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name).replace(b"</sheetData>", more + b"</sheetData>")
            new.writestr(name, content.replace(b'ref="A1:D2"', b'ref="A1:XFD1048576"'))
    return changed


QUESTIONS = [["question", "A", "B", "answer"], ["Is it so?", "yes", "no", "A"]]


def test_a_column_of_a_sheet_without_a_name_moves_no_other():
    file = sheet("mine.xlsx", [[None, *QUESTIONS[0]], [7, *QUESTIONS[1]]])
    [item] = gnomon.load(str(file)).items()
    assert (item.text, item.choices, item.gold) == ("Is it so?", ("yes", "no"), ("yes",))


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', "more than 10,000 empty rows"),
        (b"<row>" + b"<c><v>1</v></c>" * 2_000_000 + b"</row>", "it unpacks to [0-9]+ MB"),
    ],
)
def test_a_sheet_of_a_few_kilobytes_takes_little_time_and_memory(more, told):
    bomb = with_rows(sheet("mine.xlsx", QUESTIONS), more)
    assert bomb.stat().st_size < 100_000
    with pytest.raises(DataError, match=told):
        list(gnomon.load(str(bomb)).items())


def test_a_parquet_file_of_one_row_again_and_again_is_refused():
    duckdb = pytest.importorskip("duckdb")
    same = "SELECT 'Is it so?' AS question, 'yes' AS A, 'no' AS B, 'A' AS answer FROM range(100000)"
    duckdb.sql(f"COPY ({same}) TO 'same.parquet'")
    with pytest.raises(DataError, match="it says the same 100,000 times"):
        list(gnomon.load("same.parquet").items())
