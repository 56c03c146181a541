"""How a model is shown pictures: their place in its text, what processor and model make of them.

The model's own processor turns pictures into tensors and puts their tokens into the text. It is
called once for each picture, with a text that holds nothing else; what it writes there is put into
every question about the picture. Models whose `forward` takes `mm_encoder_outputs` are given what
they made of a picture before; the others are given its pixels each time.
"""

import inspect
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch

from gnomon.errors import ModelError
from gnomon.grouped import chunks, grouped
from gnomon.keep import KeptTensors, TensorKeep
from gnomon.models.prompts.chat import WITHOUT, Writer, chat_template, conversation, showing
from gnomon.vision.images import Pixels

QUESTION = "@question@"  # stands for a text while a template or a processor is tried
# what a processor gives for each token, beside the tokens themselves
OF_TOKENS = ("token_type_ids", "mm_token_type_ids")
LEFT_OUT = ("input_ids", "attention_mask", "labels", *OF_TOKENS)


@dataclass(eq=False)
class ShownPictures:
    """Pictures that are shown together, as a model takes them."""

    before: str = ""  # what the processor writes in their place
    after: str = ""  # what it puts after the whole text
    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    # for each kind of token types, those of the tokens that have another than 0
    types: dict[str, dict[int, int]] = field(default_factory=dict)
    features: Any = None  # what the model made of them, once it has looked
    key: str = ""  # under which its features are kept

    @property
    def reads_both_ways(self) -> bool:
        """Whether the tokens of a question see each other, and only those of the answer do not.

        Models such as PaliGemma say so by types of tokens, of which pictures have none.
        """
        return self.types.get("token_type_ids") == {}

    def token_inputs(
        self, rows: Sequence[Sequence[int]], device: torch.device
    ) -> dict[str, torch.Tensor]:
        """Rows of tokens, and the types of tokens that the model wants beside them."""
        inputs = {"input_ids": torch.tensor(rows, device=device)}
        for name, types in self.types.items():
            found = []
            for row in rows:
                found.append([types.get(token, 0) for token in row])
            inputs[name] = torch.tensor(found, device=device)
        return inputs


class PicturePlaces:
    """Where pictures stand in what the model reads, by its chat template or at the front."""

    def __init__(self, processor: Any, *, chat: bool, may_lack_marks: bool = False) -> None:
        self.marks = _marks(processor)
        if not self.marks and not may_lack_marks:
            raise ModelError(
                "The model's processor does not say what stands for a picture in a text.",
                "Choose another model that sees.",
            )
        self.mark = self.marks[0] if self.marks else ""
        self._write: Writer | None = None
        if chat:
            special = processor.tokenizer.special_tokens_map
            self._write = chat_template(template_of(processor), special)
        self._in_parts = True
        if self._write is not None:
            self._learn_template()
        self._stretches: dict[int, str] = {0: ""}
        self.gap = "\n"  # between pictures and text, where there is no template

    def writer(self, pictures: int) -> Writer | None:
        """The chat template for a question with so many pictures; none without a template."""
        if self._write is None:
            return None
        return showing(self._write, pictures, mark="" if self._in_parts else self.mark)

    def stretch(self, pictures: int) -> str:
        """What stands in a text for so many pictures, from the first mark to the last."""
        if pictures not in self._stretches:
            self._stretches[pictures] = self._found_stretch(pictures)
        return self._stretches[pictures]

    def put(self, text: str, pictures: int) -> str:
        """A text with as many pictures before it, where there is no template."""
        return self.stretch(pictures) + self.gap + text if pictures else text

    def expanded(self, text: str, pictures: int, shown: ShownPictures) -> str:
        """A text with what the processor writes in the place of the pictures."""
        if not pictures:
            return shown.before + text + shown.after
        head, _, tail = text.partition(self.stretch(pictures))
        return head + shown.before + tail + shown.after

    def trouble(self, text: str, pictures: int) -> str:
        """Why a text cannot be asked: a question must not hold marks of pictures of its own."""
        for mark in self.marks:
            wanted = pictures if mark == self.mark else 0
            if text.count(mark) != wanted:
                return f"the text holds {mark}, which stands for a picture"
        return ""

    def _learn_template(self) -> None:
        for self._in_parts in (True, False):
            for mark in self.marks:
                self.mark = mark
                text = self._tried(1)
                if text.count(mark) == 1 and QUESTION in text and "'type'" not in text:
                    return
        raise ModelError("The model's chat template does not say where pictures stand.", WITHOUT)

    def _tried(self, pictures: int) -> str:
        write = self.writer(pictures)
        assert write is not None
        try:
            return conversation(write, [{"role": "user", "content": QUESTION}])
        except ModelError:
            if self._in_parts:  # a template that takes plain text only
                return ""
            raise

    def _found_stretch(self, pictures: int) -> str:
        if self._write is None:
            return self.mark * pictures
        text = self._tried(pictures)
        first, last = text.find(self.mark), text.rfind(self.mark)
        if text.count(self.mark) != pictures:
            raise ModelError(
                f"The model's chat template does not show {pictures} pictures in one question.",
                "Choose items with one picture, or ask without it: --set chat=no",
            )
        return text[first : last + len(self.mark)]


class PictureProcessor:
    """Calls a processor for pictures alone; several threads may do so at once."""

    def __init__(self, processor: Any, places: PicturePlaces) -> None:
        self.processor, self.places = processor, places
        self._recorder = _Recorder(processor.tokenizer)
        processor.tokenizer = self._recorder

    def show(self, pictures: Sequence[Pixels]) -> ShownPictures:
        """What the processor makes of pictures that are shown together."""
        text = self.places.stretch(len(pictures)) + QUESTION
        made = self.processor(text=[text], images=[list(pictures)], return_tensors="pt")
        before, found, after = self._recorder.text.partition(QUESTION)
        if not found:
            raise ModelError(
                "The model's processor does not write pictures into its text.",
                "Choose another model that sees.",
            )
        tensors = {name: value for name, value in made.items() if name not in LEFT_OUT}
        return ShownPictures(before, after, tensors, _types(made))

    def show_nothing(self, like: ShownPictures) -> ShownPictures:
        """What stands around a text without pictures, by what stands around one with some."""
        opening: str = getattr(self._recorder, "bos_token", None) or ""
        if not (opening and like.before.endswith(opening)):
            opening = ""
        return ShownPictures(opening, like.after, {}, like.types)

    def literally(self, text: str, pictures: Sequence[Pixels]) -> dict[str, torch.Tensor]:
        """What the processor makes of a whole text with pictures, as its authors call it."""
        mark = getattr(self._recorder, "bos_token", None)
        special = not (mark and text.startswith(mark))
        made = self.processor(
            text=[text], images=[list(pictures)], return_tensors="pt", add_special_tokens=special
        )
        return {name: value for name, value in made.items() if name != "labels"}


class _Recorder:
    """A tokenizer that remembers, in each thread, the text that it was given last."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._one_at_a_time = threading.Lock()
        self._last = threading.local()

    @property
    def text(self) -> str:
        """The text that this thread's last call was given."""
        return str(getattr(self._last, "text", ""))

    def __call__(self, text: Any, *args: Any, **kwargs: Any) -> Any:
        self._last.text = text if isinstance(text, str) else text[0]
        with self._one_at_a_time:
            return self._tokenizer(text, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)


def template_of(processor: Any) -> str:
    """The chat template of a processor or of its tokenizer; empty if there is none."""
    for owner in (processor, processor.tokenizer):
        found = getattr(owner, "chat_template", None)
        if isinstance(found, Mapping):
            found = found.get("default")
        if found:
            return str(found)
    return ""


def _marks(processor: Any) -> list[str]:
    """What may stand for a picture in a text, as processors name it."""
    found = []
    for owner in (processor, processor.tokenizer):
        for name in ("boi_token", "image_token"):
            mark = str(getattr(owner, name, None) or "")  # BLIP-2 has an AddedToken
            if mark and mark not in found:
                found.append(mark)
    return found


def _types(made: Mapping[str, Any]) -> dict[str, dict[int, int]]:
    """The types of tokens as the processor gives them, by token."""
    tokens = made["input_ids"][0].tolist()
    found: dict[str, dict[int, int]] = {}
    for name in OF_TOKENS:
        if name in made:
            types = made[name][0].tolist()
            found[name] = {token: kind for token, kind in zip(tokens, types, strict=True) if kind}
    return found


# --- what a model makes of pictures: computed once, kept, and put where their tokens stand -------


Tensors = tuple[torch.Tensor, ...]
PIXELS = "pixel"  # how the names of inputs begin that nothing but the part that sees wants
AT_ONCE = 16  # pictures that a model looks at in one pass


class Made(NamedTuple):
    """What a model made of pictures that are shown together."""

    pictures: Tensors  # one for each, or one for all (`stacked`)
    stacked: bool
    layers: tuple[Tensors, ...] = ()  # for each layer that is given some of its own


class PictureEncoder:
    """Looks at pictures with a model, or remembers what it saw."""

    def __init__(self, model: Any, store: TensorKeep | None = None) -> None:
        self.model, self.store = model, store
        self.device = next(model.parameters()).device
        self._look: Any = getattr(model.base_model, "get_image_features", None)
        takes = inspect.signature(model.forward).parameters
        self.remembers = self._look is not None and "mm_encoder_outputs" in takes

    def look(self, many: Sequence[ShownPictures]) -> None:
        """See to it that the model has looked at each, where it can remember what it saw."""
        if not self.remembers:
            return
        new = [each for each in dict.fromkeys(many) if each.tensors and each.features is None]
        for fresh in grouped(new, shape_of).values():
            for some in chunks(fresh, AT_ONCE):
                self._look_at(some)

    def inputs(self, many: Sequence[ShownPictures]) -> dict[str, Any]:
        """What the model must be given for pictures that are alike, one entry for each row."""
        found: dict[str, Any] = {}
        for name in many[0].tensors:
            found[name] = self._joined(name, many)
        if many[0].features is not None:
            found["mm_encoder_outputs"] = {"image": _join([shown.features for shown in many])}
        return found

    def remember(self, key: str) -> ShownPictures | None:
        """Pictures at which the model looked in an earlier run; none if it did not."""
        if self.store is None or not self.remembers:
            return None
        entry = self.store.read(key)
        if entry is None:
            return None
        try:
            return _shown(entry, self.device)
        except (KeyError, ValueError):  # an entry of another shape: it is made again
            return None

    def _look_at(self, many: Sequence[ShownPictures]) -> None:
        wanted = inspect.signature(self._look).parameters
        given = [name for name in many[0].tensors if name in wanted]
        inputs = {name: self._joined(name, many) for name in given}
        with torch.inference_mode():
            seen = self._look(**inputs, return_dict=True)
        for shown, made in zip(many, _split(seen, len(many)), strict=True):
            shown.features = made
            for name in list(shown.tensors):
                if name.startswith(PIXELS):
                    del shown.tensors[name]
            if self.store is not None and shown.key:
                self.store.write(shown.key, _entry(shown))

    def _joined(self, name: str, many: Sequence[ShownPictures]) -> torch.Tensor:
        joined = torch.cat([shown.tensors[name] for shown in many]).to(self.device)
        return joined.to(self.model.dtype) if joined.is_floating_point() else joined


def shape_of(shown: ShownPictures) -> tuple[Any, ...]:
    """What must be equal for pictures to go into one pass."""
    shapes: list[Any] = [(name, *value.shape) for name, value in sorted(shown.tensors.items())]
    if shown.features is not None:
        shapes += [tuple(each.shape) for each in shown.features.pictures]
    return tuple(shapes)


def _split(seen: Any, count: int) -> Iterator[Made]:
    """What a model made of pictures of one shape, for each."""
    whole = seen.pooler_output
    layers = getattr(seen, "deepstack_features", None) or ()
    stacked = isinstance(whole, torch.Tensor)
    share = len(whole) // count
    for number in range(count):
        own = slice(number * share, (number + 1) * share)
        pictures = (whole[own],) if stacked else tuple(whole[own])
        yield Made(pictures, stacked, tuple(tuple(layer[own]) for layer in layers))


def _join(many: Sequence[Made]) -> Any:
    """What a model made of several pictures, as it would have given it."""
    pictures: list[torch.Tensor] = []
    layers: list[list[torch.Tensor]] = [[] for _ in many[0].layers]
    for made in many:
        pictures += made.pictures
        for layer, parts in zip(layers, made.layers, strict=True):
            layer += parts
    return SimpleNamespace(
        pooler_output=torch.cat(pictures) if many[0].stacked else pictures,
        deepstack_features=layers or None,
    )


def _entry(shown: ShownPictures) -> KeptTensors:
    """Pictures as they are kept on disk."""
    tensors = {f"given.{name}": value for name, value in shown.tensors.items()}
    for place, picture in enumerate(shown.features.pictures):
        tensors[f"picture.{place}"] = picture
    for layer, parts in enumerate(shown.features.layers):
        for place, part in enumerate(parts):
            tensors[f"layer.{layer}.{place}"] = part
    texts = {
        "before": shown.before,
        "after": shown.after,
        "types": json.dumps(shown.types),
        "stacked": json.dumps(shown.features.stacked),
    }
    return KeptTensors(tensors, texts)


def _shown(entry: KeptTensors, device: torch.device) -> ShownPictures:
    given: dict[str, torch.Tensor] = {}
    pictures: dict[int, torch.Tensor] = {}
    layers: dict[int, dict[int, torch.Tensor]] = {}
    for name, value in entry.tensors.items():
        what, _, rest = name.partition(".")
        if what == "given":
            given[rest] = value
        elif what == "picture":
            pictures[int(rest)] = value.to(device)
        else:
            layer, _, place = rest.partition(".")
            layers.setdefault(int(layer), {})[int(place)] = value.to(device)
    made = Made(
        _in_order(pictures),
        bool(json.loads(entry.texts["stacked"])),
        tuple(_in_order(layers[layer]) for layer in sorted(layers)),
    )
    types = {}
    for name, found in json.loads(entry.texts["types"]).items():
        types[name] = {int(token): kind for token, kind in found.items()}
    return ShownPictures(entry.texts["before"], entry.texts["after"], given, types, made)


def _in_order(parts: dict[int, torch.Tensor]) -> Tensors:
    return tuple(parts[place] for place in sorted(parts))
