"""One model of one or several servers: a question is asked once and its reply scored or read.

A reply whose first token begins one of the answers gives the log-probability of each answer at that
place; any other reply is read by the rules of `reading`. A completion server that echoes its prompt
scores every answer whole.
"""

import asyncio
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from gnomon.errors import DataError, GnomonError, ModelError, UsageError
from gnomon.forms import is_written
from gnomon.models.choices import flat, log_sum
from gnomon.models.prompts.library import Prompt
from gnomon.models.prompts.preview import HOW, PromptFormat, continuations
from gnomon.models.reading.replies import as_answer
from gnomon.models.servers import protocol
from gnomon.models.servers.pictures import PictureOptions, SentPicture, for_the_cache
from gnomon.models.servers.refusals import AskError, BlindError, CutError, RejectedError
from gnomon.models.servers.remote import Outgoing, Remote, Replied, address_of
from gnomon.models.servers.replycache import Replies
from gnomon.records import Answer, Image, Item, Preview, pick

BY_SCORE = "first token"  # the rule of an answer whose choices have scores


class ServedModel:
    """One model of one server, or of several that have the same."""

    def __init__(
        self,
        api: protocol.ServerApi,
        remote: Remote,
        prompt: Prompt,
        replies: Replies | None,
        *,
        batch: int,
        showing: PictureOptions | None = None,
        samples: int = 1,
    ) -> None:
        self.spec = f"{api.scheme}:{api.model}"
        self.scale = api.scale
        self.takes = api.takes
        self.batch = batch
        self.spending = remote.budget
        self._api = api
        self._remote = remote
        self._prompt = prompt
        self.lists_choices = prompt.lists_choices
        self._replies = replies
        self._samples = samples
        self._accepted = False  # has the server ever taken a request with these parameters?
        self._showing = showing or PictureOptions()
        self._sees = False  # has it ever taken one with a picture?

    @property
    def alone(self) -> str:
        """Why only one process may ask, where there is a budget: each would spend it anew."""
        has_limit = self.spending.max_cost is not None or self.spending.max_tokens is not None
        return "it counts what it spends" if has_limit else ""

    def for_run(self, run: str) -> None:
        """Keep replies for this run, and use what was kept for it before."""
        if self._replies:
            self._replies.run = run

    @property
    def kept_replies(self) -> dict[str, int]:
        """How many replies were used that the run was given before it was stopped, by day."""
        return dict(self._replies.used) if self._replies else {}

    def describe(self) -> dict[str, Any]:
        """What determines the answers; never the key."""
        return {
            "kind": self._api.scheme,
            "model": self._api.model,
            "base_url": self._remote.describe(),
            "prompt": self._prompt.describe(),
            **self._api.describe(),
            **self._showing.describe(),
            **({"samples": self._samples} if self._samples > 1 else {}),
        }

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """Ask for all items at once, as far as the server's concurrency allows."""
        if "image" not in self.takes and any(item.images for item in items):
            raise UsageError(
                "A completion server takes no pictures.",
                "Leave out endpoint=completion, or ask without the pictures: --blind.",
            )
        return self._remote.run(self._answer_all(items))

    def expected(self, item: Item) -> protocol.Tokens:
        """The most tokens that an item is likely to take, with its pictures; nothing is sent."""
        if self._api.echo:
            context = self._prompt.context(item)
            bodies = [self._api.for_echo(context + word) for word in flat(self._prompt.words(item))]
            return protocol.Tokens(sum(self._api.estimate(body).read for body in bodies), 0)
        text = self._api.estimate(self._request(item, self._api.limits[0]))
        return protocol.Tokens(text.read + self._showing.expected(item.images), text.written)

    def close(self) -> None:
        """Close connections and the cache of replies."""
        self._remote.close()
        if self._replies:
            self._replies.close()

    async def _answer_all(self, items: Sequence[Item]) -> list[Answer]:
        """When one request ends the run, those under way are waited for: they are paid for, and
        their replies kept."""
        self._remote.ended = None
        waiting = []
        for item in items:
            waiting += [self._answer_one(item, sample) for sample in range(self._samples)]
        answers = await asyncio.gather(*waiting)
        if self._remote.ended:
            raise self._remote.ended
        return answers

    async def _answer_one(self, item: Item, sample: int = 0) -> Answer:
        try:
            if self._api.echo:
                return await self._echoed(item)
            return replace(await self._replied(item, sample), sample=sample)
        except AskError as error:
            return Answer(item=item.id, sample=sample, error=str(error))
        except GnomonError as error:
            self._remote.ended = self._remote.ended or error
            return Answer(item=item.id, sample=sample, error=error.message)  # the run ends

    async def _replied(self, item: Item, sample: int = 0) -> Answer:
        """Ask, and take the scores of the first token's alternatives, or read the reply.

        A reply that was cut is asked for again with more room; one that still is has no answer.
        """
        first, *larger = self._api.limits
        found = await self._ask(self._request(item, first, sample), item.images, sample)
        used = found.used
        reached = first
        while True:
            answer = self._read(item, found, used)
            whole = answer.rule in (BY_SCORE, "whole") and not is_written(item)
            if not found.unfinished or whole:
                return answer
            if not larger:
                break
            try:
                request = self._request(item, larger[0], sample)
                found = await self._ask(request, item.images, sample)
            except RejectedError:
                break  # the server has no room for a longer reply
            used = used.plus(found.used)
            reached = larger.pop(0)
        trouble = CutError(f"the reply was cut at {reached:,} tokens (finish_reason length)")
        return Answer(item=item.id, reply=answer.reply, error=str(trouble), **_counted(used))

    def _request(self, item: Item, limit: int, sample: int = 0) -> dict[str, Any]:
        """What is sent for an item, its pictures aside; the reply may have so many tokens.

        Each sample has a seed of its own, if any is sent.
        """
        put = self._prompt.chat if self._api.converses else self._prompt.context
        words = []
        if not is_written(item):
            words = [ways[0] for ways in self._prompt.answers(item)]
        body = self._api.for_reply(put(item), limit, words)
        if sample and "seed" in body:
            body["seed"] += sample
        return body

    def preview(self, item: Item) -> Preview:
        """What would be sent for an item; nothing is."""
        found = self.asking()
        images = len(item.images) if "image" in self.takes else 0
        if self._api.echo:
            context = self._prompt.context(item)
            scored = continuations(item, self._prompt.words(item))
            return Preview(text=context, scored=scored, how=HOW["echo"])
        body = self._request(item, self._api.limits[0])
        return Preview(
            text=body.get("prompt", ""),
            messages=tuple(body.get("messages", ())),
            images=images,
            how=HOW[found.way],
            limits=found.limits,
        )

    def asking(self) -> PromptFormat:
        """What shows prompts without the model."""
        about = self._api.describe()
        kept = ("reply_tokens", "most_reply_tokens", "temperature", "logprobs", "constrain")
        limits = {name: about[name] for name in kept if name in about}
        return PromptFormat(
            way="echo" if self._api.echo else "generate",
            prompt=replace(self._prompt, paraphrases=()),
            sends_messages=self._api.converses,
            takes_pictures="image" in self.takes,
            limits={} if self._api.echo else limits,
        )

    def _read(self, item: Item, found: protocol.Completion, used: protocol.Tokens) -> Answer:
        """The answer that a reply gives: with scores where its first token is the answer."""
        counted = {"tokens": sum(used), "written": used.written}
        answer = as_answer(item, found.text, self._prompt, **counted)
        if not self._api.logprobs or is_written(item):
            return answer
        scores = protocol.scores_of(found.first, self._prompt.answers(item))
        if scores is None or not self._opens_with_answer(item, found, answer):
            return answer
        choice = pick(item, scores).choice
        return replace(answer, scores=scores, choice=choice, rule=BY_SCORE)

    def _opens_with_answer(self, item: Item, found: protocol.Completion, answer: Answer) -> bool:
        """Whether the first token is the answer, not a word that happens to begin like one.

        "A bee is smaller" is no A. A text that a completion server continues need not be read.
        """
        answers = self._prompt.answers(item)
        place = protocol.first_choice(found.first, answers)
        if place is None:
            return False
        agrees = answer.choice == item.choices[place]
        if agrees and answer.rule in ("whole", "lead"):
            return True
        if self._prompt.shows_letters(item.form):
            return False
        continues = not self._api.converses and answer.choice is None
        return (agrees or continues) and _opens_with(found.text, answers[place])

    async def _echoed(self, item: Item) -> Answer:
        """Send each answer after the context, and add up the log-probabilities of its tokens."""
        if is_written(item):
            raise AskError("its answer must be written, and echo only scores choices")
        context = self._prompt.context(item)
        scores = []
        used = protocol.FREE
        for ways in self._prompt.words(item):
            bodies = [self._api.for_echo(context + word) for word in ways]
            found = await asyncio.gather(*(self._ask(body) for body in bodies))
            scores.append(log_sum([protocol.echo_score(each, len(context)) for each in found]))
            for each in found:
                used = used.plus(each.used)
        return replace(pick(item, tuple(scores)), **_counted(used))

    async def _ask(
        self, body: dict[str, Any], images: Sequence[Image] = (), sample: int = 0
    ) -> protocol.Completion:
        """The reply to one request: sent, unless it is known.

        Its pictures are opened, and in memory, only while it has one of the server's slots.
        """
        async with self._remote.slots:
            pictures = await self._open(images)
            asked = for_the_cache(body, pictures)
            if sample:  # the same request, but another reply
                asked = {**asked, "sample": sample}
            known = self._known(asked)
            if known:
                return known
            found, base_url = await self._send(body, pictures)
            if self._replies and not found.cut:
                self._replies.keep(address_of(base_url, self._api.path), asked, found)
            return found

    def _known(self, asked: dict[str, Any]) -> protocol.Completion | None:
        """What any of the servers replied to the same request before."""
        if self._replies is None:
            return None
        for base_url in self._remote.addresses:
            found = self._replies.find(address_of(base_url, self._api.path), asked)
            if found:
                return found
        return None

    async def _open(self, images: Sequence[Image]) -> list[SentPicture]:
        if not images:
            return []
        try:
            return await asyncio.to_thread(self._showing.open, images)
        except DataError as error:
            raise AskError(error.message) from None

    async def _send(
        self, body: dict[str, Any], pictures: Sequence[SentPicture]
    ) -> Replied[protocol.Completion]:
        shown = sum(picture.tokens for picture in pictures)
        text = self._api.estimate(body)
        most = protocol.Tokens(text.read + shown, text.written)
        sent = self._api.sent(body, pictures)
        urls = [picture.url for picture in pictures]
        asked = protocol.RequestFacts(most, self._remote.secrets, urls, shown)
        parse = partial(self._api.parse, asked=asked)
        request = Outgoing(self._api.path, sent, most, parse, pictures=urls)
        try:
            found = await self._remote.post(request)
        except RejectedError as error:
            if self._api.learns_words(str(error), sent):  # the answers do not change
                return await self._send(body, pictures)
            self._check_refused(str(error), sent)
            self._check_sees(error)
            raise
        self._accepted = True
        self._sees = self._sees or bool(pictures)
        return found

    def _check_sees(self, error: RejectedError) -> None:
        """End the run if the server says that the model takes no pictures, and never took one."""
        if isinstance(error, BlindError) and not self._sees:
            raise ModelError(
                f"The model takes no pictures: {error}.",
                "Choose a model that does, or ask without the pictures: --blind.",
            )

    def _check_refused(self, complaint: str, body: dict[str, Any]) -> None:
        """End the run if the server refuses a parameter: asked without it, it answers otherwise.

        A server that took the same parameters before complains of something else.
        """
        refused = self._api.refused(complaint, body)
        if refused is None or self._accepted:
            return
        parameter, remedy = refused
        raise ModelError(
            f"The server refuses the parameter {parameter}: {complaint}.",
            f"Ask without it: {remedy}. The run's manifest will say so.",
        )


def _counted(used: protocol.Tokens) -> dict[str, Any]:
    """What an answer says of the tokens that were used for it."""
    return {
        "tokens": sum(used),
        "tokens_read": used.read,
        "tokens_written": used.written,
    }


def _opens_with(text: str, words: Sequence[str]) -> bool:
    """Whether a text begins with one of some words, whole."""
    opening = text.strip().casefold()
    alternatives = "|".join(re.escape(word.casefold()) for word in words)
    return re.match(rf"(?:{alternatives})(?!\w)", opening) is not None
