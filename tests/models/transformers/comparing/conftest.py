"""Small models that compare texts with pictures, on disk with random weights, and items to ask."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gnomon.records import Item
from gnomon.vision.images import describe

TEXT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
SIGHT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 32,
    "patch_size": 8,
}
SQUARE = {
    "do_resize": True,
    "size": {"height": 32, "width": 32},
    "do_center_crop": False,
    "do_rescale": True,
    "do_normalize": True,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
}
SIDES = {**SQUARE, "size": {"shortest_edge": 32}, "size_divisor": 8, "do_pad": True}
FLAVA = {**SQUARE, "return_image_mask": False, "return_codebook_pixels": False}
VILT = {**TEXT, "image_size": 32, "patch_size": 8, "max_image_length": -1}
LXMERT = {
    "hidden_size": 32,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "l_layers": 2,
    "r_layers": 1,
    "x_layers": 1,
    "visual_feat_dim": 12,
    "num_qa_labels": 4,
    "num_object_labels": 4,
    "num_attr_labels": 4,
    "max_position_embeddings": 64,
}
# make -> class, processor, image processor and its settings, how the config is made
MAKES = {
    "clip": ("CLIPModel", "CLIPProcessor", "CLIPImageProcessor", SQUARE),
    "siglip": ("SiglipModel", "SiglipProcessor", "SiglipImageProcessor", SQUARE),
    "blip": ("BlipForImageTextRetrieval", "BlipProcessor", "BlipImageProcessor", SQUARE),
    "blip vqa": ("BlipForQuestionAnswering", "BlipProcessor", "BlipImageProcessor", SQUARE),
    "vilt": ("ViltForImageAndTextRetrieval", "ViltProcessor", "ViltImageProcessor", SIDES),
    "vilt classes": (
        "ViltForImagesAndTextClassification",
        "ViltProcessor",
        "ViltImageProcessor",
        SIDES,
    ),
    "vilt two": (
        "ViltForImagesAndTextClassification",
        "ViltProcessor",
        "ViltImageProcessor",
        SIDES,
    ),
    "vilt vqa": ("ViltForQuestionAnswering", "ViltProcessor", "ViltImageProcessor", SIDES),
    "vilt cloze": ("ViltForMaskedLM", "ViltProcessor", "ViltImageProcessor", SIDES),
    "flava": ("FlavaForPreTraining", "FlavaProcessor", "FlavaImageProcessor", FLAVA),
    "visualbert cloze": ("VisualBertForPreTraining", "", "", {}),
    "lxmert": ("LxmertForPreTraining", "", "", {}),
    "visualbert": ("VisualBertForVisualReasoning", "", "", {}),
}


def config_of(make: str, size: int):
    """The config of a small model whose tokenizer has so many tokens."""
    import transformers as t

    text = {**TEXT, "vocab_size": size}
    if make == "clip":
        text |= {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
        return t.CLIPConfig(text_config=text, vision_config=SIGHT, projection_dim=16)
    if make == "siglip":
        text |= {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 1}
        return t.SiglipConfig(text_config=text, vision_config=SIGHT)
    if make.startswith("blip"):
        text |= {"bos_token_id": 2, "pad_token_id": 0, "sep_token_id": 3, "encoder_hidden_size": 32}
        return t.BlipConfig(text_config=text, vision_config=SIGHT, image_text_hidden_size=16)
    if make.startswith("vilt"):
        images = 2 if make == "vilt two" else 1
        labels = {}
        if make == "vilt vqa":
            labels = {"id2label": {0: "two", 1: "no", 2: "yes"}}
        types = {"modality_type_vocab_size": images + 1}
        settings = {**VILT, "vocab_size": size, "num_images": images}
        return t.ViltConfig(**settings, **labels, **types)
    if make == "flava":
        joint = {key: TEXT[key] for key in list(TEXT)[:4]}
        parts = {"text_config": text, "image_config": SIGHT, "multimodal_config": joint}
        return t.FlavaConfig(**parts, hidden_size=32, init_codebook=False)
    if make == "lxmert":
        return t.LxmertConfig(**LXMERT, vocab_size=size)
    return t.VisualBertConfig(**text, visual_embedding_dim=12)


def tokenizer_of(make: str, tokenizers):
    """A tokenizer of the family that a model has."""
    import copy

    from tokenizers.processors import TemplateProcessing

    if make == "siglip":
        return tokenizers("unigram")
    if make != "clip":
        return tokenizers("wordpiece")
    tokenizer = copy.deepcopy(tokenizers("byte-level"))
    tokenizer._tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return tokenizer


def write(make: str, folder: Path, tokenizers) -> Path:
    """A small model on disk, as its authors would publish it."""
    import torch
    import transformers

    from gnomon.models.transformers.loading import quiet

    architecture, processor, image_processor, settings = MAKES[make]
    tokenizer = tokenizer_of(make, tokenizers)
    size = max(tokenizer.get_vocab().values()) + 1
    torch.manual_seed(len(make))
    with quiet():
        model = getattr(transformers, architecture)(config_of(make, size))
        for weights in model.parameters():
            if weights.dim() > 1:
                torch.nn.init.normal_(weights, std=0.2)  # so that answers differ
        if hasattr(model, "logit_scale"):
            model.logit_scale.data.fill_(3.0)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    if processor:
        said = {**settings, "image_processor_type": image_processor, "processor_class": processor}
        (folder / "preprocessor_config.json").write_text(json.dumps(said))
        (folder / "processor_config.json").write_text(json.dumps({"processor_class": processor}))
    return folder


@pytest.fixture(scope="session")
def seeing(tmp_path_factory, tokenizers):
    """The folder of a small model of some make, written once."""
    pytest.importorskip("torch")
    made: dict[str, Path] = {}

    def get(make: str) -> Path:
        if make not in made:
            made[make] = write(make, tmp_path_factory.mktemp("model"), tokenizers)
        return made[make]

    return get


@pytest.fixture(scope="session")
def album(tmp_path_factory):
    """Pictures of several sizes and shapes."""
    np = pytest.importorskip("numpy")
    pil = pytest.importorskip("PIL.Image")
    folder = tmp_path_factory.mktemp("album")
    draw = np.random.default_rng(7)
    found = []
    for number, size in enumerate([(40, 30), (64, 48), (30, 50), (33, 33), (48, 64)]):
        file = folder / f"{number:012}.png"
        pil.fromarray(draw.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)).save(file)
        found.append(describe(file))
    return found


RELATIONS = ("left of", "behind", "inside", "contains", "at")


@pytest.fixture(scope="session")
def captions(album):
    """Captions of different lengths, several of one picture."""
    things = ("bird", "old man", "red car")
    found = []
    for number in range(20):
        relation = RELATIONS[number % 5]
        verb = "" if relation == "contains" else "is "
        text = f"The {things[number % 3]} {verb}{relation} the {'very ' * (number % 4)}old church."
        found.append(
            Item(
                id=str(number),
                form="caption",
                text=text,
                choices=("false", "true"),
                gold=(("false", "true")[number % 2],),
                group=f"pair {number // 2}",
                tags={"relation": relation},
                images=(album[number % len(album)],),
            )
        )
    return found


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Features that are kept on disk are those of one test."""
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
