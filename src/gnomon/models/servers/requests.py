"""What is sent to an OpenAI-compatible server for a question, and what the manifest says of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple

from gnomon.contracts import ANYTHING, TEXT, Scale, Takes
from gnomon.errors import UsageError
from gnomon.models.servers.budget import Tokens
from gnomon.models.servers.completions import ALTERNATIVES

Endpoint = Literal["chat", "completion"]
CONSTRAINTS = ("", "json", "choice")
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


@dataclass(frozen=True)
class Requests:
    """How every request of a run is made."""

    model: str
    endpoint: Endpoint
    sampling: Sampling
    _: KW_ONLY
    logprobs: bool  # ask for the log-probabilities of the first token
    echo: bool  # score each answer whole, as an echoed prompt
    reply_tokens: int
    most_reply_tokens: int = 8192  # for a reply that was cut
    constrain: str = ""  # one of CONSTRAINTS

    def __post_init__(self) -> None:
        if self.endpoint not in ("chat", "completion"):
            raise UsageError(
                f"There is no endpoint '{self.endpoint}'.", "Choose chat or completion."
            )
        if self.echo and self.endpoint == "chat":
            raise UsageError(
                "A chat server cannot echo.",
                "Add --set endpoint=completion, or leave out echo.",
            )
        check_positive("reply_tokens", self.reply_tokens)
        check_positive("most_reply_tokens", self.most_reply_tokens)
        if self.constrain not in CONSTRAINTS:
            raise UsageError(
                f"Answers cannot be constrained by '{self.constrain}'.", "Known: json, choice."
            )

    @property
    def limits(self) -> list[int]:
        """The tokens that a reply may have: at first, and each time that it was cut."""
        found = [self.reply_tokens]
        while found[-1] < self.most_reply_tokens:
            found.append(min(found[-1] * _GROWTH, self.most_reply_tokens))
        return found

    @property
    def scale(self) -> Scale:
        """What the scores of answers are."""
        return "log-probability" if self.logprobs or self.echo else "none"

    @property
    def takes(self) -> frozenset[Takes]:
        """Only conversations may hold pictures."""
        return ANYTHING if self.endpoint == "chat" else TEXT

    @property
    def path(self) -> str:
        """Where requests go, below the server's address."""
        return "/chat/completions" if self.endpoint == "chat" else "/completions"

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
        self, said: str | list[dict[str, str]], limit: int = 0, answers: Sequence[str] = ()
    ) -> dict[str, Any]:
        """A request that is answered by a reply: `said` is a prompt, or the turns of a chat.

        The reply may have `limit` tokens; if it is constrained, it must be one of the answers.
        """
        body: dict[str, Any] = {"model": self.model, "max_tokens": limit or self.reply_tokens}
        body |= self._constraint(answers)
        if self.endpoint == "chat":
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
        if not self.constrain:
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

    def refused(self, complaint: str, body: dict[str, Any]) -> tuple[str, str] | None:
        """The parameter that a server complains about, and what to do without it."""
        for parameter, remedy in _REMEDIES.items():
            named = re.search(rf"(?<![a-z]){parameter}(?![a-z])", complaint)
            if named and parameter in body:
                needed = self.echo and parameter == "logprobs"
                return parameter, "leave out echo" if needed else remedy
        return None

    def _sampling(self) -> dict[str, Any]:
        """What is sent of it: nothing that the server is to choose."""
        given = self.sampling._asdict()
        return {name: value for name, value in given.items() if value is not None}


def estimate(body: dict[str, Any], pictures: int = 0) -> Tokens:
    """The most that a request is likely to use: a third of its characters, and those asked for.

    `pictures` are the tokens of the pictures that go with it.
    """
    texts = [body["prompt"]] if "prompt" in body else [turn["content"] for turn in body["messages"]]
    read = pictures
    for text in texts:
        read += len(text) // 3 + 8
    return Tokens(read, body["max_tokens"])


def check_positive(option: str, value: float) -> None:
    """Refuse an option that must be above 0 and is not."""
    if not value > 0:
        raise UsageError(
            f"The option {option} must be above 0, not {value}.", "Give more, or leave it out."
        )
