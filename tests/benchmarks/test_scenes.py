"""Benchmarks as prompts for image synthesis: two things, choices, and no word that gives it away."""

from collections import Counter

import pytest

import gnomon
from gnomon.errors import MissingFileWarning, UsageError
from gnomon.models.prompts.library import load_prompt
from gnomon.paint.records import asked_of
from gnomon.records import problem

SOURCES = {
    "scales": {"pairs": 12},
    "posrel": {"scenes": 16},
    "posrel-general": {"scenes": 16},
    "vsr@fresh": {"quads": 6},
}


def scenes(name, **options):
    return list(gnomon.load(name, form="scene", **options).items())


@pytest.mark.parametrize("name", SOURCES)
def test_every_scene_names_two_things_and_can_be_judged(name):
    items = scenes(name, **SOURCES[name])
    assert items
    for item in items:
        assert problem(item) == ""
        assert item.form == "scene"
        assert not item.images
        asked = asked_of(item)
        if "several" not in item.tags:  # which are named by a plural
            assert asked.first in item.text
            assert asked.second in item.text
        assert item.gold[0] in item.choices


@pytest.mark.parametrize("name", ["scales", "posrel", "posrel-general"])
def test_a_prompt_does_not_say_the_answer(name):
    for item in scenes(name, **SOURCES[name]):
        assert not set(item.choices) & set(item.text.lower().split())


def test_of_sizes_each_thing_comes_first_once():
    items = scenes("scales", pairs=12)
    first = Counter(
        (item.tags["scale"], item.tags["thing_a"], item.tags["thing_b"]) for item in items
    )
    for scale, a, b in first:
        assert first[scale, a, b] == first[scale, b, a] == 1
    golds = Counter(item.gold for item in items)
    assert golds["larger",] == golds["smaller",] > 0
    assert golds["taller",] == golds["shorter",] > 0
    assert asked_of(items[0]).kind == "size"
    assert asked_of(items[-1]).kind == "height"
    for item in items:
        assert item.text.lower().index(item.tags["thing_a"]) < item.text.lower().rindex(
            item.tags["thing_b"]
        )


def test_of_captions_either_thing_is_named_first_as_often():
    items = scenes("vsr@fresh", quads=6)
    first = Counter()
    for item in items:
        opening = item.text.partition(". ")[0]
        one, other = (opening.find(item.tags[tag]) for tag in ("thing_a", "thing_b"))
        if -1 not in (one, other) and one != other:
            first[one < other] += 1
    assert abs(first[True] - first[False]) <= 2
    assert min(first.values()) > 0
    golds = Counter(item.choices.index(item.gold[0]) for item in items)
    assert golds[0] == golds[1]


def test_the_papers_prompts_are_its_own(shared):
    data = str(shared / "data/spatial-commonsense")
    prompts = {item.text for item in scenes("posrel@published", data=data)}
    assert "A man drives the car. " in prompts
    with pytest.warns(MissingFileWarning):
        sizes = scenes("scales@published", data=data)
    assert len(sizes) == 500
    assert sizes[0].text == "An ant and a bird."


def test_pairs_of_relativesize_are_painted_in_both_orders(tmp_path):
    (tmp_path / "pairs.csv").write_text("elephant,ant,>\nmouse,house,<\n")
    items = scenes("relativesize", data=str(tmp_path / "pairs.csv"))
    assert [(item.text, item.gold[0]) for item in items] == [
        ("An elephant and an ant.", "larger"),
        ("An ant and an elephant.", "smaller"),
        ("A mouse and a house.", "smaller"),
        ("A house and a mouse.", "larger"),
    ]
    assert len({item.id for item in items}) == 4


def test_scenes_are_asked_only_where_they_are_asked_for():
    for name in ("scales", "posrel"):
        forms = {item.form for item in gnomon.load(name).items()}
        assert "scene" not in forms
    with pytest.raises(UsageError):
        list(gnomon.load("scales", form="picture").items())


def test_prompts_of_text_models_cannot_put_a_scene():
    item = next(gnomon.load("posrel", form="scene").items())
    for name in ("plain", "chat", "picture-plain", "t5"):
        with pytest.raises(UsageError, match="form 'scene'"):
            load_prompt(name).context(item)
