"""chains: labels that are proved, trios in the same words, and dials that do what they say."""

import importlib
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gnomon import load
from gnomon.benchmarks.chains import CHAINS, fresh, statistics, worlds
from gnomon.benchmarks.chains_pictures import scenes_of
from gnomon.errors import GnomonError
from gnomon.proofs.chains import FAMILIES
from gnomon.scenes.relations import decide


@pytest.fixture(scope="module")
def items():
    return list(fresh(seed=5, stories=160))


@pytest.fixture(scope="module")
def judge():
    """bench/chains.py, which reads the stories back from their words and proves them with z3."""
    pytest.importorskip("z3")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "bench")
        sys.modules.pop("chains", None)
        yield importlib.import_module("chains")
        sys.modules.pop("chains")


def trios(items):
    found = {}
    for item in items:
        found.setdefault(item.group, []).append(item)
    return found


def words(text: str) -> Counter:
    return Counter(re.findall(r"[\w'-]+", text.lower()))


def test_z3_proves_every_label_from_the_words(judge, items):
    assert len(items) == 480
    for item in items[::6]:
        label, facts = judge.judged(item)
        assert label == item.gold[0], item
        if label != "cannot tell":
            assert facts == int(item.tags["hops"])


def test_z3_finds_labels_that_were_exchanged(judge, items):
    """Between the stories of a trio: none of them has the label of another."""
    for yes, no, unknown in list(trios(items).values())[:12]:
        wrong = [
            msgspec.structs.replace(yes, context=no.context),
            msgspec.structs.replace(no, context=unknown.context),
            msgspec.structs.replace(unknown, context=yes.context),
        ]
        assert [judge.judged(item)[0] for item in wrong] == ["no", "cannot tell", "yes"]


def test_the_stories_of_a_trio_have_the_same_words_and_question(items):
    for own in trios(items).values():
        assert [item.gold[0] for item in own] == ["yes", "no", "cannot tell"]
        assert len({item.text for item in own}) == 1
        assert len({item.context for item in own}) == 3
        said = [words(item.context) for item in own]
        for count in said:  # whether I am west of Ben or Ben is west of me, the words are these
            count["i"] += count.pop("me", 0)
            count["is"] += count.pop("am", 0)
        assert said[0] == said[1] == said[2]


def test_every_answer_is_equally_often_right_whatever_is_known_of_the_item(items):
    for tag in ("hops", "directions", "distractors", "relation", "person", "naming", "world"):
        counts = Counter((item.tags[tag], item.gold[0]) for item in items)
        for value in {item.tags[tag] for item in items}:
            found = {counts[value, label] for label in ("yes", "no", "cannot tell")}
            assert len(found) == 1, (tag, value)


def test_a_story_has_as_many_sentences_as_facts(items):
    for item in items:
        told = item.context.removeprefix(worlds()[item.tags["world"]].scene)
        assert told.count(".") == int(item.tags["hops"]) + int(item.tags["distractors"])


def test_all_families_lengths_and_persons_are_there(items):
    seen = {tag: {item.tags[tag] for item in items} for tag in ("hops", "directions", "person")}
    assert seen["hops"] == set(map(str, range(1, 11)))
    assert seen["directions"] == set(FAMILIES)
    assert seen["person"] == {"first", "third"}
    assert {item.tags["world"] for item in items} == set(worlds())


def test_the_one_who_tells_is_one_of_them_or_looks_on(items):
    for item in items:
        mine = re.search(r"\b(I|me)\b", item.context) is not None
        assert mine == (item.tags["person"] == "first")
        assert not re.search(r"\bI is\b|\bIs I\b|\bof I\b|\bthan I\b", item.context + item.text)


def test_dials_do_what_they_say():
    found = list(fresh(stories=6, hops="3", distractors="1", directions="places", person="third"))
    assert len(found) == 18
    for item in found:
        tags = item.tags
        assert (tags["hops"], tags["distractors"], tags["directions"]) == ("3", "1", "places")
        assert tags["person"] == "third"
    names = {item.tags["world"] for item in fresh(stories=8, naming="names", hops="2")}
    assert names == {"field", "meadow", "map"}


def test_a_chain_that_is_not_shuffled_is_told_in_order():
    for item in fresh(stories=10, hops="4", distractors="2", directions="four", shuffle=False):
        if item.gold != ("yes",) or item.tags["person"] == "first":
            continue
        told = item.context.removeprefix(worlds()[item.tags["world"]].scene).strip()
        links = told.split(". ")[:4]
        assert item.tags["obj_a"].lower() in links[0].lower()
        assert item.tags["obj_b"].lower() in links[3].lower()


def test_seeds_share_no_story():
    seen = set()
    for seed in range(3):
        own = {item.context for item in fresh(seed=seed, stories=100)}
        assert len(own) == 300
        assert not own & seen
        seen |= own


def test_pairs_ask_about_every_two_things_of_a_chain():
    found = list(fresh(stories=3, hops="3", directions="four", ask="pairs"))
    assert len(found) == 3 * 3 * 12
    stories = Counter(item.tags["story"] for item in found)
    assert set(stories.values()) == {12}
    one_way = {
        (item.tags["story"], item.tags["obj_a"], item.tags["obj_b"]): item.gold for item in found
    }
    for (story, a, b), gold in one_way.items():
        if gold == ("yes",):
            assert one_way[story, b, a] == ("no",)


@pytest.mark.parametrize(
    "options",
    [
        {"stories": 0},
        {"hops": "0"},
        {"hops": "11"},
        {"hops": "5-2"},
        {"hops": "many"},
        {"distractors": "9"},
        {"directions": "nine"},
        {"person": "second"},
        {"naming": "numbers"},
        {"ask": "none"},
        {"hops": "1", "directions": "eight"},
        {"hops": "1", "distractors": "0"},
        {"directions": "solids", "naming": "names"},
    ],
)
def test_options_that_allow_no_story_are_refused(options):
    with pytest.raises(GnomonError):
        list(fresh(**options))


def test_show_counts_right_answers(items):
    by_hops, by_relation = statistics(items)
    assert [row[0] for row in by_hops.rows] == list(map(str, range(1, 11)))
    for row in (*by_hops.rows, *by_relation.rows):
        assert row[1] == row[2] == row[3] > 0


def test_whole_trios_are_asked():
    limited = list(replace(load("chains", stories=40), limit=30).items())
    assert len(limited) == 30
    assert set(map(len, trios(limited).values())) == {3}
    assert CHAINS.laws.relations is not None


def test_a_caption_is_true_of_one_picture_and_false_of_its_twin():
    found = list(fresh(seed=2, stories=4, form="picture", size=64))
    assert len(found) == 8
    scenes = scenes_of(seed=2, stories=4, hops=[1, 2, 3, 4], distractors=[2], size=64)
    for own in trios(found).values():
        assert [item.gold[0] for item in own] == ["true", "false"]
        assert len({item.text for item in own}) == 1
        for item in own:
            (image,) = item.images
            scene = scenes[image.path]
            assert len(scene.things) == int(item.tags["hops"]) + 3
            said = decide(scene, item.tags["subj"], item.tags["relation"], item.tags["obj"])
            assert said.truth == (item.gold == ("true",))
    assert statistics(found)[0].rows[0] == ("1", 1, 1)


@pytest.mark.parametrize(
    "options",
    [
        {"hops": "5"},
        {"distractors": "3"},
        {"size": 1},
        {"hops": "1", "distractors": "0"},
        {"directions": "places"},
        {"ask": "pairs"},
    ],
)
def test_pictures_that_cannot_be_are_refused(options):
    with pytest.raises(GnomonError):
        list(fresh(form="picture", stories=1, **options))


def test_only_pictures_that_are_asked_are_drawn(tmp_path):
    source = load("chains", form="picture", stories=4, hops="1", distractors="1", size=32)
    assert source.makes_pictures
    found = list(source.limited(2).illustrated(tmp_path, processes=1))
    assert len(found) == 2
    assert sorted(Path(item.images[0].path).name for item in found) == sorted(
        file.name for file in tmp_path.glob("*.png")
    )
    assert all(item.images[0].sha256 for item in found)
    assert list(load("chains", stories=1).illustrated(tmp_path / "none"))
    assert not (tmp_path / "none").exists()
