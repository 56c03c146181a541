"""What of an OpenAI-compatible server's reply is kept.

That is the text, the first token's alternatives, an echoed prompt's scores, the tokens used.

Servers differ and strangers write them: a reply of another shape is a fault with a name, never a
crash, and what a server says about its own use of tokens is believed only as far as it can be true.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from gnomon.errors import ModelError
from gnomon.models.likelihood import log_sum
from gnomon.models.servers.budget import Tokens
from gnomon.models.servers.pictures import hide_pictures
from gnomon.redaction import redact

LONGEST_TEXT = 1_000_000  # characters of a reply that are kept
ALTERNATIVES = 20  # tokens for which servers give log-probabilities at a place, at most
_IMPOSSIBLE = -9999.0  # as servers write the logarithm of nothing
_HEAD = 1_000  # of these, from the beginning; the rest from the end, where answers stand


class Completion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of a reply that is used or kept."""

    text: str
    used: Tokens
    first: dict[str, float] = {}  # what could have come first, with log-probabilities
    offsets: tuple[int, ...] = ()  # of an echoed prompt: where each token begins
    logprobs: tuple[float | None, ...] = ()  # and how likely it is after those before it
    cut: bool = False  # it was too long to be kept whole
    unfinished: bool = False  # the server ended it at the limit of tokens


class MalformedError(Exception):
    """A reply with status 200 that cannot be used."""


# --- the reply as it is sent: fields that are not named here are skipped unread -----------------


class _Alternative(msgspec.Struct):
    token: str = ""
    logprob: float = _IMPOSSIBLE


class _Token(_Alternative):
    top_logprobs: list[_Alternative] | None = None


class _Logprobs(msgspec.Struct):
    content: list[_Token] | None = None  # as chat servers write it
    tokens: list[str] | None = None  # as completion servers write it
    token_logprobs: list[float | None] | None = None
    top_logprobs: list[dict[str, float] | None] | None = None
    text_offset: list[int] | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    text: str | None = None
    logprobs: _Logprobs | None = None
    finish_reason: str | None = None


class _Reply(msgspec.Struct):
    choices: list[_Choice] = []
    usage: msgspec.Raw = msgspec.Raw()  # read apart: nonsense in it must not cost the reply


class _Usage(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int | None = None


def parse_reply(
    raw: bytes,
    *,
    most: Tokens,
    echo: bool = False,
    secrets: Sequence[str] = (),
    pictures: Sequence[str] = (),
    picture_tokens: int = 0,
) -> Completion:
    """What is kept of a reply. `most` is our own estimate of the tokens that the request may use.

    `pictures` are those of the request, which are not kept; `picture_tokens` their part of `most`.

    >>> reply = b'{"choices": [{"message": {"content": "Larger."}}]}'
    >>> parse_reply(reply, most=Tokens(20, 64)).text
    'Larger.'
    """
    try:
        reply = msgspec.json.decode(raw, type=_Reply)
    except (msgspec.ValidationError, RecursionError):
        raise MalformedError("the reply is not as an OpenAI-compatible server writes it") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise MalformedError("the reply is not JSON") from None
    if not reply.choices:
        raise MalformedError("the reply has no choices")
    choice = reply.choices[0]
    logprobs = choice.logprobs or _Logprobs()
    text = hide_pictures(_text(choice), pictures)
    used = _used(reply.usage, most, len(text), picture_tokens)
    if echo:
        return _echoed(logprobs, used)
    return Completion(
        text=_bounded(redact(text, secrets)),
        used=used,
        first=_first_alternatives(logprobs, secrets),
        cut=len(text) > LONGEST_TEXT,
        unfinished=choice.finish_reason == "length",
    )


def scores_of(
    alternatives: dict[str, float], answers: Sequence[Sequence[str]]
) -> tuple[float, ...] | None:
    """The log-probability of each choice, from the first token's alternatives.

    None if the token that came, which leads, begins no answer. A token counts for the one choice
    whose answer it begins. A choice that is not among the alternatives is at most as likely as the
    least of them and as all that is left.

    >>> scores_of({"True": -0.1, " false": -2.5, "I": -4.0}, [["True"], ["False"]])
    (-0.1, -2.5)
    """
    found: list[list[float]] = [[] for _ in answers]
    for token, value in alternatives.items():
        owner = _begins(token, answers)
        if owner is not None:
            found[owner].append(value)
        elif not any(found):
            return None
    if not any(found):
        return None
    left = 1.0 - sum(math.exp(value) for value in alternatives.values())
    bound = min(min(alternatives.values()), math.log(max(left, 1e-9)))
    return tuple(log_sum(values) if values else bound for values in found)


def first_choice(alternatives: dict[str, float], answers: Sequence[Sequence[str]]) -> int | None:
    """The choice that the token which came first begins, if it begins one and no other.

    >>> first_choice({"True": -0.1, " false": -2.5}, [["True"], ["False"]])
    0
    """
    if not alternatives:
        return None
    return _begins(next(iter(alternatives)), answers)


def echo_score(completion: Completion, start: int) -> float:
    """The sum over the tokens of an echoed prompt that reach beyond its first characters."""
    ends = [*completion.offsets[1:], math.inf]
    total = 0.0
    for value, end in zip(completion.logprobs, ends, strict=False):
        if end > start and value is not None:
            total += value
    return total


def _echoed(logprobs: _Logprobs, used: Tokens) -> Completion:
    """What is kept of an echoed prompt, whose text is known."""
    if not logprobs.text_offset or not logprobs.token_logprobs:
        raise ModelError(
            "The server does not echo its prompt with log-probabilities.",
            "Leave out echo, or use a server that can, such as vLLM.",
        )
    offsets = tuple(logprobs.text_offset)
    return Completion("", used, offsets=offsets, logprobs=tuple(logprobs.token_logprobs))


def _first_alternatives(logprobs: _Logprobs, secrets: Sequence[str]) -> dict[str, float]:
    """The tokens that could have come first; the one that came leads."""
    pairs: list[tuple[str, float]] = []
    if logprobs.content:
        first = logprobs.content[0]
        for each in (first, *(first.top_logprobs or ())):
            pairs.append((each.token, each.logprob))
    elif logprobs.tokens and logprobs.top_logprobs:
        came = logprobs.token_logprobs or [None]
        pairs.append((logprobs.tokens[0], _IMPOSSIBLE if came[0] is None else came[0]))
        pairs += (logprobs.top_logprobs[0] or {}).items()
    found: dict[str, float] = {}
    for token, value in pairs[: ALTERNATIVES + 1]:
        found.setdefault(redact(token, secrets), max(_IMPOSSIBLE, min(value, 0.0)))
    return found


def _begins(token: str, answers: Sequence[Sequence[str]]) -> int | None:
    """The one choice that has an answer beginning with this token, if there is one and no other."""
    text = token.strip().casefold()
    if not text:
        return None
    owners = []
    for place, ways in enumerate(answers):
        if any(word.casefold().startswith(text) for word in ways):
            owners.append(place)
    return owners[0] if len(owners) == 1 else None


def _text(choice: _Choice) -> str:
    """What the model said: its message, its refusal, or its text."""
    if choice.message is None:
        return choice.text or ""
    return choice.message.content or choice.message.refusal or ""


def _bounded(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    tail = LONGEST_TEXT - _HEAD
    gone = len(text) - LONGEST_TEXT
    return f"{text[:_HEAD]}\n[{gone:,} characters of this reply were cut]\n{text[-tail:]}"


def _used(usage: msgspec.Raw, most: Tokens, characters: int, pictures: int) -> Tokens:
    """The tokens that were used: what the server says, or our own estimate where that cannot be.

    A token is hardly longer than a dozen characters and no shorter than a third of one; a chat
    template adds some, and a server may overrun what was asked for. For a picture servers count
    from a few tokens to forty times as many as OpenAI's usual models.
    """
    own = Tokens(most.read, max(most.written, characters // 3))
    try:
        said = msgspec.json.decode(usage, type=_Usage)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return own
    written = said.completion_tokens or 0
    text = most.read - pictures
    plausible_read = text // 4 <= said.prompt_tokens <= 8 * text + 40 * pictures + 4096
    plausible_written = characters // 16 <= written <= max(most.written, characters) + 4096
    if plausible_read and plausible_written:
        return Tokens(said.prompt_tokens, written)
    return own
