"""`gguf:PATH`: models in GGUF files, run by llama.cpp, which give log-probabilities or replies.

With a projector they see: the pictures of an item stand before its question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gnomon.contracts import ANYTHING, TEXT, Model, Takes
from gnomon.errors import UsageError
from gnomon.fingerprint import remembered_sha256
from gnomon.models.choices import (
    Likelihoods,
    ModelReply,
    Query,
    check_normalisation,
    check_way_to_ask,
    contexts,
    flat,
    read_tokens,
    reply_room,
)
from gnomon.models.llamacpp.llama import Llama, path_scores
from gnomon.models.llamacpp.projector import (
    SIGN,
    PicturePath,
    Projector,
    answer_seeing,
    split_at_signs,
    writer_with_signs,
)
from gnomon.models.llamacpp.trial import check_file, check_loads, check_sizes
from gnomon.models.machine import available_cores, is_kept, kept
from gnomon.models.prompted import Manner, Prompted
from gnomon.models.prompts.chat import Writer, chat_template
from gnomon.models.prompts.library import PromptChoice
from gnomon.models.prompts.preview import HOW, MOST_PICTURES, PromptFormat, frames
from gnomon.models.rows import shared
from gnomon.models.sampling import check_sampling, sampled
from gnomon.options import neutral
from gnomon.records import Answer, Item, Preview
from gnomon.vision.images import check_decoder


@neutral("threads")
def gguf(
    name: str,
    *,
    mmproj: str = "",
    prompt: str = "",
    wording: int = 1,
    shots: int | None = None,
    examples: str = "",
    points: str = "",
    samples: int = 1,
    temperature: float = 1.0,
    normalise: Normalise = "sum",
    ask: Ask = "score",
    new_tokens: int | None = None,
    chat: bool | None = None,
    context: int = 4096,
    threads: int = 0,
) -> Model:
    """A GGUF file by its path.

    mmproj       a GGUF file with the model's projector, through which it sees pictures
    prompt       a prompt's name or file (default: chat with a chat template, else plain)
    wording      which of the prompt's wordings, where it has several
    shots        how many worked examples are shown: the prompt's own, or drawn from the benchmark
                 (default: all of the prompt's)
    examples     the worked examples that --shots has drawn, as JSON
    points       how replies write points: pixels, share, thousand or percent, each also as
                 pixels-yx with rows first (default: as the reply tells)
    samples      how many answers to draw for each item, by its scores
    temperature  at which answers are drawn, if there are several samples
    normalise    how choices of different length are compared: sum, mean (per token), byte (per
                 byte) or pmi (less the choice's log-probability after nothing)
    ask          score (the likelihood of each choice) or generate (a reply, which is read)
    new_tokens   how many tokens a reply may have (default: 32; 2048 for a model that thinks)
    chat         put items through the model's chat template (default: if it has one)
    context      tokens that fit at most; less if the model was trained with less
    threads      processor threads (default: all cores)
    """
    if not name:
        raise UsageError(
            "gguf needs a file.", "Write gguf:PATH, for instance gguf:models/llama-3.2-1b.gguf"
        )
    check_sampling(samples, temperature, ask)
    choice = PromptChoice(prompt, wording, shots, examples, points)
    how = GgufOptions(normalise, ask, new_tokens, chat, context, threads or available_cores())
    eyes = Path(mmproj).expanduser() if mmproj else None
    made = Gguf(f"gguf:{name}", Path(name).expanduser(), choice, how, eyes)
    return sampled(made, samples, temperature)


# --- the model -----------------------------------------------------------------------------------


Normalise = Literal["sum", "mean", "byte", "pmi"]
Ask = Literal["score", "generate"]
_CONTROL = re.compile(r"<\|[^<>|\s]+\|>|</?[a-z_]+>|\[/?[A-Z]+\]")  # as templates write them


class GgufOptions(NamedTuple):
    """How a model is asked and computed, as the user says it."""

    normalise: Normalise
    ask: Ask
    new_tokens: int | None
    chat: bool | None
    context: int
    threads: int


class Gguf(Prompted):
    """A decoder model in a GGUF file, with eyes where a projector is given."""

    batch = 64
    takes: frozenset[Takes] = TEXT

    def __init__(
        self,
        spec: str,
        file: Path,
        choice: PromptChoice,
        how: GgufOptions,
        mmproj: Path | None = None,
    ) -> None:
        check_way_to_ask(how.ask)
        check_normalisation(how.normalise)
        check_sizes(how.context, reply_room(how.new_tokens, ""), how.threads)
        size: dict[str, Any] = {"context": how.context, "threads": how.threads}
        check_file(file)
        check_loads(file, **size)
        if mmproj:
            check_decoder()
            check_file(mmproj, "Give the projector's GGUF file with --set mmproj=FILE.")
            check_loads(file, **size, mmproj=mmproj)
        self.file = file
        self.llama = kept(("llama", file, *size.values()), lambda: Llama(file, **size))
        self.longest = self.llama.window
        self._eyes: Projector | None = None
        self._pictures: Sequence[PicturePath] = ()  # that the items which are asked now show
        try:
            if mmproj:
                self._eyes = Projector(mmproj, self.llama, threads=how.threads)
                self.takes = ANYTHING
            source = self.llama.chat_template()
            if how.chat and not source:
                raise UsageError(f"{file.name} has no chat template.", "Leave out chat=yes.")
            if how.chat is False:
                source = ""
            unspoken = "picture-plain" if mmproj else "plain"
            prompt = choice.load("chat" if source else unspoken)
            self._template = _writer(source, self.llama) if source else None
        except BaseException:
            self.close()
            raise
        room = reply_room(how.new_tokens, source)
        manner = Manner(how.ask, room, how.normalise, chat=bool(source))
        super().__init__(spec, self.llama, None, prompt, manner)
        self._beginning = self.llama.token_text(self.llama.bos)
        # stands before an answer that begins a text
        self._nothing = [self.llama.bos if self.llama.bos >= 0 else max(self.llama.eos, 0)]
        self.likelihoods = Likelihoods(
            self._log_probabilities,
            normalise=how.normalise,
            nothing=self._nothing,
            longest=self.longest,
            size=self._size,
        )

    def describe(self) -> dict[str, Any]:
        """File, checksum, quantisation, prompt and binding: all that determines the scores."""
        from importlib.metadata import version

        seeing = {"mmproj": self._eyes.describe()} if self._eyes else {}
        return {
            "kind": "gguf",
            "file": self.file.name,
            "sha256": remembered_sha256(self.file),
            **seeing,
            "weights": self.llama.describe(),
            "parameters": self.llama.parameters,
            **super().describe(),
            "context": self.longest,
            "xllamacpp": version("xllamacpp"),
        }

    def answer(self, items: Sequence[Item]) -> list[Answer]:
        """The log-probability of each choice, or a reply; an item that does not fit is an error."""
        if self._eyes is None:
            return self._answer_shown(items, ())
        return answer_seeing(items, self._eyes, self._answer_shown)

    def _answer_shown(self, items: Sequence[Item], pictures: Sequence[PicturePath]) -> list[Answer]:
        """Answers to items that show the same pictures, or none."""
        self._pictures = pictures
        return self.answer_texts(items, self._contexts(items))

    def preview(self, item: Item) -> Preview:
        """What the model reads for an item, and the tokens that are scored."""
        if self._eyes is None:
            return self._preview_shown(item, ())
        made = []

        def look(_: Sequence[Item], pictures: Sequence[PicturePath]) -> list[Answer]:
            made.append(self._preview_shown(item, pictures))
            return [Answer(item=item.id)]

        (answer,) = answer_seeing([item], self._eyes, look)
        if made:
            return made[0]
        found = self.asking()
        return Preview(how=HOW[found.way], images=len(item.images), trouble=answer.error or "")

    def _preview_shown(self, item: Item, pictures: Sequence[PicturePath]) -> Preview:
        self._pictures = pictures
        (text,) = self._contexts([item])
        return self.preview_text(item, self._opened(text), text)

    def piece(self, token: int) -> str:
        """A token as people read it."""
        return self.llama.piece(token)

    def special(self, shown: str, ids: Sequence[int]) -> tuple[str, ...]:
        """The control tokens in what the model reads."""
        return tuple(token for token in self.asking().special if token in shown)

    def asking(self) -> PromptFormat:
        """What shows prompts without the model."""
        template = self._template
        framed = None
        if template is not None:
            framed = frames(
                self.prompt,
                lambda pictures: writer_with_signs(template, pictures),
                answered=self.ask == "score",
                most_pictures=MOST_PICTURES if self._eyes else 0,
            )
            for name, (before, after) in framed.items():
                framed[name] = (self._opened(before), after)
        limits: dict[str, Any] = {}
        if self.ask == "generate":
            limits = {
                "new_tokens": self.new_tokens,
                "stops": [self.llama.token_text(self.llama.eos)],
                "draws": "always the likeliest token",
            }
        return PromptFormat(
            way=self.ask,
            prompt=self.kept_prompt,
            frames=framed,
            bare=self.bare,
            opening=self._opening,
            takes_pictures=self._eyes is not None,
            mark=SIGN,
            special=tuple(filter(None, (self._beginning, *_template_tokens(framed)))),
            limits=limits,
        )

    def close(self) -> None:
        """Free the model's memory."""
        if self._eyes:
            self._eyes.close()
        if not is_kept(self.llama):
            self.llama.close()

    def _contexts(self, items: Sequence[Item]) -> list[str]:
        count = len(self._pictures)
        write = self._template and writer_with_signs(self._template, count)
        signs = SIGN * count + "\n" if count else ""
        return contexts(self.prompt, items, write, answered=self.ask == "score", marks=signs)

    @property
    def room(self) -> int:
        """How many tokens must fit after what is read, for a reply: one, and what pictures take."""
        return 1 + self._more_room()

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """What the model reads before it writes."""
        tokens = [self.tokenize(text) or self._nothing for text in texts]
        for each in tokens:
            _check_text_follows(each)
        return tokens

    def write(self, prompts: Sequence[Sequence[int]]) -> list[ModelReply]:
        """The reply to each prompt."""
        replies = []
        for prompt in prompts:
            replies.append(self._reply(prompt, self.llama.reply(prompt, self.new_tokens)))
        return replies

    def _reply(self, prompt: Sequence[int], said: Sequence[int]) -> ModelReply:
        cut = len(said) == self.new_tokens
        return ModelReply(self.llama.text(said), len(prompt) + len(said), cut, len(said))

    def queries(
        self, texts: Sequence[str], words: Sequence[Sequence[Sequence[str]]]
    ) -> list[Query]:
        """What the model reads before the answer, and each way to answer, as tokens."""
        asked = zip(texts, words, strict=True)
        return [self._query(text, flat(each)) for text, each in asked]

    def _query(self, context: str, words: Sequence[str]) -> Query:
        """A context and what may follow it, as tokens, all split at the same one."""
        before = self.tokenize(context)
        whole = [self.tokenize(context + word) for word in words]
        start = min(shared(before, tokens) for tokens in whole)
        _check_text_follows(before[:start])
        return Query(before[:start] or self._nothing, [tokens[start:] for tokens in whole])

    @property
    def _opening(self) -> str:
        """What every text begins with, written out."""
        return "".join(map(self.llama.token_text, self.llama.opening))

    def _opened(self, text: str) -> str:
        """A text with what it begins with."""
        return text if self._is_begun(text) else self._opening + text

    def _is_begun(self, text: str) -> bool:
        """Whether a text has its beginning: many a chat template writes it."""
        return self.chat and bool(self._beginning) and text.startswith(self._beginning)

    def tokenize(self, text: str) -> list[int]:
        """A text as tokens, begun once."""
        first, *rest = split_at_signs(text, len(self._pictures))
        begin = not self._is_begun(text)
        tokens = self.llama.tokenize(first, special=self.chat, begin=begin)
        for picture, part in zip(self._pictures, rest, strict=True):
            tokens += picture.path
            tokens += self.llama.tokenize(part, special=self.chat, begin=False)
        return tokens

    def _log_probabilities(self, queries: Sequence[Query]) -> list[list[float]]:
        """The log-probability of each continuation, summed over its tokens."""
        return path_scores(self.llama, queries)

    def _size(self, query: Query) -> int:
        return read_tokens(query) + self._more_room()

    def _more_room(self) -> int:
        """What the pictures take of the window beyond their length in the path."""
        return sum(picture.more for picture in self._pictures)


def _check_text_follows(context: Sequence[int]) -> None:
    """llama.cpp says nothing of what comes directly after a picture."""
    if context and context[-1] < 0:
        raise ValueError("the prompt has no text between the picture and the answer")


def _template_tokens(framed: Mapping[str, tuple[str, str]] | None) -> list[str]:
    """What looks like a control token in what a chat template writes."""
    found: dict[str, None] = {}
    for before, after in (framed or {}).values():
        found |= dict.fromkeys(_CONTROL.findall(before + after))
    return list(found)


def _writer(source: str, llama: Llama) -> Writer:
    special = {"bos_token": llama.token_text(llama.bos), "eos_token": llama.token_text(llama.eos)}
    return chat_template(source, special)
