"""Where a text names the labels: the words of each choice, and the letters of multiple choice."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from string import ascii_lowercase

from gnomon.lexicon.relations import Words, any_of, further_words, phrase, reply_words
from gnomon.models.reading.assertion import (
    EITHER,
    NO_QUESTION,
    POSSIBLE,
    Aboutness,
    ItemQuestion,
    Mention,
    asserted,
    shared_ground,
)
from gnomon.models.reading.claims import (
    OptionFrame,
    PlainComparison,
    ThingComparison,
    option_frame,
    ordinal_names,
)

_EDGE = r"""[\s.,;:!?"'()\[\]{}-]*"""
_BLANK = re.compile(r"[\s_-]+")
_ENDS = re.compile(rf"^{_EDGE}|{_EDGE}$")
_EDGES = re.compile(_EDGE)
_LETTER_NAME = re.compile(rf"{_EDGE}(?:option |choice |answer |letter )?[a-z]?{_EDGE}")
_TRUTH = (
    ("true", "false"),
    ("yes", "no"),
    ("correct", "incorrect"),
    ("right", "wrong"),
    ("possible", "impossible"),
)
LONGEST_SHORT = 60  # characters of a reply that is no more than a verb, or a word without spaces
SHORTEST_MISSPELT = 4  # letters of a word that is a choice with a slip of the pen
_INITIALS = {"y": "yes", "n": "no"}
_WEAK_ALWAYS = frozenset({"no", "yes"})
MOST = 200  # labels that are looked at in a segment, from its end: a hostile reply has thousands
Table = dict[str, frozenset[int]]


class ChoiceVocabulary:
    """The words of all choices, compiled; `question` says of which two things they are said."""

    def __init__(
        self,
        words: Sequence[Sequence[str]],
        letters: bool,
        question: ItemQuestion = NO_QUESTION,
        opposite: Mapping[str, int] | None = None,
    ) -> None:
        asked_things = question.asked not in ("", POSSIBLE, EITHER)
        own, own_letters = _own_words(words, question)
        known = reply_words()
        strong = _synonyms(own, known.strong)
        if question.asked == POSSIBLE:
            own = _with_possibility(own)
        plain = [group | {phrase("of_behind").sub("", word) for word in group} for group in own]
        weak = {**_synonyms(plain, known.elsewhere), **_synonyms(own, known.weak)}
        self._unspaced = _without_spaces(weak)
        frame = option_frame([group[-1] if group else "" for group in words])
        self.own = own
        ordinals = ordinal_names(own)
        of_two_things = question.subject and question.object and question.asked != EITHER
        self._ordinals = _by_word(ordinals.named)
        if not of_two_things:
            self._ordinals |= _by_word(ordinals.bare)
        named = [frame.names.get(place, set()) for place in range(len(own))]
        if asked_things:
            named = list(map(set.union, named, map(_plurals, own)))
        if asked_things or frame.names:
            named = list(map(set.union, named, ordinals.things))
        further = {**_not_taken(ordinals.named, own), **_not_taken(named, own)}
        self._table: Table = {**further, **_by_word(own), **weak, **strong}
        self._weak = (weak.keys() - strong.keys()) | _WEAK_ALWAYS
        self._longest = 5 * max(map(len, self._table), default=0) + 40
        self._pattern = _any_word(self._table)
        is_exclusive = asked_things or question.asked == EITHER
        self._opposite = opposite or {}
        if opposite is None and len(words) == 2:
            self._opposite = _opposites(self._table)
            if not self._opposite and (is_exclusive or _exclusive(own, frame)):
                self._opposite = _others(self._table)
        self._letters = own_letters
        if letters and not own_letters:
            self._letters = dict(zip(ascii_lowercase, range(len(words)), strict=False))
        self._letters = _agreed_letters(self._letters, frame)
        self._before_word, self._behind_word = _labelled(self._letters, self._table)
        self._in_prose, self._anywhere = _letter_patterns(self._letters, bool(frame.letters))
        self.framed = bool(frame.names)
        self._compared: ThingComparison | None = None
        asked = question.asked if asked_things else frame.asked
        self.by_degree = bool(asked)
        if asked or frame.names:
            things = frozenset(frame.names or range(len(words)))
            self._compared = ThingComparison(asked, things, len(words))
        self.plain = PlainComparison({asked, question.relation, *chain(*plain)} - {""})
        self._about = Aboutness(NO_QUESTION if question.relation else question)
        self._converse = _converses(own)
        self.undetermined: int | None = None  # the choice that says that nothing follows
        for place, group in enumerate(own):
            if self.undetermined is None and group & known.undetermined:
                self.undetermined = place

    def place_of(self, word: str) -> int | None:
        """The one choice that a word stands for."""
        places = self._table.get(word, frozenset())
        if len(places) != 1:
            return None
        (place,) = places
        return place

    def names_a_thing(self, sentence: str, *, pointed: bool) -> bool:
        """Whether a sentence names one of the two things of the question, or points at one."""
        return self._about.names(sentence, pointed=pointed)

    def asserted(self, segment: str, *, prose: bool) -> set[int]:
        """The choices that a segment asserts; in prose a letter must look like an option."""
        found: set[int] = set()
        mentions = self._mentions(segment)
        for mention in mentions:
            found |= self._claimed(segment, mention)
        for letter in self._letter_mentions(segment, prose=prose):
            if not any(word.start <= letter.start < word.end for word in mentions):
                found |= self._claimed(segment, letter)  # not "b" of "point b"
        return found

    def _claimed(self, segment: str, mention: Mention) -> frozenset[int]:
        """What a mention says to the question: by a degree, or by asserting its label."""
        if len(self.own) > 2 and _is_compound(segment, mention):
            return frozenset()  # "upper left", where left and above are two choices
        if self._compared:
            claim = self._compared.claimed(segment, mention, self.names_an_option)
            if claim is not None:
                return claim
        return self._said_of_the_question(segment, mention)

    def named(self, text: str) -> set[int]:
        """The options that a text names, by a word or a letter."""
        found: set[int] = set()
        for mention in (*self._mentions(text), *self._letter_mentions(text, prose=True)):
            found |= mention.choices
        return found

    def decided(self, segment: str, *, prose: bool) -> set[int]:
        """The choices that a segment asserts; else all that it names together: "(a) or (b)"."""
        found = self.asserted(segment, prose=prose)
        if found or not self.framed:
            return found
        named = self.named(segment)
        return named if len(named) > 1 else set()

    def names_an_option(self, text: str) -> bool:
        """Whether a text names an option."""
        return bool(self.named(text))

    def alone(self, segment: str) -> set[int]:
        """The choices of those lines of a segment that are a label and nothing else."""
        found: set[int] = set()
        for line in segment.split(" \n "):
            found |= self._alone(line)
        return found

    def whole(self, reply: str) -> set[int]:
        """The choice of words that answer only as a whole reply: "Not A.", "The first"."""
        written = _ENDS.sub("", reply)
        if len(written) > LONGEST_SHORT:
            return self._begun(written)
        bare = phrase("says_it").sub("", written)
        found = (
            self._spelled(bare)
            or set(self._ordinals.get(bare.removeprefix("the "), ()))
            or self._begun(bare)
        )
        if found:
            return found
        denied = phrase("denied_letter").fullmatch(bare)
        letter = denied and (denied[1] or denied[2])
        if letter in self._letters and len(self.own) == 2:
            return {1 - self._letters[letter]}
        said = phrase("not_but").sub("", bare)
        if phrase("unspaced_script").match(said) and not phrase("unspaced_not").search(said):
            for word, places in self._unspaced.items():
                if word in said:
                    found |= places
        if len(found) == 1:
            return found
        return self._alone(said) if said != written else set()

    def _begun(self, bare: str) -> set[int]:
        """The choice that a reply of several words begins and does not finish: "A is"."""
        if " " not in bare:
            return set()
        return {place for place, words in enumerate(self.own) if _begins_with(words, bare)}

    def _spelled(self, bare: str) -> set[int]:
        """The choice that one word stands for, as its initial or with one letter astray."""
        if bare in _INITIALS and not self._letters:
            return set(self._table.get(_INITIALS[bare], ()))
        if not bare.isalpha() or bare in self._table or len(bare) < SHORTEST_MISSPELT:
            return set()
        own = {word: place for place, group in enumerate(self.own) for word in group}
        return {own[word] for word in own if _misspells(bare, word)}

    def mislabels(self, text: str) -> set[int]:
        """The options of letters that stand beside the text of another one: "B. in front of"."""
        found: set[int] = set()
        if not self._letters:
            return found
        labels = list(self._before_word.finditer(text))
        if " (" in text:
            labels += self._behind_word.finditer(text)
        for match in labels:
            letter = match["letter"]
            word = _BLANK.sub(" ", match["word"])
            meant = self._table.get(word, frozenset()) | {self._letters[letter]}
            if len(meant) > 1:
                found |= meant
        return found

    def ticked(self, text: str) -> set[int]:
        """The options of lines that end in a tick, if those that end in a cross are others."""
        ticked, crossed = set[int](), set[int]()
        for line in phrase("questioned").sub(r"\1 \2\n", text).splitlines():
            mark = phrase("tick").search(line)
            if mark:
                marked = ticked if mark["yes"] or mark["box"] else crossed
                marked |= self.named(line[: mark.start()] + line[mark.end() :])
                marked |= {place for each in self._listed_letters(line) for place in each.choices}
        return ticked - crossed if crossed else set()

    def likeliest(self, text: str) -> set[int]:
        """The options with the highest of several percentages: "Left: 20%, right: 80%"."""
        shares: dict[int, float] = {}
        for mention in self._mentions(text) or self._listed_letters(text):
            share = phrase("share_behind").match(text, mention.end)
            if share and len(mention.choices) == 1:
                (place,) = mention.choices
                shares[place] = float(share[1])
        if len(shares) < 2:
            return set()
        highest = max(shares.values())
        return {place for place, share in shares.items() if share == highest}

    def opens_with_list(self, sentence: str) -> bool:
        """Whether a sentence begins with several labels in a row: "A, B and C are possible"."""
        mentions = self._mentions(sentence)
        if not mentions or sentence[: mentions[0].start].strip():
            mentions = self._listed_letters(sentence)
        named: set[int] = set()
        end = 0
        for mention in mentions:
            if not phrase("list_gap").fullmatch(sentence, end, mention.start):
                break
            named |= mention.choices
            end = mention.end
        return len(named) > 1

    def _said_of_the_question(self, segment: str, mention: Mention) -> frozenset[int]:
        """What a mention asserts of the question's subject: it may be said of its object."""
        found = asserted(segment, mention, self._opposite)
        if not found or not self._about.known:
            return found
        about = self._about.of(segment, mention.start, mention.end)
        if about == "other":
            return frozenset()
        if about != "object":
            return found
        if found != mention.choices:
            return frozenset()  # "an apple is not larger" says little of the bee
        return frozenset(self._converse[place] for place in found if place in self._converse)

    def _alone(self, line: str) -> set[int]:
        if len(line) > self._longest:
            return set()
        if self._letters and "not" in line:
            line = phrase("letter_denied_beside").sub("", line)  # "Not A, B."
        mentions = self._mentions(line)
        rest = line
        for mention in reversed(mentions):
            rest = rest[: mention.start] + rest[mention.end :]
        if not _LETTER_NAME.fullmatch(rest):
            return set()
        found: set[int] = set()
        for letter in self._letter_mentions(line, prose=False):
            found |= asserted(line, letter, self._opposite)
        if not found and not _EDGES.fullmatch(rest):
            return set()
        for mention in mentions:
            if not mention.weak and phrase("no_before").search(line[: mention.start]):
                return set()  # "no contradiction"
            found |= mention.choices
        return found

    def _mentions(self, segment: str) -> list[Mention]:
        """Each word of a choice, where it stands."""
        found = []
        for match in list(self._pattern.finditer(segment))[-MOST:]:
            word = _BLANK.sub(" ", match[0])
            choices = self._table.get(word) or self._table.get(match[0])
            if choices:
                weak = word in self._weak
                found.append(Mention(choices, word, match.start(), match.end(), weak))
        return found

    def _letter_mentions(self, segment: str, *, prose: bool) -> list[Mention]:
        if not self._letters:
            return []
        matches = list(self._in_prose.finditer(segment))
        if not prose:
            matches += self._anywhere.finditer(segment)
        return [self._letter(match) for match in matches[-MOST:]]

    def _listed_letters(self, segment: str) -> list[Mention]:
        """Letters as they stand in a list, whatever follows the last of them."""
        if not self._letters:
            return []
        pattern = re.compile(rf"(?<![\w'])([{''.join(self._letters)}])(?![\w'])")
        return [self._letter(match) for match in pattern.finditer(segment)]

    def _letter(self, match: re.Match[str]) -> Mention:
        letter = match[match.lastindex or 1]
        choices = frozenset({self._letters[letter]})
        return Mention(choices, letter, match.start(), match.end())


def without_letters(words: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """The words of options without the letters that all of them are listed with: "B. behind"."""
    plain = []
    for letter, group in zip(ascii_lowercase, words, strict=False):
        marks = (f"{letter}. ", f"{letter}) ", f"({letter}) ", f"{letter}: ")
        if len(group) != 1 or not group[0].startswith(marks):
            return words
        plain.append([group[0].split(" ", 1)[1]])
    return plain if len(plain) == len(words) else words


def _labelled(letters: Mapping[str, int], table: Table) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Where a letter stands before or behind the text of an option."""
    some = "".join(letters) or "-"
    words = _any_word(table).pattern
    before = (
        rf"(?<![\w'])(?P<letter>[{some}])(?:[.):\]]{{1,2}} | ?\()"
        rf"(?P<word>{words})(?=\W*(?:[.,;!\n]|$))"
    )
    behind = rf"(?P<word>{words}) \((?P<letter>[{some}])\)"
    return re.compile(before), re.compile(behind)


def _own_words(
    words: Sequence[Sequence[str]], question: ItemQuestion
) -> tuple[list[set[str]], dict[str, int]]:
    """The words of each choice; and letters that are answers themselves."""
    own: list[set[str]] = []
    letters: dict[str, int] = {}
    for place, group in enumerate(words):
        found = set()
        for word in group:
            key = " ".join(word.replace("_", " ").split())
            if len(key) == 1 and key.isalpha():
                letters[key] = place
            elif key:
                found.add(key)
        if "inside" in found and question.object:
            head = question.object.split()[-1]
            found |= {f"in the {question.object}", f"in {question.object}", f"in the {head}"}
        own.append(found)
    _, relations = shared_ground([group[-1] if group else "" for group in words])
    for found, relation in zip(own, relations, strict=False):
        found.add(relation)
    return own, letters


def _without_spaces(table: Table) -> Table:
    return {word: at for word, at in table.items() if phrase("unspaced_script").match(word)}


def _plurals(things: set[str]) -> set[str]:
    return {f"{thing}s" for thing in things if thing.isalpha() and not thing.endswith("s")}


def _is_compound(segment: str, mention: Mention) -> bool:
    if phrase("compound").search(segment[max(0, mention.start - 12) : mention.start]):
        return True
    return phrase("compound_goes_on").match(segment, mention.end) is not None


def _with_possibility(own: Sequence[set[str]]) -> list[set[str]]:
    """Yes and no to "Could it be that ...?", with the words for what is possible."""
    known = reply_words()
    found = []
    for group in own:
        further = known.possible if "yes" in group else known.impossible if "no" in group else ()
        found.append(group | set(further))
    return found


def _misspells(written: str, word: str) -> bool:
    """Whether a word is another one but for two letters that changed places, or one too many.

    >>> _misspells("samller", "smaller"), _misspells("smalller", "smaller")
    (True, True)
    """
    if sorted(written) == sorted(word):
        different = [place for place in range(len(word)) if written[place] != word[place]]
        return len(different) == 2 and different[1] == different[0] + 1
    return phrase("doubled_letter").sub(r"\1", written) == phrase("doubled_letter").sub(r"\1", word)


def _begins_with(words: set[str], begun: str) -> bool:
    return any(word.startswith(f"{begun} ") for word in words)


def _exclusive(own: Sequence[set[str]], frame: OptionFrame) -> bool:
    """Whether two options rule each other out, so that what is not the one is the other."""
    if len(frame.names) == len(own):
        return True
    return any(own[0] & pair and own[1] & pair for pair in reply_words().exclusive)


def _others(table: Table) -> dict[str, int]:
    """For each word of two options the other one."""
    return {word: 1 - next(iter(places)) for word, places in table.items() if len(places) == 1}


def _not_taken(names: Sequence[set[str]], own: Sequence[set[str]]) -> Table:
    """Further names of options, but for names that another option has."""
    taken = set().union(*own)
    return {name: places for name, places in _by_word(names).items() if name not in taken}


def _agreed_letters(letters: dict[str, int], frame: OptionFrame) -> dict[str, int]:
    """Letters of options and letters in their names ("A is closer"): where they differ, neither."""
    agreed = {}
    for letter, place in {**frame.letters, **letters}.items():
        if frame.letters.get(letter, place) == place:
            agreed[letter] = place
    return agreed


def _by_word(own: Sequence[set[str]]) -> Table:
    table: Table = {}
    for place, group in enumerate(own):
        for word in group:
            table[word] = table.get(word, frozenset()) | {place}
    return table


def _synonyms(own: Sequence[set[str]], known: Words) -> Table:
    """Other words for each choice; what two choices could claim stands for neither."""
    taken = set().union(*own)
    further = [further_words(group, known, taken) for group in own]
    claimed = _by_word(further)
    return {word: places for word, places in claimed.items() if len(places) == 1}


def _converses(own: Sequence[set[str]]) -> dict[int, int]:
    """For a choice the one that holds if the two things change places."""
    known = reply_words()
    table = {**_synonyms(own, known.strong), **_by_word(own)}
    found: dict[int, int] = {}
    for place, group in enumerate(own):
        for word in group:
            converse = table.get(known.converse.get(word, ""), frozenset())
            if len(converse) == 1:
                (found[place],) = converse
    return found


def _any_word(table: Table) -> re.Pattern[str]:
    """Longest first, so that "not entailed" is found before "entailed"."""
    words = any_of(table).replace(r"\ ", r"[\s_-]+")
    return re.compile(rf"(?<!\w)(?:{words})(?!\w|'t\b)")


def _opposites(table: Table) -> dict[str, int]:
    """Of two choices: "not true" is false, but "not larger" is not smaller."""
    found: dict[str, int] = {}
    for pair in _TRUTH:
        sides = [table.get(word, frozenset()) for word in pair]
        if all(len(side) == 1 for side in sides):
            (first,), (second,) = sides
            found |= {pair[0]: second, pair[1]: first}
    return found


def _letter_patterns(
    letters: dict[str, int], names: bool
) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """How a letter is written as an option, and how it may be written where prose is unlikely."""
    some = "".join(letters) or "-"
    after = (
        r"(?=\)|[.,:;!\"]|\W*$|\s+(?:because|since|as|but|not|and|or|over|rather|instead)\b|\s+-|"
        r"[\u3000-\u9fff\uac00-\ud7af])"  # a letter in Chinese, Japanese or Korean
    )
    in_prose = (
        rf"\(([{some}])\)|\b(?:option|choice|answer|choose|pick|letter) \(?([{some}])\b(?! \w)"
    )
    if names:  # "A is closer": no article stands before a verb
        in_prose += (
            rf"|(?<![\w'])([{some}])(?= (?:is|appears|looks|seems|has|was|lies|sits|that)\b)"
        )
    return re.compile(in_prose), re.compile(rf"(?<![\w'/])([{some}]){after}")
