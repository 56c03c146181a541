"""posrel: scenes in both forms, fresh ones of which neither action nor object says the place, the
authors' files as they are, hyponyms."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.benchmarks.posrel import (
    fresh,
    general_fresh,
    general_published,
    published,
    statistics,
)
from gnomon.benchmarks.posrel_scenes import RELATIONS, facts_of, read_table
from gnomon.errors import DataError, MissingFileWarning, UsageError
from gnomon.files import package_data, read_yaml

TABLE = read_table()
FACTS = facts_of(TABLE)
KINDS = read_yaml(package_data("posrel/kinds.yaml"))
HYPONYMS = read_yaml(package_data("posrel/hyponyms.yaml"))
ROWS = [
    {"text": f"A {person} {verb} the car. ", "label": label, "obj_a": person, "obj_b": "car"}
    for label, verbs in ((0, ("drives", "is driving")), (3, ("washes", "is washing")))
    for person in ("man", "girl")
    for verb in verbs
]


def write(folder: Path, rows, name: str = "posrel/data.json") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def labels_by(items, tag: str) -> dict[str, Counter]:
    """How often each place is right, for every value of a tag."""
    found: dict[str, Counter] = {}
    for item in items:
        found.setdefault(item.tags[tag], Counter())[item.gold[0]] += 1
    return found


def test_the_table_has_many_scenes_none_of_them_twice():
    scenes = {(fact.action, fact.object) for fact in FACTS}
    assert len(scenes) == len(FACTS) == 897
    assert len({fact.object for fact in FACTS}) == 76
    assert len({fact.action for fact in FACTS}) == 74


@pytest.mark.parametrize("part", ["action", "object"])
def test_every_action_and_every_object_goes_with_several_places(part: str):
    places: dict[str, set[str]] = {}
    for fact in FACTS:
        places.setdefault(getattr(fact, part), set()).add(fact.relation)
    alone = [name for name, found in places.items() if len(found) < 2]
    assert len(places) > 70
    assert alone == []


def test_no_wording_says_the_place():
    wordings = [wording for entry in TABLE["actions"].values() for wording in entry["say"]]
    assert len(wordings) == len(set(wordings)) == 2 * len(TABLE["actions"])
    said = r"\b(?:inside|above|below|beside|under\w*|overhead|atop|on top|next to|on the \{thing)\b"
    assert [wording for wording in wordings if re.search(said, wording)] == []
    assert [wording for wording in wordings if wording.count("{thing}") != 1] == []
    assert [wording for wording in wordings if wording.lower().count("{person}") != 1] == []


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**9))
def test_every_seed_balances_places_and_questions(seed):
    items = list(fresh(seed=seed, form="both"))
    cloze = [item for item in items if item.form == "cloze"]
    assert len({item.id for item in items}) == len(items) == 240 * 3
    assert len({item.group for item in cloze}) == 240
    assert Counter(item.gold[0] for item in cloze) == dict.fromkeys(RELATIONS, 60)
    words = Counter((item.tags["asked"], item.gold) for item in items if item.form == "choice")
    assert set(words.values()) == {60}


@pytest.mark.parametrize(("tag", "mean"), [("action", 0.575), ("object", 0.59)])
def test_every_seed_is_nearly_even_within_actions_and_within_objects(tag, mean):
    shares = []
    for seed in range(10):
        items = list(fresh(seed=seed))
        labels = labels_by(items, tag)
        assert len(labels) >= 60
        # what one would get right who knew the most frequent place of each action, or object
        shares.append(sum(max(found.values()) for found in labels.values()) / len(items))
    assert max(shares) < mean + 0.05  # over 300 seeds the standard deviation is 0.012
    assert sum(shares) / len(shares) < mean


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**9))
def test_nobody_is_more_often_in_one_place_than_in_another(seed):
    """Children hide below beds and adults paint fences: else "a boy" would say "below"."""
    for person, found in labels_by(fresh(seed=seed), "person").items():
        assert found == dict.fromkeys(RELATIONS, 15), person
    ages = labels_by(general_fresh(seed=seed), "person")
    assert set(ages) == {"adult", "child"}
    for age, found in ages.items():
        assert max(found.values()) - min(found.values()) <= 6, age


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**9))
def test_sentences_of_all_places_are_equally_long(seed):
    lengths: dict[str, list[int]] = {name: [] for name in RELATIONS}
    for item in fresh(seed=seed):
        lengths[item.gold[0]].append(len(item.context.split()))
    means = [sum(found) / len(found) for found in lengths.values()]
    assert max(means) - min(means) < 1


@pytest.mark.parametrize("other", [1, 2, 3])
def test_seeds_share_less_than_half_of_the_scenes_and_few_sentences(other: int):
    first, second = list(fresh(seed=0)), list(fresh(seed=other))
    scenes = {item.group for item in first} & {item.group for item in second}
    sentences = {item.context for item in first} & {item.context for item in second}
    assert 0 < len(scenes) < 0.5 * len(first)
    assert len(sentences) < 0.15 * len(first)


def test_variants_and_numbers_of_scenes_are_options():
    assert len(list(fresh(scenes=40))) == 40
    assert len(list(fresh(scenes=0))) == len(FACTS)
    copies = list(fresh(scenes=40, per_group=3))
    assert len({item.id for item in copies}) == len(copies) == 120
    assert len({item.group for item in copies}) == 40
    most = list(fresh(scenes=10**6))
    assert Counter(item.gold[0] for item in most) == dict.fromkeys(RELATIONS, len(most) // 4)
    for wrong in ({"scenes": -1}, {"per_group": 0}):
        with pytest.raises(UsageError, match="cannot be drawn"):
            list(fresh(**wrong))


def test_fresh_items_have_the_tags_that_are_held_out_and_vary_independently():
    items = [*fresh(), *general_fresh()]
    assert len(items) == 480
    for item in items:
        assert item.group == f"{item.tags['action']}/{item.tags['object']}"
    assert all("kind_of_person" in item.tags for item in items[240:])


def test_the_objects_are_our_own():
    theirs = {"car", "lorry", "bicycle", "horse", "rice", "tree", "pine tree", "ball"}
    theirs |= {"soccer ball", "firework", "firecracker", "flower", "shrub", "ladder"}
    ambiguous = {"chest", "trunk", "coat", "cloak", "suit"}
    assert not (theirs | ambiguous) & {fact.object for fact in FACTS}


def test_the_three_items_of_a_scene_share_a_group_and_agree():
    items = list(fresh(form="both"))
    groups: dict[str, list] = {}
    for item in items:
        groups.setdefault(item.group, []).append(item)
    assert len(groups) > 10
    for cloze, yes, no in groups.values():
        assert [item.form for item in (cloze, yes, no)] == ["cloze", "choice", "choice"]
        assert (yes.gold, no.gold) == (("yes",), ("no",))
        assert yes.tags["asked"] == cloze.gold[0] != no.tags["asked"]
        assert len({item.context for item in (cloze, yes, no)}) == 1


def test_a_scene_reads_as_a_person_would_say_it():
    items = list(fresh(scenes=0, per_group=8, form="both"))
    scene = [item for item in items if item.group == "stays dry/umbrella" and "/woman/" in item.id]
    found = {item.context for item in scene}
    assert found == {
        "A woman is using the umbrella to stay dry until the downpour is over.",
        "Thanks to the umbrella, a woman stays dry despite the pouring rain.",
    }
    assert {item.text for item in scene if item.form == "cloze"} == {"She is [MASK] the umbrella."}
    assert "Is the woman underneath the umbrella?" in {item.text for item in scene}


def test_a_form_narrows_and_an_unknown_one_is_refused(tmp_path: Path):
    assert (
        {item.form for item in fresh()} == {item.form for item in fresh(form="cloze")} == {"cloze"}
    )
    assert {item.form for item in fresh(form="both")} == {"cloze", "choice"}
    assert {item.form for item in published(data=str(write(tmp_path, ROWS)), form="choice")} == {
        "choice"
    }
    with pytest.raises(UsageError, match="no form named 'clozed'"):
        list(fresh(form="clozed"))


def test_published_scenes_keep_their_sentences_and_questions_are_rebuilt(tmp_path: Path):
    items = list(published(data=str(write(tmp_path, ROWS)), form="both"))
    assert len(items) == 3 * len(ROWS)
    first = items[0]
    assert first.id == "cloze/man/drives/car"
    assert (first.context, first.text) == ("A man drives the car. ", "He is [MASK] the car.")
    assert (first.choices, first.gold) == (RELATIONS, ("inside",))
    assert [(item.text, item.gold[0]) for item in items[1:3]] == [
        ("Is the man inside the car?", "yes"),
        ("Is the man beside the car?", "no"),
    ]
    progressive = next(item for item in items if item.id == "cloze/girl/is_washing/car")
    assert progressive.tags == {
        "object": "car",
        "person": "girl",
        "action": "washes",
        "relation": "beside",
        "tense": "progressive",
    }


@pytest.mark.parametrize("labels", [(1, 0), ("yes", "no"), (True, False)])
@pytest.mark.parametrize("swapped", [False, True])
def test_published_questions_are_read_where_they_are(tmp_path: Path, labels, swapped: bool):
    write(tmp_path, ROWS, "data/posrel/data.json")
    questions = []
    for row in ROWS:
        right, wrong = ("inside", "beside") if row["label"] == 0 else ("beside", "inside")
        pair = [
            {"question": f"{row['text']}Is the {row['obj_a']} {word} the car?", "label": label}
            for word, label in zip((right, wrong), labels, strict=True)
        ]
        questions += pair[::-1] if swapped else pair
    write(tmp_path, questions, "data/posrel/data_qa.json")
    asked = list(published(data=str(tmp_path), form="choice"))
    assert Counter(item.gold[0] for item in asked) == {"yes": len(ROWS), "no": len(ROWS)}
    assert asked[0].tags["asked"] == ("beside" if swapped else "inside")
    assert asked[0].text == f"Is the man {asked[0].tags['asked']} the car?"
    rebuilt = published(data=str(write(tmp_path / "x", ROWS)), form="choice")
    assert {item.id for item in asked} == {item.id for item in rebuilt}


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"label": 4}, "label is 4"),
        ({"label": float("nan")}, "not JSON"),
        ({"label": "inside"}, "wrong types"),
        ({"obj_a": "robot"}, "is not 'A robot"),
        ({"text": "He drives."}, "is not 'A man"),
        ({"obj_b": None}, "wrong types"),
        ({"text": "x" * (17 * 2**20)}, "longer than 16 MB"),
    ],
)
def test_a_corrupt_scene_is_refused_with_its_line(tmp_path: Path, row, complaint: str):
    write(tmp_path, [ROWS[0], {**ROWS[1], **row}, *ROWS[2:]])
    with pytest.raises(DataError, match=complaint) as caught:
        list(published(data=str(tmp_path)))
    assert "data.json:2" in str(caught.value)


def test_questions_that_do_not_belong_are_refused(tmp_path: Path):
    write(tmp_path, ROWS)
    good = [
        {
            "question": f"{row['text']}Is the {row['obj_a']} {word} the car?",
            "label": int(row["label"] == label),
        }
        for row in ROWS
        for label, word in ((0, "inside"), (3, "beside"))
    ]
    for place, change, complaint in [
        (3, {"question": "Is the dog in the tree?"}, "not about the man and the car"),
        (3, {"label": "perhaps"}, "not yes or no"),
    ]:
        bad = [*good]
        bad[place] = {**bad[place], **change}
        write(tmp_path, bad, "posrel/data_qa.json")
        with pytest.raises(DataError, match=complaint) as caught:
            list(published(data=str(tmp_path), form="choice"))
        assert "data_qa.json:4" in str(caught.value)
    write(tmp_path, good[:-1], "posrel/data_qa.json")
    with pytest.raises(DataError, match="15 questions, not two for each scene"):
        list(published(data=str(tmp_path), form="choice"))


def test_missing_scenes_are_named(tmp_path: Path):
    with pytest.raises(
        DataError, match=r"positional set is missing: looked for data/posrel/data\.json"
    ):
        list(published(data=str(tmp_path)))


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 3))
def test_general_scenes_have_other_people_and_kinds_and_keep_the_balance(seed, count):
    items = list(general_fresh(seed=seed, per_group=count, form="both"))
    assert len({item.id for item in items}) == len(items) == 240 * 3 * count
    people = {"adult": KINDS["people"]["adults"], "child": KINDS["people"]["children"]}
    for item in items:
        person, thing = item.tags["kind_of_person"], item.tags["kind_of_object"]
        assert person in people[item.tags["person"]]
        assert thing in KINDS["objects"][item.tags["object"]]
        article = "an" if person[0] in "aeiou" else "a"
        assert f"{article} {person}" in item.context.replace("A", "a", 1)
        assert thing in item.context
        assert f"the {person}" in item.text.lower()
    labels = Counter(item.gold[0] for item in items if item.form == "cloze")
    assert labels == dict.fromkeys(RELATIONS, 60 * count)


def test_every_object_has_kinds_and_no_two_objects_share_a_word():
    assert set(KINDS["objects"]) == {fact.object for fact in FACTS}
    owners: dict[str, set[str]] = {}
    for thing, kinds in KINDS["objects"].items():
        assert len(kinds) == len(set(kinds)) == 3
        for word in re.findall(r"\w+", " ".join(kinds)):
            owners.setdefault(word, set()).add(thing)
    owners.pop("s")  # of hunter's, painter's
    assert {word: found for word, found in owners.items() if len(found) > 1} == {}


def test_general_scenes_of_the_authors_keep_action_tense_and_place(tmp_path: Path):
    with pytest.warns(MissingFileWarning, match="posrel-general was not published: it is rebuilt"):
        items = list(general_published(data=str(write(tmp_path, ROWS)), form="cloze"))
    assert len(items) == len(ROWS)
    pairs = {
        (item.tags["person"], item.tags["kind_of_person"], item.tags["kind_of_object"])
        for item in items
    }
    assert len(pairs) == 2  # one pair of hyponyms for each person, in both actions and tenses
    assert Counter(item.gold[0] for item in items) == {"inside": 4, "beside": 4}
    with pytest.warns(MissingFileWarning), pytest.raises(UsageError, match="1 pair"):
        list(general_published(data=str(tmp_path), per_group=0))


def test_hyponyms_are_no_names():
    words = [word for found in HYPONYMS.values() for word in found]
    assert len(words) > 100
    assert all(word == word.strip() and word[0].islower() for word in words)


def test_statistics_count_scenes_not_items():
    objects, words = statistics(list(fresh(form="both")))
    assert sum(sum(row[1:]) for row in objects.rows) == 240
    assert words.rows == tuple((relation, 60, 60) for relation in RELATIONS)
