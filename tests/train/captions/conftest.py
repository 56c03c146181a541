"""Captions of a small world, and a training that takes a second."""

import itertools
import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

THINGS = ("cat", "dog", "lamp", "bird", "car", "box", "tree", "cup")
PLACES = {
    "on": ("table", "chair", "roof"),
    "under": ("bridge", "bed", "desk"),
    "in": ("kitchen", "garden", "street"),
}
CONFIG = {
    "model_type": "bert",
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 32,
}


def captions():
    """A relation goes with its places, so that what stands around a word tells it."""
    found = []
    for thing, relation in itertools.product(THINGS, PLACES):
        for place in PLACES[relation]:
            found.append(f"The {thing} is {relation} the {place}.")
    return found


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def file(tmp_path) -> Path:
    """The captions of 144 pictures, two of each text."""
    place = tmp_path / "captions.jsonl"
    rows = []
    for number, caption in enumerate(captions() * 2):
        rows.append(json.dumps({"caption": caption, "image": f"{number}.jpg"}))
    place.write_text("\n".join(rows))
    return place


@pytest.fixture
def content(file):
    """A recipe as plain data."""
    return {
        "kind": "captions",
        "data": {"files": str(file), "held_out": 0.15},
        "captions": {"config": CONFIG, "vocabulary": 200, "length": 16},
        "schedule": {
            "epochs": 2,
            "batch": 16,
            "learning_rate": 0.005,
            "best": "perplexity",
            "better": "lower",
        },
    }
