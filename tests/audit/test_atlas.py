"""The atlas: which sets of a folder it takes, what it says of them, and what it writes."""

import json
from pathlib import Path
from random import Random

import pytest

from gnomon.audit.atlas import AtlasEntry, make_atlas
from gnomon.audit.auditing import audit
from gnomon.audit.sources import of_files
from gnomon.cli.dispatch import main
from gnomon.errors import UsageError
from gnomon.items.itemfiles import items_to_ask, options_of_file

STORIES = 150


def quiet(_: str) -> None:
    """Nobody listens."""


def write_stories(file: Path, *, leak: bool) -> None:
    """Stories in bAbI's form: the word "cup" in a question goes with yes, or with nothing."""
    draw = Random(1)
    lines = []
    for number in range(STORIES):
        yes = draw.random() < 0.5
        thing = "cup" if (yes if leak else draw.random() < 0.5) else "jug"
        lines.append(f"1 The bag of colour {number} is bigger than the box.")
        lines.append(f"2 The box is bigger than the {thing}.")
        answer = "yes" if yes else "no"
        lines.append(f"3 Does the {thing} fit in the bag of colour {number}?\t{answer}\t1 2")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_captions(file: Path) -> None:
    rows = {}
    for number in range(60):
        rows[str(number)] = {
            "filename": f"{number}.jpg",
            "caption": f"a cat {number} on a mat",
            "negative_caption": f"a cat {number} floating far below a mat",
        }
    file.write_text(json.dumps(rows), encoding="utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, AtlasEntry]]:
    """An atlas of three sets, one of them without a leak."""
    data = tmp_path_factory.mktemp("data")
    (data / "others").mkdir()
    write_stories(data / "babi18.txt", leak=True)
    write_stories(data / "others" / "babi17.txt", leak=False)
    write_captions(data / "others" / "sugar_rel.json")
    (data / "others" / "unknown.json").write_text("[]")
    output = data / "atlas"
    entries = make_atlas(data, output, quiet, own=False)
    return output, {entry.name: entry for entry in entries}


def test_sets_of_a_folder_and_its_folders_are_found_by_their_files(
    made: tuple[Path, dict[str, AtlasEntry]],
) -> None:
    assert set(made[1]) == {"babi17", "babi18", "sugarcrepe-relations"}


def test_a_question_that_gives_its_answer_away_is_told(
    made: tuple[Path, dict[str, AtlasEntry]],
) -> None:
    leaking = made[1]["babi18"]
    assert leaking.best is not None
    assert leaking.best.alarm
    assert leaking.best.value == pytest.approx(1.0)
    assert leaking.items == STORIES
    sound = made[1]["babi17"]
    assert not any(rule.alarm for rule in sound.blind)


def test_the_kept_part_is_a_file_of_items_that_gives_nothing_away(
    made: tuple[Path, dict[str, AtlasEntry]],
) -> None:
    output, entries = made
    sound = entries["babi17"]
    kept = list(items_to_ask(**options_of_file(output / "babi17.jsonl", {})))
    assert len(kept) == sound.kept
    assert sound.kept_alarms == 0
    leaking = entries["babi18"]
    assert leaking.kept is not None
    assert leaking.kept < STORIES / 4


def test_pages_link_to_one_another_and_figures_stand_beside_them(
    made: tuple[Path, dict[str, AtlasEntry]],
) -> None:
    output, entries = made
    overview = (output / "index.html").read_text(encoding="utf-8")
    for name in entries:
        assert f'href="{name}.html"' in overview
        assert 'href="index.html"' in (output / f"{name}.html").read_text(encoding="utf-8")
    records = json.loads((output / "atlas.json").read_text(encoding="utf-8"))
    assert [record["name"] for record in records] == list(entries)
    assert records[0]["command"].startswith("gnomon audit ")


def test_the_same_folder_gives_the_same_atlas(
    made: tuple[Path, dict[str, AtlasEntry]], tmp_path: Path
) -> None:
    output, _ = made
    make_atlas(output.parent, tmp_path / "again", quiet, own=False)
    for file in sorted(output.iterdir()):
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()


def test_a_folder_without_known_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no file of a set"):
        make_atlas(tmp_path, tmp_path / "atlas", quiet)


def test_the_command_needs_a_folder_for_the_pages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--atlas", "data"]) == 2
    assert "gnomon audit --atlas data -o atlas" in capsys.readouterr().err


def test_captions_without_a_question_are_audited(tmp_path: Path) -> None:
    write_captions(tmp_path / "sugar_rel.json")
    report = audit(of_files("captions", [tmp_path / "sugar_rel.json"]))
    told = {finding.part for finding in report.alarms}
    assert "words of the choices" in told
    assert not any(finding.check == "integrity" for finding in report.alarms)


def test_prompts_for_painters_are_no_questions_that_words_give_away(tmp_path: Path) -> None:
    rows = []
    for number in range(80):
        relation = ("above", "below")[number % 2]
        objects = [{"class": f"cat {number}", "count": 1}, {"class": "dog", "count": 1}]
        objects[1]["position"] = [relation, 0]
        prompt = f"a photo of a dog {relation} a cat {number}"
        rows.append({"tag": "position", "include": objects, "prompt": prompt})
    file = tmp_path / "geneval.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert not audit(of_files("prompts", [file])).alarms
