"""Models behind any OpenAI-compatible server (OpenAI, vLLM, llama.cpp, Ollama ...)."""

import os
import re
from typing import Any
from urllib.parse import urlsplit

from gnomon.contracts import Model
from gnomon.downloads.catalogue import cache_folder
from gnomon.errors import UsageError
from gnomon.models.prompts.library import PromptChoice
from gnomon.models.sampling import check_sampling, sampled
from gnomon.models.servers.completions import Endpoint, OpenAIApi, Sampling
from gnomon.models.servers.model import ServedModel
from gnomon.models.servers.pictures import PictureOptions
from gnomon.models.servers.protocol import Budget
from gnomon.models.servers.remote import Remote
from gnomon.models.servers.replycache import Replies
from gnomon.options import neutral
from gnomon.redaction import redact_url

DEFAULT_URL = "https://api.openai.com/v1"
DEFAULT_KEY = "OPENAI_API_KEY"
BATCHES = 16  # requests of a batch for each that may be under way; without a cache, one
_BETWEEN = re.compile(r"[\s,]+(?=\w+://)")  # between addresses
DEFAULT_PROMPTS: dict[Endpoint, str] = {"chat": "chat", "completion": "plain"}


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
    "image_tokens",
)
def openai(
    name: str,
    *,
    base_url: str = "",
    endpoint: Endpoint = "chat",
    prompt: str = "",
    wording: int = 1,
    shots: int | None = None,
    examples: str = "",
    points: str = "",
    logprobs: bool = True,
    echo: bool = False,
    temperature: float | str | None = None,
    samples: int = 1,
    new_tokens: int = 64,
    most_new_tokens: int = 8192,
    constrain: str = "",
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
    max_side: int = 0,
    image_tokens: int | None = None,
) -> Model:
    """A model by the name that its server knows.

    base_url       the server's address, or several with spaces between them, if they have the same
                   model (else OPENAI_BASE_URL, else OpenAI's own)
    endpoint       chat or completion: which of the server's two interfaces is asked
    prompt         how items are put: a name, or a file (default: chat, or plain for completion)
    wording        which of the prompt's wordings, where it has several
    shots          how many worked examples to show: the prompt's own, or drawn from the benchmark
                   (default: all of the prompt's)
    examples       the worked examples that --shots has drawn, as JSON
    points         how replies write points: pixels, share, thousand or percent, each also as
                   pixels-yx with rows first (default: as the reply tells)
    logprobs       no: only read the reply, for servers that refuse log-probabilities
    echo           yes: score every choice in full; needs endpoint=completion, and vLLM or alike
    temperature    0 (the default) for the likeliest reply; the word "default" sends none
                   (with samples, 1 is the default)
    samples        how often each item is asked; replies are then read, not scored
    new_tokens   how many tokens a reply may have at first
    most_new_tokens  how many it may have if it was cut and is asked for again with more room
    constrain      json (a schema) or choice (as vLLM takes it): the server must give an answer
    request_seed   sent with each request, for servers that take a seed
    concurrency    how many requests to make at a time, to each server
    attempts       how often a request is tried before its item fails
    timeout        seconds that a reply may take
    max_cost       end the run before it spends more than this; needs both prices
    price_input    price of a million tokens that the model reads
    price_output   price of a million tokens that the model writes
    budget_tokens  end the run before it uses more tokens than this
    key_env        the environment variable that holds the key, never the key itself; empty for
                   no key, as for addresses that a file gives
    cache          yes keeps the replies of a run, so that one that was stopped pays for none twice
    max_side       scale larger pictures down to so many pixels (default: send them as stored)
    image_tokens   what the server counts for a picture (default: as OpenAI does, by its size)
    """
    check_name(name, key_env)
    addresses = addresses_from(base_url)
    choice = PromptChoice(prompt, wording, shots, examples, points)
    put = choice.load(DEFAULT_PROMPTS.get(endpoint, "plain"))
    if temperature is None:
        temperature = 0.0 if samples == 1 else 1.0
    sampling = Sampling(_temperature(temperature), request_seed)
    check_sampling(samples, sampling.temperature)
    logprobs = logprobs and samples == 1
    room = (new_tokens, most_new_tokens)
    api = OpenAIApi(name, endpoint, sampling, logprobs, echo, *room, constrain)
    showing = PictureOptions(max_side, image_tokens)
    if max_cost is not None and (price_input is None or price_output is None):
        raise UsageError(
            "A budget in money needs the model's prices.",
            "Give them per million tokens: --set price_input=0.15 --set price_output=0.60",
        )
    budget = Budget(price_input or 0.0, price_output or 0.0, max_cost, budget_tokens)
    # may fail, so before the remote, which has a loop to close
    replies = Replies(cache_folder() / "replies.sqlite") if cache else None
    pace: dict[str, Any] = {"concurrency": concurrency, "attempts": attempts, "timeout": timeout}
    remote = Remote(addresses, key_env, budget, **pace)
    batch = concurrency * len(addresses)
    if replies:  # else all replies of a batch that ends the run are lost, and paid for
        batch *= BATCHES
    if echo:
        scored = ServedModel(api, remote, put, replies, batch=batch, showing=showing)
        return sampled(scored, samples, sampling.temperature or 1.0)
    return ServedModel(api, remote, put, replies, batch=batch, showing=showing, samples=samples)


def check_name(name: str, key_env: str) -> None:
    """Refuse no name, and a key or an address where a name of a variable or of a model belongs.

    The key is not shown.
    """
    if not name:
        raise UsageError(
            "openai needs the name of a model.",
            "Write openai:NAME, for instance openai:gpt-4o-mini",
        )
    if "://" in name:  # it would stand in every table, with the password that may be in it
        raise UsageError(
            "The name of the model is an address.", "Give the address with --base-url."
        )
    if "?" in name:  # so would a key after it
        raise UsageError(
            "The name of the model holds a query, which may be a key.",
            "Write openai:NAME with the model's name alone; a query belongs into --base-url.",
        )
    key = os.environ.get(key_env, "")
    if key_env and key_env != DEFAULT_KEY and not key:
        raise UsageError(
            "The environment variable that key_env names does not exist or is empty.",
            "Put the key into a variable, and give that variable's name: --set key_env=MY_KEY",
        )
    if key and key in name:
        raise UsageError(
            "The name of the model holds the key.", "Write openai:NAME with the model's name alone."
        )
    if not key.isascii() or not key.isprintable():
        raise UsageError(
            f"The key in the variable {key_env} has characters that no header may hold.",
            "Copy it again, without line ends.",
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


def addresses_from(base_url: str) -> list[str]:
    """The addresses of one or several servers, from the option or the environment; none twice.

    >>> addresses_from("http://one:8000/v1 http://two:8000/v1")
    ['http://one:8000/v1', 'http://two:8000/v1']
    """
    given = base_url or os.environ.get("OPENAI_BASE_URL", "") or DEFAULT_URL
    found = dict.fromkeys(_BETWEEN.split(given.strip()))
    for address in found:
        _check_address(address)
    return list(found)


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        web = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        web = False
    if not web:
        raise UsageError(
            f"'{redact_url(address)}' is not a web address.",
            "Give the server's with --base-url, for instance http://localhost:8000/v1",
        )
    place = re.sub(r"^\w+://[^/?#]*", "", address)
    if "@" in place:
        raise UsageError(
            "The address has an @ after its host.",
            "Write %40 for it; and in a password %2F for /, %3F for ? and %23 for #.",
        )
    if "," in place:
        raise UsageError(
            "The address has a comma after its host.",
            "Write %2C for it; or, if a second address follows, begin that with http:// or "
            "https://.",
        )
