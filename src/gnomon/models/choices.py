"""How a model that reads text is asked about choices: the steps that do not depend on the model.

A model turns texts into tokens and gives log-probabilities. Everything around that is here, once
for all kinds: what an item's context and words are, what is too long, how scores are made
comparable, how replies are read, which texts go into one batch. Plain Python: no torch.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from gnomon.contracts import Scale
from gnomon.errors import check_known
from gnomon.forms import is_written
from gnomon.grouped import chunks, grouped
from gnomon.models.prompts.chat import Writer, conversation
from gnomon.models.prompts.library import Prompt
from gnomon.models.reading.replies import as_answer
from gnomon.models.reading.segments import thoughts_end
from gnomon.records import Answer, Item, pick

NORMALISATIONS = ("sum", "mean", "byte", "pmi")


def log_sum(values: Iterable[float]) -> float:
    """The logarithm of a sum of probabilities: a choice is as likely as all its words together.

    >>> round(log_sum([math.log(0.25), math.log(0.5)]), 6) == round(math.log(0.75), 6)
    True
    """
    found = list(values)
    top = max(found)
    if len(found) == 1 or top == -math.inf:
        return top
    return top + math.log(sum(math.exp(value - top) for value in found))


def gather(scores: Sequence[float], words: Sequence[Sequence[str]]) -> tuple[float, ...]:
    """One score for each choice out of one for each word: words of the same choice add up.

    >>> gather([-1.0, -2.0], [["no"], ["yes"]])
    (-1.0, -2.0)
    """
    found = []
    start = 0
    for alternatives in words:
        end = start + len(alternatives)
        found.append(log_sum(scores[start:end]))
        start = end
    return tuple(found)


def comparable(score: float, normalise: str, word: str, tokens: int, alone: float = 0.0) -> float:
    """A word's log-probability, made comparable with that of a longer or more common word.

    `tokens` is how many tokens the word has, `alone` its log-probability after nothing.

    >>> comparable(-6.0, "mean", "larger", tokens=2)
    -3.0
    """
    if normalise == "mean":
        return score / max(1, tokens)
    if normalise == "byte":
        return score / max(1, len(word.encode()))
    if normalise == "pmi":
        return score - alone
    return score


def check_normalisation(normalise: str, known: Sequence[str] = NORMALISATIONS) -> None:
    """Refuse a normalisation that the model does not have."""
    check_known("normalisation of this kind of model", normalise, known)


CUT = "the reply was cut before it gave an answer: give a larger new_tokens"
ROOM_TO_ANSWER = 32  # tokens of a reply
ROOM_TO_THINK = 2048  # of one that begins with a thought
READ_THOUGH_CUT = ("boxed", "announced", "line", "lead")  # rules that need no end of a reply
WAYS_TO_ASK = ("score", "generate")
Thing = TypeVar("Thing")


class Query(NamedTuple):
    """A question as tokens: a context of at least one, and continuations of at least one each."""

    context: list[int]
    continuations: Sequence[list[int]]


class ModelReply(NamedTuple):
    """What a model wrote, and how many tokens it read and wrote for it."""

    text: str
    tokens: int
    cut: bool = False  # it had no room to come to its end
    written: int | None = None  # of the tokens, where that is known


class Likelihoods:
    """The likelihood of each choice, by whatever model gives log-probabilities of tokens.

    `score` gives for each query the log-probability of each continuation, summed over its tokens.
    `nothing` is the context of a text that has none: what pmi compares with. A query whose `size`
    is over `longest` is not asked (0: no limit).
    """

    def __init__(
        self,
        score: Callable[[Sequence[Query]], list[list[float]]],
        *,
        normalise: str = "sum",
        nothing: Sequence[int] = (),
        longest: int = 0,
        size: Callable[[Query], int] | None = None,
    ) -> None:
        check_normalisation(normalise)
        self.score = score
        self.normalise = normalise
        self.nothing = list(nothing)
        self.longest = longest
        self.size = size or read_tokens
        self._alone: dict[tuple[int, ...], float] = {}  # log-probabilities after nothing

    def answers(
        self,
        items: Sequence[Item],
        words: Sequence[Sequence[Sequence[str]]],
        queries: Sequence[Query],
    ) -> list[Answer]:
        """One answer for each item.

        `words` holds, for each item, the ways to say each choice; the item's query has them as
        tokens, in the same order.
        """

        def ask(numbers: Sequence[int]) -> list[Answer]:
            chosen = take(queries, numbers)
            scores = self.score(chosen)
            if self.normalise == "pmi":
                self._learn_alone(chosen)

            answers = []
            for number, query, found in zip(numbers, chosen, scores, strict=True):
                if self.normalise != "sum":
                    found = self._comparable(found, query, words[number])
                answer = pick(items[number], gather(found, words[number]))
                answers.append(replace(answer, tokens_read=scored_tokens(query)))
            return answers

        troubles = [too_long(self.size(query), self.longest) for query in queries]
        return ask_those_without_trouble(items, troubles, ask)

    def _comparable(
        self, scores: Sequence[float], query: Query, words: Sequence[Sequence[str]]
    ) -> list[float]:
        found = []
        for score, word, tokens in zip(scores, flat(words), query.continuations, strict=True):
            alone = self._alone.get(tuple(tokens), 0.0)
            found.append(comparable(score, self.normalise, word, len(tokens), alone))
        return found

    def _learn_alone(self, queries: Sequence[Query]) -> None:
        """Score the same tokens after nothing: encoded anew, a text may begin with other ones."""
        fresh: dict[tuple[int, ...], Query] = {}
        for query in queries:
            for tokens in query.continuations:
                key = tuple(tokens)
                if key not in self._alone:
                    fresh[key] = Query(self.nothing, [tokens])

        scores = self.score(list(fresh.values()))
        for key, (score,) in zip(fresh, scores, strict=True):
            self._alone[key] = score


def check_way_to_ask(ask: str) -> None:
    """Refuse a way of asking that does not exist."""
    check_known("way to ask a model", ask, WAYS_TO_ASK)


def scale_of(ask: str) -> Scale:
    """What the scores of a model are that is asked in this way."""
    return "none" if ask == "generate" else "log-probability"


def describe_asking(ask: str, normalise: str, new_tokens: int) -> dict[str, Any]:
    """How the model is asked, for its manifest: only what changes the answers."""
    if ask == "generate":
        return {"ask": ask, "new_tokens": new_tokens}
    return {"ask": ask, "normalise": normalise}


def reply_room(new_tokens: int | None, template: str) -> int:
    """How many tokens a reply may have; none asks for the default, which leaves room for thoughts.

    A model thinks if its chat template writes tags for thoughts.

    >>> reply_room(None, ""), reply_room(None, "<think>"), reply_room(100, "<think>")
    (32, 2048, 100)
    """
    if new_tokens is not None:
        return new_tokens
    thinks = "<think" in template or "[THINK]" in template or "<|channel|>" in template
    return ROOM_TO_THINK if thinks else ROOM_TO_ANSWER


def contexts(
    prompt: Prompt,
    items: Sequence[Item],
    write: Writer | None = None,
    *,
    answered: bool = True,
    marks: str = "",
) -> list[str]:
    """What the model reads before the answer of each item.

    `write` is the chat template of a model that is asked in a conversation; `answered` says that an
    answer follows at once, rather than whatever the model would write first. Without a template,
    `marks` stand before each question.
    """
    if write is not None:
        return [conversation(write, prompt.chat(item), answered=answered) for item in items]

    prefixes: dict[tuple[str, int], str] = {}
    found = []
    for item in items:
        shared = (item.form, prompt.shown_to(item))
        if shared not in prefixes:
            prefixes[shared] = prompt.prefix(*shared)
        found.append(prefixes[shared] + marks + prompt.parts(item).before)
    return found


def flat(words: Sequence[Sequence[str]]) -> list[str]:
    """The words of all choices in one list."""
    return [word for alternatives in words for word in alternatives]


def take(things: Sequence[Thing], numbers: Sequence[int]) -> list[Thing]:
    """Those of some things that have these numbers.

    >>> take(["ant", "bird", "cat"], [2, 0])
    ['cat', 'ant']
    """
    return [things[number] for number in numbers]


def read_tokens(query: Query) -> int:
    """How many tokens a decoder reads at most: the last one of an answer is only asked for."""
    return len(query.context) + max(map(len, query.continuations)) - 1


def scored_tokens(query: Query) -> int:
    """How many tokens are read to score a query, if what its texts share is read once.

    >>> scored_tokens(Query([1, 2, 3], [[4], [5, 6]]))
    6
    """
    return len(query.context) + sum(map(len, query.continuations))


def text_size(item: Item) -> int:
    """About how many tokens are an item's own, of its texts."""
    return (len(item.context) + len(item.text) + sum(map(len, item.choices))) // 4 + 16


def too_long(tokens: int, most: int, what: str = "prompt") -> str:
    """Why an item cannot be asked; empty if it can. A `most` of 0 is no limit.

    >>> too_long(600, 512)
    'the prompt has 600 tokens, the model takes 512'
    """
    if not most or tokens <= most:
        return ""
    return f"the {what} has {tokens} tokens, the model takes {most}"


def ask_those_without_trouble(
    items: Sequence[Item],
    troubles: Sequence[str],
    ask: Callable[[Sequence[int]], Sequence[Answer]],
) -> list[Answer]:
    """An answer for each item; one that has a trouble is not asked, and the trouble is its error.

    `ask` is given the numbers of the items that have none.
    """
    asked = [number for number, trouble in enumerate(troubles) if not trouble]
    found = dict(zip(asked, ask(asked), strict=True))

    answers = []
    for number, item in enumerate(items):
        if number not in found:
            found[number] = Answer(item=item.id, error=troubles[number])
        answers.append(found[number])
    return answers


def replied(
    items: Sequence[Item],
    prompt: Prompt,
    tokens: Sequence[Sequence[int]],
    generate: Callable[[Sequence[Sequence[int]]], Sequence[ModelReply]],
    *,
    longest: int = 0,
    room: int = 0,
) -> list[Answer]:
    """The reply to each item, read by the words of its prompt.

    `tokens` is what the model reads for each item, `room` how many more must fit for the reply.
    """

    def ask(numbers: Sequence[int]) -> list[Answer]:
        replies = generate(take(tokens, numbers))
        answers = []
        for number, reply in zip(numbers, replies, strict=True):
            counted = {"tokens": reply.tokens, "written": reply.written}
            answer = as_answer(items[number], reply.text, prompt, **counted)
            if reply.cut and is_written(items[number]) and room < ROOM_TO_THINK:
                answer = _of_first_line(items[number], reply.text, prompt, answer)
            if reply.cut and not _stands_though_cut(items[number], answer, prompt, room):
                answer = replace(answer, choice=None, rule=None, error=CUT)
            answers.append(answer)
        return answers

    troubles = [too_long(len(each) + room, longest) for each in tokens]
    return ask_those_without_trouble(items, troubles, ask)


def _of_first_line(item: Item, reply: str, prompt: Prompt, answer: Answer) -> Answer:
    """What the first line of a reply that was cut gives, if that line is whole.

    A model that only continues a text goes on to questions of its own.
    """
    first, more, _ = reply.strip().partition("\n")
    found = as_answer(item, first, prompt) if more else answer
    if found.choice is None or found.rule == "several":
        return answer
    return replace(answer, choice=found.choice, rule="line")


def _stands_though_cut(item: Item, answer: Answer, prompt: Prompt, room: int) -> bool:
    """Whether what was read of a reply that was cut would stand, however the reply went on.

    A thought that a template opened has no tag of its own: what has that much room is one. A number
    that stands last may have been cut itself.
    """
    if answer.choice is None:
        return False
    if is_written(item) and answer.rule != "line":
        before_last = (answer.reply or "").rstrip().rpartition(" ")[0]
        if as_answer(item, before_last, prompt).choice != answer.choice:
            return False
    if answer.rule == "whole" or thoughts_end(answer.reply or ""):
        return True
    return room < ROOM_TO_THINK and answer.rule in READ_THOUGH_CUT


def by_length(
    lengths: Sequence[int], overfull: Callable[[Sequence[int]], bool]
) -> Iterator[list[int]]:
    """Numbers of texts in batches of like length, the longest first, so that padding is small.

    `overfull` says of the numbers of a batch whether they are too many; one alone never is.

    >>> list(by_length([3, 9, 3, 8], lambda batch: len(batch) > 2))
    [[1, 3], [0, 2]]
    """
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        batch.append(number)
        if len(batch) > 1 and overfull(batch):
            yield batch[:-1]
            batch = [number]
    if batch:
        yield batch


def alike(kinds: Sequence[Hashable], most: int) -> Iterator[list[int]]:
    """Numbers of things in batches of one kind, of at most so many; kinds as they first come.

    >>> list(alike(["a", "b", "a", "a"], 2))
    [[0, 2], [3], [1]]
    """
    for numbers in grouped(range(len(kinds)), kinds.__getitem__).values():
        yield from chunks(numbers, most)
