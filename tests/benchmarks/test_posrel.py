"""posrel: scenes in both forms, fresh ones balanced for every object, the authors' files as they
are, hyponyms."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.benchmarks.posrel import (
    RELATIONS,
    fresh,
    general_fresh,
    general_published,
    published,
    statistics,
)
from gnomon.errors import DataError, MissingFileWarning, UsageError
from gnomon.files import package_data, read_yaml

SCENES = read_yaml(package_data("posrel/scenes.yaml"))
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


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**9))
def test_for_every_seed_neither_constant_nor_object_nor_question_word_gives_an_answer_away(seed):
    items = list(fresh(seed=seed, form="both"))
    cloze = [item for item in items if item.form == "cloze"]
    assert len({item.id for item in items}) == len(items) == 512 * 3
    assert Counter(item.gold[0] for item in cloze) == dict.fromkeys(RELATIONS, 128)
    assert set(Counter((item.tags["object"], item.gold) for item in cloze).values()) == {8}
    assert set(
        Counter((item.text, item.gold) for item in items if item.form == "choice").values()
    ) == {2}
    assert len({item.tags["object"] for item in items}) == 16


def test_the_objects_are_our_own_and_their_verbs_are_inflected_right():
    theirs = {
        "car",
        "lorry",
        "bicycle",
        "horse",
        "rice",
        "tree",
        "pine tree",
        "ball",
        "soccer ball",
        "firework",
        "firecracker",
        "flower",
        "shrub",
        "ladder",
    }
    assert not theirs & set(SCENES["objects"])
    for actions in SCENES["objects"].values():
        assert set(actions) == set(RELATIONS)
        verbs = [tuple(verb) for some in actions.values() for verb in some]
        assert len(set(verbs)) == len(verbs)
        for simple, participle in verbs:
            stem = (
                re.sub("ies$", "y", simple)
                if simple.endswith("ies")
                else re.sub("e?s$", "", simple)
            )
            assert simple.endswith("s")
            assert participle.startswith(stem)
            assert re.fullmatch(re.escape(stem) + r"(?:[a-z])?ing", participle)


def test_the_three_items_of_a_scene_share_a_group_and_agree():
    items = list(fresh(form="both"))
    groups: dict[str, list] = {}
    for item in items:
        groups.setdefault(item.group, []).append(item)
    for cloze, yes, no in groups.values():
        assert [item.form for item in (cloze, yes, no)] == ["cloze", "choice", "choice"]
        assert (yes.gold, no.gold) == (("yes",), ("no",))
        assert yes.tags["asked"] == cloze.gold[0] != no.tags["asked"]
        assert len({item.context for item in (cloze, yes, no)}) == 1


def test_a_scene_reads_as_a_person_would_say_it():
    scenes = {
        (item.tags["relation"], item.tags["person"]): item
        for item in fresh()
        if item.tags["object"] == "canoe"
    }
    below, inside = scenes["below", "woman"], scenes["inside", "woman"]
    meanwhile = below.tags["meanwhile"]
    assert re.fullmatch(rf"A woman is \w+ing the canoe overhead as {meanwhile}\.", below.context)
    assert re.fullmatch(rf"A woman is \w+ing the canoe as {meanwhile} overhead\.", inside.context)
    assert below.text == "She is [MASK] the canoe."
    asked = next(
        item
        for item in fresh(form="choice")
        if item.group == below.group and item.tags["asked"] == "below"
    )
    assert asked.text == "Is the woman underneath the canoe?"


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**9))
def test_but_for_the_verb_the_words_of_a_scene_are_the_same_in_all_places(seed):
    words: dict[tuple[str, str, str], set[tuple[str, ...]]] = {}
    meanwhile: dict[str, str] = {}
    for item in fresh(seed=seed):
        tags = item.tags
        verb = {
            tags["action"],
            *(participle for _, participle in SCENES["objects"][tags["object"]][tags["relation"]]),
        }
        left = tuple(sorted(word for word in re.findall(r"\w+", item.context) if word not in verb))
        words.setdefault((tags["object"], tags["person"], tags["tense"]), set()).add(left)
        assert meanwhile.setdefault(tags["object"], tags["meanwhile"]) == tags["meanwhile"]
    assert all(len(found) == 1 for found in words.values())
    assert len(set(meanwhile.values())) == len(meanwhile), (
        "what is seen with one object says nothing of another"
    )


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


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 3))
def test_general_scenes_hold_hyponyms_and_keep_the_balance(seed, count):
    items = list(general_fresh(seed=seed, per_group=count, form="both"))
    assert len({item.id for item in items}) == len(items) == 512 * 3 * count
    for item in items:
        person, thing = item.tags["kind_of_person"], item.tags["kind_of_object"]
        assert person in HYPONYMS[item.tags["person"]]
        assert thing in HYPONYMS[item.tags["object"]]
        article = "An" if person[0] in "aeiou" else "A"
        assert re.fullmatch(
            rf"{article} {person} (?:is )?\w+ the {thing} .*overhead.*\.", item.context
        )
    by_object = Counter(
        (item.tags["kind_of_object"], item.gold) for item in items if item.form == "cloze"
    )
    for thing in {name for name, _ in by_object}:
        assert len({by_object[thing, (relation,)] for relation in RELATIONS}) == 1


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


def test_hyponyms_are_no_names_and_no_two_lists_of_fresh_objects_share_a_word():
    lists = [HYPONYMS[name] for name in SCENES["objects"]]
    words = [word for found in lists for word in found]
    assert len(words) == len(set(words))
    assert all(
        word == word.strip() and word[0].islower() for found in HYPONYMS.values() for word in found
    )


def test_statistics_count_scenes_not_items():
    objects, words = statistics(list(fresh(form="both")))
    assert len(objects.rows) == 16
    assert all(row[1:] == (8, 8, 8, 8) for row in objects.rows)
    assert words.rows == tuple((relation, 128, 128) for relation in RELATIONS)
