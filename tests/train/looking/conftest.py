"""Small ViLT, LXMERT and VisualBERT on disk, 64 rendered pairs, and regions of their pictures."""

import json
from pathlib import Path

import pytest

from gnomon.items.writing import write_items

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")
pytest.importorskip("PIL")

MAKES = ("vilt", "lxmert", "visualbert")
SIZE = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}
FEATURES = 12
GRID = 5  # regions of a picture, in each direction


def config_of(make, tokens):
    import transformers as t

    if make == "vilt":
        seen = {"image_size": 32, "patch_size": 8, "max_image_length": -1}
        return t.ViltConfig(**SIZE, **seen, vocab_size=tokens, num_hidden_layers=2)
    if make == "lxmert":
        layers = {"l_layers": 1, "r_layers": 1, "x_layers": 1}
        labels = {"num_qa_labels": 3, "num_object_labels": 3, "num_attr_labels": 3}
        sizes = {**SIZE, **layers, **labels, "visual_feat_dim": FEATURES}
        return t.LxmertConfig(**sizes, vocab_size=tokens)
    sizes = {**SIZE, "num_hidden_layers": 2, "visual_embedding_dim": FEATURES}
    return t.VisualBertConfig(**sizes, vocab_size=tokens)


# as published: before anybody taught them true and false
CLASSES = {
    "vilt": "ViltForMaskedLM",
    "lxmert": "LxmertForPreTraining",
    "visualbert": "VisualBertForPreTraining",
}


def write_model(make, folder, texts, words=400):
    """A small model with random weights, and the tokenizer of some captions."""
    import transformers

    from gnomon.models.transformers.loading import quiet
    from gnomon.train.captions.corpus import trained_tokenizer

    tokenizer = trained_tokenizer(texts, words, 64)
    torch.manual_seed(3)
    with quiet():
        model = getattr(transformers, CLASSES[make])(config_of(make, len(tokenizer)))
        for weights in model.parameters():
            if weights.dim() > 1:
                torch.nn.init.normal_(weights, std=0.15)  # so that answers differ
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    if make == "vilt":
        seen = {
            "size": {"shortest_edge": 32},
            "size_divisor": 8,
            "processor_class": "ViltProcessor",
        }
        said = {**seen, "image_processor_type": "ViltImageProcessor"}
        (folder / "preprocessor_config.json").write_text(json.dumps(said))
        (folder / "processor_config.json").write_text('{"processor_class": "ViltProcessor"}')
    return folder


def regions_of(file):
    """The cells of a grid: the colours of the four quarters of each, and where it lies."""
    from PIL import Image

    picture = Image.open(file).convert("RGB").resize((2 * GRID, 2 * GRID), Image.Resampling.BOX)
    colours = np.asarray(picture, dtype=np.float32) / 255
    features, boxes = [], []
    for row in range(GRID):
        for column in range(GRID):
            cell = colours[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            features.append(4 * (cell.reshape(-1) - colours.mean()))
            boxes.append((column, row, column + 1, row + 1))
    return np.stack(features), np.array(boxes, dtype=np.float32) / GRID


def closer(items):
    """The items with their pictures cut to where the two of a caption differ, as one would look."""
    from msgspec.structs import replace
    from PIL import Image, ImageChops

    from gnomon.vision.images import describe

    found = []
    for caption in dict.fromkeys((item.group, item.text) for item in items):
        both = [item for item in items if (item.group, item.text) == caption]
        pictures = [Image.open(item.images[0].path).convert("RGB") for item in both]
        frame = ImageChops.difference(*pictures).getbbox()
        for item, picture in zip(both, pictures, strict=True):
            picture.crop(frame).resize((48, 48)).save(item.images[0].path)
            found.append(replace(item, images=(describe(item.images[0].path),)))
    return found


@pytest.fixture(scope="session")
def studio(tmp_path_factory):
    """64 rendered pairs in a file, their regions, and the three models."""
    from safetensors.numpy import save_file

    from gnomon.items.source import load

    folder = tmp_path_factory.mktemp("studio")
    (folder / "pictures").mkdir()
    source = load("vsr", quads=32, size=48, distractors=0)
    made = source.illustrated(folder / "pictures", processes=1)
    # each caption with two pictures, true of one of them: the words alone tell nothing
    items = closer([item for item in made if "/1-" in item.id])
    write_items(folder / "items.jsonl", items)
    (folder / "regions").mkdir()
    for file in {Path(item.images[0].path) for item in items}:
        features, boxes = regions_of(file)
        parts = {"features": features, "boxes": boxes}
        save_file(parts, folder / "regions" / f"{file.stem}.safetensors")
    for make in MAKES:
        write_model(make, folder / make, [item.text for item in items])
    return folder


@pytest.fixture
def content(studio):
    """A recipe of one of the makes as plain data, which learns all pairs and is tried on them."""

    def make_content(make, look=None, **schedule):
        shown = {} if make == "vilt" else {"regions": str(studio / "regions")}
        pairs = str(studio / "items.jsonl")
        return {
            "kind": "look",
            "model": str(studio / make),
            "data": {
                "train": {"file": pairs},
                "parts": {"dev": {"file": pairs, "may_share": ["item", "*"]}},
            },
            "look": {**shown, **(look or {})},
            "schedule": {
                "batch": 12,
                "learning_rate": 1e-3,
                "weight_decay": 0.01,
                "decay": "constant",
                "clip": 0,
                **schedule,
            },
            "seeds": {"order": 1, "weights": 1},
        }

    return make_content
