"""From free text to a label. Rules are tried in a fixed order; the first that finds a label
mentioned decides.

A reply that no rule can read, or that asserts several labels, is none: never guessed, always
counted. Each label has its words ("larger", "bigger"), taken from the prompt that asked; the rules
are listed in RULES and in docs/models.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gnomon.models.reading.mentions import Vocabulary
from gnomon.records import Answer, Item

# characters of a reply that are read, from its end: an answer stands last if there is that much
LIMIT = 32_768


class Reading(NamedTuple):
    """Which choice was read (its place) and by which rule; no place if the reply is unreadable."""

    place: int | None
    # a name in RULES; or "several" (labels contradict each other), "none" (no label is asserted)
    rule: str


def read(reply: str, words: Sequence[Sequence[str]], *, letters: bool = True) -> int | None:
    """The index of the choice that the reply asserts, or none. `words` holds the accepted words of
    each choice.

    >>> read("An ant is tiny, so it is not larger. The answer is **smaller**.", [["larger", "bigger"], ["smaller"]])
    1
    >>> read("It could be larger or smaller.", [["larger", "bigger"], ["smaller"]]) is None
    True
    """
    return explain(reply, words, letters=letters).place


def read_reply(
    reply: str, words: Sequence[Sequence[str]], *, letters: bool = True
) -> Reading | None:
    """The place of the choice that the reply asserts and the rule that found it, or none.

    >>> read_reply("Smaller, because birds are large.", [["larger"], ["smaller"]])
    Reading(place=1, rule='lead')
    """
    found = explain(reply, words, letters=letters)
    return None if found.place is None else found


def explain(reply: str, words: Sequence[Sequence[str]], *, letters: bool = True) -> Reading:
    """The same, with the name of the rule that decided. `letters` also reads "(b)" as the second
    choice.

    >>> explain("Yes, because birds have wings.", [["no"], ["yes"]])
    Reading(place=1, rule='lead')
    """
    text = _clean(reply)
    known = _known(tuple(tuple(group) for group in words), letters)
    own, alone = (mark.split(text, maxsplit=1)[0] for mark in (_RUN_ON, _NEXT_ITEM))
    if own != text and (found := _explain(own, known)).place is not None:
        return found
    if alone != text and (found := _explain(alone, known)).rule == "whole":
        return found
    return _explain(text, known)


@lru_cache(maxsize=256)
def _known(words: tuple[tuple[str, ...], ...], letters: bool) -> Vocabulary:
    """The words of each choice, compiled once for the many replies that they read."""
    return Vocabulary(tuple(tuple(_clean(word) for word in group) for group in words), letters)


def _explain(text: str, known: Vocabulary) -> Reading:
    for rule, segments in RULES:
        found: set[int] = set()
        for segment in segments(text):
            found = known.asserted(segment, alone=rule in _ALONE, strict=rule in _LETTERS_IN_PROSE)
            if found:
                break
        if len(found) > 1:
            return Reading(None, "several")
        if found and rule == "lead" and _overturned(text, known, found):
            return Reading(None, "several")
        if rule == "corrected" and not found and _TAKEN_BACK.search(text):
            break  # "True. Wait, no.": what it said first no longer holds
        if found:
            return Reading(found.pop(), rule)
        if rule == "announced" and any(_WITHHELD.search(segment) for segment in _announced(text)):
            break  # "The answer is not possible": what else it says is not the answer
    return Reading(None, "none")


def as_answer(
    item: Item, reply: str, words: Sequence[Sequence[str]], *, tokens: int | None = None
) -> Answer:
    """A reply as an answer: read by the words that the prompt uses for each choice, and by the
    label itself."""
    accepted = [
        list(dict.fromkeys((*ways, label))) for ways, label in zip(words, item.choices, strict=True)
    ]
    reading = read_reply(reply, accepted)
    if reading is None or reading.place is None:
        return Answer(item=item.id, reply=reply, tokens=tokens)
    choice = item.choices[reading.place]
    return Answer(item=item.id, choice=choice, reply=reply, rule=reading.rule, tokens=tokens)


# --- the text -------------------------------------------------------------------------------------
# --------------------

_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "—": " - ", "–": " - ", "→": " : ", "…": "..."}
    | dict.fromkeys("“”„«»「」『』", '"')
)
_THOUGHT = re.compile(r"([<\[])(/?)(?:think|thinking|thought|reasoning)[>\]]")
_CHANNEL = re.compile(r"<\|channel\|>(\w+).*?<\|message\|>(.*?)(?=<\||\Z)", re.DOTALL)  # gpt-oss
_RUN_ON = re.compile(
    r"\n\s*(?:question|q|user|human)\s*\d*\s*:"
)  # a model that asks itself the next question
_NEXT_ITEM = re.compile(
    r"\n\s*(?:statement|text|context|premise|passage|hypothesis)\s*\d*\s*:"
)  # after a lone label
_STRUCK = re.compile(r"~~[^~\n]+~~")
_QUOTED = re.compile(  # "Ann does not stand" is true: what is quoted is not said
    r"(?:\"[^\"\n]{12,}\"|(?<!\w)'[^'\n]{12,}')(?= (?:is|would be|must be|can be)\b)"
)
_LATEX = re.compile(r"\\(?:text|textbf|mathrm|mathbf|textit|emph)\s*\{([^{}]*)\}")
_MARKUP = re.compile(
    r"</?(?:b|i|u|p|em|strong|code|br ?/?)>|\*+|`+|~~+|\$|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|"
    r"^[ \t]*(?:#+|>+|[-+•])[ \t]+",
    re.MULTILINE,
)


def _clean(reply: str) -> str:
    """Case, quotes and dashes made alike; thoughts, markdown and LaTeX text commands taken off."""
    text = unicodedata.normalize("NFKC", _without_thoughts(reply)[-LIMIT:]).casefold()
    text = _LATEX.sub(r"\1", _STRUCK.sub(" ", text.translate(_PLAIN)))
    return _QUOTED.sub("it", _MARKUP.sub("", text)).strip()


def _without_thoughts(reply: str) -> str:
    """What follows the last thought; nothing if that never ends. Templates may open it before the
    reply begins."""
    if channels := _CHANNEL.findall(reply):
        return "\n".join(said for name, said in channels if name == "final")
    marks = list(_THOUGHT.finditer(reply.casefold())) if "<" in reply or "[" in reply else []
    if not marks:
        return reply
    opened = marks[0].start() if not marks[0][2] else 0
    return reply[:opened] + "\n" + (reply[marks[-1].end() :] if marks[-1][2] else "")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _sentences(text: str) -> list[str]:
    """Sentences, without questions (a reply often repeats what it was asked)."""
    parts = re.findall(r"[^.!?\n]+(?:[.!?]+|\n|\Z)", text)
    return [
        part.strip() for part in parts if part.strip(" .!\n") and not part.rstrip().endswith("?")
    ]


# --- the rules: where the answer of a reply may stand, surest first
# ---------------------------------------------------

_BOXED = re.compile(
    r"\\boxed\s*\{([^{}]*)\}|<answer>(.*?)</answer>|"
    r"\"(?:final[_ ]answer|answer|label|choice|prediction|verdict)\"\s*:\s*\"([^\"\n]*)\"",
    re.DOTALL,
)
_ANNOUNCED = re.compile(
    r"\b(?:answer|verdict|prediction|(?:correct|right|best|final|true) (?:choice|option|label|relation|word|response))"
    r"\s*(?:to [^.:\n]{1,80}? )?[\"']?\s*"
    r"(?:(?:is|would be|should be|must be|will be)\b(?!n't)\s*[:=]?|[:=]|-+(?=\s))\s*|"
    r"\bi(?:'d| would|'ll| will)? (?:choose|pick|select|say|answer|go with|opt for)\b\s*:?\s*"
)
_APPROVED = re.compile(
    r"\b(?:is|fits|would be) (?:the )?(?:best|correct|right)\b(?! (?:of|to|side)\b)"
)
_TAKEN_BACK = re.compile(
    r"\b(?:wait|on second thought|scratch that|i take that back|let me re(?:consider|think))\b"
)
_CORRECTED = re.compile(rf"(?:{_TAKEN_BACK.pattern}|(?:^|[.!?\n]\s*)(?:actually|correction)\b)")
_WITHHELD = re.compile(
    r"^\W*(?:not (?:possible|clear|known|given|certain)|impossible|unclear|unknown|uncertain|"
    r"cannot|can't|undetermined)\b"
)
_CONCLUDED = re.compile(
    r"(?:^|[,;:]\s*|\band )(?:so|therefore|thus|hence|consequently|in conclusion|in short|overall|"
    r"we can conclude that|this means(?: that)?|it follows that)\b(?!\s+that)"
)


def _whole(text: str) -> Iterator[str]:
    yield text


def _boxed(text: str) -> Iterator[str]:
    for match in reversed(list(_BOXED.finditer(text))):
        yield match[1] or match[2] or match[3] or ""


def _announced(text: str) -> Iterator[str]:
    for match in reversed(list(_ANNOUNCED.finditer(text))):
        rest = text[match.end() :].lstrip()
        yield re.split(r"[.!?](?:\s|$)|\n", rest, maxsplit=1)[0]


def _approved(text: str) -> Iterator[str]:
    for match in reversed(list(_APPROVED.finditer(text))):
        yield re.split(r"[.,;:!?\n]", text[: match.start()])[-1]


def _corrected(text: str) -> Iterator[str]:
    if marks := list(_CORRECTED.finditer(text)):
        yield "\n".join(_sentences(text[marks[-1].end() :]))


def _lone_lines(text: str) -> Iterator[str]:
    yield " \n ".join(_lines(text))


def _lead(text: str) -> Iterator[str]:
    first = next(iter(_lines(text)), "")
    yield re.split(r"[.,;:!]|\s-+\s|\bbecause\b|\bsince\b|\bas\b", first, maxsplit=1)[0]


def _concluded(text: str) -> Iterator[str]:
    for sentence in reversed(_sentences(text)):
        if marks := list(_CONCLUDED.finditer(sentence)):
            yield sentence[marks[-1].end() :]


def _last_line(text: str) -> Iterator[str]:
    lines = _lines(text)
    if len(lines) > 1 and _sentences(lines[-1]):
        yield lines[-1]


def _everywhere(text: str) -> Iterator[str]:
    yield "\n".join(_sentences(text))


RULES: tuple[tuple[str, Callable[[str], Iterator[str]]], ...] = (
    ("whole", _whole),  # the reply is a label and nothing else: "**Larger**.", "(b)"
    ("boxed", _boxed),  # the last \boxed{...} or <answer>...</answer>
    (
        "announced",
        _announced,
    ),  # after the last "the answer is", "Answer:", "correct option:" that names a label
    ("corrected", _corrected),  # what follows the last "wait", "on second thought", "Actually"
    ("line", _lone_lines),  # a line that is a label and nothing else
    (
        "lead",
        _lead,
    ),  # the reply opens with a label: "Yes, because ..."; unless its conclusion says otherwise
    (
        "concluded",
        _concluded,
    ),  # after "so", "therefore" ... in the last such sentence that names a label
    ("last line", _last_line),  # the last of several lines
    ("approved", _approved),  # the words before "is correct", "is right", "fits best"
    ("sole", _everywhere),  # the only label that the whole reply asserts
)
_ALONE = frozenset({"whole", "line", "lead"})  # the segment must be the label and nothing else
_LETTERS_IN_PROSE = frozenset(
    {"corrected", "concluded", "last line", "sole"}
)  # here only "(b)" and "option b" are letters


def _overturned(text: str, known: Vocabulary, found: set[int]) -> bool:
    """Whether a reply that opens with one label concludes with another, or goes on "but" with
    it."""
    contrast = re.match(r"[^.!?\n]*?\bbut\b([^.!?\n]*)", text)
    if contrast and known.asserted(contrast[1], alone=True, strict=False) - found:
        return True
    for segment in _concluded(text):
        later = known.asserted(segment, alone=False, strict=True)
        if later:
            return later != found
    return False
