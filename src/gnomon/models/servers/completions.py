"""What an OpenAI-compatible server's reply holds: the text, the first token's alternatives, an
echoed prompt's scores.

Servers differ and strangers write them: a reply of another shape is a fault with a name, never a
crash.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gnomon.errors import ModelError
from gnomon.models.likelihood import log_sum


def first_alternatives(choice: dict[str, Any]) -> dict[str, float]:
    """The tokens that could have come first in a reply, with their log-probabilities; the token
    that came leads."""
    logprobs = choice.get("logprobs") or {}
    found: dict[str, float] = {}
    if content := logprobs.get("content"):  # as chat servers write it
        first = content[0]
        for one in (first, *(first.get("top_logprobs") or ())):
            found.setdefault(str(one.get("token", "")), float(one.get("logprob", -math.inf)))
    elif logprobs.get("tokens") and logprobs.get("top_logprobs"):  # as completion servers write it
        found[str(logprobs["tokens"][0])] = float(
            (logprobs.get("token_logprobs") or [-math.inf])[0]
        )
        for token, value in (logprobs["top_logprobs"][0] or {}).items():
            found.setdefault(str(token), float(value))
    return {token: value for token, value in found.items() if not math.isnan(value)}


def scores_of(
    alternatives: dict[str, float], answers: Sequence[Sequence[str]]
) -> tuple[float, ...] | None:
    """The log-probability of each choice, from the first token's alternatives; none if that token
    begins no answer.

    A token counts for the one choice whose answer it begins. A choice that is not among the
    alternatives is at most as likely as the least of them and as all that is left.

    >>> scores_of({"True": -0.1, " false": -2.5, "I": -4.0}, [["True"], ["False"]])
    (-0.1, -2.5)
    """
    if not alternatives:
        return None
    found: list[list[float]] = [[] for _ in answers]
    for place, (token, value) in enumerate(alternatives.items()):
        owner = _begins(token, answers)
        if owner is None and not place:
            return None
        if owner is not None:
            found[owner].append(value)
    left = 1.0 - sum(math.exp(min(value, 0.0)) for value in alternatives.values())
    bound = min(min(alternatives.values()), math.log(max(left, 1e-9)))
    return tuple(log_sum(values) if values else bound for values in found)


def echo_score(logprobs: dict[str, Any], start: int) -> float:
    """The sum over the tokens of an echoed prompt that reach beyond its first `start`
    characters."""
    ends = [*logprobs["text_offset"][1:], math.inf]
    pairs = zip(logprobs["token_logprobs"], ends, strict=False)
    return float(sum(value for value, end in pairs if end > start and value is not None))


def _begins(token: str, answers: Sequence[Sequence[str]]) -> int | None:
    """The one choice that has an answer beginning with this token, if there is one and no other."""
    text = token.strip().casefold()
    owners = {
        n
        for n, ways in enumerate(answers)
        if text and any(word.casefold().startswith(text) for word in ways)
    }
    return owners.pop() if len(owners) == 1 else None


def problem_of(reply: Any) -> str:
    """What is wrong with a reply that came with status 200; empty if it can be used."""
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return "the reply has no choices"
    try:
        reply_text(choices[0])
        first_alternatives(choices[0])
    except (TypeError, ValueError, AttributeError, KeyError, IndexError):
        return "the reply is not as an OpenAI-compatible server writes it"
    return ""


def echo_problem(reply: Any) -> str:
    """The same for a reply that should echo its prompt; a server that cannot ends the run."""
    if problem := problem_of(reply):
        return problem
    logprobs = reply["choices"][0].get("logprobs")
    if (
        not isinstance(logprobs, dict)
        or not logprobs.get("token_logprobs")
        or not logprobs.get("text_offset")
    ):
        raise ModelError(
            "The server does not echo its prompt with log-probabilities.",
            "Ask without: leave out echo, or use a server that can, such as vLLM.",
        )
    return ""


def reply_text(choice: dict[str, Any]) -> str:
    """What the model said: its message, its refusal, or its text."""
    message = choice.get("message")
    if message is None:
        return str(choice.get("text") or "")
    return str(message.get("content") or message.get("refusal") or "")


def usage_of(reply: dict[str, Any]) -> tuple[int, int] | None:
    """Tokens read and written, if the server says."""
    usage = reply.get("usage")
    if not isinstance(usage, dict) or not isinstance(usage.get("prompt_tokens"), int):
        return None
    return usage["prompt_tokens"], int(usage.get("completion_tokens") or 0)
