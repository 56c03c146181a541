"""From free text to a label: rules in a fixed order, of which the first that finds one decides.

A reply that no rule can read, or that asserts several labels, is none: never guessed, always
counted. Each label has its words ("larger", "bigger"), taken from the prompt that asked; the rules
are listed in `segments.RULES` and in docs/models.md.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from msgspec.structs import replace

from gnomon.errors import DataError
from gnomon.lexicon.relations import phrase, phrase_in
from gnomon.models.prompts.library import Prompt
from gnomon.models.reading.assertion import (
    NO_QUESTION,
    ItemQuestion,
    question_of,
    says_undetermined,
)
from gnomon.models.reading.claims import committed, verdict
from gnomon.models.reading.segments import (
    RULES,
    ReadingRule,
    breaks_off,
    clean,
    conclusions,
    lines_of,
    sentences_of,
    takes_back,
    withholds,
)
from gnomon.models.reading.verdicts import ClaimVerdicts
from gnomon.models.reading.vocabulary import ChoiceVocabulary, without_letters
from gnomon.models.reading.written import read_prompted
from gnomon.records import Answer, Item


class ReplyReading(NamedTuple):
    """Which choice was read (its place) and by which rule; no place if the reply is unreadable."""

    place: int | None
    # a name in RULES; or "several" (labels contradict each other), "none" (no label is asserted)
    rule: str


LONG = 400  # characters of a reply that may have been cut
SHORT = 24  # characters of a reply whose reading is kept
MOST_ANNOUNCED = 3  # choices that a reply announces in turn before none of them counts
# rules that say nothing where a reply lists several options, each on a line of its own
BESIDE_A_LIST = ("thought", "lead", "closing", "last line", "approved")
SEVERAL = ReplyReading(None, "several")
NONE = ReplyReading(None, "none")


class _Reader(NamedTuple):
    """How replies to one kind of question are read."""

    known: ChoiceVocabulary
    claims: ClaimVerdicts | None  # for yes-or-no questions


def explain(
    reply: str,
    words: Sequence[Sequence[str]],
    *,
    letters: bool = True,
    question: ItemQuestion = NO_QUESTION,
) -> ReplyReading:
    """The choice that the reply asserts and the rule that found it, or why it cannot be read.

    `words` holds the accepted words of each choice; `letters` reads "(b)" as the second choice;
    `question` tells of which of two things a sentence speaks.

    >>> size = [["larger", "bigger"], ["smaller"]]
    >>> explain("An ant is tiny, so it is not larger. The answer is **smaller**.", size)
    ReplyReading(place=1, rule='announced')
    >>> explain("It is both larger and smaller.", size)
    ReplyReading(place=None, rule='several')
    >>> bee = ItemQuestion(subject="bee", object="apple")
    >>> explain("An apple is larger than a bee.", size, question=bee)
    ReplyReading(place=1, rule='sole')
    """
    if not isinstance(reply, str):
        raise DataError(
            f"a reply is a {type(reply).__name__}, not a text.",
            "Give each reply as one text, in quotes.",
        )
    kind = _Kind(tuple(map(tuple, words)), letters, question)
    if len(reply) <= SHORT:
        return _read_short(reply, kind)
    return _explained(reply, kind)


class _Kind(NamedTuple):
    """What replies to one kind of question are read by."""

    words: tuple[tuple[str, ...], ...]
    letters: bool
    question: ItemQuestion


@lru_cache(maxsize=4096)  # most replies of most models are one of a few words
def _read_short(reply: str, kind: _Kind) -> ReplyReading:
    return _explained(reply, kind)


def _explained(reply: str, kind: _Kind) -> ReplyReading:
    text = clean(reply)
    reader = _reader(kind)
    text = reader.known.plain.of(text)
    own = phrase("next_question").split(text, maxsplit=1)[0]
    if own != text:
        found = _read(own, reader)
        if found.place is not None:
            return found
    alone = phrase("next_item").split(text, maxsplit=1)[0]
    if alone != text:
        found = _read(alone, reader)
        if found.rule == "whole":
            return found
    return _read(text, reader)


def read_item(item: Item, reply: str, prompt: Prompt) -> ReplyReading:
    """How the reply to an item reads that a prompt put: its words, its letters, its question."""
    words = prompt.accepted(item)
    letters = prompt.shows_letters(item.form)
    return explain(reply, words, letters=letters, question=question_of(item))


def as_answer(
    item: Item,
    reply: str,
    prompt: Prompt,
    *,
    tokens: int | None = None,
    written: int | None = None,
) -> Answer:
    """A reply as an answer, with the rule that decided.

    `tokens` were read and written for it, of which `written` were written.
    """
    answer = Answer(item=item.id, reply=reply, tokens=tokens, tokens_written=written)
    if tokens is not None and written is not None:
        answer = replace(answer, tokens_read=tokens - written)
    free = read_prompted(item, reply, prompt)
    if free is not None:
        return replace(answer, choice=free.said, rule=free.rule if free.said else None)
    found = read_item(item, reply, prompt)
    if found.place is None:
        return answer
    return replace(answer, choice=item.choices[found.place], rule=found.rule)


@lru_cache(maxsize=256)
def _reader(kind: _Kind) -> _Reader:
    """The words of each choice, compiled once for the many replies that they read."""
    cleaned = without_letters([list(map(clean, group)) for group in kind.words])
    known = ChoiceVocabulary(cleaned, kind.letters, kind.question)
    return _Reader(known, ClaimVerdicts.on(kind.question, known))


def _read(text: str, reader: _Reader) -> ReplyReading:
    known = reader.known
    describes = known.framed and len(sentences_of(text)) > 1
    # what only describes an option says nothing: a sentence must decide
    skipped = ("last line", "sole") if describes else ()
    for rule in RULES:
        if rule.name in skipped:
            continue
        if rule.name == "line" and _may_tick(text) and known.ticked(text):
            return _only(known.ticked(text), "verdict")
        if rule.name == "line" and "%" in text and known.likeliest(text):
            return _only(known.likeliest(text), "verdict")
        found = _first_asserted(rule, text, known)
        if len(found) > 1 and rule.name == "line" and _is_list(rule, text, known):
            skipped = (*skipped, *BESIDE_A_LIST)
            continue
        if len(found) > 1:
            return _decided(rule, text, known)
        if found:
            if rule.name != "whole" and _is_confused(rule, text, known, found):
                return SEVERAL
            if _contradicted(rule, text, reader, found):
                return _decided(rule, text, known) if rule.name == "concluded" else SEVERAL
            if rule.name in ("concluded", "closing") and _is_unsettled(text, known):
                return _decided(RULES[-1], text, known)
            if rule.name == "announced" and _concludes_several(text, known, "announced"):
                return _decided(RULES[-1], text, known)
            return ReplyReading(found.pop(), rule.name)
        if rule.name == "corrected" and takes_back(text):
            return NONE  # "True. Wait, no.": what it said first no longer holds
        if rule.name == "announced" and withholds(text):
            return _withheld(known)
        if rule.name == "announced" and known.framed and phrase("asks_back").search(text):
            return NONE
    if describes and known.names_an_option(text):
        return _decided(RULES[-1], text, known)
    return _indirect(text, reader)


def _may_tick(text: str) -> bool:
    """Whether a reply may mark its options one by one."""
    return not text.isascii() or "[x]" in text or "| yes" in text or text.count("?") > 1


def _is_list(rule: ReadingRule, text: str, known: ChoiceVocabulary) -> bool:
    """Whether the lines of a reply that are options stand together, as a question puts them."""
    (segment,) = rule.segments(text)
    alone = [bool(known.alone(line)) for line in segment.split(" \n ")]
    first = alone.index(True)
    return all(alone[first : first + sum(alone)])


def _decided(rule: ReadingRule, text: str, known: ChoiceVocabulary) -> ReplyReading:
    """What a reply decides that speaks of several choices."""
    if not rule.prose:
        return SEVERAL
    decided = partial(known.decided, prose=True)
    if _is_unsettled(text, known):
        found = committed(text, decided, by_degree=known.by_degree)
    else:
        found = verdict(text, decided, by_degree=known.by_degree)
    return _only(found, "verdict")


def _only(found: set[int], rule: str) -> ReplyReading:
    if len(found) != 1:
        return SEVERAL
    (place,) = found
    return ReplyReading(place, rule)


def _is_confused(rule: ReadingRule, text: str, known: ChoiceVocabulary, found: set[int]) -> bool:
    """Whether letters and options are mixed up, or the reverse of what is said was asked."""
    if rule.prose and phrase("reversed").search(text):
        return True
    return not found.isdisjoint(known.mislabels(text))


def _is_unsettled(text: str, known: ChoiceVocabulary) -> bool:
    """Whether a longer reply about options breaks off, or concludes one option after the other."""
    if not known.framed or len(text) < LONG:
        return False
    return breaks_off(text) or _concludes_several(text, known)


def _concludes_several(text: str, known: ChoiceVocabulary, how: str = "") -> bool:
    """Whether a longer reply about options concludes one after the other; `how`, by a phrase."""
    if not known.framed or len(text) < LONG:
        return False
    concluded: set[int] = set()
    for segment in conclusions(text):
        found = known.asserted(segment, prose=True)
        if len(found) == 1 and (not how or phrase_in(how, segment)):
            concluded |= found
    return len(concluded) > 1


def _indirect(text: str, reader: _Reader) -> ReplyReading:
    """What a reply amounts to that asserts no label: a statement of fact, or that nothing is."""
    if reader.claims is None:
        withheld = reader.known.undetermined is not None and says_undetermined(text)
        return _withheld(reader.known) if withheld else NONE
    stated = reader.claims.stated(text)
    if not stated and says_undetermined(text):
        return _withheld(reader.known)
    judged = reader.claims.judged(text)
    if len(stated | judged) > 1:
        return SEVERAL
    if stated:
        return ReplyReading(stated.pop(), "stated")
    return ReplyReading(judged.pop(), "verdict") if judged else NONE


def _withheld(known: ChoiceVocabulary) -> ReplyReading:
    """ "Cannot be determined" is a choice, or it is no answer; what else is said is none either."""
    if known.undetermined is None:
        return NONE
    return ReplyReading(known.undetermined, "undetermined")


def _first_asserted(rule: ReadingRule, text: str, known: ChoiceVocabulary) -> set[int]:
    """The choices that the first segment of a rule asserts, of those that assert any."""
    if rule.name == "announced":
        return _announced(rule, text, known)
    for segment in rule.segments(text):
        found = known.alone(segment)
        if rule.name == "whole":
            found = found or known.whole(segment)
        if rule.name == "lead" and known.opens_with_list(text):
            return set()  # "True, False or Neither"
        if not rule.alone:
            read = known.decided if rule.name == "concluded" else known.asserted
            found = found or read(segment, prose=rule.prose)
        if found:
            return found
    return set()


def _announced(rule: ReadingRule, text: str, known: ChoiceVocabulary) -> set[int]:
    """What is announced last; all of it, if one choice after the other is."""
    announced: list[set[int]] = []
    segments = tuple(rule.segments(text))
    for segment in segments:
        said = phrase("reason_follows").split(segment, maxsplit=1)[0]
        read = known.asserted if announced else known.decided
        found = known.alone(segment) or read(said, prose=rule.prose)
        if not found and said != segment:
            found = known.asserted(segment, prose=rule.prose)
        if found and not phrase_in("least", said):
            announced.append(found)
    every = set().union(*announced)
    if len(every) >= MOST_ANNOUNCED:
        return every
    if len(every) > 1 and not text.endswith(segments[0]) and _ends_open(text):
        return every
    return announced[0] if announced else set()


def _contradicted(rule: ReadingRule, text: str, reader: _Reader, found: set[int]) -> bool:
    """Whether the rest of a reply says otherwise, where the answer was not announced as such."""
    if rule.name in ("line", "announced", "concluded") and _goes_on(rule, text, reader):
        decided = partial(reader.known.decided, prose=True)
        said = verdict(text, decided, by_degree=reader.known.by_degree)
        return bool((said | _last_concluded(text, decided)) - found)
    if rule.name == "boxed":
        fields = phrase("field").findall(text) if '"' in text else ()
        return any(reader.known.alone(field) - found for field in fields)
    if rule.name in ("whole", "announced", "corrected"):
        return False
    if reader.claims and reader.claims.stated(text) - found:
        return True  # "Yes, a bee is smaller" to "Is a bee larger?"
    return rule.name == "lead" and _overturned(text, reader.known, found)


def _last_concluded(text: str, decided: Callable[[str], set[int]]) -> set[int]:
    """What a last paragraph concludes."""
    *_, last = lines_of(text)
    if not phrase("concluding").match(last):
        return set()
    concluded = decided(last)
    return concluded if len(concluded) == 1 else set()


def _ends_open(text: str) -> bool:
    """Whether a reply breaks off, or ends by saying that it cannot tell."""
    said = sentences_of(text)
    return breaks_off(text) or bool(said and phrase_in("no_decision", said[-1]))


def _goes_on(rule: ReadingRule, text: str, reader: _Reader) -> bool:
    """Whether a reply about options that it describes may decide otherwise after a label."""
    said = sentences_of(text)
    if not reader.known.framed or len(said) < 2:
        return False
    return rule.name != "announced" or phrase("announced").search(said[-1]) is None


def _overturned(text: str, known: ChoiceVocabulary, found: set[int]) -> bool:
    """Whether a reply that opens with one label goes on with another, or ends with it."""
    if (
        phrase("right_first").match(text)
        and known.asserted(text[len("right") :], prose=True) - found
    ):
        return True  # "Right. It is on the left."
    contrast = phrase("but_after").match(text)
    if contrast and known.alone(contrast[1]) - found:
        return True
    for sentence in sentences_of(text):
        if known.alone(sentence) - found:
            return True  # "Yes. No."
    for segment in conclusions(text):
        later = known.asserted(segment, prose=True)
        if later:
            return later != found
    return False
