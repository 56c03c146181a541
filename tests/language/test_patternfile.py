"""Pattern files: what families share, and what is wrong with a bad file, with its line."""

import re

import pytest

from gnomon.errors import DataError
from gnomon.language.patternfile import parse_bank, read_bank


def test_a_family_gives_its_patterns_what_they_lack(bank):
    first, second, sight = bank.patterns
    assert first.kind == second.kind == "non-projective"
    assert [slot.name for slot in first.slots] == ["X", "Y", "Z"]
    assert len(first.conditions) == 2
    assert (first.siblings, second.siblings, sight.siblings) == (
        ("chain-2",),
        ("chain-1",),
        ("chain-1",),
    )
    assert (first.line, first.file) == (8, "small.yaml")


def test_slots_and_conditions_of_the_family_that_a_pattern_does_not_use_are_left_out(
    world_text, patterns_text
):
    text = patterns_text.replace(
        'hypothesis: "{X} {X:is} in {Y}"', 'hypothesis: "{X} {X:is} near {Z}"'
    )
    second = parse_bank(text, world_text).patterns[1]
    assert [slot.name for slot in second.slots] == ["X", "Z"]
    assert second.conditions == ()


def test_negation_is_the_word_not(world_text, patterns_text):
    text = patterns_text.replace("saw {a Y}", "did not see {a Y}").replace(
        "{Y:was} in", "{Y:wasn't} in"
    )
    assert [pattern.negated for pattern in parse_bank(text, world_text).patterns] == [
        False,
        False,
        True,
    ]


REPLACED = [
    ("label: neutral", "label: maybe", "the label cannot be 'maybe'"),
    ("class: argument orientation", "class: temporal", "the class cannot be 'temporal'"),
    ("id: chain-2", "id: chain-1", "given twice, first in small.yaml:8"),
    ("id: chain-2", "id: chain 2", "cannot be an id"),
    ("        label: neutral\n", "", "has no 'label'"),
    ("label: neutral", "label: neutral\n        colour: red", "has no key 'colour'"),
    ("label: neutral", "label: neutral\n        lable: red", "Did you mean label"),
    ('{X:is} in {Y}"\n', '{X:is} in {Q}"\n', "the slot 'Q' is not declared"),
    ("Z: furniture", "Z: furnitures", "there is no class 'furnitures' (did you mean furniture?)"),
    ("Z: furniture", "Z: toy & box", "the set is empty"),
    ("Z: tall", "Z: tall, W: toy", "no sentence uses the slot 'W'"),
    ("Z: tall", "zz: tall", "cannot be the name of a slot"),
    ("inside(X, Y)", "inside(X)", "takes 2 slots, not 1"),
    ("inside(X, Y)", "insid(X, Y)", "there is no relation 'insid' (did you mean inside?)"),
    ("inside(X, Y)", "inside(X, W)", "there is no slot 'W'"),
    ("sees(X, Y)", "sees(X, M)", "filled by words"),
    ("sees(X, Y)", "M = {tomorrow}", "is not among the words"),
    ("size(Y) <= size(Z)", "size(Y) <= huge", "is not a level of size"),
    ("size(Y) <= size(Z)", "weight(Y) <= weight(Z)", "there is no scale 'weight'"),
    ("size(Y) <= size(Z)", "__import__('os').system('true')", "cannot be read"),
    ("sibling: chain-1", "sibling: chain-9", "does not exist"),
    ("sibling: chain-1", "sibling: sight", "has the same label"),
    ("expressions: [behind, in front of]", "expressions: [behind, behind]", "given twice"),
    ("{X: ball, Y: crate, Z: wardrobe}", "{X: ball, Y: crate}", "does not fill Z"),
    ("{X: ball, Y: crate, Z: wardrobe}", "[One sentence]", "has 1 sentences, the pattern 3"),
    (
        'hypothesis: "{X} {X:is} in {Y}"',
        'hypothesis: "{X} {X:is} in {Z}"',
        "the hypothesis is also a premise",
    ),
    ('premises: ["{X} {X:is} in {Z}"]', "premises: []", "0 premises"),
    (
        'premises: ["{X} {X:is} in {Z}"]',
        'premises: ["a {X}", "b {X}", "c {X}", "d {X}", "e {X}", "f {X}"]',
        "6 premises",
    ),
    ('words: [today, ""]', "words: []", "missing, too many or repeated"),
    ('words: [today, ""]', "words: [today, today]", "missing, too many or repeated"),
    ("{Y:was} in front", "{Y:walks} in front", "plural of 'walks' is not known"),
    ("families:", "family:", "has no key 'family'"),
]


@pytest.mark.parametrize(("old", "new", "says"), REPLACED, ids=[says for _, _, says in REPLACED])
def test_what_is_wrong_and_where(world_text, patterns_text, old, new, says):
    assert old in patterns_text
    with pytest.raises(DataError, match=re.escape(says)) as caught:
        parse_bank(patterns_text.replace(old, new), world_text, "small.yaml")
    assert caught.value.line > 0
    assert str(caught.value).startswith("small.yaml:")


def test_a_file_adds_to_the_mini_world(world_text, patterns_text):
    bank = parse_bank(patterns_text + "world: {entities: {toy: [kite]}}\n", world_text)
    kite = bank.world.numbers["kite"]
    assert kite in bank.patterns[0].slots[0].domain


def test_a_folder_is_read_in_the_order_of_its_files(tmp_path, world_text, patterns_text):
    first, second = patterns_text.split("patterns:\n  - id: sight")
    (tmp_path / "world.yml").write_text(world_text)
    (tmp_path / "b.yaml").write_text("patterns:\n  - id: sight" + second)
    (tmp_path / "a.yaml").write_text(first)
    bank = read_bank(tmp_path, world=tmp_path / "world.yml")
    assert [pattern.id for pattern in bank.patterns] == ["chain-1", "chain-2", "sight"]


def test_an_empty_folder_and_an_empty_file_are_clear_errors(tmp_path, world_text):
    with pytest.raises(DataError, match=r"no \.yaml file"):
        read_bank(tmp_path)
    with pytest.raises(DataError, match="no patterns"):
        parse_bank("", world_text)
    with pytest.raises(DataError, match="published source"):
        read_bank(tmp_path / "problem_patterns.xml")
    with pytest.raises(DataError, match="no such file"):
        read_bank(tmp_path / "absent.yaml")
