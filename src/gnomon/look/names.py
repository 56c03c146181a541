"""Names of regions: from their captions, or as annotations give them; and which names are kept.

Section 2.1 of the ViPhy paper: names occur at least five times, have at most three words, no colour
and no misspelt word among them. A region whose name is too rare goes by the last words of it that
are not: "kids tennis racket" by "tennis racket", or by "racket".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from gnomon.look.captions import Name, Tagger, names_in, naming_data, words_of
from gnomon.look.records import AnnotatedPicture, Region

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


class WordReader(Protocol):
    """Whoever knows the kinds of words."""

    def classes(self, phrases: Sequence[Sequence[str]]) -> list[str]:
        """A letter for each word of each phrase."""
        ...


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

    def __init__(self, reader: WordReader, singular: Singulars) -> None:
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
