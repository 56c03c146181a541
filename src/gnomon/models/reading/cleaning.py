"""A reply as plain text: case, quotes, dashes and markup made alike, thoughts taken off."""

from __future__ import annotations

import re
import unicodedata

# characters of a reply that are read, from its end: an answer stands last if there is that much
LIMIT = 32_768

_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "—": " - ", "–": " - ", "→": " : ", "…": "..."}
    | dict.fromkeys("“”„«»「」『』", '"')
)
_THOUGHT = re.compile(
    r"[<\[](?P<closes>/?)(?:think|thinking|thoughts?|reasoning|reflection|scratchpad)[>\]]",
    re.IGNORECASE,
)
_CHANNEL = re.compile(r"<\|channel\|>(\w+).*?<\|message\|>(.*?)(?=<\||\Z)", re.DOTALL)  # gpt-oss
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
_GREETING = re.compile(
    r"^(?:thank you for|thanks for|(?:great|good) question|sure,? (?:happy|glad) to help)"
    r"[^.!\n]*[.!]\s+(?=\S)"
)
_FAREWELL = re.compile(
    r"(?<=\S)\s+(?:(?:please )?let me know if|i hope (?:this|that)|hope (?:this|that)|feel free to)"
    r"[^\n]*$"
)
# "A. larger": the dot of an option ends no sentence
_OPTION = re.compile(r"(?:^|(?<=[.!?:]\s)|(?<=\n))([a-z])\. (?=[a-z])")
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?]+|\n|\Z)")


def clean(reply: str) -> str:
    """The part of a reply that is read, as plain text.

    >>> clean("<think>Hm.</think> **The answer** is “Larger”.")
    'the answer is "larger".'
    """
    text = _without_thoughts(reply)[-LIMIT:]
    text = unicodedata.normalize("NFKC", text).casefold().translate(_PLAIN)
    text = _STRUCK.sub(" ", text)
    text = _LATEX.sub(r"\1", text)
    text = _MARKUP.sub("", text)
    if "<answer>" not in text:
        text = text.replace("</answer>", "")  # the template may have opened it
    text = _FAREWELL.sub("", _GREETING.sub("", text.strip()))
    text = _OPTION.sub(r"\1) ", text)
    return _QUOTED.sub("it", text).strip()


def lines_of(text: str) -> list[str]:
    """The lines that hold something."""
    stripped = [line.strip() for line in text.splitlines()]
    return [line for line in stripped if line]


def sentences_of(text: str) -> list[str]:
    """Sentences, without questions (a reply often repeats what it was asked).

    >>> sentences_of("Is it larger? No. It is smaller.")
    ['No.', 'It is smaller.']
    """
    found = []
    for part in _SENTENCE.findall(text):
        is_empty = not part.strip(" .!\n")
        is_question = part.rstrip().endswith("?")
        if not is_empty and not is_question:
            found.append(part.strip())
    return found


def _without_thoughts(reply: str) -> str:
    """What follows the last thought; nothing if that never ends.

    Templates may open a thought before the reply begins.
    """
    channels = _CHANNEL.findall(reply)
    if channels:
        return "\n".join(said for name, said in channels if name == "final")
    marks = list(_THOUGHT.finditer(reply))
    if not marks:
        return reply
    first, last = marks[0], marks[-1]
    before = "" if first["closes"] else reply[: first.start()]
    after = reply[last.end() :] if last["closes"] else ""
    return f"{before}\n{after}"
