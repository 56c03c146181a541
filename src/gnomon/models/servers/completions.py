"""OpenAI's protocol: what is sent for a question, and what of the reply is kept.

Servers differ and strangers write them: a reply of another shape is a fault with a name, never a
crash, and what a server says about its own use of tokens is believed only as far as it can be true.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import msgspec

from gnomon.contracts import ANYTHING, TEXT, Scale, Takes
from gnomon.errors import ModelError, UsageError, check_known
from gnomon.models.servers import protocol
from gnomon.models.servers.pictures import SentPicture, hide_pictures, with_pictures
from gnomon.redaction import redact

LONGEST_TEXT = 1_000_000  # characters of a reply that are kept
ALTERNATIVES = 20  # tokens for which servers give log-probabilities at a place, at most
_IMPOSSIBLE = -9999.0  # as servers write the logarithm of nothing
_HEAD = 1_000  # of these, from the beginning; the rest from the end, where answers stand


# --- the reply as it is sent: fields that are not named here are skipped unread ------------------


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
    raw: bytes, asked: protocol.RequestFacts, *, echo: bool = False
) -> protocol.Completion:
    """What is kept of a reply.

    >>> reply = b'{"choices": [{"message": {"content": "Larger."}}]}'
    >>> parse_reply(reply, protocol.RequestFacts(protocol.Tokens(20, 64))).text
    'Larger.'
    """
    try:
        reply = msgspec.json.decode(raw, type=_Reply)
    except (msgspec.ValidationError, RecursionError):
        raise protocol.MalformedError(
            "the reply is not as an OpenAI-compatible server writes it"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise protocol.MalformedError("the reply is not JSON") from None
    if not reply.choices:
        raise protocol.MalformedError("the reply has no choices")
    choice = reply.choices[0]
    logprobs = choice.logprobs or _Logprobs()
    said = choice.text
    if choice.message is not None:
        said = choice.message.content or choice.message.refusal
    text = hide_pictures(said or "", asked.pictures)
    used = _used(reply.usage, asked, len(text))
    if echo:
        return _echoed(logprobs, used)
    return protocol.Completion(
        text=_bounded(redact(text, asked.secrets)),
        used=used,
        first=_first_alternatives(logprobs, asked.secrets),
        cut=len(text) > LONGEST_TEXT,
        unfinished=choice.finish_reason == "length",
    )


def _echoed(logprobs: _Logprobs, used: protocol.Tokens) -> protocol.Completion:
    """What is kept of an echoed prompt, whose text is known."""
    if not logprobs.text_offset or not logprobs.token_logprobs:
        raise ModelError(
            "The server does not echo its prompt with log-probabilities.",
            "Leave out echo, or use a server that can, such as vLLM.",
        )
    offsets = tuple(logprobs.text_offset)
    return protocol.Completion("", used, offsets=offsets, logprobs=tuple(logprobs.token_logprobs))


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


def _bounded(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    tail = LONGEST_TEXT - _HEAD
    gone = len(text) - LONGEST_TEXT
    return f"{text[:_HEAD]}\n[{gone:,} characters of this reply were cut]\n{text[-tail:]}"


def _used(usage: msgspec.Raw, asked: protocol.RequestFacts, characters: int) -> protocol.Tokens:
    """The tokens that were used: what the server says, or our own estimate where that cannot be.

    A token is hardly longer than a dozen characters and no shorter than a third of one; a chat
    template adds some, and a server may overrun what was asked for. For a picture servers count
    from a few tokens to forty times as many as OpenAI's usual models.
    """
    most, pictures = asked.most, asked.picture_tokens
    own = protocol.Tokens(most.read, max(most.written, characters // 3))
    try:
        said = msgspec.json.decode(usage, type=_Usage)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return own
    written = said.completion_tokens or 0
    text = most.read - pictures
    plausible_read = text // 4 <= said.prompt_tokens <= 8 * text + 40 * pictures + 4096
    plausible_written = characters // 16 <= written <= max(most.written, characters) + 4096
    if plausible_read and plausible_written:
        return protocol.Tokens(said.prompt_tokens, written)
    return own


# --- what is sent, and what the manifest says of it ----------------------------------------------


Endpoint = Literal["chat", "completion"]
CONSTRAINTS = ("json", "choice")
_GROWTH = 16  # how many times more room a reply gets that was cut
_COMPLETION_ALTERNATIVES = 5  # the most that completion servers give
# What a server may refuse, and how it is asked without.
_REMEDIES = {
    "temperature": "--set temperature=default",
    "logprobs": "--set logprobs=no",
    "seed": "leave out request_seed",
    "response_format": "leave out constrain",
    "guided_choice": "leave out constrain, or give constrain=json",
}


class Sampling(NamedTuple):
    """How the server draws its tokens. None: whatever it does without being told."""

    temperature: float | None
    seed: int | None


@dataclass
class OpenAIApi:
    """How every request of a run is made, and its reply read."""

    model: str
    endpoint: Endpoint
    sampling: Sampling
    logprobs: bool  # ask for the log-probabilities of the first token
    echo: bool  # score each answer whole, as an echoed prompt
    reply_tokens: int
    most_reply_tokens: int = 8192  # for a reply that was cut
    constrain: str = ""  # one of CONSTRAINTS
    scheme: str = field(default="openai", init=False)
    converses: bool = field(init=False)
    path: str = field(init=False)
    takes: frozenset[Takes] = field(init=False)  # only conversations may hold pictures
    scale: Scale = field(init=False)
    limits: Sequence[int] = field(init=False)
    _newer_words: bool = field(default=False, init=False)  # as OpenAI's newer models want them

    def __post_init__(self) -> None:
        check_known("endpoint", self.endpoint, ("chat", "completion"))
        if self.echo and self.endpoint == "chat":
            raise UsageError(
                "A chat server cannot echo.",
                "Add --set endpoint=completion, or leave out echo.",
            )
        protocol.check_positive("new_tokens", self.reply_tokens)
        protocol.check_positive("most_new_tokens", self.most_reply_tokens)
        if self.constrain:
            check_known("constraint of answers", self.constrain, CONSTRAINTS)
        self.converses = self.endpoint == "chat"
        self.path = "/chat/completions" if self.converses else "/completions"
        self.takes = ANYTHING if self.converses else TEXT
        self.scale = "log-probability" if self.logprobs or self.echo else "none"
        limits = [self.reply_tokens]
        while limits[-1] < self.most_reply_tokens:
            limits.append(min(limits[-1] * _GROWTH, self.most_reply_tokens))
        self.limits = limits

    def describe(self) -> dict[str, Any]:
        """What of this determines the answers."""
        about: dict[str, Any] = {
            "endpoint": self.endpoint,
            "logprobs": self.logprobs,
            "echo": self.echo,
            "reply_tokens": self.reply_tokens,
            "most_reply_tokens": max(self.limits),
            "constrain": self.constrain or "no",
            "temperature": "default",  # unless one is sent
        }
        return about | self._sampling()

    def for_reply(
        self, said: str | list[dict[str, str]], limit: int, answers: Sequence[str]
    ) -> dict[str, Any]:
        """A request that is answered by a reply: `said` is a prompt, or the turns of a chat.

        The reply may have `limit` tokens; if it is constrained, it must be one of the answers.
        """
        body: dict[str, Any] = {"model": self.model, "max_tokens": limit}
        body |= self._constraint(answers)
        if self.converses:
            body["messages"] = said
            if self.logprobs:
                body |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
        else:
            body["prompt"] = said
            if self.logprobs:
                body["logprobs"] = _COMPLETION_ALTERNATIVES
        return body | self._sampling()

    def for_echo(self, text: str) -> dict[str, Any]:
        """A request that gives back its own text with log-probabilities."""
        body = {"model": self.model, "prompt": text, "echo": True, "logprobs": 1, "max_tokens": 0}
        return body | self._sampling()

    def _constraint(self, answers: Sequence[str]) -> dict[str, Any]:
        """What makes a server give one of the answers and nothing else."""
        if not self.constrain or not answers:
            return {}
        if self.constrain == "choice":
            return {"guided_choice": list(answers)}
        schema = {
            "type": "object",
            "properties": {"answer": {"type": "string", "enum": list(answers)}},
            "required": ["answer"],
            "additionalProperties": False,
        }
        form = {"name": "answer", "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": form}}

    def sent(self, body: dict[str, Any], pictures: Sequence[SentPicture]) -> dict[str, Any]:
        """A request as it is sent: in words that this server knows, and with its pictures."""
        if self._newer_words:
            body = dict(body)
            body["max_completion_tokens"] = body.pop("max_tokens")
        return with_pictures(body, pictures)

    def learns_words(self, complaint: str, sent: dict[str, Any]) -> bool:
        """Whether a refused request may be sent again in other words that mean the same."""
        if "max_completion_tokens" not in complaint or "max_tokens" not in sent:
            return False
        self._newer_words = True
        return True

    def estimate(self, body: dict[str, Any]) -> protocol.Tokens:
        """The most that a request is likely to use: a third of its characters, and those asked for.

        Its pictures are counted by themselves.
        """
        texts = [body.get("prompt", "")]
        if "messages" in body:
            texts = [turn["content"] for turn in body["messages"]]
        return protocol.Tokens(sum(len(text) // 3 + 8 for text in texts), body["max_tokens"])

    def parse(self, raw: bytes, asked: protocol.RequestFacts) -> protocol.Completion:
        """What is kept of a reply."""
        return parse_reply(raw, asked, echo=self.echo)

    def refused(self, complaint: str, sent: dict[str, Any]) -> tuple[str, str] | None:
        """The parameter that a server complains about, and what to do without it."""
        for parameter, remedy in _REMEDIES.items():
            named = re.search(rf"(?<![a-z]){parameter}(?![a-z])", complaint)
            if named and parameter in sent:
                needed = self.echo and parameter == "logprobs"
                return parameter, "leave out echo" if needed else remedy
        return None

    def _sampling(self) -> dict[str, Any]:
        """What is sent of it: nothing that the server is to choose."""
        given = self.sampling._asdict()
        return {name: value for name, value in given.items() if value is not None}
