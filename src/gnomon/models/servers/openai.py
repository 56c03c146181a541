"""Models behind any OpenAI-compatible server (OpenAI, vLLM, llama.cpp, Ollama ...).

A reply whose first token begins one of the answers gives the log-probability of each answer at that
place; any other reply is read by the rules of `reading`. A completion server that echoes its prompt
scores every answer whole.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from gnomon.errors import ModelError, UsageError
from gnomon.fetching.catalogue import cache_folder
from gnomon.models.likelihood import log_sum
from gnomon.models.reading.replies import as_answer
from gnomon.models.servers.budget import Budget
from gnomon.models.servers.completions import Completion, echo_score, parse_reply, scores_of
from gnomon.models.servers.refusals import AskError, RejectedError
from gnomon.models.servers.remote import Remote, address_of
from gnomon.models.servers.replycache import Replies
from gnomon.models.servers.requests import Endpoint, Requests, estimate
from gnomon.options import neutral
from gnomon.probing.prompts import Prompt, load_prompt
from gnomon.records import Answer, Item, pick
from gnomon.redaction import redact_url

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_KEY = "OPENAI_API_KEY"
BATCHES = 16  # requests of a batch for each that may be under way


@neutral(
    "concurrency",
    "attempts",
    "timeout",
    "max_cost",
    "price_input",
    "price_output",
    "budget_tokens",
    "key_env",
    "cache",
)
def openai(
    name: str,
    *,
    base_url: str = "",
    endpoint: Endpoint = "chat",
    prompt: str = "",
    shots: int | None = None,
    logprobs: bool = True,
    echo: bool = False,
    temperature: float | str = 0.0,
    reply_tokens: int = 64,
    request_seed: int | None = None,
    concurrency: int = 8,
    attempts: int = 6,
    timeout: float = 120.0,
    max_cost: float | None = None,
    price_input: float | None = None,
    price_output: float | None = None,
    budget_tokens: int | None = None,
    key_env: str = DEFAULT_KEY,
    cache: bool = True,
) -> OpenAI:
    """A model by the name that its server knows.

    base_url       the server's address (else OPENAI_BASE_URL, else OpenAI's own)
    endpoint       chat or completion: which of the server's two interfaces is asked
    prompt         how items are put: a name, or a file (default: chat, or plain for completion)
    shots          how many of the prompt's worked examples to show (default: all)
    logprobs       no: read the reply, and ask for no log-probabilities (some servers refuse them)
    echo           yes: score every answer whole, with endpoint=completion; vLLM can
    temperature    0 for the likeliest reply; default: not sent, for servers that refuse it
    reply_tokens   how long a reply may be
    request_seed   sent with each request, for servers that take a seed
    concurrency    requests under way at once
    attempts       how often a request is tried before its item fails
    timeout        seconds that a reply may take
    max_cost       end the run before more than this is spent, by the two prices
    price_input    of a million tokens that are read
    price_output   of a million tokens that are written
    budget_tokens  end the run before more tokens than this are used
    key_env        the environment variable that holds the key; never the key itself
    cache          no: keep no replies, and pay again for a second run
    """
    if not name:
        raise UsageError(
            "openai needs the name of a model.",
            "Write openai:NAME, for instance openai:gpt-4o-mini",
        )
    requests = Requests(
        model=name,
        endpoint=endpoint,
        logprobs=logprobs,
        echo=echo,
        temperature=_temperature(temperature),
        reply_tokens=reply_tokens,
        seed=request_seed,
    )
    _check_requests(requests)
    _check_key(key_env, name)
    remote = Remote(
        _address(base_url),
        key_env=key_env,
        concurrency=_positive("concurrency", concurrency),
        attempts=_positive("attempts", attempts),
        timeout=_positive("timeout", timeout),
        budget=_budget(max_cost, price_input, price_output, budget_tokens),
    )
    default_prompt = "chat" if endpoint == "chat" else "plain"
    wording = load_prompt(prompt or default_prompt).with_shots(shots)
    replies = Replies(cache_folder() / "replies.sqlite") if cache else None
    return OpenAI(requests, remote, wording, replies, batch=concurrency * BATCHES)


class OpenAI:
    """One model of one server."""

    def __init__(
        self,
        requests: Requests,
        remote: Remote,
        prompt: Prompt,
        replies: Replies | None,
        *,
        batch: int,
    ) -> None:
        self.spec = f"openai:{requests.model}"
        self.scale = requests.scale
        self.batch = batch
        self.spending = remote.budget
        self._requests = requests
        self._remote = remote
        self._prompt = prompt
        self._replies = replies
        self._newer_names = False  # max_completion_tokens for max_tokens, as OpenAI's newer models
        self._accepted = False  # has the server ever taken a request with these parameters?

    def describe(self) -> dict[str, Any]:
        """What determines the answers; never the key."""
        return {
            "kind": "openai",
            "model": self._requests.model,
            "base_url": redact_url(self._remote.base_url),
            "prompt": self._prompt.describe(),
            **self._requests.describe(),
        }

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """Ask for all items at once, as far as the server's concurrency allows."""
        return self._remote.run(self._answer_all(items))

    def close(self) -> None:
        """Close connections and the cache of replies."""
        self._remote.close()
        if self._replies:
            self._replies.close()

    async def _answer_all(self, items: Sequence[Item]) -> list[Answer]:
        """When one request ends the run, those under way are waited for: they are paid for, and
        their replies kept."""
        self._remote.ended = None
        answers = await asyncio.gather(*(self._answer_one(item) for item in items))
        if self._remote.ended:
            raise self._remote.ended
        return answers

    async def _answer_one(self, item: Item) -> Answer:
        try:
            if self._requests.echo:
                return await self._echoed(item)
            return await self._replied(item)
        except AskError as error:
            return Answer(item=item.id, error=str(error))
        except ModelError as error:
            self._remote.ended = self._remote.ended or error
            return Answer(item=item.id, error=error.message)  # never seen: the run ends

    async def _replied(self, item: Item) -> Answer:
        """Ask once, and take the scores of the first token's alternatives, or read the reply."""
        if self._requests.endpoint == "chat":
            body = self._requests.for_reply(self._prompt.chat(item))
        else:
            body = self._requests.for_reply(self._prompt.context(item))
        found = await self._ask(body)
        answers = self._prompt.answers(item)
        scores = scores_of(found.first, answers) if self._requests.logprobs else None
        if scores is None:
            return as_answer(item, found.text, answers, tokens=sum(found.used))
        return Answer(
            item=item.id,
            scores=scores,
            choice=pick(item, scores).choice,
            reply=found.text,
            tokens=sum(found.used),
        )

    async def _echoed(self, item: Item) -> Answer:
        """Send each answer after the context, and add up the log-probabilities of its tokens."""
        context = self._prompt.context(item)
        scores = []
        tokens = 0
        for ways in self._prompt.words(item):
            bodies = [self._requests.for_echo(context + word) for word in ways]
            found = await asyncio.gather(*(self._ask(body) for body in bodies))
            scores.append(log_sum([echo_score(each, len(context)) for each in found]))
            tokens += sum(sum(each.used) for each in found)
        best = pick(item, tuple(scores))
        return Answer(item=item.id, scores=best.scores, choice=best.choice, tokens=tokens)

    async def _ask(self, body: dict[str, Any]) -> Completion:
        """The reply to one request: sent, unless it is known."""
        address = address_of(self._remote.base_url, self._requests.path)
        async with self._remote.slots:
            known = self._replies.find(address, body) if self._replies else None
            if known:
                return known
            found = await self._send(body)
            if self._replies and not found.cut:
                self._replies.keep(address, body, found)
            return found

    async def _send(self, body: dict[str, Any]) -> Completion:
        most = estimate(body)
        parse = partial(
            parse_reply, most=most, echo=self._requests.echo, secrets=self._remote.secrets
        )
        sent = self._in_its_words(body)
        try:
            found = await self._remote.post(self._requests.path, sent, most, parse)
        except RejectedError as error:
            if "max_completion_tokens" in str(error) and "max_tokens" in sent:
                self._newer_names = True  # another word for the same: the answers do not change
                return await self._send(body)
            self._check_refused(str(error), sent)
            raise
        self._accepted = True
        return found

    def _in_its_words(self, body: dict[str, Any]) -> dict[str, Any]:
        """The request with the names of parameters that this server knows."""
        if not self._newer_names:
            return body
        sent = dict(body)
        sent["max_completion_tokens"] = sent.pop("max_tokens")
        return sent

    def _check_refused(self, complaint: str, body: dict[str, Any]) -> None:
        """End the run if the server refuses a parameter: asked without it, it answers otherwise.

        A server that took the same parameters before complains of something else.
        """
        refused = self._requests.refused(complaint, body)
        if refused is None or self._accepted:
            return
        parameter, remedy = refused
        raise ModelError(
            f"The server refuses the parameter {parameter}: {complaint}.",
            f"Ask without it: {remedy}. The run's manifest will say so.",
        )


def _temperature(value: float | str) -> float | None:
    """A number from 0 to 2; none for `default`."""
    if value == "default":
        return None
    if isinstance(value, str) or not 0 <= value <= 2:
        raise UsageError(
            f"The temperature must be a number from 0 to 2, or default, not '{value}'.",
            "0 asks for the likeliest reply; default sends none.",
        )
    return float(value)


def _check_requests(requests: Requests) -> None:
    if requests.endpoint not in ("chat", "completion"):
        raise UsageError(
            f"There is no endpoint '{requests.endpoint}'.", "It may be chat or completion."
        )
    if requests.echo and requests.endpoint == "chat":
        raise UsageError(
            "A chat server cannot echo.", "Add --model-set endpoint=completion, or leave out echo."
        )
    _positive("reply_tokens", requests.reply_tokens)


def _positive(option: str, value: Any) -> Any:
    if not value > 0:
        raise UsageError(f"The option {option} must be above 0, not {value}.")
    return value


def _check_key(key_env: str, name: str) -> None:
    """Refuse a key where the name of a variable or of a model belongs, without showing it."""
    key = os.environ.get(key_env, "")
    if key_env != DEFAULT_KEY and not key:
        raise UsageError(
            "There is no such environment variable as key_env says, or it is empty.",
            "Put the key into a variable, and give that variable's name: "
            "--model-set key_env=MY_KEY",
        )
    if key and key in name:
        raise UsageError(
            "The name of the model holds the key.", "Write openai:NAME with the model's name alone."
        )
    if not key.isascii() or not key.isprintable():
        raise UsageError(
            f"The key in the environment variable {key_env} has characters that "
            "no header may hold.",
            "Copy it again, without line ends.",
        )


def _address(base_url: str) -> str:
    """The server's address, from the option or the environment."""
    address = base_url or os.environ.get("OPENAI_BASE_URL", "") or DEFAULT_URL
    if not _is_web(address):
        raise UsageError(
            f"'{redact_url(address)}' is not a web address.",
            "Give the server's with --base-url, for instance http://localhost:8000/v1",
        )
    if "@" in re.sub(r"^\w+://[^/?#]*", "", address):
        raise UsageError(
            "The address has an @ after its host.",
            "Write %40 for it; and in a password %2F for /, %3F for ? and %23 for #.",
        )
    return address


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _budget(
    max_cost: float | None,
    price_input: float | None,
    price_output: float | None,
    budget_tokens: int | None,
) -> Budget:
    if max_cost is not None and (price_input is None or price_output is None):
        raise UsageError(
            "A budget in money needs the model's prices.",
            "Give them per million tokens: "
            "--model-set price_input=0.15 --model-set price_output=0.60",
        )
    return Budget(price_input or 0.0, price_output or 0.0, max_cost, budget_tokens)
