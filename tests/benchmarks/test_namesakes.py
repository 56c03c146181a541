"""Families of names: what shares a word is held out together, so that spelling gives nothing away."""

from itertools import combinations

import pytest

from gnomon import load
from gnomon.benchmarks.objects import Namesakes, everyday_namesakes, everyday_things, words_of
from gnomon.files import package_data, read_yaml

COMPOUNDS = read_yaml(package_data("compounds.yaml"))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("strawberry", "blueberry"),
        ("sailboat", "tugboat"),
        ("grain of sand", "grain of rice"),
        ("golf ball", "volleyball"),
    ],
)
def test_things_that_share_a_word_or_a_head_are_one_family(one: str, two: str):
    kin = everyday_namesakes()
    assert kin.family(one) == kin.family(two)


def test_no_two_families_of_the_lexicon_share_a_word():
    kin = everyday_namesakes()
    words: dict[str, set[str]] = {}
    for name in everyday_things():
        words.setdefault(kin.family(name), set()).update(words_of(name))
    assert len(words) > 350
    shared = [pair for pair in combinations(words, 2) if words[pair[0]] & words[pair[1]]]
    assert shared == []


def test_a_name_of_nobody_is_a_family_of_its_own_and_a_subtype_belongs_to_its_noun():
    kin = Namesakes(["police car", "police station"])
    assert kin.family("toy car") == kin.family("police station") == "police"
    assert kin.family("blicket") == "blicket"


def test_every_compound_ends_in_its_head():
    listed = [(head, word) for head, words in COMPOUNDS.items() for word in words]
    assert len(listed) > 100
    assert [word for head, word in listed if not word.endswith(head) or word == head] == []


@pytest.mark.parametrize("name", ["scales", "viphy-size", "viphy-size-subtype", "viphy-spatial"])
def test_things_with_a_word_in_common_have_the_same_type(name: str):
    types: dict[str, set[str]] = {}
    for item in load(name).items():
        for side in "ab":
            last = words_of(item.tags[f"obj_{side}"])[-1]
            types.setdefault(last, set()).add(item.tags[f"type_{side}"])
    assert len(types) > 80
    assert [word for word, found in types.items() if len(found) > 1] == []
