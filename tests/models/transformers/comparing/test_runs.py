"""Whole runs of models that compare: thresholds in the manifest, and a run that is taken up."""

import pytest
from msgspec.structs import replace

from gnomon import registry
from gnomon.contracts import Benchmark
from gnomon.errors import ModelError
from gnomon.items.source import ItemSource, load
from gnomon.runs.running import run

pytest.importorskip("torch")


@pytest.fixture
def source(captions):
    """The captions with a development split, as a benchmark."""
    items = []
    for number, item in enumerate(captions):
        tags = {**item.tags, "split": "dev" if number < 12 else "test"}
        items.append(replace(item, tags=tags))

    def fresh(*, seed: int = 0):
        """All of them."""
        yield from items

    bench = Benchmark(name="captions", summary="", sources={"fresh": fresh})
    return ItemSource(bench, "fresh", {})


def test_thresholds_stand_in_the_manifest_of_a_run(source, seeing, tmp_path):
    spec = registry.model(f"hf:{seeing('clip')}", contrast="threshold")
    done = run(source, spec, runs=tmp_path)
    said = done.manifest.model_description
    assert said["fitted"]["on"] == "the development split"
    assert said["fitted"]["items"] == 12
    assert done.manifest.scale == "log-probability"
    assert done.manifest.counts.errors == 0


def test_a_run_with_thresholds_is_taken_up_where_it_stopped(source, seeing, tmp_path, monkeypatch):
    from gnomon.models.transformers.dual import DualEncoder

    spec = registry.model(f"hf:{seeing('clip')}", contrast="threshold")
    whole = run(source, spec, runs=tmp_path / "whole")

    def stop(progress):
        if progress.done >= 8:
            raise KeyboardInterrupt

    monkeypatch.setattr(DualEncoder, "batch", 4)
    with pytest.raises(KeyboardInterrupt):
        run(source, spec, runs=tmp_path / "parts", watch=stop)
    parts = run(source, spec, runs=tmp_path / "parts")
    wanted = {item.id: answer.scores for item, answer in whole.answers()}
    found = {item.id: answer.scores for item, answer in parts.answers()}
    assert len(wanted) == 20
    assert found.keys() == wanted.keys()
    for item, scores in found.items():
        assert scores == pytest.approx(wanted[item], abs=1e-5)


def test_a_blind_run_of_a_model_that_compares_is_refused(source, seeing, tmp_path):
    spec = registry.model(f"hf:{seeing('clip')}")
    with pytest.raises(ModelError, match="is shown none"):
        run(source, spec, runs=tmp_path, blind=True)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def scenes():
    """Two quads of drawn scenes, small."""
    return load("vsr", quads=2, size=64)


@pytest.mark.parametrize("make", ["clip", "siglip", "vilt", "blip", "vilt vqa", "blip vqa"])
def test_drawn_scenes_are_asked_from_end_to_end(scenes, seeing, tmp_path, make):
    done = run(scenes, registry.model(f"hf:{seeing(make)}"), runs=tmp_path)
    answers = [answer for _, answer in done.rows()]
    assert len(answers) == 8
    assert all(answer.choice in ("true", "false") for answer in answers)
    assert len({answer.scores for answer in answers}) > 4, "pictures have a say"


@pytest.mark.parametrize("make", ["lxmert", "visualbert"])
def test_drawn_scenes_are_asked_with_their_regions(scenes, seeing, tmp_path, make):
    from pathlib import Path

    import numpy as np
    from safetensors.numpy import save_file

    folder = tmp_path / "regions"
    folder.mkdir()
    draw = np.random.default_rng(1)
    for item in scenes.items():
        file = folder / f"{Path(item.images[0].path).stem}.safetensors"
        corners = np.sort(draw.random((4, 2, 2)), axis=1).reshape(4, 4).astype(np.float32)
        features = draw.normal(size=(4, 12)).astype(np.float32)
        save_file({"features": features, "boxes": corners}, file)
    spec = registry.model(f"hf:{seeing(make)}", regions=str(folder))
    done = run(scenes, spec, runs=tmp_path / "runs")
    answers = [answer for _, answer in done.rows()]
    assert len(answers) == 8
    assert all(answer.choice in ("true", "false") for answer in answers)
    assert len({answer.scores for answer in answers}) > 4, "pictures have a say"
