"""A recipe is checked in full before anything loads, and says what is wrong and where."""

from pathlib import Path

import pytest
import yaml

from gnomon.errors import DataError, GnomonError, UsageError
from gnomon.train.recipes import built_in_recipes, changed, load_recipe, recipe_of

PLAIN = {
    "kind": "classify",
    "model": "somewhere",
    "data": {"train": {"source": "spacenli@fresh"}, "parts": {"dev": {"by": "item"}}},
}


def written(tmp_path: Path, content: object) -> Path:
    file = tmp_path / "recipe.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def test_what_a_recipe_does_not_say_has_a_default(tmp_path):
    recipe = load_recipe(written(tmp_path, PLAIN))
    assert recipe.name == "recipe"
    assert recipe.schedule.epochs == 3
    assert recipe.seeds.order == 0
    assert recipe.settings.labels == ("entailment", "neutral", "contradiction")
    assert recipe.data.parts["dev"].share == 0.2


def test_a_resolved_recipe_is_a_recipe_of_the_same_meaning(tmp_path):
    recipe = load_recipe(written(tmp_path, PLAIN), ["schedule.learning_rate=1e-3"])
    again = recipe_of(yaml.safe_load(yaml.safe_dump(recipe.plain())), name=recipe.name)
    assert again == recipe


WRONG = {
    "no kind": ({"model": "x"}, "what kind of training.*\n.*classify"),
    "unknown kind": ({"kind": "clasify"}, "clasify.*\n.*classify"),
    "unknown section": ({**PLAIN, "shedule": {}}, r"named 'shedule'.*\n.*schedule"),
    "unknown field": (
        {**PLAIN, "schedule": {"epoch": 3}},
        r"schedule has an unknown field 'epoch' \(did you mean epochs\?\)",
    ),
    "unknown field of the pool": (
        {**PLAIN, "data": {"train": {"sorce": "x"}}},
        r"data\.train has an unknown field 'sorce' \(did you mean source",
    ),
    "unknown field of a part": (
        {**PLAIN, "data": {"train": {"source": "x"}, "parts": {"dev": {"bye": "item"}}}},
        r"data\.parts\[\.\.\.\] has an unknown field 'bye' \(did you mean by\?\)",
    ),
    "unknown field of the task": (
        {**PLAIN, "classify": {"label": []}},
        r"classify has an unknown field 'label' \(did you mean labels\?\)",
    ),
    "unknown field of LoRA": (
        {**PLAIN, "classify": {"lora": {"ranc": 4}}},
        r"classify\.lora has an unknown field 'ranc' \(did you mean rank\?\)",
    ),
    "a section of another kind": ({**PLAIN, "text": {}}, "named 'text'"),
    "no data": ({"kind": "classify"}, "data.*train"),
    "a word for a number": ({**PLAIN, "schedule": {"epochs": "three"}}, r"schedule\.epochs"),
    "a rate of zero": ({**PLAIN, "schedule": {"learning_rate": 0}}, r"schedule\.learning_rate"),
    "a seed below zero": ({**PLAIN, "seeds": {"order": -1}}, r"seeds\.order"),
    "a seed beyond bounds": ({**PLAIN, "seeds": {"data": 2**64}}, r"seeds"),
    "room for no pair": ({**PLAIN, "classify": {"longest": 2}}, r"classify\.longest"),
    "too large a share": (
        {**PLAIN, "data": {"train": {}, "parts": {"dev": {"by": "item", "share": 1.5}}}},
        "share|parts",
    ),
    "a list": (["kind"], "named sections"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_with_a_remedy(tmp_path, what):
    content, said = WRONG[what]
    with pytest.raises(GnomonError, match=said) as caught:
        load_recipe(written(tmp_path, content))
    assert caught.value.hint


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        load_recipe(tmp_path / "none.yaml")


def test_an_unknown_name_is_answered_with_the_names_there_are():
    with pytest.raises(UsageError, match="no recipe named 'nothing-like-it'"):
        load_recipe("nothing-like-it")


@pytest.mark.parametrize("name", built_in_recipes())
def test_built_in_recipes_are_right_as_they_stand(name):
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.note, "the card begins with it"


def test_there_are_built_in_recipes():
    assert "few-shot" in built_in_recipes()


CHANGES = {
    "schedule.epochs=5": ("schedule", "epochs", 5),
    "schedule.learning-rate=1.0e-3": ("schedule", "learning_rate", 1e-3),
    "classify.labels=[a, b]": ("classify", "labels", ["a", "b"]),
    "seeds.data=": ("seeds", "data", None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_sets_one_field_and_no_other(change):
    section, field, value = CHANGES[change]
    before = {"schedule": {"batch": 2}, "kind": "classify"}
    after = changed(before, change)
    assert after[section][field] == value
    assert after["kind"] == "classify"
    assert after["schedule"]["batch"] == 2
    assert before == {"schedule": {"batch": 2}, "kind": "classify"}


@pytest.mark.parametrize("change", ["epochs", "=5", "kind.epochs=5"])
def test_a_change_that_names_no_field_is_refused(change):
    with pytest.raises(UsageError, match=r"KEY=VALUE|names a field"):
        changed({"kind": "classify"}, change)


def test_a_rate_written_as_people_write_it_is_a_number(tmp_path):
    """YAML takes 1e-3, without a point, for a text."""
    recipe = load_recipe(written(tmp_path, PLAIN), ["schedule.learning_rate=1e-3"])
    assert recipe.schedule.learning_rate == 1e-3
