"""A painter and a judge as one model: what is painted once is kept, judged, and judged again."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import gnomon
from gnomon.errors import ModelError, RunError, UsageError
from gnomon.items.source import ItemSource
from gnomon.paint.factory import open_judge
from gnomon.paint.judges.answers import question_of
from gnomon.paint.model import LOG, Synth, prompt_of, read_log
from gnomon.paint.painters.render import Renderer
from gnomon.paint.records import JudgeVerdict, PaintedPicture, PaintTrouble, seed_of
from gnomon.records import Item
from gnomon.runs import Run
from gnomon.runs.running import run as engine_run
from gnomon.scenes.pictures import png


def scene(id="size/ant/bird", text="An ant and a bird.", **more):
    fields = {"choices": ("larger", "smaller"), "gold": ("smaller",)}
    fields["tags"] = {"thing_a": "ant", "thing_b": "bird"}
    return Item(id=id, form="scene", text=text, **(fields | more))


class Plain:
    """Paints a square in a colour that its seed says, and remembers what it was asked."""

    spec = "synth:plain"

    def __init__(self, batch=4, trouble=()):
        self.batch, self.trouble, self.asked = batch, trouble, []

    def describe(self):
        return {"colour": "by seed"}

    def paint(self, requests):
        for request in requests:
            self.asked.append((request.item.id, request.number, request.prompt, request.seed))
            if request.item.id in self.trouble:
                yield request, PaintTrouble("no paint left")
            else:
                value = request.seed % 250
                yield request, PaintedPicture(png(np.full((4, 4, 3), value, dtype=np.uint8)))


class Bright:
    """Says "larger" of bright pictures, and abstains on middling ones."""

    def describe(self):
        return {"judge": "bright"}

    def look(self, item, painted, picture):
        value = picture.getpixel((0, 0))[0]
        if 100 < value < 150:
            return JudgeVerdict(None, (), {"abstains": "middling"})
        return JudgeVerdict(int(value < 125), (), {"value": value})


def answered(model, items):
    """What a model answers, without a run."""
    with closing(model):
        return model.answer(items)


def test_every_picture_has_a_seed_of_its_own_and_votes():
    painter = Plain()
    (answer,) = answered(Synth(painter, Bright(), pictures=3), [scene()])
    assert [number for _, number, *_ in painter.asked] == [0, 1, 2]
    assert [seed for *_, seed in painter.asked] == [seed_of("size/ant/bird", n) for n in range(3)]
    votes = Counter(row["choice"] for row in json.loads(answer.reply))
    assert sum(votes.values()) == 3
    assert len(answer.files) == 3
    assert all(file.startswith("pictures/") for file in answer.files)
    assert sum(answer.scores) == pytest.approx(1)


def test_answers_do_not_depend_on_batches():
    items = [scene(id=f"item {n}") for n in range(7)]
    whole = answered(Synth(Plain(batch=16), Bright(), pictures=2), items)
    parts = []
    for item in items:
        parts += answered(Synth(Plain(batch=1), Bright(), pictures=2), [item])
    assert {answer.choice for answer in whole} >= {"larger", "smaller"}
    assert whole == parts


def test_an_item_that_cannot_be_painted_fails_alone():
    items = [scene(id="good"), scene(id="bad")]
    good, bad = answered(Synth(Plain(trouble=("bad",)), Bright()), items)
    assert good.error is None
    assert bad.error == "no paint left"


UNFIT = {
    "an empty prompt": (scene(text=" \n"), "the prompt is empty"),
    "an endless prompt": (scene(text="ant " * 5000), "longer than 4,000"),
    "no things": (scene(tags={}), "two things"),
    "no choices": (scene(choices=(), gold=()), "no choices"),
    "a question": (
        Item(id="1", form="choice", text="Is it?", choices=("yes", "no"), gold=("yes",)),
        "two things",
    ),
}


@pytest.mark.parametrize("kind", UNFIT)
def test_what_cannot_be_judged_is_not_painted(kind):
    item, reason = UNFIT[kind]
    painter = Plain()
    (answer,) = answered(Synth(painter, Bright()), [item])
    assert reason in answer.error
    assert painter.asked == []


@pytest.mark.parametrize("name", ["../../etc", "a\nb", "{0.__class__}", "x" * 10_000, "%s", "\0"])
def test_names_of_strangers_are_names(name, tmp_path):
    item = scene(id=name, text=f"{name[:100]} and a bird.", tags={"thing_a": name, "thing_b": "b"})
    model = Synth(Plain(), Bright())
    model.keep(tmp_path / "run")
    (answer,) = model.answer([item])
    assert answer.error is None
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {file.parent for file in files} == {tmp_path / "run" / "pictures"}
    oracle = Synth(Renderer(32), open_judge("boxes", {"detector": "true", "depth": "true"}))
    (rendered,) = answered(oracle, [item])
    assert rendered.choice == "smaller" or rendered.error


def test_questions_are_painted_by_the_scene_that_they_are_about():
    size = next(gnomon.load("scales", form="choice").limited(1).items())
    assert prompt_of(size).count(" and ") == 1
    for name in (size.tags["obj_a"], size.tags["obj_b"]):
        assert name in prompt_of(size)
    place = next(gnomon.load("posrel", form="choice").limited(1).items())
    assert prompt_of(place) == place.context


class Asking:
    """A model that sees, asked the item's own question: says yes to bright pictures."""

    asks = True

    def __init__(self):
        self.questions = []

    def describe(self):
        return {"judge": "asked"}

    def look(self, item, painted, picture):
        self.questions.append((item.text, painted.prompt))
        return JudgeVerdict(int(picture.getpixel((0, 0))[0] < 125), (), {})


def test_questions_are_answered_through_pictures(tmp_path):
    judge = Asking()
    source = gnomon.load("posrel", form="choice").limited(6)
    run = engine_run(source, Synth(Plain(), judge), runs=tmp_path)
    assert run.manifest.counts.answered == 6
    asked = {item.text: item.context for item in run.items()}
    assert len(judge.questions) == 6
    for text, prompt in judge.questions:
        assert prompt == asked[text]
    # the model that sees is not told what the picture shows
    item = next(iter(run.items()))
    painted = next(iter(read_log(run.path / "pictures").values()))
    question = question_of(item, painted, (4, 4))
    assert (question.text, question.context) == (item.text, "")
    assert question.images[0].sha256 == painted.sha256


def test_both_questions_of_an_action_are_asked_about_one_picture(tmp_path):
    painter = Plain()
    source = gnomon.load("posrel", form="choice").limited(20)
    run = engine_run(source, Synth(painter, Asking()), runs=tmp_path)
    scenes = {item.context for item in run.items()}
    assert len(painter.asked) == len(scenes)
    files = {}
    for item, answer in run.rows():
        files.setdefault(item.context, set()).add(answer.files)
    assert all(len(each) == 1 for each in files.values())


# Runs.


def test_the_renderer_is_an_oracle(tmp_path):
    for name in ("scales", "posrel"):
        model = gnomon.model("synth:render", detector="true", depth="true", trial=0, size=48)
        run = gnomon.run(gnomon.load(name, form="scene"), model, limit=24, runs=tmp_path)
        counts = run.manifest.counts
        assert (counts.answered, counts.errors) == (24, 0)
        for item, answer in run.rows():
            assert answer.choice in item.gold, item.id


def test_of_captions_the_renderer_shows_what_rules_can_reach(tmp_path):
    model = gnomon.model("synth:render", detector="true", depth="true", trial=0, size=48)
    source = gnomon.load("vsr@fresh", form="scene", quads=20)
    run = gnomon.run(source, model, runs=tmp_path)
    kinds = Counter()
    for item, answer in run.rows():
        if item.gold == ("touching",):
            continue  # boxes cannot tell contact from a gap
        if answer.choice is None:
            why = answer.error or json.loads(answer.reply)[0]["abstains"]
            kinds["out of reach" if why else "wrong"] += 1
        else:
            kinds["right" if answer.choice in item.gold else "wrong"] += 1
    assert kinds["right"] >= 16
    assert kinds["wrong"] == 0


def test_pictures_are_kept_with_prompt_seed_and_digest(tmp_path):
    model = gnomon.model(
        "synth:render", detector="true", depth="true", trial=0, size=32, pictures=2
    )
    run = gnomon.run(gnomon.load("scales", form="scene"), model, limit=3, runs=tmp_path)
    kept = read_log(run.path / "pictures")
    items = {item.id: item for item in run.items()}
    assert set(kept) == {(id, number) for id in items for number in (0, 1)}
    for (id, number), painted in kept.items():
        assert painted.prompt == items[id].text
        assert painted.seed == seed_of(id, number)
        assert painted.painter.startswith("synth:render ")
        assert (run.path / "pictures" / painted.file).is_file()
        assert painted.truth.first.name == items[id].tags["thing_a"]


def test_restart_paints_again(tmp_path):
    source = gnomon.load("scales", form="scene").limited(2)
    model = gnomon.model("synth:render", detector="true", depth="true", trial=0, size=32)
    run = engine_run(source, model, runs=tmp_path)
    (run.path / "pictures" / "mine.txt").write_text("old")
    engine_run(source, model, runs=tmp_path, restart=True)
    assert not (run.path / "pictures" / "mine.txt").exists()
    assert len(read_log(run.path / "pictures")) == 2


def test_failed_pictures_are_painted_again_when_errors_are_retried(tmp_path):
    source = ItemSource(
        gnomon.load("scales").benchmark, "fresh", gnomon.load("scales", form="scene").options, 3
    )
    first = next(source.items()).id
    run = engine_run(source, Synth(Plain(trouble=(first,)), Bright()), runs=tmp_path)
    assert run.manifest.counts.errors == 1
    painter = Plain()
    run = engine_run(source, Synth(painter, Bright()), runs=tmp_path, retry_errors=True)
    assert run.manifest.counts.errors == 0
    assert [asked[0] for asked in painter.asked] == [first]


def test_items_that_are_no_scenes_leave_no_run_behind(tmp_path):
    model = gnomon.model("synth:render", detector="true", depth="true")
    with pytest.raises(ModelError, match="--set form=scene"):
        gnomon.run("scales", model, limit=2, runs=tmp_path / "runs")
    assert not list((tmp_path / "runs").glob("*"))


def test_text_models_refuse_scenes(tmp_path):
    source = gnomon.load("posrel", form="scene").limited(2)
    run = engine_run(source, gnomon.model("random"), runs=tmp_path)  # a guess needs no picture
    assert run.manifest.counts.answered == 2


# Judged again.


def test_a_new_judge_looks_at_old_pictures_without_painting(tmp_path):
    source = gnomon.load("posrel", form="scene").limited(16)
    how = {"detector": "true", "depth": "true", "size": 64, "trial": 0}
    old = engine_run(source, gnomon.model("synth:render", **how), runs=tmp_path)
    again = gnomon.model("synth:render", **how, rule="released", painted=str(old.path))
    new = engine_run(source, again, runs=tmp_path)
    assert new.path != old.path
    assert read_log(new.path / "pictures") == read_log(old.path / "pictures")
    golds = [item.gold[0] for item in old.items()]
    before = [answer.choice for _, answer in old.rows()]
    after = [answer.choice for _, answer in new.rows()]
    assert before == golds
    turned = {"above": "below", "below": "above"}
    assert after == [turned.get(gold, gold) for gold in golds]  # as the authors' code has it
    # where a run with these options would be, if somebody asked for it
    plain = engine_run(source, gnomon.model("synth:render", **how, rule="released"), runs=tmp_path)
    assert plain.path == new.path


def test_what_was_painted_only_can_be_judged_later(tmp_path):
    source = gnomon.load("posrel", form="scene").limited(4)
    how = {"detector": "true", "depth": "true", "size": 64, "trial": 0}
    old = engine_run(source, gnomon.model("synth:render", **how, judge="none"), runs=tmp_path)
    assert old.manifest.counts.unread == 4
    again = gnomon.model("synth:render", **how, painted=str(old.path))
    assert engine_run(source, again, runs=tmp_path).manifest.counts.answered == 4


def test_a_run_without_pictures_cannot_be_judged(tmp_path):
    run = gnomon.run("scales", "random", limit=2, runs=tmp_path)
    with pytest.raises(RunError, match="has no pictures"):
        gnomon.model("synth:render", painted=str(run.path)).open()


def test_judges_and_counts_that_cannot_be_are_refused():
    with pytest.raises(UsageError, match="no judge 'nobody'"):
        gnomon.model("synth:render", judge="nobody").open()
    with pytest.raises(UsageError, match="1 to 64"):
        gnomon.model("synth:render", pictures=65, judge="none").open()
    with pytest.raises(UsageError, match="synth:render"):
        gnomon.model("synth:nobody")


# Killed.

CHILD = """
import os, signal, sys
from pathlib import Path
import numpy as np
import gnomon
from gnomon.runs.running import run
from gnomon.scenes.pictures import png
from gnomon.paint import model as keeping
from gnomon.paint.model import Synth
from gnomon.paint.records import JudgeVerdict, PaintedPicture

runs, notes, point, after = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
seen = 0

def die(here):
    global seen
    if here == point:
        seen += 1
        if seen == after:
            os.kill(os.getpid(), signal.SIGKILL)

class Painter:
    spec, batch = "synth:plain", 3
    def describe(self):
        return {}
    def paint(self, requests):
        for request in requests:
            with notes.open("a") as out:
                print(request.item.id, request.number, sep="\\t", file=out)
            die("painting")
            yield request, PaintedPicture(png(np.full((4, 4, 3), request.seed % 250, dtype=np.uint8)))

class Judge:
    def describe(self):
        return {}
    def look(self, item, painted, picture):
        die("judging")
        return JudgeVerdict(0, (), {})

store, note = keeping.Pictures._store, keeping.Pictures._note
def stored(self, content):
    found = store(self, content)
    die("stored")
    return found
def noted(self, painted):
    note(self, painted)
    die("noted")
keeping.Pictures._store, keeping.Pictures._note = stored, noted
source = gnomon.load("scales", form="scene").limited(8)
run(source, Synth(Painter(), Judge(), pictures=2), runs=runs)
"""
POINTS = [("painting", 5), ("stored", 4), ("noted", 4), ("judging", 3), ("judging", 9)]


@pytest.mark.parametrize(("point", "after"), POINTS)
def test_kill_9_paints_nothing_twice_and_loses_nothing(point, after, tmp_path):
    notes = tmp_path / "painted.txt"
    arguments = [sys.executable, "-c", CHILD, str(tmp_path / "runs"), str(notes), point]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run([*arguments, str(after)], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    (folder,) = (tmp_path / "runs").iterdir()
    kept = read_log(folder / "pictures")
    painted = _lines(notes)
    # what was begun and is not kept is the picture at hand, if there is one
    assert len(painted) - len(kept) in ((1,) if point in ("painting", "stored") else (0,))
    subprocess.run([*arguments, "0"], env=environment, check=True)
    again = _lines(notes)[len(painted) :]
    assert set(again).isdisjoint(kept)
    whole = read_log(folder / "pictures")
    assert len(whole) == 16
    assert kept.items() <= whole.items()
    assert Run.open(folder).manifest.counts.answered == 8
    lines = (folder / "pictures" / LOG).read_text().splitlines()
    assert len(lines) == 16


def _lines(notes: Path) -> list[tuple[str, int]]:
    found = []
    for line in notes.read_text().splitlines():
        id, number = line.split("\t")
        found.append((id, int(number)))
    return found
