"""posrel against the authors' file: 224 scenes, 14 objects, labels 16/64/32/112, 448 questions."""

from collections import Counter

import pytest

from gnomon.benchmarks.posrel import general_published, published
from gnomon.benchmarks.posrel_scenes import RELATIONS
from gnomon.errors import MissingFileWarning

pytestmark = pytest.mark.published


@pytest.fixture(scope="module")
def folder(shared):
    return str(shared / "data" / "spatial-commonsense")


def test_counts_and_labels(folder):
    cloze = list(published(data=folder, form="cloze"))
    assert len({item.id for item in cloze}) == len(cloze) == 224
    assert [Counter(item.gold[0] for item in cloze)[name] for name in RELATIONS] == [
        16,
        64,
        32,
        112,
    ]
    design = Counter((item.tags["object"], item.tags["action"]) for item in cloze)
    assert len(design) == 28
    assert set(design.values()) == {8}
    assert len({item.tags["object"] for item in cloze}) == 14
    assert all(item.context.endswith(". ") for item in cloze)
    assert Counter(item.tags["tense"] for item in cloze) == {"simple": 112, "progressive": 112}


def test_every_object_has_beside_and_one_other_relation(folder):
    things = {item.tags["object"] for item in published(data=folder, form="cloze")}
    assert len(things) == 14
    for thing in things:
        found = Counter(
            item.gold[0]
            for item in published(data=folder, form="cloze")
            if item.tags["object"] == thing
        )
        assert len(found) == 2
        assert found["beside"] == 8


def test_questions_are_balanced(folder):
    asked = list(published(data=folder, form="choice"))
    assert len({item.id for item in asked}) == 448
    assert Counter(item.gold[0] for item in asked) == {"yes": 224, "no": 224}
    words = Counter((item.tags["asked"], item.gold[0]) for item in asked)
    assert all(words[name, "yes"] == words[name, "no"] for name in RELATIONS)


def test_the_general_set_has_the_same_labels(folder):
    with pytest.warns(MissingFileWarning, match="rebuilt"):
        items = list(general_published(data=folder, form="cloze"))
    assert len({item.id for item in items}) == 224
    assert [Counter(item.gold[0] for item in items)[name] for name in RELATIONS] == [
        16,
        64,
        32,
        112,
    ]
