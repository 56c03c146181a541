"""Kinds of words without asking: most words of captions are nearly always of one kind.

spaCy reads some thousand phrases a second; a table reads hundreds of thousands. So spaCy teaches
the table on phrases of the very captions that are to be read: a few for each word, and more for
words whose kind depends on their neighbours. What the table is not sure of, spaCy is asked. Words
rarer than a name must be are not taught: no name with one of them can be kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple, Protocol

from gnomon.look.wording import NOUN, OTHER, sure_kinds

WORD_LESSONS = 8  # phrases that teach a word
PLACE_LESSONS = 6  # phrases that teach a word between two neighbours
ALONE = 0.95  # share of its lessons that a word needs to be of one kind anywhere
BETWEEN = 0.55  # the same between two neighbours
BEHIND = 0.8  # the same behind one neighbour, or anywhere, where the place was not taught
LEAST_LESSONS = 2
CLASS_OF_STRANGERS = OTHER  # rare words: part of no name that could be kept
START, END, ANY = "^", "$", "*"
LESSON = 512  # phrases that are taught at a time

Around = tuple[str, str, str]  # the kind of the word before, the word, the usual kind of the next


class Reads(Protocol):
    """Whoever knows the kinds of words."""

    def classes(self, phrases: Sequence[Sequence[str]]) -> list[str]:
        """A letter for each word of each phrase."""
        ...


class Lexicon(NamedTuple):
    """What was taught: kinds of words alone (empty if they vary), and between neighbours."""

    alone: dict[str, str]
    usual: dict[str, str]
    around: dict[Around, str]

    def classes(self, words: Sequence[str]) -> Sequence[str] | None:
        """A letter for each word, or none if a word's kind is not sure here.

        >>> table = Lexicon({"a": "M", "watch": ""}, {"a": "M", "watch": "N"},
        ...                 {("M", "watch", "$"): "N"})
        >>> table.classes(["a", "watch"]), table.classes(["watch", "a"])
        (['M', 'N'], None)
        """
        alone = self.alone
        found = [alone.get(word, CLASS_OF_STRANGERS) for word in words]
        if "" not in found:
            return found
        for place, known in enumerate(found):
            if known:
                continue
            kind = self._kind_between(self.around_word(words, found, place))
            if not kind:
                return None
            found[place] = kind
        return found

    def _kind_between(self, around: Around) -> str:
        """The kind of a word between its neighbours, or behind the one before it, or anywhere."""
        kind = self.around.get(around)
        if kind is None:
            before, word, _ = around
            kind = self.around.get((before, word, ANY))
        if kind is None:
            kind = self.around.get((ANY, word, ANY), "")
        return kind

    def around_word(self, words: Sequence[str], classes: Sequence[str], place: int) -> Around:
        """What a word's kind may depend on: the kinds of its neighbours."""
        before = classes[place - 1] if place else START
        after = END
        if place + 1 < len(words):
            after = self.usual.get(words[place + 1], CLASS_OF_STRANGERS)
        return before, words[place], after

    def digest(self) -> bytes:
        """What identifies the table."""
        from gnomon.look.store import key_of

        around = [(*key, kind) for key, kind in self.around.items()]
        return key_of("lexicon", sorted(self.alone.items()), sorted(around))


class Teacher:
    """Takes in all phrases, and has some of them read; then `lexicon` knows the rest.

    The same phrases in the same order give the same table.
    """

    def __init__(self, reader: Reads, least: int) -> None:
        self.taught = 0
        self._reader = reader
        self._least = least
        self._seen: Counter[str] = Counter()
        self._lessons: Counter[str] = Counter()
        self._place_lessons: Counter[Around] = Counter()
        self._waiting: Counter[tuple[str, ...]] = Counter()
        self._kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._places: defaultdict[Around, Counter[str]] = defaultdict(Counter)
        self._table = Lexicon(dict(sure_kinds()), dict(sure_kinds()), {})

    def read(self, words: Sequence[str]) -> None:
        """Take in a phrase; if there is something to learn from it, it will be a lesson."""
        seen = self._seen
        seen.update(words)
        if self._is_lesson(words):
            self._waiting[tuple(words)] += 1
            if len(self._waiting) >= LESSON:
                self._teach()

    def _is_lesson(self, words: Sequence[str]) -> bool:
        alone, seen, lessons = self._table.alone, self._seen, self._lessons
        wanted = False
        sure = True
        for word in words:
            kind = alone.get(word)
            if kind:
                continue
            sure = sure and kind is None
            if seen[word] >= self._least and lessons[word] < WORD_LESSONS:
                wanted = True
        if wanted:
            lessons.update(words)
        elif not sure:
            wanted = self._is_new_place(words)
        return wanted

    def _is_new_place(self, words: Sequence[str]) -> bool:
        """Whether a word that varies stands between neighbours that are still to be taught."""
        table = self._table
        found = [table.alone.get(word, CLASS_OF_STRANGERS) for word in words]
        for place, known in enumerate(found):
            if known:
                continue
            around = table.around_word(words, found, place)
            found[place] = table.around.get(around) or table.usual.get(words[place], NOUN)
            if around not in table.around and self._place_lessons[around] < PLACE_LESSONS:
                self._place_lessons[around] += 1
                return True
        return False

    def _teach(self) -> None:
        times = self._waiting
        self._waiting = Counter()
        phrases = list(times)
        self.taught += len(phrases)
        table = self._table
        lessons = list(zip(phrases, self._reader.classes(phrases), strict=True))
        for words, classes in lessons:
            for word, kind in zip(words, classes, strict=True):
                self._kinds[word][kind] += times[words]
        for word in dict.fromkeys(chain.from_iterable(phrases)):
            self._settle(word)
        for words, classes in lessons:
            for place, word in enumerate(words):
                if not table.alone.get(word):
                    around = table.around_word(words, classes, place)
                    behind, anywhere = (around[0], word, ANY), (ANY, word, ANY)
                    for key in (around, behind, anywhere):
                        self._places[key][classes[place]] += times[words]
                    self._settle_place(around, BETWEEN)
                    self._settle_place(behind, BEHIND)
                    self._settle_place(anywhere, BEHIND)

    def _settle(self, word: str) -> None:
        if self._seen[word] < self._least or word in sure_kinds():
            return
        kinds = self._kinds[word]
        kind, count = kinds.most_common(1)[0]
        total = kinds.total()
        self._table.usual[word] = kind
        is_sure = total >= min(LEAST_LESSONS, self._least) and count >= ALONE * total
        self._table.alone[word] = kind if is_sure else ""

    def _settle_place(self, around: Around, share: float) -> None:
        kinds = self._places[around]
        kind, count = kinds.most_common(1)[0]
        total = kinds.total()
        is_exhausted = share == BETWEEN and total >= PLACE_LESSONS  # more lessons would not decide
        if total >= LEAST_LESSONS and (is_exhausted or count >= share * total):
            self._table.around[around] = kind
        else:
            self._table.around.pop(around, None)

    def lexicon(self) -> Lexicon:
        """The table, once all phrases were taken in."""
        if self._waiting:
            self._teach()
        for word in self._kinds:  # some have become frequent enough since their last lesson
            self._settle(word)
        return self._table


def taught(phrases: Iterable[Sequence[str]], reader: Reads, least: int) -> Lexicon:
    """The table that some phrases give.

    >>> class Nouns:
    ...     def classes(self, phrases):
    ...         return ["N" * len(words) for words in phrases]
    >>> taught([["cup"]] * 9, Nouns(), least=5).classes(["cup"])
    ['N']
    """
    teacher = Teacher(reader, least)
    for words in phrases:
        teacher.read(words)
    return teacher.lexicon()
