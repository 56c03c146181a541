"""Names from captions and annotations: which words make them, and which are kept."""

import pytest

from gnomon.look.captions import (
    NEEDED,
    Name,
    Namer,
    Singulars,
    Tagger,
    kept_names,
    names_in,
    words_of,
)
from gnomon.look.records import AnnotatedPicture, Picture, Region
from gnomon.vision.detection import Box

WHOLE = Box(0, 0, 1, 1)


@pytest.fixture(scope="module")
def tagger():
    for package in NEEDED:
        pytest.importorskip(package)
    found = Tagger()
    yield found
    found.close()


def scene(*regions):
    return AnnotatedPicture(picture=Picture(id="1"), regions=regions)


@pytest.mark.parametrize(
    ("phrase", "names"),
    [
        ("the front of the red bus", [Name("bus front", "bus")]),
        ("a bunch of bananas", [Name("banana bunch", "banana")]),
        ("woman has long brown hair", [Name("woman hair", "woman")]),
        ("a man's hat", [Name("hat"), Name("man")]),
        ("the tennis players", [Name("tennis player")]),
        ("two people standing on the beach", [Name("person"), Name("beach")]),
        ("cars, trucks and buses.", [Name("car"), Name("truck"), Name("bus")]),
        ("a dog in front of the house", [Name("dog"), Name("house")]),
        ("an orange cat", [Name("cat")]),
        ("an orange", [Name("orange")]),
        ("A light on the wall", [Name("light"), Name("wall")]),
        ("man in blue jeans", [Name("man"), Name("jeans")]),
        ("a tree in the background", [Name("tree")]),
        ("...", []),
        ("", []),
    ],
)
def test_names_are_runs_of_nouns_in_the_singular(tagger, phrase, names):
    words = words_of(phrase)
    (classes,) = tagger.classes([words]) if words else ("",)
    assert names_in(words, classes, Singulars(tagger)) == names


def test_what_is_no_ascii_is_read_too():
    assert words_of("Das Café’s NAÏVE\u2028tür") == ["das", "café", "'s", "naïve", "tür"]


class Reader:
    """Knows the kinds of words from a list, and counts what it was asked."""

    def __init__(self, **kinds):
        self.kinds = kinds
        self.asked = []

    def classes(self, phrases):
        self.asked += [tuple(words) for words in phrases]
        return ["".join(self.kinds.get(word, "O") for word in words) for words in phrases]


def test_a_caption_is_read_once():
    reader = Reader(watch="N")
    namer = Namer(reader, Singulars(None))
    region = Region(id="1", picture="1", box=WHOLE, phrase="watch")
    for _ in range(2):
        named = namer.name([scene(region, region)])
        assert named.counts == {"watch": 2}
        assert [each.name for each in named.scenes[0].regions] == ["watch", "watch"]
    assert reader.asked == [("watch",)]


@pytest.mark.parametrize(
    ("given", "whole", "name"),
    [
        ("Trees", "", "tree"),
        ("dining tables", "", "dining table"),
        ("scissors", "", "scissors"),
        ("door", "cabinet", "cabinet door"),
        ("people", "", "person"),
        ("glass", "", "glass"),
    ],
)
def test_names_that_annotations_give_take_the_same_form(tagger, given, whole, name):
    namer = Namer(Reader(), Singulars(tagger))
    region = Region(id="1", picture="1", box=WHOLE, name=given, whole=whole)
    named = namer.name([scene(region)])
    assert [each.name for each in named.scenes[0].regions] == [name]
    assert named.counts == {name: 1}


def test_names_that_are_rare_long_coloured_or_misspelt_are_left_out():
    known = dict.fromkeys("cup tea red kitchen table of big frisbee".split(), True) | {
        "frisbee": False
    }
    counts = {
        "cup": 9,
        "tea cup": 4,
        "red cup": 9,
        "big kitchen table cup": 9,
        "cpu": 49,
        "frisbee": 50,
        "x": 99,
    }
    assert kept_names(counts, known, least=5) == {"frisbee": 50, "cup": 9}
