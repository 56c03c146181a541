from __future__ import annotations

import msgspec
import pytest

import gnomon
from gnomon.errors import GnomonError
from gnomon.items.source import load
from gnomon.paint.factory import open_judge
from gnomon.paint.records import Painted
from gnomon.people.answering import (
    PersonSettings,
    asked_from_painted,
    asked_from_source,
    open_person_run,
)
from gnomon.people.tasks import check_items, task_named
from gnomon.records import Image, Item
from gnomon.registry import model
from gnomon.runs import Run

SCENE = ("scales", {"form": "scene"})


def painted_run(runs, **options):
    pytest.importorskip("PIL", reason="pillow is not installed")
    source = load(SCENE[0], **SCENE[1]).limited(3)
    renderer = model("synth:render", detector="true", depth="true", size=64, trial=0, **options)
    return gnomon.run(source, renderer, runs=runs)


def test_people_look_at_painted_pictures_and_judge_them(tmp_path):
    run = painted_run(tmp_path / "runs")
    asked = asked_from_painted(run)
    assert [item.id for item in asked.items] == [item.id for item in run.items()]
    check_items(task_named("picture"), asked.items)
    for name in ("ann", "ben", "cleo"):
        person = open_person_run(
            asked, name, PersonSettings(task_named("picture")), tmp_path / "people"
        )
        for slot in person.slots:
            sees = "no" if slot.number == 1 else "yes"
            relation = slot.item.choices[0 if name == "ben" else 1]
            person.keep(slot, {"a": "yes", "b": sees, "relation": relation})
        person.close()
    judge = open_judge(f"people:{tmp_path / 'people'}", {})
    verdicts = []
    for item in run.items():
        painted = Painted(item=item.id, number=0, prompt="", seed=0)
        verdicts.append(judge.look(item, painted, None).choice)
    assert verdicts == [1, None, 1]  # two of three; both not seen; two of three
    scores = gnomon.score(*sorted((tmp_path / "people").iterdir()), measures="recognised_share")
    assert [score.value for score in scores] == pytest.approx([2 / 3] * 3)


def test_each_of_several_pictures_is_an_item(tmp_path):
    run = painted_run(tmp_path, pictures=2)
    asked = asked_from_painted(run)
    assert len(asked.items) == 6
    assert asked.items[1].id == f"{asked.items[1].tags['painted']}#1"


def test_a_run_without_pictures_cannot_be_looked_at(tmp_path):
    run = gnomon.run("scales", "random", limit=3, runs=tmp_path)
    with pytest.raises(GnomonError, match="no painted pictures"):
        asked_from_painted(Run.open(run.path))
    with pytest.raises(GnomonError, match="what people saw"):
        open_judge(f"people:{tmp_path}", {})


def test_a_persons_run_scores_and_compares_with_a_models(tmp_path):
    source = load("scales").limited(12)
    asked = asked_from_source(source)
    person = open_person_run(asked, "ann", PersonSettings(task_named("choose")), tmp_path)
    for slot in person.slots:
        person.keep(slot, {"choice": slot.item.gold[0]})
    person.close()
    run = gnomon.run(source, "random", runs=tmp_path)
    scores = {s.model: s.value for s in gnomon.score(tmp_path, measures="accuracy")}
    assert scores["people:ann"] == 1.0
    compared = gnomon.compare(run, person.folder, measure="accuracy")
    assert len(compared) == 1
    page = gnomon.report(tmp_path, tmp_path / "report.html")
    assert "people:ann" in page.read_text(encoding="utf-8")


def test_a_file_of_items_is_asked_with_the_pictures_beside_it(tmp_path):
    from PIL import Image as Pixels

    Pixels.new("RGB", (8, 8)).save(tmp_path / "a.png")
    items = []
    for n in range(4):
        items.append(
            Item(
                id=f"{n}",
                form="caption",
                text="?",
                choices=("false", "true"),
                gold=("true",),
                images=(Image(path="a.png"),),
            )
        )
    file = tmp_path / "mine.jsonl"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, items)))
    asked = asked_from_source(load(str(file)).limited(2))
    assert (len(asked.items), asked.limit) == (2, 2)
    assert asked.items[0].images[0].path == str(tmp_path / "a.png")
    (tmp_path / "a.png").unlink()
    with pytest.raises(GnomonError, match=r"a\.png"):
        asked_from_source(load(str(file)))
