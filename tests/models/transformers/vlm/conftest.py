"""Small models that see, made on disk: processors as they are published, and random weights."""

from __future__ import annotations

import copy
import json
import os

import pytest

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

pytest.importorskip("PIL")

# Parts as LLaVA's, Qwen's and others' templates write them; MARK is the model's mark of a picture.
TEMPLATE = (
    "{% for m in messages %}<s>{{ m['role'] }}: {% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}MARK{% else %}{{ part['text'] }}{% endif %}{% endfor %}</s>\n"
    "{% endfor %}{% if add_generation_prompt %}<s>assistant: {% endif %}"
)
DECODER = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
    "pad_token_id": 2,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
EYE = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 32,
    "patch_size": 8,
}
ROWS = [f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5)]
FRAME = ["<image>", "<fake_token_around_image>", "<global-img>", "<end_of_utterance>", *ROWS]
IDEFICS_EYES = {
    "size": {"longest_edge": 64},
    "max_image_size": {"longest_edge": 32},
    "do_image_splitting": True,
}
# make -> tokens that it needs, how its template marks a picture, the files of its processor
MAKES = {
    "llava": {
        "tokens": ["<image>"],
        "mark": "<image>",
        "eyes": {
            "image_processor_type": "CLIPImageProcessor",
            "size": {"shortest_edge": 32},
            "crop_size": {"height": 32, "width": 32},
        },
        "processor": {
            "processor_class": "LlavaProcessor",
            "patch_size": 8,
            "vision_feature_select_strategy": "default",
            "num_additional_image_tokens": 1,
        },
    },
    "idefics3": {
        "tokens": FRAME,
        "mark": "<image>",
        "eyes": {"image_processor_type": "Idefics3ImageProcessor", **IDEFICS_EYES},
        "processor": {"processor_class": "Idefics3Processor", "image_seq_len": 4},
    },
    "smolvlm": {
        "tokens": FRAME,
        "mark": "<image>",
        "eyes": {"image_processor_type": "SmolVLMImageProcessor", **IDEFICS_EYES},
        "processor": {"processor_class": "SmolVLMProcessor", "image_seq_len": 4},
    },
    "qwen2-vl": {
        "tokens": ["<|vision_start|>", "<|image_pad|>", "<|video_pad|>", "<|vision_end|>"],
        "mark": "<|vision_start|><|image_pad|><|vision_end|>",
        "eyes": {
            "image_processor_type": "Qwen2VLImageProcessor",
            "size": {"shortest_edge": 256, "longest_edge": 4096},
            "patch_size": 8,
            "merge_size": 2,
            "temporal_patch_size": 2,
        },
        "processor": {"processor_class": "Qwen2VLProcessor"},
    },
    "internvl": {
        "tokens": ["<img>", "</img>", "<IMG_CONTEXT>", "<video>"],
        "named": {
            "start_image_token": "<img>",
            "end_image_token": "</img>",
            "context_image_token": "<IMG_CONTEXT>",
            "video_token": "<video>",
        },
        "mark": "<IMG_CONTEXT>\n",
        "eyes": {
            "image_processor_type": "GotOcr2ImageProcessor",
            "size": {"height": 32, "width": 32},
            "crop_to_patches": True,
            "max_patches": 3,
        },
        "processor": {"processor_class": "InternVLProcessor", "image_seq_length": 4},
    },
    "paligemma": {
        "tokens": ["<image>"],
        "mark": "",
        "eyes": {
            "image_processor_type": "SiglipImageProcessor",
            "size": {"height": 32, "width": 32},
            "image_seq_length": 16,
        },
        "processor": {"processor_class": "PaliGemmaProcessor"},
    },
}


def model_of(make, ids, size):
    """A model with random weights; `ids` are those of the tokens that it needs."""
    import transformers

    text = {**DECODER, "vocab_size": size}
    if make == "llava":
        config = transformers.LlavaConfig(
            vision_config=transformers.CLIPVisionConfig(**EYE),
            text_config=transformers.LlamaConfig(**text),
            image_token_id=ids["<image>"],
            vision_feature_layer=-1,
            image_seq_length=16,
        )
        return transformers.LlavaForConditionalGeneration(config)
    if make in ("idefics3", "smolvlm"):
        name = {"idefics3": "Idefics3", "smolvlm": "SmolVLM"}[make]
        config = getattr(transformers, f"{name}Config")(
            vision_config=EYE,
            text_config=transformers.LlamaConfig(**text),
            image_token_id=ids["<image>"],
            scale_factor=2,
            pad_token_id=2,
        )
        return getattr(transformers, f"{name}ForConditionalGeneration")(config)
    if make == "qwen2-vl":
        eye = {"embed_dim": 32, "hidden_size": 32, "depth": 2, "num_heads": 4, "patch_size": 8}
        config = transformers.Qwen2VLConfig(
            text_config={
                **text,
                "rope_parameters": {"rope_type": "default", "mrope_section": [1, 1, 2]},
            },
            vision_config={**eye, "mlp_ratio": 2, "spatial_merge_size": 2},
            image_token_id=ids["<|image_pad|>"],
            video_token_id=ids["<|video_pad|>"],
            vision_start_token_id=ids["<|vision_start|>"],
            vision_end_token_id=ids["<|vision_end|>"],
        )
        return transformers.Qwen2VLForConditionalGeneration(config)
    if make == "internvl":
        eye = {**EYE, "image_size": [32, 32], "patch_size": [8, 8]}
        config = transformers.InternVLConfig(
            vision_config=eye,
            text_config=transformers.Qwen2Config(**text),
            image_token_id=ids["<IMG_CONTEXT>"],
            image_seq_length=4,
        )
        return transformers.InternVLForConditionalGeneration(config)
    config = transformers.PaliGemmaConfig(
        vision_config=transformers.SiglipVisionConfig(**EYE, projection_dim=32),
        text_config=transformers.GemmaConfig(**text, head_dim=8),
        image_token_id=ids["<image>"],
        projection_dim=32,
    )
    return transformers.PaliGemmaForConditionalGeneration(config)


def tokenizer_of(make, plain):
    """A tokenizer with the tokens that a make needs, its template in it if it has one."""
    settings = MAKES[make]
    tokenizer = copy.deepcopy(plain)
    tokenizer.add_special_tokens({"additional_special_tokens": settings["tokens"]})
    if settings["mark"]:
        tokenizer.chat_template = TEMPLATE.replace("MARK", settings["mark"])
    for name, token in settings.get("named", {}).items():
        tokenizer.init_kwargs.setdefault("extra_special_tokens", {})[name] = token
    return tokenizer


def write(folder, make, plain):
    """The folder of a small model of some make, as its kind is published."""
    import torch

    from gnomon.models.transformers.loading import quiet

    settings = MAKES[make]
    with quiet():
        tokenizer = tokenizer_of(make, plain)
        if make == "paligemma":  # whose processor adds tokens of its own
            size = len(tokenizer) + 1300
        else:
            size = len(tokenizer)
        ids = {token: tokenizer.convert_tokens_to_ids(token) for token in settings["tokens"]}
        torch.manual_seed(len(make))
        model = model_of(make, ids, size)
        with torch.no_grad():
            for weight in model.parameters():
                weight.mul_(4)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    if "named" in settings:
        file = folder / "tokenizer_config.json"
        written = json.loads(file.read_text())
        written["extra_special_tokens"] = settings["named"]
        file.write_text(json.dumps(written))
    (folder / "preprocessor_config.json").write_text(json.dumps(settings["eyes"]))
    (folder / "processor_config.json").write_text(json.dumps(settings["processor"]))
    return folder


@pytest.fixture(scope="session")
def seeing(tmp_path_factory, tokenizers):
    """The folder of a small model that sees, written once."""
    pytest.importorskip("torch")
    made = {}

    def get(make):
        if make not in made:
            folder = tmp_path_factory.mktemp(make)
            made[make] = write(folder, make, tokenizers("byte-level"))
        return made[make]

    return get


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """Pictures of several sizes and shapes, each unlike the others."""
    import numpy as np
    from PIL import Image

    from gnomon.vision.images import describe

    folder = tmp_path_factory.mktemp("photos")
    sizes = [(40, 40), (64, 40), (40, 72), (40, 40), (96, 48), (33, 57)]
    found = []
    for number, (width, height) in enumerate(sizes):
        chance = np.random.default_rng(number)
        small = chance.integers(0, 256, (4, 4, 3), dtype=np.uint8)
        picture = Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)
        file = folder / f"{number}.png"
        picture.save(file)
        found.append(describe(file))
    return found


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory):
    """What models make of pictures is kept in a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNOMON_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def asked(seeing):
    """A small model that sees, loaded once; what it is warned of is left aside."""
    import warnings

    from gnomon.models.transformers.hf import hf

    made = {}

    def get(make, **options):
        key = (make, *options.items())
        if key not in made:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made[key] = hf(str(seeing(make)), **options)
        return made[key]

    return get


@pytest.fixture(scope="session")
def items(photos):
    """Captions and questions about one picture, about two, and about none, in no special order."""
    from gnomon.records import Item

    captions = [
        "the ant is left of the house.",
        "a lamp stands above the river.",
        "John is inside the church.",
    ]
    made = []
    for place, photo in enumerate(photos):
        for caption in captions[: 1 + place % 3]:
            shown = {"form": "caption", "text": caption, "choices": ("true", "false")}
            made.append(Item(id=f"{len(made)}", gold=("true",), images=(photo,), **shown))
    question = {
        "form": "choice",
        "text": "Where is the lamp?",
        "choices": ("in the old church", "under a table", "outside"),
        "gold": ("outside",),
    }
    made.append(Item(id="choice", images=(photos[1],), **question))
    made.append(Item(id="other choice", images=(photos[4],), **question))
    made.append(Item(id="two", images=(photos[0], photos[2]), **question))
    made.append(Item(id="two, turned", images=(photos[2], photos[0]), **question))
    made.append(Item(id="none", **question))
    return made
