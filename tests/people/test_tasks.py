from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from gnomon.benchmarks.vsr.files import all_relations, category
from gnomon.errors import DataError, UsageError
from gnomon.files import package_data, read_yaml
from gnomon.people.tasks import (
    TASKS,
    ReadResponse,
    ResponseError,
    check_items,
    question_of,
    read_response,
    task_named,
)
from gnomon.records import Image, Item
from gnomon.registry import benchmark

PICTURE = Image(path="zqgold.png")
ENTAILMENT = Item(
    id="zqgold/1",
    form="entailment",
    context="Ann came in.",
    text="Ann is in.",
    choices=("entailment", "neutral", "contradiction"),
    gold=("entailment",),
    group="zqgold",
    tags={"relation": "zqgold"},
)
CAPTION = Item(
    id="zqgold/2",
    form="caption",
    text="The cat is at the left side of the bus.",
    choices=("false", "true"),
    gold=("true",),
    images=(PICTURE,),
)
PAIR = Item(
    id="zqgold/3",
    form="choice",
    text="",
    choices=("under", "contains", "congruent", "left of"),
    tags={"subj": "cat", "obj": "box"},
    images=(PICTURE, PICTURE),
)
SCENE = Item(
    id="zqgold/4",
    form="scene",
    text="A man drives the car: zqgold.",
    choices=("inside", "above", "below", "beside"),
    gold=("inside",),
    tags={"thing_a": "man", "thing_b": "car"},
    images=(PICTURE,),
)
EXAMPLES = {
    "choose": ENTAILMENT,
    "scale": ENTAILMENT,
    "validate": CAPTION,
    "contrast": PAIR,
    "picture": SCENE,
}


@pytest.mark.parametrize("kind", TASKS)
def test_each_task_has_instructions_reasons_to_skip_and_a_question(kind: str) -> None:
    task = task_named(kind)
    check_items(task, [EXAMPLES[kind]])
    question = question_of(task, EXAMPLES[kind])
    assert len(task.instructions) >= 3
    assert "other" in task.skip
    assert question.parts
    for part in question.parts:
        assert part.ask
        assert len(part.options) >= 2
        keys = [option.key for option in part.options if option.key]
        assert len(keys) == len(set(keys))


@pytest.mark.parametrize("kind", TASKS)
def test_a_question_holds_no_id_tag_group_path_or_prompt(kind: str) -> None:
    shown = repr(question_of(task_named(kind), EXAMPLES[kind]))
    assert "zqgold" not in shown
    assert len(shown) > 100


def test_a_choice_is_one_of_the_items_choices() -> None:
    task = task_named("choose")
    assert read_response(task, ENTAILMENT, {"choice": "neutral"}) == ReadResponse(
        "neutral", "neutral"
    )
    with pytest.raises(ResponseError, match="not one of the answers"):
        read_response(task, ENTAILMENT, {"choice": "zqgold"})
    with pytest.raises(ResponseError, match="Please answer"):
        read_response(task, ENTAILMENT, {})


@pytest.mark.parametrize(
    ("point", "choice"),
    [
        ("1", "contradiction"),
        ("2", "contradiction"),
        ("3", "neutral"),
        ("4", "entailment"),
        ("5", "entailment"),
        ("no sense", None),
    ],
)
def test_five_points_are_read_as_three_labels(point: str, choice: str | None) -> None:
    assert read_response(task_named("scale"), ENTAILMENT, {"scale": point}) == ReadResponse(
        choice, point
    )


def test_the_tolerance_for_points_of_view_is_stated_where_it_applies() -> None:
    task = task_named("validate")
    assert "from either" in question_of(task, CAPTION).note
    plain = Item(
        id="5",
        form="caption",
        text="The cat is on the bus.",
        choices=("false", "true"),
        gold=("true",),
        images=(PICTURE,),
    )
    assert question_of(task, plain).note == ""


def test_the_point_of_view_is_asked_for_only_if_wanted() -> None:
    assert [part.name for part in question_of(task_named("validate"), CAPTION).parts] == ["choice"]
    task = task_named("validate", ask_frame=True)
    assert [part.name for part in question_of(task, CAPTION).parts] == ["choice", "frame"]
    said = read_response(task, CAPTION, {"choice": "true", "frame": "own"})
    assert said == ReadResponse("true", "true")
    with pytest.raises(UsageError, match="does not ask for a point of view"):
        task_named("scale", ask_frame=True)


@pytest.mark.parametrize(
    ("relation", "order", "caption"),
    [
        ("under", "ab", "The cat is under the box."),
        ("under", "ba", "The box is under the cat."),
        ("contains", "ba", "The box contains the cat."),
    ],
)
def test_a_contrast_makes_a_caption_by_the_copula_rule(
    relation: str, order: str, caption: str
) -> None:
    response = {"relation": relation, "order": order, "true_of": "1"}
    said = read_response(task_named("contrast"), PAIR, response)
    assert said.choice == relation
    reply = json.loads(said.reply)
    assert reply["caption"] == caption
    assert reply["true_of"] == 1
    assert {reply["subject"], reply["object"]} == {"cat", "box"}


def test_relations_are_listed_by_category_and_none_is_lost() -> None:
    relations = all_relations()
    listed = sorted({category(word) for word in relations} - {"none"})
    assert len(relations) == 71
    item = Item(
        id="6",
        form="choice",
        text="",
        choices=tuple(sorted(relations)),
        tags=PAIR.tags,
        images=PAIR.images,
    )
    options = question_of(task_named("contrast"), item).parts[1].options
    assert sorted(option.value for option in options) == sorted(relations)
    groups = list(dict.fromkeys(option.group for option in options))
    assert groups == [*listed, "Other"]


def test_a_relation_is_asked_for_only_where_both_things_are_recognised() -> None:
    task = task_named("picture")
    said = read_response(task, SCENE, {"a": "yes", "b": "no", "relation": "inside"})
    assert said.choice is None
    assert json.loads(said.reply)["recognised"] == {"a": True, "b": False}
    with pytest.raises(ResponseError, match="In this picture, the man is"):
        read_response(task, SCENE, {"a": "yes", "b": "yes"})
    both = {"a": "yes", "b": "yes"}
    assert read_response(task, SCENE, {**both, "relation": "inside"}).choice == "inside"
    assert read_response(task, SCENE, {**both, "relation": "unclear"}).choice is None


def test_a_size_is_asked_for_in_words_that_fit() -> None:
    item = Item(
        id="7",
        form="scene",
        text="An ant and a bird.",
        choices=("larger", "smaller"),
        gold=("smaller",),
        tags={"thing_a": "ant", "thing_b": "bird"},
        images=(PICTURE,),
    )
    asked = [part.ask for part in question_of(task_named("picture"), item).parts]
    assert asked[0] == "Do you recognise the ant?"
    assert asked[2] == "In this picture, the ant is ... than the bird"


@pytest.mark.parametrize(
    ("kind", "item", "reason"),
    [
        ("scale", CAPTION, "'contradiction' is not one of its choices"),
        ("validate", ENTAILMENT, "it has no picture"),
        ("contrast", CAPTION, "two pictures"),
        ("picture", CAPTION, "thing_a"),
    ],
)
def test_items_that_a_task_cannot_ask_are_refused(kind: str, item: Item, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        check_items(task_named(kind), [item])


def test_a_task_of_ones_own_is_a_small_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    words = {
        "kind": "choose",
        "title": "Mine",
        "instructions": ["Read, then choose."],
        "question": "Which?",
        "skip": {"other": "Another reason"},
        "keys": {"neutral": "n"},
    }
    file.write_text(yaml.safe_dump(words), encoding="utf-8")
    task = task_named(str(file))
    options = question_of(task, ENTAILMENT).parts[0].options
    assert [option.key for option in options] == ["1", "n", "3"]
    assert task.sha256 != task_named("choose").sha256


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "draw"}, "not a task"),
        ({"instructions": []}, "needs instructions"),
        ({"keys": {"yes": "s"}}, "is taken"),
        ({"colour": "red"}, "unknown field"),
        ({"kind": "scale"}, "needs points"),
    ],
)
def test_a_task_that_cannot_be_used_says_why(tmp_path: Path, change: dict, message: str) -> None:
    words = {
        "kind": "choose",
        "title": "Mine",
        "instructions": ["Read."],
        "question": "Which?",
        "skip": {"other": "Another"},
        **change,
    }
    file = tmp_path / "mine.yaml"
    file.write_text(yaml.safe_dump(words), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        task_named(str(file))


def test_braces_in_a_task_of_ones_own_are_only_braces(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    words = read_yaml(package_data("tasks/picture.yaml"))
    words["recognise"] = "See {thing}? {0} {x.y}"
    file.write_text(yaml.safe_dump(words), encoding="utf-8")
    assert question_of(task_named(str(file)), SCENE).parts[0].ask == "See the man? {0} {x.y}"


def test_a_task_by_a_wrong_name_says_which_there_are() -> None:
    with pytest.raises(UsageError, match="chose"):
        task_named("chose")


@pytest.mark.parametrize("name", ["scales", "posrel", "calculus"])
def test_choose_asks_any_benchmark(name: str) -> None:
    from itertools import islice

    from gnomon.items.source import load

    assert benchmark(name)
    items = list(islice(load(name).limited(8).without_pictures(), 8))
    task = task_named("choose")
    check_items(task, items)
    for item in items:
        values = [option.value for option in question_of(task, item).parts[0].options]
        assert sorted(values) == sorted(item.choices)
        assert "[MASK]" not in repr(question_of(task, item))


@pytest.mark.parametrize("turned", [False, True])
def test_a_scale_of_your_own_goes_from_contradiction_to_entailment(
    turned: bool, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    words = read_yaml(package_data("tasks/scale.yaml"))
    points = words["points"]
    if turned:
        points |= {"1": points["5"], "2": points["4"], "4": points["2"], "5": points["1"]}
    file.write_text(yaml.safe_dump(words), encoding="utf-8")
    if not turned:
        assert task_named(str(file)).points["1"].choice == "contradiction"
        return
    with pytest.raises(DataError, match="from contradiction over neutral to entailment"):
        task_named(str(file))
