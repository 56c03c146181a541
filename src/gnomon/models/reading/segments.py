"""A reply as plain text, and where in it the answer may stand: the rules, surest first."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from gnomon.lexicon.relations import may_say, phrase, phrase_in

# characters of a reply that are read, from its end: an answer stands last if there is that much
LIMIT = 32_768

_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "—": " - ", "–": " - ", "→": " : ", "⇒": " : ", "…": "..."}
    | dict.fromkeys("“”„«»「」『』", '"')
)
# Signs and blanks without end: patterns would try every way to share them out.
# where there may be some: what a pattern opens with is found fast
_BLANKS = re.compile(r"\s\s{8}")
_SIGNS = re.compile(r"[^a-zA-Z0-9\s][^a-zA-Z0-9\s]{24}")
_MARKS = frozenset("*`~$_<")
_LINE_MARKS = tuple("#>-+•")
SHORTEST = 8  # characters of a reply in which there is room for manners
# "A. larger": the dot of an option ends no sentence
# "point A in the second image": a letter, since no article is a capital there


def clean(reply: str) -> str:
    """The part of a reply that is read, as plain text.

    >>> clean("<think>Hm.</think> **The answer** is “Larger”.")
    'the answer is "larger".'
    """
    text = without_thoughts(reply)[-LIMIT:]
    text = unicodedata.normalize("NFKC", text)
    text = phrase("two_capital_letters").sub(r"(\1)\2(\3)", text)
    text = phrase("capital_letter").sub(_letter_in_brackets, text)
    text = _own_turn(text.casefold().translate(_PLAIN))
    if "~~" in text:
        text = phrase("struck_out").sub(" ", text)
    if "\\" in text:
        text = phrase("latex_text").sub(r"\1", text)
    if not _MARKS.isdisjoint(text):
        text = phrase("markup").sub("", text)
    if "\n" in text or text.lstrip()[:1] in _LINE_MARKS:
        text = phrase("line_mark").sub("", text)
    if "<answer>" not in text:
        text = text.replace("</answer>", "")  # the template may have opened it
    if " = " in text:
        text = text.replace(" = ", ", so ")  # "2 + 1 = 3"
    if "=>" in text or "->" in text:
        text = phrase("arrow").sub(" : ", text)
    if (">" in text or "<" in text) and not phrase("chain_of_signs").search(text):
        text = phrase("less_sign").sub(
            " is less than ", phrase("greater_sign").sub(" is greater than ", text)
        )
    text = text.strip()
    if len(text) < SHORTEST:
        return text
    return _without_manners(text)


def _letter_in_brackets(capital: re.Match[str]) -> str:
    before = capital.string[max(0, capital.start() - 10) : capital.start()]
    return f" ({capital[1]})" if phrase("before_capital").search(before) else capital[0]


def _without_manners(text: str) -> str:
    """A longer reply without greeting and farewell, quotations and frames of the question."""
    if "if " in text:
        text = phrase("supposing").sub("", text)
    if text.endswith("?"):
        text = phrase("tag_question").sub(".", text)
    text = phrase("greeting").sub("", text)
    if may_say("farewell", text):
        text = phrase("farewell").sub("", text)
    if ". " in text:
        text = phrase("dot_of_an_option").sub(") ", text)
    if '"' in text or "'" in text:
        text = phrase("letter_in_quotes").sub(r"(\1)\2", text)
        if may_say("quoted", text):
            text = phrase("quoted").sub("it", text)
    return text.strip()


def _own_turn(text: str) -> str:
    """A reply without special tokens of chat templates, and without the turns that follow it."""
    if "<" not in text and "[" not in text and not text.startswith("assistant"):
        return text
    for turn in phrase("turn_ends").split(text):
        said = phrase("special").sub(" ", turn)
        said = phrase("role").sub("", said, count=1)
        if said.strip():
            return said
    return ""


def lines_of(text: str) -> list[str]:
    """The lines that hold something."""
    stripped = [line.strip() for line in text.splitlines()]
    return [line for line in stripped if line]


@lru_cache(maxsize=8)  # several rules look at the same reply
def sentences_of(text: str) -> tuple[str, ...]:
    """Sentences, without questions (a reply often repeats what it was asked).

    >>> sentences_of("Is it larger? No. It is smaller.")
    ('No.', 'It is smaller.')
    """
    found = []
    for part in phrase("sentence").findall(text):
        is_empty = not part.strip(" .!\n")
        is_question = part.rstrip().endswith("?")
        if not is_empty and not is_question:
            found.append(part.strip())
    return tuple(found)


def without_thoughts(reply: str) -> str:
    """What follows the last thought; nothing if that never ends.

    Templates may open a thought before the reply begins.
    """
    if _BLANKS.search(reply) or _SIGNS.search(reply):
        reply = phrase("long_run").sub(_shorter_run, reply)
    if not may_say("thought", reply):
        return reply
    channels = phrase("channel").findall(reply)
    if channels:
        return "\n".join(said for name, said in channels if name == "final")
    marks = list(phrase("thought").finditer(reply))
    if not marks:
        return reply
    first, last = marks[0], marks[-1]
    before = "" if first["closes"] else reply[: first.start()]
    after = reply[last.end() :] if last["closes"] else ""
    return f"{before}\n{after}"


def _shorter_run(run: re.Match[str]) -> str:
    if run[1]:
        return run[0][:24]
    return "\n\n" if "\n" in run[0] else "  "


def thoughts_end(reply: str) -> bool:
    """Whether a reply thinks aloud and comes to the end of it."""
    marks = list(phrase("thought").finditer(reply))
    return bool(marks and marks[-1]["closes"])


# --- where the answer of a reply may stand: the rules of reading, surest first -------------------


class ReadingRule(NamedTuple):
    """A rule gives segments of a reply; the first in which a label is asserted decides."""

    name: str
    segments: Callable[[str], Iterator[str]]
    alone: bool = False  # the segment must be the label and nothing else
    prose: bool = False  # here only "(b)" and "option b" are letters, since "a" is a word


_MOST = 50  # places of a kind that are looked at, from the end: a hostile reply has thousands
_LONGEST = 2_000  # characters after an announcement


def takes_back(text: str) -> bool:
    """Whether a reply says "wait" or the like: what it said before no longer holds."""
    return phrase_in("taken_back", text) is not None


def withholds(text: str) -> bool:
    """Whether a reply announces that there is no answer: "The answer is not possible"."""
    return any(phrase("withheld").search(segment) for segment in _announced(text))


def with_announced(sentences: Sequence[str], number: int) -> str:
    """A sentence with the line that its colon announces: "Therefore, the point is:", "(b)".

    Options of which others follow are a list, and none of them is announced.
    """
    said = sentences[number]
    following = sentences[number + 1 : number + 1 + _MOST]
    if not said.endswith(":") or not following:
        return said
    is_entry = phrase("list_entry").match
    if is_entry(following[0]) and any(map(is_entry, following[1:])):
        return said
    return f"{said} {following[0]}"


def conclusions(text: str) -> Iterator[str]:
    """What follows "so", "therefore" ..., the last such sentence first."""
    sentences = sentences_of(text)
    for number in reversed(range(len(sentences))):
        if not may_say("concluded", sentences[number]):
            continue
        marks = list(phrase("concluded").finditer(sentences[number]))
        if not marks:
            continue
        concluded = with_announced(sentences, number)[marks[-1].end() :]
        if phrase_in("no_decision", concluded):
            return  # "Therefore, I cannot choose between A and B"
        yield concluded


def _whole(text: str) -> Iterator[str]:
    said = sentences_of(text) if "?" in text else ()
    if len(said) == 1:
        yield said[0]  # "Larger? Smaller? Smaller."
    yield text


def _boxed(text: str) -> Iterator[str]:
    if not may_say("boxed", text):
        return
    for match in list(phrase("boxed").finditer(text))[: -_MOST - 1 : -1]:
        yield match[match.lastindex or 0]


def _announced(text: str) -> Iterator[str]:
    yield from _announcements(text)


@lru_cache(maxsize=8)
def _announcements(text: str) -> tuple[str, ...]:
    """What follows the words that announce an answer, the last one first."""
    marks: list[re.Match[str]] = []
    if may_say("announced", text):
        marks += phrase("announced").finditer(text)
    if not text.isascii() or may_say("announced_elsewhere", text):
        marks += phrase("announced_elsewhere").finditer(text)
    said = []
    for match in sorted(marks, key=re.Match.end, reverse=True)[:_MOST]:
        rest = text[match.end() : match.end() + _LONGEST].lstrip()
        if not phrase("options_listed").match(rest):
            said.append(phrase("end_of_sentence").split(rest, maxsplit=1)[0])
    return tuple(said)


def _thought(text: str) -> Iterator[str]:
    for match in list(phrase("opinion").finditer(text))[: -_MOST - 1 : -1]:
        said = phrase("end_of_sentence").split(
            text[match.end() : match.end() + _LONGEST], maxsplit=1
        )[0]
        if phrase("one_letter").fullmatch(said):
            yield said


def _corrected(text: str) -> Iterator[str]:
    if not may_say("corrected", text):
        return
    marks = list(phrase("corrected").finditer(text))
    if not marks:
        return
    rest = "\n".join(sentences_of(text[marks[-1].end() :]))
    taking_back = phrase("no_first").match(rest)
    if taking_back:
        yield rest[taking_back.end() :]  # "Wait, no, it is ...": the no may be of what was said
    yield rest


def breaks_off(text: str) -> bool:
    """Whether a longer reply ends in the middle of a sentence or of a list."""
    return text[-1].isalnum() or text[-1] in ",(=" or _is_cut_list(lines_of(text))


def _is_cut_list(lines: Sequence[str]) -> bool:
    """Whether a list ends in an entry of which there is only the letter: "(d)"."""
    if not lines or len(lines[-1]) > 3:
        return False
    return sum(phrase("list_entry").match(line) is not None for line in lines[:-1]) > 1


def _lone_lines(text: str) -> Iterator[str]:
    lines = [line for line in lines_of(text) if not line.endswith(":")]
    if _is_cut_list(lines) or (lines and f"{lines[-1]}:" in text):
        lines.pop()  # what is cut there is a heading like others
    yield " \n ".join(lines)


def _lead(text: str) -> Iterator[str]:
    lines = lines_of(text)
    if not lines or phrase("own_question").match(text):
        return  # "Is it A? No. B."
    said = sentences_of(lines[0]) or [lines[0]]
    if phrase("then_follows").search(said[0]):
        return  # "Anna, then Bob, then Carla"
    yield phrase("end_of_lead").split(said[0], maxsplit=1)[0]


def closing(text: str) -> Iterator[str]:
    """The last of several sentences, unless it answers one of several questions."""
    said = sentences_of(text)
    asked = text.count("?")
    if len(said) > 1 and (asked < 2 or len(said) > asked):
        yield said[-1]


def _last_line(text: str) -> Iterator[str]:
    lines = lines_of(text)
    if len(lines) > 1 and sentences_of(lines[-1]):
        yield lines[-1]


def _approved(text: str) -> Iterator[str]:
    if not may_say("approved", text):
        return
    for match in list(phrase("approved").finditer(text))[: -_MOST - 1 : -1]:
        sentence = phrase("end_of_sentence").split(text[: match.start()])[-1]
        if not phrase("condition").search(sentence):
            yield phrase("end_of_clause").split(sentence)[-1]


def _everywhere(text: str) -> Iterator[str]:
    yield "\n".join(sentences_of(text))


RULES: tuple[ReadingRule, ...] = (
    # the reply is a label and nothing else: "**Larger**.", "(b)"
    ReadingRule("whole", _whole, alone=True),
    # the last \boxed{...} or <answer>...</answer>
    ReadingRule("boxed", _boxed),
    # after the last "the answer is", "Answer:", "correct option:" that names a label
    ReadingRule("announced", _announced),
    # what follows the last "wait", "on second thought", "Actually"
    ReadingRule("corrected", _corrected, prose=True),
    # a line that is a label and nothing else
    ReadingRule("line", _lone_lines, alone=True),
    # a letter, and nothing else, after "I think it is" or "It's"
    ReadingRule("thought", _thought, alone=True),
    # the reply opens with a label: "Yes, because ..."; unless its conclusion says otherwise
    ReadingRule("lead", _lead, alone=True),
    # after "so", "therefore" ... in the last such sentence that names a label
    ReadingRule("concluded", conclusions, prose=True),
    # the last of several sentences is a label and nothing else
    ReadingRule("closing", closing, alone=True),
    # the last of several lines
    ReadingRule("last line", _last_line, prose=True),
    # the words before "is correct", "is right", "fits best"
    ReadingRule("approved", _approved),
    # the only label that the whole reply asserts
    ReadingRule("sole", _everywhere, prose=True),
)
