"""Names from captions and annotations: which words make them, and which are kept."""

import pytest

from gnomon.look.lexicon import Lexicon, Teacher, taught
from gnomon.look.names import KeptReader, Namer, Singulars, kept_names
from gnomon.look.records import AnnotatedPicture, Picture, Region
from gnomon.look.store import Store
from gnomon.look.tagging import NEEDED, Tagger
from gnomon.look.wording import Name, names_in, words_of
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


def test_a_word_that_is_always_of_one_kind_is_taught_with_a_few_phrases():
    reader = Reader(cup="N", a="M")
    table = taught([["a", "cup"], ["cup"]] * 500, reader, least=5)
    assert len(reader.asked) <= 10
    assert table.classes(["a", "cup"]) == ["M", "N"]


class ByNeighbour:
    """Takes a watch for a noun behind an article, and for a verb elsewhere."""

    def classes(self, phrases):
        found = []
        for words in phrases:
            letters = ""
            for place, word in enumerate(words):
                behind_article = place > 0 and words[place - 1] == "a"
                kind = {"a": "M", "they": "O"}.get(word)
                letters += kind or ("N" if behind_article else "O")
            found.append(letters)
        return found


def test_a_word_whose_kind_depends_on_its_neighbours_is_taught_between_them():
    table = taught([["a", "watch"], ["they", "watch"]] * 200, ByNeighbour(), least=5)
    assert table.alone["watch"] == ""
    assert table.classes(["a", "watch"]) == ["M", "N"]
    assert table.classes(["they", "watch"]) == ["O", "O"]


def test_what_the_table_is_not_sure_of_is_asked():
    table = Lexicon({"watch": ""}, {"watch": "N"}, {})
    assert table.classes(["watch"]) is None
    reader = Reader(watch="N")
    namer = Namer(table, reader, Singulars(None))
    region = Region(id="1", picture="1", box=WHOLE, phrase="watch")
    named = namer.name([scene(region, region)])
    assert reader.asked == [("watch",)]
    assert named.counts == {"watch": 2}
    assert [each.name for each in named.scenes[0].regions] == ["watch", "watch"]


def test_rare_words_are_not_taught_and_make_no_names():
    reader = Reader(cup="N", blck="N")
    table = taught([["cup"]] * 9 + [["blck", "cup"]], reader, least=5)
    assert names_in(["blck", "cup"], table.classes(["blck", "cup"]), str) == [Name("cup")]


def test_the_same_captions_teach_the_same_table():
    phrases = [["a", "watch"], ["they", "watch"], ["cup", "watch"]] * 50
    tables = [taught(phrases, ByNeighbour(), least=5).digest() for _ in range(2)]
    assert tables[0] == tables[1]
    assert tables[0] != taught(phrases[:9], ByNeighbour(), least=5).digest()


def test_with_few_captions_every_word_may_count():
    assert taught([["cup"]], Reader(cup="N"), least=1).classes(["cup"]) == ["N"]


def test_answers_are_kept(tmp_path):
    store = Store(tmp_path)
    for _ in range(2):
        reader = Reader(cup="N")
        assert KeptReader(reader, store).classes([["cup"]]) == ["N"]
    assert reader.asked == []
    store.close()


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
    namer = Namer(Lexicon({}, {}, {}), Reader(), Singulars(tagger))
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


def test_a_teacher_that_was_told_nothing_asks_nothing():
    reader = Reader()
    assert Teacher(reader, 5).lexicon().classes(["cup"]) == ["O"]
    assert reader.asked == []
