"""Models behind any OpenAI-compatible server (OpenAI, vLLM, llama.cpp, Ollama ...):
log-probabilities, else the reply.

A chat reply whose first token begins one of the answers gives the log-probability of each answer at
that place; any other reply is read by the rules of `reading`. A completion server that echoes its
prompt scores every answer whole.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from gnomon.contracts import Scale
from gnomon.errors import ModelError, UsageError
from gnomon.fetching.catalogue import cache_folder
from gnomon.models.likelihood import log_sum
from gnomon.models.reading.replies import as_answer
from gnomon.models.servers.completions import (
    echo_problem,
    echo_score,
    first_alternatives,
    problem_of,
    reply_text,
    scores_of,
    usage_of,
)
from gnomon.models.servers.remote import AskError, Budget, RejectedError, Remote
from gnomon.models.servers.replycache import Replies
from gnomon.options import neutral
from gnomon.probing.prompts import Prompt, load_prompt
from gnomon.records import Answer, Item, pick

ALTERNATIVES = 20  # tokens for which servers give log-probabilities at a place, at most
DEFAULT_URL = "https://api.openai.com/v1"


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
    endpoint: Literal["chat", "completion"] = "chat",
    prompt: str = "",
    shots: int | None = None,
    logprobs: bool = True,
    echo: bool = False,
    temperature: float = 0.0,
    reply_tokens: int = 64,
    request_seed: int | None = None,
    concurrency: int = 8,
    attempts: int = 6,
    timeout: float = 120.0,
    max_cost: float | None = None,
    price_input: float | None = None,
    price_output: float | None = None,
    budget_tokens: int | None = None,
    key_env: str = "OPENAI_API_KEY",
    cache: bool = True,
) -> OpenAI:
    """A model by the name its server knows. Prices are per million tokens; the key is read from
    `key_env` alone."""
    if not name:
        raise UsageError(
            "openai needs the name of a model.",
            "Write openai:NAME, for instance openai:gpt-4o-mini",
        )
    if endpoint not in ("chat", "completion"):
        raise UsageError(f"There is no endpoint '{endpoint}'.", "It may be chat or completion.")
    if echo and endpoint == "chat":
        raise UsageError(
            "A chat server cannot echo.", "Add --model-set endpoint=completion, or leave out echo."
        )
    if max_cost is not None and (price_input is None or price_output is None):
        raise UsageError(
            "A budget in money needs the model's prices.",
            "Give them per million tokens: --model-set price_input=0.15 --model-set price_output=0.60",
        )
    if concurrency < 1 or attempts < 1 or reply_tokens < 1 or timeout <= 0:
        raise UsageError(
            "concurrency, attempts, reply_tokens and timeout must be positive.", "Mend the option."
        )
    address = base_url or os.environ.get("OPENAI_BASE_URL", "") or DEFAULT_URL
    if not _is_web(address):
        raise UsageError(
            f"'{_public(address)}' is not a web address.",
            "Give the server's with --base-url, for instance http://localhost:8000/v1",
        )
    remote = Remote(
        address, key_env=key_env, concurrency=concurrency, attempts=attempts, timeout=timeout
    )
    budget = Budget(price_input or 0.0, price_output or 0.0, max_cost, budget_tokens)
    settings = {
        "temperature": temperature,
        **({"seed": request_seed} if request_seed is not None else {}),
    }
    wording = load_prompt(prompt or ("chat" if endpoint == "chat" else "plain")).with_shots(shots)
    replies = Replies(cache_folder() / "replies.sqlite") if cache else None
    return OpenAI(
        name,
        remote,
        wording,
        chat=endpoint == "chat",
        logprobs=logprobs,
        echo=echo,
        settings=settings,
        reply_tokens=reply_tokens,
        budget=budget,
        replies=replies,
        batch=concurrency * 16,
    )


class OpenAI:
    """One model of one server."""

    def __init__(
        self,
        name: str,
        remote: Remote,
        prompt: Prompt,
        *,
        chat: bool,
        logprobs: bool,
        echo: bool,
        settings: dict[str, Any],
        reply_tokens: int,
        budget: Budget,
        replies: Replies | None,
        batch: int,
    ) -> None:
        self.spec, self.name = f"openai:{name}", name
        self.scale: Scale = "log-probability" if logprobs or echo else "none"
        self.batch, self.spending = batch, budget
        self._remote, self._prompt, self._replies = remote, prompt, replies
        self._chat, self._logprobs, self._echo = chat, logprobs, echo
        self._settings, self._reply_tokens = settings, reply_tokens
        self._path = "/chat/completions" if chat else "/completions"
        self._length_name = "max_tokens"  # newer models of OpenAI want max_completion_tokens
        self._about = {
            "kind": "openai",
            "model": name,
            "base_url": _public(remote.base_url),
            "endpoint": "chat" if chat else "completion",
            "prompt": prompt.describe(),
            "logprobs": logprobs,
            "echo": echo,
            "reply_tokens": reply_tokens,
            **settings,
        }

    def describe(self) -> dict[str, Any]:
        """What determines the answers; never the key."""
        return self._about

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
            return await (self._echoed(item) if self._echo else self._replied(item))
        except AskError as error:
            return Answer(item=item.id, error=str(error)[:500])
        except ModelError as error:
            self._remote.ended = self._remote.ended or error
            return Answer(item=item.id, error=error.message)  # never seen: the run ends

    async def _replied(self, item: Item) -> Answer:
        """Ask once, and take the scores of the first token's alternatives, or read the reply."""
        said = self._prompt.chat(item) if self._chat else self._prompt.context(item)
        body: dict[str, Any] = {"messages" if self._chat else "prompt": said}
        choice = (await self._ask(body, self._reply_tokens))["choices"][0]
        reply = reply_text(choice)
        answers = self._prompt.answers(item)
        scores = scores_of(first_alternatives(choice), answers) if self._logprobs else None
        if scores is None:
            return as_answer(item, reply, answers)
        return Answer(item=item.id, scores=scores, choice=pick(item, scores).choice, reply=reply)

    async def _echoed(self, item: Item) -> Answer:
        """Send each answer after the context, and add up the log-probabilities of its tokens."""
        context = self._prompt.context(item)

        async def score(word: str) -> float:
            body = {"prompt": context + word, "echo": True, "logprobs": 1}
            choice = (await self._ask(body, 0, check=echo_problem))["choices"][0]
            return echo_score(choice["logprobs"], len(context))

        scores = [
            await asyncio.gather(*(score(word) for word in ways))
            for ways in self._prompt.words(item)
        ]
        return pick(item, tuple(log_sum(values) for values in scores))

    async def _ask(
        self, body: dict[str, Any], length: int, check: Callable[[Any], str] | None = None
    ) -> Any:
        """Send one request, unless its reply is known; mend a request that the server finds fault
        with, once each."""
        address = self._remote.base_url + self._path
        async with self._remote.slots:
            request = self._request(body, length)
            if self._replies and (known := self._replies.find(address, request)) is not None:
                return known
            try:
                reply = await self._spend((_estimate(body), length), request, check or problem_of)
            except RejectedError as error:
                if not self._mend(str(error), request):
                    raise
            else:
                if self._replies:
                    self._replies.keep(address, request, reply)
                return reply
        return await self._ask(body, length, check)

    async def _spend(
        self, most: tuple[int, int], request: dict[str, Any], check: Callable[[Any], str]
    ) -> Any:
        """Send a request if the budget allows the most that it can cost, then count what it did
        cost."""
        if self._remote.ended:
            raise self._remote.ended
        self.spending.reserve(*most)
        used = (0, 0)
        try:
            reply = await self._remote.post(self._path, request, check)
            used = usage_of(reply) or most
        finally:
            self.spending.settle(most, used)
        return reply

    def _request(self, body: dict[str, Any], length: int) -> dict[str, Any]:
        request = {"model": self.name, **body, self._length_name: length, **self._settings}
        if self._logprobs and not self._echo:
            request |= (
                {"logprobs": True, "top_logprobs": ALTERNATIVES} if self._chat else {"logprobs": 5}
            )
        return request

    def _mend(self, complaint: str, request: dict[str, Any]) -> bool:
        """Leave out what this server does not take; whether that is worth another try."""
        if "max_completion_tokens" in complaint and "max_tokens" in request:
            self._length_name = "max_completion_tokens"
        elif "logprobs" in complaint and "logprobs" in request and not self._echo:
            self._logprobs = False  # from now on replies are read
        elif "temperature" in complaint and "temperature" in request:
            self._settings = {
                key: value for key, value in self._settings.items() if key != "temperature"
            }
        else:
            return False
        return True


def _estimate(body: dict[str, Any]) -> int:
    """Tokens of a prompt, rather too many: a third of its characters, and a few for each
    message."""
    texts = (
        [body["prompt"]]
        if "prompt" in body
        else [message["content"] for message in body["messages"]]
    )
    return sum(len(text) // 3 + 8 for text in texts)


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _public(url: str) -> str:
    """An address without user, password or query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "..."
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))
