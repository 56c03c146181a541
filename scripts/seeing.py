"""Every class of transformers that sees and writes, made small and asked: docs/seeing.md.

`python scripts/seeing.py` makes a tiny model of each class on disk, asks it as `gnomon run` would,
and holds each choice against a plain pass of its own processor; `python scripts/seeing.py NAME ...`
does so for some, and writes nothing. What a class needs beside small sizes is in seeing.yaml.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "seeing.md"
SETTINGS: dict[str, Any] = yaml.safe_load((HERE / "seeing.yaml").read_text())
EXACT = 1e-5
CAPTIONS = ("The cat is left of the box.", "A bird stands on the old bridge.")
TEMPLATE = (
    "{% for m in messages %}<s>{{ m['role'] }}: {% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}MARK{% else %}{{ part['text'] }}{% endif %}{% endfor %}</s>\n"
    "{% endfor %}{% if add_generation_prompt %}<s>assistant:\n{% endif %}"
)


class Row(NamedTuple):
    """What became of a class."""

    name: str  # as configs name it
    architecture: str
    how: str = ""  # it is asked; empty if it is not
    worst: float = 0.0  # by how much a choice differs from a plain pass
    why: str = ""  # it is not asked

    @property
    def works(self) -> bool:
        """Whether it is asked, and gives what a plain pass gives."""
        return bool(self.how) and self.worst <= EXACT


def classes() -> dict[str, str]:
    """The kinds of config that sees and writes, with the class of each."""
    from transformers.models.auto import modeling_auto as auto

    seeing = dict(auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES)
    more = auto.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES
    return seeing | {name: more[name] for name in SETTINGS["also"]}


# --- a small model on disk, as its authors would publish it ---------------------------------------


def own(name: str) -> dict[str, Any]:
    """What a class needs beside small sizes."""
    found = SETTINGS["classes"].get(name) or {}
    if "like" not in found:
        return found
    return merged(own(found["like"]), found)


def marks_of(name: str) -> dict[str, str]:
    """The tokens of pictures that a class's processor asks for, by the names that it has."""
    marks = {**SETTINGS["tokens"], **own(name).get("tokens", {})}
    return {key: mark for key, mark in marks.items() if mark}


def tokenizer_of(name: str) -> Any:
    """A byte-level tokenizer with the tokens of pictures that processors know."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "</s>", "<pad>", "<unk>"]
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, show_progress=False, initial_alphabet=alphabet
    )
    backend.train_from_iterator([*CAPTIONS, "true false yes no " * 9] * 9, trainer)
    closing = own(name).get("closing", "")
    if closing:
        pieces = [("<s>", 0), ("</s>", 1)]
        backend.post_processor = processors.TemplateProcessing(
            single=closing, special_tokens=pieces
        )
    named = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **named)
    marks = list(dict.fromkeys(marks_of(name).values()))
    tokenizer.add_special_tokens({"additional_special_tokens": marks})
    mark = own(name).get("mark", SETTINGS["mark"])
    if mark:
        tokenizer.chat_template = TEMPLATE.replace("MARK", mark)
    return tokenizer


def small(value: Any, sizes: dict[str, Any]) -> Any:
    """Settings with small sizes in the place of the published ones, at any depth."""
    if isinstance(value, list):
        return [small(each, sizes) for each in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, each in value.items():
        if key in sizes and not isinstance(each, dict):
            found[key] = sizes[key]
        elif key == "layer_types" and isinstance(each, list):
            found[key] = [each[0], each[-1]]
        else:
            found[key] = small(each, sizes)
    return found


def without(value: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Settings without some, at any depth: those that follow from others."""
    found = {}
    for key, each in value.items():
        if key not in names:
            found[key] = without(each, names) if isinstance(each, dict) else each
    return found


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Settings with others put over them, at any depth."""
    found = dict(one)
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            value = merged(found[key], value)
        found[key] = value
    return found


def config_of(name: str, tokenizer: Any, processor: Any) -> Any:
    """A small config, whose tokens are those of the tokenizer."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kind = CONFIG_MAPPING[name]
    sizes = {**SETTINGS["sizes"], "vocab_size": len(tokenizer) + 1100, **own(name).get("sizes", {})}
    plain = without(kind().to_dict(), own(name).get("drop", []))
    plain = merged(plain, own(name).get("before", {}))
    said = merged(small(plain, sizes), own(name).get("config", {}))
    named = own(name).get("ids", {})
    return kind(**_with_tokens(said, tokenizer, processor, named))


def _with_tokens(
    said: dict[str, Any], tokenizer: Any, processor: Any, named: dict[str, str]
) -> dict[str, Any]:
    found = {}
    for key, value in said.items():
        if isinstance(value, dict):
            value = _with_tokens(value, tokenizer, processor, named)
        elif str(key).endswith(("_token_id", "_token_index")):
            token = key.rsplit("_", 1)[0]
            value = _token(token, value, tokenizer, processor)
            if token in named:
                value = tokenizer.convert_tokens_to_ids(named[token])
        found[key] = value
    return found


def _token(key: str, value: Any, tokenizer: Any, processor: Any) -> Any:
    """The number of a token that a config names."""
    fixed = {"bos_token": 0, "eos_token": 1, "pad_token": 2, "decoder_start_token": 0}
    if key in fixed:
        return fixed[key]
    number = getattr(processor, f"{key}_id", None)
    if isinstance(number, int):
        return number
    for owner in (processor, tokenizer):
        known = getattr(owner, key, None)
        if known:
            return processor.tokenizer.convert_tokens_to_ids(str(known))
    named = SETTINGS["tokens"].get(key)
    if named:
        return tokenizer.convert_tokens_to_ids(named)
    return 3 if isinstance(value, int) else value


def write(name: str, folder: Path) -> Path:
    """A small model of a class with its processor."""
    import torch
    import transformers

    from gnomon.models.transformers.loading import quiet
    from gnomon.models.transformers.processors import load_processor

    settings = own(name)
    with quiet():
        tokenizer = tokenizer_of(name)
        tokenizer.save_pretrained(folder)
        _write_processor(name, folder, settings)
        processor = load_processor(str(folder))
        config = config_of(name, tokenizer, processor)
        torch.manual_seed(0)
        model = getattr(transformers, classes()[name])(config)
        with torch.no_grad():
            for part, weights in model.named_parameters():
                if weights.dim() > 1:
                    torch.nn.init.normal_(weights, std=0.2)
                elif "gate" in part or "alpha" in part:  # else nothing is seen of a picture
                    torch.nn.init.constant_(weights, 0.5)
        model.save_pretrained(folder)
    return folder


def _write_processor(name: str, folder: Path, settings: dict[str, Any]) -> None:
    from transformers.models.auto.image_processing_auto import IMAGE_PROCESSOR_MAPPING_NAMES
    from transformers.models.auto.processing_auto import PROCESSOR_MAPPING_NAMES

    kinds = IMAGE_PROCESSOR_MAPPING_NAMES.get(name) or {}
    eyes = settings.get("eyes_of") or kinds.get("torchvision") or kinds.get("pil")
    whole = settings.get("processor_of") or PROCESSOR_MAPPING_NAMES.get(name)
    if not (eyes and whole):
        raise LookupError("transformers names no processor for it")
    said = {**SETTINGS["eyes"], **settings.get("eyes", {}), "image_processor_type": eyes}
    said = {key: value for key, value in said.items() if value is not None}
    (folder / "preprocessor_config.json").write_text(json.dumps(said))
    processor = {"processor_class": whole, **settings.get("processor", {})}
    (folder / "processor_config.json").write_text(json.dumps(processor))
    (folder / "config.json").write_text(json.dumps({"model_type": name}))
    file = folder / "tokenizer_config.json"
    written = json.loads(file.read_text())
    written["extra_special_tokens"] = marks_of(name)
    file.write_text(json.dumps(written))


# --- asked by Gnomon, and by a plain pass for each choice -----------------------------------------


def items_of(folder: Path) -> list[Any]:
    """Captions of two pictures."""
    import numpy as np
    from PIL import Image

    from gnomon.records import Item
    from gnomon.vision.images import describe

    made = []
    for number, caption in enumerate(CAPTIONS):
        noise = np.random.default_rng(number).integers(0, 256, (6, 6, 3), dtype=np.uint8)
        file = folder / f"{number}.png"
        Image.fromarray(noise).resize((64, 48)).save(file)
        said = {"form": "caption", "text": caption, "choices": ("true", "false")}
        made.append(Item(id=str(number), gold=("true",), images=(describe(file),), **said))
    return made


def by_hand(folder: Path, asked: Any, item: Any) -> Iterator[float]:
    """The log-probability of each word: the processor's inputs, the word's tokens after them."""
    import torch
    import transformers

    from gnomon.models.choices import flat
    from gnomon.models.transformers.loading import quiet
    from gnomon.models.transformers.processors import load_processor
    from gnomon.vision.images import pixels

    with quiet():
        maker = getattr(transformers, asked.about["architecture"])
        model = maker.from_pretrained(folder).eval()
        processor = load_processor(str(folder))
    text = asked._context(item)
    pictures = [pixels(image) for image in item.images]
    nested = getattr(getattr(asked, "call", None), "nested", True)
    special = not text.startswith("<s>")
    given = {"images": [pictures] if nested else pictures, "add_special_tokens": special}
    inputs = dict(processor(text=[text], return_tensors="pt", **given))
    inputs.pop("labels", None)
    tokenizer = processor.tokenizer
    two_parts = any(
        getattr(each, "is_encoder_decoder", False)
        for each in (model.config, model.config.get_text_config())
    )
    words = flat(asked.words(item))
    back, answers = _answers(tokenizer, "" if two_parts else text, words)
    for ids in answers:
        if two_parts:
            ids = torch.cat([ids, torch.tensor([[tokenizer.eos_token_id]])], 1)
            start = torch.tensor([[0]])
            whole = {**inputs, "decoder_input_ids": torch.cat([start, ids[:, :-1]], 1)}
        else:
            whole = _followed(inputs, ids, back, tokenizer, model)
        with torch.inference_mode():
            logits = model(**whole).logits[0]
        size = ids.shape[1]
        logits = logits[-size:] if two_parts else logits[-size - 1 : -1]
        yield float(logits.log_softmax(-1).gather(1, ids[0, :, None]).sum())


def _answers(tokenizer: Any, text: str, words: list[str]) -> tuple[int, list[Any]]:
    """How many tokens of a text its answers take back, and the tokens of each answer."""
    import torch

    def ids(text: str) -> list[int]:
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    before = ids(text)
    wholes = [ids(text + word) for word in words]
    start = len(before)
    while any(whole[:start] != before[:start] for whole in wholes):
        start -= 1
    return len(before) - start, [torch.tensor([whole[start:]]) for whole in wholes]


def _followed(
    inputs: dict[str, Any], ids: Any, back: int, tokenizer: Any, model: Any
) -> dict[str, Any]:
    """The inputs with a word after the text, without the token that closes a text."""
    import torch

    found = dict(inputs)
    read = inputs["input_ids"].shape[1]
    closed = int(tokenizer("a")["input_ids"][-1] == 1 and inputs["input_ids"][0, -1] == 1)
    for name in SETTINGS["of_tokens"]:
        if name not in inputs or inputs[name].shape[1] != read:
            continue
        kept = inputs[name][:, : read - closed - back].clone()
        more = [kept[:, -1:]] * ids.shape[1]
        if name == "input_ids":
            more = [ids]
            if type(model).__name__ == "BlipForConditionalGeneration":
                kept[0, 0] = model.config.text_config.bos_token_id
        if name == "token_type_ids" and type(model).__name__.startswith("PaliGemma"):
            more = [torch.ones_like(ids)]
        found[name] = torch.cat([kept, *more], 1)
    return found


def tried(name: str, folder: Path) -> Row:
    """What becomes of a class: made small, asked, and compared."""
    from gnomon.errors import GnomonError
    from gnomon.models.transformers.hf import hf

    row = Row(name, classes()[name])
    never = own(name).get("never")
    if never:
        return row._replace(why=never)
    model_folder = folder / name
    model_folder.mkdir()
    try:
        write(name, model_folder)
    except GnomonError as error:
        return row._replace(why=error.message)
    except Exception as error:
        return row._replace(why=_short(error))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = hf(str(model_folder), features="off")
        items = items_of(model_folder)
        answers = model.answer(items)
    except GnomonError as error:
        said = error.message.replace(f"hf:{model_folder}", "it").replace(str(model_folder), "it")
        return row._replace(why=said.rstrip("."))
    worst = 0.0
    for item, answer in zip(items, answers, strict=True):
        if answer.error:
            return row._replace(why=answer.error)
        pairs = zip(answer.scores, by_hand(model_folder, model, item), strict=True)
        worst = max(worst, *(abs(found - wanted) for found, wanted in pairs))
    return row._replace(how=_how(model), worst=worst)


def _how(model: Any) -> str:
    """How a model is asked."""
    if type(model).__name__ == "WholeVlm":
        return "a plain pass for each choice"
    if not model.scorer.sharing:
        return "a plain pass for each question"
    if not model.pictures.remembers:
        return "questions share their beginning"
    return "questions share their picture"


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    if "orchvision" in text:
        return "its image processor needs torchvision"
    return f"no small model could be made ({type(error).__name__}: {text[:90]})"


# --- the page ------------------------------------------------------------------------------------


def rows(names: Iterable[str]) -> Iterator[Row]:
    """What became of some classes, each as it comes."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            yield tried(name, Path(folder))


def line(row: Row) -> str:
    """A row of the page."""
    how = row.how or row.why
    if row.how and not row.works:
        how = f"{row.how}, but a choice differs from a plain pass"
    how = " ".join(how.replace("|", "/").split())
    equal = "1e-5" if row.works else ""
    return f"| {row.name} | {row.architecture} | {how} | {equal} |"


def main(names: list[str]) -> None:
    """Try some classes, or all and write the page."""
    found = []
    for row in rows(names or classes()):
        print(line(row), f"{row.worst:.1e}" if row.how else "", flush=True)
        found.append(row)
    print(f"{sum(row.works for row in found)} of {len(found)} work.")
    if not names:
        head = (HERE / "seeing.head.md").read_text()
        PAGE.write_text(head + "\n".join(map(line, found)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
