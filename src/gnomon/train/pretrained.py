"""Models of transformers to begin with: loaded as for asking, but to be trained.

A head that the model lacks is made by the recipe's seed of weights.
"""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from gnomon.errors import UsageError, importing
from gnomon.grouped import chunks
from gnomon.models.transformers import loading
from gnomon.models.transformers.checkpoint import check_folder, explained
from gnomon.models.transformers.hf import place_of
from gnomon.models.transformers.processors import load_tokenizer
from gnomon.records import Item
from gnomon.train.items import Items
from gnomon.train.recipes import Recipe, Scores

WRITING = ("causal", "seq2seq", "masked")


class Pretrained(NamedTuple):
    """A model on its device, in float32, with its tokenizer."""

    model: Any
    tokenizer: Any
    device: str

    @property
    def longest(self) -> int:
        """Tokens that a text may have; 0 if the model does not say."""
        return loading.longest_text(self.model, self.tokenizer)


def load_pretrained(
    name: str, maker: str, *, weights_seed: int, device: str = "", **config: Any
) -> Pretrained:
    """The model that a hub name, a folder or a name of ours (minilm) means.

    `maker` is an Auto class of transformers; `config` changes fields of the model's config.
    """
    torch, transformers = loading.libraries()
    path = _path(name)
    loading.set_threads(0)
    check_folder(path, allow_pickle=False)
    torch.manual_seed(weights_seed)
    with loading.quiet(), explained(name, allow_pickle=False):
        tokenizer = load_tokenizer(path)
        model = getattr(transformers, maker).from_pretrained(
            path, dtype=torch.float32, use_safetensors=True, **config
        )
    chosen = device or loading.best_device()
    return Pretrained(model.to(chosen), tokenizer, chosen)


def load_config(name: str) -> Any:
    """The config of a model, without its weights."""
    _, transformers = loading.libraries()
    path = _path(name)
    check_folder(path, allow_pickle=False)
    with loading.quiet(), explained(name, allow_pickle=False):
        return transformers.AutoConfig.from_pretrained(path)


def load_writer(name: str, weights_seed: int, device: str = "") -> tuple[Pretrained, str]:
    """A model of language, and its kind: causal, seq2seq or masked."""
    kind = loading.kind_of(load_config(name), name)
    if kind not in WRITING:
        raise UsageError(
            f"{name} is a model of kind {kind}, which writes no text.",
            f"Begin with one of these kinds: {', '.join(WRITING)}; or write kind: classify.",
        )
    return load_pretrained(
        name, loading.MAKERS[kind], weights_seed=weights_seed, device=device
    ), kind


def set_padding(loaded: Pretrained) -> None:
    """Say in the config which token fills up rows: a decoder's head must pass over it.

    Many decoders have none of their own; the end of a text then stands for it.
    """
    tokenizer = loaded.tokenizer
    if tokenizer.pad_token_id is None:
        if tokenizer.eos_token is None:
            raise UsageError(
                "The model's tokenizer has no token that can fill up rows.",
                "Give it a pad_token in its tokenizer_config.json, or begin with another model.",
            )
        tokenizer.pad_token = tokenizer.eos_token
    config = loaded.model.config.get_text_config()
    if config.pad_token_id is None:
        config.pad_token_id = tokenizer.pad_token_id


def freeze_below(model: Any, layers: int) -> None:
    """Keep the embeddings and the first layers of a model as they are."""
    import torch

    if not layers:
        return
    depth = model.config.num_hidden_layers
    lists = [part for part in model.modules() if isinstance(part, torch.nn.ModuleList)]
    stacks = [part for part in lists if len(part) == depth]
    if len(stacks) != 1 or layers > depth:
        raise UsageError(
            f"freeze: {layers} does not fit this model of {depth} layers.",
            "Leave freeze out, or give a smaller number.",
        )
    for part in (model.get_input_embeddings(), *stacks[0][:layers]):
        part.requires_grad_(requires_grad=False)
    embeddings = getattr(model.base_model, "embeddings", None)
    if embeddings is not None:  # of positions and kinds of text, too
        embeddings.requires_grad_(requires_grad=False)


def _path(name: str) -> str:
    if not name:
        raise UsageError(
            "The recipe does not say which model to begin with.",
            "Write model: with a folder or a name of the hub, for instance model: minilm.",
        )
    return place_of(name).path


class FinetunedModel:
    """A model and its items: what is the same whether it chooses labels or writes them."""

    batches_in_epoch: int | None

    def __init__(self, loaded: Pretrained, items: Items, recipe: Recipe) -> None:
        self.module, self.tokenizer, self.device = loaded
        self.items, self.settings = items, recipe.settings
        self.size, self.seed = recipe.schedule.batch, recipe.seeds.order
        self.batches_in_epoch = -(-len(items.train) // self.size)

    def batches(self, epoch: int) -> Iterator[Sequence[Any]]:
        """Items in an order drawn anew for each epoch, as lessons."""
        draw = Random(f"{self.seed}/{epoch}")
        order = list(self.items.train)
        draw.shuffle(order)
        yield from chunks(self.lessons(order, draw), self.size)

    def lessons(self, items: list[Item], draw: Random) -> Sequence[Any]:
        """What the loss takes of each item."""
        return items

    def score(self) -> Scores:
        """Measures on the development part."""
        return self.scores(self.items.dev)

    def test(self) -> dict[str, Scores]:
        """The same on every other part."""
        return self.items.scored(self.scores)

    def scores(self, items: Sequence[Item]) -> Scores:
        """Measures on some items; none without items."""
        raise NotImplementedError

    def save(self, folder: Path) -> None:
        """Write the model for `-m hf:FOLDER`: weights in safetensors, config, tokenizer."""
        with loading.quiet():
            merged(self.module).save_pretrained(folder)
            self.tokenizer.save_pretrained(folder)


# LoRA through peft: a large model learns by small matrices beside its weights.


# by the kind of model, as Gnomon calls it
TASKS = {"nli": "SEQ_CLS", "causal": "CAUSAL_LM", "seq2seq": "SEQ_2_SEQ_LM", "masked": None}


class Lora(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The section `lora` of a task."""

    rank: Annotated[int, Meta(ge=1)] = 8
    alpha: Annotated[int, Meta(ge=1)] = 16  # the matrices count alpha / rank times
    dropout: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    targets: tuple[str, ...] = ()  # ends of names of layers; by default what peft knows is good


def with_lora(loaded: Pretrained, lora: Lora | None, kind: str, *, seed: int) -> Pretrained:
    """The model with all its weights frozen, and matrices beside them that learn.

    Without LoRA as it is.
    """
    if lora is None:
        return loaded
    import torch

    with importing("LoRA", "train"):
        import peft

    torch.manual_seed(seed)
    config = peft.LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=list(lora.targets) or None,
        task_type=TASKS[kind],
    )
    try:
        with warnings.catch_warnings():  # it says what it corrects by itself
            warnings.simplefilter("ignore")
            model = peft.get_peft_model(loaded.model, config)
    except ValueError as error:
        every = loaded.model.named_modules()
        linear = {
            name.rpartition(".")[2] for name, part in every if isinstance(part, torch.nn.Linear)
        }
        raise UsageError(
            f"LoRA does not fit this model: {error}.",
            f"Name its layers in the recipe, lora.targets: some of {', '.join(sorted(linear))}.",
        ) from None
    return loaded._replace(model=model)


def merged(model: Any) -> Any:
    """The model with the matrices added to its weights; one without them as it is."""
    merge = getattr(model, "merge_and_unload", None)
    return merge() if merge else model
