"""Options that stand inside a text: "(A) left (B) right", lines with letters, "Options: in, on".

A text is read when there is one way to read it. Letters are taken off the options, and what is left
is the question.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from string import ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

LONGEST = 20_000  # characters of a text that is searched
SERIES = (ascii_uppercase, ascii_lowercase, digits[1:])
# How a label stands before its option; the label is the group.
MARKS = {
    "(A)": re.compile(r"(?<!\S)\(([A-Za-z1-9])\)\s*"),
    "A)": re.compile(r"(?<!\S)([A-Za-z1-9])\)\s*"),
    "A.": re.compile(r"(?<!\S)([A-Za-z1-9])\.(?=\s)\s*"),
    "A:": re.compile(r"(?<!\S)([A-Za-z1-9]):\s*"),
}
HEADING = re.compile(
    r"(?<![^\s.?!,;(\[])(?:the |available |answer |possible |following |multiple |one of )*"
    r"(?:options|choices|candidates|(?:select|choose|pick)(?: one)?(?: of| from| between| among))"
    r"(?: are| is| the following)?\s*:[ \t]*",
    re.IGNORECASE,
)
# What follows the last option of a line and is no part of it: "Please answer with the letter."
REQUEST = re.compile(
    r"(?<=\S)\s+(?:please )?(?:answer|respond|reply|choose|select|output|give|return)\b[^\n]*"
    r"\b(?:answers?|letters?|options?|choices?|words?|number)\b",
    re.IGNORECASE,
)
BULLET = re.compile(r"^[ \t]*[-*\u2022][ \t]+", re.MULTILINE)
BETWEEN = re.compile(r"\s*(?:[,;|/]\s*(?:or\s+)?|\s+or\s+)\s*")
QUOTES = "'\"\u2018\u2019\u201c\u201d"


class ListedOptions(NamedTuple):
    """The options of a text, their labels if they have any, and what is left of the text."""

    text: str
    options: tuple[str, ...]
    labels: tuple[str, ...] = ()
    style: str = ""  # how they are written; all rows of a file must agree in it


@lru_cache(maxsize=4096)
def listed_options(text: str) -> ListedOptions | None:
    """The options inside a text, if there is one way to read them.

    >>> listed_options("Where is it? Options: A: north, B: south")
    ListedOptions(text='Where is it?', options=('north', 'south'), labels=('A', 'B'), style='A:')
    >>> listed_options("Which is it? (a) Left (b) Right").options
    ('Left', 'Right')
    >>> listed_options("Do you return?\\nOptions:\\n- Yes\\n- No").options
    ('Yes', 'No')
    """
    if len(text) > LONGEST:
        return None
    heading = _last_heading(text)
    for readings in (_below_heading(text, heading), _at_line_starts(text), _in_line(text)):
        found = list(dict.fromkeys(readings))
        if len(found) == 1:
            return found[0]
        if found:
            return None
    return _unlettered(text, heading)


def lettered(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The labels that a list of options has before its texts; none if one lacks its own.

    >>> lettered(("A. sofa", "B. tv")), lettered(("A. sofa", "tv"))
    (('A', 'B'), ())
    """
    for mark in MARKS.values():
        matches = [mark.match(text.strip()) for text in texts]
        labels = "".join(match[1] for match in matches if match)
        whole = len(labels) == len(texts) > 1
        if whole and any(labels == series[: len(labels)] for series in SERIES):
            return tuple(labels)
    return ()


def without_label(text: str) -> str:
    """An option without the label before it.

    >>> without_label("(B) tv")
    'tv'
    """
    for mark in MARKS.values():
        match = mark.match(text.strip())
        if match:
            return text.strip()[match.end() :].strip()
    return text


def _last_heading(text: str) -> re.Match[str] | None:
    headings = list(HEADING.finditer(text))
    return headings[-1] if headings else None


def _below_heading(text: str, heading: re.Match[str] | None) -> Iterator[ListedOptions]:
    """Options of which the first stands directly below a heading."""
    if heading is None:
        return
    rest = text[heading.end() :]
    start = len(text) - len(rest.lstrip())
    for style, mark in MARKS.items():
        if not mark.match(text, start):
            continue
        found = _chain(text, list(mark.finditer(text, start)), heading.start(), style)
        if found:
            yield found


def _at_line_starts(text: str) -> Iterator[ListedOptions]:
    """Options that each begin a line."""
    for style, mark in MARKS.items():
        marks = [match for match in mark.finditer(text) if _begins_line(text, match)]
        yield from _from_the_only_start(text, marks, style)


def _in_line(text: str) -> Iterator[ListedOptions]:
    """Options that follow one another in a line."""
    for style, mark in MARKS.items():
        marks = [match for match in mark.finditer(text) if not match[1].isdigit()]
        yield from _from_the_only_start(text, marks, style)


def _from_the_only_start(
    text: str, marks: list[re.Match[str]], style: str
) -> Iterator[ListedOptions]:
    """The options from the first label on, which must stand there once."""
    starts = [place for place, match in enumerate(marks) if match[1] in "Aa1"]
    if len(starts) != 1:
        return
    first = starts[0]
    found = _chain(text, marks[first:], marks[first].start(), style)
    if found:
        yield found


def _begins_line(text: str, match: re.Match[str]) -> bool:
    before = text[: match.start()].rpartition("\n")[2]
    return not before.strip()


def _chain(text: str, marks: list[re.Match[str]], stem: int, style: str) -> ListedOptions | None:
    """The options from the first mark on: A, B, C and so on; `stem` is where the question ends.

    A label out of its order leaves open where the options are.
    """
    series = next(each for each in SERIES if marks[0][1] in each)
    in_lines = all(_begins_line(text, match) for match in marks[:2])
    used = [match for match in marks if match[1] in series]
    if in_lines:
        used = [match for match in used if _begins_line(text, match)]
    chain = used[:1]
    for match in used[1:]:
        if len(chain) == len(series) or match[1] != series[len(chain)]:
            return None
        chain.append(match)
    if len(chain) < 2:
        return None
    ends = [after.start() for after in chain[1:]]
    last = text.find("\n", chain[-1].end())
    last = len(text) if last < 0 else last
    request = REQUEST.search(text, chain[-1].end(), last)
    ends.append(request.start() if request else last)
    options = [text[mark.end() : end].strip() for mark, end in zip(chain, ends, strict=True)]
    rest = text[ends[-1] :].strip()
    labels = tuple(match[1] for match in chain)
    return _made(text[:stem], options, rest, labels, style)


def _made(
    stem: str, options: list[str], rest: str, labels: tuple[str, ...], style: str
) -> ListedOptions | None:
    """The record, with the signs between options taken off; none if an option is empty or twice."""
    for sign in (",", ";"):
        if all(option.endswith(sign) for option in options[:-1]):
            options = [option.removesuffix(sign).strip() for option in options]
    ends_sentence = options[-1].endswith(".") and not any("." in each for each in options[:-1])
    if ends_sentence or all(each.endswith(".") and len(each.split()) == 1 for each in options):
        options = [option.removesuffix(".") for option in options]
    if not all(options) or len(set(options)) < len(options):
        return None
    parts = filter(None, (stem.strip(), rest))
    return ListedOptions("\n".join(parts), tuple(options), labels, style)


def _unlettered(text: str, heading: re.Match[str] | None) -> ListedOptions | None:
    """Options below a heading that have no letters: lines with a dash, or parts between commas."""
    if heading is None:
        return None
    stem, below = text[: heading.start()], text[heading.end() :].strip("\n")
    bullets = list(BULLET.finditer(below))
    if bullets and bullets[0].start() == 0:
        ends = [after.start() for _, after in pairwise(bullets)] + [len(below)]
        options = [below[mark.end() : end].strip() for mark, end in zip(bullets, ends, strict=True)]
        if len(options) > 1 and not any("\n" in option for option in options):
            return _made(stem, options, "", (), "-")
        return None
    listed, _, rest = below.partition("\n")
    options = [part.strip().strip(QUOTES) for part in BETWEEN.split(listed.strip().rstrip("."))]
    if len(options) < 2:
        return None
    if stem.strip() and not stem.rstrip().endswith((".", "?", "!", ":")):
        stem, rest = text, ""  # the list is a part of the sentence, which stays whole
    return _made(stem, options, rest.strip(), (), ",")
